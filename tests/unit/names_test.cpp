// SPDX-License-Identifier: BSD-2-Clause
// Names of columns, words and labels: each means one thing, in every file alike.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/quoted.hpp"
#include "data/data_set.hpp"
#include "import/import.hpp"
#include "reading.hpp"
#include "tables/column_names.hpp"
#include "tables/feature_names.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::Given;
using test::refusal;
using Columns = std::set<std::size_t>;
using Reals = std::vector<double>;
using Words = std::vector<std::string>;

/// The warnings that f logs, one in a line.
template <class F>
std::string warnings(F f)
{
    std::string lines;
    log_to([&](LogLevel level, const std::string& text) {
        if (level == LogLevel::warning) lines += text + '\n';
    });
    f();
    log_to({});
    return lines;
}

/// Imports files of a folder; the options input, test-input and like name some of them.
struct Import {
    Folder folder;

    std::string path(const std::string& name) const { return folder.file(name); }
    void operator()(Given given, const std::string& output = "d.h5") const
    {
        auto options = import_options();
        options.push_back({"quiet", "", "", ""});
        for (const auto* file : {"input", "test-input", "like", "labels", "test-labels"})
            if (given.contains(file)) given[file] = path(given[file]);
        given["output"] = path(output);
        given["overwrite"] = "on";
        import_files(test::settings(options, given));
    }
    /// What is said of wrong input, or as a warning, without the folder's name.
    std::string said(const Given& given, const std::string& output = "d.h5") const
    {
        std::string wrong;
        auto text = warnings([&] { wrong = refusal([&] { (*this)(given, output); }); });
        if (wrong != "(nothing was refused)") text += "refused: " + wrong;
        const auto before = path("");
        for (std::size_t at = 0; (at = text.find(before)) != std::string::npos;)
            text.erase(at, before.size());
        return text;
    }
    DataSet data(const std::string& name = "d.h5") const
    {
        return DataSet(path(name), Unlabelled::accepted);
    }
};

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

TEST(Names, ListsHaveQuotesLikeCsv)
{
    EXPECT_EQ(split_quoted("a, \"b,c\" ,d", ','), (Words{"a", "\"b,c\"", "d"}));
    EXPECT_EQ(split_quoted("5\" pipe,x", ','), (Words{"5\" pipe", "x"})) << "a quote inside a name";
    EXPECT_EQ(split_quoted("\"a,b", ','), (Words{"\"a", "b"})) << "a quote that is not closed";
    EXPECT_EQ(cuts("\"a..b\"..\"c,d\"", ".."),
              (std::vector<std::pair<std::string, std::string>>{{"\"a..b\"", "\"c,d\""}}));
    EXPECT_EQ(unquoted("\"a \"\"b\"\"\""), "a \"b\"");
    EXPECT_EQ(unquoted("\"a\" b"), "\"a\" b");
    for (const std::string name : {"a", "a,b", "a..b", "", "x \"y\"", " a", "a*b", "a.b"}) {
        EXPECT_EQ(unquoted(quoted_if_needed(name)), name);
        EXPECT_EQ(split_quoted(quoted_if_needed(name) + ",z", ',').size(), 2u) << name;
    }
}

TEST(Names, ThoseOfAHeaderBecomeUnique)
{
    EXPECT_EQ(unique_names({"x", "b", "x", "", ""}, "f"),
              (Words{"x (1 of 2)", "b", "x (2 of 2)", "unnamed (1 of 2)", "unnamed (2 of 2)"}));
    EXPECT_EQ(unique_names({"", "a"}, "f"), (Words{"", "a"}));
    EXPECT_EQ(refusal([] {
                  unique_names({"x", "x", "x (2 of 2)"}, "f");
              }),
              "f has two columns that would be called x (2 of 2): give each a name of its own");
}

