// SPDX-License-Identifier: BSD-2-Clause
// From text to rows: LIBSVM, CSV, encodings, labels, compressed files, the split.
//
// GCC 12 sees an overlap in Boost's compressor where none is.
#pragma GCC diagnostic ignored "-Wrestrict"
#include <gtest/gtest.h>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "data/csv.hpp"
#include "data/encode.hpp"
#include "data/examples.hpp"
#include "data/libsvm.hpp"
#include "data/source.hpp"
#include "data/split_rows.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;
using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

Examples libsvm(const std::string& text, std::int64_t columns = 0)
{
    std::istringstream in(text);
    return read_libsvm(in, "x", columns);
}

CsvTable csv(const std::string& text)
{
    std::istringstream in(text);
    return read_csv(in, "x");
}

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

// --- LIBSVM --------------------------------------------------------------------------------------

TEST(Libsvm, ReadsRowsCommentsAndBlanks)
{
    const auto rows = libsvm("# head\n+1 1:0.5 3:2 # tail\r\n\n-1\t2:1e-1\n-1\n");
    EXPECT_EQ(rows.columns, 3);
    EXPECT_EQ(rows.start, (Integers{0, 2, 3, 3}));
    EXPECT_EQ(rows.column, (Integers{0, 2, 1}));
    EXPECT_EQ(rows.value, (Reals{0.5, 2, 0.1}));
    EXPECT_EQ(rows.label, (Reals{1, -1, -1}));
}

TEST(Libsvm, DropsZerosButTheyWidenTheData)
{
    const auto rows = libsvm("1 1:1 9:0");
    EXPECT_EQ(rows.columns, 9);
    EXPECT_EQ(rows.column, (Integers{0}));
    EXPECT_EQ(libsvm("1 1:1", 12).columns, 12);
}

TEST(Libsvm, MalformedLinesAreNamedByLineAndColumn)
{
    const std::vector<std::pair<std::string, std::string>> table = {
        {"1 1:1\nyes 1:1\n", "x:2:1: expected a label, a finite number, got 'yes'"},
        {"nan 1:1\n", "x:1:1: expected a label, a finite number, got 'nan'"},
        {"1 1:1 7\n", "x:1:7: expected index:value, got '7'"},
        {"1 0:1\n", "x:1:3: expected an index of at least 1, got '0'"},
        {"1 a:1\n", "x:1:3: expected an index of at least 1, got 'a'"},
        {"1 2:1 2:1\n", "x:1:7: index 2 does not ascend: it follows 2"},
        {"1 3:1 2:1\n", "x:1:7: index 2 does not ascend: it follows 3"},
        {"1 3:\n", "x:1:5: expected a finite number, got ''"},
        {"1 3:inf\n", "x:1:5: expected a finite number, got 'inf'"},
        {"\x01\x02zyxwvutsrqponmlkjihg\n",
         "x:1:1: expected a label, a finite number, got '??zyxwvutsrqponmlkji...'"},
        {"", "x holds no rows: give LIBSVM text"},
        {"# nothing\n", "x holds no rows: give LIBSVM text"},
    };
    for (const auto& [text, message] : table)
        EXPECT_EQ(refusal([&, t = text] { libsvm(t); }), message);
    EXPECT_EQ(refusal([] { libsvm("1 3:1", 2); }), "x:1:3: index 3 is beyond --columns 2");
}

// --- CSV -----------------------------------------------------------------------------------------

TEST(Csv, ReadsQuotedFieldsWithCommasQuotesAndLineEnds)
{
    const auto table =
        csv("\xef\xbb\xbf"
            "a,\"b,c\",d\r\n1,\"x \"\"y\"\"\",\n\n2,\"two\nlines\",3");
    EXPECT_EQ(table.header, (std::vector<std::string>{"a", "b,c", "d"}));
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.cell(0, 1), "x \"y\"");
    EXPECT_EQ(table.cell(0, 2), "");
    EXPECT_EQ(table.cell(1, 1), "two\nlines");
}

