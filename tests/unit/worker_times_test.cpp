// SPDX-License-Identifier: BSD-2-Clause
// Recorded times of workers, from CSV and from traces.
#include "trace/worker_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/median.hpp"
#include "base/random.hpp"
#include "small_header.hpp"
#include "support.hpp"
#include "trace/recorded_times.hpp"
#include "trace/writer.hpp"

namespace quorate {
namespace {

using namespace std::string_literals;
using test::Folder;
using test::refusal;

WorkerTimes read(const std::string& text)
{
    const Folder folder;
    return read_worker_times(folder.write("x", text));
}

std::string refused(const std::string& text)
{
    const Folder folder;
    const auto path = folder.write("x", text);
    auto message = refusal([&] { read_worker_times(path); });
    if (message.starts_with(path)) message.replace(0, path.size(), "x");
    return message;
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoThere)
{
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median({3}), 3);
    EXPECT_EQ(median({5, 1}), 3);
    EXPECT_EQ(median({9, 1, 2}), 2);
    EXPECT_EQ(median({9, 1, 2, 4}), 3);
}

// --- CSV -----------------------------------------------------------------------------------------

TEST(WorkerTimes, AreATableOfWorkersAndRounds)
{
    const auto times = read(
        "round,worker,seconds\n"
        "1,0,0.25\n0,1,2\n1,1,3\n0,0,1\n");
    EXPECT_EQ(times.workers, 2);
    EXPECT_EQ(times.rounds, 2);
    EXPECT_EQ(times.seconds, (std::vector<double>{1, 0.25, 2, 3}));
    EXPECT_EQ(times.load, 0);
    EXPECT_EQ(times.slope, 0);
}

TEST(WorkerTimes, LabelsAreNumberedInTheirOrderFromZero)
{
    // 10 comes after 9; steps have gaps and signs; host names are workers too.
    EXPECT_EQ(read("rank,step,compute_time\n10,-5,4\n9,-5,2\n9,70,1\n10,70,3\n").seconds,
              (std::vector<double>{2, 1, 4, 3}));
    EXPECT_EQ(read("worker,round,seconds\nnode10,1,1\nnode01,1,2\n").seconds,
              (std::vector<double>{2, 1}));
}

TEST(WorkerTimes, WithoutRoundsTimeOrdersEachWorkersRows)
{
    const auto times = read(
        ",worker,gpu,time,batch_time_norm\n"
        "0,1,25,7,3\n1,0,25,5,2\n2,0,25,1,1\n3,1,25,7,4\n4,1,25,2,9\n");
    EXPECT_EQ(times.workers, 2);
    EXPECT_EQ(times.rounds, 2);
    EXPECT_EQ(times.seconds, (std::vector<double>{1, 2, 9, 3}));
}

TEST(WorkerTimes, ARoundCountsMoreThanATime)
{
    EXPECT_EQ(read("time,step,rank,compute_time\n5,1,1,10\n4,2,1,20\n").seconds,
              (std::vector<double>{10, 20}));
}

TEST(WorkerTimes, SpellingsOfCsvAreAccepted)
{
    EXPECT_EQ(read("\xef\xbb\xbf"
                   "\"worker\", round ,seconds\r\n\r\n0, 0 ,\"1e-3\"\r\n0,1,+2")
                  .seconds,
              (std::vector<double>{1e-3, 2}));
}

TEST(WorkerTimes, OfSeveralLoadsTheLowestIsReplayedAndTheMediansGiveTheSlope)
{
    // Medians 1, 2, 3 at loads 0.25, 0.5, 1: slope = sum (l - 7/12)(m - 2) / sum (l - 7/12)^2.
    const auto times = read(
        "load,round,worker,response_s\n"
        "1,0,0,3\n1,0,1,2\n1,1,0,40\n1,1,1,3\n"
        "0.25,0,0,1\n0.25,0,1,1\n0.25,1,0,1\n0.25,1,1,39\n"
        "0.5,0,0,2\n0.50,0,1,2\n");  // a run at another load may lack rows
    EXPECT_EQ(times.load, 0.25);
    EXPECT_EQ(times.seconds, (std::vector<double>{1, 1, 1, 39}));
    EXPECT_NEAR(times.slope, (1.0 / 3 + 5.0 / 12) / (16.0 / 144 + 1.0 / 144 + 25.0 / 144), 1e-12);
}

TEST(WorkerTimes, WhatIsWrongIsNamedWithItsPlace)
{
    const std::string head = "worker,round,seconds\n";
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", "x is empty: give a file with data"},
        {"\n\n", "x holds no header line: give CSV text"},
        {head, "x holds no rows after its header: give recorded times"},
        {"round,seconds\n0,1\n", "x:1:1: no column of workers: name one worker or rank"},
        {"worker,seconds\n0,1\n", "x:1:1: no column of rounds: name one round, step or time"},
        {"worker,round,s\n0,0,1\n",
         "x:1:1: no column of times: name one seconds, response_s, compute_time or "
         "batch_time_norm"},
        {"worker,round,seconds,worker\n0,0,1,0\n",
         "x:1:22: a second column worker: remove or rename one"},
        {head + "0,0\n", "x:2:1: expected 3 fields as in the header, got 2"},
        {head + "0,0,1\n,1,1\n", "x:3:1: the worker is empty: give its number"},
        {head + "0,0,-1\n", "x:2:5: seconds is -1: give a finite number of at least 0"},
        {head + "0,0,nan\n", "x:2:5: seconds is nan: give a finite number of at least 0"},
        {head + "0,0,inf\n", "x:2:5: seconds is inf: give a finite number of at least 0"},
        {head + "0,0,\n", "x:2:5: seconds is empty: give a finite number of at least 0"},
        {head + "0,0,1 s\n", "x:2:5: seconds is 1 s: give a finite number of at least 0"},
        {head + "0,first,1\n", "x:2:3: round is first: give a finite number"},
        {head + "0,0,1\n1,0,1\n0,0,2\n",
         "x:4: a second time of worker 0 in round 0, after line 2: give one"},
        {head + "3,0,1\n4,0,1\n3,1,1\n",
         "x holds no time of worker 4 in round 1: give each worker's time in each round"},
        {head + "3,1,1\n4,0,1\n4,1,1\n",
         "x holds no time of worker 3 in round 0: give each worker's time in each round"},
        {"worker,round,seconds,load\n3,0,1,0.5\n4,0,1,1\n4,1,1,0.5\n",
         "x holds no time of worker 3 in round 1 at load 0.5: give each worker's time in each "
         "round"},
        {"worker,round,seconds,load\n0,0,1,242\n",
         "x:2:7: load is 242: give the share of the training rows, from 0 to 1"},
        {std::string("\x1f\x8b") + "garbage",
         "x is damaged or truncated: its compressed data end wrongly after byte 0"},
    };
    for (const auto& [text, message] : table) EXPECT_EQ(refused(text), message) << text;
    EXPECT_EQ(refusal([] { read_worker_times("none.csv"); }),
              "cannot open none.csv: No such file or directory; give a file that can be read");
}

