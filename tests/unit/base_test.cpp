// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "base/interval.hpp"
#include "base/log.hpp"
#include "base/output_file.hpp"
#include "base/path.hpp"
#include "base/random.hpp"
#include "base/settings.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "base/values.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;
using test::settings;

TEST(Text, AnIntegerIsTheWholeWordOrNothing)
{
    EXPECT_EQ(to_integer("42"), 42);
    EXPECT_EQ(to_integer("+42"), 42);
    EXPECT_EQ(to_integer("-3"), -3);
    for (const auto* wrong :
         {"", "+", "4x", " 4", "4 ", "4.0", "0x10", "1e3", "9223372036854775808"})
        EXPECT_FALSE(to_integer(wrong)) << wrong;
}

TEST(Text, ARealIsFiniteAndTheWholeWordOrNothing)
{
    EXPECT_EQ(to_real("1e-3"), 1e-3);
    EXPECT_EQ(to_real("+.5"), 0.5);
    EXPECT_EQ(to_real("-7"), -7.0);
    for (const auto* wrong : {"", "nan", "inf", "-inf", "1e999", "1,5", "1.5s", "one"})
        EXPECT_FALSE(to_real(wrong)) << wrong;
}

TEST(Text, ADurationIsANumberWithAUnitOrWhatSlurmAndPbsWrite)
{
    for (const auto& [text, seconds] : {std::pair{"300", 300.0},
                                        {"5min", 300.0},
                                        {"90m", 5400.0},
                                        {"1.5h", 5400.0},
                                        {"2d", 172800.0},
                                        {"1e-3", 1e-3},
                                        {"1:30", 90.0},
                                        {"2:00:00", 7200.0},
                                        {"02:03:04", 7384.0},
                                        {"1-0", 86400.0},
                                        {"1-00:00:00", 86400.0},
                                        {"2-06:30", 196200.0}})
        EXPECT_EQ(to_duration(text), seconds) << text;
    for (const auto* wrong : {"", ":", "1:", ":30", "1:2:3:4", "-1:00", "1--2", "1-", "-5", "1:2x",
                              "1: 2", "1:-2", "1:+2", "1.5:00", "soon", "h", "1:00h"})
        EXPECT_FALSE(to_duration(wrong)) << wrong;
}

TEST(Text, SecondsMayHaveAUnit)
{
    for (const auto& [text, seconds] : {std::pair{"0.05", 0.05},
                                        {"50ms", 0.05},
                                        {"10us", 1e-5},
                                        {"10 µs", 1e-5},
                                        {"3ns", 3e-9},
                                        {"2s", 2.0},
                                        {"1.5min", 90.0},
                                        {"1h", 3600.0},
                                        {"1d", 86400.0},
                                        {"1e-3s", 1e-3}})
        EXPECT_EQ(to_seconds(text), seconds) << text;
    // 1m may be a minute or a millisecond; 1-2 and 1:30 are times of schedulers.
    for (const auto* wrong : {"", "ms", "1m", "1-2", "1:30", "-5s", "nans", "1e308h", "5 ", "5sec"})
        EXPECT_FALSE(to_seconds(wrong)) << wrong;
    EXPECT_EQ(to_duration("50ms"), 0.05);
}

TEST(Text, FiguresAreSignificantDigitsAndNeverHideThoseOfWholeNumbers)
{
    EXPECT_EQ(figures(0.0012345, 3), "0.00123");
    EXPECT_EQ(figures(99.6, 2), "100");
    EXPECT_EQ(figures(12345.6, 4), "12346");
    EXPECT_EQ(figures(-3600, 3), "-3600");
    EXPECT_EQ(figures(1e300, 3), "1e+300");
}

