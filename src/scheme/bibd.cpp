// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "code/assignments.hpp"
#include "scheme/approximate.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

std::unique_ptr<Scheme> make(const Settings& settings, const Problem& problem)
{
    const int n = problem.workers;
    const int q = plane_order(n);
    if (q == 0) {
        int below = n, above = n;
        while (below > 7 && plane_order(below) == 0) --below;
        while (plane_order(above) == 0) ++above;
        settings.refuse(
            "scheme",
            fmt::format(", but {} workers are not q^2 + q + 1 for a prime q: use {}", n,
                        below < n && plane_order(below) != 0 ? fmt::format("{} or {}", below, above)
                                                             : fmt::format("{}", above)));
    }
    return approximate_scheme(settings, problem, plane_assignment(q), design_weights(q + 1));
}

}  // namespace

Entry<MakeScheme> bibd_entry()
{
    return {.name = "bibd",
            .text =
                "approximate; lines and points of a projective plane, N = q^2 + q + 1 for a prime "
                "q, q + 1 partitions a worker: the error depends on the number of stragglers alone",
            .source = "Kadhe, Koyluoglu, Ramchandran, ISIT 2019",
            .options = approximate_options({}),
            .make = make,
            .properties = {.blocked = until_collected}};
}

}  // namespace quorate
