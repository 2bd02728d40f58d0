// SPDX-License-Identifier: BSD-2-Clause
// The engine with a fleet in memory that answers in a scripted order.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <set>

#include "base/error.hpp"
#include "engine/engine.hpp"
#include "engine/sum_table.hpp"
#include "fleet/replay_fleet.hpp"
#include "legal_run.hpp"
#include "ranks/messages.hpp"
#include "scheme/schemes.hpp"
#include "small_header.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace {

using namespace quorate;

// Worker i's contribution is i + 1 + (sum of the point) / 10 in each of two columns.
class ScriptedFleet : public Fleet {
public:
    ScriptedFleet(int n, unsigned seed) : generator_(seed)
    {
        for (int i = 0; i < n; ++i) info_.push_back({i + 1, "here", 1, 2});
    }
    const std::vector<WorkerInfo>& workers() const override { return info_; }
    Seconds now() const override { return time_; }
    void dispatch(const Dispatch& task, PointList inputs) override
    {
        pending_.push_back({task.task, task.worker, task.control.draw, task.inputs[0], inputs[0]});
    }
    void close(Worker, TaskId) override {}  // so late answers do come
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>&) override
    {
        if (pending_.empty()) {
            time_ = until;
            return {};
        }
        time_ += 1;
        const auto at = static_cast<std::ptrdiff_t>(generator_() % pending_.size());
        const auto task = pending_[static_cast<std::size_t>(at)];
        pending_.erase(pending_.begin() + at);
        values_.push_back(contribution(task));
        workers_.push_back(task.worker);
        answers.emplace_back(task.worker, task.task);
        return {{{.worker = task.worker,
                  .part = 0,
                  .task = task.task,
                  .draw = task.draw,
                  .samples = 1,
                  .oldest = task.version,
                  .newest = task.version},
                 {},
                 0,
                 time_,
                 16,
                 values_.size() - 1}};
    }
    void change(const Change&) override {}
    std::vector<Change> changes(std::int64_t) override { return {}; }
    void reencode(std::shared_ptr<const Coding>, std::span<const Worker>) override {}
    const Support& support(Worker) override { return support_; }
    Values values(std::size_t handle) override { return {support_, values_[handle], 1}; }
    void release(std::size_t handle) override { ++released[handle]; }
    std::int64_t bytes_sent() const override { return 0; }
    std::int64_t bytes_received() const override { return 0; }

    std::map<std::size_t, int> released;
    std::vector<std::pair<Worker, TaskId>> answers;  // in their order
    std::size_t delivered() const { return values_.size(); }

protected:
    struct Pending {
        TaskId task;
        Worker worker;
        std::int64_t draw;
        Version version;
        Point point;
    };
    virtual std::vector<double> contribution(const Pending& task) const
    {
        const double sum = (*task.point)[0] + (*task.point)[1];
        return std::vector<double>(2, (task.worker + 1) * 0.1 + sum / 10);
    }
    std::vector<WorkerInfo> info_;
    std::vector<Worker> workers_;  // of contributions, by handle

private:
    std::mt19937 generator_;
    std::vector<Pending> pending_;
    std::vector<std::vector<double>> values_;
    Support support_ = Support::all(2);
    Seconds time_ = 0;
};

// Contributions of four workers whose sum depends on the groups in which they are added up.
class GroupedFleet final : public ScriptedFleet {
public:
    explicit GroupedFleet(int groups) : ScriptedFleet(4, 1), groups_(groups)
    {
        for (std::size_t i = 0; i < 4; ++i) info_[i].group = static_cast<int>(i) * groups / 4;
    }
    int groups() const override { return groups_; }
    std::vector<double> contribution(const Pending& task) const override
    {
        constexpr double values[] = {1e16, 1, -1e16, 1};
        return {values[task.worker], 0};
    }

private:
    int groups_;
};

