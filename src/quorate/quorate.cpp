// SPDX-License-Identifier: BSD-2-Clause
#include "quorate/quorate.hpp"

#include <fmt/format.h>

#include <utility>

#include "code/null_space_decoder.hpp"
#include "commands/options.hpp"
#include "commands/run.hpp"
#include "commands/simulation.hpp"
#include "parts/plugins.hpp"
#include "process/session.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

inline namespace QUORATE_ABI {

namespace {

Options with(const Data& data, const Options& options)
{
    auto all = options;
    if (!all.emplace("data", data.path()).second)
        throw BadInput(
            "the data are given twice, as an object and by the option data: leave out "
            "one");
    return all;
}

Options joined(Options options, const Components& components)
{
    const auto refuse = [&](const std::string& name) {
        throw BadInput(fmt::format("--{} is {}, but a struct has it too: leave out one of the two",
                                   name, options.at(name)));
    };
    for (const auto& [kind, component] :
         std::initializer_list<std::pair<std::string, const ComponentWords&>>{
             {"scheme", components.scheme},
             {"optimizer", components.optimizer},
             {"schedule", components.schedule},
             {"model", components.model},
             {"delay", components.delay},
             {"slowdown", components.slowdown},
             {"row-delay", components.row_delay},
             {"uplink-delay", components.uplink_delay},
             {"downlink-delay", components.downlink_delay},
             {"compressor", components.compressor}}) {
        if (component.name.empty()) continue;
        if (!options.emplace(kind, component.name).second) refuse(kind);
        for (const auto& option : component.options)
            if (options.contains(option.name)) refuse(option.name);
        options.insert(component.words.begin(), component.words.end());
    }
    return options;
}

}  // namespace

Trace simulate(const Options& options, const Components& components)
{
    return simulate(make_settings(simulation_options(), joined(options, components)));
}

std::optional<Trace> run(const Options& options, const Components& components)
{
    return run_in_memory(make_settings(run_options(), joined(options, components)));
}

Trace simulate(const Data& data, const Options& options, const Components& components)
{
    return simulate(with(data, options), components);
}

std::optional<Trace> run(const Data& data, const Options& options, const Components& components)
{
    return run(with(data, options), components);
}

int finish(int status) { return end_mpi(status); }

void add_code(Entry<MakeCode> code)
{
    add_scheme(
        {.name = std::move(code.name),
         .arguments = std::move(code.arguments),
         .text = std::move(code.text),
         .source = std::move(code.source),
         .options = std::move(code.options),
         .make = [make = std::move(code.make)](const Settings& settings,
                                               const Problem& problem) -> std::unique_ptr<Scheme> {
             return std::make_unique<CodedScheme>(problem, make(settings, problem));
         },
         .properties = std::move(code.properties)});
}

GradientCode code_from_matrix(const std::vector<std::vector<double>>& matrix, int collect)
{
    if (matrix.empty() || matrix[0].empty()) throw BadInput("the matrix of a code is empty");
    const auto columns = matrix[0].size();
    if (collect < 0 || collect > std::ssize(matrix))
        throw BadInput(
            fmt::format("a code of {} workers is to collect {} answers: use 1 to {}, "
                        "or 0 for an exact code",
                        matrix.size(), collect, matrix.size()));
    Encoding encoding;
    encoding.partitions = static_cast<int>(columns);
    std::vector<bool> used(columns);
    for (const auto& coefficients : matrix) {
        if (coefficients.size() != columns)
            throw BadInput(
                fmt::format("the matrix of a code has rows of {} and of {} numbers: "
                            "give each worker one for each partition",
                            columns, coefficients.size()));
        Row row;
        for (std::size_t j = 0; j < columns; ++j)
            if (coefficients[j] != 0) {
                row.push_back({static_cast<int>(j), coefficients[j]});
                used[j] = true;
            }
        encoding.rows.push_back({std::move(row)});
    }
    for (std::size_t j = 0; j < columns; ++j)
        if (!used[j])
            throw BadInput(fmt::format(
                "column {} of a code's matrix is zero: no worker would compute that partition",
                j + 1));
    if (collect == 0) return exact_code(encoding);
    auto weigh = least_squares(encoding);
    return collecting(std::move(encoding), collect, std::move(weigh));
}

}  // namespace QUORATE_ABI

}  // namespace quorate
