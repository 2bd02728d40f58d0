// SPDX-License-Identifier: BSD-2-Clause
// quorate generate: a synthetic data set.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "data/two_gaussians.hpp"

namespace quorate {

namespace {

int generate(const Settings& settings)
{
    const auto& output = settings.text("output");
    if (output.empty()) throw BadInput("quorate generate needs --output FILE");
    const auto rows = settings.integer("rows", 1), columns = settings.integer("columns", 1);
    const auto test_rows = settings.integer("test-rows", 0);
    const auto seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    check_output(settings, "output", "data set");
    const auto train = two_gaussians(seed, columns, 0, rows);
    const auto test = two_gaussians(seed, columns, rows, test_rows);
    write_data_set(output, std::filesystem::path(output).stem(), columns, train, test,
                   {{"command_line", settings.command_line},
                    {"quorate_version", version},
                    {"options", settings.ini()},
                    {"sources", ""},
                    {"sha256", ""}});
    if (!settings.on("quiet"))
        fmt::print("{}: {} x {} training rows, {} test rows, dense\n", output, rows, columns,
                   test_rows);
    return exit_done;
}

}  // namespace

Command generate_command()
{
    return {"generate",
            "synthetic data: two Gaussians with logistic labels",
            "",
            {{"rows", "N", "10000", "training rows"},
             {"columns", "P", "100", "columns"},
             {"test-rows", "N", "2000", "test rows"},
             {"seed", "N", "0", "key of the random stream"},
             {"output", "FILE", "", "the data set to write"}},
            generate};
}

}  // namespace quorate
