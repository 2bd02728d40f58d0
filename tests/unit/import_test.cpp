// SPDX-License-Identifier: BSD-2-Clause
// From text to rows: LIBSVM, CSV, encodings, labels, compressed files, the split.
//
// GCC 12 sees an overlap in Boost's compressor where none is.
#pragma GCC diagnostic ignored "-Wrestrict"
#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>

#include "base/sha256.hpp"
#include "import/row_order.hpp"
#include "reading.hpp"
#include "tables/csv.hpp"
#include "tables/foreign.hpp"
#include "tables/missing.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;
using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;
using Words = std::vector<std::string>;

// --- the split -----------------------------------------------------------------------------------

TEST(Split, ThePermutationIsNumpys)
{
    const auto starts = [](std::int64_t rows) {
        const auto order = numpy_permutation(rows, 0);
        return Integers(order.begin(), order.begin() + 5);
    };
    EXPECT_EQ(starts(32769), (Integers{18654, 19639, 24971, 18359, 11252}));
    EXPECT_EQ(starts(21613), (Integers{17384, 722, 2680, 18754, 14554}));
    EXPECT_EQ(starts(495141), (Integers{226358, 171672, 48834, 202494, 138366}));
}

TEST(Split, TrainingRowsAreWhatFollowsTheTestRows)
{
    const auto starts = [](std::int64_t rows) {
        const auto [train, test] = split_rows(rows, 0.2, 0);
        EXPECT_EQ(static_cast<std::int64_t>(train.size() + test.size()), rows);
        return Integers(train.begin(), train.begin() + 3);
    };
    EXPECT_EQ(starts(32769), (Integers{1715, 10409, 22316}));
    EXPECT_EQ(starts(21613), (Integers{5268, 16909, 16123}));
    EXPECT_EQ(starts(495141), (Integers{23520, 250683, 400809}));
    EXPECT_EQ(split_rows(32769, 0.2, 0).second.size(), 6554u);
}

TEST(Split, EveryRowIsTakenOnce)
{
    for (const std::int64_t rows : {1, 2, 3, 17, 256}) {
        auto order = numpy_permutation(rows, 5);
        std::sort(order.begin(), order.end());
        Integers all(static_cast<std::size_t>(rows));
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(order, all);
    }
}

// --- CSV records ---------------------------------------------------------------------------------

TEST(Csv, ReadsQuotedFieldsWithCommasQuotesAndLineEnds)
{
    CsvRecords records({"a,\"b,c\",d\n1,\"x \"\"y\"\"\",\n\n2,\"two\nlines\",3"}, "x");
    EXPECT_EQ(records.header(), (std::vector<std::string>{"a", "b,c", "d"}));
    std::vector<std::string> fields;
    ASSERT_TRUE(records.next(fields));
    EXPECT_EQ(fields, (std::vector<std::string>{"1", "x \"y\"", ""}));
    ASSERT_TRUE(records.next(fields));
    EXPECT_EQ(fields, (std::vector<std::string>{"2", "two\nlines", "3"}));
    EXPECT_FALSE(records.next(fields));
}

TEST(Csv, RecordsKnowTheLineAndColumnOfEachField)
{
    CsvRecords records({"a,b,c\n\n1,\"two\nlines\",\n4,55,6\n"}, "x");
    std::vector<std::string> fields;
    EXPECT_EQ(refusal([&] { records.refuse(1, "no"); }), "x:1:3: no");
    ASSERT_TRUE(records.next(fields));
    EXPECT_EQ(records.line(), 3);
    EXPECT_EQ(refusal([&] { records.refuse(1, "no"); }), "x:3:3: no");
    EXPECT_EQ(refusal([&] { records.refuse(2, "no"); }), "x:4:8: no");
    ASSERT_TRUE(records.next(fields));
    EXPECT_EQ(records.line(), 5);
    EXPECT_EQ(refusal([&] { records.refuse(2, "no"); }), "x:5:6: no");
    EXPECT_FALSE(records.next(fields));
}

