// SPDX-License-Identifier: BSD-2-Clause
// The loaders of data sets, down to the rows that the kernels read, of optima and of traces.
#include <petscsys.h>

#include "data/data_set.hpp"
#include "data/shard.hpp"
#include "fuzz.hpp"
#include "reading.hpp"
#include "trace/reader.hpp"

namespace {

using namespace quorate;

// Adds up all entries, as the kernels find them.
double sum_of(const RowView& rows)
{
    double sum = 0;
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        sum += rows.label[row];
        if (rows.dense)
            for (std::int64_t i = 0; i < rows.columns; ++i)
                sum += rows.dense[row * rows.columns + i];
        else
            for (auto i = rows.start[row]; i < rows.start[row + 1]; ++i)
                sum += rows.value ? rows.value[i] : static_cast<double>(rows.column[i]);
    }
    return sum;
}

// What HDF5 cannot read in the middle of a file is a failure of its own.
template <class F>
void answer(F f)
{
    try {
        fuzz::answer(f);
    } catch (const Failure&) {
        return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) { return PetscInitializeNoArguments(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    const fuzz::File file(bytes, size);
    answer([&] {
        const DataSet data(file.path());
        if (data.columns() > 1 << 20) return;  // a shard has memory for each
        const std::vector<RowSet> sets = {
            {Split::train, 0, std::min<std::int64_t>(100, data.rows(Split::train))}};
        const Shard shard(data, sets);
        volatile const double sum = sum_of(shard.block(0).view());
        static_cast<void>(sum);
    });
    answer([&] { trace::faults(trace::read(file.path())); });
    answer([&] { test::read_file("hdf5", file.path(), {{"array", "x"}, {"label", "y"}}); });
    answer([&] { test::read_file("hdf5", file.path(), {{"csr", "start,column"}}); });
    return 0;
}
