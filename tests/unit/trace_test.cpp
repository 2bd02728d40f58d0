// SPDX-License-Identifier: BSD-2-Clause
// A trace as it is written, read while it is written, and checked.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <numeric>

#include "base/log.hpp"
#include "base/owner.hpp"
#include "small_header.hpp"
#include "support.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;
using Doubles = std::vector<double>;

constexpr std::int64_t width = 3;

trace::Header header() { return test::small_header(2, 2); }

trace::Round round_at(double time)
{
    trace::Round row{};
    row.time = time;
    row.used = 2;
    row.erased = 0;
    return row;
}

trace::Arrival arrival_of(std::int64_t round, std::int64_t worker)
{
    trace::Arrival row{};
    row.round = round;
    row.worker = worker;
    row.arrived = 0.5;
    row.used = round;
    return row;
}

std::string bytes_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// While it lives, no file of this process grows beyond so many bytes: a disk that is full.
class SmallFiles {
public:
    explicit SmallFiles(std::size_t bytes)
    {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;

private:
    rlimit before_{};
};

trace::Iterate iterate(double first)
{
    return std::make_shared<NumberVector>(std::vector{first, first + 1, first + 2});
}

/// Two sound rounds of two workers.
void fill(trace::Writer& writer)
{
    for (const std::int64_t rank : {1, 2}) writer.add(trace::WorkerRow{rank, 10, 3, 0});
    for (std::int64_t round = 1; round <= 2; ++round) {
        for (const std::int64_t worker : {0, 1}) writer.add(arrival_of(round, worker));
        writer.add(round_at(static_cast<double>(round)));
        writer.keep(round, iterate(static_cast<double>(round)));
    }
}

TEST(Trace, WhatWasWrittenIsRead)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    {
        trace::Writer writer(path, header(), width);
        fill(writer);
        writer.add(trace::Evaluation{.round = 2,
                                     .model = 0,
                                     .time = 2,
                                     .train_loss = 0.5,
                                     .objective = 0.6,
                                     .train_accuracy = 0.65,
                                     .test_loss = 0.7,
                                     .accuracy = 0.8,
                                     .auc = 0.9,
                                     .average_precision = 0.95,
                                     .precision = 0.1,
                                     .recall = 0.2,
                                     .f1 = 0.3,
                                     .mse = 0.4,
                                     .top_k = 0.5});
        writer.finish(std::vector<double>{7, 8, 9}, "completed", "");
    }
    const auto got = trace::read(path);
    EXPECT_EQ(got.status(), "completed");
    EXPECT_EQ(got.attributes.at("format"), "quorate trace");
    EXPECT_EQ(got.attributes.at("scheme"), "uncoded");
    EXPECT_EQ(got.attributes.at("l2"), "0.125");
    EXPECT_EQ(got.attributes.at("rounds"), "2");
    ASSERT_EQ(got.rounds.size(), 2u);
    EXPECT_EQ(got.rounds[1].time, 2);
    ASSERT_EQ(got.arrivals.size(), 4u);
    EXPECT_EQ(got.arrivals[3].worker, 1);
    ASSERT_EQ(got.evaluations.size(), 1u);
    EXPECT_EQ(got.evaluations[0].auc, 0.9);
    ASSERT_EQ(got.workers.size(), 2u);
    EXPECT_EQ(got.workers[1].rank, 2);
    EXPECT_EQ(got.iterates, 2);
    EXPECT_EQ(trace::faults(got), std::vector<std::string>());
    const auto file = h5::open(path);
    EXPECT_EQ(h5::read<double>(file.get(), "model/final"), (std::vector<double>{7, 8, 9}));
    EXPECT_EQ(h5::read_rows<double>(file.get(), "iterate/model", 1, 1),
              (std::vector<double>{2, 3, 4}));
}

