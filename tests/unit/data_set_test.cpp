// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>
#include <petscsys.h>

#include <cmath>

#include "data/data_set.hpp"
#include "data/data_set_writer.hpp"
#include "data/shard.hpp"
#include "data/two_gaussians.hpp"
#include "support.hpp"

namespace {

using namespace quorate;
using test::Folder;

// PETSc's objects need PETSc.
class Petsc : public ::testing::Environment {
    void SetUp() override { PetscInitializeNoArguments(); }
    void TearDown() override { PetscFinalize(); }
};
[[maybe_unused]] const auto* const petsc = ::testing::AddGlobalTestEnvironment(new Petsc);

Examples three_rows()
{
    return {.columns = 6,
            .start = {0, 2, 4, 5},
            .column = {0, 2, 2, 5, 1},
            .value = {1, 1, 1, 1, 1},
            .label = {1, -1, 1},
            .feature = {}};
}

TEST(DataSet, GivesBackWhatWasWritten)
{
    const Folder folder;
    const std::int64_t train[] = {0, 1}, test[] = {2};
    write_data_set(folder.file("d.h5"), "three", three_rows(), train, test, {{"sources", "s"}});
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
    const std::int64_t train[] = {0, 1, 2};
    write_data_set(folder.file("d.h5"), "three", three_rows(), train, {}, {});
    std::filesystem::resize_file(folder.file("d.h5"), 2000);
    EXPECT_NE(test::refusal([&] { DataSet(folder.file("d.h5")); }), "(nothing was refused)");
}

TEST(Shard, HoldsJustTheColumnsOfItsRowsAndMatchesPetsc)
{
    const Folder folder;
    const std::int64_t train[] = {0, 1, 2};
    write_data_set(folder.file("d.h5"), "three", three_rows(), train, {}, {});
    const DataSet data(folder.file("d.h5"));
    const RowSet sets[] = {{Split::train, 0, 1}, {Split::train, 1, 1}};
    const Shard shard(data, sets);
    const auto chosen = shard.support().chosen();
    EXPECT_EQ(std::vector<Index>(chosen.begin(), chosen.end()), (std::vector<Index>{0, 2, 5}));
    PetscScalar value = 0;
    const PetscInt row = 0, column = 2;
    ASSERT_EQ(MatGetValues(shard.block(1).matrix(), 1, &row, 1, &column, &value), 0);
    EXPECT_EQ(value, 1);
    PetscInt m = 0, n = 0;
    ASSERT_EQ(MatGetSize(shard.block(1).matrix(), &m, &n), 0);
    EXPECT_EQ(m, 1);
    EXPECT_EQ(n, 3);
}

TEST(Generate, ARowDependsOnItsNumberAlone)
{
    const auto many = two_gaussians(3, 4, 0, 10), one = two_gaussians(3, 4, 7, 1);
    EXPECT_EQ(std::vector<double>(many.values.begin() + 28, many.values.begin() + 32), one.values);
    EXPECT_EQ(many.label[7], one.label[0]);
    const auto large = two_gaussians(3, 4, 0, 20000);
    double sum = 0, squares = 0;
    for (const double x : large.values) {
        sum += x;
        squares += x * x;
    }
    const double count = static_cast<double>(large.values.size());
    EXPECT_NEAR(squares / count, 25 + 1.5 * 1.5 / 16,
                0.5);  // variance 100/p, and the means' square
    EXPECT_NEAR(sum / count, 0, 5 * 5 / std::sqrt(count));
}

}  // namespace