TEST(Csv, TheSeparatorIsWhatTheFirstLinesHaveAlikeAndMostOf)
{
    EXPECT_EQ(guessed_separator({"a,b;c,d"}), ',');
    EXPECT_EQ(guessed_separator({"a;\"b,c,d\";e"}), ';');
    EXPECT_EQ(guessed_separator({"a\tb"}), '\t');
    EXPECT_EQ(guessed_separator({"a"}), ',');
    EXPECT_EQ(guessed_separator({"a, b, c;d", "1,5;2"}), ';');
    EXPECT_EQ(guessed_separator({"0,5;1", "1,5;0"}, ','), ';');
    EXPECT_EQ(guessed_separator({"a b", " 1   2"}), ' ');
    EXPECT_EQ(guessed_separator({"sepal length", "1", "2"}), ',');
    const test::Given label = {{"label", "y"}};
    const auto wanted = test::read_bytes("csv", "y,a,b\n1,0.5,2\n0,3,4\n", label);
    for (const std::string text : {"y;a;b\n1;0.5;2\n0;3;4\n", "y\ta\tb\n1\t0.5\t2\n0\t3\t4\n"}) {
        EXPECT_EQ(test::read_bytes("csv", text, label).value, wanted.value) << text;
        EXPECT_TRUE(test::entry(formats(), "csv").make.begins(text)) << text;
    }
    auto given = label;
    given["decimal"] = "comma";
    EXPECT_EQ(test::read_bytes("csv", "y;a;b\n1;0,5;2\n0;3;4\n", given).value, wanted.value);
    EXPECT_EQ(test::refusal_of("csv", "y,a\n1,2\n", given),
              "--decimal is comma, but commas separate the fields of x: name the --separator, or "
              "leave it out");
    EXPECT_EQ(test::refusal_of("csv", "y;a\n1;0,5\n", label),
              "x:2:3: column a: expected a finite number, got '0,5'; give --decimal comma, "
              "whichever says how it is written");
    given = {{"label", "y"}, {"separator", "semicolon"}};
    EXPECT_EQ(test::refusal_of("csv", "y;a\n1;\"0\" 5\n", given),
              "x:2:6: expected ';' after the closing quote");
}

TEST(Csv, LibsvmTextIsNotTakenForIt)
{
    const auto begins = test::entry(formats(), "csv").make.begins;
    for (const auto* text :
         {"1\t1:0.5\t3:2\n", "-1 4:1 # a, b; c\n", "1\n", "# made by a tool, version 2\n1 1:2\n",
          "60 3 2\n1 1:2\n", "1,3 1:2\n", "1\tqid:3\t1:2\r"})
        EXPECT_FALSE(begins(text)) << text;
    for (const auto* text :
         {"time,place: here\n", "2020-01-01 12:30:00,5\n", "# a, b\na b\n1 2\n", "sep=x\n"})
        EXPECT_TRUE(begins(text)) << text;
}

TEST(Foreign, KindsThatAreNotReadAreNamedWithARemedy)
{
    const auto said = [](const std::string& bytes) {
        return refusal([&] { refuse_foreign("x", bytes); });
    };
    const std::string zeros(4, '\0');
    EXPECT_NE(said("% by Weka\n\n@RELATION t\n")
                  .find("x is ARFF, as Weka writes it, which is not read here: "),
              std::string::npos);
    EXPECT_NE(said("%%MatrixMarket matrix\n").find("a Matrix Market file"), std::string::npos);
    EXPECT_NE(said("PAR1" + zeros).find("is Parquet"), std::string::npos);
    EXPECT_NE(
        said("\x28\xb5\x2f\xfd..").find("compressed by zstd, which is not read here: unpack it"),
        std::string::npos);
    EXPECT_NE(said("abc" + zeros).find("neither text nor of a kind"), std::string::npos);
    for (const auto* text : {"par1,par2\n", "matlab ,b\n", "[a],b\n", "rar!,b\n", "x\n", "%,b\n"})
        EXPECT_EQ(said(text), "(nothing was refused)") << text;
}

// --- encoding ------------------------------------------------------------------------------------

/// CSV text, encoded.
struct Encoded {
    Folder folder;
    RawTable table{folder.file("x")};
    std::optional<RowEncoder> encoder;

    explicit Encoded(const std::string& format, const std::string& text, const test::Given& given)
    {
        const auto settings = test::import_settings(format, given);
        test::entry(formats(), format).make.read(settings, folder.write("x", text), {}, table);
        Integers all;
        for (std::int64_t i = 0; i < table.rows(); ++i)
            if (!std::ranges::binary_search(table.left_out(), i)) all.push_back(i);
        encoder.emplace(table, settings, all, all);
    }
    std::vector<std::pair<std::int64_t, double>> sparse(std::int64_t row)
    {
        return encoder->sparse(table.row(row));
    }
    Reals dense(std::int64_t row) { return encoder->dense(table.row(row)); }
};

using Entries = std::vector<std::pair<std::int64_t, double>>;

