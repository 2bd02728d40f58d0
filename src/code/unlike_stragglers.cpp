// SPDX-License-Identifier: BSD-2-Clause
#include "code/unlike_stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"

namespace quorate {

namespace {

constexpr std::uint32_t reliable_draw = 104;  // behind those of code/assignments.cpp

// That a worker answers, to that it does not.
double odds(double straggling)
{
    return straggling > 0 ? (1 - straggling) / straggling : std::numeric_limits<double>::infinity();
}

// The sum of the odds of each partition's holders, and how many of them never straggle.
struct Holders {
    std::vector<double> odds;
    std::vector<int> sure;

    Holders(const Encoding& encoding, const Straggling& straggling)
        : odds(static_cast<std::size_t>(encoding.partitions)),
          sure(static_cast<std::size_t>(encoding.partitions))
    {
        for (std::size_t i = 0; i < encoding.rows.size(); ++i)
            for (const auto& row : encoding.rows[i])
                for (const auto& [j, value] : row) {
                    odds[static_cast<std::size_t>(j)] += quorate::odds(straggling[i]);
                    if (straggling[i] == 0) ++sure[static_cast<std::size_t>(j)];
                }
    }
};

// How many of `copies` each worker gets, in proportion to its probability to answer.
std::vector<int> loads_of(int copies, const Straggling& straggling)
{
    const auto n = straggling.size();
    std::vector<int> loads(n);
    // One after the other goes to the worker that is furthest below its part.
    for (int given = 1; given <= copies; ++given) {
        std::size_t next = n;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < n; ++i) {
            if (loads[i] == static_cast<int>(n)) continue;
            const double after = (loads[i] + 1) / (1 - straggling[i]);
            if (after < least) least = after, next = i;
        }
        ++loads[next];
    }
    return loads;
}

}  // namespace

void weigh_by_straggling(Encoding& encoding, const Straggling& straggling)
{
    const Holders holders(encoding, straggling);
    for (std::size_t i = 0; i < encoding.rows.size(); ++i)
        for (auto& row : encoding.rows[i])
            for (auto& [j, value] : row) {
                const auto at = static_cast<std::size_t>(j);
                if (holders.sure[at] > 0)
                    value = straggling[i] == 0 ? 1.0 / holders.sure[at] : 0;
                else
                    value = 1 / (straggling[i] * holders.odds[at]);
            }
}

double expected_error(const Encoding& encoding, const Straggling& straggling)
{
    double sum = 0;
    for (const double odds : Holders(encoding, straggling).odds) sum += 1 / odds;
    return sum;
}

Encoding reliable_assignment(int d, const Straggling& straggling, std::uint64_t seed)
{
    const auto n = straggling.size();
    const auto loads = loads_of(d * static_cast<int>(n), straggling);
    std::vector<std::size_t> workers(n), partitions(n);
    std::iota(workers.begin(), workers.end(), 0);
    std::iota(partitions.begin(), partitions.end(), 0);
    std::ranges::stable_sort(workers, {}, [&](std::size_t i) { return straggling[i]; });
    std::vector<double> held(n);  // by partition, the sum of its holders' odds
    Encoding encoding{static_cast<int>(n), std::vector<std::vector<Row>>(n)};
    for (const auto i : workers) {
        Stream(seed, Purpose::code, reliable_draw, static_cast<std::uint32_t>(i))
            .shuffle(partitions);
        std::ranges::stable_sort(partitions, {}, [&](std::size_t j) { return held[j]; });
        Row row;
        for (int at = 0; at < loads[i]; ++at) {
            const auto j = partitions[static_cast<std::size_t>(at)];
            held[j] += odds(straggling[i]);
            row.push_back({static_cast<int>(j), 1});
        }
        std::ranges::sort(row);
        encoding.rows[i].push_back(std::move(row));
    }
    return encoding;
}

void LearnedStraggling::round(const std::vector<int>& answered)
{
    for (const int worker : answered) ++answers_[static_cast<std::size_t>(worker)];
    ++rounds_;
}

Straggling LearnedStraggling::probabilities() const
{
    Straggling found;
    for (const double answers : answers_) found.push_back(1 - answers / rounds_);
    return found;
}

}  // namespace quorate
