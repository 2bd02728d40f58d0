// SPDX-License-Identifier: BSD-2-Clause
// A file whose process is killed while it writes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <new>
#include <numeric>
#include <random>

#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "hdf5/journal.hpp"
#include "small_header.hpp"
#include "support.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace quorate {
namespace {

namespace fs = std::filesystem;
using test::Folder;

constexpr std::array series_names = {"a", "b", "c"};
constexpr std::int64_t rows_each = 700;
constexpr int commits = 3;

void flush(const h5::File& file) { h5::check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flush"); }

void create(const std::string& path, h5::WriteAccess* access = nullptr)
{
    const auto file = h5::create_with_journal(path, access);
    for (const auto* name : series_names)
        h5::create_extendable<std::int64_t>(file.get(), name, 128, 0, true);
    h5::write_attribute(file.get(), "status", std::string("running"));
}

void append_to_all(const h5::File& file)
{
    for (const auto* name : series_names) {
        std::vector<std::int64_t> values(rows_each);
        std::iota(values.begin(), values.end(), h5::shape(file.get(), name).at(0));
        const h5::DataSet column(H5Dopen2(file.get(), name, H5P_DEFAULT), "open");
        h5::append<std::int64_t>(column, values);
    }
    h5::write_attribute(file.get(), "status", std::string("running still"));
}

/// @param done counts the commits
void write_commits(const std::string& path, std::atomic<int>& done,
                   h5::WriteAccess* access = nullptr)
{
    const auto file = h5::open_to_append(path, access);
    for (int i = 0; i < commits; ++i) {
        append_to_all(file);
        flush(file);
        ++done;
    }
}

void write_commits(const std::string& path)
{
    std::atomic<int> done = 0;
    write_commits(path, done);
}

/// A counter that outlives a process that counts with it.
class SharedCounter {
public:
    SharedCounter()
        : place_(mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
          value_(new (place_) std::atomic<int>(0))
    {
    }
    ~SharedCounter() { munmap(place_, sizeof(std::atomic<int>)); }
    SharedCounter(const SharedCounter&) = delete;
    SharedCounter& operator=(const SharedCounter&) = delete;
    std::atomic<int>& operator*() const { return *value_; }

private:
    void* place_;
    std::atomic<int>* value_;
};

/// Rows of the file, of which each column has the same.
std::int64_t rows_in(const std::string& path)
{
    const auto file = h5::open(path);
    EXPECT_EQ(h5::read_string(file.get(), "status").substr(0, 7), "running");
    const auto rows = h5::shape(file.get(), series_names[0]).at(0);
    for (const auto* name : series_names) {
        std::vector<std::int64_t> expected(static_cast<std::size_t>(rows));
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(h5::read<std::int64_t>(file.get(), name), expected) << name;
    }
    return rows;
}

/// Calls f in a process that this one traces, and that stops before it begins.
pid_t start_traced(const std::function<void()>& f)
{
    const auto child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGSTOP);
        f();
        _exit(0);
    }
    return child;
}

/// Calls f in a process that is killed as it enters or leaves its n-th system call.
/// @return false if it ended before
bool run_and_kill(int n, const std::function<void()>& f)
{
    const auto child = start_traced(f);
    int status = 0;
    for (int stops = 0; waitpid(child, &status, 0) == child && WIFSTOPPED(status); ++stops) {
        if (stops == n) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return true;
        }
        ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the process failed by itself";
    return false;
}

TEST(Journal, AFileWhoseWriterIsKilledAtAnySystemCallIsThatOfItsLastCommit)
{
    const Folder folder;
    create(folder.file("new.h5"));
    const auto path = folder.file("t.h5");
    std::int64_t rows = 0;
    int kills = 0, in_the_middle = 0;
    for (bool killed = true; killed; ++kills) {
        fs::copy_file(folder.file("new.h5"), path, fs::copy_options::overwrite_existing);
        fs::remove(h5::journal_of(path));
        const SharedCounter done;
        killed = run_and_kill(kills, [&] { write_commits(path, *done); });
        in_the_middle += fs::exists(h5::journal_of(path)) ? 1 : 0;
        rows = rows_in(path);
        ASSERT_EQ(rows % rows_each, 0) << "killed at " << kills;
        // The commit under way may be there as a whole.
        ASSERT_GE(rows / rows_each, *done) << "killed at " << kills;
        ASSERT_LE(rows / rows_each, *done + 1) << "killed at " << kills;
        // And the next process goes on with it.
        {
            const auto file = h5::open_to_append(path);
            append_to_all(file);
        }
        ASSERT_FALSE(fs::exists(h5::journal_of(path)));
        ASSERT_EQ(rows_in(path), rows + rows_each) << "killed at " << kills;
    }
    EXPECT_EQ(rows, commits * rows_each);
    EXPECT_GT(in_the_middle, commits);
    EXPECT_GT(kills, 10 * commits);
}

TEST(Journal, ATraceWhoseRunIsKilledAsItGoesBackHasEachRoundOnce)
{
    const Folder folder;
    const auto path = folder.file("t.h5"), ran = folder.file("ran.h5");
    {
        trace::Writer writer(ran, test::small_header(2, 2), 1);
        trace::Round round{};
        for (round.time = 1; round.time < 500; ++round.time) writer.add(round);
    }
    const auto go_back = [&] {
        trace::Writer(path, {{trace::Round::table, 300}}, "killed", {}, 1);
    };
    using Lengths = std::pair<std::size_t, std::size_t>;
    const auto rounds = [&] {
        const auto trace = trace::read(path);
        return Lengths(trace.rounds.size(), trace.lost.empty() ? 0 : trace.lost[0].rounds.size());
    };
    const Lengths after{300, 199};
    // The file is tested at each system call above; its process makes many more here.
    constexpr int step = 29;
    int kills = 0, before = 0;
    for (bool killed = true; killed; kills += step) {
        fs::copy_file(ran, path, fs::copy_options::overwrite_existing);
        fs::remove(h5::journal_of(path));
        killed = run_and_kill(kills, go_back);
        const bool is_before = rounds() == Lengths(499, 0);
        before += is_before ? 1 : 0;
        ASSERT_TRUE(is_before || rounds() == after) << "killed at " << kills;
        go_back();
        ASSERT_EQ(rounds(), after) << "killed at " << kills;
        ASSERT_EQ(trace::read(path).lost.size(), 1U) << "killed at " << kills;
    }
    EXPECT_GT(before, 1);
    EXPECT_GT(kills, before * step);
}

// --- power loss ----------------------------------------------------------------------------------

using Names =
    std::map<std::string, int>;  // of the files, which have numbers: those of inodes come again

std::string bytes_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What a folder may hold after a power loss. Of a file that was synced, each page is that of the
/// sync or that of now; so is the length. Names are as they were at the last sync of the folder, or
/// after any change since.
class Disk {
public:
    explicit Disk(std::string folder) : folder_(std::move(folder))
    {
        look();
        for (const auto& [name, file] : since_.back())
            synced_[file] = bytes_of(folder_ + "/" + name);
    }
    /// To be called after each system call.
    void look()
    {
        Names now;
        std::map<ino_t, int> files;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            const auto inode = inode_of(entry.path());
            const auto known = files_.find(inode);
            files[inode] = now[entry.path().filename()] =
                known == files_.end() ? ++last_ : known->second;
        }
        files_ = std::move(files);
        if (since_.empty() || since_.back() != now) since_.push_back(now);
    }
    void sync(const std::string& path)
    {
        if (path == folder_)
            since_ = {since_.back()};
        else if (const auto file = files_.find(inode_of(path)); file != files_.end())
            synced_[file->second] = bytes_of(path);
    }
    /// Writes what may be left to a folder.
    void lose_power(const std::string& to, std::mt19937& random) const
    {
        fs::remove_all(to);
        fs::create_directory(to);
        std::map<int, std::string> now;
        for (const auto& [name, file] : since_.back()) now[file] = bytes_of(folder_ + "/" + name);
        for (const auto& [name, file] : since_[random() % since_.size()]) {
            const auto at = synced_.find(file);
            const auto before = at == synced_.end() ? "" : at->second;
            // Of a file that has lost its last name nothing is left but what was synced.
            const auto& after = now.contains(file) ? now[file] : before;
            std::ofstream(to + "/" + name, std::ios::binary) << mixed(before, after, random);
        }
    }

private:
    static ino_t inode_of(const std::string& path)
    {
        struct stat file {};
        return stat(path.c_str(), &file) == 0 ? file.st_ino : 0;
    }
    static std::string mixed(const std::string& before, const std::string& after,
                             std::mt19937& random)
    {
        constexpr std::size_t page = 4096;
        std::string left((random() % 2 ? before : after).size(), '\0');
        for (std::size_t begin = 0; begin < left.size(); begin += page) {
            const auto& from = random() % 2 ? before : after;
            if (begin >= from.size()) continue;
            const auto size = std::min({page, left.size() - begin, from.size() - begin});
            left.replace(begin, size, from, begin, size);
        }
        return left;
    }