// Loses the contributions of the third step, and perhaps worker 1 with them.
class LosingFleet final : public ScriptedFleet {
public:
    explicit LosingFleet(bool dies) : ScriptedFleet(6, 1), told_(!dies) {}
    std::vector<std::optional<Values>> sums(std::span<const std::vector<Weighted>> groups) override
    {
        for (const auto& term : groups[0]) lost_with_ |= lost_ && workers_[term.handle] == 1;
        if (++sums_ != 3) return {};
        lost_ = true;
        throw LostContributions("lost");
    }
    std::vector<Change> changes(std::int64_t) override
    {
        if (!lost_ || told_) return {};
        told_ = true;
        return {{Change::Kind::died, 1}};
    }
    void reencode(std::shared_ptr<const Coding>, std::span<const Worker> members) override
    {
        members_.assign(members.begin(), members.end());
    }
    std::vector<Worker> members_;
    bool lost_with_ = false;

private:
    int sums_ = 0;
    bool lost_ = false, told_;
};

// Worker 1 leaves, and comes back before anything else happens.
class ChangingFleet final : public ScriptedFleet {
public:
    using ScriptedFleet::ScriptedFleet;
    std::vector<Arrival> wait(Seconds until, const std::atomic<bool>& stop) override
    {
        if (batches_.empty() || delivered() < 8) return ScriptedFleet::wait(until, stop);
        ready_ = true;
        return {};
    }
    std::vector<Change> changes(std::int64_t) override
    {
        if (!std::exchange(ready_, false)) return {};
        const auto batch = batches_.front();
        batches_.erase(batches_.begin());
        return batch;
    }

private:
    bool ready_ = false;
    std::vector<std::vector<Change>> batches_ = {{{Change::Kind::left, 1}, {Change::Kind::left, 2}},
                                                 {{Change::Kind::joined, 1}},
                                                 {{Change::Kind::joined, 2}}};
};

class EngineTest : public ::testing::Test {
protected:
    std::string path_ = std::filesystem::temp_directory_path() /
                        ("quorate-engine-" + std::to_string(getpid()) + ".h5");
    void TearDown() override { std::filesystem::remove(path_); }

    trace::Header header(int rounds) { return test::small_header(0, rounds); }
    std::vector<double> run(const std::string& scheme_name, int rounds, ScriptedFleet& fleet)
    {
        Settings settings;
        settings.set("scheme", {scheme_name, "", true});
        settings.set("optimizer", {"gd", "", true});
        for (const auto& option : chosen(schemes(), settings, "scheme").options)
            settings.set(option.name, {option.fallback, "", false});
        const auto scheme = chosen(schemes(), settings, "scheme").make(settings, {6, 6});
        std::vector<std::unique_ptr<Optimizer>> made;
        made.push_back(
            chosen(optimizers(), settings, "optimizer").make(settings, {1, 2}, {.l2 = 0.01}));
        const auto& optimizer = made[0];
        trace::Writer trace(path_, header(rounds), 2);
        for (int i = 0; i < 6; ++i) trace.add(trace::WorkerRow{i + 1, 1, 2, 0});
        Engine engine(
            {.rounds = rounds, .schedule = [](double) { return 0.1; }, .evaluate_every = 2},
            *scheme, fleet, made, trace);
        const std::atomic<bool> stop = false;
        EXPECT_EQ(engine.run(stop, {}), rounds);
        trace.finish(optimizer->model(), "completed", "");
        return optimizer->model().doubles();
    }
};

TEST_F(EngineTest, OrderOfArrivalChangesNoBit)
{
    ScriptedFleet a(6, 1), b(6, 99);
    EXPECT_EQ(run("uncoded", 20, a), run("uncoded", 20, b));
}

TEST_F(EngineTest, GroupsAreAddedUpByThemselves)
{
    const auto sum = [&](int groups) {
        GroupedFleet fleet(groups);
        Settings settings;
        settings.set("optimizer", {"gd", "", true});
        const auto scheme = make_scheme(UncodedOptions{}, {4, 4});
        std::vector<std::unique_ptr<Optimizer>> made;
        made.push_back(chosen(optimizers(), settings, "optimizer").make(settings, {0, 2}, {}));
        trace::Writer trace(path_, header(1), 2);
        Engine engine({.rounds = 1, .schedule = [](double) { return -4; }}, *scheme, fleet, made,
                      trace);
        const std::atomic<bool> stop = false;
        engine.run(stop, {});
        return made[0]->model()[0];
    };
    EXPECT_EQ(sum(1), 1);
    EXPECT_EQ(sum(2), 0);
}

