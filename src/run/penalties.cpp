// SPDX-License-Identifier: BSD-2-Clause
#include "run/penalties.hpp"

#include "base/text.hpp"

namespace quorate {

namespace {

// Reads a penalty: a number, or 1/n for one over the training rows.
double penalty(const Settings& settings, const std::string& name, std::int64_t rows)
{
    if (settings.text(name) == "1/n") return 1.0 / static_cast<double>(rows);
    if (!to_real(settings.text(name)))
        settings.refuse(name, ": give a number of at least 0, or 1/n");
    return settings.real(name, 0);
}

}  // namespace

std::vector<Option> penalty_options()
{
    return {{"l2", "A|1/n", "1/n",
             "the objective is the mean loss + A |w|^2; 1/n: one over the training rows"},
            {"l1", "A|1/n", "0", "the objective has + A |w|_1 too, by a proximal step"}};
}

Regularizer regularizer_of(const Settings& settings, std::int64_t rows)
{
    return {.l2 = penalty(settings, "l2", rows), .l1 = penalty(settings, "l1", rows)};
}

}  // namespace quorate
