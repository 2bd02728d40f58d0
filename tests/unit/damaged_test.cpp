// SPDX-License-Identifier: BSD-2-Clause
// HDF5 files whose attributes, sizes, types and numbers are not those that the program writes: by
// damage, or on purpose.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "command.hpp"
#include "data/data_set.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "support.hpp"
#include "trace/reader.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;
using Damage = std::function<void(const h5::File&)>;

/// A data set and a trace as the program writes them, of which each test changes a copy.
class Damaged : public ::testing::Test {
protected:
    static void SetUpTestSuite()
    {
        folder_ = std::make_unique<Folder>();
        const auto ok = [](const std::string& words) {
            const auto said = test::command(words);
            ASSERT_EQ(said.status, 0) << said.text;
        };
        folder_->write("d.csv", "y,a,b\nno,1,2\nyes,3,5\nno,2,1\nyes,5,4\nno,1,3\nyes,4,4\n");
        ok(fmt::format("import --input {} --output {} --label y --missing mean --scale standardise",
                       folder_->file("d.csv"), sound_data()));
        ok(fmt::format("simulate --quiet --data {} --workers 3 --rounds 4 --step 0.1 --trace {}",
                       sound_data(), sound_trace()));
    }
    static void TearDownTestSuite() { folder_.reset(); }
    static std::string sound_data() { return folder_->file("d.h5"); }
    static std::string sound_trace() { return folder_->file("t.h5"); }

    /// A copy of a file with this change.
    static std::string changed(const std::string& file, const Damage& change)
    {
        const auto path = folder_->file("x.h5");
        std::filesystem::copy_file(file, path, std::filesystem::copy_options::overwrite_existing);
        auto made = h5::open_to_append(path);
        change(made);
        made.close("close");
        return path;
    }
    static std::string trace_refusal(const Damage& change)
    {
        const auto path = changed(sound_trace(), change);
        return without(path, refusal([&] { trace::read(path); }));
    }
    /// What is said when all of a data set is read.
    static std::string data_refusal(const Damage& change)
    {
        const auto path = changed(sound_data(), change);
        return without(path, refusal([&] {
                           const DataSet data(path);
                           data.read(Split::train, 0, data.rows(Split::train));
                           data.labels(Split::train);
                           data.features();
                           data.source_columns();
                           data.class_names();
                           data.scaling();
                           data.means();
                           data.attributes();
                       }));
    }

private:
    static std::string without(const std::string& path, std::string said)
    {
        const auto at = said.find(path);
        return at == std::string::npos ? "without a name: " + said
                                       : said.replace(at, path.size(), "x");
    }
    static inline std::unique_ptr<Folder> folder_;
};

/// Makes an attribute an array of numbers.
Damage array_in(const std::string& name)
{
    return [name](const h5::File& file) {
        if (h5::has_attribute(file.get(), name)) H5Adelete(file.get(), name.c_str());
        const hsize_t count = 512;
        const h5::Space space(H5Screate_simple(1, &count, nullptr), "make a space");
        const h5::Attribute made(H5Acreate2(file.get(), name.c_str(), H5T_NATIVE_DOUBLE,
                                            space.get(), H5P_DEFAULT, H5P_DEFAULT),
                                 "make an attribute");
        const std::vector<double> values(count, 1);
        h5::check(H5Awrite(made.get(), H5T_NATIVE_DOUBLE, values.data()), "write");
    };
}

Damage remove(const std::string& name)
{
    return [name](const h5::File& file) {
        h5::check(H5Ldelete(file.get(), name.c_str(), H5P_DEFAULT), "delete " + name);
    };
}

/// Replaces a data set by one with these values.
template <class T>
Damage values_in(const std::string& name, std::vector<T> values)
{
    return [=](const h5::File& file) {
        remove(name)(file);
        h5::write<T>(file.get(), name, values);
    };
}

/// Puts one number in the place of another.
template <class T>
Damage number_in(const std::string& name, std::size_t row, T number)
{
    return [=](const h5::File& file) {
        auto values = h5::read<T>(file.get(), name);
        values.at(row) = number;
        values_in<T>(name, values)(file);
    };
}

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST_F(Damaged, AnAttributeThatIsAnArrayIsNotReadIntoANumber)
{
    for (const auto* name :
         {"format", "format_version", "status", "config", "model", "rows", "workers", "l2"})
        EXPECT_EQ(
            trace_refusal(array_in(name)),
            fmt::format("x is damaged (HDF5: attribute {} has 512 values, one expected): if it "
                        "is being written, try again",
                        name));
    for (const auto* name : {"format", "format_version", "name", "columns", "dense", "classes",
                             "task", "image", "ones"})
        EXPECT_EQ(data_refusal(array_in(name)),
                  fmt::format("x is damaged (HDF5: attribute {} has 512 values, one expected): "
                              "import it again",
                              name));
}

