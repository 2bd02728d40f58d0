// SPDX-License-Identifier: BSD-2-Clause
// What the fuzzers share: the input as a file, and which exceptions are answers.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace quorate::fuzz {

/// Bytes as a file in memory.
class File {
public:
    File(const std::uint8_t* bytes, std::size_t size) : file_(memfd_create("fuzz", 0))
    {
        if (file_ < 0 || write(file_, bytes, size) != static_cast<ssize_t>(size)) std::abort();
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { close(file_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

/// Bad input is what a parser is to say of it; all else is found by the sanitizers.
template <class F>
int answer(F f)
{
    try {
        f();
    } catch (const BadInput&) {
        return 0;
    }
    return 0;
}

}  // namespace quorate::fuzz
