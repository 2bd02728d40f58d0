// SPDX-License-Identifier: BSD-2-Clause
// Gradient coding in which what slow workers have done counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>

#include "base/interval.hpp"
#include "base/random.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "legal_run.hpp"
#include "simulation.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace quorate {
namespace {

using namespace test;

// What a worker has done of its list is told as it happens; times are given, not simulated.
class Rounds {
public:
    Rounds(const std::string& name, int n, const Options& options, std::int64_t rows = 0)
        : scheme_(make_scheme(name, {n, rows > 0 ? rows : 10 * n, 1}, options)), n_(n)
    {
        Start start;
        for (int i = 0; i < n; ++i) start.active.push_back(i);
        scheme_->handle(start, 0, actions_);
    }

    /// The chunks of each worker, in the order of computation.
    std::vector<std::vector<int>> lists() const
    {
        std::vector<std::vector<int>> all(static_cast<std::size_t>(n_));
        for (const auto& task : tasks())
            for (const auto& part : task.plan->parts)
                for (const auto& item : part.items)
                    all[static_cast<std::size_t>(task.worker)].push_back(item.block);
        return all;
    }

    /// Plays one round. @param seconds  that a worker takes for the item at this place of its list
    /// @return when the step is made, from the beginning of the round; infinite: never
    Seconds play(const std::function<Seconds(Worker, int)>& seconds)
    {
        struct Message {
            Seconds at;
            Contribution contribution;
        };
        std::vector<Message> messages;
        for (const auto& task : tasks()) {
            Seconds at = 0;
            int place = 0;
            std::vector<Contribution> parts;
            for (int part = 0; part < std::ssize(task.plan->parts); ++part) {
                for (const auto& item : task.plan->parts[static_cast<std::size_t>(part)].items) {
                    (void)item;
                    at += seconds(task.worker, place++);
                }
                parts.push_back({{.worker = task.worker,
                                  .part = part,
                                  .task = task.task,
                                  .draw = version_,
                                  .samples = 10,
                                  .oldest = version_,
                                  .newest = version_},
                                 0});
                if (task.plan->each_when_ready) messages.push_back({at, parts.back()});
            }
            if (!task.plan->each_when_ready)
                for (const auto& part : parts) messages.push_back({at, part});
        }
        std::ranges::stable_sort(messages, {}, [](const Message& one) {
            return std::pair(one.at, one.contribution.worker);
        });
        for (auto& [at, contribution] : messages) {
            if (std::isinf(at)) break;
            contribution.id = next_++;
            std::vector<Action> out;
            scheme_->handle(Arrived{{contribution}}, began_ + at, out);
            if (!find_step(out)) continue;
            began_ += at;
            actions_.clear();
            scheme_->handle(Stepped{++version_}, began_, actions_);
            return at;
        }
        return never;
    }

    /// Tells the scheme of one contribution of the running round. @return whether it made a step
    bool answer(Worker worker, int part, int items = 0)
    {
        for (const auto& task : tasks()) {
            if (task.worker != worker) continue;
            std::vector<Action> out;
            scheme_->handle(Arrived{{{{.worker = worker,
                                       .part = part,
                                       .task = task.task,
                                       .draw = version_,
                                       .samples = 10 * items,
                                       .oldest = version_,
                                       .newest = version_,
                                       .items = items},
                                      next_++}}},
                            began_, out);
            return find_step(out);
        }
        return false;
    }
    /// Tells it that the time is up. @return whether it made a step
    bool time_is_up()
    {
        std::vector<Action> out;
        scheme_->handle(Deadline{0}, began_, out);
        return find_step(out);
    }
    void next_round()
    {
        actions_.clear();
        scheme_->handle(Stepped{++version_}, began_, actions_);
    }

    const Step& step() const { return step_; }

private:
    std::vector<Dispatch> tasks() const
    {
        std::vector<Dispatch> all;
        for (const auto& action : actions_)
            if (const auto* task = std::get_if<Dispatch>(&action)) all.push_back(*task);
        return all;
    }
    bool find_step(const std::vector<Action>& out)
    {
        for (const auto& action : out)
            if (const auto* step = std::get_if<Step>(&action)) {
                step_ = *step;
                return true;
            }
        return false;
    }