class LosingTest : public EngineTest, public ::testing::WithParamInterface<bool> {};

// Without a death: a standby rank has taken the place of the worker before.
TEST_P(LosingTest, ARoundWhoseContributionsAreLostBeginsAnewWithoutThose)
{
    const bool dies = GetParam();
    LosingFleet fleet(dies);
    Settings settings;
    settings.set("optimizer", {"gd", "", true});
    const auto make = [&](int workers) {
        return std::make_shared<Coding>(make_scheme(UncodedOptions{}, {workers, 6}), 0, 0);
    };
    const auto first = make(6);
    std::vector<std::unique_ptr<Optimizer>> made;
    made.push_back(chosen(optimizers(), settings, "optimizer").make(settings, {1, 2}, {}));
    trace::Writer trace(path_, header(5), 2);
    for (int i = 0; i < 6; ++i) trace.add(trace::WorkerRow{i + 1, 1, 2, 0});
    Engine engine({.rounds = 5,
                   .schedule = [](double) { return 0.1; },
                   .on_loss = OnLoss::reencode,
                   .reencode = make},
                  *first->scheme, fleet, made, trace);
    const std::atomic<bool> stop = false;
    EXPECT_EQ(engine.run(stop, {}), 5);
    trace.finish(made[0]->model(), "completed", "");
    EXPECT_EQ(fleet.members_, dies ? (std::vector<Worker>{0, 2, 3, 4, 5})
                                   : (std::vector<Worker>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(fleet.lost_with_, !dies);
    const auto written = trace::read(path_);
    std::vector<std::int64_t> kinds;
    for (const auto& change : written.membership)
        if (change.event > 0) kinds.push_back(change.kind);
    EXPECT_EQ(kinds,
              dies ? (std::vector<std::int64_t>{7, 3, 4}) : (std::vector<std::int64_t>{7, 4}));
    for (const auto& [handle, times] : fleet.released) EXPECT_EQ(times, 1) << handle;
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutADeath, LosingTest, ::testing::Bool());

// A replay that received them together would tell the scheme of the first too late.
TEST_F(EngineTest, ChangesThatComeOneAfterTheOtherStayApartInAReplay)
{
    ChangingFleet fleet(6, 1);
    run("uncoded", 4, fleet);
    const auto written = trace::read(path_);
    std::vector<std::int64_t> kinds, events;
    for (const auto& change : written.membership)
        if (change.event > 0) {
            kinds.push_back(change.kind);
            events.push_back(change.event);
        }
    ASSERT_EQ(kinds, (std::vector<std::int64_t>{2, 2, 8, 1, 8, 1}));
    const ByzantineWorkers honest;
    const Coding coding(make_scheme(UncodedOptions{}, {6, 6}), 0, 0);
    Recipes recipes(coding.needs, coding.batches, honest, 2, Wire::binary64);
    ReplayFleet replay(recipes, written, 6);
    const auto first = events[0];
    EXPECT_EQ(replay.changes(first - 1).size(), 0U);
    EXPECT_EQ(replay.changes(first).size(), 2U);
    EXPECT_EQ(replay.changes(first + 2).size(), 1U);
    EXPECT_EQ(replay.changes(first + 4).size(), 1U);
}

TEST_F(EngineTest, EndsWhenTheObserverSaysSoAndKeepsTheLastModel)
{
    ScriptedFleet fleet(6, 1);
    Settings settings;
    settings.set("optimizer", {"gd", "", true});
    const auto scheme = make_scheme(UncodedOptions{}, {6, 6});
    std::vector<std::unique_ptr<Optimizer>> made;
    made.push_back(chosen(optimizers(), settings, "optimizer").make(settings, {1, 2}, {}));
    trace::Writer trace(path_, header(20), 2);
    Engine engine({.rounds = 20, .schedule = [](double) { return 0.1; }, .evaluate_every = 4},
                  *scheme, fleet, made, trace);
    std::vector<double> at;
    Observer observer;
    observer.done = [&](const Update& update) {
        EXPECT_EQ(update.estimate.size(), 2U);
        EXPECT_EQ(update.step_size, 0.1);
        // The update was made from the point, by the estimate.
        if (update.round == 7)
            at = {(*update.at)[0] - 0.1 * update.estimate[0],
                  (*update.at)[1] - 0.1 * update.estimate[1]};
        return update.round == 7;
    };
    const std::atomic<bool> stop = false;
    EXPECT_EQ(engine.run(stop, std::move(observer)), 7);
    const auto model = made[0]->model();
    EXPECT_EQ(at, model.doubles());
    trace.pause();
    EXPECT_EQ(trace.iterate_rounds(), (std::vector<std::int64_t>{4, 7}));
    trace.finish(model, "completed", "a test");
    for (const auto& [handle, times] : fleet.released) EXPECT_EQ(times, 1) << handle;
    EXPECT_EQ(fleet.released.size(), fleet.delivered());
}

TEST_F(EngineTest, LateAnswersAreCountedAndReleasedOnce)
{
    ScriptedFleet fleet(6, 5);
    run("agc", 30, fleet);
    for (const auto& [handle, times] : fleet.released) EXPECT_EQ(times, 1) << handle;
    EXPECT_EQ(fleet.released.size(), fleet.delivered());
    const auto trace = trace::read(path_);
    EXPECT_EQ(trace::faults(trace), std::vector<std::string>());
    EXPECT_EQ(trace.rounds.size(), 30U);
    EXPECT_EQ(trace.arrivals.size(), fleet.delivered());
    EXPECT_EQ(trace.iterates, 15);
    std::int64_t late = 0;
    for (const auto& arrival : trace.arrivals)
        if (arrival.version + 1 < arrival.round) {
            ++late;
            EXPECT_EQ(arrival.used, 0);
        }
    EXPECT_GT(late, 0) << "the script has no late answer: the test shows nothing";
}

// Each worker computes again and again. Every answer takes the place of the one before, and makes a
// step of the newest ones, named one by one or as the sum of the table.
class TableScheme final : public Scheme {
public:
    TableScheme(int workers, std::int64_t kept, int slots) : kept_(kept), slots_(slots)
    {
        newest_.resize(static_cast<std::size_t>(workers));
    }
    Needs needs() const override
    {
        Needs needs;
        for (int worker = 0; worker < std::ssize(newest_); ++worker) {
            needs.blocks.push_back({worker, 1});
            needs.shard.push_back({worker});
        }
        needs.kept = kept_;
        needs.slots = slots_;
        return needs;
    }
    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            for (const auto worker : start->active) ask(worker, 0, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            const auto& one = arrived->contributions.at(0);
            auto& entry = newest_[static_cast<std::size_t>(one.worker)];
            if (entry) out.push_back(Close{entry->task, entry->task});
            entry = one;
            Step step{.terms = {}, .divisor = 1, .error = 0, .table = slots_ > 0};
            if (step.table) out.push_back(Fill{one.worker, 1, {one.id}});
            for (const auto& each : newest_)
                if (each && !step.table) step.terms.push_back({each->id, 1, true});
            out.push_back(std::move(step));
            rests_ = one.worker;
        } else if (const auto* stepped = std::get_if<Stepped>(&event)) {
            ask(rests_, stepped->version, out);
        }
    }

private:
    void ask(Worker worker, Version version, std::vector<Action>& out)
    {
        out.push_back(Dispatch{.task = next_++,
                               .worker = worker,
                               .plan = std::make_shared<Plan>(Plan{{Part{{Item{worker}}}}}),
                               .inputs = {version},
                               .control = {}});
    }
    std::int64_t kept_;
    int slots_;
    std::vector<std::optional<Contribution>> newest_;
    TaskId next_ = 0;
    Worker rests_ = 0;
};

class KeptContributions : public EngineTest, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(ByNameAndInSlots, KeptContributions, testing::Values(0, 6));

TEST_P(KeptContributions, OutliveTheirStep)
{
    constexpr int rounds = 40;
    ScriptedFleet fleet(6, 3);
    TableScheme scheme(6, 6, GetParam());
    Settings settings;
    settings.set("optimizer", {"gd", "", true});
    std::vector<std::unique_ptr<Optimizer>> made;
    made.push_back(chosen(optimizers(), settings, "optimizer").make(settings, {1, 2}, {}));
    trace::Writer trace(path_, header(rounds), 2);
    for (int i = 0; i < 6; ++i) trace.add(trace::WorkerRow{i + 1, 1, 2, 0});
    Engine engine({.rounds = rounds, .schedule = [](double) { return 0.1; }}, scheme, fleet, made,
                  trace);
    const std::atomic<bool> stop = false;
    EXPECT_EQ(engine.run(stop, {}), rounds);
    trace.finish(made[0]->model(), "completed", "");
    for (const auto& [handle, times] : fleet.released) EXPECT_EQ(times, 1) << handle;
    EXPECT_EQ(fleet.released.size(), fleet.delivered());

    const auto written = trace::read(path_);
    EXPECT_EQ(trace::faults(written), std::vector<std::string>());
    // The same sums by hand: those of each worker's newest contribution, in the order of workers.
    std::vector<double> points = {1.5};  // half the sum of each point
    std::vector<double> values(6);
    std::vector<bool> known(6);
    double model[] = {1, 2};
    auto arrivals = written.arrivals;
    std::ranges::sort(arrivals, {}, &trace::Arrival::event);
    std::int64_t uses = 0;
    std::vector<std::int64_t> versions(6);
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto& one = arrivals[round];
        EXPECT_EQ(one.used, static_cast<std::int64_t>(round) + 1);
        uses += one.uses;
        const auto worker = static_cast<std::size_t>(one.worker);
        values[worker] = static_cast<double>(worker + 1) * 0.1 +
                         2 * points[static_cast<std::size_t>(one.version)] / 10;
        known[worker] = true;
        double sum = 0;
        for (std::size_t i = 0; i < 6; ++i)
            if (known[i]) sum += values[i];
        for (auto& element : model) element -= 0.1 * sum;
        points.push_back((model[0] + model[1]) / 2);
        versions[worker] = one.version;
        std::int64_t stale = 0, most = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            const auto staleness = known[i] ? static_cast<std::int64_t>(round) - versions[i] : 0;
            stale += staleness;
            most = std::max(most, staleness);
        }
        const auto& row = written.rounds[round];
        EXPECT_EQ(row.used, std::ranges::count(known, true));
        EXPECT_EQ(row.samples, row.used);
        EXPECT_EQ(row.staleness_mean, static_cast<double>(stale) / static_cast<double>(row.used));
        EXPECT_EQ(row.staleness_max, most);
        EXPECT_EQ(row.loss_estimate, 1);
    }
    EXPECT_NEAR(made[0]->model()[0], model[0], 1e-12);
    std::int64_t terms = 0;
    for (const auto& round : written.rounds) terms += round.used;
    EXPECT_EQ(uses, terms);
}

