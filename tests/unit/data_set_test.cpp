// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>
#include <petscsys.h>

#include <cmath>

#include "data/data_set.hpp"
#include "data/data_set_writer.hpp"
#include "data/shard.hpp"
#include "support.hpp"
#include "tables/synthetic.hpp"

namespace {

using namespace quorate;
using test::Folder;

// PETSc's objects need PETSc.
class Petsc : public ::testing::Environment {
    void SetUp() override { PetscInitializeNoArguments(); }
    void TearDown() override { PetscFinalize(); }
};
[[maybe_unused]] const auto* const petsc = ::testing::AddGlobalTestEnvironment(new Petsc);

using Entries = std::vector<std::pair<std::int64_t, double>>;

/// Three rows of ones in six columns; as many of them are training rows as asked.
void write_three_rows(const std::string& path, int train, const Provenance& provenance = {})
{
    const std::vector<std::pair<Entries, double>> rows = {
        {{{0, 1}, {2, 1}}, 1}, {{{2, 1}, {5, 1}}, -1}, {{{1, 1}}, 1}};
    DataSetWriter writer(path, "three", {.columns = 6}, true, false);
    writer.begin(Split::train);
    for (int row = 0; row < 3; ++row) {
        if (row == train) writer.begin(Split::test);
        writer.add(rows[static_cast<std::size_t>(row)].first,
                   rows[static_cast<std::size_t>(row)].second);
    }
    if (train == 3) writer.begin(Split::test);
    writer.finish({}, provenance);
}

/// The elements of a vector.
std::vector<double> elements_of(Vec vector)
{
    PetscInt size = 0;
    const PetscScalar* first = nullptr;
    EXPECT_EQ(VecGetLocalSize(vector, &size), 0);
    EXPECT_EQ(VecGetArrayRead(vector, &first), 0);
    std::vector<double> all(first, first + size);
    EXPECT_EQ(VecRestoreArrayRead(vector, &first), 0);
    return all;
}

TEST(DataSet, GivesBackWhatWasWritten)
{
    const Folder folder;
    write_three_rows(folder.file("d.h5"), 2, {{"sources", "s"}});
    const DataSet data(folder.file("d.h5"));
    EXPECT_EQ(data.name(), "three");
    EXPECT_TRUE(data.ones());
    EXPECT_EQ(data.rows(Split::train), 2);
    EXPECT_EQ(data.rows(Split::test), 1);
    const auto rows = data.read(Split::train, 1, 1);
    EXPECT_EQ(rows.start, (std::vector<std::int64_t>{0, 2}));
    EXPECT_EQ(rows.column, (std::vector<Index>{2, 5}));
    EXPECT_TRUE(rows.value.empty());
    EXPECT_EQ(rows.label, (std::vector<double>{-1}));
    EXPECT_EQ(folder.files(), 1U) << "a temporary file is left";
}

TEST(DataSet, RefusesOtherFiles)
{
    const Folder folder;
    folder.write("text", "hello");
    EXPECT_TRUE(test::refusal([&] { DataSet(folder.file("text")); }).find("is not an HDF5 file") !=
                std::string::npos);
    h5::create(folder.file("other.h5"));
    EXPECT_EQ(test::refusal([&] { DataSet(folder.file("other.h5")); }),
              folder.file("other.h5") +
                  " is not a data set: make one with 'quorate import' or 'quorate generate'");
    write_three_rows(folder.file("d.h5"), 3);
    std::filesystem::resize_file(folder.file("d.h5"), 2000);
    EXPECT_NE(test::refusal([&] { DataSet(folder.file("d.h5")); }), "(nothing was refused)");
}

TEST(Shard, HoldsJustTheColumnsOfItsRowsAndMatchesPetsc)
{
    const Folder folder;
    write_three_rows(folder.file("d.h5"), 3);
    const DataSet data(folder.file("d.h5"));
    const RowSet sets[] = {{Split::train, 0, 1}, {Split::train, 1, 1}};
    const Shard shard(data, sets);
    const auto chosen = shard.support().chosen();
    EXPECT_EQ(std::vector<Index>(chosen.begin(), chosen.end()), (std::vector<Index>{0, 2, 5}));
    auto* const matrix = shard.block(1).matrix().matrix();
    petsc::Vector w, z;
    ASSERT_EQ(MatCreateVecs(matrix, w.made(), z.made()), 0);
    ASSERT_EQ(VecSetValue(w.get(), 2, 1, INSERT_VALUES), 0);
    ASSERT_EQ(MatMult(matrix, w.get(), z.get()), 0);
    EXPECT_EQ(elements_of(z.get()), (std::vector<double>{1}));
    PetscInt m = 0, n = 0;
    ASSERT_EQ(MatGetSize(matrix, &m, &n), 0);
    EXPECT_EQ(m, 1);
    EXPECT_EQ(n, 3);
}

TEST(DataSet, AWriterThatIsNotFinishedLeavesNothing)
{
    const Folder folder;
    {
        DataSetWriter writer(folder.file("d.h5"), "d", {.columns = 2}, false, false);
        writer.begin(Split::train);
        writer.add(Entries{{0, 1.0}}, 1);
    }
    EXPECT_EQ(folder.files(), 0U);
}

TEST(DataSet, NumbersThatDoNotFitAreRefused)
{
    const Folder folder;
    const auto said = [&](const std::vector<double>& row, double label, bool float32) {
        DataSetWriter writer(folder.file("d.h5"), "d", {.columns = 2, .dense = true}, false,
                             float32);
        writer.begin(Split::train);
        writer.add(std::vector<double>{1, 1}, 1);
        return test::refusal([&] { writer.add(row, label); });
    };
    const auto inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(said({1, 1e39}, 1, false), "(nothing was refused)");
    EXPECT_EQ(said({1, 1e39}, 1, true),
              "row 2, column 2: 1e+39 is too large for single precision: leave out --float32, or "
              "scale it");
    EXPECT_EQ(said({-1e-50, 0}, 1, true),
              "row 2, column 1: -1e-50 is too small for single precision: leave out --float32, or "
              "scale it");
    EXPECT_EQ(said({1e-40, 0}, 1, true), "(nothing was refused)") << "it keeps some digits";
    EXPECT_EQ(said({1, inf}, 1, false), "row 2, column 2: inf is no finite number");
    EXPECT_EQ(said({1, 1}, -inf, false), "row 2, label: -inf is no finite number");
    EXPECT_EQ(folder.files(), 0U);
}

TEST(DataSet, DenseImagesInSinglePrecisionKeepTheirShape)
{
    const Folder folder;
    DataShape shape{.columns = 6, .task = LearningTask::multiclass, .classes = 3, .dense = true};
    ASSERT_TRUE(shape.set_image("1x2x3"));
    EXPECT_FALSE(shape.set_image("2x2x3"));
    EXPECT_FALSE(shape.set_image("6"));
    EXPECT_FALSE(shape.set_image("1x0x6"));
    DataSetWriter writer(folder.file("d.h5"), "d", shape, false, true);
    writer.begin(Split::train);
    const std::vector<double> first = {0.5, 1, 2, 3, 4, 0.1}, second(6, 2.5);
    writer.add(first, 2);
    writer.add(second, 0);
    writer.begin(Split::test);
    writer.finish({}, {});
    const DataSet data(folder.file("d.h5"));
    EXPECT_EQ(data.shape().height, 2);
    EXPECT_EQ(data.shape().classes, 3);
    EXPECT_EQ(name_of(data.shape().task), "multiclass");
    EXPECT_EQ(data.shape().entries_per_row, 6);
    const auto rows = data.read(Split::train, 0, 2);
    EXPECT_EQ(rows.dense[4], 4);
    EXPECT_EQ(rows.dense[5], static_cast<double>(0.1F));
    const RowSet sets[] = {{Split::train, 0, 2}};
    const Shard shard(data, sets);
    petsc::Vector w, z;
    ASSERT_EQ(MatCreateVecs(shard.block(0).matrix().matrix(), w.made(), z.made()), 0);
    ASSERT_EQ(VecSet(w.get(), 1), 0);
    ASSERT_EQ(MatMult(shard.block(0).matrix().matrix(), w.get(), z.get()), 0);
    const PetscInt row = 1;
    PetscScalar sum = 0;
    ASSERT_EQ(VecGetValues(z.get(), 1, &row, &sum), 0);
    EXPECT_EQ(sum, 15);
}

TEST(RowMatrix, IsAMatrixOfPetscWhateverTheRowsAre)
{
    const RawRows ones{{0, 2, 3}, {0, 2, 1}, {}, {}, {1, -1}},
        sparse{{0, 2, 3}, {0, 2, 1}, {1, 1, 1}, {}, {1, -1}},
        dense{{}, {}, {}, {1, 0, 1, 0, 1, 0}, {1, -1}};
    for (const auto& [raw, type] :
         {std::pair(&ones, MatType("ones")), std::pair(&sparse, MatType(MATSEQAIJ)),
          std::pair(&dense, MatType(MATTRANSPOSEVIRTUAL))}) {
        const RowMatrix rows(*raw, 3);
        MatType found = nullptr;
        ASSERT_EQ(MatGetType(rows.matrix(), &found), 0);
        EXPECT_STREQ(found, type);
        EXPECT_EQ(rows.view().value != nullptr, raw == &sparse) << "no values of ones";
        EXPECT_EQ(elements_of(rows.labels()), (std::vector<double>{1, -1}));
        petsc::Vector w, z, g;
        ASSERT_EQ(MatCreateVecs(rows.matrix(), w.made(), z.made()), 0);
        ASSERT_EQ(VecDuplicate(w.get(), g.made()), 0);
        for (const PetscInt column : {0, 1, 2})
            ASSERT_EQ(VecSetValue(w.get(), column, column + 1, INSERT_VALUES), 0);
        ASSERT_EQ(MatMult(rows.matrix(), w.get(), z.get()), 0);
        EXPECT_EQ(elements_of(z.get()), (std::vector<double>{4, 2}));
        ASSERT_EQ(MatMultTranspose(rows.matrix(), z.get(), g.get()), 0);
        EXPECT_EQ(elements_of(g.get()), (std::vector<double>{4, 2, 4}));
        ASSERT_EQ(MatMultTransposeAdd(rows.matrix(), z.get(), g.get(), g.get()), 0);
        EXPECT_EQ(elements_of(g.get()), (std::vector<double>{8, 4, 8}));
    }
}

TEST(DataSet, MoreEntriesThanIndicesCanCountAreOneClearError)
{
    if (sizeof(Index) > 4) return;
    const Folder folder;
    const auto path = folder.file("d.h5");
    write_three_rows(path, 3);
    {
        const auto file = h5::open_to_append(path);
        // An array that is never written needs no room.
        constexpr hsize_t many = 3'000'000'000;
        const h5::DataSet column(H5Dopen2(file.get(), "train/column", H5P_DEFAULT), "open");
        ASSERT_GE(H5Dset_extent(column.get(), &many), 0);
        const std::int64_t start[] = {0, 2, 4, static_cast<std::int64_t>(many)};
        const h5::DataSet starts(H5Dopen2(file.get(), "train/row_start", H5P_DEFAULT), "open");
        ASSERT_GE(H5Dwrite(starts.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, start),
                  0);
    }
    const DataSet data(path);
    EXPECT_EQ(test::refusal([&] { data.read(Split::train, 0, 3); }),
              "rows 0 to 3 of " + path +
                  " hold 3000000000 entries, more than this build's indices can count: use more "
                  "workers, or a PETSc with 64-bit indices");
    EXPECT_EQ(data.read(Split::train, 0, 2).column.size(), 4u);
}

TEST(DataSet, RowsThatDoNotBeginOneAfterTheOtherAreDamage)
{
    const Folder folder;
    const auto path = folder.file("d.h5");
    write_three_rows(path, 3);
    for (const std::vector<std::int64_t>& start :
         {std::vector<std::int64_t>{0, 4, 2, 5}, {-1, 2, 4, 5}, {0, 9, 9, 5}}) {
        {
            const auto file = h5::open_to_append(path);
            const h5::DataSet starts(H5Dopen2(file.get(), "train/row_start", H5P_DEFAULT), "open");
            ASSERT_GE(H5Dwrite(starts.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                               start.data()),
                      0);
        }
        const DataSet data(path);
        const std::vector<RowSet> sets = {{Split::train, 0, 3}};
        EXPECT_EQ(
            test::refusal([&] { Shard(data, sets); }),
            path +
                " is damaged: its rows 0 to 3 do not begin one after the other; import it again");
    }
}

TEST(DataSet, LabelsThatDoNotFitTheTaskAreDamage)
{
    const Folder folder;
    const auto path = folder.file("d.h5");
    for (const auto& [task, label] :
         std::vector<std::pair<LearningTask, double>>{{LearningTask::binary, 0},
                                                      {LearningTask::multiclass, 3},
                                                      {LearningTask::multiclass, 0.5},
                                                      {LearningTask::multiclass, -1},
                                                      {LearningTask::regression, NAN}}) {
        DataSetWriter writer(path, "d", {.columns = 1, .task = task, .classes = 3}, true, false);
        writer.begin(Split::train);
        writer.add(Entries{{0, 1.0}}, label);
        writer.begin(Split::test);
        writer.finish({}, {});
        EXPECT_NE(test::refusal([&] {
                      DataSet(path).read(Split::train, 0, 1);
                  }).find("is no label of a " + name_of(task) + " task; import it again"),
                  std::string::npos);
    }
}

TEST(Synthetic, ARowDependsOnItsNumberAlone)
{
    for (const auto& kind : synthetics())
        for (const std::int64_t entries : {0, 3}) {
            if (kind.name == "samples") continue;  // always one number
            const auto one = kind.make(
                {.seed = 3, .columns = 12, .entries = entries, .classes = 4, .noise = 0.1});
            Synthetic::Row a, b;
            one.make(3, a);
            one.make(7, a);
            one.make(7, b);
            EXPECT_EQ(a.dense, b.dense) << kind.name;
            EXPECT_EQ(a.entries, b.entries) << kind.name;
            EXPECT_EQ(a.label, b.label) << kind.name;
            if (entries > 0) {
                EXPECT_EQ(a.entries.size(), 3u) << kind.name;
                EXPECT_TRUE(std::ranges::is_sorted(a.entries)) << kind.name;
            }
        }
}

TEST(Synthetic, TwoGaussiansHaveTheirMoments)
{
    const auto gaussians = test::entry(synthetics(), "logistic").make({.seed = 3, .columns = 4});
    double sum = 0, squares = 0;
    Synthetic::Row row;
    for (std::int64_t i = 0; i < 20000; ++i) {
        gaussians.make(i, row);
        for (const double x : row.dense) sum += x, squares += x * x;
    }
    const double count = 80000;
    // variance 100/p, and the means' square
    EXPECT_NEAR(squares / count, 25 + 1.5 * 1.5 / 16, 0.5);
    EXPECT_NEAR(sum / count, 0, 5 * 5 / std::sqrt(count));
}

}  // namespace
