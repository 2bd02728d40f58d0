// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include "base/shown.hpp"
#include "base/streams.hpp"

namespace quorate {

namespace {

std::atomic<LogLevel> up_to = LogLevel::warning;
std::atomic<bool> above_line = false;

using Function = std::function<void(LogLevel, const std::string&)>;

// Who speaks, and to whom. Never changed: another takes its place, while threads may use this one.
struct Speaking {
    std::string name;
    Function elsewhere, also;
};

struct Now {
    std::mutex mutex;
    std::shared_ptr<const Speaking> speaking = std::make_shared<const Speaking>();
};

Now& now()
{
    static auto& one = *new Now;  // never freed: threads may log until the process ends
    return one;
}

std::shared_ptr<const Speaking> speaking()
{
    const std::lock_guard lock(now().mutex);
    return now().speaking;
}

template <class Change>
void change(Change change)
{
    const std::lock_guard lock(now().mutex);
    auto next = std::make_shared<Speaking>(*now().speaking);
    change(*next);
    now().speaking = std::move(next);
}

}  // namespace

void log_up_to(LogLevel level) { up_to = level; }
void log_as(const std::string& who)
{
    change([&](Speaking& next) { next.name = who; });
}
void log_to(Function function)
{
    change([&](Speaking& next) { next.elsewhere = std::move(function); });
}
void log_also_to(Function function)
{
    change([&](Speaking& next) { next.also = std::move(function); });
}
void log_above_line(bool there) { above_line = there; }

void say(const std::string& lines)
{
    show_on_stdout(harmless(lines));
    const auto to = speaking();
    std::istringstream each(lines);
    for (std::string line; to->also && std::getline(each, line);) to->also(LogLevel::note, line);
}

void log(LogLevel level, const std::string& text)
{
    const auto to = speaking();
    if (to->also) to->also(level, text);
    if (to->elsewhere) {
        to->elsewhere(level, text);
        return;
    }
    if (level > up_to) return;
    constexpr auto clear_line = "\r\033[K";
    const bool says_who = level == LogLevel::failure || level == LogLevel::detail;
    std::string one_line = text;
    std::ranges::replace_if(
        one_line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    show(fmt::format("{}quorate{}: {}{}\n", above_line ? clear_line : "", says_who ? to->name : "",
                     level == LogLevel::warning ? "warning: " : "", harmless(one_line)));
}

}  // namespace quorate