// Contributions whose sum shows in which order they were added.
class OrderFleet final : public ScriptedFleet {
public:
    using ScriptedFleet::ScriptedFleet;
    static double value(Worker worker, TaskId task)
    {
        return (task % 2 == 0 ? 1.0 : -1.0) * (worker % 7 == 0 ? 1e16 : worker);
    }
    std::vector<double> contribution(const Pending& task) const override
    {
        return {value(task.worker, task.task), 0};
    }
    Values values(std::size_t handle) override
    {
        ++asked;
        return ScriptedFleet::values(handle);
    }
    int asked = 0;
};

TEST_F(EngineTest, TheSumOfTheTableFollowsFromWhatItHoldsAndIsFormedAnewWhereThatHasChanged)
{
    constexpr int workers = 300, rounds = 2000, fan = SumTable::fan;
    OrderFleet fleet(workers, 3);
    TableScheme scheme(workers, workers, workers);
    Settings settings;
    settings.set("optimizer", {"gd", "", true});
    std::vector<std::unique_ptr<Optimizer>> made;
    made.push_back(chosen(optimizers(), settings, "optimizer").make(settings, {1, 2}, {}));
    trace::NoSink trace;
    Engine engine({.rounds = rounds, .schedule = [](double) { return 1e-16; }}, scheme, fleet, made,
                  trace);
    std::vector<double> held(workers, 0.0), estimates;
    std::vector<int> asked;
    Observer observer;
    observer.done = [&](const Update& update) {
        estimates.push_back(update.estimate[0]);
        asked.push_back(std::exchange(fleet.asked, 0));
        return false;
    };
    const std::atomic<bool> stop = false;
    EXPECT_EQ(engine.run(stop, std::move(observer)), rounds);
    ASSERT_EQ(estimates.size(), rounds);
    int other = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto [worker, task] = fleet.answers.at(round);
        held[static_cast<std::size_t>(worker)] = OrderFleet::value(worker, task);
        auto sums = held;
        while (sums.size() > 1) {
            std::vector<double> above((sums.size() + fan - 1) / fan);
            for (std::size_t i = 0; i < sums.size(); ++i) above[i / fan] += sums[i];
            sums = std::move(above);
        }
        EXPECT_EQ(estimates[round], sums[0]) << round;
        other += estimates[round] != std::accumulate(held.begin(), held.end(), 0.0);
        EXPECT_LE(asked[round], fan) << round;
    }
    EXPECT_GT(other, rounds / 2) << "the values do not show the order";
}

