// SPDX-License-Identifier: BSD-2-Clause
#include "base/owner.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>

#include "base/host.hpp"
#include "base/log.hpp"
#include "base/shown.hpp"

namespace quorate {

namespace {

// "process 4242 on n1, job 17, since 2026-11-26 06:10:00 UTC", and a number that no other owner has.
std::string own_record()
{
    std::random_device random;
    auto job = environment("SLURM_JOB_ID");
    if (job.empty()) job = environment("PBS_JOBID");
    return fmt::format("process {} on {}{}, since {:%Y-%m-%d %H:%M:%S} UTC\n{:08x}{:08x}\n",
                       getpid(), host_name(), job.empty() ? "" : ", job " + job,
                       fmt::gmtime(std::time(nullptr)), random(), random());
}

std::string text_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The first line of a record: who it is.
std::string who(const std::string& record)
{
    return record.empty() ? "another process" : shown(record.substr(0, record.find('\n')), 200);
}

// Whether a record is of another process of this host that lives. Its number may be that of a newer process, which is taken for it.
bool lives_here(const std::string& record)
{
    int process = 0;
    char host[256] = "";
    return std::sscanf(record.c_str(), "process %d on %255[^,]", &process, host) == 2 &&
           host == host_name() && process != getpid() && (kill(process, 0) == 0 || errno == EPERM);
}

// Whether both names are of one file: a record that its owner has removed is not the one that has come in its place.
bool is_in_place(int file, const std::string& path)
{
    struct stat here {
    }, there{};
    return fstat(file, &here) == 0 && stat(path.c_str(), &there) == 0 &&
           here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

}  // namespace

std::string owner_record_of(const std::string& path) { return path + ".owner"; }

Owner::Owner(const std::string& path)
    : path_(path), record_(owner_record_of(path)), mine_(own_record())
{
    while (!take()) {
        close(file_);
        file_ = -1;
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
    const auto other = text_of(record_);
    if (held || (!locked && lives_here(other))) {
        close(file_);
        throw BadInput(fmt::format("{} is being written by {}: wait until it ends, or end it",
                                   path_, who(other)));
    }
    if (!locked && !other.empty())
        log(LogLevel::error,
            fmt::format("{} was being written by {}, which is to stop if it still goes on", path_,
                        who(other)));
    if (ftruncate(file_, 0) != 0 ||
        pwrite(file_, mine_.data(), mine_.size(), 0) != static_cast<ssize_t>(mine_.size()))
        fail();
    return true;
}

Owner::~Owner()
{
    if (text_of(record_) == mine_) unlink(record_.c_str());
    close(file_);
}

void Owner::check() const
{
    if (const auto now = text_of(record_); now != mine_)
        throw OwnerLost(
            fmt::format("{} has been taken by {}: this one writes nothing more", path_, who(now)));
}

}  // namespace quorate
