// SPDX-License-Identifier: BSD-2-Clause
// Sequential gradient coding: which straggler patterns the codes tolerate, what they load workers
// with, and that they decode the true gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "base/error.hpp"
#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "legal_run.hpp"
#include "scheme/sequential/multiplexed.hpp"
#include "scheme/sequential/selective_repetition.hpp"
#include "simulation.hpp"
#include "support.hpp"

namespace {

using namespace quorate;
using namespace test;

using Pattern = std::deque<Stragglers>;

GradientCode code_for(int n, int s)
{
    return n % (s + 1) == 0 ? fractional_repetition(n, s + 1) : cyclic_code(n, s);
}

int stragglers_of(const Bursty& m)
{
    return (m.burst * m.workers + m.window - 2 + m.burst) / (m.window - 1 + m.burst);
}

std::unique_ptr<SequentialCode> selective(int n, const Bursty& model, int fewer = 0)
{
    const int s = stragglers_of(model) - fewer;
    if (s < 0 || s >= n) return nullptr;
    return std::make_unique<SelectiveRepetition>(Problem{n, 1000, 1}, code_for(n, s), s, model);
}

std::unique_ptr<SequentialCode> multiplexed(int n, const Bursty& model)
{
    auto code = model.workers < n ? code_for(n, model.workers) : GradientCode{};
    return std::make_unique<Multiplexed>(Problem{n, 10000, 1}, std::move(code), model);
}

// At most `workers` stragglers in any `window` exchanges, each in at most `times` of them.
bool arbitrary(int times, int window, int workers, const Pattern& pattern)
{
    const auto size = std::min(pattern.size(), static_cast<std::size_t>(window));
    int stragglers = 0;
    for (std::size_t worker = 0; worker < pattern.back().size(); ++worker) {
        const auto count =
            std::count_if(pattern.end() - static_cast<std::ptrdiff_t>(size), pattern.end(),
                          [&](const auto& those) { return those[worker]; });
        if (count > times) return false;
        stragglers += count > 0;
    }
    return stragglers <= workers;
}

using Fits = std::function<bool(const Pattern&)>;

// Plays exchanges with as many random stragglers as fit. @return whether every job was decoded
bool survives(SequentialCode& code, int n, const Fits& fits, std::mt19937& random,
              int exchanges = 40)
{
    Pattern pattern;
    ContributionId id = 0;
    Job oldest = 0;
    for (int exchange = 0; exchange < exchanges; ++exchange) {
        pattern.emplace_back(static_cast<std::size_t>(n), false);
        for (int tries = 0; tries < 3 * n; ++tries) {
            const auto worker = random() % static_cast<unsigned>(n);
            const bool before = pattern.back()[worker];
            pattern.back()[worker] = true;
            if (!fits(pattern)) pattern.back()[worker] = before;
        }
        code.begin(exchange);
        for (int worker = 0; worker < n; ++worker) {
            const auto task = code.task(worker);
            std::vector<ContributionId> ids;
            for (std::size_t part = 0; part < task.plan->parts.size(); ++part) ids.push_back(id++);
            if (!pattern.back()[static_cast<std::size_t>(worker)]) code.receive(worker, ids);
        }
        if (!code.decodes()) return false;
        while (oldest <= exchange && code.gradient(oldest)) code.forget(oldest++);
        EXPECT_GE(oldest, exchange - code.delay() + 1);
    }
    return true;
}

// All small parameters. W = x B + 1 for selective repetition.
std::vector<std::pair<int, Bursty>> small(bool for_selective)
{
    std::vector<std::pair<int, Bursty>> all;
    for (const int n : {4, 5, 6, 8})
        for (int burst = 1; burst <= 3; ++burst)
            for (int window = burst + 1; window <= 6; ++window)
                for (int lambda = 0; lambda <= n; ++lambda)
                    if (!for_selective || (window - 1) % burst == 0)
                        all.push_back({n, {burst, window, lambda}});
    return all;
}

TEST(Sequential, ConformingPatternsLeaveNoJobUndecoded)
{
    std::mt19937 random(1);
    for (const auto& [n, model] : small(true))
        if (const auto code = selective(n, model)) {
            EXPECT_TRUE(survives(
                *code, n, [&](const Pattern& p) { return conforms(model, p); }, random))
                << "sr-sgc " << n << " " << model.burst << " " << model.window << " "
                << model.workers;
            const auto again = selective(n, model);
            const int s = stragglers_of(model);
            EXPECT_TRUE(survives(
                *again, n, [&](const Pattern& p) { return arbitrary(1, 1, s, p); }, random));
        }
    for (const auto& [n, model] : small(false)) {
        EXPECT_TRUE(survives(
            *multiplexed(n, model), n, [&](const Pattern& p) { return conforms(model, p); },
            random))
            << "m-sgc " << n << " " << model.burst << " " << model.window << " " << model.workers;
        EXPECT_TRUE(survives(
            *multiplexed(n, model), n,
            [&](const Pattern& p) {
                return arbitrary(model.burst, model.window + model.burst - 1, model.workers, p);
            },
            random));
    }
}

TEST(Sequential, OneStragglerLessInTheCodeIsTooFew)
{
    std::mt19937 random(2);
    const Bursty model{1, 3, 4};
    bool failed = false;
    for (int tries = 0; tries < 300 && !failed; ++tries)
        failed = !survives(
            *selective(8, model, 1), 8, [&](const Pattern& p) { return conforms(model, p); },
            random);
    EXPECT_TRUE(failed);
}

TEST(Sequential, LoadsAreThoseOfTheFormulas)
{
    const struct {
        int n;
        Bursty model;
        double multiplexed, selective;
        int delay_m, delay_s;
    } cases[] = {{20, {1, 2, 4}, 1.667, 3, 1, 1},
                 {20, {1, 4, 4}, 1.250, 2, 3, 1},
                 {20, {2, 5, 6}, 1.400, 3, 5, 2},
                 {256, {1, 2, 27}, 1.931, 15, 1, 1}};
    for (const auto& one : cases) {
        const std::int64_t rows = 10'000'000;
        const auto load = [&](SequentialCode& code) {
            for (int exchange = 0; exchange <= code.delay(); ++exchange) {
                code.begin(exchange);
                ContributionId id = 0;
                for (int worker = 0; worker < one.n; ++worker) {
                    const auto task = code.task(worker);
                    std::vector<ContributionId> ids;
                    for (const auto& part : task.plan->parts) (void)part, ids.push_back(id++);
                    code.receive(worker, ids);
                }
            }
            const auto needs = code.needs();
            double sum = 0;
            code.begin(code.delay() + 1);
            const auto task = code.task(3);
            for (const auto& part : task.plan->parts)
                for (const auto& item : part.items)
                    sum += static_cast<double>(
                        needs.blocks[static_cast<std::size_t>(item.block)].count);
            return sum / static_cast<double>(rows) * one.n;
        };
        const int lambda = one.model.workers;
        // Seven does not divide 20, where the cyclic code may take one chunk more.
        const bool exact = one.n % (lambda + 1) == 0 || (one.n - lambda) % 2 == 1;
        Multiplexed m(Problem{one.n, rows, 1}, code_for(one.n, lambda), one.model);
        EXPECT_NEAR(load(m), one.multiplexed, exact ? 5e-4 : 0.1) << one.n << " " << lambda;
        EXPECT_EQ(m.delay(), one.delay_m);
        const int s = stragglers_of(one.model);
        SelectiveRepetition sr(Problem{one.n, rows, 1}, code_for(one.n, s), s, one.model);
        EXPECT_NEAR(load(sr), one.selective,
                    (one.n - s) % 2 == 1 || one.n % (s + 1) == 0 ? 1e-4 : 1.01);
        EXPECT_EQ(sr.delay(), one.delay_s);
    }
}

// Remembers which workers each exchange ended without, and how many parts were asked for.
class Watched final : public SequentialCode {
public:
    explicit Watched(std::unique_ptr<SequentialCode> code) : code_(std::move(code)) {}
    int delay() const override { return code_->delay(); }
    Bursty tolerates() const override { return code_->tolerates(); }
    Needs needs() const override { return code_->needs(); }
    void begin(std::int64_t exchange) override
    {
        check();
        pattern.emplace_back(needs().shard.size(), true);
        code_->begin(exchange);
    }
    Task task(Worker worker) override
    {
        auto task = code_->task(worker);
        parts.push_back(task.plan->parts.size());
        return task;
    }
    void receive(Worker worker, const std::vector<ContributionId>& ids) override
    {
        pattern.back()[static_cast<std::size_t>(worker)] = false;
        code_->receive(worker, ids);
    }
    bool decodes() override { return code_->decodes(); }
    std::optional<Gradient> gradient(Job job) override { return code_->gradient(job); }
    void forget(Job job) override { code_->forget(job); }