TEST(Names, AnOptionMeansOneColumnOrAllThatShareAName)
{
    const auto names = unique_names(
        {"x", "Price, USD", "x", "Weight..kg.", "Height..cm.", "b", "", "a*b", "a"}, "f");
    const auto listed = [&](const std::string& text) {
        return columns_listed(names, test::settings({{"drop", text}}), "drop", "f");
    };
    EXPECT_EQ(listed("x"), (Columns{0, 2}));
    EXPECT_EQ(listed("x (2 of 2)"), (Columns{2}));
    EXPECT_EQ(listed("Price, USD"), (Columns{1}));
    EXPECT_EQ(listed("\"Price, USD\", b"), (Columns{1, 5}));
    EXPECT_EQ(listed("Weight..kg."), (Columns{3}));
    EXPECT_EQ(listed("Weight..kg...Height..cm."), (Columns{3, 4}));
    EXPECT_EQ(listed("\"Weight..kg.\"..b"), (Columns{3, 4, 5}));
    EXPECT_EQ(listed("\"\""), (Columns{6}));
    EXPECT_EQ(refusal([&] { listed("Price"); }),
              "--drop names Price, which is not a column of f; use one of x (1 of 2), \"Price, "
              "USD\", x (2 of 2), \"Weight..kg.\", \"Height..cm.\", b, \"\", \"a*b\", a; write "
              "names with commas in double quotes");
    EXPECT_EQ(refusal([&] { one_column(names, "x", "label", "f"); }),
              "--label names x, which 2 columns of f are called: give 'x (1 of 2)' or 'x (2 of "
              "2)', and --drop the others");
    EXPECT_EQ(one_column(names, "\"Price, USD\"", "label", "f"), 1u);

    const Words doubtful = {"a", "b", "c", "a..c", "a,b", "b*c", "a*b"};
    const auto drop = [&](const std::string& text) {
        return columns_listed(doubtful, test::settings({{"drop", text}}), "drop", "f");
    };
    EXPECT_EQ(drop("a..c"), (Columns{3})) << "a name goes before a range";
    EXPECT_EQ(drop("a,b"), (Columns{4})) << "and before a list";
    EXPECT_EQ(drop("\"a..c\",\"a,b\""), (Columns{3, 4}));
    EXPECT_EQ(drop("\"a\"..\"c\""), (Columns{0, 1, 2}));
    const auto pairs = [&](const std::string& text) {
        return pairs_listed(doubtful, test::settings({{"exclude-pairs", text}}), "exclude-pairs");
    };
    EXPECT_EQ(pairs("c*a"), (std::set<std::pair<std::size_t, std::size_t>>{{0, 2}}));
    EXPECT_EQ(pairs("\"b*c\"*a"), (std::set<std::pair<std::size_t, std::size_t>>{{0, 5}}));
    EXPECT_EQ(refusal([&] { pairs("a*b*c"); }),
              "--exclude-pairs is a*b*c, in which a*b*c has two readings: write the names in "
              "double quotes");
}

TEST(Names, FeaturesThatDifferAreCalledDifferently)
{
    EXPECT_EQ(feature_name("age"), "age");
    EXPECT_EQ(feature_name("city", "Bonn"), "city=Bonn");
    EXPECT_EQ(feature_name("a", "b", "x", "y"), "a*b=x*y");
    const Words parts = {"a", "b", "=", "*", "\"", "a=b", "a*b", "b=a", "\"a\"", "a\"*", "", "*a="};
    std::vector<std::string> all;
    for (const auto& a : parts) {
        all.push_back(feature_name(a));
        for (const auto& b : parts) {
            all.push_back(feature_name(a, b));
            for (const auto& x : parts)
                for (const auto& y : parts) all.push_back(feature_name(a, b, x, y));
        }
    }
    for (const auto& a : parts)
        for (const auto& b : parts) {
            const auto level = parts_of_feature(feature_name(a, b));
            EXPECT_EQ(level.column, feature_name(a));
            EXPECT_EQ(level.level, b);
            const auto pair = parts_of_feature(feature_name(a, b, "x", "y"));
            EXPECT_EQ(pair.column + "|" + pair.second, feature_name(a) + "|" + feature_name(b));
            EXPECT_EQ(pair.level, "x*y");
            EXPECT_EQ(parts_of_feature(feature_name(a)).level, std::nullopt);
        }
    std::ranges::sort(all);
    const auto twice = std::ranges::adjacent_find(all);
    EXPECT_EQ(twice, all.end()) << *twice;
}

