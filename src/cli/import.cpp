// SPDX-License-Identifier: BSD-2-Clause
// quorate import: makes a data set from files.
#include "import/import.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/error.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"

namespace quorate {

namespace {

int import(const Settings& settings)
{
    const auto began = std::chrono::steady_clock::now();
    const auto made = import_files(settings);
    if (settings.on("quiet")) return exit_done;
    if (made.shuffled)
        say("the rows are sorted by label, so they are put into a random order (--shuffle 0); "
            "--shuffle no keeps theirs\n");
    if (made.left_out > 0)
        say(fmt::format("{} rows with missing values are left out\n", made.left_out));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    say(fmt::format("{}: {} x {} training rows, {} test rows, {} entries, {}, {:.2f} s\n",
                    settings.text("output"), made.train_rows, made.columns, made.test_rows,
                    made.entries, made.balance, took.count()));
    for (std::size_t i = 0; i < made.sources.size(); ++i)
        say(fmt::format("  from {} (SHA-256 {})\n", made.sources[i], made.digests[i]));
    return exit_done;
}

}  // namespace

Command import_command()
{
    return {.name = "import",
            .text = "files to a data set",
            .options = import_options(),
            .run = import,
            .first = {"input", "output", "format", "label", "test-input", "test-fraction",
                      "categorical", "scale", "intercept", "like"},
            .examples = {"quorate import --input train.csv --label target --test-fraction 0.2 \\\n"
                         "    --scale standardise --intercept --output data.h5",
                         "quorate import --input train.libsvm --test-input test.libsvm "
                         "--output data.h5"}};
}

}  // namespace quorate