TEST(Values, RangesAreOfWholeNumbersOrOfEqualRatios)
{
    using Texts = std::vector<std::string>;
    EXPECT_EQ(values_of_range("1..3", ""), (Texts{"1", "2", "3"}));
    EXPECT_EQ(values_of_range("1e-5..1e-1x5", ""),
              (Texts{"1e-5", "0.0001", "0.001", "0.01", "1e-1"}));
    EXPECT_EQ(values_of_range("16..256x5", ""), (Texts{"16", "32", "64", "128", "256"}));
    for (const auto* none : {"1", "a..b", "../x", "uncoded", "1..2..3"})
        EXPECT_FALSE(values_of_range(none, "")) << none;
    const std::string where = "x.ini:3: l2 is ";
    EXPECT_EQ(refusal([&] { values_of_range("1e-5..1e-1", where); }),
              "x.ini:3: l2 is 1e-5..1e-1, a range that does not say of how many values: write "
              "1e-5..1e-1x5 for five at equal ratios");
    for (const auto* wrong : {"0..1x5", "1..1e-3x4", "1..2x1"})
        EXPECT_NE(refusal([&] { values_of_range(wrong, where); }).find("at equal ratios"),
                  std::string::npos);
    EXPECT_NE(refusal([&] { values_of_range("5..1", where); }).find("the smaller number first"),
              std::string::npos);
}

TEST(Values, SeveralAreRecognisedInTheWrongSpelling)
{
    EXPECT_EQ(several_values("1-3"), "1..3");
    EXPECT_EQ(several_values("1,2"), "1, 2");
    EXPECT_EQ(several_values("0.1 0.3"), "0.1, 0.3");
    EXPECT_EQ(several_values("1..5"), "1..5");
    for (const auto* one : {"1", "-1", "1,000", "many", "a,b", "1e-5"})
        EXPECT_EQ(several_values(one), "") << one;
    const std::vector<std::string> known = {"uncoded", "agc", "pareto"};
    EXPECT_EQ(several_values("uncoded,agc", known), "uncoded, agc");
    EXPECT_EQ(several_values("pareto:1,2,pareto:2,2", known), "pareto:1,2, pareto:2,2");
    EXPECT_EQ(several_values("pareto:1,2", known), "");
    EXPECT_EQ(several_values("x,agc", known), "");
}

TEST(Options, ANameOfOtherProgramsOrInOtherLettersMeansAnOption)
{
    const std::vector<std::string> known = {"rounds", "step", "batch", "l2", "evaluate-every"};
    EXPECT_EQ(option_meant("lr", known), "step");
    EXPECT_EQ(option_meant("learning_rate", known), "step");
    EXPECT_EQ(option_meant("Batch-Size", known), "batch");
    EXPECT_EQ(option_meant("epochs", known), "rounds");
    EXPECT_EQ(option_meant("EVALUATE_EVERY", known), "evaluate-every");
    EXPECT_EQ(option_meant("ruonds", known), "rounds");
    EXPECT_EQ(option_meant("banana", known), "");
    EXPECT_EQ(option_meant("lr", {"rounds"}), "");  // it has no step
}

TEST(OutputFile, SaysWhyACallFailed)
{
    OutputFile file("/dev/full", "x.h5");
    const std::vector<char> more(1 << 16);  // than what is kept before it is written
    std::string what;
    try {
        file.write(more.data(), more.size());
    } catch (const Failure& failure) {
        what = failure.what();
    }
    EXPECT_EQ(what, "cannot write x.h5: No space left on device");
}

TEST(Log, OtherThreadsLogWhileItIsToldToWhom)
{
    std::atomic<bool> ended = false;
    std::atomic<int> told = 0;
    log_to([&](LogLevel, const std::string&) { ++told; });
    std::thread other([&] {
        while (!ended) log(LogLevel::note, "a message that is longer than a short string");
    });
    for (int i = 0; i < 10000 || told == 0; ++i) {
        log_as(fmt::format("[a name that is longer than a short string, {}]", i));
        log_to([&, name = std::to_string(i)](LogLevel, const std::string&) { ++told; });
    }
    ended = true;
    other.join();
    log_to({});
    log_as("");
    EXPECT_GT(told, 0);
}

