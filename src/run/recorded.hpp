// SPDX-License-Identifier: BSD-2-Clause
// Reads from a trace what its run was made of, so that other commands can go on with it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "compute/evaluation.hpp"
#include "data/data_set.hpp"
#include "model/model.hpp"
#include "optimizer/regularizer.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// Returns the recorded options by name.
/// @param config  as traces and checkpoints record it: lines of NAME = VALUE
/// @throws BadInput if it cannot be read
std::map<std::string, std::string> recorded_options(const std::string& config);

/// Returns the delay models that a run had, by option (delay_options), without those that are none.
/// Local.
std::vector<std::pair<std::string, std::string>> recorded_delays(const trace::Trace& trace);

/// Takes the values of options from a trace. Options that the user gave stay. Options that concern
/// the recorded run alone are not taken: trace, overwrite, config, quiet, verbose, log, plugin.
/// Local.
/// @param path      of the trace, for messages
/// @param known     names of all options that a run of this version can record
/// @param settings  of a command; options that it does not declare are left out
/// @throws BadInput if the trace records an option that this version does not have
Settings with_recorded(const trace::Trace& trace, const std::string& path,
                       const std::set<std::string>& known, Settings settings);

/// What a trace's run was made of.
struct Recorded {
    trace::Trace trace;
    DataSet data;
    std::unique_ptr<Model> model;
    Regularizer regularizer;
    ScoredRows scored;

    /// Elements of the model.
    std::int64_t width() const { return model->parameters(data.columns()); }
    /// What the run's models are scored with. It refers to this object.
    Scoring scoring() const { return {data, *model, scored}; }
};

/// Reads a trace, opens its data set, and makes its model. Local.
/// @param path   of the trace
/// @param known  as with_recorded()
/// @param data   where the run's data set is now; empty: where it was
/// @throws BadInput if the trace or the data set cannot be used, if the trace is of a dry run, or
///         if these are other data  @throws BadInput as with_recorded()
Recorded read_recorded(const std::string& path, const std::set<std::string>& known,
                       const std::string& data);

/// Likewise, with a function that opens the rows, which may be others than the run's if their
/// columns and classes are the same. @param open  is given the trace and the path of the run's data
Recorded read_recorded(const std::string& path, const std::set<std::string>& known,
                       const std::function<DataSet(const trace::Trace&, const std::string&)>& open);

/// Returns --model and the options of all models, for commands that make a model.
std::vector<Option> model_options();

}  // namespace quorate