TEST(Encode, ACategoryBecomesAColumnForEachValueInOrderOfAppearance)
{
    Encoded rows("csv", "y,c,v\n1,red,0.5\n0,blue,0\n1,red,2\n",
                 {{"label", "y"}, {"categorical", "c"}});
    EXPECT_EQ(rows.encoder->columns(), 3);
    EXPECT_EQ(rows.encoder->features(), (std::vector<std::string>{"c=red", "c=blue", "v"}));
    EXPECT_EQ(rows.sparse(0), (Entries{{0, 1}, {2, 0.5}}));
    EXPECT_EQ(rows.sparse(1), (Entries{{1, 1}}));
    EXPECT_EQ(rows.dense(2), (Reals{1, 0, 2}));
    EXPECT_FALSE(rows.encoder->ones());
}

TEST(Encode, PairsAreDistinctPairsOfValuesWithoutThoseExcluded)
{
    Encoded rows("csv", "y,a,b,c\n1,1,1,1\n0,1,2,1\n1,2,1,1\n1,1,1,1\n",
                 {{"label", "y"},
                  {"categorical", "all"},
                  {"interactions", "2"},
                  {"exclude-pairs", "c*a"},  // in any order
                  {"intercept", "on"}});
    // Singles a=1 a=2 b=1 b=2 c=1; pairs a*b: 3 of them, b*c: 2; the intercept.
    EXPECT_EQ(rows.encoder->columns(), 5 + 3 + 2 + 1);
    EXPECT_EQ(rows.encoder->features()[5], "a*b=1*1");
    EXPECT_EQ(rows.encoder->features().back(), "intercept");
    EXPECT_TRUE(rows.encoder->ones());
    for (std::int64_t row = 0; row < 4; ++row) EXPECT_EQ(rows.sparse(row).size(), 3u + 2 + 1);
    EXPECT_EQ(rows.sparse(0), rows.sparse(3));
}

TEST(Encode, NumbersAreScaledAsTheTrainingRowsHaveThem)
{
    const std::string text = "y,a,b\n1,1,5\n0,3,5\n1,5,5\n";
    const double root = std::sqrt(8. / 3);
    Encoded standard("csv", text, {{"label", "y"}, {"scale", "standardise"}});
    EXPECT_NEAR(standard.dense(0)[0], -2 / root, 1e-15);
    EXPECT_NEAR(standard.dense(2)[0], 2 / root, 1e-15);
    EXPECT_EQ(standard.dense(0)[1], 0) << "a constant column";
    Encoded range("csv", text, {{"label", "y"}, {"scale", "min-max"}});
    EXPECT_EQ(range.dense(1), (Reals{0.5, 0}));
    Encoded unit("csv", text, {{"label", "y"}, {"scale", "unit-rows"}, {"intercept", "on"}});
    const double norm = std::sqrt(26);
    EXPECT_EQ(unit.dense(0), (Reals{1 / norm, 5 / norm, 1}));
    Encoded divided("csv", text, {{"label", "y"}, {"divide", "10"}});
    EXPECT_EQ(divided.dense(2), (Reals{0.5, 0.5}));
}

TEST(Encode, AbsentNumbersAreZerosToScaling)
{
    Encoded rows("libsvm", "1 1:2\n1 2:1\n1 1:4\n1\n", {{"scale", "standardise"}});
    EXPECT_TRUE(rows.encoder->fills_zeros());
    const double root = std::sqrt(5. - 1.5 * 1.5);
    EXPECT_NEAR(rows.dense(3)[0], -1.5 / root, 1e-15);
    EXPECT_NEAR(rows.dense(2)[0], 2.5 / root, 1e-15);
    Encoded range("libsvm", "1 1:2\n1 2:1\n1 1:4\n1\n", {{"scale", "min-max"}});
    EXPECT_FALSE(range.encoder->fills_zeros());
    EXPECT_EQ(range.sparse(0), (Entries{{0, 0.5}}));
}

TEST(Encode, NumbersOfAnySizeAreScaledAlike)
{
    const auto text_of = [](const std::string& power) {
        return "y,a,b\n1,1" + power + ",4" + power + "\n0,3" + power + ",5" + power + "\n1,5" +
               power + ",-7" + power + "\n";
    };
    for (const std::string scale : {"standardise", "min-max", "unit-rows"}) {
        const test::Given given = {{"label", "y"}, {"scale", scale}};
        Encoded plain("csv", text_of(""), given);
        for (const std::string power : {"e200", "e-170", "e307", "e-300", "e-307"}) {
            Encoded rows("csv", text_of(power), given);
            for (std::int64_t row = 0; row < 3; ++row)
                for (std::size_t column = 0; column < 2; ++column)
                    EXPECT_NEAR(rows.dense(row)[column], plain.dense(row)[column], 1e-14)
                        << scale << power;
        }
    }
    Encoded means("csv", "y,a\n1,1.7e308\n0,-1.7e308\n1,1.7e308\n0,\n",
                  {{"label", "y"}, {"missing", "mean"}});
    EXPECT_NEAR(means.dense(3)[0] / 1e308, 1.7 / 3, 1e-14);
}

