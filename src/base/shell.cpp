// SPDX-License-Identifier: BSD-2-Clause
#include "base/shell.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace quorate {

namespace {

bool is_plain(char c)
{
    return c != 0 && (std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._+=:-/,@%", c));
}

}  // namespace

std::string quoted(const std::string& text)
{
    if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
    return "'" + boost::replace_all_copy(text, "'", "'\\''") + "'";
}

std::string arguments(std::span<const std::string> words)
{
    std::string line;
    for (const auto& word : words) line += " " + quoted(word);
    return line;
}

std::string plain(std::string text)
{
    std::ranges::replace_if(
        text, [](char c) { return !is_plain(c); }, '_');
    return text;
}

std::string one_line(std::string text)
{
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' '; }, ' ');
    return text;
}

std::string plain_name(const std::string& text)
{
    auto word = plain(text);
    for (auto& c : word)
        if (std::strchr("/%,@:=", c)) c = '_';
    return word.empty() ? "quorate" : word;
}

Ended run_program(const std::vector<std::string>& words)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {127, std::strerror(errno)};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<std::string> copies = words;
    std::vector<char*> arguments;
    for (auto& word : copies) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int failed =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    Ended ended{127, failed ? std::strerror(failed) : ""};
    std::array<char, 4096> some{};
    for (;;) {
        const auto count = read(ends[0], some.data(), some.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        ended.output.append(some.data(), static_cast<std::size_t>(count));
    }
    close(ends[0]);
    if (failed) return ended;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended;
}

}  // namespace quorate
