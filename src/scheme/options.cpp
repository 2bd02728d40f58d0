// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/text.hpp"
#include "scheme/anytime/schemes.hpp"
#include "scheme/newest/schemes.hpp"

namespace quorate {

namespace {

// Options that several schemes share: what rounds wait for, what workers hold, and what sums weigh.
const std::vector<OptionRow>& rows_of_rounds()
{
    constexpr double any = std::numeric_limits<int>::max();
    static const std::vector<OptionRow> all = {
        {{"stragglers", "S", "1", "stragglers tolerated: each partition is on S + 1 workers", 1}},
        {{"collect", "M", "",
          "answers after which a round ends; default: half of the workers; ignore: all but the "
          "stragglers; robust: all; async-local: one; dsag: four fifths, at its point; pgc-frc: "
          "all but the stragglers, or group: one of each group, and who is late is interrupted, "
          "else nobody is",
          0},
         {.lowest = 1, .highest = any}},
        {{"weights", "NAME", "",
          "of contributions. ignore: rescale (by N / answers), horvitz-thompson (by one over how "
          "often each worker answers in time), ratio (by the samples received). amb: samples, "
          "equal (each worker's mean), shard (means by the rows held). Default: the first"}},
        {{"decoder", "NAME", "",
          "approximate codes: optimal (least squares), one-step (plain sum, scaled), debiased "
          "(optimal, scaled to be unbiased). pgc-cyclic: residue, mds, mu. Default: the first that "
          "is possible"}},
        {{"estimator", "NAME", "",
          "of the gradient. mindflayer: ratio (the sum of the tasks that are complete by their "
          "number), expected (by the number expected). dsag: sag (the mean of the cache), saga "
          "(unbiased, by the change of what was renewed). Default: the first"}},
        {{"order", "NAME", "",
          "of what a worker computes. partial: rotate (it begins with the partition of its own "
          "number), given (ascending). dsag: cyclic, random. Default: the first"}},
        {{"degree", "D", "2", "partitions that a worker holds, on average for random codes", 0},
         {.lowest = 1}},
        {{"placement", "cyclic|frc", "cyclic", "which partitions a worker holds"}, {}},
        {{"coefficients", "deterministic|random|ones", "deterministic",
          "real MDS code; the original random construction; or ones, decoded by residue class, "
          "where S + 1 divides the workers"}},
        {{"own", "U", "",
          "partitions of its own that a worker sends first; tolerates a slowdown of (U + S + 1) "
          "/ U; default: S + 1, a slowdown of 2"},
         {.lowest = 1, .highest = 1 << 20}},
        {{"tolerate", "L", "1", "workers that may send anything instead of what they computed"}},
        {{"shares", "SHARE,WORKER,...", "",
          "rows of the partitions of these workers, from 0, over those of the others; several "
          "such shares: with / between them. 0.33,0,1/0.5,7: workers 0 and 1 have a third, "
          "worker 7 has half"}},
        {{"deadline", "SECONDS|adaptive:Q,K[,W,CAP]", "",
          "a round ends after so many seconds with what has come, at the first answer at the "
          "earliest; adaptive, where estimates are not exact: when Q have answered (or all, if "
          "there are fewer workers) and K median deviations beyond the median time of the last W "
          "rounds (20) are over, or CAP seconds since the Q-th answer; default: it waits for its "
          "quorum"}},
        {{"rescale", "coverage|none", "coverage",
          "scale the sum by partitions / partitions received (unbiased for random stragglers), "
          "or not (agc: as the public ErasureHead code)"}},
    };
    return all;
}

// Likewise: what may be stale, how long workers compute, and what a step takes.
const std::vector<OptionRow>& rows_of_times()
{
    static const std::vector<OptionRow> all = {
        {{"staleness-cap", "UPDATES", "",
          "contributions that are staler are not used; default: none, ringmaster, async-local: N - "
          "1, or "
          "by --noise, pgc: twice the partitions of a worker, and who owes more rounds leaves out "
          "the "
          "oldest, dsag: four times the updates in which all are renewed"}},
        {{"staleness-scale", "none|inverse|adaptive", "none",
          "weight of a contribution of staleness T: 1, 1 / (1 + T), or N / max(N, T)"}},
        {{"restart-after", "SECONDS|auto", "",
          "a task that takes longer, its delay included, is begun anew with another draw of the "
          "delay; auto: what is best for a worker's last times; default: never, mindflayer: auto"},
         {.named = {{"auto", limit_by_times}}}},
        {{"most", "M", "16",
          "batches of a worker that the coordinator keeps at most; who has so many rests"},
         {.lowest = 1, .highest = 1'000'000}},
        {{"lipschitz", "L", "",
          "Lipschitz constant of the gradient; the program says which step the theory takes"}},
        {{"noise", "SIGMA2", "",
          "variance of the mean gradient of a task; schemes with --collect take SIGMA2 / EPS of "
          "them, local-sgd as many steps, and ringmaster has one less as --staleness-cap, unless "
          "these "
          "are given"}},
        {{"target-gradient", "EPS", "", "squared norm of the gradient at which --noise counts"}},
        {{"compute-time", "SECONDS|auto|match", "auto",
          "how long workers compute. auto: (1 + n / batch) times what a fixed minibatch takes them "
          "on average; match: as many samples as that on average"},
         {.lowest = 1e-9, .named = {{"auto", chosen_time}, {"match", matched_time}}}},
        {{"probe", "ROUNDS", "",
          "rounds with fixed minibatches from which --compute-time auto and match take their "
          "times; default: 10"},
         {.lowest = 1}},
        {{"micro-batch", "ROWS|auto", "auto",
          "samples between two looks at the clock; auto: about 1 % of the compute time"},
         {.lowest = 1}},
        {{"communication-time", "SECONDS", "",
          "a round ends so long after the compute time, whoever is silent; default: all answer"}},
        {{"samples-cap", "N", "",
          "a worker stops at its equal share of N samples, if its time is not over before, and "
          "then takes no row twice in a task; default: as many as there is time for"}},
        {{"local-steps", "N", "10",
          "steps that a worker makes on batches of its own before it sends how far they led"},
         {.lowest = 1}},
        {{"outer-step", "GAMMA", "1",
          "step that the --optimizer makes along the mean of the local displacements; with gd, 1 "
          "averages the models; local-sgd, async-local: along their sum"},
         {.lowest = 0}},
    };
    return all;
}

}  // namespace

const OptionRow& shared_option(const std::string& name)
{
    const auto named = [&](const OptionRow& row) { return row.option.name == name; };
    const auto found = std::ranges::find_if(rows_of_rounds(), named);
    return found != rows_of_rounds().end() ? *found : *std::ranges::find_if(rows_of_times(), named);
}

OptionRow worded(const std::string& name, std::vector<std::string> words)
{
    return {shared_option(name).option, {.words = std::move(words)}};
}

void refuse_unless_divides(const std::string& option, int d, int n)
{
    if (n % d == 0) return;
    int below = d, above = d;
    while (n % below != 0) --below;
    while (n % above != 0) ++above;
    throw Refusal(
        option,
        fmt::format(", but {} + 1 = {} does not divide the {} workers: try --{} {} or "
                    "{}, or {} or {} workers",
                    option, d, n, option, below - 1, above - 1, n / d * d, (n / d + 1) * d));
}

int answers(const std::optional<int>& collect, int workers)
{
    if (collect) at_most("collect", *collect, workers);
    return collect.value_or((workers + 1) / 2);
}

int quorum(const RoundLimit& deadline, const std::optional<int>& collect, int workers)
{
    if (!deadline.adaptive) return answers(collect, workers);
    if (collect)
        throw Refusal(
            "collect",
            ", but the Q of --deadline adaptive:Q,K says it too: leave out one of the two");
    return workers;
}

std::vector<double> values_by_worker(const GivenWords& given, const std::string& groups,
                                     double others, const std::function<bool(double)>& allowed,
                                     const std::string& form)
{
    std::vector<double> values(static_cast<std::size_t>(given.workers), others);
    std::set<std::int64_t> named;
    for (const auto& group : split(groups, '/')) {
        const auto words = split(group, ',');
        const auto value = to_real(words.front());
        if (words.size() < 2 || !value || !allowed(*value)) given.refuse(": write " + form);
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto worker = to_integer(words[i]);
            if (!worker || *worker < 0 || *worker >= given.workers)
                given.refuse(fmt::format(", where {} is no worker: give numbers from 0 to {}",
                                         words[i], given.workers - 1));
            if (!named.insert(*worker).second)
                given.refuse(fmt::format(", which names worker {} twice: leave one out", *worker));
            values[*worker] = *value;
        }
    }
    return values;
}