TEST(Trace, EveryColumnOfEveryTableComesBackInItsPlace)
{
    // Each field gets a number of its own; a name given twice or two fields swapped would show.
    const Folder folder;
    const auto path = folder.file("t.h5");
    trace::Round round{};
    trace::Arrival arrival{};
    double next = 1;
    const auto number = [&]<class Row>(Row& row) {
        trace::for_columns<Row>([&](const auto& column) {
            row.*column.field = static_cast<std::decay_t<decltype(row.*column.field)>>(next++);
        });
    };
    number(round);
    number(arrival);
    {
        trace::Writer writer(path, header(), width);
        for (std::int64_t rank = 1; rank <= 100; ++rank)
            writer.add(trace::WorkerRow{rank, 10, 3, 0});
        writer.add(round);
        writer.add(arrival);
        writer.finish(std::vector<double>(3), "completed", "");
    }
    const auto got = trace::read(path);
    const auto compare = []<class Row>(const Row& a, const Row& b) {
        trace::for_columns<Row>([&](const auto& column) {
            EXPECT_EQ(a.*column.field, b.*column.field) << column.name;
        });
    };
    compare(got.rounds.at(0), round);
    compare(got.arrivals.at(0), arrival);
}

TEST(Trace, IsReadableWhileItIsWritten)
{
    const Folder folder;
    const auto path = folder.file("t.h5"), copy = folder.file("copy.h5");
    trace::Writer writer(path, header(), width);
    fill(writer);
    // HDF5 belongs to the writer's thread until pause(): a copy of the bytes is what a kill leaves.
    std::promise<void> copied;
    writer.after_commit([&] {
        std::filesystem::copy_file(path, copy);
        copied.set_value();
    });
    copied.get_future().wait();
    writer.pause();
    const auto got = trace::read(copy);
    EXPECT_EQ(got.status(), "running");
    EXPECT_EQ(got.rounds.size(), 2u);
    EXPECT_EQ(got.iterates, 2);
    EXPECT_EQ(trace::faults(got), std::vector<std::string>());
}

TEST(Trace, IsReadWhileAnotherReaderOfThisProcessHoldsItWithALock)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    trace::Writer(path, header(), width).finish(std::vector<double>(3), "completed", "");
    for (const bool ignores : {false, true}) {
        const h5::Properties access(H5Pcreate(H5P_FILE_ACCESS), "make access properties");
        h5::check(H5Pset_file_locking(access.get(), true, ignores), "lock");
        const h5::File held(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "open " + path);
        EXPECT_EQ(trace::read(path).status(), "completed") << ignores;
    }
}

TEST(Trace, IteratesAreReadBackInOrderAfterAPause)
{
    const Folder folder;
    trace::Writer writer(folder.file("t.h5"), header(), width);
    for (int i = 0; i < 50; ++i) writer.keep(2 * i, iterate(i));
    writer.pause();
    ASSERT_EQ(writer.iterates(), 50);
    EXPECT_EQ(writer.iterate_rounds()[49], 98);
    for (int i = 0; i < 50; ++i) EXPECT_EQ((*writer.iterate(i))[2], i + 2);
    writer.finish(std::vector<double>(3), "completed", "");
}

// Some numbers of a model, from `first` on.
VectorPiece piece_of(std::size_t first, const std::vector<double>& numbers)
{
    const auto memory = std::make_shared<const NumberVector>(numbers);
    return {first, width, *memory, memory};
}

TEST(Trace, ModelsThatComeInPiecesAreNoneUntilTheyAreWhole)
{
    const Folder folder;
    const auto path = folder.file("t.h5"), copy = folder.file("copy.h5");
    {
        trace::Writer writer(path, header(), width);
        writer.try_for(1000, {});
        writer.keep(1, iterate(1));
        writer.put(2, piece_of(0, {2, 3}));
        writer.put(trace::final_models, piece_of(0, {7}));
        EXPECT_EQ(trace::rows_at(writer.position(), "iterate"), 1);
        std::promise<void> copied, said;
        writer.after_commit([&] {
            std::filesystem::copy_file(path, copy);
            copied.set_value();
        });
        copied.get_future().wait();
        // What was written of them stays if the disk is full for a while.
        log_to([&](LogLevel, const std::string& text) {
            if (text.find("cannot be written") != std::string::npos) said.set_value();
        });
        {
            const SmallFiles limit(bytes_of(path).size());
            writer.put(2, piece_of(2, {4}));
            fill(writer);
            said.get_future().wait();
        }
        log_to([](LogLevel, const std::string&) {});
        writer.put(trace::final_models, piece_of(1, {8, 9}));
        writer.end("completed", "");
        log_to({});
    }
    EXPECT_EQ(trace::read(copy).iterates, 1);
    EXPECT_FALSE(h5::has(h5::open(copy).get(), "model/final"));
    EXPECT_EQ(trace::read(path).iterates, 4);
    const auto file = h5::open(path);
    EXPECT_EQ(h5::read_rows<double>(file.get(), "iterate/model", 1, 1),
              (std::vector<double>{2, 3, 4}));
    EXPECT_EQ(h5::read<double>(file.get(), "model/final"), (std::vector<double>{7, 8, 9}));

    trace::Writer(copy, {{"iterate", 1}}, "", {}, width).finish(Doubles{4, 5, 6}, "completed", "");
    const auto again = h5::open(copy);
    EXPECT_EQ(h5::rows_of(again.get(), "iterate/model"), 1);
    EXPECT_EQ(h5::read<double>(again.get(), "model/final"), (std::vector<double>{4, 5, 6}));
}

