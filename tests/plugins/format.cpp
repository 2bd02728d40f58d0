// SPDX-License-Identifier: BSD-2-Clause
// A file format as a plugin: a number a line, labelled by its sign.
#include <fstream>
#include <quorate/quorate.hpp>

namespace {

using namespace quorate;

void read(const Settings&, const std::string& path, const Reading&, RawTable& table)
{
    table.set_columns(1, path);
    table.dense = true;
    std::ifstream file(path);
    for (double value = 0; file >> value;)
        table.add(value < 0 ? -1 : 1, {{}, std::span(&value, 1)});
}

void add()
{
    add_format({"numbers", "", "a number a line", "a test", {}, {read, [](const std::string&) {
                                                                     return false;
                                                                 }}});
}

}  // namespace

QUORATE_PLUGIN(add)
