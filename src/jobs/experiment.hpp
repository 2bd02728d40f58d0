// SPDX-License-Identifier: BSD-2-Clause
// Experiments: INI files whose lists of values expand to runs. docs/jobs.md describes them.
#pragma once

#include <string>
#include <vector>

#include "base/ini.hpp"
#include "jobs/manifest.hpp"

namespace quorate {

/// The command by which the runs of an experiment are made.
enum class RunKind { run, simulate };
/// Returns its name.
std::string word_of(RunKind kind);

/// An experiment as its file has it.
struct Experiment {
    std::string name, path, summary;
    std::vector<std::string> figure;  // the command of quorate-analysis that draws its figure
    /// Options of all runs, of those of one command ([run], [simulate]), or of those in which an
    /// option has some value ([scheme agc]); values may be lists.
    std::vector<IniValue> options;
    std::vector<IniValue> prepare;  // [prepare]: the command that makes the data set, its options
    std::vector<IniValue> claims;   // lines of the sections [claim NAME]: see jobs/claim.hpp
    std::vector<IniValue> tune;     // [tune]: a grid of an option, seeds, and a target
    std::vector<IniValue> tuned;    // what came of it, by scheme, from NAME.tuned beside
                                    // the file; it replaces what options say
    bool runs = true, simulates = true;  // which commands make sense
};

/// Reads the values of a list "a, b, c" with ranges "1..5" and "1e-5..1e-1x5" (base/values.hpp). A
/// comma and a blank separate values; a comma without a blank belongs to a value. @throws BadInput
/// with file and line
std::vector<std::string> values_of(const IniValue& value);

/// Fills in the words in braces: {data} is the folder of raw data, {here} that of the experiment.
std::string filled_in(std::string text, const Experiment& experiment, const std::string& data);

/// Reads an experiment. @throws BadInput with file and line of what is wrong
Experiment read_experiment(const std::string& path);

/// Has the experiment's runs made with other seeds.
/// @param seeds  a list of values, like that of seed in the file
/// @throws BadInput if its runs have none
void replace_seeds(Experiment& experiment, const std::string& seeds);

/// Returns the experiment whose runs tune: those of the grid with the seeds of [tune], and nothing
/// that was tuned before.
/// @throws BadInput if there is no such section, or the experiment's own runs have one of these
/// seeds
Experiment tuning_of(Experiment experiment);

/// Reads all experiments of jobs/, in the order of their names.
std::vector<Experiment> experiments();

/// Expands an experiment to a row for each run. Options stand in the order of the file. Lists are
/// gone through from the first to the last value, the first option slowest. Words in braces are
/// filled in: {data} is the folder of raw data, {here} that of the file.
/// @param most  how many runs are allowed
/// @throws BadInput if there are none or more, or {data} is used without a folder
Manifest expand(const Experiment& experiment, RunKind kind, const std::string& data_folder,
                std::int64_t most);

/// Returns the words of the command that prepares the data set; none if there is nothing to
/// prepare.
/// @param output  the data set to make
std::vector<std::string> prepare_words(const Experiment& experiment, const std::string& data_folder,
                                       const std::string& output);

/// Returns the words of the command that finds the optimum of the runs' objective, if [prepare]
/// wants it (optimum = on); none: it does not.
/// @param data  the data set
/// @throws BadInput if the runs have several objectives
std::vector<std::string> optimum_words(const Experiment& experiment, const std::string& data);

}  // namespace quorate