TEST(Text, SplitKeepsEmptyPieces)
{
    EXPECT_EQ(split("a,b", ','), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(split(",a,", ','), (std::vector<std::string>{"", "a", ""}));
    EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
}

TEST(Text, TrimmedTakesBlanksFromBothEndsOnly)
{
    EXPECT_EQ(trimmed("  a b\t\r\n"), "a b");
    EXPECT_EQ(trimmed(" \t"), "");
}

TEST(Text, NearestFindsWhatWasMeantAndNothingFarAway)
{
    const std::vector<std::string> known = {"scheme", "optimizer", "step"};
    EXPECT_EQ(nearest("shceme", known), "scheme");
    EXPECT_EQ(nearest("optimiser", known), "optimizer");
    EXPECT_EQ(nearest("sch", known), "");
    EXPECT_EQ(nearest("banana", known), "");
    EXPECT_EQ(suggestion("stpe", known), "; did you mean step?");
    EXPECT_EQ(suggestion("banana", known), "; known: scheme, optimizer or step");
}

TEST(Text, ANumberIsBriefWithFourDigitsUnlessItIsShort)
{
    EXPECT_EQ(brief_number("1.106738228934375"), "1.107");
    EXPECT_EQ(brief_number("0.00012345678"), "0.0001235");
    EXPECT_EQ(brief_number("0.05678"), "0.05678");
    EXPECT_EQ(brief_number("1e-6"), "1e-6");
    EXPECT_EQ(brief_number("automatic"), "automatic");
}

TEST(Text, WrappedBreaksAtBlanks)
{
    EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
    EXPECT_EQ(wrapped("one two", 3, 0), "one\ntwo");
    EXPECT_EQ(wrapped("a-long-word b", 5, 1), "a-long-word\n b");
    EXPECT_EQ(wrapped("", 5, 1), "");
}

TEST(Settings, AValueOutOfRangeIsRefusedWithValueAndRemedy)
{
    const auto given = settings({{"n", "12"}, {"x", "0.5"}, {"word", "twelve"}, {"none", ""}});
    EXPECT_EQ(given.integer("n", 1, 12), 12);
    EXPECT_EQ(refusal([&] { given.integer("n", 13); }), "--n is 12: use at least 13");
    EXPECT_EQ(refusal([&] { given.integer("n", 0, 11); }), "--n is 12: use at most 11");
    EXPECT_EQ(refusal([&] { given.integer("x", 0); }), "--x is 0.5: give a whole number");
    EXPECT_EQ(refusal([&] { given.real("x", 1); }), "--x is 0.5: use at least 1");
    EXPECT_EQ(refusal([&] { given.real("x", 0, 0.25); }), "--x is 0.5: use at most 0.25");
    EXPECT_EQ(refusal([&] { given.real("word", 0); }), "--word is twelve: give a finite number");
    EXPECT_EQ(refusal([&] { given.integer("none", 0); }), "--none is empty: give a whole number");
    const auto timed = settings({{"t", "50ms"}, {"low", "-1"}, {"soon", "soon"}, {"n", "1-3"}});
    EXPECT_EQ(timed.seconds("t"), 0.05);
    EXPECT_EQ(refusal([&] { timed.seconds("t", 0.1); }), "--t is 50ms: use at least 0.1");
    EXPECT_EQ(refusal([&] { timed.seconds("low"); }), "--low is -1: use at least 0");
    EXPECT_EQ(refusal([&] { timed.seconds("soon"); }),
              "--soon is soon: give seconds, or a time such as 50ms, 10us, 2s or 5min");
    EXPECT_EQ(refusal([&] { timed.integer("n", 0); }),
              "--n is 1-3: give one; an experiment file takes several, as n = 1..3");
}

TEST(Settings, AWordThatIsNotKnownIsRefusedWithTheNearest)
{
    const auto given = settings({{"rescale", "nome"}});
    EXPECT_EQ(refusal([&] {
                  given.one_of("rescale", {"coverage", "none"});
              }),
              "--rescale is nome; did you mean none?");
}

TEST(Settings, ARefusalSaysWhereTheValueStands)
{
    Settings given;
    given.set("rounds", {"many", "jobs/x.ini:12: ", true});
    EXPECT_EQ(refusal([&] { given.integer("rounds", 1); }),
              "jobs/x.ini:12: --rounds is many: give a whole number");
}

TEST(Settings, AnOptionThatNobodyDeclaredIsABug)
{
    EXPECT_THROW(Settings().text("rounds"), std::logic_error);
    EXPECT_FALSE(Settings().given("rounds"));
}

TEST(Settings, TheConfigurationIsAnIniFileWithoutEmptyValues)
{
    EXPECT_EQ(settings({{"step", "10"}, {"quiet", ""}, {"rounds", "100"}}).ini(),
              "rounds = 100\nstep = 10\n");
}

TEST(Path, AFileInAFolderThatIsThereCanBeWrittenAndNothingIsLeft)
{
    const Folder folder;
    check_writable(folder.file("trace.h5"), "trace");
    EXPECT_EQ(folder.files(), 0u);
}

TEST(Path, WhatCannotBeWrittenIsRefused)
{
    const Folder folder;
    EXPECT_EQ(refusal([&] { check_writable(folder.file("no/trace.h5"), "trace"); }),
              "--trace is " + folder.file("no/trace.h5") +
                  ", which cannot be written: No such file or directory; give a file in a folder "
                  "that can be written");
    EXPECT_EQ(refusal([&] { check_writable(folder.file(""), "output"); }),
              "--output is " + folder.file("") +
                  ", which cannot be written: it is a folder; give a file");
    EXPECT_EQ(refusal([&] { check_writable("", "output"); }), "--output is empty: give a file");
}

TEST(Random, AStreamDependsOnItsKeyAlone)
{
    Stream one(7, Purpose::delay, 3, 4), again(7, Purpose::delay, 3, 4);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(one(), again());
}

TEST(Random, StreamsOfDifferentKeysShareNothing)
{
    std::set<std::uint64_t> firsts;
    const auto first = [](Stream stream) {
        const std::uint64_t high = stream();
        return high << 32 | stream();
    };
    for (const std::uint64_t seed : {0u, 1u})
        for (const auto purpose : {Purpose::delay, Purpose::samples})
            for (std::uint32_t a = 0; a < 10; ++a)
                for (std::uint32_t b = 0; b < 10; ++b)
                    firsts.insert(first(Stream(seed, purpose, a, b)));
    firsts.insert(first(Stream(std::uint64_t{1} << 32, Purpose::delay)));
    EXPECT_EQ(firsts.size(), 401u);
}

TEST(Random, UniformNormalAndExponentialHaveTheirMoments)
{
    constexpr int count = 200000;
    Stream stream(1, Purpose::samples);
    double uniform = 0, normal = 0, square = 0, exponential = 0;
    for (int i = 0; i < count; ++i) {
        const double u = stream.uniform(), z = stream.normal();
        ASSERT_TRUE(0 < u && u < 1);
        uniform += u / count;
        normal += z / count;
        square += z * z / count;
        exponential += stream.exponential(3) / count;
    }
    const double five_sigma = 5 / std::sqrt(count);
    EXPECT_NEAR(uniform, 0.5, five_sigma * std::sqrt(1. / 12));
    EXPECT_NEAR(normal, 0, five_sigma);
    EXPECT_NEAR(square, 1, five_sigma * std::sqrt(2));
    EXPECT_NEAR(exponential, 3, five_sigma * 3);
}

TEST(Interval, IsThatOfStudentsDistribution)
{
    // By hand: the standard error of 1, 2, 3 is 1 / sqrt(3), and t with 2 degrees of freedom
    // 4.3027.
    EXPECT_NEAR(half_interval({1, 2, 3}).value(), 4.302653 / std::sqrt(3), 1e-6);
    EXPECT_NEAR(half_interval({0, 1}).value(), 12.706205 * 0.5, 1e-6);
    EXPECT_EQ(half_interval({0.1, 0.1, 0.1}), 0);
    EXPECT_FALSE(half_interval({}));
    EXPECT_FALSE(half_interval({1}));
    EXPECT_FALSE(half_interval({1, INFINITY}));
}

// The mean is within its interval in 95 % of all cases, also with few values.
TEST(Interval, HoldsTheMeanAsOftenAsItSays)
{
    Stream stream(1, Purpose::samples);
    int inside = 0;
    constexpr int count = 4000;
    for (int i = 0; i < count; ++i) {
        std::vector<double> values;
        for (int j = 0; j < 3; ++j) values.push_back(stream.normal());
        inside += std::abs(values[0] + values[1] + values[2]) / 3 <= half_interval(values).value();
    }
    const double three_sigma = 3 * std::sqrt(0.95 * 0.05 / count);
    EXPECT_NEAR(inside / static_cast<double>(count), 0.95, three_sigma);
}

TEST(Harmless, WhatATerminalWouldObeyBecomesAQuestionMark)
{
    EXPECT_EQ(harmless("a\tb\nc"), "a\tb\nc");
    EXPECT_EQ(harmless("\033[2Jgone\r\a\x7f"), "?[2Jgone???");
    EXPECT_EQ(harmless("\xc2\x9b"
                       "2J \xc3\xa9"),
              "?2J \xc3\xa9");
}

}  // namespace
}  // namespace quorate