TEST(Encode, NumbersThatScalingLosesAreRefused)
{
    const auto said = [](const std::string& cells, const test::Given& given) {
        return refusal([&] {
            auto all = given;
            all["label"] = "y";
            Encoded rows("csv", "y,a\n" + cells, all);
            for (std::int64_t row = 0; row < rows.table.rows(); ++row) rows.dense(row);
        });
    };
    EXPECT_EQ(said("1,1e-200\n", {{"divide", "1e200"}}),
              "column a: 1e-200 becomes zero over --divide 1e+200: use less");
    EXPECT_EQ(said("1,1e-320\n0,2e-320\n", {{"scale", "min-max"}}),
              "column a: its numbers differ by 9.99989e-321 only, too little for --scale: leave it "
              "out");
    const std::string close = "1,9007199254740993\n0,9007199254740992\n";
    EXPECT_EQ(said(close, {{"categorical", "a"}}), "(nothing was refused)");
    EXPECT_EQ(said(close, {{"categorical", "a"}, {"categorical-by", "value"}}),
              "category 9007199254740992 has more digits than a number tells apart: give "
              "--categorical-by text");
}

TEST(Encode, OptionsThatDoNotFitTheTableAreRefused)
{
    const auto said = [](const test::Given& given) {
        return refusal([&] { Encoded("csv", "y,a,b\n1,1,5\n", given); });
    };
    EXPECT_EQ(said({{"label", "y"}, {"interactions", "2"}}),
              "--interactions is 2, but 0 columns are categorical: name some in --categorical");
    const test::Given pairs = {{"label", "y"}, {"interactions", "2"}, {"categorical", "all"}};
    auto with = pairs;
    with["exclude-pairs"] = "a";
    EXPECT_EQ(
        said(with),
        "--exclude-pairs is a: write pairs A*B, separated by commas, and names with commas or "
        "stars in double quotes");
    with["exclude-pairs"] = "a*c";
    EXPECT_EQ(said(with).substr(0, 59),
              "--exclude-pairs names c, which is not a column that is used");
}

// --- missing values ------------------------------------------------------------------------------

TEST(Missing, CellsThatSaySoAreMissing)
{
    for (const auto* cell : {"", "  ", "?", "NA", "na", "N/A", "NaN", "nan", " NULL "})
        EXPECT_TRUE(is_missing(cell)) << cell;
    for (const auto* cell : {"0", "none", "nano", "-", "??"})
        EXPECT_FALSE(is_missing(cell)) << cell;
    for (const auto* cell : {"", "NA", "None", "<NA>", "#N/A", "NaT", "-1.#IND"})
        EXPECT_TRUE(is_missing_number(cell)) << cell;
    for (const auto* cell : {"0", "nothing", "-1", "#1"})
        EXPECT_FALSE(is_missing_number(cell)) << cell;
}

const std::string gaps = "y,a,c\n1,1,red\n0,NA,blue\n1,3,?\n,5,red\n0,8,green\n";

TEST(Missing, RowsAreLeftOutWithTheirCategories)
{
    Encoded rows("csv", gaps, {{"label", "y"}, {"categorical", "c"}, {"missing", "drop"}});
    EXPECT_EQ(rows.table.left_out(), (Integers{1, 2, 3}));
    EXPECT_EQ(rows.encoder->features(), (Words{"a", "c=red", "c=green"}));
}

TEST(Missing, MeansAreThoseOfTheTrainingRowsAndCategoriesHaveALevel)
{
    const test::Given given = {{"label", "y"},
                               {"categorical", "c"},
                               {"missing", "drop, mean,category"},
                               {"scale", "min-max"}};
    Encoded rows("csv", gaps, given);
    EXPECT_EQ(rows.table.left_out(), (Integers{3})) << "a label has no mean";
    EXPECT_EQ(rows.encoder->features(), (Words{"a", "c=red", "c=blue", "c=missing", "c=green"}));
    EXPECT_EQ(rows.encoder->scaling().mean[0], (1 + 3 + 8) / 3.);
    EXPECT_NEAR(rows.dense(1)[0], 3. / 7, 1e-15) << "the mean 4 between 1 and 8";
    EXPECT_EQ(rows.dense(2)[3], 1);
    auto by_value = given;
    by_value["categorical-by"] = "value";
    by_value["categorical"] = "a";
    by_value["drop"] = "c";
    EXPECT_EQ(Encoded("csv", gaps, by_value).encoder->features(),
              (Words{"a=1", "a=missing", "a=3", "a=8"}));
}