std::string written_by_worker(const std::vector<double>& values, double others)
{
    std::string words;
    for (std::size_t worker = 0; worker < values.size(); ++worker)
        if (values[worker] != others)
            words += fmt::format("{}{},{}", words.empty() ? "" : "/", values[worker], worker);
    return words;
}

void read_option(std::vector<double>& shares, const GivenWords& given)
{
    shares = values_by_worker(
        given, given.text(), 1, [](double share) { return share > 0 && std::isfinite(share); },
        "SHARE,WORKER,... with a share above 0, such as 0.33,0,1/0.5,7");
}

std::string written(const std::vector<double>& shares, const OptionRow&)
{
    return written_by_worker(shares, 1);
}

Entry<MakeScheme> alias(Entry<MakeScheme> of, const std::string& name, const std::string& text)
{
    of.text = "another name of " + of.name + ": " + text;
    of.name = name;
    of.properties.candidates = {};
    return of;
}

std::vector<Choice> doubled_stragglers(int most)
{
    std::vector<Choice> all;
    for (int s = 1; s <= most; s *= 2) all.push_back({{"stragglers", std::to_string(s)}});
    return all;
}

std::string adaptive_deadline_tried(int workers)
{
    return fmt::format("adaptive:{},5", (workers + 1) / 2);
}

std::vector<Choice> copies_tried(int workers, bool)
{
    std::vector<Choice> all;
    const auto add = [&](int copies) {
        if (workers % copies == 0) all.push_back({{"stragglers", std::to_string(copies - 1)}});
    };
    for (int copies = 2; copies <= std::min(workers / 2, 16); ++copies) add(copies);
    for (int copies = 32; copies <= workers / 4; copies *= 2) add(copies);
    return all;
}

std::vector<Choice> crossed(const std::vector<Choice>& these, const std::vector<Choice>& others)
{
    std::vector<Choice> all;
    for (const auto& one : these)
        for (const auto& other : others)
            std::ranges::copy(other, std::back_inserter(all.emplace_back(one)));
    return all;
}

std::vector<Choice> defaults_tried(int, bool) { return {{}}; }

Seconds seconds_of(const RoundLimit& deadline)
{
    if (deadline.adaptive)
        throw Refusal("deadline",
                      ", but this scheme is exact as soon as its quorum is there, and waiting "
                      "adds nothing: give seconds");
    return deadline.fixed;
}

}  // namespace quorate
