// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shared_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include "base/host.hpp"

namespace quorate {

namespace {

constexpr std::int64_t page = 4096;

std::int64_t in_pages(std::size_t bytes)
{
    return (static_cast<std::int64_t>(bytes) + page - 1) / page * page;
}

std::string path_of(const SharedAddress& address)
{
    return fmt::format("/proc/{}/fd/{}", address.process, address.file);
}

// What this process has mapped, by token and place. Never freed, because mappings may end when the
// process does.
struct Mappings {
    std::mutex mutex;
    std::map<std::pair<std::uint64_t, std::int64_t>, std::weak_ptr<SharedMapping>> known;
};

Mappings& mappings_of_process()
{
    static auto& one = *new Mappings;
    return one;
}

}  // namespace

bool SharedAddress::is_open() const
{
    const auto path = path_of(*this);
    return access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ESRCH);
}

SharedMapping::~SharedMapping() { munmap(memory_, size_); }

SharedFile::SharedFile(const char* name) : file_(memfd_create(name, MFD_CLOEXEC))
{
    if (!present()) return;
    std::random_device random;
    address_ = {getpid(), file_, (std::uint64_t{random()} << 32) | random()};
    token_ = address_.token;
    const bool written = extend(first) && pwrite(file_, &address_.token, sizeof address_.token,
                                                 0) == sizeof address_.token;
    if (!written) *this = SharedFile();
}

SharedFile::SharedFile(const SharedAddress& address)
{
    if (address.file < 0) return;
    const auto path = path_of(address);
    file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
    token_ = address.token;
    if (present() && number(0) != token_) *this = SharedFile();
}

SharedFile::SharedFile(SharedFile&& other) noexcept { *this = std::move(other); }

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept
{
    std::swap(address_, other.address_);
    std::swap(file_, other.file_);
    std::swap(token_, other.token_);
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
    auto& [mutex, known] = mappings_of_process();
    const std::lock_guard lock(mutex);
    auto& here = known[{token_, at}];
    if (auto mapped = here.lock()) return mapped;
    std::erase_if(known, [](const auto& one) { return one.second.expired(); });
    const auto size = static_cast<std::size_t>(in_pages(bytes));
    void* memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, at);
    if (memory == MAP_FAILED) return nullptr;
    auto mapped = std::make_shared<SharedMapping>(memory, size);
    known[{token_, at}] = mapped;
    return mapped;
}

std::uint64_t SharedFile::number(std::int64_t at) const
{
    std::uint64_t value = 0;
    return pread(file_, &value, sizeof value, at) == sizeof value ? value : 0;
}

}  // namespace quorate
