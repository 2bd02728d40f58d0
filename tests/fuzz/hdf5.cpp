// SPDX-License-Identifier: BSD-2-Clause
// The loaders of data sets, down to the rows that the kernels read, and of arrays of HDF5 files.
// The files are sound, and what they hold is not: HDF5 itself does not return from some damaged
// files.
#include <petscsys.h>

#include "data/data_set.hpp"
#include "data/shard.hpp"
#include "fuzz.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "reading.hpp"

namespace {

using namespace quorate;

// Takes arrays from the input: a length, then a byte for each element.
class Input {
public:
    Input(const std::uint8_t* bytes, std::size_t size) : left_(bytes, size) {}
    std::int64_t number()
    {
        if (left_.empty()) return 0;
        const auto first = static_cast<std::int8_t>(left_[0]);
        left_ = left_.subspan(1);
        return first;
    }
    template <class T>
    std::vector<T> array()
    {
        std::vector<T> all(static_cast<std::size_t>(number() & 15));
        for (auto& one : all) one = static_cast<T>(number());
        return all;
    }

private:
    std::span<const std::uint8_t> left_;
};

void write_file(const std::string& path, Input input)
{
    const auto file = h5::create(path);
    const auto attribute = [&](const char* name, auto value) {
        h5::write_attribute(file.get(), name, value);
    };
    attribute("format", std::string("quorate data set"));
    attribute("name", std::string("d"));
    attribute("task", std::string(input.number() % 2 == 0 ? "regression" : "multiclass"));
    attribute("image", std::string());
    attribute("format_version", std::int64_t{2});
    for (const auto* name : {"columns", "ones", "classes"}) attribute(name, input.number());
    attribute("dense", std::int64_t{0});
    const auto group = h5::create_group(file.get(), "train");
    h5::write<double>(group.get(), "label", input.array<double>());
    h5::write<std::int64_t>(group.get(), "row_start", input.array<std::int64_t>());
    h5::write<std::int64_t>(group.get(), "column", input.array<std::int64_t>());
    h5::write<double>(group.get(), "value", input.array<double>());
}

// Adds up all entries, as the kernels find them.
double sum_of(const RowView& rows)
{
    double sum = 0;
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        sum += rows.label[row];
        for (auto i = rows.start[row]; i < rows.start[row + 1]; ++i)
            sum += static_cast<double>(rows.column[i]) + (rows.value ? rows.value[i] : 1);
    }
    return sum;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) { return PetscInitializeNoArguments(); }

// What MPI keeps until the process ends is not looked for.
extern "C" const char* __lsan_default_suppressions() { return "leak:libuc\n"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    static const test::Folder folder;
    const auto path = folder.file("x");
    write_file(path, {bytes, size});
    fuzz::answer([&] {
        const DataSet data(path);
        const std::vector<RowSet> sets = {{Split::train, 0, data.rows(Split::train)}};
        const Shard shard(data, sets);
        volatile const double sum = sum_of(shard.block(0).view());
        static_cast<void>(sum);
    });
    return fuzz::answer([&] {
        test::read_file("hdf5", path, {{"array", "train/values"}, {"label", "train/label"}});
    });
}