    std::unique_ptr<Scheme> scheme_;
    int n_;
    std::vector<Action> actions_;  // those that began the running round
    Version version_ = 0;
    Seconds began_ = 0;
    ContributionId next_ = 0;
    Step step_ = {};
};

Options with(int stragglers, const std::string& placement, const std::string& order = "rotate")
{
    return {{"stragglers", std::to_string(stragglers)}, {"placement", placement}, {"order", order}};
}

// Q_l: one more than the most chunks that all together can be done with while some chunk has been
// done by fewer than l workers. For chunk j those are: of its holders what stands before it, of
// l - 1 of them the whole list, and the lists of all others.
int most_until(const std::vector<std::vector<int>>& lists, int chunks, int l)
{
    int most = 0;
    for (int j = 0; j < chunks; ++j) {
        int sum = 0;
        std::vector<int> more;
        for (const auto& list : lists) {
            const auto at = static_cast<int>(std::ranges::find(list, j) - list.begin());
            sum += at;  // of others, the whole list
            if (at < std::ssize(list)) more.push_back(static_cast<int>(std::ssize(list)) - at);
        }
        std::ranges::sort(more, std::greater());
        for (int copy = 0; copy < l - 1; ++copy) sum += more[static_cast<std::size_t>(copy)];
        most = std::max(most, sum);
    }
    return 1 + most;
}

TEST(Partial, ItsOrderLeavesTheFewestChunksInVain)
{
    const auto q = [](const std::string& placement, const std::string& order) {
        const auto lists = Rounds("partial", 6, with(2, placement, order)).lists();
        return std::vector{most_until(lists, 6, 1), most_until(lists, 6, 2),
                           most_until(lists, 6, 3)};
    };
    EXPECT_EQ(q("cyclic", "rotate"), (std::vector{13, 16, 18}));
    EXPECT_EQ(q("frc", "rotate"), (std::vector{13, 16, 18}));
    EXPECT_EQ(q("frc", "given"), (std::vector{16, 17, 18}));
    // The formula of the optimum for l = 1.
    for (const int n : {4, 9, 12})
        for (int d = 1; d <= n; ++d) {
            const auto lists = Rounds("partial", n, with(d - 1, "cyclic")).lists();
            EXPECT_EQ(most_until(lists, n, 1), 1 + d * (n - d) + d * (d - 1) / 2);
        }
}

TEST(Partial, EachChunkStandsOnceAtEachPlace)
{
    for (const auto* placement : {"cyclic", "frc"}) {
        const auto lists = Rounds("partial", 12, with(2, placement)).lists();
        for (std::size_t place = 0; place < 3; ++place) {
            std::set<int> chunks;
            for (const auto& list : lists) chunks.insert(list[place]);
            EXPECT_EQ(chunks.size(), 12U) << placement;
        }
    }
}

TEST(Partial, EndsWithTheFirstCopyOfTheLastChunk)
{
    const std::vector<Seconds> speeds = {1, 1, 1.2, 4, 5, 20};
    const auto ends = [&](const std::string& name, const Options& options) {
        Rounds rounds(name, 6, options);
        return rounds.play(
            [&](Worker worker, int) { return speeds[static_cast<std::size_t>(worker)]; });
    };
    EXPECT_DOUBLE_EQ(ends("partial", with(2, "cyclic")), 10);
    EXPECT_DOUBLE_EQ(ends("partial", with(2, "frc")), 10);
    EXPECT_DOUBLE_EQ(ends("partial", with(2, "frc", "given")), 12);
    EXPECT_DOUBLE_EQ(ends("frc", {{"stragglers", "2"}}), 12);
    EXPECT_DOUBLE_EQ(ends("cyclic", {{"stragglers", "2"}, {"coefficients", "random"}}), 12);
    EXPECT_DOUBLE_EQ(ends("uncoded", {}), 20);
}

TEST(Partial, WithEqualSpeedsEndsAfterOneChunkWithTheFirstOfEachWorker)
{
    for (const auto* placement : {"cyclic", "frc"}) {
        Rounds rounds("partial", 6, with(2, placement));
        EXPECT_EQ(rounds.play([](Worker, int) { return 1; }), 1);
        EXPECT_EQ(rounds.step().terms.size(), 6U);
        EXPECT_EQ(rounds.step().error, 0);
    }
}

TEST(Partial, IsNeverLaterThanFractionalRepetition)
{
    Rounds partial("partial", 12, with(2, "frc")), frc("frc", 12, {{"stragglers", "2"}});
    Stream random(1, Purpose::delay);
    for (int round = 0; round < 500; ++round) {
        std::vector<Seconds> times(36);
        for (auto& time : times) time = random.exponential(1);
        const auto seconds = [&](Worker worker, int place) {
            return times[static_cast<std::size_t>(3 * worker + place)];
        };
        EXPECT_LE(partial.play(seconds), frc.play(seconds));
        EXPECT_EQ(partial.step().error, 0);
    }
}

TEST(Partial, DoesWithoutAnySOfItsWorkers)
{
    for (const auto* placement : {"cyclic", "frc"})
        for (int first = 0; first < 7; ++first)
            for (int second = first + 1; second < 7; ++second) {
                Rounds rounds("partial", 7, with(2, placement));
                const auto end = rounds.play([&](Worker worker, int) {
                    return worker == first || worker == second ? never : 1 + 0.1 * worker;
                });
                EXPECT_LT(end, 5) << placement << " " << first << " " << second;
                EXPECT_EQ(rounds.step().terms.size(), 7U);
                EXPECT_EQ(rounds.step().error, 0);
            }
}

TEST(Partial, ChunksMayBeSmallerThanPartitions)
{
    auto options = with(1, "cyclic");
    options["chunks"] = "4";
    Rounds rounds("partial", 3, options, 300);
    for (const auto& list : rounds.lists()) EXPECT_EQ(list.size(), 8U);
    // Worker 1 does the partition of worker 2 after its own, from the end. If worker 2 is ten times
    // as slow, all of it; if it is three times as slow, the last two chunks of four.
    for (const auto& [slower, end] : {std::pair(10, 8), std::pair(3, 6)}) {
        EXPECT_EQ(
            rounds.play([slow = slower](Worker worker, int) { return worker == 2 ? slow : 1; }),
            end);
        EXPECT_EQ(rounds.step().terms.size(), 12U);
    }
}

// ---- deadlines ----------------------------------------------------------------------------------

// 12 workers with 3 chunks each, of which they have done 0 to 3 with probability .1 to .4.
int chunks_done(Stream& random)
{
    const double u = random.uniform();
    return u < 0.1 ? 0 : u < 0.3 ? 1 : u < 0.6 ? 2 : 3;
}

TEST(Partial, MissingChunksAreTheErrorAtADeadline)
{
    for (const bool rescaled : {false, true}) {
        auto options = with(2, "cyclic");
        options["deadline"] = "3";
        options["rescale"] = rescaled ? "coverage" : "none";
        Rounds rounds("partial", 12, options);
        Stream random(3, Purpose::delay);
        double missing = 0;
        constexpr int count = 20000;
        for (int round = 0; round < count; ++round) {
            std::set<int> covered;
            bool stepped = false;
            const auto lists = rounds.lists();
            for (Worker worker = 0; worker < 12 && !stepped; ++worker) {
                const int done = chunks_done(random);
                for (int part = 0; part < done && !stepped; ++part) {
                    covered.insert(
                        lists[static_cast<std::size_t>(worker)][static_cast<std::size_t>(part)]);
                    stepped = rounds.answer(worker, part);
                }
            }
            ASSERT_TRUE(stepped || rounds.time_is_up());
            const auto lacking = 12 - static_cast<double>(covered.size());
            const double scale = rescaled ? 12 / static_cast<double>(covered.size()) : 1;
            ASSERT_NEAR(rounds.step().error,
                        static_cast<double>(covered.size()) * (scale - 1) * (scale - 1) + lacking,
                        1e-12);
            ASSERT_NEAR(rounds.step().divisor, 120 / scale, 1e-12);
            missing += lacking;
            rounds.next_round();
        }
        // The sum over chunks of the product over its holders of P(c <= place): 12 (.1 .3 .6).
        EXPECT_NEAR(missing / count, 0.216, 0.01);
    }
}

TEST(Partial, PrefixesAreDecodedByLeastSquares)
{
    auto options = with(2, "cyclic");
    options.insert({{"messages", "prefix"}, {"deadline", "3"}, {"rescale", "none"}});
    Rounds rounds("partial", 12, options);
    Stream random(4, Purpose::delay);
    double sum = 0;
    constexpr int count = 20000;
    for (int round = 0; round < count; ++round) {
        const auto lists = rounds.lists();
        std::vector<int> done(12);
        bool stepped = false;
        for (Worker worker = 0; worker < 12; ++worker) {
            ASSERT_FALSE(stepped);
            done[static_cast<std::size_t>(worker)] = chunks_done(random);
            stepped = rounds.answer(worker, 0, done[static_cast<std::size_t>(worker)]);
        }
        ASSERT_TRUE(stepped);
        // What the weights make of each chunk, by definition.
        std::vector<double> weight(12);
        for (const auto& term : rounds.step().terms) {
            const auto worker = static_cast<std::size_t>(term.contribution % 12);
            for (int place = 0; place < done[worker]; ++place)
                weight[static_cast<std::size_t>(lists[worker][static_cast<std::size_t>(place)])] +=
                    term.weight;
        }
        double error = 0;
        for (const double one : weight) error += (one - 1) * (one - 1);
        ASSERT_NEAR(rounds.step().error, error, 1e-9);
        sum += error;
        rounds.next_round();
    }
    EXPECT_NEAR(sum / count, 0.304, 0.012);
}

TEST(Partial, WholePrefixesAreExact)
{
    auto options = with(2, "frc");
    options.insert({{"messages", "prefix"}, {"deadline", "3"}});
    Rounds rounds("partial", 6, options);
    for (Worker worker = 0; worker < 6; ++worker)
        EXPECT_EQ(rounds.answer(worker, 0, worker % 3 == 1 ? 3 : worker % 2), worker == 5);
    EXPECT_NEAR(rounds.step().error, 0, 1e-24);
}

TEST(Partial, RoundsInWhichNobodyIsDoneWithAChunkGoOn)
{
    auto options = with(1, "cyclic");
    options.insert({{"messages", "prefix"}, {"deadline", "2"}});
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto scheme = make_scheme("partial", {5, 1000, 1}, options);
        LegalRun run(*scheme, seed);
        run.empty = 0.9;
        run.run(50);
        EXPECT_EQ(run.steps.size(), 50U);
    }
}

