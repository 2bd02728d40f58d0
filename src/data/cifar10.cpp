// SPDX-License-Identifier: BSD-2-Clause
// CIFAR-10, binary: records of a label and 3 x 32 x 32 pixels.
#include <fmt/format.h>

#include "base/error.hpp"
#include "data/formats.hpp"

namespace quorate {

namespace {

void read(const Settings&, const std::string& path, const Reading& reading, RawTable& table)
{
    constexpr std::size_t pixels = 3072, record = pixels + 1;
    ByteSource source(path, reading);
    table.columns = pixels;
    table.dense = true;
    table.image = "3x32x32";
    std::vector<char> bytes(record);
    std::vector<double> values(pixels);
    for (std::int64_t row = 0;; ++row) {
        const auto count = source.read(bytes.data(), record);
        if (count == 0) {
            if (row == 0) source.refuse("empty: give CIFAR-10 records");
            return;
        }
        if (count < record)
            source.refuse(
                fmt::format("truncated: record {} has {} of {} bytes", row + 1, count, record));
        const auto label = static_cast<unsigned char>(bytes[0]);
        if (label > 9)
            source.refuse(fmt::format("no CIFAR-10 file: record {} has the label {}, not 0 to 9",
                                      row + 1, label));
        for (std::size_t i = 0; i < pixels; ++i)
            values[i] = static_cast<unsigned char>(bytes[i + 1]);
        if (!table.add(label, {{}, values})) return;
    }
}

}  // namespace

Entry<Format> cifar10_entry()
{
    return {.name = "cifar10",
            .text = "CIFAR-10, binary version: a label and 3,072 pixels for each image",
            .source = "Krizhevsky 2009",
            // Its bytes say nothing of it.
            .make = {read, [](const std::string&) { return false; }}};
}

}  // namespace quorate
