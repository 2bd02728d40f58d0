// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace quorate {

void read_argument(std::vector<int>& workers, const GivenArgument& given)
{
    workers.clear();
    const auto& component = given.component;
    if (given.words.empty()) component.refuse(", but no worker is named");
    for (const auto& word : given.words) {
        const auto worker = to_integer(word);
        if (!worker || *worker < 0 || *worker >= component.workers)
            component.refuse(fmt::format(", but WORKER is {}, not a worker from 0 to {}",
                                         word.empty() ? "empty" : word, component.workers - 1));
        workers.push_back(static_cast<int>(*worker));
    }
}

std::string written_argument(const std::vector<int>& workers, const Bounds&)
{
    return fmt::format("{}", fmt::join(workers, ","));
}

void refuse_unless_it_changes(double p_bad, double p_good)
{
    if (p_bad + p_good == 0)
        throw Refusal("P_BAD", ", but P_BAD and P_GOOD are both 0, which never changes");
}

}  // namespace quorate
