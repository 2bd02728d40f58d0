// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace quorate {

/// A file that is written from its begin. Unlike a stream it knows why a call failed: errno later
/// on may be another call's.
class OutputFile {
public:
    /// Makes the file, or empties it.
    /// @param name  of the file in messages  @throws Failure with the reason
    OutputFile(const std::string& path, const std::string& name);
    OutputFile(const OutputFile&) = delete;
    ~OutputFile();

    /// @throws Failure with the reason
    void write(const void* bytes, std::size_t size);
    /// To be called at the end. @throws Failure with the reason, as for what was still to be
    /// written
    void close();

private:
    std::string name_;
    std::FILE* file_;
};

}  // namespace quorate