TEST(Missing, WhatHasNoRemedyIsRefused)
{
    const auto said = [](const std::string& missing, const std::string& text = gaps) {
        return test::refusal_of("csv", text,
                                {{"label", "y"}, {"categorical", "c"}, {"missing", missing}});
    };
    EXPECT_EQ(
        said(""),
        "x:3:3: column a: the value is missing, 'NA'; fill it, or give --missing mean or drop");
    EXPECT_EQ(
        said("mean"),
        "x:4:5: column c: the value is missing, '?'; fill it, or give --missing mean,category "
        "or mean,drop");
    EXPECT_EQ(said("mean,category"),
              "x:5:1: column y: the value is missing, ''; fill it, or give --missing "
              "mean,category,drop");
    EXPECT_EQ(said("median"),
              "--missing is median: write drop, mean, category or several of them, separated by "
              "commas");
    EXPECT_EQ(refusal([&] {
                  Encoded("csv", "y,a,b\n1,,1\n0,NA,2\n", {{"label", "y"}, {"missing", "mean"}});
              }),
              "column a has no number in the training rows, of which --missing mean could take the "
              "mean: leave it out with --drop");
}

// --- labels --------------------------------------------------------------------------------------

Labels mapped(const Reals& labels, const test::Given& given = {})
{
    return map_labels(labels, test::import_settings("csv", given));
}

TEST(Labels, TheSmallerOfTwoValuesBecomesMinusOne)
{
    EXPECT_EQ(mapped({3, 1, 3}).value, (Reals{1, -1, 1}));
    EXPECT_EQ(mapped({3, 1, 3}).class_names, (Words{"1", "3"}));
}

TEST(Labels, AMapSendsSeveralValuesToAClassAndDropsRows)
{
    EXPECT_EQ(mapped({0, 1, 2}, {{"label-map", "0:-1,1:1,2:1"}}).value, (Reals{-1, 1, 1}));
    const auto some = mapped({5, 1, 2, 7, 2}, {{"label-map", "1:-1, 2:1, other:drop"}});
    EXPECT_EQ(some.value, (Reals{-1, 1, 1}));
    EXPECT_EQ(some.kept, (Integers{1, 2, 4}));
    EXPECT_EQ(mapped({0, 1, 2}, {{"label-map", "0:drop,1:1,2:2"}}).value, (Reals{-1, 1}));
}

TEST(Labels, ManyWholeNumbersAreClassesAndOthersNeedATask)
{
    const auto classes = mapped({7, 3, 9, 3});
    EXPECT_EQ(classes.task, LearningTask::multiclass);
    EXPECT_EQ(classes.value, (Reals{1, 0, 2, 0}));
    EXPECT_EQ(classes.class_names, (Words{"3", "7", "9"}));
    EXPECT_EQ(mapped({1, 2}, {{"task", "multiclass"}}).value, (Reals{0, 1}));
    const auto numbers = mapped({1.5, 2, 4}, {{"task", "regression"}, {"label-scale", "0.5"}});
    EXPECT_EQ(numbers.value, (Reals{0.75, 1, 2}));
}

Labels mapped(const Words& labels, const test::Given& given = {})
{
    Levels words;
    Reals numbers;
    for (const auto& label : labels) numbers.push_back(words.number(label));
    return map_labels(numbers, test::import_settings("csv", given), words.names());
}

TEST(Labels, WordsAreClassesInAlphabeticalOrder)
{
    const auto two = mapped(Words{"yes", "no", "yes"});
    EXPECT_EQ(two.task, LearningTask::binary);
    EXPECT_EQ(two.value, (Reals{1, -1, 1}));
    EXPECT_EQ(two.class_names, (Words{"no", "yes"}));
    const auto three = mapped(Words{"virginica", "setosa", "versicolor", "setosa"});
    EXPECT_EQ(three.task, LearningTask::multiclass);
    EXPECT_EQ(three.value, (Reals{2, 0, 1, 0}));
    EXPECT_EQ(three.class_names, (Words{"setosa", "versicolor", "virginica"}));
}

