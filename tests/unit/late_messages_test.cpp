// SPDX-License-Identifier: BSD-2-Clause
// Gradient coding whose coefficients are told late: workers say what they hold, and are asked for
// one combination of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/random.hpp"
#include "code/piece_code.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "compute/fold.hpp"
#include "legal_run.hpp"
#include "simulation.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace quorate {
namespace {

using namespace test;

// ---- the code -----------------------------------------------------------------------------------

double distance_to_unit(const Eigen::MatrixXd& matrix)
{
    return (matrix - Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols())).cwiseAbs().maxCoeff();
}

TEST(PieceCode, AnyHoldersInAWindowDecode)
{
    for (int n = 1; n <= 30; ++n)
        for (int d = 1; d <= std::min(n, 5); ++d)
            for (int l = 1; l <= std::min(d, 3); ++l) {
                PieceCode code(n, l);
                for (int first = 0; first < n; ++first)
                    for (unsigned chosen = 1; chosen < 1U << static_cast<unsigned>(d); ++chosen) {
                        std::vector<int> holders;
                        for (unsigned m = 0; m < static_cast<unsigned>(d); ++m)
                            if (chosen >> m & 1U)
                                holders.push_back((first + static_cast<int>(m)) % n);
                        if (std::ssize(holders) < l) continue;
                        std::ranges::sort(holders);
                        const auto& [a, decoded] = code.combination(holders);
                        ASSERT_LT(distance_to_unit(decoded), 1e-14) << n << " " << d << " " << l;
                        ASSERT_LT(a.cwiseAbs().maxCoeff(), 10);
                    }
            }
}

TEST(PieceCode, OfFourWorkersIsThatOfTheReference)
{
    // In golden order worker 2 is half a turn from worker 0, and worker 3 a quarter.
    PieceCode code(4, 2);
    EXPECT_LT(distance_to_unit(code.combination({0, 2}).coefficients), 1e-15);
    const auto& a = code.combination({0, 3}).coefficients;
    EXPECT_NEAR(a(0, 0), 1, 1e-15);
    EXPECT_NEAR(a(0, 1), -1, 1e-15);
    EXPECT_NEAR(a(1, 0), 0, 1e-15);
    EXPECT_NEAR(a(1, 1), std::sqrt(2), 1e-15);
}

TEST(PieceCode, HoldersThatAreTooFewDecodeAsManyPieces)
{
    PieceCode code(7, 3);
    EXPECT_NEAR(code.combination({4}).decoded.trace(), 1, 1e-14);
    EXPECT_NEAR(code.combination({2, 6}).decoded.trace(), 2, 1e-14);
}

// ---- the scheme by itself -----------------------------------------------------------------------

Options late(int stragglers, int parts, const std::string& placement = "cyclic")
{
    return {{"messages", "late"},
            {"stragglers", std::to_string(stragglers)},
            {"parts", std::to_string(parts)},
            {"placement", placement}};
}

// Rounds whose times are given. Who is asked for what it holds answers at once.
class LateRounds {
public:
    LateRounds(int n, const Options& options)
        : scheme_(make_scheme("partial", {.workers = n, .rows = 10 * n, .seed = 1, .parameters = 6},
                              options)),
          n_(n)
    {
        Start start;
        for (int i = 0; i < n; ++i) start.active.push_back(i);
        handle(start, 0);
    }

    /// Plays a round. @param seconds  that a worker takes for the chunk at this place of its list
    /// @param limit  when the time of the round is up
    /// @return when the step is made; infinite: never
    Seconds play(const std::function<Seconds(Worker, int)>& seconds, Seconds limit = never)
    {
        struct Head {
            Seconds at;
            Worker worker;
            int part;
        };
        std::vector<Head> heads;
        const auto lists = tasks_;
        for (const auto& [worker, task] : lists) {
            Seconds at = 0;
            for (int part = 0; part < std::ssize(task.plan->parts); ++part) {
                EXPECT_TRUE(task.plan->parts[static_cast<std::size_t>(part)].held);
                at += seconds(worker, part);
                heads.push_back({at, worker, part});
            }
        }
        heads.push_back({limit, -1, 0});
        std::ranges::stable_sort(heads, {},
                                 [](const Head& head) { return std::pair(head.at, head.worker); });
        step_.reset();
        held_.clear();
        for (const auto& [at, worker, part] : heads) {
            if (std::isinf(at)) break;
            if (worker < 0) {
                handle(Deadline{0}, began_ + at);
            } else {
                const auto& task = lists.at(worker);
                if (tasks_.at(worker).task != task.task) continue;
                held_[worker].insert(
                    task.plan->parts[static_cast<std::size_t>(part)].items[0].block);
                answer(worker, part, began_ + at);
            }
            send(began_ + at);
            if (!step_) continue;
            began_ += at;
            return at;
        }
        return never;
    }