TEST(WorkerTimes, ManyWordsCostNoTableOfAllTheirPairs)
{
    std::string text = "worker,round,seconds\n";
    for (int i = 0; i < 200000; ++i) text += std::to_string(i) + "," + std::to_string(i) + ",1\n";
    EXPECT_EQ(refused(text),
              "x holds no time of worker 0 in round 1: give each worker's time in each round");
}

TEST(WorkerTimes, MangledFilesAreReadSoundlyOrRefusedInOneLine)
{
    std::string sound = "load,round,worker,seconds\n";
    for (const auto* load : {"0.25", "1"})
        for (int round = 0; round < 4; ++round)
            for (int worker = 0; worker < 3; ++worker)
                sound += std::string(load) + "," + std::to_string(round) + "," +
                         std::to_string(worker) + ",1.5e0\n";
    const auto bytes = "\0\n\r,\"-+.0919einfaN\x1f\x8b\xff "s;
    const Folder folder;
    int read = 0;
    for (std::uint32_t seed = 0; seed < 3000; ++seed) {
        Stream stream(seed, Purpose::samples);
        auto text = sound;
        for (std::uint32_t i = stream() % 4; i-- > 0;) {
            const auto at = stream() % text.size();
            switch (stream() % 3) {
                case 0: text[at] = bytes[stream() % bytes.size()]; break;
                case 1: text.erase(at, 1 + stream() % 9); break;
                default: text.insert(at, 1, bytes[stream() % bytes.size()]);
            }
        }
        try {
            const auto times = read_worker_times(folder.write("x", text));
            ++read;
            ASSERT_GE(times.workers, 1);
            ASSERT_GE(times.rounds, 1);
            ASSERT_EQ(times.seconds.size(), static_cast<std::size_t>(times.workers * times.rounds));
            for (const double seconds : times.seconds)
                ASSERT_TRUE(std::isfinite(seconds) && seconds >= 0) << text;
            ASSERT_TRUE(std::isfinite(times.slope)) << text;
            ASSERT_TRUE(times.load >= 0 && times.load <= 1) << text;
        } catch (const BadInput& wrong) {
            ASSERT_EQ(std::string(wrong.what()).find('\n'), std::string::npos) << wrong.what();
        }
    }
    EXPECT_GT(read, 500);
}