TEST(Labels, AMapTakesWordsAndGivesWordsOrNumbers)
{
    const auto some = mapped(Words{"1", "?", "0", "1.0"}, {{"label-map", "0:no,1:yes,?:drop"}});
    EXPECT_EQ(some.value, (Reals{1, -1, 1}));
    EXPECT_EQ(some.kept, (Integers{0, 2, 3}));
    EXPECT_EQ(some.class_names, (Words{"no", "yes"}));
    const auto turned = mapped(Words{"yes", "no"}, {{"label-map", "yes:-1,no:1"}});
    EXPECT_EQ(turned.value, (Reals{-1, 1}));
    EXPECT_EQ(mapped({0, 1}, {{"label-map", "0:cat,1:dog"}}).class_names, (Words{"cat", "dog"}));
    const auto numbers =
        mapped(Words{"low", "high"}, {{"label-map", "low:1.5,high:9"}, {"task", "regression"}});
    EXPECT_EQ(numbers.value, (Reals{1.5, 9}));
    EXPECT_EQ(refusal([&] {
                  mapped(Words{"yes", "no"}, {{"label-map", "yes:1"}});
              }),
              "label no is not in --label-map yes:1: add it, or other:drop");
    EXPECT_EQ(refusal([&] {
                  mapped(Words{"yes", "no"}, {{"task", "regression"}});
              }),
              "--task is regression, but the labels are words: no, yes; map them to numbers with "
              "--label-map, or leave it out");
}

TEST(Labels, ThoseLikeADataSetsKeepEveryRow)
{
    const auto like = [](const Reals& labels, const Words& words, const test::Given& given = {}) {
        return map_labels_like(labels, test::import_settings("csv", given), words,
                               LearningTask::multiclass, {"a", "b", "c"});
    };
    const double nan = std::nan("");
    const auto some = like({1, nan, 0}, {"c", "a"});
    EXPECT_EQ(some.kept, (Integers{0, 1, 2}));
    EXPECT_EQ(some.value[0], 0);
    EXPECT_TRUE(std::isnan(some.value[1]));
    EXPECT_EQ(some.value[2], 2);
    EXPECT_EQ(refusal([&] { like({0}, {"d"}); }),
              "label d is none of the classes a, b, c of the data set that --like names: write "
              "them alike, use --label-map of quorate import, or leave the labels out");
    EXPECT_TRUE(std::isnan(like({0}, {"d"}, {{"label-map", "other:drop"}}).value[0]));
}

TEST(Labels, WhatDoesNotFitTheTaskIsRefused)
{
    const auto said = [](const Reals& labels, const test::Given& given) {
        return refusal([&] { mapped(labels, given); });
    };
    const std::string remedy =
        "; map them with --label-map, or give --task multiclass or regression";
    EXPECT_EQ(said({1, 1}, {}), "the labels are not two classes but 1: 1" + remedy);
    EXPECT_EQ(said({1.5, 2, 3, 4, 5, 6, 7}, {}),
              "the labels are not two classes but 7: 1.5, 2, 3, 4, 5, 6, 7" + remedy);
    Reals many(2000);
    std::iota(many.begin(), many.end(), 1.0);
    EXPECT_LT(said(many, {{"task", "multiclass"}}).size(), 200U);
    EXPECT_EQ(said({1, 2, 3}, {{"task", "binary"}}),
              "the labels are not two classes but 3: 1, 2, 3" + remedy);
    EXPECT_EQ(said({0, 2}, {{"label-map", "0:-1,1:1"}}),
              "label 2 is not in --label-map 0:-1,1:1: add it, or other:drop");
    EXPECT_EQ(said({0, 1}, {{"label-map", "0:-1,1:up"}}),
              "--label-map has '1:up': write FROM:TO or FROM:drop, separated by commas, and "
              "other:drop if the rows of all others are to go");
    EXPECT_EQ(said({0, 1}, {{"label-map", "other:drop"}}),
              "--label-map is other:drop, which drops every row");
    EXPECT_EQ(said({0, 1}, {{"label-map", "0:1,1:1"}}),
              "the labels are not two classes but 1: 1" + remedy);
    EXPECT_EQ(
        said({0, 1}, {{"label-scale", "2"}}),
        "--label-scale is 2, but only --task regression has labels that are numbers: leave it "
        "out");
    EXPECT_EQ(said({1, 1}, {{"task", "multiclass"}}),
              "the labels are 1 values, not 2 to 1000 classes: 1; use --task regression, or map "
              "them with --label-map");
}