/// What a resumption from round 1 of fill() has.
const trace::Position after_one = {{"round", 1}, {"arrival", 2}, {"worker", 2}, {"iterate", 1}};

TEST(Trace, RoundsThatARunGoesBackBehindAreKept)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    {
        trace::Writer writer(path, header(), width);
        fill(writer);
    }
    EXPECT_TRUE(trace::read(path).lost.empty());
    trace::Writer(path, after_one, "the rank is dead", {}, width).add(round_at(1.5));
    const auto once = trace::read(path);
    EXPECT_EQ(once.rounds.size(), 2u);
    EXPECT_EQ(once.arrivals.size(), 2u);
    EXPECT_EQ(once.iterates, 1);
    // Another time; and once where no round is lost.
    trace::Writer(path, after_one, "killed", {}, width).add(arrival_of(2, 0));
    trace::Writer(path, after_one, "killed", {}, width)
        .finish(std::vector<double>{7, 8, 9}, "completed", "");
    const auto got = trace::read(path);
    EXPECT_EQ(got.rounds.size(), 1u);
    ASSERT_EQ(got.lost.size(), 2u);
    const auto& [first, last, seconds, why, rounds] = got.lost[0];
    EXPECT_EQ(std::tie(first, last, seconds, why), std::tuple(2, 2, 1.0, "the rank is dead"));
    EXPECT_EQ(rounds.at(0).time, 2);
    EXPECT_EQ(got.lost[1].seconds, 0.5);
    EXPECT_EQ(got.lost[1].why, "killed");
    const auto file = h5::open(path);
    const auto lost = h5::open_group(file.get(), "lost/0");
    const auto arrivals = trace::read_table<trace::Arrival>(lost.get());
    ASSERT_EQ(arrivals.size(), 2u);
    EXPECT_EQ(arrivals[1].worker, 1);
    // Tables that have lost no row are not there.
    EXPECT_FALSE(h5::has(lost.get(), "worker"));
    EXPECT_FALSE(h5::has(file.get(), "lost/1/arrival"));
}

