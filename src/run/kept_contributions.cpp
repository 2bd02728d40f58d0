// SPDX-License-Identifier: BSD-2-Clause
#include "run/kept_contributions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/host.hpp"
#include "engine/sum_table.hpp"
#include "run/training.hpp"

namespace quorate {

double bytes_of_kept(std::int64_t contributions, std::int64_t parameters, std::int64_t rows,
                     double entries_per_row)
{
    // A contribution is a vector at the support of its worker's rows, which is no larger than these
    // have entries; of networks it is taken to be all parameters.
    const auto entries = static_cast<double>(rows) * entries_per_row;
    const auto all = static_cast<double>(parameters);
    const auto each = entries_per_row > 0 ? std::min(all, entries) : all;
    return static_cast<double>(contributions) * each * sizeof(double);
}

double bytes_of_sums(std::int64_t slots, std::int64_t parameters)
{
    return static_cast<double>(SumTable::nodes(slots)) * static_cast<double>(parameters) *
           sizeof(double);
}

double bytes_of_kept(const Training& training)
{
    const auto& needs = training.coding->needs;
    if (needs.kept == 0) return 0;
    const auto parameters = training.model ? training.width() : training.columns;
    const auto beside = bytes_of_sums(needs.slots, parameters) +
                        bytes_of_kept(needs.points_of_kept(), parameters, 0, 0);
    if (!training.model || !training.model->linear())
        return beside + bytes_of_kept(needs.kept, parameters, 0, 0);
    std::int64_t rows = 0;
    for (Worker worker = 0; worker < std::ssize(needs.shard); ++worker)
        rows = std::max(rows, rows_of(needs, worker));
    const auto outputs = static_cast<double>(training.model->outputs());
    return beside + bytes_of_kept(needs.kept, parameters, rows,
                                  outputs * (training.data->shape().entries_per_row + 1));
}

void check_kept(const Training& training)
{
    if (!training.model) return;
    const auto bytes = bytes_of_kept(training);
    const auto there = static_cast<double>(free_memory());
    if (bytes <= there) return;
    training.settings.refuse(
        "scheme", fmt::format(", which keeps {} contributions, {:.3g} GB at most with the points "
                              "that they hold, and there are "
                              "{:.3g} GB of memory: let it keep fewer (quorate list schemes), "
                              "start fewer workers, or ask for more memory",
                              training.coding->needs.kept, 1e-9 * bytes, 1e-9 * there));
}

}  // namespace quorate