TEST(Labels, NumbersThatDoNotFitAreRefused)
{
    const auto said = [](const Reals& labels, const test::Given& given) {
        return refusal([&] { mapped(labels, given); });
    };
    const auto scaled = [](const std::string& factor) {
        return test::Given{{"task", "regression"}, {"label-scale", factor}};
    };
    EXPECT_EQ(said({0, 20}, scaled("1e308")),
              "--label-scale is 1e308, which makes inf of the label 20: use a factor nearer to 1");
    EXPECT_EQ(
        said({0, 1e-20}, scaled("1e-308")),
        "--label-scale is 1e-308, which makes 0 of the label 1e-20: use a factor nearer to 1");
    EXPECT_EQ(mapped({0, 20}, scaled("-0.5")).value, (Reals{0, -10}));
    EXPECT_EQ(said({1, 9007199254740992}, {}),
              "label 9007199254740992 has more digits than a number tells apart: write labels as "
              "words, or give --task regression");
    EXPECT_EQ(mapped({1, 9007199254740991}).value, (Reals{-1, 1}));
}

// --- compressed files ----------------------------------------------------------------------------

namespace io = boost::iostreams;

template <class Compressor>
std::string compressed(const std::string& text, const Compressor& compressor)
{
    std::istringstream in(text);
    std::ostringstream out;
    io::filtering_ostream filter;
    filter.push(compressor);
    filter.push(out);
    io::copy(in, filter);
    io::close(filter);
    return out.str();
}

// Enough of it that a cut is inside the data, and does not shrink to nothing.
std::string long_text()
{
    std::mt19937 random(1);
    std::string text;
    for (int i = 0; i < 4000; ++i)
        text += (i % 2 ? "1 1:0." : "-1 2:0.") + std::to_string(random()) + "\n";
    return text;
}

struct Kind {
    std::string name;
    std::string bytes;
};

std::vector<Kind> kinds(const std::string& text)
{
    return {{"plain", text},
            {"gz", compressed(text, io::gzip_compressor())},
            {"bz2", compressed(text, io::bzip2_compressor())},
            {"xz", compressed(text, io::lzma_compressor())}};
}

TEST(Source, PlainAndCompressedFilesReadAlikeWhateverTheirName)
{
    const Folder folder;
    const auto text = long_text();
    const auto wanted = test::read_bytes("libsvm", text);
    for (const auto& kind : kinds(text)) {
        const auto path = folder.write(kind.name, kind.bytes);
        const auto rows = test::read_file("libsvm", path);
        EXPECT_EQ(rows.label, wanted.label) << kind.name;
        EXPECT_EQ(rows.value, wanted.value) << kind.name;
    }
}

TEST(Source, SeveralGzipMembersAreOneFile)
{
    const Folder folder;
    const auto path = folder.write("two.gz", compressed("1 1:1\n", io::gzip_compressor()) +
                                                 compressed("-1 2:1\n", io::gzip_compressor()));
    EXPECT_EQ(test::read_file("libsvm", path).label.size(), 2u);
}

// A zip archive of files that are stored as they are.
std::string zip(const std::vector<std::pair<std::string, std::string>>& files)
{
    const auto number = [](std::uint64_t value, int bytes) {
        std::string text;
        for (; bytes > 0; --bytes, value >>= 8) text += static_cast<char>(value & 255);
        return text;
    };
    std::string archive, directory;
    for (const auto& [name, text] : files) {
        boost::crc_32_type crc;
        crc.process_bytes(text.data(), text.size());
        const auto head = number(20, 2) + number(0, 8) + number(crc.checksum(), 4) +
                          number(text.size(), 4) + number(text.size(), 4) + number(name.size(), 2) +
                          number(0, 2);
        directory +=
            "PK\x01\x02" + number(20, 2) + head + number(0, 10) + number(archive.size(), 4) + name;
        archive += "PK\x03\x04" + head + name + text;
    }
    return archive + directory + "PK\x05\x06" + number(0, 4) + number(files.size(), 2) +
           number(files.size(), 2) + number(directory.size(), 4) + number(archive.size(), 4) +
           number(0, 2);
}

