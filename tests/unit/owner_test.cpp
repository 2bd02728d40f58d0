// SPDX-License-Identifier: BSD-2-Clause
// One process writes a file: who comes second is refused, and who has lost it writes nothing more.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/owner.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;

std::string text_of(const std::string& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Owner, WhoComesSecondIsToldWhoWasFirst)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    const Owner first(path);
    const auto said = refusal([&] { const Owner second(path); });
    EXPECT_EQ(said.find(path + " is being written by process " + std::to_string(getpid()) + " on "),
              0u)
        << said;
    EXPECT_NE(said.find(" UTC: wait until it ends, or end it"), std::string::npos) << said;
    EXPECT_NO_THROW(first.check());
}

TEST(Owner, ALinkIsTheFileThatItPointsTo)
{
    const Folder folder;
    const auto path = folder.write("t.h5", "a trace"), link = folder.file("link.h5");
    std::filesystem::create_symlink(path, link);
    const Owner first(path);
    EXPECT_EQ(refusal([&] { const Owner second(link); }).find(link + " is being written by"), 0u);
}

TEST(Owner, GivesTheFileBack)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    for (int i = 0; i < 2; ++i) const Owner one(path);
    EXPECT_EQ(folder.files(), 0u);
}

TEST(Owner, WhoWasKilledOwnsNothing)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    if (const pid_t child = fork(); child == 0) {
        const Owner killed(path);
        raise(SIGKILL);
    } else {
        waitpid(child, nullptr, 0);
    }
    EXPECT_EQ(folder.files(), 1u) << "the record is left";
    const Owner next(path);
    EXPECT_NO_THROW(next.check());
}

TEST(Owner, WhoIsStoppedKeepsTheFile)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    const pid_t child = fork();
    if (child == 0) {
        const Owner stopped(path);
        raise(SIGSTOP);
        _exit(0);
    }
    waitpid(child, nullptr, WUNTRACED);
    EXPECT_EQ(refusal([&] {
                  const Owner second(path);
              }).find(path + " is being written by process " + std::to_string(child)),
              0u);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

TEST(Owner, LosesTheFileToARecordOfAnother)
{
    // As where the file system has no locks, and a process of another host has taken it.
    const Folder folder;
    const auto path = folder.file("t.h5"), record = owner_record_of(path);
    {
        const Owner one(path);
        const auto theirs = "process 7 on elsewhere, since then\n0123\n";
        std::ofstream(record) << theirs;
        try {
            one.check();
            ADD_FAILURE() << "it has lost the file";
        } catch (const OwnerLost& lost) {
            EXPECT_EQ(lost.what(), path +
                                       " has been taken by process 7 on elsewhere, since then: "
                                       "this one writes nothing more");
        }
        EXPECT_EQ(text_of(record), theirs);
    }
    EXPECT_EQ(folder.files(), 1u) << "the record is another's";
}

TEST(Owner, LosesTheFileToOneThatHasEnded)
{
    const Folder folder;
    const Owner one(folder.file("t.h5"));
    std::filesystem::remove(owner_record_of(folder.file("t.h5")));
    EXPECT_THROW(one.check(), OwnerLost);
}

TEST(Owner, LooksAgainBeforeAWriteThatComesLate)
{
    const Folder folder;
    const Owner one(folder.file("t.h5"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // as who is stopped in a commit
    EXPECT_NO_THROW(one.check_again());
    std::ofstream(owner_record_of(folder.file("t.h5")))
        << "process 7 on elsewhere, since then\n0123\n";
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    EXPECT_THROW(one.check_again(), OwnerLost);
}

TEST(Owner, ARecordIsNoLink)
{
    const Folder folder;
    const auto victim = folder.write("victim", "precious");
    std::filesystem::create_symlink(victim, owner_record_of(folder.file("t.h5")));
    EXPECT_THROW(const Owner one(folder.file("t.h5")), Failure);
    EXPECT_EQ(text_of(victim), "precious");
}

}  // namespace
}  // namespace quorate