    void next_round() { handle(Stepped{++version_}, began_); }

    /// What the step makes of each chunk's pieces, l x l by chunk, before it divides by the
    /// samples.
    std::map<int, Eigen::MatrixXd> decoded(int pieces) const
    {
        std::map<int, Eigen::MatrixXd> of_chunk;
        const auto add = [&](ContributionId id, int u, double weight) {
            const auto& part = sent_.at(id);
            for (std::size_t j = 0; j < part.items.size(); ++j) {
                auto& matrix =
                    of_chunk.try_emplace(part.items[j].block, Eigen::MatrixXd::Zero(pieces, pieces))
                        .first->second;
                for (int v = 0; v < pieces; ++v)
                    matrix(u, v) +=
                        weight *
                        (part.fold.empty()
                             ? part.items[j].coefficient
                             : part.fold[j * pieces_of(part) + static_cast<std::size_t>(v)]);
            }
        };
        for (const auto& term : step_->terms) add(term.contribution, 0, term.weight);
        const auto length = (6 + pieces - 1) / pieces;
        for (const auto& term : step_->placed)
            add(term.contribution, static_cast<int>(term.at / length), term.weight);
        return of_chunk;
    }

    const Step& step() const { return *step_; }

private:
    void handle(const Event& event, Seconds now)
    {
        std::vector<Action> out;
        scheme_->handle(event, now, out);
        for (const auto& action : out) {
            if (const auto* task = std::get_if<Dispatch>(&action)) {
                tasks_[task->worker] = *task;
                if (!task->plan->parts[0].held) asked_.push_back(*task);
            } else if (const auto* step = std::get_if<Step>(&action)) {
                step_ = *step;
            }
        }
    }
    void answer(Worker worker, int part, Seconds now)
    {
        handle(Arrived{{{{.worker = worker,
                          .part = part,
                          .task = tasks_.at(worker).task,
                          .draw = version_,
                          .samples = 10,
                          .oldest = version_,
                          .newest = version_},
                         next_++}}},
               now);
    }
    void send(Seconds now)
    {
        for (const auto& task : std::exchange(asked_, {})) {
            for (const auto& item : task.plan->parts[0].items) {
                EXPECT_EQ(item.operation, Item::Operation::held);
                EXPECT_TRUE(held_[task.worker].contains(item.block));
            }
            sent_[next_] = task.plan->parts[0];
            answer(task.worker, 0, now);
        }
    }

    std::unique_ptr<Scheme> scheme_;
    int n_;
    std::map<Worker, Dispatch> tasks_;  // the newest of each
    std::vector<Dispatch> asked_;
    std::map<Worker, std::set<int>> held_;
    std::map<ContributionId, Part> sent_;
    std::optional<Step> step_;
    Version version_ = 0;
    Seconds began_ = 0;
    ContributionId next_ = 0;
};

TEST(LateMessages, EndWithTheCopyThatIsNeededOfTheLastChunk)
{
    const std::vector<Seconds> speeds = {1, 1, 1.2, 4, 5, 20};
    for (const auto* placement : {"cyclic", "frc"})
        for (const auto& [parts, end] : {std::pair(1, 10), {2, 15}, {3, 60}}) {
            LateRounds rounds(6, late(2, parts, placement));
            EXPECT_DOUBLE_EQ(rounds.play([&](Worker worker, int) {
                return speeds[static_cast<std::size_t>(worker)];
            }),
                             end);
            EXPECT_NEAR(rounds.step().error, 0, 1e-24);
            EXPECT_EQ(rounds.decoded(parts).size(), 6U);
            for (const auto& [chunk, decoded] : rounds.decoded(parts))
                EXPECT_LT(distance_to_unit(decoded), 1e-12);
        }
}

TEST(LateMessages, WithEqualSpeedsEndAfterOneChunkWithTheFirstOfEachWorker)
{
    LateRounds rounds(6, late(2, 1));
    EXPECT_EQ(rounds.play([](Worker, int) { return 1; }), 1);
    EXPECT_EQ(rounds.step().terms.size(), 6U);
    EXPECT_EQ(rounds.step().error, 0);
}