TEST(Partial, RefusesWhatItCannotDo)
{
    const auto refused = [](Options options) {
        return refusal([&] { make_scheme("partial", {6, 60, 1}, options); });
    };
    EXPECT_EQ(refused({{"messages", "prefix"}}),
              "--messages is prefix, which are sent when time is over: give a --deadline above 0 "
              "too");
    EXPECT_EQ(refused({{"messages", "prefix"}, {"deadline", "1"}, {"stragglers", "0"}}),
              "--messages is prefix, but each worker has one chunk: use --stragglers 1 or more, "
              "--chunks 2 or more, or --messages chunk");
    EXPECT_EQ(
        refused({{"rescale", "none"}}),
        "--rescale is none, but all chunks come if there is no deadline: add --deadline SECONDS, "
        "or leave it out");
    EXPECT_EQ(refused({{"deadline", "adaptive:3,5"}}),
              "--deadline is adaptive:3,5, but this scheme is exact as soon as its quorum is "
              "there, and waiting adds nothing: give seconds");
    EXPECT_NE(refused({{"chunks", "11"}}).find("10"), std::string::npos);
}

// ---- mean seconds of a round --------------------------------------------------------------------

// 30 workers, 3 copies, one second a chunk; seconds by worker and place of its list, in one round.
using ChunkTimes = std::vector<std::array<Seconds, 3>>;
struct PartialCase {
    std::string name;
    std::function<ChunkTimes(Stream&)> times;
    std::array<double, 5> expected;  // uncoded, any n - s, frc, chunks of groups, chunks cyclic
    int rounds = 300;                // of each seed
};