TEST(Source, TheOneFileOfAZipArchiveIsReadAndSeveralAreNamed)
{
    const Folder folder;
    const std::string text = "1 1:0.5\n-1 2:1\n";
    const auto one =
        folder.write("one", zip({{"data/", ""}, {"data/rows.svm", text}, {"__MACOSX/rows", "?"}}));
    EXPECT_EQ(test::read_file("libsvm", one).value, test::read_bytes("libsvm", text).value);
    const auto two = folder.write("two", zip({{"a.csv", text}, {"b.csv", text}}));
    EXPECT_EQ(refusal([&] { open_source(two); }),
              two + " is a zip archive of 2 files: unpack it and give one of them: a.csv, b.csv");
    const auto sheet =
        folder.write("sheet", zip({{"[Content_Types].xml", "<"}, {"xl/workbook.xml", "<"}}));
    EXPECT_EQ(refusal([&] { open_source(sheet); }),
              sheet + " is a workbook of a spreadsheet: save the sheet as CSV");
}

TEST(Source, TextInUtf16IsReadByItsByteOrderMark)
{
    const Folder folder;
    std::string text = "a,y\n";
    for (int i = 0; i < 5000; ++i) text += std::to_string(i) + ",\u00fc\u20ac\n";
    const auto wanted = test::read_bytes("csv", text, {{"label", "y"}, {"categorical", "y"}});
    for (const bool big : {false, true}) {
        std::string bytes;
        const auto add = [&](unsigned letter) {
            const std::string pair = {static_cast<char>(letter & 255),
                                      static_cast<char>(letter >> 8)};
            bytes += big ? std::string(pair.rbegin(), pair.rend()) : pair;
        };
        add(0xfeff);
        for (std::size_t i = 0; i < text.size();) {
            const auto letter = static_cast<unsigned char>(text[i]);
            const std::size_t length = letter < 128 ? 1 : letter < 0xe0 ? 2 : 3;
            add(length == 1 ? letter : length == 2 ? 0xfc : 0x20ac);
            i += length;
        }
        const auto rows = test::read_bytes("csv", bytes, {{"label", "y"}});
        EXPECT_EQ(rows.value, wanted.value);
        const auto path = folder.write("cut", bytes.substr(0, bytes.size() - 1));
        EXPECT_EQ(refusal([&] {
                      test::read_file("csv", path, {{"label", "y"}});
                  }),
                  path + " is no UTF-16" + (big ? "BE" : "LE") +
                      " text, which its first bytes say it is: save it as UTF-8");
    }
}

TEST(Source, BytesBehindGzipDataAreNamed)
{
    const Folder folder;
    const auto path =
        folder.write("x", compressed("1 1:1\n", io::gzip_compressor()) + std::string(100, '\0'));
    EXPECT_EQ(refusal([&] { test::read_file("libsvm", path); }),
              path +
                  " is damaged, or followed by bytes that are no gzip data: make it again with "
                  "gunzip -c and gzip");
}

TEST(Source, TruncatedCompressedFilesAreRefusedWithOneMessage)
{
    const Folder folder;
    for (const auto& kind : kinds(long_text())) {
        if (kind.name == "plain") continue;
        for (const std::size_t left : {kind.bytes.size() / 2, kind.bytes.size() - 5}) {
            const auto path = folder.write(kind.name, kind.bytes.substr(0, left));
            const auto said = refusal([&] { test::read_file("libsvm", path); });
            const auto begin =
                path + " is damaged or truncated: its compressed data end wrongly after byte ";
            EXPECT_EQ(said.substr(0, begin.size()), begin) << kind.name << " cut to " << left;
        }
    }
}

TEST(Source, AFileThatIsDamagedInTheMiddleIsRefused)
{
    const Folder folder;
    for (auto kind : kinds(long_text())) {
        if (kind.name == "plain") continue;
        for (std::size_t i = 0; i < 64; ++i) kind.bytes[kind.bytes.size() / 2 + i] ^= 0x5a;
        const auto path = folder.write(kind.name, kind.bytes);
        const auto said = refusal([&] { test::read_file("libsvm", path); });
        EXPECT_EQ(said.substr(0, path.size()), path) << kind.name << ": " << said;
    }
}

TEST(Source, WhatCannotBeOpenedOrIsEmptyIsRefused)
{
    const Folder folder;
    EXPECT_EQ(refusal([&] { open_source(folder.file("none")); }),
              "cannot open " + folder.file("none") +
                  ": No such file or directory; give a file that can be read");
    EXPECT_EQ(refusal([&] { open_source(folder.file("")); }),
              folder.file("") + " is a folder: give a file");
    const auto empty = folder.write("empty", "");
    EXPECT_EQ(refusal([&] { open_source(empty); }), empty + " is empty: give a file with data");
}

TEST(Source, TheDigestIsThatOfSha256sum)
{
    const Folder folder;
    EXPECT_EQ(sha256(folder.write("abc", "abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace quorate