TEST(Trace, AModelOfManyChunksComesInPiecesOfAnySize)
{
    constexpr std::size_t many = 700'001;
    const Folder folder;
    const auto path = folder.file("t.h5");
    std::vector<double> all(many);
    std::iota(all.begin(), all.end(), 0.5);
    {
        trace::Writer writer(path, header(), many);
        for (const auto round : {std::int64_t{5}, trace::final_models})
            for (std::size_t first = 0; first < many; first += 90'000)
                writer.put(round, {first, many,
                                   ConstNumbers(all).subspan(
                                       first, std::min(many - first, std::size_t{90'000})),
                                   nullptr});
        writer.end("completed", "");
    }
    const auto file = h5::open(path);
    EXPECT_EQ(h5::read<double>(file.get(), "model/final"), all);
    EXPECT_EQ(h5::read_rows<double>(file.get(), "iterate/model", 0, 1), all);
    EXPECT_LT(bytes_of(path).size(), 2 * many * sizeof(double) + 100'000);
}

TEST(Trace, AWriterWithoutFinishLeavesAReadableTraceThatFailed)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    {
        trace::Writer writer(path, header(), width);
        fill(writer);
    }
    const auto got = trace::read(path);
    EXPECT_EQ(got.status(), "failed");
    EXPECT_EQ(got.rounds.size(), 2u);
}

TEST(Trace, ARowThatNotAllColumnsHoldIsLeftOut)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    {
        trace::Writer writer(path, header(), width);
        fill(writer);
    }
    {
        const auto file = h5::open_to_append(path);
        const h5::DataSet time(H5Dopen2(file.get(), "round/time", H5P_DEFAULT), "open round/time");
        h5::append<double>(time, std::vector<double>{9});
    }
    EXPECT_EQ(trace::read(path).rounds.size(), 2u);
}

TEST(Trace, OtherFilesAndDamagedTracesAreRefused)
{
    const Folder folder;
    const auto other = folder.file("other.h5"), path = folder.file("t.h5");
    h5::create(other).close("close");
    EXPECT_EQ(refusal([&] { trace::read(other); }),
              other + " is not a trace: give one that 'quorate run' wrote");
    {
        trace::Writer writer(path, header(), width);
    }
    {
        const auto file = h5::open_to_append(path);
        h5::check(H5Ldelete(file.get(), "round/wait", H5P_DEFAULT), "delete");
    }
    const auto said = refusal([&] { trace::read(path); });
    EXPECT_EQ(said.find(path + " is damaged ("), 0u) << said;
}

// --- one writer, and a disk that fails --------------------------------------------------------

TEST(Trace, HasOneWriter)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    trace::Writer writer(path, header(), width);
    fill(writer);
    const auto said = refusal([&] { trace::Writer second(path, header(), width); });
    EXPECT_EQ(said.find(path + " is being written by process "), 0u) << said;
    writer.finish(std::vector<double>(3), "completed", "");
    EXPECT_EQ(trace::read(path).rounds.size(), 2u);
    EXPECT_EQ(folder.files(), 1u) << "its record or a part is left";
}

TEST(Trace, WhoHasLostItWritesNothingMore)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    {
        trace::Writer writer(path, header(), width);
        // A run of another host, which has no part in the locks of this one, has written the trace
        // and ended.
        std::filesystem::remove(owner_record_of(path));
        folder.write("t.h5", "theirs");
        fill(writer);
        EXPECT_THROW(writer.finish(std::vector<double>(3), "completed", ""), OwnerLost);
    }
    EXPECT_EQ(bytes_of(path), "theirs");
}

TEST(Trace, ANewOneTakesItsPlaceWhenItIsWhole)
{
    const Folder folder;
    const auto path = folder.write("t.h5", "an old trace");
    const SmallFiles limit(1000);
    EXPECT_THROW(trace::Writer(path, header(), width), Failure);
    EXPECT_EQ(bytes_of(path), "an old trace");
    EXPECT_EQ(folder.files(), 1u);
}

TEST(Trace, WhatADiskHasNoRoomForIsWrittenOnceItHas)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    trace::Writer writer(path, header(), width);
    writer.try_for(1000, {});
    std::promise<void> said;
    log_to([&](LogLevel, const std::string& text) {
        if (text.find("cannot be written") != std::string::npos) said.set_value();
    });
    {
        const SmallFiles limit(bytes_of(path).size());
        fill(writer);
        said.get_future().wait();
        EXPECT_EQ(trace::read(path).rounds.size(), 0u);
    }
    log_to([](LogLevel, const std::string&) {});
    writer.add(round_at(3));
    writer.finish(std::vector<double>{7, 8, 9}, "completed", "");
    log_to({});
    const auto got = trace::read(path);
    EXPECT_EQ(got.rounds.size(), 3u);
    EXPECT_EQ(got.arrivals.size(), 4u);
    EXPECT_EQ(got.iterates, 2);
    EXPECT_EQ(got.status(), "completed");
}

TEST(Trace, IsGivenUpIfTheDiskStaysFull)
{
    const Folder folder;
    const auto path = folder.file("t.h5");
    log_to([](LogLevel, const std::string&) {});
    {
        trace::Writer writer(path, header(), width);
        std::promise<void> gave_up;
        writer.try_for(0.01, [&] { gave_up.set_value(); });
        const SmallFiles limit(bytes_of(path).size());
        fill(writer);
        gave_up.get_future().wait();
        EXPECT_THROW(writer.pause(), trace::Unsaved);
    }
    log_to({});
    EXPECT_EQ(trace::read(path).status(), "running");
}

// --- faults --------------------------------------------------------------------------------------