ChunkTimes drawn(const std::function<Seconds(Stream&)>& first,
                 const std::function<Seconds(Stream&)>& more, Stream& random)
{
    ChunkTimes times(30);
    for (auto& one : times) {
        one[0] = first(random);
        one[1] = more(random);
        one[2] = more(random);
    }
    return times;
}

std::vector<PartialCase> partial_cases()
{
    const auto each_worker = [](Stream& random, const auto& factor) {
        ChunkTimes times(30);
        for (auto& one : times) one.fill(factor(random));
        return times;
    };
    const auto exponential = [](Stream& random) { return random.exponential(1); };
    return {
        {"Exp(1) for each chunk",
         [=](Stream& random) { return drawn(exponential, exponential, random); },
         {4.03, 5.60, 3.17, 2.25, 2.27}},
        {"1 + Exp(1), drawn once a worker",
         [=](Stream& random) {
             return each_worker(random, [](Stream& r) { return 1 + r.exponential(1); });
         },
         {5.00, 10.51, 5.92, 3.77, 3.77}},
        {"1 + Exp(0.05), 4 times that with probability 0.2",
         [=](Stream& random) {
             return each_worker(random, [](Stream& r) {
                 return (1 + r.exponential(0.05)) * (r.uniform() < 0.2 ? 4 : 1);
             });
         },
         // The noise is fitted: without it uncoded takes 4 - 3 * 0.8^30 = 3.996 s, not the 4.47 s
         // that are known of it.
         {4.47, 12.18, 3.90, 2.93, 3.01},
         3000},
        {"2 dead, chunks of 1 + Exp(0.3)",
         [=](Stream& random) {
             const auto chunk = [](Stream& r) { return 1 + r.exponential(0.3); };
             auto times = drawn(chunk, chunk, random);
             const auto first = random.below(30), second = (first + 1 + random.below(29)) % 30;
             times[first].fill(never);
             times[second].fill(never);
             return times;
         },
         {never, 5.26, 4.03, 2.90, 2.89}},
        {"chunks of 0.2 after a delay of Exp(1)",
         [=](Stream& random) {
             return drawn([](Stream& r) { return 0.2 + r.exponential(1); },
                          [](Stream&) { return 0.2; }, random);
         },
         {4.20, 3.10, 1.57, 1.51, 1.64}},
    };
}

