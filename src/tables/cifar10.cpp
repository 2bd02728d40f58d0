// SPDX-License-Identifier: BSD-2-Clause
// CIFAR-10, binary: records of a label and 3 x 32 x 32 pixels.
#include <fmt/format.h>

#include "base/error.hpp"
#include "tables/archive.hpp"
#include "tables/formats.hpp"

namespace quorate {

namespace {

// The files of cifar-10-binary.tar.gz, in the order of their images and not in that of the archive.
constexpr const char* training[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                    "data_batch_4.bin", "data_batch_5.bin"};
constexpr const char* test = "test_batch.bin";

void add_records(ByteSource source, RawTable& table)
{
    constexpr std::size_t pixels = 3072, record = pixels + 1;
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

// The file of an archive that has this name in whatever folder.
std::string path_of(const std::string& name, const Archive& archive)
{
    for (const auto& path : archive.names())
        if (path == name || path.ends_with("/" + name)) return path;
    throw BadInput(
        fmt::format("{} holds no {}: give the binary version of CIFAR-10, "
                    "cifar-10-binary.tar.gz",
                    archive.path(), name));
}

void read_cifar10(const Settings& settings, const std::string& path, const Reading& reading,
                  RawTable& table)
{
    std::string first(512, '\0');
    first.resize(ByteSource(path, reading).read(first.data(), first.size()));
    if (!is_tar(first)) return add_records({path, reading}, table);
    if (table.rows() > 0)
        throw BadInput(
            fmt::format("--test-input is {}, an archive with training images: give "
                        "its file {}",
                        path, test));
    const Archive archive(path);
    const auto add = [&](const std::string& name) {
        const auto file = path_of(name, archive);
        add_records({archive.open(file), path + ": " + file, reading}, table);
    };
    for (const auto* name : training) add(name);
    begin_own_test_rows(settings, path, test, table);
    add(test);
}

}  // namespace

Entry<Format> cifar10_entry()
{
    return {
        .name = "cifar10",
        .text =
            "CIFAR-10, binary version: a label and 3,072 pixels for each image; or its archive, "
            "training and test images",
        .source = "Krizhevsky 2009",
        // Of records the bytes say nothing; the archive begins with the name of its folder.
        .make = {read_cifar10, [](const std::string& bytes) {
                     return is_tar(bytes) && bytes.starts_with("cifar-10-batches-bin/");
                 }}};
}

}  // namespace quorate
