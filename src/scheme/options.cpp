// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace quorate {

Option stragglers_option()
{
    return {"stragglers", "S", "1", "stragglers tolerated: each partition is on S + 1 workers", 1};
}

int stragglers(const Settings& settings, int most)
{
    return static_cast<int>(settings.integer("stragglers", 0, most));
}

void refuse_unless_divides(const Settings& settings, const std::string& option, int d, int n)
{
    if (n % d == 0) return;
    int below = d, above = d;
    while (n % below != 0) --below;
    while (n % above != 0) ++above;
    settings.refuse(
        option,
        fmt::format(", but {} + 1 = {} does not divide the {} workers: try --{} {} or "
                    "{}, or {} or {} workers",
                    option, d, n, option, below - 1, above - 1, n / d * d, (n / d + 1) * d));
}

Option collect_option()
{
    return {"collect", "M", "",
            "answers after which a round ends; default: half of the workers; ignore: all but the "
            "stragglers; dsag: four fifths, at its point",
            0};
}

int collect(const Settings& settings, int workers)
{
    return settings.on("collect") ? static_cast<int>(settings.integer("collect", 1, workers))
                                  : (workers + 1) / 2;
}

int any_collect(const Settings& settings, int workers)
{
    return settings.on("collect")
               ? static_cast<int>(settings.integer("collect", 1, std::numeric_limits<int>::max()))
               : collect(settings, workers);
}

Option weights_option()
{
    return {"weights", "NAME", "",
            "of contributions. ignore: rescale (by N / answers), horvitz-thompson (by one over how "
            "often each worker answers in time), ratio (by the samples received). amb: samples, "
            "equal (each worker's mean), shard (means by the rows held). Default: the first"};
}

Option decoder_option()
{
    return {
        "decoder", "NAME", "",
        "approximate codes: optimal (least squares), one-step (plain sum, scaled), debiased "
        "(optimal, scaled to be unbiased). pgc-cyclic: residue, mds, mu. Default: the first that "
        "is possible"};
}

std::string word_of(const Settings& settings, const std::string& option,
                    const std::vector<std::string>& words)
{
    return settings.on(option) ? settings.one_of(option, words) : words.front();
}

Option shares_option()
{
    return {"shares", "SHARE,WORKER,...", "",
            "rows of the partitions of these workers, from 0, over those of the others; several "
            "such shares: with / between them. 0.33,0,1/0.5,7: workers 0 and 1 have a third, "
            "worker 7 has half"};
}

std::vector<double> shares(const Settings& settings, int workers)
{
    if (!settings.on("shares")) return {};
    std::vector<double> found(static_cast<std::size_t>(workers), 1.0);
    std::set<std::int64_t> named;
    for (const auto& group : split(settings.text("shares"), '/')) {
        const auto words = split(group, ',');
        const auto share = to_real(words.front());
        if (words.size() < 2 || !share || !(*share > 0) || !std::isfinite(*share))
            settings.refuse(
                "shares", ": write SHARE,WORKER,... with a share above 0, such as 0.33,0,1/0.5,7");
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto worker = to_integer(words[i]);
            if (!worker || *worker < 0 || *worker >= workers)
                settings.refuse("shares", fmt::format(", where {} is no worker: they are 0 to {}",
                                                      words[i], workers - 1));
            if (!named.insert(*worker).second)
                settings.refuse("shares", fmt::format(", which names worker {} twice", *worker));
            found[static_cast<std::size_t>(*worker)] = *share;
        }
    }
    return found;
}

Option estimator_option()
{
    return {"estimator", "NAME", "",
            "of the gradient. mindflayer: ratio (the sum of the tasks that are complete by their "
            "number), expected (by the number expected). dsag: sag (the mean of the cache), saga "
            "(unbiased, by the change of what was renewed). Default: the first"};
}

Option order_option()
{
    return {"order", "NAME", "",
            "of what a worker computes. partial: rotate (it begins with the partition of its own "
            "number), given (ascending). dsag: cyclic, random. Default: the first"};
}

Option staleness_cap_option()
{
    return {"staleness-cap", "UPDATES", "",
            "contributions that are staler are not used; default: none, ringmaster: N - 1, pgc: "
            "twice the partitions of a worker, dsag: four times the updates in which all are "
            "renewed"};
}

std::int64_t staleness_cap(const Settings& settings, std::int64_t without)
{
    return settings.on("staleness-cap") ? settings.integer("staleness-cap", 0) : without;
}

Option most_batches_option()
{
    return {"most", "M", "16",
            "batches of a worker that the coordinator keeps at most; who has so many rests"};
}

int most_batches(const Settings& settings)
{
    return static_cast<int>(settings.integer("most", 1, 1'000'000));
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

std::vector<int> copies_tried(int workers)
{
    std::vector<int> all;
    for (int copies = 2; copies <= std::min(workers / 2, 16); ++copies)
        if (workers % copies == 0) all.push_back(copies);
    return all;
}

Option degree_option()
{
    return {"degree", "D", "2", "partitions that a worker holds, on average for random codes", 0};
}

int degree(const Settings& settings, int most)
{
    return static_cast<int>(settings.integer("degree", 1, most));
}

Option placement_option()
{
    return {"placement", "cyclic|frc", "cyclic", "which partitions a worker holds"};
}

Option deadline_option()
{
    return {"deadline", "SECONDS|adaptive:Q,K[,W,CAP]", "",
            "a round ends after so many seconds with what has come, at the first answer at the "
            "earliest; adaptive, where estimates are not exact: when Q have answered (or all, if "
            "there are fewer workers) and K median deviations beyond the median time of the last W "
            "rounds (20) are over, or CAP seconds since the Q-th answer; default: it waits for its "
            "quorum"};
}

Option rescale_option()
{
    return {"rescale", "coverage|none", "coverage",
            "scale the sum by partitions / partitions received (unbiased for random stragglers), "
            "or not (agc: as the public ErasureHead code)"};
}

bool rescale(const Settings& settings)
{
    return settings.one_of("rescale", {"coverage", "none"}) == "coverage";
}

Seconds deadline(const Settings& settings)
{
    if (settings.text("deadline").starts_with("adaptive"))
        settings.refuse("deadline",
                        ", but this scheme is exact as soon as its quorum is there, and waiting "
                        "adds nothing: give seconds");
    return settings.on("deadline") ? settings.seconds("deadline") : never;
}

Blocked until_collected(const Settings& settings, int workers)
{
    return settings.on("deadline") ? Blocked{} : until_answers(workers, collect(settings, workers));
}

}  // namespace quorate
