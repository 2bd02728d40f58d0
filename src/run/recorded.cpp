// SPDX-License-Identifier: BSD-2-Clause
#include "run/recorded.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "run/evaluations.hpp"
#include "run/names.hpp"
#include "run/same_data.hpp"
#include "straggler/models.hpp"

namespace quorate {

std::map<std::string, std::string> recorded_options(const std::string& config)
{
    std::map<std::string, std::string> options;
    for (auto& line : parse_ini(config, "config")) options[line.name] = std::move(line.text);
    return options;
}

Settings with_recorded(const trace::Trace& trace, const std::string& path,
                       const std::set<std::string>& known, Settings settings)
{
    for (const auto& [name, value] : recorded_options(trace.attributes.at("config"))) {
        if (!known.contains(name) && !trace.text("plugins").empty())
            throw BadInput(
                fmt::format("{} records --{} {}, an option of a plugin: give the same "
                            "--plugin, {}",
                            path, name, value, trace.text("plugins")));
        if (!known.contains(name))
            throw BadInput(fmt::format(
                "{} records --{} {}, which this version of quorate does not have: read it with the "
                "version that wrote it, {}",
                path, name, value, trace.attributes.at("quorate_version")));
        const bool of_the_run = name == "trace" || name == "overwrite" || name == "config" ||
                                name == "quiet" || name == "verbose" || name == "log" ||
                                name == "plugin";
        // A run records defaults too. A value that equals the default does not count as given.
        if (of_the_run || !settings.has(name) || settings.given(name) ||
            settings.text(name) == value)
            continue;
        settings.set(name, {value, path + ": ", true});
    }
    return settings;
}

std::vector<Option> model_options()
{
    std::vector<Option> all = {{"model", "NAME", "logistic", "see quorate list models"}};
    for (const auto& model : models()) add_options(all, model.options);
    return all;
}

Recorded read_recorded(const std::string& path, const std::set<std::string>& known,
                       const std::string& data)
{
    return read_recorded(path, known, [&](const trace::Trace& trace, const std::string& of_run) {
        DataSet rows(data.empty() ? of_run : data);
        check_same_data(rows, trace.text(data_attribute), path, "give its data set as --data");
        return rows;
    });
}

Recorded read_recorded(const std::string& path, const std::set<std::string>& known,
                       const std::function<DataSet(const trace::Trace&, const std::string&)>& open)
{
    auto trace = trace::read(path);
    if (trace.attributes.at("model").empty())
        throw BadInput(path + " is the trace of a dry run, which has no model: give another one");
    auto options = model_options();
    for (auto& option :
         {Option{"data", "FILE", "", ""}, Option{"seed", "N", "0", ""}, evaluate_rows_option()})
        options.push_back(option);
    const auto settings = with_recorded(trace, path, known, make_settings(options, {}));
    DataSet rows = open(trace, settings.text("data"));
    const auto columns = to_integer(trace.attributes.at("columns")).value_or(-1);
    if (rows.columns() != columns)
        throw BadInput(
            fmt::format("{} has {} columns, the data of {} had {}: give data of the same "
                        "columns (quorate import --like)",
                        rows.path(), rows.columns(), path, columns));
    check_names(rows, trace, settings.text("data"));
    auto model = chosen(models(), settings, "model").make(settings, rows.shape());
    const Regularizer regularizer{.l2 = to_real(trace.attributes.at("l2")).value_or(0),
                                  .l1 = to_real(trace.attributes.at("l1")).value_or(0)};
    auto scored = scored_rows_of(settings, rows);
    return {std::move(trace), std::move(rows), std::move(model), regularizer, std::move(scored)};
}

std::vector<std::pair<std::string, std::string>> recorded_delays(const trace::Trace& trace)
{
    const auto options = recorded_options(trace.text("config"));
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& one : delay_options) {
        auto model = trace.text(one.name);  // of --delay and --slowdown
        if (const auto at = options.find(one.name); model.empty() && at != options.end())
            model = at->second;
        if (!model.empty() && model != "none") found.emplace_back(one.name, std::move(model));
    }
    return found;
}

}  // namespace quorate
