// SPDX-License-Identifier: BSD-2-Clause
// Files as the readers and the encoder see them.
#pragma once

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "support.hpp"
#include "tables/encode.hpp"
#include "tables/formats.hpp"
#include "tables/labels.hpp"

namespace quorate::test {

using Given = std::map<std::string, std::string>;

/// The options of import that say how rows are read and encoded, with their defaults.
inline Settings import_settings(const std::string& format, const Given& given)
{
    auto options = RowEncoder::options();
    for (const auto& option : label_options()) options.push_back(option);
    for (const auto& one : formats())
        for (const auto& option : one.options) options.push_back(option);
    auto all = settings(options, given);
    all.set("format", {format, "", true});
    return all;
}

/// All rows of a file.
struct Read {
    std::int64_t columns = 0;
    std::vector<std::vector<std::int64_t>> column;  // of each row; empty if it is dense
    std::vector<std::vector<double>> value;
    std::vector<double> label;
    std::string image;
};

inline Read read_file(const std::string& format, const std::string& path, const Given& given = {},
                      const Reading& reading = {})
{
    const Folder folder;
    RawTable table(folder.file("x"));
    entry(formats(), format).make.read(import_settings(format, given), path, reading, table);
    Read all{table.columns, {}, {}, table.label, table.image};
    for (std::int64_t i = 0; i < table.rows(); ++i) {
        const auto row = table.row(i);
        all.column.emplace_back(row.columns.begin(), row.columns.end());
        all.value.emplace_back(row.values.begin(), row.values.end());
    }
    return all;
}

/// The same of a file with these bytes, whose name in messages is "x".
inline Read read_bytes(const std::string& format, const std::string& bytes, const Given& given = {},
                       const Reading& reading = {})
{
    const Folder folder;
    return read_file(format, folder.write("x", bytes), given, reading);
}

/// What the reader says of such a file, with the folder's name cut off.
inline std::string refusal_of(const std::string& format, const std::string& bytes,
                              const Given& given = {}, const Reading& reading = {})
{
    const Folder folder;
    const auto path = folder.write("x", bytes);
    auto said = refusal([&] { read_file(format, path, given, reading); });
    for (std::size_t at = 0; (at = said.find(path)) != std::string::npos;)
        said.replace(at, path.size(), "x");
    return said;
}

}  // namespace quorate::test