TEST(LateMessages, StateTheErrorOfWhatHasComeAtADeadline)
{
    for (const bool rescaled : {false, true})
        for (const int parts : {1, 2, 3}) {
            auto options = late(2, parts);
            options.insert({{"deadline", "3"}, {"rescale", rescaled ? "coverage" : "none"}});
            LateRounds rounds(12, options);
            Stream random(5, Purpose::delay);
            for (int round = 0; round < 300; ++round) {
                std::vector<Seconds> times(36);
                for (auto& time : times) time = random.exponential(2.5);
                const auto end = rounds.play(
                    [&](Worker worker, int place) {
                        return times[static_cast<std::size_t>(3 * worker + place)];
                    },
                    3);
                ASSERT_LE(end, 3);
                double error = 0, covered = 0;
                auto decoded = rounds.decoded(parts);
                const auto unit = Eigen::MatrixXd::Identity(parts, parts);
                const double scale = 120 / rounds.step().divisor;
                for (int chunk = 0; chunk < 12; ++chunk) {
                    const auto at = decoded.find(chunk);
                    error +=
                        at == decoded.end() ? parts : (scale * at->second - unit).squaredNorm();
                    covered += at == decoded.end() ? 0 : at->second.trace();
                }
                ASSERT_NEAR(rounds.step().error, error, 1e-9);
                const double missing = 12 * parts - covered;
                ASSERT_NEAR(scale, rescaled ? 12 * parts / covered : 1, 1e-12);
                ASSERT_NEAR(error, missing * scale, 1e-9);
                rounds.next_round();
            }
        }
}

TEST(LateMessages, KeepTheirPromisesInAnyOrder)
{
    const auto gradient = [](int block, const SchemeCheck::Vector& w) {
        SchemeCheck::Vector g;
        for (std::size_t i = 0; i < w.size(); ++i)
            g.push_back((1 + 0.1 * block) * w[i] + std::cos(block + static_cast<double>(i)));
        return g;
    };
    for (const auto* placement : {"cyclic", "frc"})
        for (const int parts : {1, 2, 3})
            for (const auto* deadline : {"", "1", "100"})
                for (unsigned seed = 0; seed < 10; ++seed) {
                    auto options = late(2, parts, placement);
                    if (*deadline) options["deadline"] = deadline;
                    options["chunks"] = seed % 2 ? "2" : "1";
                    const auto scheme = make_scheme(
                        "partial", {.workers = 6, .rows = 600, .seed = 1, .parameters = 7},
                        options);
                    LegalRun run(*scheme, seed);
                    run.width = 7;
                    run.step_size = 0.1;
                    run.gradient = gradient;
                    run.run(40);
                    ASSERT_EQ(run.steps.size(), 40U);
                    if (*deadline) continue;
                    for (std::size_t i = 0; i < 40; ++i) {
                        std::vector<double> sum(7);
                        const int chunks = seed % 2 ? 12 : 6;
                        for (int block = 0; block < chunks; ++block) {
                            const auto g = gradient(block, run.points.at(static_cast<Version>(i)));
                            for (std::size_t e = 0; e < 7; ++e) sum[e] += g[e];
                        }
                        for (std::size_t e = 0; e < 7; ++e)
                            ASSERT_NEAR(run.estimates[i][e] * run.steps[i].divisor, sum[e], 1e-11);
                    }
                }
}

TEST(LateMessages, RefuseWhatTheyCannotDo)
{
    const auto refused = [](Options options, bool dense = true) {
        return refusal(
            [&] { make_scheme("partial", {.workers = 6, .rows = 60, .dense = dense}, options); });
    };
    EXPECT_EQ(refused(late(1, 3)), "--parts is 3: use at most 2");
    EXPECT_EQ(refused({{"parts", "2"}}),
              "--parts is 2, which only --messages late has: give that too, or leave it out");
    EXPECT_EQ(
        refused(late(1, 2), false),
        "--parts is 2, but the data are sparse, and a sum of pieces of gradients has an "
        "element wherever one of them has: its message is no shorter; use --parts 1, or import "
        "the data with --storage dense");
}

// ---- values -------------------------------------------------------------------------------------

class LateValues : public ::testing::Test {
protected:
    LateValues() : path_(folder_.file("d.h5")) { test::write_tiny(path_); }

    /// The trace of ten steps of gradient descent. Options given replace these.
    trace::Trace descent(Options given) const
    {
        given.insert({{"data", path_},
                      {"model", "ridge"},
                      {"workers", "6"},
                      {"rounds", "10"},
                      {"step", "1"},
                      {"l2", "0"},
                      {"optimizer", "gd"},
                      {"evaluate-every", "0"}});
        auto trace = simulate(make_settings(simulation_options(), given));
        EXPECT_EQ(trace.status(), "completed");
        return trace;
    }
    /// The same with late messages.
    trace::Trace run(Options given) const
    {
        given.insert({{"scheme", "partial"}, {"messages", "late"}, {"row-time", "0.25"}});
        return descent(given);
    }

