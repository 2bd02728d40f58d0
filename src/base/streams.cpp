// SPDX-License-Identifier: BSD-2-Clause
#include "base/streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace quorate {

void open_standard_streams()
{
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
            // Gets this number, the lowest that is free. On stdout, writing is to fail.
            const int mode = descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY;
            [[maybe_unused]] const int opened = open("/dev/null", mode);
        }
}

void show(const std::string& text)
{
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    std::clearerr(stderr);
}

void show_on_stdout(const std::string& text)
{
    write_results();
    if (std::fputs(text.c_str(), stdout) != EOF && std::fflush(stdout) == 0) return;
    __fpurge(stdout);
    std::clearerr(stdout);
}

void write_results(int why)
{
    errno = why;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    why = errno;
    if (why == EPIPE) {
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    throw Failure(
        fmt::format("cannot write to standard output{}{}: make room, or send it elsewhere",
                    why ? ": " : "", why ? std::strerror(why) : ""));
}

}  // namespace quorate