// Prints a table: means over ten seeds of 300 rounds or more, with 95 % intervals, and how much
// faster than uncoded and than whole workers chunks are, in the same rounds.
TEST(PartialTimes, ChunksBeatUncodedInEachOfTheseCases)
{
    constexpr int seeds = 10;
    const std::vector<std::pair<std::string, Options>> schemes = {{"uncoded", {}},
                                                                  {"cyclic", {{"stragglers", "2"}}},
                                                                  {"frc", {{"stragglers", "2"}}},
                                                                  {"partial", with(2, "frc")},
                                                                  {"partial", with(2, "cyclic")}};
    std::cout << fmt::format("{:50}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "seconds of a round",
                             "uncoded", "any n - s", "frc", "chunks, groups", "chunks, cyclic");
    for (const auto& one : partial_cases()) {
        const auto rounds = static_cast<std::uint32_t>(one.rounds);
        std::vector<std::vector<double>> means(schemes.size());
        for (std::uint32_t seed = 0; seed < seeds; ++seed) {
            std::vector<Rounds> all;
            for (const auto& [name, options] : schemes) all.emplace_back(name, 30, options);
            std::vector<double> sums(schemes.size());
            for (std::uint32_t round = 0; round < rounds; ++round) {
                Stream random(seed, Purpose::delay, round);
                const auto times = one.times(random);
                for (std::size_t i = 0; i < all.size(); ++i) {
                    if (std::isinf(one.expected[i])) continue;
                    sums[i] += all[i].play([&](Worker worker, int place) {
                        return times[static_cast<std::size_t>(worker)]
                                    [static_cast<std::size_t>(place)];
                    });
                }
            }
            for (std::size_t i = 0; i < all.size(); ++i)
                means[i].push_back(std::isinf(one.expected[i]) ? never : sums[i] / rounds);
        }
        std::string line = fmt::format("{:50}", one.name);
        for (std::size_t i = 0; i < means.size(); ++i) {
            const auto half = half_interval(means[i]);
            if (!half) {
                line += fmt::format("{:>16}", "never");
                continue;
            }
            const double mean = std::accumulate(means[i].begin(), means[i].end(), 0.0) / seeds;
            line += fmt::format("{:>16}", fmt::format("{:.3f} +- {:.3f}", mean, *half));
            EXPECT_NEAR(mean, one.expected[i], 0.015 * one.expected[i]) << one.name << " " << i;
        }
        std::cout << line << "\n";
        for (const std::size_t chunks : {3U, 4U}) {
            std::vector<double> gain;
            for (std::size_t seed = 0; seed < seeds; ++seed)
                gain.push_back(means[0][seed] - means[chunks][seed]);
            if (std::isinf(gain[0])) continue;
            const double mean = std::accumulate(gain.begin(), gain.end(), 0.0) / seeds;
            EXPECT_GT(mean, half_interval(gain).value()) << one.name;
        }
    }
}