TEST(Csv, MalformedTextIsNamedByLineAndColumn)
{
    const std::vector<std::pair<std::string, std::string>> table = {
        {"a,b\n1,2\n3\n", "x:3:1: expected 2 fields as in the header, got 1"},
        {"a,b\n1,2,3\n", "x:2:1: expected 2 fields as in the header, got 3"},
        {"a,b\n1,\"2\n", "x:2:3: a quote opened in line 2 is not closed"},
        {"a,b\n\"1\"2,3\n", "x:2:4: expected a comma after the closing quote"},
        {"a,b\n1\"2,3\n",
         "x:2:2: a quote inside an unquoted field: quote the field and double the quote"},
        {"a,b\n", "x holds no rows after its header: give CSV text"},
        {"", "x holds no header line: give CSV text"},
    };
    for (const auto& [text, message] : table)
        EXPECT_EQ(refusal([&, t = text] { csv(t); }), message);
    EXPECT_EQ(refusal([] { csv(std::string("a,b\n1,\0", 7)); }),
              "x:2:3: a zero byte: this is not text");
}

TEST(Csv, RecordsKnowTheLineAndColumnOfEachField)
{
    std::istringstream in("a,b,c\n\n1,\"two\nlines\",\n4,55,6\n");
    CsvRecords records(in, "x");
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

TEST(Csv, TablesOfDifferentColumnsAreNotJoined)
{
    auto table = csv("a,b\n1,2\n");
    table.append(csv("a,b\n3,4\n"), "y");
    EXPECT_EQ(table.rows(), 2u);
    EXPECT_EQ(refusal([&] { table.append(csv("a,c\n3,4\n"), "y"); }),
              "y has other columns than the training file: give files of one form");
}

// --- encoding ------------------------------------------------------------------------------------

TEST(Encode, ACategoryBecomesAColumnForEachValueInOrderOfAppearance)
{
    Encoding encoding;
    encoding.label = "y";
    encoding.categorical = {"c"};
    const auto rows = encode(csv("y,c,v\n1,red,0.5\n0,blue,0\n1,red,2\n"), encoding, "x");
    EXPECT_EQ(rows.columns, 3);
    EXPECT_EQ(rows.feature, (std::vector<std::string>{"c=red", "c=blue", "v"}));
    EXPECT_EQ(rows.start, (Integers{0, 2, 3, 5}));
    EXPECT_EQ(rows.column, (Integers{0, 2, 1, 0, 2}));
    EXPECT_EQ(rows.value, (Reals{1, 0.5, 1, 1, 2}));
    EXPECT_EQ(rows.label, (Reals{1, 0, 1}));
}

TEST(Encode, PairsAreDistinctPairsOfValuesWithoutThoseExcluded)
{
    Encoding encoding;
    encoding.label = "y";
    encoding.all_categorical = true;
    encoding.pairs = true;
    encoding.excluded_pairs = {{"c", "a"}};  // in any order
    encoding.intercept = true;
    const auto rows = encode(csv("y,a,b,c\n1,1,1,1\n0,1,2,1\n1,2,1,1\n1,1,1,1\n"), encoding, "x");
    // Singles a=1 a=2 b=1 b=2 c=1; pairs a*b: 3 of them, b*c: 2; the intercept.
    EXPECT_EQ(rows.columns, 5 + 3 + 2 + 1);
    EXPECT_EQ(rows.feature[5], "a*b=1*1");
    EXPECT_EQ(rows.feature.back(), "intercept");
    for (std::size_t row = 0; row < 4; ++row)
        EXPECT_EQ(rows.start[row + 1] - rows.start[row], 3 + 2 + 1);
    EXPECT_TRUE(std::equal(rows.column.begin(), rows.column.begin() + 6, rows.column.end() - 6));
}

TEST(Encode, NamesThatAreNotColumnsAndCellsThatAreNotNumbersAreRefused)
{
    const auto table = csv("action,mood\n1,good\n");
    Encoding encoding;
    encoding.label = "acton";
    EXPECT_EQ(refusal([&] { encode(table, encoding, "x"); }),
              "--label names acton, which is not a column of x; did you mean action?");
    encoding.label = "action";
    EXPECT_EQ(refusal([&] { encode(table, encoding, "x"); }),
              "x: row 1, column mood: expected a finite number, got 'good'; name the column in "
              "--categorical if it is not one");
    encoding.categorical = {"mod"};
    EXPECT_EQ(refusal([&] { encode(table, encoding, "x"); }),
              "--categorical names mod, which is not a column of x; did you mean mood?");
}

TEST(Encode, NumberingByFirstUseMovesColumnsAndTheirNames)
{
    Examples rows;
    rows.columns = 4;
    rows.start = {0, 2, 3};
    rows.column = {1, 3, 0};
    rows.value = {5, 6, 7};
    rows.label = {1, -1};
    rows.feature = {"a", "b", "c", "d"};
    const Integers order = {1};  // row 1 first: column 0, then 1, 3, then what nobody uses
    number_by_first_use(rows, order);
    EXPECT_EQ(rows.feature, (std::vector<std::string>{"a", "b", "d", "c"}));
    EXPECT_EQ(rows.column, (Integers{1, 2, 0}));
    EXPECT_EQ(rows.value, (Reals{5, 6, 7}));
}

// --- labels --------------------------------------------------------------------------------------

TEST(Labels, TheSmallerOfTwoValuesBecomesMinusOne)
{
    Reals labels = {3, 1, 3};
    map_labels(labels, "");
    EXPECT_EQ(labels, (Reals{1, -1, 1}));
}

TEST(Labels, AMapSendsSeveralValuesToAClass)
{
    Reals labels = {0, 1, 2};
    map_labels(labels, "0:-1,1:1,2:1");
    EXPECT_EQ(labels, (Reals{-1, 1, 1}));
}

TEST(Labels, WhatIsNotTwoClassesIsRefused)
{
    const auto said = [](Reals labels, const std::string& map) {
        return refusal([&] { map_labels(labels, map); });
    };
    EXPECT_EQ(said({1, 1}, ""),
              "the labels are not two classes but 1: 1; map them with --label-map");
    EXPECT_EQ(
        said({1, 2, 3, 4, 5, 6, 7}, ""),
        "the labels are not two classes but 7: 1, 2, 3, 4, 5, more; map them with --label-map");
    EXPECT_EQ(said({0, 2}, "0:-1,1:1"), "label 2 is not in --label-map 0:-1,1:1: add it");
    EXPECT_EQ(said({0, 1}, "0:-1,1:2"),
              "--label-map has '1:2': write FROM:-1 or FROM:1, separated by commas");
    EXPECT_EQ(said({0, 1}, "0:1,1:1"),
              "the labels are not two classes but 2: 0, 1; map them with --label-map");
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
    const auto wanted = libsvm(text);
    for (const auto& kind : kinds(text)) {
        const auto path = folder.write(kind.name, kind.bytes);
        const auto rows = read_libsvm(*open_source(path), path, 0);
        EXPECT_EQ(rows.label, wanted.label) << kind.name;
        EXPECT_EQ(rows.value, wanted.value) << kind.name;
    }
}

TEST(Source, SeveralGzipMembersAreOneFile)
{
    const Folder folder;
    const auto path = folder.write("two.gz", compressed("1 1:1\n", io::gzip_compressor()) +
                                                 compressed("-1 2:1\n", io::gzip_compressor()));
    EXPECT_EQ(read_libsvm(*open_source(path), path, 0).rows(), 2);
}

TEST(Source, TruncatedCompressedFilesAreRefusedWithOneMessage)
{
    const Folder folder;
    for (const auto& kind : kinds(long_text())) {
        if (kind.name == "plain") continue;
        for (const std::size_t left : {kind.bytes.size() / 2, kind.bytes.size() - 5}) {
            const auto path = folder.write(kind.name, kind.bytes.substr(0, left));
            const auto said = refusal([&] { read_libsvm(*open_source(path), path, 0); });
            const auto begin =
                path + " is damaged or truncated: its compressed data end wrongly after line ";
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
        const auto said = refusal([&] { read_libsvm(*open_source(path), path, 0); });
        EXPECT_EQ(said.substr(0, path.size()), path) << kind.name << ": " << said;
    }
}

TEST(Source, WhatCannotBeOpenedOrIsEmptyIsRefused)
{
    const Folder folder;
    EXPECT_EQ(refusal([&] { open_source(folder.file("none")); }),
              "cannot open " + folder.file("none") + ": No such file or directory");
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