TEST_F(Damaged, AttributesOfTheWrongKindOrOfNoneAreRefused)
{
    EXPECT_EQ(trace_refusal([](const auto& file) {
                  h5::write_attribute(file.get(), "rounds", std::string("many"));
              }),
              "x is damaged (HDF5: attribute rounds is not a number): if it is being written, try "
              "again");
    EXPECT_EQ(
        trace_refusal([](const auto& file) { H5Adelete(file.get(), "status"); }),
        "x is damaged (HDF5: cannot open attribute status: can't locate attribute: 'status'): "
        "if it is being written, try again");
    EXPECT_EQ(data_refusal([](const auto& file) {
                  h5::write_attribute(file.get(), "name", std::int64_t{3});
              }),
              "x is damaged (HDF5: attribute name is not a string): import it again");
}

TEST_F(Damaged, AttributesOfOtherProgramsAreLeftAlone)
{
    const auto path = changed(sound_trace(), array_in("note"));
    EXPECT_FALSE(trace::read(path).attributes.contains("note"));
}

TEST_F(Damaged, PlacesThatATraceNamesAreInItsTables)
{
    const std::vector<std::pair<Damage, std::string>> table = {
        {number_in<std::int64_t>("arrival/worker", 1, -5), "row 1 of arrival"},
        {number_in<std::int64_t>("arrival/worker", 0, 3), "row 0 of arrival"},
        {number_in<std::int64_t>("arrival/samples", 2, -1), "row 2 of arrival"},
        {number_in<double>("arrival/compute", 2, nan), "row 2 of arrival"},
        {number_in<double>("round/time", 3, nan), "row 3 of round"},
        {number_in<std::int64_t>("round/used", 3, -4), "row 3 of round"},
        {number_in<std::int64_t>("membership/worker", 0, 7), "row 0 of membership"},
        {number_in<std::int64_t>("evaluation/round", 0, -1), "row 0 of evaluation"},
    };
    for (const auto& [change, place] : table)
        EXPECT_EQ(trace_refusal(change),
                  fmt::format("x is damaged ({} makes no sense): if it is being written, try again",
                              place));
}

TEST_F(Damaged, LostRoundsAreAsManyAsTheirGroupSays)
{
    const auto lost = [](std::int64_t last, const std::string& but = "") {
        return [=](const h5::File& file) {
            const auto all = h5::create_group(file.get(), "lost");
            const auto group = h5::create_group(file.get(), "lost/0");
            h5::write_attribute(group.get(), "first_round", std::int64_t{3});
            h5::write_attribute(group.get(), "last_round", last);
            h5::write_attribute(group.get(), "seconds", 0.5);
            h5::write_attribute(group.get(), "why", std::string("killed"));
            h5::check(H5Ocopy(file.get(), "round", group.get(), "round", H5P_DEFAULT, H5P_DEFAULT),
                      "copy");
            if (!but.empty()) h5::check(H5Adelete(group.get(), but.c_str()), "remove");
        };
    };
    EXPECT_EQ(trace::read(changed(sound_trace(), lost(6))).lost.at(0).rounds.size(), 4U);
    for (const auto last :
         {std::int64_t{5}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()})
        EXPECT_EQ(trace_refusal(lost(last)),
                  "x is damaged (lost/0 makes no sense): if it is being written, try again");
    EXPECT_EQ(trace_refusal(lost(6, "why")),
              "x is damaged (HDF5: cannot open attribute why: can't locate attribute: 'why'): if "
              "it is being written, try again");
}

TEST_F(Damaged, TablesHaveColumnsOfNumbersInOneDimension)
{
    EXPECT_EQ(
        trace_refusal([](const auto& file) {
            remove("round/wait")(file);
            const auto made = h5::create_extendable<double>(file.get(), "round/wait", 4, 2);
            h5::append<double>(made, Reals(8, 1));
        }),
        "x is damaged (HDF5: round/wait has 2 dimensions, 1 expected): if it is being written, "
        "try again");
    EXPECT_EQ(trace_refusal([](const auto& file) {
                  remove("round/wait")(file);
                  h5::write_strings(file.get(), "round/wait", {"a", "b", "c", "d"});
              }),
              "x is damaged (HDF5: round/wait does not hold numbers): if it is being written, try "
              "again");
}

TEST_F(Damaged, RowsOfADataSetAscendWithinItsEntries)
{
    const auto refused = [](const Integers& start) {
        return data_refusal([&](const auto& file) {
            h5::write_attribute(file.get(), "dense", std::int64_t{0});
            for (const auto* name : {"train/values", "test/values"})
                if (h5::has(file.get(), name)) remove(name)(file);
            h5::write<std::int64_t>(file.get(), "train/row_start", start);
            h5::write<std::int64_t>(file.get(), "train/column", Integers{0, 1, 0, 1, 0, 1});
            h5::write<double>(file.get(), "train/value", Reals(6, 1));
            remove("test")(file);
        });
    };
    const auto message =
        "x is damaged: its rows 0 to 6 do not begin one after the other; import it "
        "again";
    EXPECT_EQ(refused({0, 6, 2, 3, 4, 5, 6}), message);
    EXPECT_EQ(refused({0, 1, 900, 3, 4, 5, 6}), message);
    EXPECT_EQ(refused({-9, 1, 2, 3, 4, 5, 6}), message);
}