TEST(SumTable, CountsWhatItHolds)
{
    EXPECT_EQ(SumTable::nodes(0), 0);
    EXPECT_EQ(SumTable::nodes(16), 1);
    EXPECT_EQ(SumTable::nodes(17), 3);
    EXPECT_EQ(SumTable::nodes(1000), 63 + 4 + 1);
    constexpr int slots = 1000;
    SumTable table(slots);
    EXPECT_EQ(table.nodes(), 68);
    EXPECT_EQ(table.take_changed().size(), 68U);
    std::mt19937 random(1);
    std::vector<std::vector<SumTable::Entry>> held(slots);
    ContributionId next = 0;
    for (int turn = 0; turn < 3000; ++turn) {
        const auto slot = random() % slots;
        auto& own = held[slot];
        if (!own.empty() && random() % 3 == 0) {
            const auto one = own.begin() + static_cast<std::ptrdiff_t>(random() % own.size());
            table.remove(static_cast<int>(slot), one->id);
            own.erase(one);
        } else {
            own.clear();
            for (auto i = random() % 3; i < 3; ++i, ++next) {
                const auto update = static_cast<std::int64_t>(random() % 100);
                own.push_back({next,
                               0,
                               static_cast<Worker>(slot / 10),
                               {1, static_cast<std::int64_t>(random() % 9),
                                static_cast<double>(update), update}});
            }
            table.fill(static_cast<int>(slot), 1, SumTable::Entries(own.begin(), own.end()));
        }
        SumTable::Totals sum;
        std::set<Worker> there;
        for (const auto& entries : held)
            for (const auto& one : entries) {
                sum.add(one.totals);
                there.insert(one.worker);
            }
        const auto& totals = table.totals();
        EXPECT_EQ(totals.count, sum.count);
        EXPECT_EQ(totals.samples, sum.samples);
        EXPECT_EQ(totals.updates, sum.updates);
        EXPECT_EQ(totals.oldest, sum.oldest);
        EXPECT_EQ(table.workers(), std::ssize(there));
        // One of each level, from the lowest.
        if (turn % 2) continue;
        std::vector<int> above = {static_cast<int>(slot) / 16, 63 + static_cast<int>(slot) / 256,
                                  67};
        const auto changed = table.take_changed();
        EXPECT_TRUE(std::ranges::includes(changed, above));
        EXPECT_LE(changed.size(), 5U);
    }
}