    // Ten steps of gradient descent, computed outside of this program.
    void expect_descent(const trace::Trace& trace) const
    {
        const std::vector<double> expected = {-0.0642940341015526, 0.00515407992706862,
                                              0.231887337756096};
        ASSERT_EQ(trace.model.size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(trace.model[i], expected[i], 1e-12);
        for (const auto& round : trace.rounds) EXPECT_LT(round.decode_error, 1e-20);
    }

    Folder folder_;
    std::string path_;
};

TEST_F(LateValues, WithoutCopiesOrWithEqualSpeedsAreThoseOfUncodedBitByBit)
{
    const auto uncoded = descent({});
    EXPECT_EQ(run({{"stragglers", "0"}, {"delay", "exponential:1"}}).model, uncoded.model);
    for (const auto* placement : {"cyclic", "frc"}) {
        const auto equal = run({{"stragglers", "2"}, {"placement", placement}});
        EXPECT_EQ(equal.model, uncoded.model);
        for (const auto& round : equal.rounds) EXPECT_EQ(round.decode_error, 0);
    }
}

TEST_F(LateValues, AreThoseOfGradientDescentWhoeverIsSlow)
{
    for (const auto* placement : {"cyclic", "frc"})
        for (const auto* parts : {"1", "2", "3"})
            for (const auto* chunks : {"1", "2"})
                expect_descent(run({{"stragglers", "2"},
                                    {"placement", placement},
                                    {"parts", parts},
                                    {"chunks", chunks},
                                    {"delay", "pareto:1,1.5"},
                                    {"slowdown", "exponential:1"}}));
}

TEST_F(LateValues, OfThoseWhoAreLeftAreExact)
{
    // A chunk takes 1 s, a message 0.1 s. Worker 1 is asked for what it holds at 2.2 s, as nobody
    // else has done chunk 2; with two parts all are asked later than 3.3 s. It dies before its
    // first chunk, or later in the first or second round.
    std::set<std::string> asked_again;
    for (const auto* parts : {"1", "2"})
        for (const std::string when : {"0.5", "1.15", "1.6", "2.25", "3.3"}) {
            const auto trace = run({{"stragglers", "2"},
                                    {"parts", parts},
                                    {"slowdown", "fixed:4,2"},
                                    {"latency", "0.1"},
                                    {"timeout", "1"},
                                    {"events", fmt::format("{} kill 1", when)}});
            expect_descent(trace);
            // Who held enough had sent a sum already, and sends another one.
            std::map<std::int64_t, std::set<std::int64_t>> tasks;  // by worker, of the first round
            for (const auto& arrival : trace.arrivals)
                if (arrival.round == 1) tasks[arrival.worker].insert(arrival.task);
            for (const auto& [worker, of_worker] : tasks)
                if (of_worker.size() > 2) asked_again.insert(parts + (" " + when));
            for (const auto& change : trace.membership)
                EXPECT_NE(change.kind, static_cast<std::int64_t>(trace::Change::reencoded)) << when;
        }
    EXPECT_EQ(asked_again, (std::set<std::string>{"1 2.25", "2 1.15", "2 1.6", "2 2.25", "2 3.3"}));
}

TEST_F(LateValues, TellTheLossOfWhatHasCome)
{
    // All losses are those of the first model, which is zero: of each sample its label squared,
    // over 24 rows in equal chunks.
    const auto trace = run({{"stragglers", "2"}, {"parts", "2"}, {"deadline", "2.5"}});
    EXPECT_NEAR(trace.rounds[0].loss_estimate, run({}).rounds[0].loss_estimate, 1e-12);
    EXPECT_GT(trace.rounds[0].loss_estimate, 0);
}

TEST_F(LateValues, TravelInShortMessages)
{
    const auto bytes = [&](const std::string& parts) {
        const auto trace = run({{"stragglers", "2"}, {"parts", parts}});
        std::set<std::int64_t> heads, sums;
        for (const auto& arrival : trace.arrivals)
            (arrival.used ? sums : heads).insert(arrival.bytes);
        EXPECT_EQ(heads.size(), 1U);
        EXPECT_EQ(sums.size(), 1U);
        return *sums.begin() - *heads.begin();
    };
    EXPECT_EQ(bytes("1"), 3 * 8);
    EXPECT_EQ(bytes("2"), 2 * 8);
    EXPECT_EQ(bytes("3"), 8);
}

}  // namespace
}  // namespace quorate
