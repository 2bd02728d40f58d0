// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <sstream>

namespace quorate {

namespace {

std::atomic<LogLevel> shown = LogLevel::warning;
std::atomic<bool> above_line = false;

std::string& name()
{
    static std::string who;
    return who;
}

std::function<void(LogLevel, const std::string&)>& elsewhere()
{
    static std::function<void(LogLevel, const std::string&)> function;
    return function;
}

std::function<void(LogLevel, const std::string&)>& also()
{
    static std::function<void(LogLevel, const std::string&)> function;
    return function;
}

}  // namespace

void log_up_to(LogLevel level) { shown = level; }
void log_as(const std::string& who) { name() = who; }
void log_to(std::function<void(LogLevel, const std::string&)> function)
{
    elsewhere() = std::move(function);
}
void log_also_to(std::function<void(LogLevel, const std::string&)> function)
{
    also() = std::move(function);
}
void log_above_line(bool there) { above_line = there; }

void say(const std::string& lines)
{
    std::fputs(lines.c_str(), stdout);
    std::fflush(stdout);
    std::istringstream each(lines);
    for (std::string line; also() && std::getline(each, line);) also()(LogLevel::note, line);
}

void log(LogLevel level, const std::string& text)
{
    if (also()) also()(level, text);
    if (elsewhere()) {
        elsewhere()(level, text);
        return;
    }
    if (level > shown) return;
    constexpr auto clear_line = "\r\033[K";
    const bool says_who = level == LogLevel::failure || level == LogLevel::detail;
    std::string one_line = text;
    std::ranges::replace_if(
        one_line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    const auto line =
        fmt::format("{}quorate{}: {}{}\n", above_line ? clear_line : "", says_who ? name() : "",
                    level == LogLevel::warning ? "warning: " : "", one_line);
    // In one call, so that lines of several threads and ranks do not mix.
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace quorate