TEST(Names, RowsAreReadLikeThoseOfADataSetByWhatTheyAreAndNotByTheFirstMatch)
{
    const Import imports;
    const auto same = [&](const std::string& text, Given given) {
        imports.folder.write("a.csv", text);
        given.insert({{"input", "a.csv"}, {"label", "y"}, {"storage", "dense"}});
        imports(given);
        imports({{"input", "a.csv"}, {"like", "d.h5"}}, "n.h5");
        const auto theirs = imports.data().read(Split::train, 0, 2).dense;
        EXPECT_EQ(imports.data("n.h5").read(Split::train, 0, 2).dense, theirs) << text;
        auto names = imports.data().features();
        std::ranges::sort(names);
        EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << text;
    };
    same("x,x,c,y\n1,2,3,0\n4,5,6,1\n", {});
    same("x,b,x,y\n1,2,3,0\n4,5,6,1\n", {});
    same(",,c,y\n1,2,3,0\n4,5,6,1\n", {});
    same("city,city=Bonn,y\nBonn,2,0\nUlm,5,1\n", {{"categorical", "city"}});
    same("a,b*c,a*b,c,y\nx,y,x,y,0\ny,x,x,y,1\n", {{"categorical", "all"}, {"interactions", "2"}});
    same("a,b,y\nx*y,z,0\nx,y*z,1\n", {{"categorical", "all"}, {"interactions", "2"}});
    same("city,y,city\nBonn,0,Ulm\nUlm,1,Bonn\n", {{"categorical", "city"}});

    imports.folder.write("a.csv", "x,c,y\n1,2,0\n3,4,1\n");
    imports({{"input", "a.csv"}, {"label", "y"}});
    imports.folder.write("b.csv", "x,x,c\n1,2,3\n");
    EXPECT_EQ(imports.said({{"input", "b.csv"}, {"like", "d.h5"}}, "n.h5"),
              "refused: b.csv has 2 columns x, but d.h5 was made of one: give files of one form");
    imports.folder.write("a.csv", "x,x,c,y\n1,2,3,0\n3,4,5,1\n");
    EXPECT_EQ(imports.said({{"input", "a.csv"}, {"label", "y"}}),
              "a.csv: 2 columns are called x and become 'x (1 of 2)', 'x (2 of 2)'\n");
    imports.folder.write("b.csv", "x,c\n1,2\n");
    EXPECT_EQ(imports.said({{"input", "b.csv"}, {"like", "d.h5"}}, "n.h5"),
              "refused: b.csv has no column x (1 of 2), which d.h5 was made of: give files of one "
              "form");
    EXPECT_EQ(imports.said({{"input", "a.csv"}, {"label", "x"}}),
              "refused: --label names x, which 2 columns of a.csv are called: give 'x (1 of 2)' or "
              "'x (2 of 2)', and --drop the others");
    imports({{"input", "a.csv"}, {"label", "y"}, {"drop", "x"}});
    EXPECT_EQ(imports.data().columns(), 1);
    imports.folder.write("a.csv", "intercept,c,y\n1,2,0\n3,4,1\n");
    EXPECT_EQ(imports.said({{"input", "a.csv"}, {"label", "y"}, {"intercept", "on"}}),
              "refused: --intercept is on, but the input has a column of that name: give --drop "
              "intercept, or leave --intercept out");
}

TEST(Names, ColumnsWithoutANameAreWarnedOfAndDropped)
{
    const Import imports;
    imports.folder.write("a.csv", ",a,y\n0,5,0\n1,6,1\n");
    EXPECT_EQ(imports.said({{"input", "a.csv"}, {"label", "y"}}),
              "a.csv has no name, as pandas writes the index of rows, for column 1, which is used: "
              "to leave it out, give --drop \"\"\n");
    for (const std::string drop : {"", "\"\""}) {
        EXPECT_EQ(imports.said({{"input", "a.csv"}, {"label", "y"}, {"drop", drop}}), "");
        EXPECT_EQ(imports.data().features(), Words{"a"});
    }
    imports.folder.write("a.csv", "Unnamed: 0,a,y\n0,5,0\n1,6,1\n");
    const auto said = imports.said({{"input", "a.csv"}, {"label", "y"}});
    EXPECT_TRUE(contains(said, "give --drop \"Unnamed: 0\"\n")) << said;
    EXPECT_EQ(imports.said({{"input", "a.csv"}, {"label", "y"}, {"drop", "Unnamed: 0"}}), "");
}

