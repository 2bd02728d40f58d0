// SPDX-License-Identifier: BSD-2-Clause
#include "base/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace quorate {

namespace {

[[noreturn]] void fail(const std::string& name)
{
    const int why = errno;
    throw Failure(fmt::format("cannot write {}: {}", name, std::strerror(why)));
}

}  // namespace

OutputFile::OutputFile(const std::string& path, const std::string& name)
    : name_(name), file_(std::fopen(path.c_str(), "wbe"))
{
    if (!file_) fail(name_);
}

OutputFile::~OutputFile()
{
    if (file_) std::fclose(file_);
}

void OutputFile::write(const void* bytes, std::size_t size)
{
    if (std::fwrite(bytes, 1, size, file_) != size) fail(name_);
}

void OutputFile::close()
{
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail(name_);
}

}  // namespace quorate
