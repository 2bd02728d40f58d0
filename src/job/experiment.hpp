// SPDX-License-Identifier: BSD-2-Clause
// An experiment: an INI file whose lists expand to runs. docs/jobs.md describes it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "job/ini.hpp"
#include "job/manifest.hpp"

namespace quorate {

/// Which command its runs are.
enum class RunKind { run, simulate };

struct Experiment {
    std::string name, path, summary;
    std::vector<std::string> figure;  // the command of quorate-analysis that draws what it shows
    std::vector<IniValue> common;     // options of all runs; values may be lists
    std::vector<IniValue> special;    // of sections: of runs in which an option has a value
    std::vector<IniValue> of_run, of_simulate;
    std::vector<IniValue> prepare;       // how its data set is made: command, and options of that
    bool runs = true, simulates = true;  // which commands make sense
};

/// @throws BadInput with file and line
Experiment read_experiment(const std::string& path);

/// Those of jobs/, by name.
std::vector<Experiment> experiments();

/// One row a run, options in the order of the file, lists from the first to the last value, the first
/// option slowest. Words in braces are filled in: {data}, the folder of raw data; {here}, that of the file.
/// @param most  runs  @throws BadInput if there are none or more
Manifest expand(const Experiment& experiment, RunKind kind, const std::string& data_folder,
                std::int64_t most);

/// The words of the command that prepares the data set; none if there is nothing to prepare.
std::vector<std::string> prepare_words(const Experiment& experiment, const std::string& data_folder,
                                       const std::string& output);

}  // namespace quorate
