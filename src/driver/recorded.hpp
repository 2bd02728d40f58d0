// SPDX-License-Identifier: BSD-2-Clause
// What a trace's run was made of, so that other commands can go on with it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/settings.hpp"
#include "data/data_set.hpp"
#include "model/model.hpp"
#include "optimizer/regularizer.hpp"
#include "trace/reader.hpp"

namespace quorate {

/// Options by name. @param config  as traces and checkpoints record them: lines of NAME = VALUE
std::map<std::string, std::string> recorded_options(const std::string& config);

/// Takes the values of options that a trace records and that were not given, but for those of its run
/// alone (trace, overwrite, config, quiet, log).
/// @param settings  of a command that has these options
Settings with_recorded(const trace::Trace& trace, const std::string& path, Settings settings);

/// A trace's run.
struct Recorded {
    trace::Trace trace;
    DataSet data;
    std::unique_ptr<Model> model;
    Regularizer regularizer;

    std::int64_t width() const { return model->parameters(data.columns()); }
};

/// @param path  of the trace  @param data  in place of the run's data set; empty: the run's
/// @throws BadInput if the trace is of a dry run, or the data have another number of columns
Recorded read_recorded(const std::string& path, const std::string& data);

/// Options of models, which every command that makes one declares.
std::vector<Option> model_options();

}  // namespace quorate