TEST(SchemeCheck, CountsContributionsThatAreKept)
{
    TableScheme enough(6, 6, 0), too_few(6, 5, 0), in_slots(6, 6, 6);
    test::LegalRun(enough, 1).run(100);
    test::LegalRun(in_slots, 1).run(100);
    SchemeCheck check(too_few, 1);
    check.run(100);
    EXPECT_EQ(
        check.broken,
        std::vector<std::string>{
            "it keeps 6 contributions, but its needs say at most 5: give Needs(..., kept=N)"});
}

TEST_F(EngineTest, PlantedFaultsAreFound)
{
    ScriptedFleet fleet(6, 5);
    run("uncoded", 3, fleet);
    auto trace = trace::read(path_);
    trace.rounds[1].time = -1;
    trace.rounds[2].erased = 5;
    trace.arrivals[0].compute = -1;
    EXPECT_EQ(trace::faults(trace).size(), 3U);
    trace = trace::read(path_);
    trace.rounds.pop_back();
    EXPECT_FALSE(trace::faults(trace).empty());
}

// A scheme that only waits for its timers, and then gives up.
class TimerScheme final : public Scheme {
public:
    Needs needs() const override { return {}; }
    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (std::holds_alternative<Start>(event)) {
            out.push_back(SetTimer{2, 5});
            out.push_back(SetTimer{1, 5});
            out.push_back(SetTimer{3, 4});
            out.push_back(SetTimer{3, never});
        } else if (const auto* deadline = std::get_if<Deadline>(&event)) {
            seen.push_back(deadline->timer);
            if (deadline->timer == 2) out.push_back(Undecodable{"no worker is left"});
        }
    }
    std::vector<int> seen;
};

