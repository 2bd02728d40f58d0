// SPDX-License-Identifier: BSD-2-Clause
#include "study/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/interval.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "commands/options.hpp"
#include "parts/components.hpp"
#include "run/defaults.hpp"
#include "run/penalties.hpp"
#include "study/balanced_shares.hpp"
#include "study/measured.hpp"
#include "transport/clock.hpp"

namespace quorate {

namespace {

// Returns the options of a simulation that all candidates share: neither those of schemes, which a
// candidate chooses, nor those that make sense for a single run only, such as its files.
std::vector<Option> shared_options()
{
    std::set<std::string> others = {"scheme",
                                    "folder",
                                    "trace",
                                    "trace-arrivals",
                                    "checkpoint",
                                    "resume",
                                    "checkpoint-every",
                                    "stop-before",
                                    "walltime",
                                    "events",
                                    "on-loss",
                                    "standby",
                                    "timeout",
                                    "load-time",
                                    "replay",
                                    "log",
                                    "manifest",
                                    "row",
                                    "dry",
                                    "overwrite",
                                    "unsaved",
                                    "evaluate",
                                    "workers",
                                    "rounds",
                                    "stop-at",
                                    "patience",
                                    "on-divergence"};
    const auto kinds = run_components();
    const auto schemes = std::ranges::find(kinds, "scheme", &ComponentKind::option);
    for (const auto& scheme : schemes->all)
        for (const auto& option : scheme.options) others.insert(option.name);
    std::vector<Option> all;
    for (auto& option : simulation_options())
        if (!others.contains(option.name)) all.push_back(std::move(option));
    return all;
}

// Returns how uncoded would be trained, for all candidates to be trained alike.
Options update_rule(const Settings& settings)
{
    const DataSet data(settings.text("data"));
    const auto model = chosen(models(), settings, "model").make(settings, data.shape());
    const auto rows = data.rows(Split::train);
    const auto regularizer = regularizer_of(settings, rows);
    const auto batch = settings.integer("batch", 0);
    const EstimateKind estimates{.exact = batch == 0, .samples = batch};
    const auto resolved = with_defaults(settings, estimates, model.get(), regularizer);
    const auto step = step_of(resolved, data, *model, regularizer, estimates);
    return {{"optimizer", resolved.text("optimizer")},
            {"schedule", resolved.text("schedule")},
            {"step", fmt::format("{}", step)}};
}

Options shared_values(const Settings& settings)
{
    Options values = {{"workers", settings.text("workers")}};
    for (const auto& option : shared_options())
        if (settings.given(option.name) && option.name != "seed")
            values.emplace(option.name, settings.text(option.name));
    if (settings.on("data"))
        for (const auto& [name, value] : update_rule(settings))
            values.insert_or_assign(name, value);
    else
        values.emplace("dry", "on");
    return values;
}

// Returns what is compared. @param data_only  receives the schemes that are not, because that takes
// data
std::vector<Candidate> chosen_candidates(const Settings& settings,
                                         std::vector<std::string>& data_only)
{
    const auto workers = static_cast<int>(settings.integer("workers", 1, 100'000));
    auto all = candidates(workers, settings.given("row-time"));
    if (!settings.on("schemes")) {
        if (settings.on("data")) return all;
        for (const auto& one : all)
            if (one.paced && (data_only.empty() || data_only.back() != one.scheme))
                data_only.push_back(one.scheme);
        std::erase_if(all, &Candidate::paced);
        return all;
    }
    std::set<std::string> known, wanted;
    for (const auto& candidate : all) known.insert(candidate.scheme);
    for (const auto& name : split(settings.text("schemes"), ',')) {
        wanted.insert(trimmed(name));
        if (!known.contains(trimmed(name)))
            settings.refuse("schemes", ", where " + trimmed(name) + " is none that is compared" +
                                           suggestion(trimmed(name), {known.begin(), known.end()}));
    }
    std::erase_if(all, [&](const auto& one) { return !wanted.contains(one.scheme); });
    if (settings.on("data")) return all;
    if (const auto paced = std::ranges::find_if(all, &Candidate::paced); paced != all.end())
        settings.refuse("schemes", ", but the updates of " + paced->scheme +
                                       " are many and of old gradients, which only training can "
                                       "compare with others: give --data");
    return all;
}

// Returns the candidates, those that are paced with a step of their own: the one that is stable for
// all data, and twice that, because most are better. Those that cannot be made with these settings
// are left out.
std::vector<Candidate> paced(const std::vector<Candidate>& all, const Settings& settings,
                             const Options& shared)
{
    std::vector<Candidate> found;
    for (const auto& one : all) {
        if (!one.paced) {
            found.push_back(one);
            continue;
        }
        try {
            for (const double more : {1.0, 2.0})
                found.push_back(at_its_pace(one, settings, shared, more));
        } catch (const BadInput&) {  // of what is wrong for all, uncoded tells
        }
    }
    return found;
}

// Returns whose rows hardly ever count, in words.
std::string about_rows(const RowUse& use)
{
    constexpr std::size_t named = 8;
    const auto workers = std::span(use.holders).first(std::min(named, use.holders.size()));
    return fmt::format("{:.2g} % of the rows hardly ever count, those of workers {}{}",
                       100 * use.rarely, fmt::join(workers, ", "),
                       workers.size() < use.holders.size() ? ", ..." : "");
}

// Returns why a candidate is not recommended: see Advice::doubt().
std::string doubt_of(const Settings& settings, const std::optional<RowUse>& use, bool exact)
{
    if (use && use->rarely > 0) return about_rows(*use);
    if (settings.on("data") || settings.given("heterogeneity") || exact) return "";
    return "its estimates are not exact, and only --data or --heterogeneity tells what that costs";
}

// Sets a flag when its time is over, from a thread of its own.
class TimeLimit {
public:
    explicit TimeLimit(double seconds)
        : thread_([this, seconds](const std::stop_token& ended) {
              std::unique_lock lock(mutex_);
              const std::chrono::duration<double> limit(seconds);
              if (!wake_.wait_for(lock, ended, limit, [&] { return ended.stop_requested(); }))
                  over_ = true;
          })
    {
    }
    const std::atomic<bool>& over() const { return over_; }

private:
    std::atomic<bool> over_ = false;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

// Returns the candidates, and each again with shares of rows by the speeds of workers, where these
// differ and its scheme has such shares.
std::vector<Candidate> with_shares(std::vector<Candidate> all, const Settings& settings)
{
    const auto rows = settings.on("data")   ? DataSet(settings.text("data")).rows(Split::train)
                      : settings.on("rows") ? settings.integer("rows", 1)
                                            : 1000 * settings.integer("workers", 1);
    const auto shares = balanced_shares(settings, rows);
    if (shares.empty()) return all;
    const auto count = all.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto entry = std::ranges::find(schemes(), all[i].scheme, &Entry<MakeScheme>::name);
        if (!std::ranges::count(entry->options, "shares", &Option::name)) continue;
        auto one = all[i];
        one.options.emplace_back("shares", shares);
        all.push_back(std::move(one));
    }
    return all;
}

// Whether there are ways of adding up contributions to choose from, and a network in which they
// differ.
bool has_ways(const Settings& settings)
{
    return settings.integer("nodes", 1) > 1 && settings.on("bandwidth") &&
           (settings.on("data") || settings.on("columns")) && settings.text("aggregate") == "auto";
}

// The simulations of all candidates, as far as there is time for them.
class Simulations {
public:
    Simulations(const Settings& settings, int seeds, double limit, const AdviceProgress& progress)
        : settings_(settings), shared_(shared_values(settings)), progress_(progress),
          candidates_(paced(with_shares(chosen_candidates(settings, data_only_), settings),
                            settings, shared_)),
          seeds_(static_cast<std::size_t>(seeds)), end_(clock_seconds() + limit), limit_(limit),
          times_(candidates_.size(), std::vector<std::optional<TimeToTarget>>(seeds_)),
          unfit_(candidates_.size()), slow_(candidates_.size()), ways_(has_ways(settings))
    {
    }

    void run()
    {
        find_target();
        const auto at_once = simulations_at_once(settings_);
        std::vector<std::size_t> left(candidates_.size());
        std::iota(left.begin(), left.end(), std::size_t{0});
        for (std::size_t seed = 0; seed < seeds_ && !left.empty() && !certain_; ++seed) {
            // One that takes very long must not keep others from having their time.
            longest_ = std::ssize(left) > at_once ? std::optional(limit_ / 4) : std::nullopt;
            all_ += left.size();
            in_parallel(left.size(), at_once, [&](std::size_t i) {
                run_one(left[i], seed);
                const std::lock_guard lock(mutex_);
                ++done_;
                if (progress_) progress_(done_, all_);
            });
            if (std::ranges::any_of(left, [&](auto i) { return !times_[i][seed] && !out(i); }))
                return;  // the time is over
            seeds_done_ = seed + 1;
            left = better_half(left);
            certain_ = seed == 1 && all_alike();
        }
    }

    // Tells what came of the simulations, candidates in their order.
    void report(Advice& advice) const
    {
        advice.certain = certain_;
        advice.data_only = data_only_;
        advice.simulations = made_;
        advice.ways = ways_;
        advice.seeds = certain_ ? 1 : static_cast<int>(std::max<std::size_t>(1, seeds_done_));
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            std::vector<TimeToTarget> times;
            for (std::size_t seed = 0; seed < static_cast<std::size_t>(advice.seeds); ++seed)
                if (const auto& one = times_[i][seed]) times.push_back(*one);
            if (!times.empty())
                advice.ranked.push_back(candidate_times(candidates_[i], times));
            else if (!unfit_[i])
                advice.left_out.push_back(candidates_[i].text());
        }
    }

private:
    // Options that are wrong for all candidates throw here. Later they would be taken for a scheme
    // that cannot be made with these settings, which is left out.
    void find_target()
    {
        const TimeLimit time(limit_);
        target_ = final_loss({"uncoded", {}}, settings_, shared_, time.over());
        if (time.over())
            settings_.refuse("time-limit",
                             ", too short for one simulation of uncoded: give a longer one, or "
                             "fewer --rounds");
        // Other exact codes sum in another order, and end at the same loss but for its last bits.
        constexpr double last_bits = 1e-12;
        if (target_) *target_ += last_bits * std::abs(*target_);
        if (settings_.on("target-loss")) target_ = settings_.real("target-loss", 0);
    }

    bool out(std::size_t candidate) const { return unfit_[candidate] || slow_[candidate]; }

    void run_one(std::size_t candidate, std::size_t seed)
    {
        const double left = end_ - clock_seconds();
        if (left <= 0 || out(candidate)) return;
        const TimeLimit time(std::min(left, longest_.value_or(left)));
        try {
            if (ways_ && seed == 0) {
                auto fastest = fastest_way(candidates_[candidate], settings_, shared_, time.over());
                candidates_[candidate].way = std::move(fastest.way);
                made_ += static_cast<std::size_t>(fastest.simulations);
            }
            auto& result = times_[candidate][seed];
            result = time_to_target(candidates_[candidate], settings_, shared_,
                                    static_cast<int>(seed), target_, time.over());
            ++made_;
            if (!result) slow_[candidate] = true;
        } catch (const BadInput&) {
            unfit_[candidate] = true;
        }
    }

    // Returns the candidates that get another seed: the better half by their mean times, but
    // `least` of those that may be recommended and `least` of the others.
    std::vector<std::size_t> better_half(const std::vector<std::size_t>& all) const
    {
        constexpr std::ptrdiff_t least = 4;
        std::vector<std::pair<double, std::size_t>> order;
        for (const auto i : all) {
            if (out(i)) continue;
            double sum = 0;
            for (std::size_t seed = 0; seed < seeds_done_; ++seed) sum += times_[i][seed]->seconds;
            order.emplace_back(sum, i);
        }
        std::ranges::sort(order);
        const auto half = (std::ssize(order) + 1) / 2;
        std::vector<std::size_t> better;
        std::ptrdiff_t places[] = {0, 0};
        for (const auto& [sum, i] : order) {
            const auto& one = *times_[i][0];
            auto& place = places[doubt_of(settings_, one.use, one.exact).empty() ? 0 : 1];
            if (std::ssize(better) < half || place < least) better.push_back(i);
            ++place;
        }
        return better;
    }

    // Whether two seeds give the same times, for all candidates that have both.
    bool all_alike() const
    {
        return std::ranges::none_of(times_, [](const auto& of) {
            return of[0] && of[1] && of[0]->seconds != of[1]->seconds;
        });
    }

    const Settings& settings_;
    const Options shared_;
    const AdviceProgress& progress_;
    std::vector<std::string> data_only_ = {};
    std::vector<Candidate> candidates_;
    const std::size_t seeds_;
    const Seconds end_, limit_;
    std::optional<Seconds> longest_;                               // for one simulation
    std::optional<double> target_;                                 // loss
    std::vector<std::vector<std::optional<TimeToTarget>>> times_;  // by candidate and seed
    // Of each candidate: whether it cannot be made with these settings, or was stopped.
    std::vector<std::atomic<bool>> unfit_, slow_;
    const bool ways_;             // whether a candidate's way of adding up is chosen
    std::size_t seeds_done_ = 0;  // with which all were simulated that got so far
    bool certain_ = false;
    std::mutex mutex_;
    std::size_t done_ = 0, all_ = 0;
    std::atomic<std::size_t> made_ = 0;
};

// Returns for each candidate with how many of the seeds it was the fastest of those that have all.
std::vector<int> wins(const std::vector<CandidateTimes>& all, int seeds)
{
    std::vector<int> count(all.size());
    const auto whole = static_cast<std::size_t>(seeds);
    for (std::size_t seed = 0; seed < whole; ++seed) {
        const auto at = std::ranges::min_element(all, {}, [&](const CandidateTimes& one) {
            return one.seconds.size() == whole ? one.seconds[seed]
                                               : std::numeric_limits<double>::infinity();
        });
        ++count[static_cast<std::size_t>(at - all.begin())];
    }
    return count;
}

}  // namespace

std::vector<Option> advice_options()
{
    std::vector<Option> all = {
        {"workers", "N", "", "workers that there will be"},
        {"measured", "FILE", "",
         "trace of a short run of uncoded on the cluster: what is not given of workers, rows, "
         "row-time, slowdown and latency is taken from it"},
        {"schemes", "NAME,...", "",
         "compare these only; default: all that have parameters to choose"},
        {"repeat", "N", "5", "simulations of the best candidates, with different seeds"},
        {"time-limit", "TIME", "60s",
         "advice is given then at the latest, from the simulations that are done"},
        {"rounds", "N", "100",
         "the target is the progress of so many exact rounds, or with --data the loss that uncoded "
         "reaches in them"},
        {"target-loss", "X", "",
         "with --data, the training loss to reach; default: that of uncoded after --rounds"},
        {"heterogeneity", "H", "1",
         "without --data: variance of the partitions' gradients over the square of their mean; "
         "what approximate schemes lose by it"}};
    add_options(all, shared_options());
    std::ranges::find(all, "aggregate", &Option::name)->text =
        "where contributions are added up: flat, node or shares, as in a run. auto: with --nodes, "
        "--bandwidth and --data or --columns, for each candidate what is fastest in simulations of "
        "some rounds; else as a run chooses";
    return all;
}

std::string Advice::doubt(const CandidateTimes& one) const
{
    return doubt_of(settings, one.use, one.exact);
}

bool Advice::like_the_best(const CandidateTimes& one) const
{
    const auto& first = ranked[best];
    if (certain || &one == &first || one.seconds.size() != first.seconds.size()) return false;
    std::vector<double> apart;
    for (std::size_t i = 0; i < one.seconds.size(); ++i)
        apart.push_back(one.seconds[i] - first.seconds[i]);
    const auto half = quorate::half_interval(apart);
    const double sum = std::accumulate(apart.begin(), apart.end(), 0.0);
    return half && std::abs(sum) / static_cast<double>(apart.size()) <= *half;
}

std::optional<double> Advice::half_interval(const CandidateTimes& one) const
{
    return certain ? std::nullopt : quorate::half_interval(one.seconds);
}

Advice advise(const Settings& given, const AdviceProgress& progress)
{
    Advice advice{.settings = with_measured(given)};
    const auto& settings = advice.settings;
    if (!settings.on("workers"))
        throw BadInput("quorate advise needs --workers N, or --measured FILE");
    if (settings.on("target-loss") && !settings.on("data"))
        settings.refuse("target-loss",
                        ", but nothing is trained without --data: leave it out, or give data");
    const auto limit = to_duration(settings.text("time-limit"));
    if (!limit || *limit <= 0) settings.refuse("time-limit", ": write 60s or 5min");
    const auto seeds = static_cast<int>(settings.integer("repeat", 1, 1000));
    settings.integer("rounds", 1);  // refused before anything is simulated
    const auto began = clock_seconds();
    Simulations simulations(settings, seeds, *limit, progress);
    simulations.run();
    simulations.report(advice);
    advice.took = clock_seconds() - began;
    if (advice.ranked.empty() && !advice.left_out.empty())
        settings.refuse("time-limit",
                        ", too short for a single candidate: give a longer one, or fewer --rounds");
    if (advice.ranked.empty())
        throw BadInput(
            "no scheme can be simulated with these options: try quorate simulate with them, "
            "which says why");
    if (!advice.left_out.empty())
        log(LogLevel::warning,
            fmt::format("left out, too slow to simulate within {}: {}", settings.text("time-limit"),
                        fmt::join(advice.left_out, ", ")));
    std::ranges::stable_sort(advice.ranked, {}, [](const CandidateTimes& one) {
        return std::pair(-std::ssize(one.seconds), one.mean());
    });
    const auto best = std::ranges::find_if(
        advice.ranked, [&](const auto& one) { return advice.doubt(one).empty(); });
    advice.best =
        best == advice.ranked.end() ? 0 : static_cast<std::size_t>(best - advice.ranked.begin());
    if (!std::isfinite(advice.ranked[advice.best].mean()))
        throw BadInput(fmt::format(
            "no candidate reaches the target in {} rounds{}: give more --rounds, a longer --step, "
            "or a {}--target-loss",
            2 * settings.integer("rounds", 1), advice.seeds > 1 ? " with every seed" : "",
            settings.on("target-loss") ? "larger " : ""));
    if (!advice.certain && advice.seeds < seeds)
        log(LogLevel::warning,
            fmt::format("{} of {} seeds are done within {}: --time-limit gives more time",
                        advice.seeds, seeds, settings.text("time-limit")));
    advice.fastest = wins(advice.ranked, advice.seeds);
    return advice;
}

}  // namespace quorate