    std::string folder_;
    std::map<int, std::string> synced_;
    std::map<ino_t, int> files_;
    int last_ = 0;
    std::vector<Names> since_;  // the last sync of the folder
};

/// Calls f in a process, and each time that it leaves a system call disk.look(), disk.sync() if
/// that was a sync, and look.
void run_and_look(const std::function<void()>& f, Disk& disk, const std::function<void()>& look)
{
    const auto child = start_traced(f);
    int status = 0;
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD);
    std::string syncs;  // the file that is being synced
    for (;;) {
        ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) break;
        __ptrace_syscall_info call{};
        ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call);
        if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
            syncs.clear();
            if (call.entry.nr == SYS_fsync || call.entry.nr == SYS_fdatasync)
                syncs = fs::read_symlink(fmt::format("/proc/{}/fd/{}", child, call.entry.args[0]));
        } else if (call.op == PTRACE_SYSCALL_INFO_EXIT) {
            disk.look();
            if (!syncs.empty() && call.exit.rval == 0) disk.sync(syncs);
            look();
        }
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the process failed by itself";
}

TEST(Journal, ADurableFileIsThatOfItsLastCommitAfterAPowerLossAtAnySystemCall)
{
    const Folder folder, crashed;
    fs::create_directory(folder.file("now"));
    const auto path = folder.file("now/t.h5"), left = crashed.file("x/t.h5");
    {
        h5::WriteAccess access{.durable = true};
        create(path, &access);
    }
    Disk disk(folder.file("now"));
    const SharedCounter done;
    std::mt19937 random(1);
    int losses = 0, with_journal = 0;
    const auto lose_power = [&] {
        disk.lose_power(crashed.file("x"), random);
        with_journal += fs::exists(h5::journal_of(left)) ? 1 : 0;
        const auto rows = rows_in(left);
        EXPECT_EQ(rows % rows_each, 0) << "loss " << losses;
        EXPECT_GE(rows / rows_each, *done) << "loss " << losses;
        EXPECT_LE(rows / rows_each, *done + 1) << "loss " << losses;
        {
            const auto file = h5::open_to_append(left);
            append_to_all(file);
        }
        EXPECT_EQ(rows_in(left), rows + rows_each) << "loss " << losses;
        ++losses;
    };
    run_and_look(
        [&] {
            h5::WriteAccess access{.durable = true};
            write_commits(path, *done, &access);
        },
        disk, lose_power);
    EXPECT_EQ(*done, commits);
    EXPECT_GT(losses, 10 * commits);
    EXPECT_GT(with_journal, commits);
}