TEST_F(EngineTest, TimersGoOffInOrderAndUndecodableIsAFailure)
{
    ScriptedFleet fleet(1, 0);
    TimerScheme scheme;
    Settings settings;
    settings.set("optimizer", {"gd", "", true});
    std::vector<std::unique_ptr<Optimizer>> made;
    made.push_back(chosen(optimizers(), settings, "optimizer").make(settings, {1, 2}, {}));
    trace::Writer trace(path_, header(1), 2);
    Engine engine({}, scheme, fleet, made, trace);
    const std::atomic<bool> stop = false;
    EXPECT_THROW(engine.run(stop, {}), Failure);
    EXPECT_EQ(scheme.seen, (std::vector<int>{1, 2}));
}

TEST_F(EngineTest, AnUnfinishedTraceOpensAndSaysRunning)
{
    trace::Writer trace(path_, header(5), 2);
    trace.add(trace::Round{});
    trace.keep(1, std::make_shared<NumberVector>(std::vector<double>(2, 1.5)));
    trace.pause();
    const auto seen = trace::read(path_);
    EXPECT_EQ(seen.status(), "running");
    EXPECT_EQ(seen.rounds.size(), 1U);
    EXPECT_EQ(trace.iterate(0)->doubles(), std::vector<double>(2, 1.5));
}

TEST(Messages, ATaskSurvivesItsJourney)
{
    transport::Pool pool;
    const auto support = Support::of(5, {1, 4});
    const Point point = std::make_shared<NumberVector>(std::vector<double>{0, 10, 20, 30, 40});
    TaskMessage message;
    message.recipients = {{3, 17}, {4, 18}};
    message.control.draw = 9;
    message.control.begin = TaskControl::Begin::after;
    message.control.step = 0.5;
    message.plan = Plan{{Part{{Item{2, 0, 0.5}, Item{3, 1, -1}}}, Part{{Item{7, 0, 1}}}}, true};
    message.inputs = {{5, TaskMessage::Travel::known}, {6, TaskMessage::Travel::packed}};
    const std::vector<Point> points = {nullptr, point};
    const auto bytes = encode(message, points, support, Wire::binary64, pool);
    const auto got =
        decode_task(bytes, 0, support.size(), Wire::binary64, Precision::binary64, pool);
    EXPECT_EQ(got.recipients, message.recipients);
    EXPECT_EQ(got.control, message.control);
    ASSERT_EQ(got.plan.parts.size(), 2U);
    EXPECT_TRUE(got.plan.each_when_ready);
    EXPECT_EQ(got.plan.parts[0].items[1].block, 3);
    EXPECT_EQ(got.plan.parts[0].items[1].coefficient, -1);
    EXPECT_TRUE(got.inputs[0].packed.empty());
    EXPECT_EQ(got.inputs[1].packed.doubles(), (std::vector<double>{10, 40}));
    const auto cut = std::make_shared<transport::Bytes>(bytes->size() - 8);
    std::copy(bytes->data(), bytes->data() + cut->size(), cut->data());
    EXPECT_THROW(decode_task(cut, 0, support.size(), Wire::binary64, Precision::binary64, pool),
                 Failure);
}

}  // namespace
