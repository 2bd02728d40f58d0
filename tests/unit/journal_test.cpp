// SPDX-License-Identifier: BSD-2-Clause
// A file whose process is killed while it writes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>
#include <numeric>

#include "data/hdf5_attributes.hpp"
#include "data/hdf5_data_sets.hpp"
#include "data/journal.hpp"
#include "support.hpp"

namespace quorate {
namespace {

namespace fs = std::filesystem;
using test::Folder;

constexpr std::array names = {"a", "b", "c"};
constexpr std::int64_t rows_each = 700;
constexpr int commits = 3;

void flush(const h5::File& file) { h5::check(H5Fflush(file.get(), H5F_SCOPE_GLOBAL), "flush"); }

void create(const std::string& path)
{
    const auto file = h5::create_with_journal(path);
    for (const auto* name : names)
        h5::create_extendable<std::int64_t>(file.get(), name, 128, 0, true);
    h5::write_attribute(file.get(), "status", std::string("running"));
}

void append_to_all(const h5::File& file)
{
    for (const auto* name : names) {
        std::vector<std::int64_t> values(rows_each);
        std::iota(values.begin(), values.end(), h5::shape(file.get(), name).at(0));
        const h5::DataSet column(H5Dopen2(file.get(), name, H5P_DEFAULT), "open");
        h5::append<std::int64_t>(column, values);
    }
    h5::write_attribute(file.get(), "status", std::string("running still"));
}

/// @param done counts the commits
void write_commits(const std::string& path, std::atomic<int>& done)
{
    const auto file = h5::open_to_append(path);
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
    const auto rows = h5::shape(file.get(), names[0]).at(0);
    for (const auto* name : names) {
        std::vector<std::int64_t> expected(static_cast<std::size_t>(rows));
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(h5::read<std::int64_t>(file.get(), name), expected) << name;
    }
    return rows;
}

/// Calls f in a process that is killed as it enters or leaves its n-th system call.
/// @return false if it ended before
bool run_and_kill(int n, const std::function<void()>& f)
{
    const auto child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        raise(SIGSTOP);
        f();
        _exit(0);
    }
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

TEST(Journal, AFileThatBecomesShorterIsCutOffAfterTheCommit)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    create(path);
    write_commits(path);
    const auto long_file = fs::file_size(path);
    const auto file = h5::open_to_append(path);
    for (const auto* name : names)
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
