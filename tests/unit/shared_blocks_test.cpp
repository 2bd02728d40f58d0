// SPDX-License-Identifier: BSD-2-Clause
// Memory that processes share. Readers are processes of their own where it matters that they may
// end at any time.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/host.hpp"
#include "ranks/host_memory.hpp"
#include "transport/thread_endpoint.hpp"

namespace quorate {
namespace {

constexpr std::size_t size = 1000;
const auto more_than_there_is = 2 * static_cast<std::size_t>(host_memory());  // bytes

class SharedMemory : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!SharedFile("quorate-test").present())
            GTEST_SKIP() << "this system gives no memory to share";
    }
};

TEST_F(SharedMemory, AReaderSeesWhatTheOwnerWrote)
{
    SharedBlocks owner("quorate-test", 2);
    auto* block = owner.take(size);
    std::fill_n(block, size, 2.5);
    BorrowedBlocks reader(owner.address(), 2, 1);
    ASSERT_TRUE(reader.present());
    const auto values = reader.borrow(owner.lend(block, 1), size);
    EXPECT_EQ(values.get(), block);  // a process maps it once
    EXPECT_TRUE(std::all_of(values.get(), values.get() + size, [](double x) { return x == 2.5; }));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.get()) % 64, 0u);
}

TEST_F(SharedMemory, ABlockIsUsedAgainOnlyWhenAllHaveGivenItBack)
{
    SharedBlocks owner("quorate-test", 3);
    auto* block = owner.take(size);
    BorrowedBlocks one(owner.address(), 3, 1), two(owner.address(), 3, 2);
    owner.lend(block, 1);
    owner.lend(block, 2);
    const auto name = owner.lend(block, 2);  // two messages name it to the same reader
    owner.give_back(block);
    auto first = one.borrow(name, size), second = two.borrow(name, size),
         third = two.borrow(name, size);
    const auto other_owner = second;
    first.reset();
    second.reset();
    third.reset();
    EXPECT_TRUE(owner.is_lent(block));
    EXPECT_NE(owner.take(size), block);
}

TEST_F(SharedMemory, ABlockThatIsFreeIsUsedAgain)
{
    SharedBlocks owner("quorate-test", 1);
    auto *large = owner.take(2 * size), *small = owner.take(size);
    BorrowedBlocks reader(owner.address(), 1, 0);
    reader.borrow(owner.lend(small, 0), size).reset();
    EXPECT_FALSE(owner.is_lent(small));
    EXPECT_NE(owner.take(size), small);  // the owner has not given it back
    owner.give_back(large);
    owner.give_back(small);
    EXPECT_EQ(owner.take(size), small);  // the smallest that is large enough
    EXPECT_EQ(owner.take(size), large);
}

TEST_F(SharedMemory, WhatADeadReaderHasIsFree)
{
    bool ended = false;
    SharedBlocks owner("quorate-test", 1, [&](int) { return ended; });
    auto* block = owner.take(size);
    owner.lend(block, 0);  // no message ever comes to it
    EXPECT_TRUE(owner.is_lent(block));
    ended = true;
    EXPECT_FALSE(owner.is_lent(block));
}

TEST_F(SharedMemory, SomebodyElsesFileIsNotOpened)
{
    const SharedBlocks owner("quorate-test", 1);
    auto address = owner.address();
    address.token ^= 1;  // another host may have a process of that number
    EXPECT_FALSE(BorrowedBlocks(address, 1, 0).present());
    EXPECT_FALSE(BorrowedBlocks(SharedAddress{}, 1, 0).present());
}

TEST_F(SharedMemory, ANameThatIsNoneIsRefused)
{
    SharedBlocks owner("quorate-test", 1);
    auto* block = owner.take(size);
    BorrowedBlocks reader(owner.address(), 1, 0);
    EXPECT_THROW(reader.borrow(owner.name(block) + 4096, size), Failure);
    EXPECT_THROW(reader.borrow(std::int64_t{1} << 40, size), Failure);
    EXPECT_THROW(reader.borrow(owner.name(block), 2 * size), Failure);
}

TEST_F(SharedMemory, TooMuchIsRefusedBeforeItIsTouched)
{
    SharedBlocks owner("quorate-test", 1);
    EXPECT_EQ(owner.take(more_than_there_is / sizeof(double)), nullptr);
    EXPECT_NE(owner.take(size), nullptr);
    EXPECT_EQ(SharedBlocks().take(size), nullptr);
}

