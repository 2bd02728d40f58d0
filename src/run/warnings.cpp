// SPDX-License-Identifier: BSD-2-Clause
#include "run/warnings.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

namespace quorate {

namespace {

using Counts = std::vector<std::int64_t>;  // rows of each class

void add(Counts& to, const Counts& more)
{
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += more[c];
}

}  // namespace

std::string lacking_classes(const DataSet& data, const Needs& needs)
{
    const auto task = data.shape().task;
    if (needs.exact || task == LearningTask::regression) return "";
    auto labels = data.labels(Split::train);
    if (task == LearningTask::binary)
        for (auto& label : labels) label = (label + 1) / 2;
    return lacking_classes(labels, data.class_names(), needs);
}

std::string lacking_classes(std::span<const double> labels, const std::vector<std::string>& classes,
                            const Needs& needs)
{
    constexpr double expected = 5;  // fewer rows than that a worker may lack by chance
    if (needs.exact) return "";
    std::vector<Counts> of_block;
    for (const auto& block : needs.blocks) {
        auto& count = of_block.emplace_back(classes.size());
        for (const double label : labels.subspan(static_cast<std::size_t>(block.first),
                                                 static_cast<std::size_t>(block.count)))
            ++count[static_cast<std::size_t>(label)];
    }
    Counts all(classes.size());
    for (const double label : labels) ++all[static_cast<std::size_t>(label)];
    std::size_t lacking = 0, first_worker = 0, first_class = 0;
    for (std::size_t worker = 0; worker < needs.shard.size(); ++worker) {
        Counts count(classes.size());
        std::int64_t rows = 0;
        for (const int block : needs.shard[worker]) {
            add(count, of_block[static_cast<std::size_t>(block)]);
            rows += needs.blocks[static_cast<std::size_t>(block)].count;
        }
        const auto share = static_cast<double>(rows) / static_cast<double>(labels.size());
        for (std::size_t c = 0; c < classes.size(); ++c)
            if (count[c] == 0 && share * static_cast<double>(all[c]) >= expected) {
                if (lacking++ == 0) first_worker = worker, first_class = c;
                break;
            }
    }
    if (lacking == 0) return "";
    return fmt::format(
        "{} of {} workers lack rows of a class, as worker {} of class {}, and this scheme goes on "
        "without some answers, so models may not learn it: import the rows with --shuffle 0",
        lacking, needs.shard.size(), first_worker, classes[first_class]);
}

std::string stability_warning(const Settings& settings, const Training& training)
{
    const auto& needs = training.coding->needs;
    if (needs.staleness == 0 || !training.model || settings.text("optimizer") != "gd") return "";
    const auto curvature = curvature_of(*training.data, *training.model, training.regularizer);
    if (std::isnan(curvature)) return "";
    const auto most = needs.stable_step / curvature;
    const auto largest = largest_step(training.engine.schedule, training.engine.rounds);
    if (largest <= most) return "";
    const bool first = largest == settings.real("step", 0);
    return fmt::format(
        "--step {}{} may be too large: gradients that are {:.3g} updates old allow about {:.2g} on "
        "these data, whose curvature is up to {:.3g}: use less, or less stale gradients",
        brief_number(settings.text("step")),
        first ? "" : fmt::format(", with its schedule up to {:.3g},", largest), needs.staleness,
        most, curvature);
}

}  // namespace quorate