TEST(Names, AFirstLineThatLooksLikeARowIsDoubted)
{
    const Import imports;
    imports.folder.write("a.csv", "30,64,1,1\n30,62,3,1\n30,65,0,2\n");
    const auto said = [&](Given given) {
        given["input"] = "a.csv";
        return imports.said(given);
    };
    const std::string choice =
        ": give --header no if it is a row, and columns by their numbers, or --header yes if it "
        "names them";
    const auto refused = "refused: the first line of a.csv is all numbers, 30, 64, 1, 1" + choice;
    EXPECT_EQ(said({{"label", "1"}}), refused);
    EXPECT_EQ(said({{"label", "4"}}), refused);
    EXPECT_EQ(said({{"label", "class"}}), refused);
    EXPECT_EQ(said({{"label", "4"}, {"header", "no"}}), "");
    EXPECT_EQ(imports.data().rows(Split::train), 3);
    EXPECT_EQ(said({{"label", "64"}, {"header", "yes"}, {"task", "regression"}}),
              "a.csv: 2 columns are called 1 and become '1 (1 of 2)', '1 (2 of 2)'\n");
    imports.folder.write("labels", "0\n1\n");
    EXPECT_TRUE(contains(said({{"labels", "labels"}}), "taken for names, but looks like a row"));
    imports.folder.write("a.csv", "39,Private,13,<=50K\n38,Public,9,>50K\n37,Private,8,<=50K\n");
    EXPECT_TRUE(contains(said({{"label", "income"}}),
                         "--label names income, which the first line of a.csv does not hold; give "
                         "--header no"));
    EXPECT_TRUE(
        contains(said({{"label", "13"}, {"categorical", "Private,<=50K"}, {"task", "regression"}}),
                 "is taken for names, but looks like a row"));
    imports.folder.write("a.csv", "country,1990,y\nBonn,3,0\nUlm,4,1\n");
    EXPECT_EQ(said({{"label", "y"}, {"categorical", "country"}}), "");
}

// --- words and labels that only some rows have ---------------------------------------------------

TEST(Words, BlanksAroundThemMeanNothing)
{
    const Import imports;
    imports.folder.write("a.csv", "y,c\n1,red\n0,blue\n");
    imports.folder.write("b.csv", "y, c\n1, red\n0, \" blue\" \n");
    EXPECT_EQ(
        imports.said(
            {{"input", "a.csv"}, {"test-input", "b.csv"}, {"label", "y"}, {"categorical", "c"}}),
        "");
    EXPECT_EQ(imports.data().columns(), 2);
}

TEST(Words, ThoseThatOnlyTestRowsHaveAreNamed)
{
    const Import imports;
    imports.folder.write("a.csv", "y,c,d\n1,red,u\n0,blue,v\n");
    imports.folder.write("b.csv", "y,c,d\n1,Red,u\n0,Blue,v\n1,green,u\n1,red,?\n");
    EXPECT_EQ(imports.said({{"input", "a.csv"},
                            {"test-input", "b.csv"},
                            {"label", "y"},
                            {"missing", "drop"},
                            {"categorical", "all"}}),
              "b.csv has words that no training row has: 3 of column c in 3 of 3 rows, 'Red', "
              "'Blue', 'green'; check that words are written alike\n");
}

TEST(Labels, OfTestRowsAreThoseOfTheTrainingRows)
{
    const Import imports;
    const auto said = [&](const std::string& train, const std::string& test, Given given = {}) {
        imports.folder.write("a.csv", train);
        imports.folder.write("b.csv", test);
        given.insert({{"input", "a.csv"}, {"test-input", "b.csv"}, {"label", "y"}});
        return imports.said(given);
    };
    const std::string remedy = ": write them alike, or use --label-map, which maps or drops labels";
    const std::string begins = "refused: the test rows have labels that no training row has: ";
    EXPECT_EQ(said("a,y\n1,<=50K\n2,>50K\n", "a,y\n1,<=50K.\n2,>50K.\n"),
              begins + "'<=50K.' (1 rows), '>50K.' (1 rows); the training rows have <=50K, >50K" +
                  remedy);
    EXPECT_EQ(said("a,y\n1,0\n2,1\n", "a,y\n1,-1\n2,1\n"),
              begins + "'-1' (1 rows); the training rows have 0, 1" + remedy);
    EXPECT_TRUE(contains(said("a,y\n1,1\n2,2\n", "a,y\n1,-1\n2,1\n"), begins));
    EXPECT_TRUE(contains(said("a,y\n1,1\n2,1\n", "a,y\n1,-1\n2,1\n"), begins)) << "one class";
    EXPECT_TRUE(contains(said("a,y\n1,yes\n2,no\n3,maybe\n", "a,y\n1,Yes\n2,no\n"), begins));
    EXPECT_EQ(said("a,y\n1,0\n2,1\n", "a,y\n1,-1\n2,1\n", {{"label-map", "0:-1,1:1,-1:-1"}}), "");
    EXPECT_EQ(said("a,y\n1,0.5\n2,1\n", "a,y\n1,-1\n2,7\n", {{"task", "regression"}}), "");
    std::string many = "a,y\n";
    for (int i = 0; i < 40; ++i) many += "1," + std::to_string(i % 3) + "\n";
    EXPECT_EQ(said("a,y\n1,0\n2,1\n3,2\n", many + "1,7\n"),
              "the test rows have labels that no training row has: '7' (1 rows); the training rows "
              "have 0, 1, 2\n");
    imports.folder.write("l", "0\n1\n2\n");
    EXPECT_TRUE(
        contains(said("a,y\n1,0\n2,1\n", "a,y\n1,0\n2,1\n3,0\n", {{"test-labels", "l"}}), begins));
    imports.folder.write("a.svm", "1 1:1\n2 2:1\n");
    imports.folder.write("b.svm", "-1 1:1\n1 2:1\n");
    EXPECT_TRUE(contains(imports.said({{"input", "a.svm"}, {"test-input", "b.svm"}}), begins));
}