TEST_F(Damaged, ADataSetHasANameForEachColumnAndClass)
{
    EXPECT_EQ(data_refusal([](const auto& file) {
                  remove("feature/name")(file);
                  h5::write_strings(file.get(), "feature/name", {"a"});
              }),
              "x is damaged (feature/name holds 1 names for 2): import it again");
    EXPECT_EQ(data_refusal([](const auto& file) {
                  remove("class/name")(file);
                  h5::write_strings(file.get(), "class/name", {"no", "yes", "other"});
              }),
              "x is damaged (class/name holds 3 names for 2): import it again");
    EXPECT_EQ(data_refusal(values_in<std::int64_t>("column/categorical", {0})),
              "x is damaged (column/name holds 2 names for 1): import it again");
    EXPECT_EQ(data_refusal(values_in<double>("scaling/shift", {0})),
              "x is damaged (its scaling has 2 factors and 1 shifts): import it again");
}

TEST_F(Damaged, TextsInTwoDimensionsTakeTheRoomThatTheyNeed)
{
    EXPECT_EQ(data_refusal([](const auto& file) {
                  remove("feature/name")(file);
                  const hsize_t size[] = {3, 200};
                  const h5::Space space(H5Screate_simple(2, size, nullptr), "make a space");
                  const auto type = h5::string_type(8);
                  const h5::DataSet made(
                      H5Dcreate2(file.get(), "feature/name", type.get(), space.get(), H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT),
                      "make names");
              }),
              "x is damaged (feature/name holds 600 names for 2): import it again");
}

TEST_F(Damaged, SizesThatMemoryDoesNotHaveAreRefused)
{
    EXPECT_EQ(data_refusal([](const auto& file) {
                  remove("feature/name")(file);
                  const hsize_t size[] = {hsize_t{1} << 40, 1 << 20}, chunk[] = {1, 1};
                  const h5::Space space(H5Screate_simple(2, size, nullptr), "make a space");
                  const auto type = h5::string_type(8);
                  const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE), "properties");
                  H5Pset_chunk(properties.get(), 2, chunk);
                  const h5::DataSet made(
                      H5Dcreate2(file.get(), "feature/name", type.get(), space.get(), H5P_DEFAULT,
                                 properties.get(), H5P_DEFAULT),
                      "make names");
              }),
              "x is damaged (HDF5: there is no memory for the 1099511627776 x 1048576 elements of "
              "feature/name): import it again");
}

TEST_F(Damaged, ValuesInOtherFilesAreNotRead)
{
    const Folder other;
    const auto secret = other.write("secret", std::string(64, 's'));
    // Labels whose values are where their properties say.
    const auto refusal_of_labels = [](const auto& say_where) {
        return data_refusal([&](const auto& file) {
            remove("train/label")(file);
            const hsize_t size = 6;
            const h5::Space space(H5Screate_simple(1, &size, nullptr), "make a space");
            const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE), "properties");
            say_where(properties.get(), space.get());
            const h5::DataSet made(
                H5Dcreate2(file.get(), "train/label", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT,
                           properties.get(), H5P_DEFAULT),
                "make labels");
        });
    };
    EXPECT_EQ(
        refusal_of_labels(
            [&](hid_t properties, hid_t) { H5Pset_external(properties, secret.c_str(), 0, 48); }),
        "x names other files for the values of train/label, and these are not read: give a file "
        "that holds its values");
    EXPECT_EQ(
        // Of this file itself, which HDF5 follows until its stack is full.
        refusal_of_labels([](hid_t properties, hid_t space) {
            H5Pset_virtual(properties, space, ".", "train/label", space);
        }),
        "x names other files for the values of train/label, and these are not read: give a file "
        "that holds its values");
    {
        const auto file = h5::create(other.file("other.h5"));
        h5::write<double>(file.get(), "label", Reals(6, 1));
    }
    EXPECT_EQ(data_refusal([&](const auto& file) {
                  remove("train/label")(file);
                  H5Lcreate_external(other.file("other.h5").c_str(), "label", file.get(),
                                     "train/label", H5P_DEFAULT, H5P_DEFAULT);
              }).find("x is damaged (HDF5: cannot open data set train/label"),
              0u);
}

TEST_F(Damaged, TextsOfAnyLengthAreKept)
{
    const std::string longest(100'000, 'l'), fitting(60'000, 'f');
    const auto path = changed(sound_trace(), [&](const auto& file) {
        h5::write_attribute(file.get(), "longest", longest);
        h5::write_attribute(file.get(), "fitting", fitting);
        h5::write_attribute(file.get(), "empty", std::string());
    });
    const auto attributes = trace::read(path).attributes;
    EXPECT_EQ(attributes.at("longest"), longest);
    EXPECT_EQ(attributes.at("fitting"), fitting);
    EXPECT_EQ(attributes.at("empty"), "");
}

}  // namespace
}  // namespace quorate
