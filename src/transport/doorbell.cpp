// SPDX-License-Identifier: BSD-2-Clause
#include "transport/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>

#include "base/host.hpp"

namespace quorate {

// One cache line for each rank, so that ranks do not share one. Cell 0 is the coordinator's.
struct alignas(64) Doorbells::Cell {
    std::atomic<std::uint32_t> rings;
    std::atomic<pid_t> process;  // 0: the rank has not joined
    std::atomic<std::uint32_t> asleep;
};

void Doorbells::map(int ranks)
{
    mapping_ = file_.map(SharedFile::first, static_cast<std::size_t>(ranks) * sizeof(Cell));
    if (!mapping_) return;
    cells_ = reinterpret_cast<Cell*>(mapping_->data());
    cells_[rank_].process = getpid();
    ranks_ = ranks;
}

Doorbells::Doorbells(int rank, int ranks) : file_("quorate-doorbells"), rank_(rank)
{
    if (file_.extend(static_cast<std::size_t>(ranks) * sizeof(Cell)))
        map(ranks);
    else
        file_ = SharedFile();
}

Doorbells::Doorbells(const SharedAddress& address, int rank, int ranks)
    : file_(address), rank_(rank)
{
    if (file_.present()) map(ranks);
}

bool Doorbells::with_coordinator() const { return cells_ && cells_[0].process != 0; }

bool Doorbells::all_ring()
{
    if (!cells_ || rank_ != 0) return with_coordinator();
    while (joined_ < ranks_ && cells_[joined_].process != 0) ++joined_;
    return joined_ == ranks_;
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
    if (process == 0) return false;
    if (kill(process, 0) != 0 && errno == ESRCH) return true;
    // A launcher that was told to go on may wait for the coordinator only when all have ended. The
    // coordinator itself looks at many ranks, and often.
    return rank == 0 && has_ended(process);
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