    Pattern pattern;
    std::vector<std::size_t> parts;
    std::int64_t stragglers = 0;

private:
    void check()
    {
        if (pattern.empty()) return;
        EXPECT_TRUE(conforms(tolerates(), pattern)) << "exchange " << pattern.size();
        stragglers += std::ranges::count(pattern.back(), true);
    }
    std::unique_ptr<SequentialCode> code_;
};

TEST(Sequential, AfterWaitingThePatternConformsAndMessagesAreOfOneSize)
{
    for (const bool all : {false, true}) {
        const Bursty model{2, 4, 3};
        auto watched = std::make_unique<Watched>(multiplexed(8, model));
        const auto& saw = *watched;
        const WaitOut wait{all ? 2.0 : 0.3, {all ? WaitFor::all : WaitFor::conform}};
        Sequential scheme(Problem{8, 10000, 1}, std::move(watched), wait, 1);
        LegalRun run(scheme, 3);
        run.run(300);
        EXPECT_EQ(run.steps.size(), 300U);
        EXPECT_GT(saw.stragglers, 50) << "nobody straggled: the test shows nothing";
        const auto delay = static_cast<std::size_t>(model.window - 2 + model.burst);
        for (std::size_t i = 8 * delay; i < saw.parts.size(); ++i)
            EXPECT_EQ(saw.parts[i], static_cast<std::size_t>(model.window - 1 + model.burst));
    }
}

TEST(Sequential, EveryGradientIsExactAtThePointOfItsJob)
{
    for (const std::string name : {"sr-sgc", "m-sgc"})
        for (const int lambda : {0, 2, 3, 8})
            for (const int models : {1, 5}) {
                constexpr int n = 8;
                constexpr std::int64_t rows = 1000;
                const auto scheme = make_scheme(
                    name, {n, rows, 1},
                    {{"burst", "2"},
                     {"window", "5"},
                     {"lambda", std::to_string(lambda)},
                     {"models", std::to_string(name == "m-sgc" && models > 1 ? 7 : models)},
                     {"mu", "0.3"}});
                const auto needs = scheme->needs();
                LegalRun run(*scheme, 11);
                run.width = 2;
                run.step_size = 0.1;
                run.gradient = [&](int block, const LegalRun::Vector& w) {
                    const auto& b = needs.blocks[static_cast<std::size_t>(block)];
                    const auto count = static_cast<double>(b.count);
                    return LegalRun::Vector{count * (w[0] - 1),
                                            count * w[1] + static_cast<double>(b.first)};
                };
                run.run(100);
                ASSERT_EQ(run.steps.size(), 100U) << run.undecodable;
                double offset = 0;
                for (const auto& b : needs.blocks) offset += static_cast<double>(b.first);
                for (std::size_t step = 0; step < run.steps.size(); ++step) {
                    for (const auto version : run.published_at[step])
                        EXPECT_EQ(version, run.published_at[step][0]);
                    const auto version = run.published_at[step][0];
                    const auto& w = run.points.at(version);
                    EXPECT_NEAR(run.estimates[step][0], w[0] - 1, 1e-8);
                    EXPECT_NEAR(run.estimates[step][1], w[1] + offset / rows,
                                1e-8 * (1 + offset / rows));
                    // M models in turn see no staleness; one sees that of the delay at most, and
                    // exactly that where the last sums of a job are always due at its end.
                    const int delay = name == "m-sgc" ? 5 : 2;
                    const auto job = static_cast<Version>(step);
                    const auto least = std::max<Version>(0, job - delay);
                    const bool always_due = name == "m-sgc" && lambda < n;
                    EXPECT_LE(version, needs.models == 1 && always_due ? least : job);
                    EXPECT_GE(version, needs.models > 1 ? job : least);
                    EXPECT_EQ(run.steps[step].model, static_cast<int>(step) % needs.models);
                }
            }
}

Settings simulated(Options given)
{
    given.insert({{"dry", "on"}, {"workers", "8"}, {"rounds", "20"}, {"row-time", "0.001"}});
    return make_settings(simulation_options(), given);
}

// The exchanges of which something has come.
std::int64_t exchanges_of(const trace::Trace& trace)
{
    std::set<std::int64_t> all;
    for (const auto& one : trace.arrivals) all.insert(one.draw);
    return std::ssize(all);
}

TEST(Sequential, WithoutStragglersSelectiveRepetitionStepsEachJobInItsOwnExchange)
{
    for (const std::string burst : {"0", "1", "2"}) {
        Options options{{"scheme", "sr-sgc"}, {"burst", burst}, {"lambda", "3"}};
        if (burst == "2") options["window"] = "5";
        const auto trace = simulate(simulated(options));
        ASSERT_EQ(trace.rounds.size(), 20U);
        EXPECT_EQ(exchanges_of(trace), 20);
        for (const auto& round : trace.rounds) EXPECT_EQ(round.staleness_max, 0);
        EXPECT_NEAR(trace.rounds.back().time, 20 * trace.rounds.front().time, 1e-9);
    }
}

TEST(Sequential, MultiplexedJobsStepAsSoonAsTheirLastSumsCanCome)
{
    const auto run = [](const std::string& lambda) {
        return simulate(
            simulated({{"scheme", "m-sgc"}, {"burst", "2"}, {"window", "4"}, {"lambda", lambda}}));
    };
    // The coded sums of group B - 1 come W - 2 + B = 4 exchanges after a job's own.
    const auto coded = run("3");
    EXPECT_EQ(exchanges_of(coded), 20 + 4);
    EXPECT_EQ(coded.rounds.back().staleness_max, 4);
    // Without them, the own chunk number W - 2 is the last.
    const auto own = run("8");
    EXPECT_EQ(exchanges_of(own), 20 + 2);
    EXPECT_EQ(own.rounds.back().staleness_max, 2);
}

TEST(Sequential, StragglersMakeAJobAndThoseBehindItLateByTheBurstAtMost)
{
    const auto trace = simulate(simulated({{"scheme", "sr-sgc"},
                                           {"burst", "2"},
                                           {"window", "3"},
                                           {"lambda", "4"},
                                           {"rounds", "400"},
                                           {"mu", "0.5"},
                                           {"row-time", "0"},
                                           {"delay", "pareto:0.1,1.5"}}));
    std::map<std::int64_t, int> count;
    for (const auto& round : trace.rounds) ++count[round.staleness_max];
    EXPECT_EQ(count.rbegin()->first, 2);
    EXPECT_GT(count[0], 100);
    EXPECT_GT(count[2], 20);
    EXPECT_LE(exchanges_of(trace), 402);
}

// When each job of a code is stepped, if exchanges end by a quorum: found by looking at the
// arrivals of each exchange one after the other.
std::vector<Seconds> times_by_quorum(SequentialCode& code, int n, const WaitFor& wait,
                                     const std::string& delay, std::int64_t jobs)
{
    const auto delays = make_delays(delay, n, 1);
    std::vector<Seconds> times;
    Pattern pattern;
    Seconds began = 0;
    ContributionId id = 0;
    for (Job exchange = 0; std::ssize(times) < jobs; ++exchange) {
        std::map<Seconds, Worker> order;
        code.begin(exchange);
        std::vector<std::size_t> parts;
        for (Worker worker = 0; worker < n; ++worker) {
            parts.push_back(code.task(worker).plan->parts.size());
            order[delays->draw(worker, exchange, 0)] = worker;
        }
        pattern.emplace_back(static_cast<std::size_t>(n), true);
        Seconds end = never, last = 0;
        int missing = n;
        for (const auto& [elapsed, worker] : order) {
            if (elapsed > end) break;
            last = elapsed;
            std::vector<ContributionId> ids;
            for (std::size_t i = 0; i < parts[static_cast<std::size_t>(worker)]; ++i)
                ids.push_back(id++);
            code.receive(worker, ids);
            pattern.back()[static_cast<std::size_t>(worker)] = false;
            const bool fits = code.harmless() || conforms(code.tolerates(), pattern);
            if (--missing <= wait.missing && end == never && fits && code.decodes())
                end = elapsed * (1 + wait.grace);
        }
        EXPECT_TRUE(code.decodes());
        began += missing == 0 ? last : end;
        if (code.harmless()) pattern.back().assign(static_cast<std::size_t>(n), false);
        while (std::ssize(times) <= exchange && code.gradient(std::ssize(times))) {
            code.forget(std::ssize(times));
            times.push_back(began);
        }
    }
    times.resize(static_cast<std::size_t>(jobs));
    return times;
}

TEST(Sequential, ExchangesEndByAQuorumAsABruteForceRuleSays)
{
    constexpr int n = 8;
    constexpr std::int64_t jobs = 150;
    const struct {
        std::string scheme;
        Bursty model;
    } cases[] = {{"sr-sgc", {1, 2, 3}}, {"sr-sgc", {2, 3, 5}}, {"sr-sgc", {2, 5, 4}},
                 {"m-sgc", {1, 2, 3}},  {"m-sgc", {2, 4, 2}},  {"m-sgc", {1, 3, 8}}};
    for (const auto& [scheme, model] : cases)
        for (const auto* delay : {"exponential:1", "pareto:0.1,1.2"})
            for (const auto& wait : {WaitFor{WaitFor::quorum, 0}, WaitFor{WaitFor::quorum, 2},
                                     WaitFor{WaitFor::quorum, 7}, WaitFor{WaitFor::quorum, 3, 0.02},
                                     WaitFor{WaitFor::quorum, 4, 0.5}}) {
                const auto words = written(wait, {{}});
                const auto code = scheme == "sr-sgc" ? selective(n, model) : multiplexed(n, model);
                const auto expected = times_by_quorum(*code, n, wait, delay, jobs);
                const auto seconds =
                    Simulation{.scheme = scheme,
                               .options = {{"burst", std::to_string(model.burst)},
                                           {"window", std::to_string(model.window)},
                                           {"lambda", std::to_string(model.workers)},
                                           {"wait-out", words}},
                               .workers = n,
                               .rounds = jobs,
                               .delay = delay,
                               .rows_each = 100}
                        .run();
                ASSERT_EQ(std::ssize(seconds), jobs);
                Seconds time = 0;
                for (std::size_t job = 0; job < seconds.size(); ++job)
                    ASSERT_NEAR(time += seconds[job], expected[job], 1e-9 * (1 + expected[job]))
                        << scheme << " " << words << " " << delay << " job " << job;
            }
}

TEST(Sequential, RefusesWhatIsInfeasible)
{
    const auto wrong = [](const std::string& name, const Options& options) {
        return refusal([&] { make_scheme(name, {10, 1000, 1}, options); });
    };
    EXPECT_EQ(wrong("sr-sgc", {{"burst", "2"}, {"window", "4"}}),
              "--window is 4, but sr-sgc needs a multiple of --burst 2 plus 1: try 3 or 5");
    EXPECT_EQ(wrong("m-sgc", {{"burst", "3"}, {"window", "3"}}),
              "--window is 3, but m-sgc needs more than --burst 3: use --window 4 or more");
    EXPECT_EQ(wrong("m-sgc", {{"burst", "2"}, {"window", "4"}, {"models", "3"}}),
              "--models is 3, but a job is decoded 4 exchanges after its own: use --models 5 or "
              "more, or 1");
    EXPECT_EQ(wrong("m-sgc", {{"lambda", "11"}}), "--lambda is 11: use at most 10");
    EXPECT_NE(wrong("m-sgc", {{"window", "60"}, {"lambda", "9"}}).find("units, but there are 1000"),
              std::string::npos);
    EXPECT_NE(wrong("sr-sgc", {{"burst", "0"}, {"window", "3"}}).find("leave it out"),
              std::string::npos);
}

TEST(Sequential, RefusesWaitsThatItCannotRead)
{
    const auto wrong = [](const std::string& wait) {
        return refusal([&] { make_scheme("m-sgc", {10, 1000, 1}, {{"wait-out", wait}}); });
    };
    const std::string number = ", but Q is no whole number from 0 to 9",
                      share = ", but GRACE is no number of at least 0, such as 0.02",
                      form = ": write conform, all or quorum:Q[,GRACE], such as quorum:1,0.02";
    for (const std::string wait : {"quorum:-1", "quorum:10", "quorum:few", "quorum:", "quorum:1.5"})
        EXPECT_EQ(wrong(wait), "--wait-out is " + wait + number);
    for (const std::string wait : {"quorum:3,-0.1", "quorum:3,soon", "quorum:3,", "quorum:3,nan"})
        EXPECT_EQ(wrong(wait), "--wait-out is " + wait + share);
    for (const std::string wait : {"some", "quorum", "quorum:3,0.1,2", "all:3", "quorum:1:2"})
        EXPECT_EQ(wrong(wait), "--wait-out is " + wait + form);
}

}  // namespace
