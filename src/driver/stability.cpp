// SPDX-License-Identifier: BSD-2-Clause
#include "driver/stability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "model/linear.hpp"

namespace quorate {

namespace {

// Returns the largest eigenvalue of X'X / rows, by 30 steps of power iteration on the first rows of
// the training split.
double largest_eigenvalue(const DataSet& data, std::uint64_t seed)
{
    constexpr std::int64_t most = 4096;
    const RowSet some{Split::train, 0, std::min(most, data.rows(Split::train))};
    const Shard shard(data, std::span(&some, 1));
    const auto rows = shard.block(0).view();
    std::vector<double> v(shard.support().size()), next(v.size()),
        scores(static_cast<std::size_t>(rows.rows));
    Stream random(seed, Purpose::probe);
    for (auto& element : v) element = random.normal();
    double eigenvalue = 0;
    for (int i = 0; i < 30; ++i) {
        double norm = 0;
        for (const double element : v) norm += element * element;
        for (auto& element : v) element /= std::sqrt(norm);
        linear::product(rows, v.data(), 1, scores.data());
        eigenvalue = 0;
        for (const double score : scores) eigenvalue += score * score;
        std::ranges::fill(next, 0.0);
        linear::add_transpose_product(rows, scores.data(), 1, next.data());
        std::swap(v, next);
    }
    return eigenvalue / static_cast<double>(rows.rows);
}

}  // namespace

std::string stability_warning(const Settings& settings, const Training& training)
{
    const auto& needs = training.coding->needs;
    if (needs.staleness == 0 || !training.model || !training.model->linear() ||
        settings.text("optimizer") != "gd")
        return "";
    const auto of_loss = training.model->loss().curvature();
    if (std::isnan(of_loss)) return "";
    const auto curvature =
        of_loss * largest_eigenvalue(*training.data, training.seed) + 2 * training.regularizer.l2;
    const auto most = needs.stable_step / curvature;
    if (settings.real("step", 0) <= most) return "";
    return fmt::format(
        "--step {} may be too large: gradients that are {:.3g} updates old on average allow about "
        "{:.2g} on these data, whose curvature is up to {:.3g}: use less, or less stale gradients",
        settings.text("step"), needs.staleness, most, curvature);
}

}  // namespace quorate