TEST(Journal, ANewDurableFileIsWholeOrNotThereAfterAPowerLoss)
{
    const Folder folder, crashed;
    fs::create_directory(folder.file("now"));
    const auto left = crashed.file("x/t.h5");
    Disk disk(folder.file("now"));
    std::mt19937 random(1);
    int there = 0;
    run_and_look(
        [&] {
            h5::WriteAccess access{.durable = true};
            create(folder.file("now/t.h5"), &access);
        },
        disk,
        [&] {
            disk.lose_power(crashed.file("x"), random);
            if (!fs::exists(left)) return;
            ++there;
            EXPECT_EQ(rows_in(left), 0);
        });
    EXPECT_GT(there, 0);
}

TEST(Journal, AFileThatBecomesShorterIsCutOffAfterTheCommit)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    create(path);
    write_commits(path);
    const auto long_file = fs::file_size(path);
    const auto file = h5::open_to_append(path);
    for (const auto* name : series_names)
        h5::cut(h5::DataSet(H5Dopen2(file.get(), name, H5P_DEFAULT), "open"), 1);
    EXPECT_EQ(rows_in(path), commits * rows_each);
    flush(file);
    EXPECT_EQ(rows_in(path), 1);
    EXPECT_LT(fs::file_size(path), long_file);
}

TEST(Journal, OfAnotherFileIsNotLaidOverThisOne)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    create(path);
    folder.write("t.h5.journal", std::string(24 + 4096, '\0'));
    EXPECT_EQ(rows_in(path), 0);
    write_commits(path);
    EXPECT_EQ(rows_in(path), commits * rows_each);
}

TEST(Journal, OfAFileThatIsMadeAnewIsForgotten)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    folder.write("t.h5.journal", std::string(8 + 4096, '\0'));
    create(path);
    EXPECT_FALSE(fs::exists(h5::journal_of(path)));
    EXPECT_EQ(rows_in(path), 0);
}

TEST(Journal, ThatCannotBeWrittenLeavesTheFileAsItWas)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    create(path);
    fs::create_directory(h5::journal_of(path));
    // Elsewhere: HDF5 keeps what could not be closed, and crashes over it in the end.
    const auto write_and_fail = [&] {
        try {
            write_commits(path);
        } catch (const Failure& failed) {
            _exit(std::string(failed.what()).find("t.h5.journal") == std::string::npos ? 2 : 0);
        }
        _exit(1);
    };
    EXPECT_EXIT(write_and_fail(), testing::ExitedWithCode(0), "");
    fs::remove(h5::journal_of(path));
    EXPECT_EQ(rows_in(path), 0);
}

}  // namespace
}  // namespace quorate