// --- Real files ----------------------------------------------------------------------------------

TEST(WorkerTimes, LambdasResponsesAreRead)
{
    const auto data = test::real_data();
    if (!data) GTEST_SKIP() << "no real data: set QUORATE_DATA to the folder with traces/";
    struct Expected {
        std::string name;
        int rounds;
        double load, first, last, slope;  // slope: median by least squares, computed in Python
    };
    for (const auto& [name, rounds, load, first, last, slope] :
         {Expected{"cnn_desktop_b2048", 20, 0, 0.600186, 0.610044, 1.1146881999999998},
          Expected{"resnet18_mbp_b256", 20, 0.25, 20.199191, 16.524718, 1.3137434}}) {
        const auto times =
            trace::read_times(*data + "/traces/lambda/lambda_" + name + "_Canada.csv.gz");
        EXPECT_EQ(times.workers, 256) << name;
        EXPECT_EQ(times.rounds, rounds) << name;
        EXPECT_EQ(times.load, load) << name;
        EXPECT_EQ(times.seconds.front(), first) << name;
        EXPECT_EQ(times.seconds.back(), last) << name;
        EXPECT_NEAR(times.slope, slope, 1e-10) << name;
    }
}

TEST(WorkerTimes, EveryLambdaRunSlowsWithItsLoad)
{
    const auto data = test::real_data();
    if (!data) GTEST_SKIP() << "no real data: set QUORATE_DATA to the folder with traces/";
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(*data + "/traces/lambda")) {
        const auto times = trace::read_times(entry.path());
        EXPECT_EQ(times.workers, 256) << entry.path();
        EXPECT_GT(times.slope, 0.1) << entry.path();
        EXPECT_LT(times.slope, 1.5) << entry.path();
        ++files;
    }
    EXPECT_EQ(files, 8);
}

TEST(WorkerTimes, AlibabasAndAmbsFilesAreRead)
{
    const auto data = test::real_data();
    if (!data) GTEST_SKIP() << "no real data: set QUORATE_DATA to the folder with traces/";
    const std::vector<std::pair<std::string, std::int64_t>> jobs = {
        {"1", 300}, {"2", 239}, {"3", 248}, {"4", 2182}};
    for (const auto& [job, rounds] : jobs) {
        const auto times =
            trace::read_times(*data + "/traces/alibaba_minibatch/job_" + job + "_norm.csv.gz");
        EXPECT_EQ(times.workers, 10) << job;
        EXPECT_EQ(times.rounds, rounds) << job;
        EXPECT_EQ(times.slope, 0) << job;
        if (job == "2") {
            EXPECT_EQ(times.seconds[3], 701);              // worker 0 at time 31
            EXPECT_EQ(times.seconds[0 * 239 + 238], 710);  // at time 2381
            EXPECT_EQ(times.seconds[9 * 239 + 238], 803);  // worker 9 at time 2373
        }
    }
    const auto amb = trace::read_times(*data + "/traces/amb_induced/cifar10_fmb_242.csv.gz");
    EXPECT_EQ(amb.workers, 10);
    EXPECT_EQ(amb.rounds, 1340);
    EXPECT_EQ(amb.seconds.front(), 5.295994758605957);
    EXPECT_EQ(amb.seconds[1], 6.737408638000488);
    EXPECT_EQ(amb.seconds.back(), 7.245253562927246);  // rank 10 is the last, not the second
    EXPECT_EQ(
        refusal([&] {
            trace::read_times(*data + "/traces/alibaba_minibatch/coefficient_variation.csv.gz");
        }),
        *data +
            "/traces/alibaba_minibatch/coefficient_variation.csv.gz:1:1: no column of "
            "workers: name one worker or rank");
}

// --- Traces --------------------------------------------------------------------------------------

trace::Arrival arrival(std::int64_t worker, std::int64_t draw, double delay, double compute,
                       std::int64_t samples = 25)
{
    trace::Arrival row{};
    row.worker = worker;
    row.draw = draw;
    row.delay = delay;
    row.compute = compute;
    row.samples = samples;
    row.used = 1;
    return row;
}

