// SPDX-License-Identifier: BSD-2-Clause
#include "driver/apart.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "job/share.hpp"
#include "job/shell.hpp"

namespace quorate {

namespace fs = std::filesystem;

trace::Trace simulate_apart(const std::vector<std::string>& words)
{
    const auto path =
        (fs::temp_directory_path() / fmt::format("quorate-simulation-{}.h5", getpid())).string();
    std::vector<std::string> all = {own_path(), "simulate",         "--quiet", "--trace",
                                    path,       "--trace-arrivals", "none"};
    all.insert(all.end(), words.begin(), words.end());
    const struct Removed {
        const std::string& path;
        ~Removed()
        {
            std::error_code none;
            fs::remove(path, none);
        }
    } removed{path};
    const auto ended = run_program(all);
    // The refusal is the last line: notes may stand before it.
    const auto lines = split(trimmed(ended.output), '\n');
    const auto said = trimmed(lines.back().substr(lines.back().find(": ") + 1));
    if (ended.status == exit_bad_input) throw BadInput(said);
    if (ended.status != exit_done) throw Failure("a simulation failed: " + said);
    return trace::read(path);
}

}  // namespace quorate
