// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <utility>

#include "base/host.hpp"

namespace quorate {

namespace {

constexpr std::int64_t page = 4096;

std::int64_t in_pages(std::size_t bytes)
{
    return (static_cast<std::int64_t>(bytes) + page - 1) / page * page;
}

}  // namespace

SharedMapping::~SharedMapping() { munmap(memory_, size_); }

SharedFile::SharedFile(const char* name) : file_(memfd_create(name, MFD_CLOEXEC))
{
    if (!present()) return;
    std::random_device random;
    address_ = {getpid(), file_, (std::uint64_t{random()} << 32) | random()};
    const bool written = extend(first) && pwrite(file_, &address_.token, sizeof address_.token,
                                                 0) == sizeof address_.token;
    if (!written) *this = SharedFile();
}

SharedFile::SharedFile(const SharedAddress& address)
{
    if (address.file < 0) return;
    const auto path = fmt::format("/proc/{}/fd/{}", address.process, address.file);
    file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (present() && number(0) != address.token) *this = SharedFile();
}

SharedFile::SharedFile(SharedFile&& other) noexcept { *this = std::move(other); }

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept
{
    std::swap(address_, other.address_);
    std::swap(file_, other.file_);
    std::swap(size_, other.size_);
    return *this;
}

SharedFile::~SharedFile()
{
    if (present()) close(file_);
}

std::optional<std::int64_t> SharedFile::extend(std::size_t bytes)
{
    // Reserved here and not page by page later, when a lack of memory would be a signal. A control
    // group ends a process that asks for too much, so its limit is looked at first.
    const auto more = in_pages(bytes);
    if (!present() || more > free_memory() || fallocate(file_, 0, size_, more) != 0)
        return std::nullopt;
    return std::exchange(size_, size_ + more);
}

std::shared_ptr<SharedMapping> SharedFile::map(std::int64_t at, std::size_t bytes) const
{
    const auto size = static_cast<std::size_t>(in_pages(bytes));
    void* memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, at);
    if (memory == MAP_FAILED) return nullptr;
    return std::make_shared<SharedMapping>(memory, size);
}

std::uint64_t SharedFile::number(std::int64_t at) const
{
    std::uint64_t value = 0;
    return pread(file_, &value, sizeof value, at) == sizeof value ? value : 0;
}

}  // namespace quorate