trace::Trace run_of_two(const std::string& status = "completed")
{
    trace::Trace trace;
    trace.attributes = {{"status", status}, {"workers", "2"}, {"rows", "100"}};
    trace.arrivals = {arrival(1, 0, 0.5, 1), arrival(0, 0, 0.25, 2), arrival(0, 1, 0, 3),
                      arrival(1, 1, 4, 1)};
    return trace;
}

TEST(RecordedTimes, AreDelayAndComputationOfEachWorkerAndDraw)
{
    const auto times = trace::recorded_times(run_of_two(), "x");
    EXPECT_EQ(times.workers, 2);
    EXPECT_EQ(times.rounds, 2);
    EXPECT_EQ(times.seconds, (std::vector<double>{2.25, 3, 1.5, 5}));
    EXPECT_EQ(times.load, 0.25);
    EXPECT_EQ(times.slope, 6);  // median of 2, 3, 1, 1 is 1.5, at a quarter of the rows
}

TEST(RecordedTimes, PartsOfATaskAreAddedUp)
{
    auto trace = run_of_two();
    trace.arrivals.push_back(arrival(1, 1, 0, 0.5, 50));
    const auto times = trace::recorded_times(trace, "x");
    EXPECT_EQ(times.seconds, (std::vector<double>{2.25, 3, 1.5, 5.5}));
    EXPECT_DOUBLE_EQ(times.load, (0.25 + 0.25 + 0.25 + 0.75) / 4);
}

TEST(RecordedTimes, ACancelledTaskIsRefused)
{
    auto trace = run_of_two();
    trace.arrivals.pop_back();
    const auto message =
        "x holds no time of worker 1 in draw 1, whose task was cancelled: give the trace of a "
        "scheme that waits for all, such as uncoded";
    EXPECT_EQ(refusal([&] { trace::recorded_times(trace, "x"); }), message);
    // A run that was interrupted has no more of its last draw, but must have all others.
    trace.attributes["status"] = "interrupted";
    EXPECT_EQ(trace::recorded_times(trace, "x").seconds, (std::vector<double>{2.25, 1.5}));
    trace.arrivals.push_back(arrival(0, 2, 1, 1));
    EXPECT_EQ(refusal([&] { trace::recorded_times(trace, "x"); }), message);
}

TEST(RecordedTimes, WhatCannotBeIsRefused)
{
    auto trace = run_of_two();
    trace.attributes.erase("rows");
    EXPECT_EQ(refusal([&] { trace::recorded_times(trace, "x"); }),
              "x is a damaged trace: its attribute rows is missing");
    trace = run_of_two();
    trace.attributes["workers"] = "0";
    EXPECT_EQ(refusal([&] { trace::recorded_times(trace, "x"); }),
              "x is a damaged trace: its attribute workers is 0");
    trace = run_of_two();
    trace.arrivals[0].worker = 2;
    EXPECT_EQ(refusal([&] { trace::recorded_times(trace, "x"); }),
              "x is a damaged trace: event 0 names worker 2 with delay 0.5 and computation 1");
    trace = run_of_two();
    trace.arrivals[1].compute = std::nan("");
    EXPECT_EQ(refusal([&] { trace::recorded_times(trace, "x"); }),
              "x is a damaged trace: event 0 names worker 0 with delay 0.25 and computation nan");
    trace = run_of_two("running");
    trace.arrivals.resize(1);
    EXPECT_EQ(refusal([&] { trace::recorded_times(trace, "x"); }),
              "x lists no arrivals: give the trace of a longer run");
}

TEST(RecordedTimes, TracesAndCsvAreToldByTheirContent)
{
    const Folder folder;
    const auto path = folder.file("trace.csv");
    {
        trace::Writer writer(path, test::small_header(2, 2), 1);
        for (const std::int64_t rank : {1, 2}) writer.add(trace::WorkerRow{rank, 50, 3, 0});
        for (const auto& row : run_of_two().arrivals) writer.add(row);
        writer.finish(std::vector<double>{0}, "completed", "");
    }
    EXPECT_EQ(trace::read_times(path).seconds, (std::vector<double>{2.25, 3, 1.5, 5}));
    EXPECT_EQ(trace::read_times(folder.write("times.h5", "worker,round,seconds\n0,0,7\n")).seconds,
              (std::vector<double>{7}));
    EXPECT_EQ(refusal([] { trace::read_times("none"); }),
              "cannot open none: No such file or directory; give a file that can be read");
    const auto other = folder.file("other.h5");
    h5::create(other).close("close");
    EXPECT_EQ(refusal([&] { trace::read_times(other); }),
              other + " is not a trace: give one that 'quorate run' wrote");
}

}  // namespace
}  // namespace quorate