TEST_F(SharedMemory, PointsThatCannotBeHadEndTheRunBeforeItBegins)
{
    transport::Threads threads(1);
    const transport::ThreadEndpoint endpoint(threads, 0, "here");
    CoordinatorMemory memory(endpoint, {});
    EXPECT_THROW(static_cast<void>(memory.allocate(more_than_there_is)), Failure);
    auto* point = static_cast<double*>(memory.allocate(size * sizeof(double)));
    EXPECT_FALSE(memory.is_read(point));
    memory.deallocate(point, size * sizeof(double));
    const CoordinatorMemory none;
    EXPECT_FALSE(none.reads(0));
}

TEST(SharedFile, IsNotOpenAnyMoreWhenItsOwnerHasEnded)
{
    auto file = std::make_unique<SharedFile>("test");
    const auto address = file->address();
    EXPECT_TRUE(address.is_open());
    file.reset();
    EXPECT_FALSE(address.is_open());
    EXPECT_FALSE(SharedFile(address).present());
}

// A reader in a process of its own, which takes orders by a pipe: it borrows the block of each
// name, checks that all its values are equal for as long as it has it, and gives it back late.
class ReadingProcess {
public:
    ReadingProcess(const SharedAddress& address, int readers, int number)
    {
        std::array<int, 2> ends{};
        EXPECT_EQ(pipe(ends.data()), 0);
        process = fork();
        if (process == 0) {
            close(ends[1]);
            read_blocks(BorrowedBlocks(address, readers, number), ends[0]);
        }
        close(ends[0]);
        orders_ = ends[1];
    }
    void order(std::int64_t name) const
    {
        EXPECT_EQ(write(orders_, &name, sizeof name), ssize_t{sizeof name});
    }
    // Ends it. @return the status of waitpid()
    int end()
    {
        order(-1);
        close(orders_);
        int status = 0;
        EXPECT_EQ(waitpid(process, &status, 0), process);
        return status;
    }
    pid_t process;

private:
    [[noreturn]] static void read_blocks(BorrowedBlocks blocks, int orders)
    {
        std::int64_t name = 0;
        std::shared_ptr<const double> last;
        while (::read(orders, &name, sizeof name) == sizeof name && name >= 0) {
            auto values = blocks.borrow(name, size);
            for (int times = 0; times < 20; ++times)
                for (std::size_t i = 1; i < size; ++i) {
                    const auto* value = static_cast<const volatile double*>(values.get());
                    if (value[i] != value[0]) _exit(1);
                }
            last = std::move(values);
        }
        _exit(0);
    }
    int orders_;
};

// The owner fills each block that it takes with NaN first, so that a reader of a block that was
// taken too early sees it change. A reader that was killed with blocks in its hands keeps none.
TEST_F(SharedMemory, NobodySeesABlockChange)
{
    constexpr int readers = 3;
    std::vector<ReadingProcess> processes;
    std::vector<bool> ended(readers);
    SharedBlocks owner("quorate-test", readers, [&](int i) { return ended[i]; });
    for (int i = 0; i < readers; ++i) processes.emplace_back(owner.address(), readers, i);
    std::set<const double*> blocks;
    for (int round = 0; round < 2000; ++round) {
        auto* block = owner.take(size);
        ASSERT_NE(block, nullptr);
        blocks.insert(block);
        std::fill_n(block, size, std::numeric_limits<double>::quiet_NaN());
        std::fill_n(block, size, static_cast<double>(round));
        if (round == 1000) {
            kill(processes[2].process, SIGKILL);
            EXPECT_EQ(waitpid(processes[2].process, nullptr, 0), processes[2].process);
            ended[2] = true;
        }
        for (int i = 0; i < readers; ++i)
            if (!ended[i] && round % (i + 1) == 0) processes[i].order(owner.lend(block, i));
        owner.give_back(block);
    }
    for (int i = 0; i < 2; ++i) {
        const int status = processes[i].end();
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    EXPECT_GT(blocks.size(), 1u);
    EXPECT_LT(blocks.size(), 2000u);
}

}  // namespace
}  // namespace quorate