TEST(Labels, AClassThatASplitTakesAwayFromTrainingIsNamed)
{
    const Import imports;
    std::string rows = "a,y\n";
    for (int i = 0; i < 9; ++i) rows += "1," + std::to_string(i) + "\n";
    imports.folder.write("a.csv", rows);
    const auto said = imports.said({{"input", "a.csv"}, {"label", "y"}, {"test-fraction", "0.2"}});
    EXPECT_TRUE(contains(said, "of these classes the split takes all rows for test")) << said;
}

// --- rows to predict -----------------------------------------------------------------------------

TEST(Like, LibsvmRowsHaveTheColumnsOfTheDataSetWhateverTheyUse)
{
    const Import imports;
    imports.folder.write("a.svm", "+1 1:1 3:2\n-1 2:1\n");
    imports({{"input", "a.svm"}, {"intercept", "on"}, {"scale", "min-max"}, {"storage", "dense"}});
    ASSERT_EQ(imports.data().columns(), 4);
    const auto rows_like = [&](const std::string& text) {
        imports.folder.write("b.svm", text);
        imports({{"input", "b.svm"}, {"like", "d.h5"}}, "n.h5");
        return imports.data("n.h5").read(Split::train, 0, 1);
    };
    EXPECT_EQ(rows_like("+1 1:1\n").dense, (Reals{1, 0, 0, 1})) << "the intercept is the last";
    EXPECT_EQ(rows_like("+1 1:1 3:2 9:4\n").dense, (Reals{1, 0, 1, 1}));
    imports.folder.write("b.svm", "+1 1:1 3:2 9:4 11:1\n+1 9:1\n");
    EXPECT_EQ(imports.said({{"input", "b.svm"}, {"like", "d.h5"}}, "n.h5"),
              "2 columns that d.h5 does not have are left out: '9', '11'\n");
    imports({{"input", "a.svm"}, {"columns", "3"}, {"storage", "sparse"}});
    EXPECT_EQ(imports.said({{"input", "b.svm"}, {"like", "d.h5"}}, "n.h5"),
              "2 columns that d.h5 does not have are left out: '9', '11'\n");
    EXPECT_EQ(imports.data("n.h5").read(Split::train, 0, 2).start,
              (std::vector<std::int64_t>{0, 2, 2}));
}

TEST(Like, LabelsThatAreNoClassesStandForNone)
{
    const Import imports;
    imports.folder.write("a.svm", "+1 1:1 3:2\n-1 2:1\n");
    imports({{"input", "a.svm"}});
    const auto said = [&](const std::string& text) {
        imports.folder.write("b.svm", text);
        return imports.said({{"input", "b.svm"}, {"like", "d.h5"}}, "n.h5");
    };
    EXPECT_EQ(said("0 1:1\n0 2:1\n"),
              "label 0 is none of the classes -1, 1 of the data set that --like names, nor is "
              "another: the rows count as without labels\n");
    EXPECT_EQ(imports.data("n.h5").unlabelled(), 2);
    EXPECT_EQ(said("0 1:1\n1 2:1\n"),
              "refused: label 0 is none of the classes -1, 1 of the data set that --like names: "
              "write them alike, use --label-map of quorate import, or leave the labels out");
    imports({{"input", "a.svm"}, {"label-map", "-1:2,1:3"}});
    EXPECT_TRUE(contains(said("0 1:1\n0 2:1\n"), "count as without labels"));
    EXPECT_EQ(said("-1 1:1\n1 2:1\n"), "");
}

}  // namespace
}  // namespace quorate
