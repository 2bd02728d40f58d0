// SPDX-License-Identifier: BSD-2-Clause
#include "base/owner.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <random>
#include <sstream>
#include <thread>

#include "base/host.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/shown.hpp"

namespace quorate {

namespace {

// "process 4242 on n1, job 17, since 2026-11-26 06:10:00 UTC", and a number that no other owner
// has.
std::string own_record()
{
    std::random_device random;
    auto job = environment("SLURM_JOB_ID");
    if (job.empty()) job = environment("PBS_JOBID");
    return fmt::format("process {} on {}{}, since {:%Y-%m-%d %H:%M:%S} UTC\n{:08x}{:08x}\n",
                       getpid(), host_name(), job.empty() ? "" : ", job " + job,
                       fmt::gmtime(std::time(nullptr)), random(), random());
}

// Seconds between two looks at the record; the newcomer waits twice as long.
constexpr double looks = 1;

double seconds_now()
{
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The first line of a record: who it is.
std::string who(const std::string& record)
{
    return record.empty() ? "another process" : shown(record.substr(0, record.find('\n')), 200);
}

// Whether a record is of another process of this host that lives. Its number may be that of a newer
// process, which is taken for it.
bool lives_here(const std::string& record)
{
    std::istringstream words(record);
    std::string word, on, host;
    pid_t process = 0;
    return words >> word >> process >> on >> host && host == host_name() + ',' &&
           process != getpid() && (kill(process, 0) == 0 || errno == EPERM);
}

// Whether both names are of one file: a record that its owner has removed is not the one that has
// come in its place.
bool is_in_place(int file, const std::string& path)
{
    struct stat here {
    }, there{};
    return fstat(file, &here) == 0 && stat(path.c_str(), &there) == 0 &&
           here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

}  // namespace

std::string owner_record_of(const std::string& path) { return target_of(path) + ".owner"; }

Owner::Owner(const std::string& path)
    : path_(path), record_(owner_record_of(path)), mine_(own_record())
{
    while (!take()) {
        close(file_);
        file_ = -1;
    }
    try {
        check();
    } catch (...) {
        close(file_);
        throw;
    }
}

// Takes the file. @return false if its owner has just removed the record that was locked
bool Owner::take()
{
    const auto fail = [&] {
        const int why = errno;
        if (file_ >= 0) close(file_);
        throw Failure(fmt::format("cannot write {}: {}", record_, std::strerror(why)));
    };
    file_ = open(record_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) fail();
    struct flock whole {};
    whole.l_type = F_WRLCK;
    const bool locked = fcntl(file_, F_OFD_SETLK, &whole) == 0;
    const bool held = !locked && (errno == EAGAIN || errno == EACCES);
    if (locked && !is_in_place(file_, record_)) return false;
    const auto other = contents_of(record_).value_or("");
    if (held || (!locked && lives_here(other))) {
        close(file_);
        throw BadInput(fmt::format("{} is being written by {}: wait until it ends, or end it",
                                   path_, who(other)));
    }
    const bool taken = !locked && !other.empty();
    if (taken)
        log(LogLevel::error,
            fmt::format("{} was being written by {}, which is to stop if it still goes on", path_,
                        who(other)));
    if (ftruncate(file_, 0) != 0 ||
        pwrite(file_, mine_.data(), mine_.size(), 0) != static_cast<ssize_t>(mine_.size()))
        fail();
    if (taken) std::this_thread::sleep_for(std::chrono::duration<double>(2 * looks));
    return true;
}

Owner::~Owner()
{
    if (contents_of(record_).value_or("") == mine_) unlink(record_.c_str());
    close(file_);
}

void Owner::check() const
{
    checked_ = seconds_now();
    if (const auto now = contents_of(record_).value_or(""); now != mine_)
        throw OwnerLost(
            fmt::format("{} has been taken by {}: this one writes nothing more", path_, who(now)));
}

void Owner::check_again() const
{
    if (seconds_now() - checked_ > looks) check();
}

}  // namespace quorate