// ---- values -------------------------------------------------------------------------------------

// The rows that the reference numbers of schemes are computed with.
class PartialValues : public ::testing::Test {
protected:
    PartialValues() : path_(folder_.file("d.h5")) { test::write_tiny(path_); }

    /// The model after so many rounds.
    std::vector<double> model(Options given) const
    {
        given.insert({{"data", path_},
                      {"model", "ridge"},
                      {"workers", "6"},
                      {"rounds", "12"},
                      {"step", "0.4"},
                      {"l2", "0"},
                      {"optimizer", "gd"},
                      {"row-time", "0.25"},
                      {"evaluate-every", "0"}});
        const auto trace = simulate(make_settings(simulation_options(), given));
        EXPECT_EQ(trace.status(), "completed");
        return trace.model;
    }

    Folder folder_;
    std::string path_;
};

double distance(const std::vector<double>& a, const std::vector<double>& b)
{
    double most = a.size() == b.size() ? 0 : never;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
        most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

TEST_F(PartialValues, WithoutCopiesOrWithEqualSpeedsAreThoseOfUncodedBitByBit)
{
    const auto uncoded = model({{"scheme", "uncoded"}});
    EXPECT_EQ(model({{"scheme", "partial"}, {"stragglers", "0"}, {"delay", "exponential:1"}}),
              uncoded);
    for (const auto* placement : {"cyclic", "frc"})
        EXPECT_EQ(model({{"scheme", "partial"}, {"stragglers", "2"}, {"placement", placement}}),
                  uncoded);
}

// Ten steps of gradient descent, computed outside of this program.
TEST_F(PartialValues, AreThoseOfGradientDescent)
{
    for (const auto* placement : {"cyclic", "frc"}) {
        const auto got = model({{"scheme", "partial"},
                                {"stragglers", "2"},
                                {"placement", placement},
                                {"delay", "pareto:1,1.5"},
                                {"step", "1"},
                                {"rounds", "10"}});
        EXPECT_LT(distance(got, {-0.0642940341015526, 0.00515407992706862, 0.231887337756096}),
                  1e-12);
    }
}

TEST_F(PartialValues, AreExactWhoeverIsSlow)
{
    const auto uncoded = model({{"scheme", "uncoded"}});
    const auto frc = model({{"scheme", "frc"}, {"stragglers", "2"}, {"delay", "pareto:1,1.5"}});
    for (const auto* placement : {"cyclic", "frc"})
        for (const auto* chunks : {"1", "2"}) {
            const auto slow = model({{"scheme", "partial"},
                                     {"stragglers", "2"},
                                     {"placement", placement},
                                     {"chunks", chunks},
                                     {"delay", "pareto:1,1.5"},
                                     {"slowdown", "exponential:1"}});
            EXPECT_LT(distance(slow, uncoded), 1e-12);
            EXPECT_LT(distance(slow, frc), 1e-12);
        }
}

TEST_F(PartialValues, OfPrefixesThatAreWholeAreExact)
{
    const auto whole = model({{"scheme", "partial"},
                              {"stragglers", "2"},
                              {"messages", "prefix"},
                              {"deadline", "3"}});  // twelve rows take so long
    EXPECT_LT(distance(whole, model({{"scheme", "uncoded"}})), 1e-12);
}

}  // namespace
}  // namespace quorate
