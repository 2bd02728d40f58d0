// SPDX-License-Identifier: BSD-2-Clause
// The loaders of data sets, of optima and of traces.
#include "data/data_set.hpp"
#include "fuzz.hpp"
#include "reading.hpp"
#include "trace/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    using namespace quorate;
    const fuzz::File file(bytes, size);
    fuzz::answer([&] {
        const DataSet data(file.path());
        const auto rows = std::min<std::int64_t>(100, data.rows(Split::train));
        data.read(Split::train, 0, rows);
    });
    fuzz::answer([&] { trace::faults(trace::read(file.path())); });
    fuzz::answer([&] { test::read_file("hdf5", file.path(), {{"array", "x"}, {"label", "y"}}); });
    return fuzz::answer([&] { test::read_file("hdf5", file.path(), {{"csr", "start,column"}}); });
}
