// SPDX-License-Identifier: BSD-2-Clause
// Components as structs of options: their words, and that runs of both are the same.
#include <gtest/gtest.h>

#include "quorate/quorate.hpp"
#include "same_trace.hpp"
#include "support.hpp"

namespace quorate {
namespace {

const Problem problem{12, 1200};
const DataShape shape{.columns = 9};
const std::vector<double> initial = {1, 2};
const Regularizer regularizer;
const DelaySetup setup{.machines = 12};

// What is read of the words of a struct has the same words: they lose nothing.
// @param made_for  what the component is made for  @return the words
template <class T, class... Setup>
Options words_read_again(const T& given, const Setup&... made_for)
{
    auto entry = T::entry();
    Options again;
    entry.make = [&](const T& read, const auto&...) {
        again = entry.words(read);
        return typename decltype(entry.make)::result_type();
    };
    entry.made(given, made_for...);
    EXPECT_EQ(again, entry.words(given));
    return again;
}

template <class T>
void expect_words(const Problem& made_for, const T& given, Options expected)
{
    expected.emplace("scheme", T::entry().name);
    EXPECT_EQ(words_read_again(given, made_for), expected);
}

// All structs of a kind: their defaults, and whether these are all components of the kind, but for
// other names of one.
template <class... T>
struct Structs {
    template <class Make, class... Setup>
    static void expect_all(const std::vector<Entry<Make>>& entries, const Setup&... made_for)
    {
        const std::vector<std::string> known = {T::entry().name...};
        for (const auto& name : names(entries))
            EXPECT_TRUE(std::ranges::find(known, name) != known.end() || name == "fmb" ||
                        name == "k-sync" || name == "rennala")
                << name;
        (words_read_again(T{}, made_for...), ...);
    }
};

TEST(TypedOptions, OfAllComponentsAreTheirWords)
{
    Structs<UncodedOptions, IgnoreOptions, FrcOptions, CyclicOptions, ShortCyclicOptions,
            ReedSolomonOptions, PartialOptions, PartialFrcOptions, PartialCyclicOptions, AgcOptions,
            BernoulliOptions, BlockOptions, RegularOptions, MargulisOptions, BibdOptions,
            GraphOptions, StochasticOptions, IsGcOptions, BccOptions, ClonesOptions, SvrgOptions,
            NestedOptions, DracoRepetitionOptions, DracoCyclicOptions, RobustOptions, AmbOptions,
            ElasticOptions, AnytimeSgdOptions, LocalAverageOptions, AmbDgOptions, KBatchSyncOptions,
            KAsyncOptions, KBatchAsyncOptions, AsyncOptions, RingmasterOptions, AsyncLocalOptions,
            LocalSgdOptions, MaleniaOptions, MindFlayerOptions, AtaOptions, RingleaderOptions,
            Ia2sgdOptions, PgcFrcOptions, PgcCyclicOptions, DsagOptions, SrSgcOptions,
            MSgcOptions>::expect_all(schemes(), problem);
    Structs<LogisticOptions, RidgeOptions, HingeOptions, SquaredHingeOptions, SoftmaxOptions,
            MlpOptions, CnnOptions>::expect_all(models(), shape);
    Structs<GradientDescentOptions, NesterovAgdOptions, ErasureHeadAgdOptions,
            NesterovStronglyConvexOptions, LbfgsOptions, MomentumOptions, RmsPropOptions,
            AdamOptions, AdamWOptions, AmsgradOptions,
            DualAveragingOptions>::expect_all(optimizers(), initial, regularizer);
    Structs<ConstantSchedule, InverseSchedule, InverseSqrtSchedule, GeometricSchedule, StepSchedule,
            ListSchedule, LinearSchedule>::expect_all(schedules(), 1.0, Span{});
    Structs<NoDelay, ConstantDelay, ExponentialDelay, ShiftedExponentialDelay, ParetoDelay,
            LognormalDelay, MixtureDelay, NiagaraDelay, CedarDelay, GammaDelay, GilbertElliottDelay,
            UnevenDelay, FixedDelay, HalfNormalDelay, ErasureHeadDelay,
            TraceDelay>::expect_all(delays(), setup);
    Structs<NoCompressor, TopKCompressor, RandKCompressor, SignCompressor,
            QsgdCompressor>::expect_all(compressors(), CompressorSetup{});
}

TEST(TypedOptions, OfSchemesAreTheWordsOfTheCommandLine)
{
    expect_words(problem, AgcOptions{}, {});
    expect_words(problem,
                 AgcOptions{.stragglers = 2, .deadline = {1.0 / 3}, .rescale = Rescale::none},
                 {{"stragglers", "2"}, {"deadline", "0.3333333333333333"}, {"rescale", "none"}});
    expect_words(problem,
                 IgnoreOptions{.weights = IgnoreOptions::Weights::ratio,
                               .reshuffle = true,
                               .adaptive = IgnoreOptions::Growth{1, 2, 3},
                               .shares = {1, 0.5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.25},
                               .deadline = {.adaptive = AdaptiveDeadline::Rule{4, 1.5, 30}}},
                 {{"weights", "ratio"},
                  {"reshuffle", "on"},
                  {"adaptive", "1,2,3"},
                  {"shares", "0.5,1/0.25,11"},
                  {"deadline", "adaptive:4,1.5,30"}});
    expect_words(problem,
                 AmbOptions{.compute_time = matched_time, .micro_batch = 5, .samples_cap = 100},
                 {{"compute-time", "match"}, {"micro-batch", "5"}, {"samples-cap", "100"}});
    expect_words(problem, MindFlayerOptions{.restart_after = limit_by_times, .trials = 2},
                 {{"restart-after", "auto"}, {"trials", "2"}});
    expect_words(problem, DsagOptions{.margin = 0, .order = DsagOptions::Order::random},
                 {{"margin", "0"}, {"order", "random"}});
    expect_words(problem,
                 ElasticOptions{.generator = Generator::fourier, .allocation = Strategy::flow},
                 {{"generator", "fourier"}, {"allocation", "flow"}});
    expect_words(problem, SrSgcOptions{.burst = 0, .mu = 1e-3, .wait_out = {WaitFor::all}},
                 {{"burst", "0"}, {"mu", "0.001"}, {"wait-out", "all"}});
    expect_words(problem, MSgcOptions{.wait_out = {WaitFor::quorum, 3, 0.02}},
                 {{"wait-out", "quorum:3,0.02"}});
}

TEST(TypedOptions, OfModelsAndOptimizersAreTheWordsOfTheCommandLine)
{
    EXPECT_EQ(words_read_again(MomentumOptions{.momentum = 0.5}, initial, regularizer),
              (Options{{"optimizer", "momentum"}, {"momentum", "0.5"}}));
    EXPECT_EQ(
        words_read_again(
            MlpOptions{
                .hidden = {32, 16}, .activation = MlpOptions::Activation::tanh, .threshold = -1},
            shape),
        (Options{
            {"model", "mlp"}, {"hidden", "32,16"}, {"activation", "tanh"}, {"threshold", "-1"}}));
    using Kind = CnnOptions::Layer::Kind;
    const CnnOptions net{.layers = {{Kind::conv, 4, 3}, {Kind::pool, 0, 2}, {Kind::dense, 7}}};
    EXPECT_EQ(words_read_again(net, shape),
              (Options{{"model", "cnn"}, {"layers", "conv:4x3,pool:2,dense:7"}}));
}

TEST(TypedOptions, OfDelaysAndSchedulesAreTheArgumentsOfTheCommandLine)
{
    const auto delay = [](const auto& given) { return words_read_again(given, setup).at("delay"); };
    EXPECT_EQ(delay(NoDelay{}), "none");
    EXPECT_EQ(delay(ParetoDelay{.scale = 1e-5, .shape = 1.0 / 3}),
              "pareto:1e-05,0.3333333333333333");
    EXPECT_EQ(delay(MixtureDelay{{{1, 0.5, 0.25}, {2, 0, 0.75}}}), "mixture:1/0.5/0.25,2/0/0.75");
    EXPECT_EQ(delay(FixedDelay{.value = 2, .workers = {3, 0}}), "fixed:2,3,0");
    EXPECT_EQ(delay(UnevenDelay{.draws = 9}), "uneven:0,0,0,1,1,9");
    EXPECT_EQ(delay(UnevenDelay{.slow = UnevenDelay::Slow{3, {5, 1}}}), "uneven:0,0,0,1,1,1,3,5,1");
    const auto schedule = [](const auto& given) {
        return words_read_again(given, 1.0, Span{}).at("schedule");
    };
    EXPECT_EQ(schedule(StepSchedule{.every = {.count = 2, .epochs = true}, .factor = 0.1}),
              "step:2e,0.1");
    EXPECT_EQ(schedule(ListSchedule{{{{3}, 0.5}, {{5, true}, 0.1}}}), "list:3=0.5,5e=0.1");
}

TEST(TypedOptions, AreRefusedAsTheWordsAre)
{
    const auto refused = [](const auto& given, const auto&... made_for) {
        return test::refusal([&] { given.entry().made(given, made_for...); });
    };
    EXPECT_EQ(refused(MomentumOptions{.momentum = 2}, initial, regularizer),
              "--momentum is 2: use at most 1");
    EXPECT_EQ(refused(LogisticOptions{}, DataShape{.task = LearningTask::regression}),
              "--model is logistic, but the labels of the data set are numbers, not classes: use "
              "ridge, or mlp with --loss squared");
    EXPECT_EQ(refused(ExponentialDelay{.mean = -1}, setup),
              "--delay is exponential:-1, but MEAN is -1, not a time of at least 0, such as 0.05 "
              "or 50ms: write exponential:MEAN");
    EXPECT_EQ(refused(FixedDelay{.workers = {12}}, setup),
              "--delay is fixed:1,12, but WORKER is 12, not a worker from 0 to 11: write "
              "fixed:VALUE,WORKER,...");
    EXPECT_EQ(refused(InverseSchedule{.t0 = {0}}, 1.0, Span{}),
              "--schedule is inverse:0: write inverse:T0, step T0 / (t + T0) after t batches");
}

TEST(TypedOptions, MakeTheRunOfTheirWords)
{
    std::vector<double> x, y;
    Stream random(1, Purpose::samples);
    for (int i = 0; i < 120; ++i) {
        y.push_back(i % 2);
        for (int j = 0; j < 3; ++j) x.push_back(random.normal() + i % 2);
    }
    const Data data({DenseMatrix{x, 3}, y});
    const Options run = {
        {"workers", "4"}, {"rounds", "9"}, {"batch", "40"}, {"step", "0.1"}, {"row-time", "0.01"}};
    const auto plain = simulate(data, run);
    const std::vector<std::pair<Options, Components>> both = {
        {{{"scheme", "ignore"}, {"stragglers", "2"}}, {.scheme = IgnoreOptions{.stragglers = 2}}},
        {{{"optimizer", "momentum"}, {"momentum", "0.5"}},
         {.optimizer = MomentumOptions{.momentum = 0.5}}},
        {{{"schedule", "step:1e,0.5"}},
         {.schedule = StepSchedule{.every = {.count = 1, .epochs = true}, .factor = 0.5}}},
        {{{"model", "mlp"}, {"hidden", "5"}}, {.model = MlpOptions{.hidden = {5}}}},
        {{{"delay", "exponential:0.5"}}, {.delay = ExponentialDelay{.mean = 0.5}}},
        {{{"slowdown", "fixed:2,1"}}, {.slowdown = FixedDelay{.value = 2, .workers = {1}}}}};
    for (auto [words, structs] : both) {
        const auto name = words.begin()->first;
        words.insert(run.begin(), run.end());
        const auto one = simulate(data, words), other = simulate(data, run, structs);
        test::expect_same_rows(one.rounds, other.rounds);
        test::expect_same_rows(one.arrivals, other.arrivals);
        EXPECT_TRUE(test::same_bits(one.model, other.model)) << name;
        EXPECT_FALSE(test::same_bits(one.model, plain.model) &&
                     one.rounds.back().time == plain.rounds.back().time)
            << name;
    }
}

}  // namespace
}  // namespace quorate