trace::Trace sound()
{
    trace::Trace one;
    one.attributes = {{"status", "completed"}, {"rounds", "2"}};
    one.workers = {{1, 10, 3, 0}, {2, 10, 3, 0}};
    for (std::int64_t round = 1; round <= 2; ++round) {
        one.rounds.push_back(round_at(static_cast<double>(round)));
        for (const std::int64_t worker : {0, 1}) one.arrivals.push_back(arrival_of(round, worker));
    }
    return one;
}

template <class Change>
std::vector<std::string> faults_after(Change change)
{
    auto one = sound();
    change(one);
    return trace::faults(one);
}

using Faults = std::vector<std::string>;

TEST(Faults, ASoundTraceHasNone) { EXPECT_EQ(trace::faults(sound()), Faults()); }

TEST(Faults, TimesThatGoBackAreFound)
{
    EXPECT_EQ(faults_after([](auto& one) { one.rounds[1].time = 0.5; }),
              Faults{"round 2 ends before the one before it"});
}

TEST(Faults, UsedAndErasedMustBeAllWorkers)
{
    EXPECT_EQ(faults_after([](auto& one) { one.rounds[0].erased = 1; }),
              Faults{"round 1: 2 used and 1 erased are not 2 workers"});
}

TEST(Faults, ARunMayHaveMoreWorkersLater)
{
    const auto with_a_third = [](trace::Trace& one) {
        one.workers.push_back(one.workers[0]);
        one.membership = {{0, 0, 0, 1}, {0, 0, 1, 1}, {9, 0, 3, 6}, {10, 0, 2, 1}};
    };
    EXPECT_EQ(faults_after([&](auto& one) {
                  with_a_third(one);
                  one.rounds[1].erased = 1;
              }),
              Faults{});
    // But none goes away, and none comes without a row.
    EXPECT_EQ(faults_after([&](auto& one) {
                  with_a_third(one);
                  one.rounds[0].erased = 1;
              }),
              Faults{"round 2: 2 used and 0 erased are not 3 workers"});
}

TEST(Faults, UsedArrivalsMustBeThoseOfTheRound)
{
    EXPECT_EQ(faults_after([](auto& one) { one.arrivals[2].used = 0; }),
              Faults{"round 2: arrivals of 1 workers are marked used, the round says 2"});
}

TEST(Faults, ContributionsAreNotUsedBeforeTheyCome)
{
    EXPECT_EQ(faults_after([](auto& one) {
                  one.arrivals[2].round = 3;
                  one.arrivals[2].event = 7;
              }),
              Faults{"event 7: used before it came"});
}

TEST(Faults, NegativeDurationsAreFound)
{
    const Faults wanted = {"event 0: a duration is negative"};
    EXPECT_EQ(faults_after([](auto& one) { one.arrivals[0].compute = -1e-9; }), wanted);
    EXPECT_EQ(faults_after([](auto& one) { one.arrivals[1].idle = -1; }), wanted);
    EXPECT_EQ(faults_after([](auto& one) { one.arrivals[1].sent = 0.6; }), wanted);
}

TEST(Faults, NothingLastsLongerThanTheRunSoFar)
{
    const auto came = sound().arrivals[0].arrived;
    for (const auto duration : {&trace::Arrival::compute, &trace::Arrival::delay,
                                &trace::Arrival::idle, &trace::Arrival::send}) {
        EXPECT_EQ(faults_after([&](auto& one) { one.arrivals[0].*duration = came; }), Faults());
        EXPECT_EQ(
            faults_after([&](auto& one) { one.arrivals[0].*duration = 1779; }),
            Faults{fmt::format("event 0: a duration of 1779 s, {:g} s after the run began", came)});
    }
}

TEST(Faults, ACompletedRunHasAllItsRounds)
{
    EXPECT_EQ(faults_after([](auto& one) { one.attributes["rounds"] = "3"; }),
              Faults{"completed with 2 of 3 rounds"});
}

TEST(Faults, AnUnfinishedTraceMayMissTheArrivalsOfItsLastRound)
{
    EXPECT_EQ(faults_after([](auto& one) {
                  one.attributes["status"] = "interrupted";
                  one.arrivals.pop_back();
              }),
              Faults());
}

}  // namespace
}  // namespace quorate
