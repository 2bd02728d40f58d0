// SPDX-License-Identifier: BSD-2-Clause
// The readers of file formats: what they make of good files, and what they say of bad ones.
//
// GCC 12 sees an overlap in the concatenation of strings where none is.
#pragma GCC diagnostic ignored "-Wrestrict"
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/index.hpp"
#include "hdf5/data_sets.hpp"
#include "reading.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::Given;
using test::read_bytes;
using test::refusal_of;
using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;
using Table = std::vector<std::pair<std::string, std::string>>;

template <class T>
std::string big_endian(T value)
{
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    return {std::make_reverse_iterator(bytes + sizeof(T)), std::make_reverse_iterator(bytes)};
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
const std::string noise = "\x01\x02\xff\xfe\x80zyxwvutsrqponmlkjihg\n";

// Labels of a file, which are numbers.
Reals labels_of(const std::string& path)
{
    const auto labels = read_labels(path, {});
    EXPECT_TRUE(labels.words.empty());
    return labels.numbers;
}

// --- LIBSVM --------------------------------------------------------------------------------------

TEST(Libsvm, ReadsRowsCommentsBlanksAndLineEndsOfAnyKind)
{
    const auto rows =
        read_bytes("libsvm", "\xef\xbb\xbf# head\n+1 1:0.5 3:2 # tail\r\n\n-1\t2:1e-1\n-1");
    EXPECT_EQ(rows.columns, 3);
    EXPECT_EQ(rows.column, (std::vector<Integers>{{0, 2}, {1}, {}}));
    EXPECT_EQ(rows.value, (std::vector<Reals>{{0.5, 2}, {0.1}, {}}));
    EXPECT_EQ(rows.label, (Reals{1, -1, -1}));
}

TEST(Libsvm, DropsZerosButTheyWidenTheData)
{
    const auto rows = read_bytes("libsvm", "1 1:1 9:0");
    EXPECT_EQ(rows.columns, 9);
    EXPECT_EQ(rows.column[0], (Integers{0}));
    EXPECT_EQ(read_bytes("libsvm", "1 1:1", {{"columns", "12"}}).columns, 12);
}

TEST(Libsvm, ManyBlocksKeepTheOrderOfTheFile)
{
    std::string text;
    for (int i = 0; i < 300000; ++i) text += std::to_string(i) + " 1:1 7:0.25\n";
    const auto rows = read_bytes("libsvm", text);
    ASSERT_EQ(rows.label.size(), 300000u);
    for (std::size_t i = 0; i < rows.label.size(); ++i)
        ASSERT_EQ(rows.label[i], static_cast<double>(i));
    text += "1 2:1 2:1\n";
    EXPECT_EQ(refusal_of("libsvm", text),
              "x:300001:7: index 2 stands twice: give each index of a row once");
}

TEST(Libsvm, MalformedLinesAreNamedByLineAndColumn)
{
    const Table table = {
        {"1 1:1\nyes 1:1\n", "x:2:1: expected a label, a finite number, got 'yes'"},
        {"nan 1:1\n", "x:1:1: expected a label, a finite number, got 'nan'"},
        {"inf 1:1\n", "x:1:1: expected a label, a finite number, got 'inf'"},
        {"1:1 2:1\n", "x:1:1: expected a label, a finite number, got '1:1'"},
        {"1 1:1 7\n", "x:1:7: expected index:value, got '7'"},
        {"1 -4:1\n", "x:1:3: expected an index of at least 0, got '-4'"},
        {"1 a:1\n", "x:1:3: expected an index of at least 0, got 'a'"},
        {"1 :1\n", "x:1:3: expected an index of at least 0, got ''"},
        {"1 2:1 1:1 2:1\n", "x:1:11: index 2 stands twice: give each index of a row once"},
        {"2 3 1\n1 1:1\n",
         "x:1:3: expected index:value, got '3'; if the first line holds sizes, delete it"},
        {"1,3 1:1\n",
         "x:1:1: expected a label, a finite number, got '1,3'; a row has one label: of rows with "
         "several, "
         "make a file for each of them"},
        {"1 3:\n", "x:1:5: expected a finite number, got ''"},
        {"1 3:inf\n", "x:1:5: expected a finite number, got 'inf'"},
        {"1 3:NaN\n", "x:1:5: expected a finite number, got 'NaN'"},
        {"1 3:1e999\n", "x:1:5: expected a finite number, got '1e999'"},
        {"1 3:1:2\n",
         "x:1:5: expected a finite number, got '1:2'; field:index:value, as of libFFM, is not "
         "read"},
        {"1 99999999999999999999:1\n",
         "x:1:3: expected an index of at least 0, got '99999999999999999999'"},
        {"1 1:1\r\n1 2:x\r\n", "x:2:5: expected a finite number, got 'x'"},
        {noise, "x:1:1: expected a label, a finite number, got '?????zyxwvutsrqponml...'"},
        {"", "x is empty: give a file with data"},
        {"# nothing\n", "x holds no rows: give LIBSVM text"},
        {"\n\n \n", "x holds no rows: give LIBSVM text"},
    };
    for (const auto& [text, message] : table) EXPECT_EQ(refusal_of("libsvm", text), message);
    EXPECT_EQ(refusal_of("libsvm", "1 3:1", {{"columns", "2"}}),
              "x:1:3: index 3 is beyond --columns 2");
    if (sizeof(Index) == 4) {
        EXPECT_EQ(refusal_of("libsvm", "1 2147483648:1"),
                  "x:1:3: index 2147483648 is more than 32-bit indices can count: use a PETSc with "
                  "64-bit indices, or number the columns anew");
    }
}

TEST(Libsvm, EntriesMayStandInAnyOrderAndQueriesAreLeftOut)
{
    const auto rows = read_bytes("libsvm", "1 qid:7 3:0.5 1:2\n-1\tqid:8\t2:1e-400\t1:1\n");
    EXPECT_EQ(rows.column, (std::vector<Integers>{{0, 2}, {0}}));
    EXPECT_EQ(rows.value, (std::vector<Reals>{{2, 0.5}, {1}})) << "1e-400 is zero";
}

// The rows of two files of one table, the second with test rows.
std::vector<Integers> columns_of_two(const std::string& train, const std::string& test,
                                     std::int64_t& columns, const Given& given = {})
{
    const Folder folder;
    RawTable table(folder.file("x"));
    const auto settings = test::import_settings("libsvm", given);
    const auto& format = test::entry(formats(), "libsvm").make;
    format.read(settings, folder.write("a", train), {}, table);
    format.read(settings, folder.write("b", test), {}, table);
    std::vector<Integers> rows;
    for (std::int64_t i = 0; i < table.rows(); ++i) {
        const auto row = table.row(i);
        rows.emplace_back(row.columns.begin(), row.columns.end());
    }
    columns = table.columns;
    return rows;
}

TEST(Libsvm, IndicesCountFromZeroInAllFilesIfOneHasThatIndex)
{
    EXPECT_EQ(read_bytes("libsvm", "1 1:1 2:1\n1 0:1\n").column,
              (std::vector<Integers>{{1, 2}, {0}}));
    EXPECT_EQ(read_bytes("libsvm", "1 1:1\n", {{"first-index", "0"}}).columns, 2);
    EXPECT_EQ(read_bytes("libsvm", "1 0:0 1:1\n").column[0], (Integers{1})) << "also if it is zero";
    std::int64_t columns = 0;
    EXPECT_EQ(columns_of_two("1 0:1\n", "1 1:1\n", columns), (std::vector<Integers>{{0}, {1}}));
    EXPECT_EQ(columns, 2);
    EXPECT_EQ(columns_of_two("1 3:1\n", "1 0:1\n", columns), (std::vector<Integers>{{3}, {0}}));
    EXPECT_EQ(columns, 4);
    EXPECT_EQ(columns_of_two("1 3:1\n", "1 1:1\n", columns), (std::vector<Integers>{{2}, {0}}));
    EXPECT_EQ(columns, 3);
    columns_of_two("1 3:1\n", "1 0:1\n", columns, {{"columns", "9"}});
    EXPECT_EQ(columns, 9);
    EXPECT_EQ(refusal_of("libsvm", "1 2:1\n1 0:1\n", {{"columns", "2"}}),
              "x: indices go from 0 to 2, beyond --columns 2");
    EXPECT_EQ(refusal_of("libsvm", "1 0:1\n", {{"first-index", "1"}}),
              "x:1:3: expected an index of at least 1, got '0'; give --first-index 0 if indices "
              "count from 0");
}

TEST(Libsvm, AFileThatGrowsBeyondTheLimitIsRefused)
{
    EXPECT_EQ(refusal_of("libsvm", "1 1:1\n1 1:1\n", {}, {.max_bytes = 6}),
              "x is more than --max-bytes 6 when decompressed: allow more if it is meant");
}

// --- CSV -----------------------------------------------------------------------------------------

TEST(Csv, NumbersAndCategoriesInTheColumnsThatAreUsed)
{
    const std::string text = "id,c,a,y\r\n7,\"red, or\",0.5,1\n\n8,blue,-2,0\n9,\"red, or\",3e1,1";
    const auto rows =
        read_bytes("csv", text, {{"label", "y"}, {"drop", "id"}, {"categorical", "c"}});
    EXPECT_EQ(rows.columns, 2);
    EXPECT_EQ(rows.value, (std::vector<Reals>{{0, 0.5}, {1, -2}, {0, 30}}));
    EXPECT_EQ(rows.label, (Reals{1, 0, 1}));
    EXPECT_EQ(read_bytes("csv", text, {{"label", "y"}, {"use", "a..y"}}).columns, 1);
    EXPECT_EQ(read_bytes("csv", text, {{"label", "y"}, {"use", "id,a"}}).columns, 2);
}

TEST(Csv, WithoutAHeaderColumnsAreNumbersAndCategoriesMayBeValues)
{
    const auto rows = read_bytes(
        "csv", "3,1\n3.0,2\n\"3\",1\n4,2\n",
        {{"header", "no"}, {"label", "2"}, {"categorical", "all"}, {"categorical-by", "value"}});
    EXPECT_EQ(rows.value, (std::vector<Reals>{{0}, {0}, {0}, {1}}));
    EXPECT_EQ(rows.label, (Reals{1, 2, 1, 2}));
}

TEST(Csv, QuotedLineEndsDoNotEndABlock)
{
    std::string text = "a,y\n";
    for (int i = 0; i < 60000; ++i) text += "\"two\nlines \"\"" + std::to_string(i) + "\"\"\",1\n";
    const auto rows = read_bytes("csv", text, {{"label", "y"}, {"categorical", "a"}});
    ASSERT_EQ(rows.label.size(), 60000u);
    EXPECT_EQ(rows.value.back(), (Reals{59999}));
    EXPECT_EQ(refusal_of("csv", text + "x,y,z\n", {{"label", "y"}, {"categorical", "a"}}),
              "x:120002:1: expected 2 fields as in the header, got 3");
}

TEST(Csv, MalformedTextIsNamedByLineAndColumn)
{
    const Table table = {
        {"a,y\n1,2\n3\n", "x:3:1: expected 2 fields as in the header, got 1"},
        {"a,y\n1,2,3\n", "x:2:1: expected 2 fields as in the header, got 3"},
        {"a,y\n1,2\n1,2,\n",
         "x:3:1: expected 2 fields as in the header, got 3; the last one is empty"},
        {"a,y,\n1,2\n",
         "x:2:1: expected 3 fields as in the header, got 2; the last name of the header is empty"},
        {"a,y\n1,\"2\n", "x:2:3: a quote opened in line 2 is not closed"},
        {"a,y\n\"1\"2,3\n", "x:2:4: expected ',' after the closing quote"},
        {"a,y\n1\"2,3\n",
         "x:2:2: a quote inside an unquoted field: quote the field and double the quote"},
        {"a,y\n", "x holds no rows after its header: give CSV text"},
        {"a,y", "x holds no rows after its header: give CSV text"},
        {"", "x is empty: give a file with data"},
        {"\n\n", "x holds no header line: give CSV text"},
        {std::string("a,y\n1,\0", 7), "x:2:3: a zero byte: this is not text"},
        {"a,y\nred,1\n",
         "x:2:1: column a: expected a finite number, got 'red'; name the column in "
         "--categorical, or leave it out with --drop, if it is not one"},
        {"a,y\n1,1\nnan,1\n",
         "x:3:1: column a: the value is missing, 'nan'; fill it, or give --missing mean or drop"},
        {"a,y\n-inf,1\n",
         "x:2:1: column a: expected a finite number, got '-inf'; name the column in "
         "--categorical, or leave it out with --drop, if it is not one"},
        {"a,y\n,1\n",
         "x:2:1: column a: the value is missing, ''; fill it, or give --missing mean or drop"},
        {"a,y\n1,?\n",
         "x:2:3: column y: the value is missing, '?'; fill it, or give --missing drop"},
        {"a,y\r\n1,1\r\n1\r\n", "x:3:1: expected 2 fields as in the header, got 1"},
        {"\xef\xbb\xbf"
         "a,y\n1,2\n1,x\n",
         "x:3:3: column y: expected a label, a finite number, got 'x'; to take labels as words, "
         "name one in --label-map"},
        {noise, "--label names y, which is not a column of x"},
        {"y\n1\n", "x has no columns beside the labels, with --use and --drop: use some"},
    };
    for (const auto& [text, message] : table) {
        const auto said = refusal_of("csv", text, {{"label", "y"}});
        EXPECT_EQ(text == noise ? said.substr(0, message.size()) : said, message);
    }
}

TEST(Csv, NamesThatAreNotColumnsAreRefused)
{
    const std::string text = "action,mood,age\n1,2,3\n";
    const auto said = [&](const Given& given) { return refusal_of("csv", text, given); };
    EXPECT_EQ(said({}), "CSV needs --label COLUMN: the name of the column with the labels");
    EXPECT_EQ(said({{"label", "acton"}}),
              "--label names acton, which is not a column of x; did you mean action?");
    EXPECT_EQ(said({{"label", "action"}, {"categorical", "mod"}}),
              "--categorical names mod, which is not a column of x; did you mean mood?");
    EXPECT_EQ(said({{"label", "action"}, {"use", "age..mood"}}),
              "--use is age..mood, but the range age..mood is empty");
    EXPECT_EQ(said({{"label", "action"}, {"drop", "mood,age"}}),
              "x has no columns beside the labels, with --use and --drop: use some");
}

// What a table of the labels y and a column a says, of these cells.
Reals column_a(const std::string& text, Given given = {})
{
    given["label"] = "y";
    Reals cells;
    for (const auto& row : read_bytes("csv", text, given).value) cells.push_back(row.at(0));
    return cells;
}

TEST(Csv, FieldsMayBeSeparatedByBarsOrBlanks)
{
    const std::vector<Reals> wanted = {{1.5, 2}, {-3, 4}};
    for (const std::string text :
         {"a|b|y\n1.5|2|0\n-3|4|1\n", "  a   b y\n1.5 2\t0 \n  -3 \"4\"  1\n",
          "sep=;\r\na;b;y\r\n1.5;2;0\r\n-3;4;1\r\n", "\"sep=:\"\na:b:y\n1.5:2:0\n-3:4:1\n"}) {
        const auto rows = read_bytes("csv", text, {{"label", "y"}});
        EXPECT_EQ(rows.value, wanted) << text;
        EXPECT_EQ(rows.label, (Reals{0, 1})) << text;
        EXPECT_TRUE(test::entry(formats(), "csv").make.begins(text)) << text;
    }
}

TEST(Csv, LinesEndInAnyWay)
{
    for (const std::string end : {"\n", "\r\n", "\r", "\r\r\n"}) {
        const auto text = "a,y" + end + "1,0" + end + end + "2,1" + end + "   " + end;
        EXPECT_EQ(column_a(text), (Reals{1, 2})) << testing::PrintToString(end);
    }
    std::string many = "a,y\r";
    for (int i = 0; i < 300000; ++i) many += std::to_string(i) + ",1\r\n";
    const auto cells = column_a(many);
    ASSERT_EQ(cells.size(), 300000u);
    EXPECT_EQ(cells.back(), 299999);
    EXPECT_EQ(refusal_of("csv", many + "1\r", {{"label", "y"}}),
              "x:300002:1: expected 2 fields as in the header, got 1");
}

TEST(Csv, BlanksMayStandAroundQuotes)
{
    EXPECT_EQ(column_a("y, \"a\" \n0, \"1.5\"\n1,\"2\" \n"), (Reals{1.5, 2}));
    EXPECT_EQ(column_a("a, y\n1.5, 0\n2, 1\n"), (Reals{1.5, 2})) << "and around names";
    EXPECT_EQ(
        read_bytes("csv", "y,c\n0, \"u, v\"\n1, \"u, v\"\n", {{"label", "y"}, {"categorical", "c"}})
            .value,
        (std::vector<Reals>{{0}, {0}}));
}

TEST(Csv, CommentsAndSeparatorsAtTheEndsOfLinesAreNoPartOfTheTable)
{
    EXPECT_EQ(column_a("# made, today\n#\na,y\n1,0\n# half\n2,1\n"), (Reals{1, 2}));
    EXPECT_EQ(column_a("# by hand\n# a y\n1 0\n2 1\n"), (Reals{1, 2})) << "numpy.savetxt";
    EXPECT_EQ(column_a("#a,y\n1,0\n2,1\n"), (Reals{1, 2}));
    EXPECT_EQ(read_bytes("csv", "a,y,\n1,0,\n2,1, \n", {{"label", "y"}}).value,
              (std::vector<Reals>{{1}, {2}}));
    EXPECT_EQ(column_a("a,y\n1,0,\n2,1, \n"), (Reals{1, 2})) << "also if the header has none";
    EXPECT_EQ(read_bytes("csv", "1;0;\n2;1;\n", {{"header", "no"}, {"label", "2"}}).columns, 1);
    std::string late = "a,y,\n";
    for (int i = 0; i < 50; ++i) late += "1,0,\n";
    EXPECT_EQ(refusal_of("csv", late + "1,0,5\n", {{"label", "y"}}),
              "x:52:1: expected 2 fields as in the header, got 3");
}

TEST(Csv, TruthValuesAndTinyNumbersAreNumbers)
{
    EXPECT_EQ(column_a("a,y\nTrue,0\nFALSE,1\n1e-400,1\n"), (Reals{1, 0, 0}));
    EXPECT_EQ(column_a("a,y\n<NA>,0\nNone,1\n2,1\n", {{"missing", "mean"}})[2], 2);
    EXPECT_EQ(
        refusal_of("csv", "a,y\nNone,1\n", {{"label", "y"}}),
        "x:2:1: column a: the value is missing, 'None'; fill it, or give --missing mean or drop");
    EXPECT_EQ(column_a("a,y\nNone,0\nBrick,1\n", {{"categorical", "a"}}), (Reals{0, 1}))
        << "a word";
    EXPECT_NE(
        refusal_of("csv", "a,y\n1e400,1\n", {{"label", "y"}}).find("a finite number, got '1e400'"),
        std::string::npos);
}

TEST(Csv, MarksInNumbersMeanWhatTheOptionsSayOrNothing)
{
    const Given comma = {{"decimal", "comma"}};
    const auto with = [](Given given, const std::string& thousands) {
        given["thousands"] = thousands;
        return given;
    };
    const auto said = [](const std::string& cell, Given given) {
        given["label"] = "y";
        given["separator"] = "semicolon";
        return refusal_of("csv", "a;y\n" + cell + ";1\n", given);
    };
    EXPECT_NE(said("1.234", comma)
                  .find("got '1.234'; give --thousands point or --decimal point, whichever"),
              std::string::npos);
    EXPECT_NE(said("1.234,5", comma).find("; give --thousands point, whichever"),
              std::string::npos);
    EXPECT_NE(said("0.5", comma).find("; give --decimal point, whichever"), std::string::npos);
    EXPECT_NE(said("1,234,567.5", {}).find("; give --thousands comma, whichever"),
              std::string::npos);
    EXPECT_NE(said("1.234,5", {}).find("; give --decimal comma --thousands point, whichever"),
              std::string::npos);
    EXPECT_EQ(column_a("a;y\n1.234;0\n-12.345.678,5;1\n1234,5;1\n", with(comma, "point")),
              (Reals{1234, -12345678.5, 1234.5}));
    EXPECT_EQ(column_a("a,y\n\"1,234.5e1\",0\n999,1\n", with({}, "comma")), (Reals{12345, 999}));
    EXPECT_EQ(column_a("a;y\n1 234,5;0\n1\u202f000\u00a0000;1\n", with(comma, "blank")),
              (Reals{1234.5, 1e6}));
    EXPECT_EQ(column_a("a;y\n1'234.5;0\n", with({}, "apostrophe")), (Reals{1234.5}));
    for (const auto* wrong :
         {"1.23", "0.123", "12.34.567", "1234.567", "1.234.5", "1,5.678", ".123", "1..234"})
        EXPECT_NE(said(wrong, with(comma, "point")).find("a finite number"), std::string::npos)
            << wrong;
    EXPECT_EQ(said("1", with(comma, "comma")),
              "--thousands is comma, but decimals begin with a comma as well: leave one out");
    const auto labels =
        read_bytes("csv", "a;y\n1;0,5\n2;1,5\n", {{"label", "y"}, {"decimal", "comma"}}).label;
    EXPECT_EQ(labels, (Reals{0.5, 1.5})) << "labels are numbers too";
}

TEST(Csv, AMessageHoldsNoMoreThanAPieceOfTheFile)
{
    const std::string longest(5000, 'n');
    const auto short_enough = [](const std::string& said) { return said.size() < 400; };
    EXPECT_PRED1(short_enough, refusal_of("csv", longest + ",b\n1,2\n", {{"label", "y"}}));
    EXPECT_PRED1(short_enough, refusal_of("csv", "a,y\n" + longest + ",2\n", {{"label", "y"}}));
    EXPECT_PRED1(short_enough, refusal_of("csv", longest + ",y\nx,2\n", {{"label", "y"}}));
    std::string wide;
    for (int i = 0; i < 5000; ++i) wide += "c" + std::to_string(i) + ",";
    EXPECT_PRED1(short_enough, refusal_of("csv", wide + "d\n", {{"label", "target"}}));
}

// --- IDX -----------------------------------------------------------------------------------------

std::string idx(char type, const std::vector<std::uint32_t>& sizes, const std::string& elements)
{
    std::string bytes = {0, 0, type, static_cast<char>(sizes.size())};
    for (const auto size : sizes) bytes += big_endian(size);
    return bytes + elements;
}

TEST(Idx, ReadsElementsOfEveryType)
{
    const auto value = [](char type, const std::string& element) {
        return read_bytes("idx", idx(type, {1, 1}, element)).value[0][0];
    };
    EXPECT_EQ(value(0x08, "\xc8"), 200);
    EXPECT_EQ(value(0x09, "\xc8"), -56);
    EXPECT_EQ(value(0x0b, big_endian<std::int16_t>(-300)), -300);
    EXPECT_EQ(value(0x0c, big_endian<std::int32_t>(70000)), 70000);
    EXPECT_EQ(value(0x0d, big_endian(0.5F)), 0.5);
    EXPECT_EQ(value(0x0e, big_endian(0.1)), 0.1);
    const auto images = read_bytes("idx", idx(8, {2, 2, 3}, "abcdefghijkl"));
    EXPECT_EQ(images.image, "1x2x3");
    EXPECT_EQ(images.columns, 6);
    EXPECT_EQ(images.value[1], (Reals{'g', 'h', 'i', 'j', 'k', 'l'}));
    EXPECT_TRUE(std::isnan(images.label[0]));
}

TEST(Idx, MalformedFilesAreRefused)
{
    const std::string magic =
        ", neither those of IDX, 00 00, a type and 1 to 4 dimensions, nor of .npy or .npz; give "
        "another file or another --format";
    const std::string nothing = ": it holds nothing, or more than can be counted";
    const std::string good = idx(8, {2, 3}, "abcdef");
    const Table table = {
        {good.substr(0, 3),
         "x is truncated: it ends after 3 bytes, inside the head of an array that "
         "begins at byte 0"},
        {good.substr(0, 6),
         "x is truncated: it ends after 6 bytes, inside a dimension that begins at byte 4"},
        {good.substr(0, 12),
         "x is truncated: it ends after 12 bytes, inside array X that begins at "
         "byte 12"},
        {good.substr(0, 14),
         "x is truncated: it ends after 14 bytes, inside array X that begins at "
         "byte 12"},
        {good.substr(0, 17),
         "x is truncated: it ends after 17 bytes, inside array X that begins at "
         "byte 12"},
        {good + "g", "x is longer than it says: more follows after byte 18"},
        {"\x01" + good, "x: array X is none: its first bytes are 01 00 00 08" + magic},
        {idx(7, {1}, "a"), "x: array X is none: its first bytes are 00 00 07 01" + magic},
        {idx(8, {}, ""), "x: array X is none: its first bytes are 00 00 08 00" + magic},
        {idx(8, {1, 1, 1, 1, 1}, "a"),
         "x: array X is none: its first bytes are 00 00 08 05" + magic},
        {idx(8, {0, 3}, ""), "x: array X has the shape (0, 3)" + nothing},
        {idx(8, {3, 0}, ""), "x: array X has the shape (3, 0)" + nothing},
        {idx(8, {1, 0xffffffff}, "a"), "x: array X has the shape (1, 4294967295)" + nothing},
        {idx(8, {1, 0x10000, 0x10000}, "a"),
         "x: array X has the shape (1, 65536, 65536)" + nothing},
        {idx(8, {0x10000, 0x10000, 0x10000, 0x10000}, "a"),
         "x: array X is damaged: its shape is (65536, 65536, 65536, 65536)"},
        {idx(8, {0xffffffff, 1}, "ab"),
         "x is truncated: it ends after 14 bytes, inside array X that "
         "begins at byte 12"},
        {idx(0x0e, {1, 1}, big_endian(nan)),
         "x: array X holds nan in row 0, column 0, both from 0: fill it, or give --missing mean or "
         "drop"},
        {idx(0x0d, {1, 1}, big_endian(std::numeric_limits<float>::infinity())),
         "x: array X holds inf in row 0, column 0, both from 0: give finite numbers"},
        {"", "x is empty: give a file with data"},
        {noise, "x: array X is none: its first bytes are 01 02 ff fe" + magic},
        {"\xef\xbb\xbf" + good, "x: array X is none: its first bytes are ef bb bf 00" + magic},
    };
    for (const auto& [bytes, message] : table) EXPECT_EQ(refusal_of("idx", bytes), message);
    EXPECT_EQ(refusal_of("idx", good, {}, {.max_bytes = 13}),
              "x is more than --max-bytes 13 when decompressed: allow more if it is meant");
}

// --- CIFAR-10 ------------------------------------------------------------------------------------

std::string record(char label) { return label + std::string(3072, '\x80'); }

TEST(Cifar10, ReadsRecords)
{
    const auto rows = read_bytes("cifar10", record(3) + record(9));
    EXPECT_EQ(rows.label, (Reals{3, 9}));
    EXPECT_EQ(rows.value[1], Reals(3072, 128));
    EXPECT_EQ(rows.image, "3x32x32");
}

TEST(Cifar10, MalformedFilesAreRefused)
{
    const auto label = [](int row, int value) {
        return "x is no CIFAR-10 file: record " + std::to_string(row) + " has the label " +
               std::to_string(value) + ", not 0 to 9";
    };
    const auto cut = [](int row, int bytes) {
        return "x is truncated: record " + std::to_string(row) + " has " + std::to_string(bytes) +
               " of 3073 bytes";
    };
    const Table table = {
        {"", "x is empty: give a file with data"},
        {record(1).substr(0, 1), cut(1, 1)},
        {record(1).substr(0, 3072), cut(1, 3072)},
        {record(1) + "a", cut(2, 1)},
        {record(1) + record(2).substr(0, 100), cut(2, 100)},
        {record(10), label(1, 10)},
        {record('\xff'), label(1, 255)},
        {record(0) + record(10), label(2, 10)},
        {record(0) + "\n" + record(0), label(2, 10)},
        {"\n" + record(0), label(1, 10)},
        {"\xef\xbb\xbf" + record(0), label(1, 239)},
        {std::string(3074, '1'), label(1, 49)},    // CIFAR-100, text
        {std::string(2 * 3074, '\1'), cut(3, 2)},  // CIFAR-100's record size
        {noise, cut(1, static_cast<int>(noise.size()))},
        {record(0) + record(0) + record(0).substr(0, 3000), cut(3, 3000)},
    };
    for (const auto& [bytes, message] : table) EXPECT_EQ(refusal_of("cifar10", bytes), message);
    EXPECT_EQ(refusal_of("cifar10", record(0), {}, {.max_bytes = 3000}),
              "x is more than --max-bytes 3000 when decompressed: allow more if it is meant");
}

// --- PETSc binary --------------------------------------------------------------------------------

template <class Integer>
std::string petsc(const std::vector<Integer>& integers, const Reals& values = {})
{
    std::string bytes;
    for (const auto integer : integers) bytes += big_endian(integer);
    for (const auto value : values) bytes += big_endian(value);
    return bytes;
}

TEST(PetscBinary, ReadsSparseAndDenseMatricesWithIntegersOfEitherWidth)
{
    const Reals values = {5, 6, 7};
    const auto narrow = petsc<std::int32_t>({1211216, 2, 4, 3, 2, 1, 0, 3, 1}, values);
    const auto wide = petsc<std::int64_t>({1211216, 2, 4, 3, 2, 1, 0, 3, 1}, values);
    for (const auto& bytes : {narrow, wide}) {
        const auto rows = read_bytes("petsc", bytes);
        EXPECT_EQ(rows.columns, 4);
        EXPECT_EQ(rows.column, (std::vector<Integers>{{0, 3}, {1}}));
        EXPECT_EQ(rows.value, (std::vector<Reals>{{5, 6}, {7}}));
    }
    const auto dense = read_bytes("petsc", petsc<std::int32_t>({1211216, 2, 2, -1}, {1, 2, 3, 4}));
    EXPECT_EQ(dense.value, (std::vector<Reals>{{1, 2}, {3, 4}}));
    const Folder folder;
    EXPECT_EQ(labels_of(folder.write("y", petsc<std::int32_t>({1211214, 2}, {1, -1}))),
              (Reals{1, -1}));
}

TEST(PetscBinary, MalformedFilesAreRefused)
{
    using I = std::vector<std::int32_t>;
    const auto of = [](const I& integers, const Reals& values = {}) {
        return petsc<std::int32_t>(integers, values);
    };
    const auto good = of({1211216, 1, 2, 2, 2, 0, 1}, {5, 6});
    const auto ends = [](int bytes, const std::string& what, int begins) {
        return "x is truncated: it ends after " + std::to_string(bytes) + " bytes, inside " + what +
               " that begins at byte " + std::to_string(begins);
    };
    const Table table = {
        {good.substr(0, 2), ends(2, "the class id", 0)},
        {good.substr(0, 9), ends(9, "the sizes", 8)},
        {good.substr(0, 17), ends(17, "the lengths of the rows", 16)},
        {good.substr(0, 22), ends(22, "the numbers of the columns", 20)},
        {good.substr(0, 40), ends(40, "the values", 36)},
        {good + "a", ends(45, "the class id", 44)},
        {good + good + "abcd", "x is longer than it says: more follows after byte 88"},
        {of({1211214, 1}, {1}), "x holds no matrix: give it with --labels if it holds these"},
        {of({1211216, 0, 2, 0}), "x is damaged: a matrix of 0 x 2 with 0 entries"},
        {of({1211216, 1, 0, 0, 0}), "x is damaged: a matrix of 1 x 0 with 0 entries"},
        {of({1211216, 1, 2, -2, 0}), "x is damaged: a matrix of 1 x 2 with -2 entries"},
        {of({1211216, 1, 2, 3, 3, 0, 1, 1}), "x is damaged: a row has 3 entries in 2 columns"},
        {of({1211216, 1, 2, 1, -1}), "x is damaged: a row has -1 entries in 2 columns"},
        {of({1211216, 1, 2, 2, 1, 0}), "x is damaged: it has 2 entries, but its rows 1"},
        {of({1211216, 1, 2, 1, 1, 2}, {1}), "x is damaged: it has an entry in column 2 of 2"},
        {of({1211216, 1, 2, 2, 2, 1, 1}, {1, 1}), "x is damaged: column 1 stands twice in a row"},
        {of({1211216, 1, 2, 2, 2, 1, -1}, {1, 1}),
         "x is damaged: it has an entry in column -1 of 2"},
        {of({1211216, 1, 1, 1, 1, 0}, {nan}),
         "x is not of finite numbers alone: the value before byte 32 is nan"},
        {of({1211216, 1, 1, -1}, {infinity}),
         "x is not of finite numbers alone: the value before byte 24 is inf"},
        {of({1211216, 2147483647, 2, 5}), ends(16, "the lengths of the rows", 16)},
        {"", "x is empty: give a file with data"},
        {noise, "x is no matrix or vector of PETSc: its class id is 16973822"},
    };
    for (const auto& [bytes, message] : table) EXPECT_EQ(refusal_of("petsc", bytes), message);
}

TEST(PetscBinary, AMatrixAndItsRightHandSideMayShareAFile)
{
    const auto matrix = petsc<std::int32_t>({1211216, 2, 3, 3, 2, 1, 2, 0, 1}, {5, 6, 7});
    const auto labels = petsc<std::int32_t>({1211214, 2}, {1, -1}),
               other = petsc<std::int32_t>({1211214, 3}, {7, 8, 9});
    for (const auto& file : {matrix + labels, matrix + other + labels + other, labels + matrix}) {
        const auto rows = read_bytes("petsc", file);
        EXPECT_EQ(rows.label, (Reals{1, -1}));
        EXPECT_EQ(rows.column, (std::vector<Integers>{{0, 2}, {1}})) << "whatever their order";
        EXPECT_EQ(rows.value, (std::vector<Reals>{{6, 5}, {7}}));
        EXPECT_TRUE(test::entry(formats(), "petsc").make.begins(file));
    }
    const Folder folder;
    EXPECT_EQ(labels_of(folder.write("y", matrix + labels)), (Reals{1, -1}));
    const auto indices = petsc<std::int32_t>({1211218, 2, 0, 1}),
               sparse = petsc<std::int32_t>({1211216, 1, 1, 1, 1, 0}, {nan}),
               dense = petsc<std::int32_t>({1211216, 1, 2, -1}, {nan, 0});
    EXPECT_EQ(labels_of(folder.write("y", sparse + indices + dense + labels + other + dense)),
              (Reals{1, -1}))
        << "whatever the numbers of the others";
    EXPECT_EQ(read_bytes("petsc", indices + matrix + dense + sparse + labels).label,
              (Reals{1, -1}));
    EXPECT_TRUE(std::isnan(read_bytes("petsc", matrix + other).label[0]))
        << "as many as there are rows";
    EXPECT_EQ(refusal_of("petsc", matrix + labels.substr(0, 10)),
              "x is truncated: it ends after 70 bytes, inside the values that begins at byte 68");
}

// --- HDF5 arrays ---------------------------------------------------------------------------------

class Hdf5Arrays : public ::testing::Test {
protected:
    Folder folder_;
    std::string path_ = folder_.file("a.h5");
    h5::File file_ = h5::create(path_);

    void reals(const std::string& name, const Reals& values)
    {
        h5::write<double>(file_.get(), name, values);
    }
    void dense(const std::string& name, std::int64_t width, const Reals& values)
    {
        const auto made = h5::create_extendable<double>(file_.get(), name, 2, width);
        h5::append<double>(made, values);
    }
    test::Read read(const Given& given)
    {
        file_ = {};
        return test::read_file("hdf5", path_, given);
    }
    std::string refusal(const Given& given)
    {
        file_ = {};
        auto said = test::refusal([&] { test::read_file("hdf5", path_, given); });
        for (std::size_t at = 0; (at = said.find(path_)) != std::string::npos;)
            said.replace(at, path_.size(), "x");
        return said;
    }
};

TEST_F(Hdf5Arrays, DenseArraysAreReadByName)
{
    dense("X", 2, {1, 2, 3, 4, 5, 6});
    reals("y", {1, 0, 1});
    const auto rows = read({{"array", "X"}, {"label", "y"}});
    EXPECT_EQ(rows.value, (std::vector<Reals>{{1, 2}, {3, 4}, {5, 6}}));
    EXPECT_EQ(rows.label, (Reals{1, 0, 1}));
}

TEST_F(Hdf5Arrays, WhatDoesNotFitIsRefused)
{
    dense("X", 2, {1, 2, 3, 4});
    dense("bad", 2, {1, nan});
    dense("none", 2, {});
    reals("y", {1, 0});
    reals("long", {1, 0, 1});
    reals("infinite", {1, infinity});
    const std::vector<std::pair<Given, std::string>> table = {
        {{},
         "HDF5 input needs --array NAME, a dense array; of CSR arrays make a data set in Python: "
         "quorate.dataset(scipy.sparse.csr_matrix((value, column, start)), y, path=...)"},
        {{{"array", "Y"}}, "--array is Y, but x has no array Y: h5ls lists them"},
        {{{"array", "y"}},
         "x: array y has the shape (2): give rows x columns, of NumPy X.reshape(-1, 1) for "
         "one column, or images as rows x (channels x) height x width; labels alone belong to "
         "--labels"},
        {{{"array", "X"}, {"label", "z"}}, "--label is z, but x has no array z: h5ls lists them"},
        {{{"array", "X"}, {"label", "X"}},
         "x: array X has the shape (2, 2): labels are one number or word a row, as y.reshape(-1) "
         "for one row of "
         "them; of one-hot rows give y.argmax(axis=1)"},
        {{{"array", "X"}, {"label", "long"}},
         "x: array long has 3 labels for 2 rows: give one for each"},
        {{{"array", "X"}, {"label", "infinite"}},
         "x: array infinite holds an infinite label: give finite numbers"},
        {{{"array", "bad"}},
         "x: array bad holds nan in row 0, column 1, both from 0: fill it, or give --missing mean "
         "or drop"},
        {{{"array", "none"}},
         "x: array none has the shape (0, 2): it holds nothing, or more than can be counted"},
    };
    for (const auto& [given, message] : table) EXPECT_EQ(refusal(given), message);
    EXPECT_NE(refusal_of("hdf5", "text", {{"array", "X"}}).find("is not an HDF5 file"),
              std::string::npos);
}

TEST_F(Hdf5Arrays, LabelsMayBeAColumnOrWordsAndRowsImagesWithGaps)
{
    dense("X", 2, {1, nan, 3, 4, 5, 6});
    dense("column", 1, {1, 0, 1});
    h5::write_strings(file_.get(), "words", {"no", "yes", "no"});
    {
        const hsize_t size[] = {3, 2, 2};
        const h5::Space space(H5Screate_simple(3, size, nullptr), "make a space");
        const h5::DataSet images(H5Dcreate2(file_.get(), "images", H5T_NATIVE_DOUBLE, space.get(),
                                            H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                 "create");
        const Reals pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        h5::check(
            H5Dwrite(images.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, pixels.data()),
            "write");
    }
    const auto rows = read({{"array", "X"}, {"label", "column"}, {"missing", "mean"}});
    EXPECT_EQ(rows.label, (Reals{1, 0, 1}));
    EXPECT_TRUE(std::isnan(rows.value[0][1])) << "the encoder fills it";
    const auto images = test::read_file("hdf5", path_, {{"array", "images"}, {"label", "words"}});
    EXPECT_EQ(images.image, "1x2x2");
    EXPECT_EQ(images.value[1], (Reals{5, 6, 7, 8}));
    EXPECT_EQ(images.label, (Reals{0, 1, 0}));
}

TEST_F(Hdf5Arrays, WhatIsNotDamagedIsNotCalledSo)
{
    h5::create_group(file_.get(), "group");
    h5::check(H5Lcreate_soft("/gone", file_.get(), "link", H5P_DEFAULT, H5P_DEFAULT), "link");
    h5::check(
        H5Lcreate_external("other.h5", "/x", file_.get(), "outside", H5P_DEFAULT, H5P_DEFAULT),
        "link");
    h5::write_strings(file_.get(), "words", {"no"});
    {
        const h5::Type pair(H5Tcreate(H5T_COMPOUND, 16), "make a type");
        H5Tinsert(pair.get(), "r", 0, H5T_NATIVE_DOUBLE);
        H5Tinsert(pair.get(), "i", 8, H5T_NATIVE_DOUBLE);
        const hsize_t size[] = {2, 2};
        const h5::Space space(H5Screate_simple(2, size, nullptr), "make a space");
        const auto make = [&](const char* name, hid_t type, hid_t how) {
            return h5::DataSet(
                H5Dcreate2(file_.get(), name, type, space.get(), H5P_DEFAULT, how, H5P_DEFAULT),
                name);
        };
        make("complex", pair.get(), H5P_DEFAULT);
        // A filter that is optional may be missing when the file is written.
        const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make properties");
        h5::check(H5Pset_chunk(properties.get(), 2, size), "set a chunk");
        h5::check(H5Pset_filter(properties.get(), 32000, H5Z_FLAG_OPTIONAL, 0, nullptr),
                  "set a filter");
        make("packed", H5T_NATIVE_DOUBLE, properties.get());
    }
    const std::vector<std::pair<std::string, std::string>> table = {
        {"group",
         "but group of x is a group of arrays and none itself: name one in it, as group/..."},
        {"link", "but link of x is a link to /gone, which is not there"},
        {"outside",
         "but outside of x is a link to /x of other.h5, which is another file: give that file, and "
         "a name in it"},
        {"words", "but words of x holds words where numbers are needed"},
        {"complex", "but complex of x holds complex numbers: give real ones"},
        {"packed",
         "but packed of x is packed with a filter (number 32000), which is not at hand: write it "
         "with gzip, as "
         "create_dataset(..., compression='gzip') of h5py does"},
    };
    for (const auto& [name, message] : table)
        EXPECT_EQ(refusal({{"array", name}}), "--array is " + name + ", " + message);
}

// --- labels of their own -------------------------------------------------------------------------

TEST(Labels, MayBeWordsInALineEach)
{
    const Folder folder;
    EXPECT_EQ(read_labels(folder.write("w", "no\nvery yes\n\nno\n1\n"), {}).words,
              (std::vector<std::string>{"no", "very yes", "no", "1"}));
    const auto path = folder.write("b", noise);
    EXPECT_EQ(test::refusal([&] { read_labels(path, {}); }).substr(path.size()),
              ":1:1: a control character: labels are a line of text each, IDX or a PETSc vector");
}

TEST(Labels, AreReadFromTextIdxAndPetscVectors)
{
    const Folder folder;
    EXPECT_EQ(labels_of(folder.write("t", "3\n\n 4.5 \r\n-1")), (Reals{3, 4.5, -1}));
    EXPECT_EQ(labels_of(folder.write("i", idx(8, {3}, "abc"))), (Reals{'a', 'b', 'c'}));
    const auto said = [&](const std::string& bytes) {
        const auto path = folder.write("y", bytes);
        return test::refusal([&] { labels_of(path); }).substr(path.size());
    };
    EXPECT_EQ(said("1\nmaybe\n"), ":2:1: expected a label, a finite number, got 'maybe'");
    EXPECT_EQ(said("1\nnan\n"), ":2:1: expected a label, a finite number, got 'nan'");
    EXPECT_NE(said(idx(8, {1, 2}, "ab")).find("labels are one number or word a row"),
              std::string::npos);
    EXPECT_EQ(said(idx(8, {2}, "a")),
              " is truncated: it ends after 9 bytes, inside array y that begins at byte 8");
    EXPECT_EQ(said(petsc<std::int32_t>({1211214, 0})), " is damaged: a vector of 0 elements");
    EXPECT_EQ(said(petsc<std::int32_t>({1211214, 1}, {nan})),
              " is not of finite numbers alone: the value before byte 16 is nan");
}

}  // namespace
}  // namespace quorate
