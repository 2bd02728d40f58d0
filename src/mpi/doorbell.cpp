// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/doorbell.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <random>

namespace quorate {

// One cache line for each rank, so that ranks do not share one. Cell 0 is the coordinator's, and
// the only one whose token is set.
struct alignas(64) Doorbells::Cell {
    std::atomic<std::uint32_t> rings;
    std::atomic<pid_t> process;  // 0: the rank has not joined
    std::atomic<std::uint32_t> asleep;
    std::uint64_t token;
};

void Doorbells::map(int file, int ranks)
{
    size_ = static_cast<std::size_t>(ranks) * sizeof(Cell);
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return;
    cells_ = static_cast<Cell*>(memory);
    ranks_ = ranks;
}

Doorbells::Doorbells(int ranks)
{
    const int file = memfd_create("quorate-doorbells", MFD_CLOEXEC);
    if (file < 0) return;
    if (ftruncate(file, static_cast<off_t>(static_cast<std::size_t>(ranks) * sizeof(Cell))) == 0)
        map(file, ranks);
    if (!cells_) {
        close(file);
        return;
    }
    std::random_device random;
    address_ = {getpid(), file, (std::uint64_t{random()} << 32) | random()};
    cells_[0].token = address_.token;
    cells_[0].process = getpid();
}

Doorbells::Doorbells(const DoorbellAddress& address, int rank, int ranks) : rank_(rank)
{
    if (address.file < 0) return;
    const auto path = fmt::format("/proc/{}/fd/{}", address.process, address.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    const auto wanted = static_cast<off_t>(static_cast<std::size_t>(ranks) * sizeof(Cell));
    if (lseek(file, 0, SEEK_END) == wanted) map(file, ranks);
    close(file);
    if (cells_ && cells_[0].token != address.token) {
        munmap(cells_, size_);
        cells_ = nullptr;
    }
    if (cells_) cells_[rank].process = getpid();
}

Doorbells::~Doorbells()
{
    if (cells_) munmap(cells_, size_);
    if (address_.file >= 0) close(static_cast<int>(address_.file));
}

void Doorbells::ring(int rank)
{
    if (!cells_ || rank >= ranks_ || !cells_[rank].process) return;
    auto& cell = cells_[rank];
    ++cell.rings;
    if (cell.asleep) syscall(SYS_futex, &cell.rings, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool Doorbells::gone(int rank) const
{
    if (!cells_ || rank >= ranks_) return false;
    const pid_t process = cells_[rank].process;
    return process != 0 && kill(process, 0) != 0 && errno == ESRCH;
}

std::uint32_t Doorbells::rings() const { return cells_ ? cells_[rank_].rings.load() : 0; }

void Doorbells::wait(std::uint32_t rings, Seconds at_most)
{
    auto& cell = cells_[rank_];
    const Seconds whole = std::floor(at_most);
    const timespec limit{static_cast<time_t>(whole), static_cast<long>((at_most - whole) * 1e9)};
    cell.asleep = 1;
    syscall(SYS_futex, &cell.rings, FUTEX_WAIT, rings, &limit, nullptr, 0);
    cell.asleep = 0;
}

}  // namespace quorate
