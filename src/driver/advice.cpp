// SPDX-License-Identifier: BSD-2-Clause
#include "driver/advice.hpp"

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
#include "driver/components.hpp"
#include "driver/defaults.hpp"
#include "driver/measured.hpp"
#include "driver/penalties.hpp"
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

// Returns what is compared. @param data_only  receives the schemes that are not, because that takes data
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

// Returns the candidates, those that are paced with a step of their own: the one that is stable for all data, and twice
// that, because most are better. Those that cannot be made with these settings are left out.
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

// The simulations of all candidates, as far as there is time for them.
class Simulations {
public:
    Simulations(const Settings& settings, int seeds, double limit, const AdviceProgress& progress)
        : settings_(settings), shared_(shared_values(settings)), progress_(progress),
          candidates_(paced(chosen_candidates(settings, data_only_), settings, shared_)),
          seeds_(static_cast<std::size_t>(seeds)), end_(clock_seconds() + limit), limit_(limit),
          times_(seeds_ * candidates_.size()), unfit_(candidates_.size()), slow_(candidates_.size())
    {
    }

    void run()
    {
        find_target();
        const auto count = candidates_.size();
        const auto at_once = simulations_at_once(settings_);
        // One that takes very long must not keep others from having their time.
        if (times_.size() > static_cast<std::size_t>(at_once)) longest_ = limit_ / 4;
        in_parallel(times_.size(), at_once, [&](std::size_t i) {
            run_one(i % count, i / count);
            const std::lock_guard lock(mutex_);
            ++done_;
            if (i < 2 * count && ++done_of_first_two_ == 2 * count) certain_ = all_alike();
            if (progress_) progress_(done_, times_.size());
        });
    }

    // Tells what came of the simulations, candidates in their order.
    void report(Advice& advice) const
    {
        advice.certain = certain_;
        advice.data_only = data_only_;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            std::vector<TimeToTarget> times;
            for (std::size_t seed = 0; seed < (certain_ ? 1 : seeds_); ++seed) {
                if (!at(i, seed)) break;
                times.push_back(*at(i, seed));
            }
            if (!times.empty())
                advice.ranked.push_back(prediction(candidates_[i], times));
            else if (!unfit_[i])
                advice.left_out.push_back(candidates_[i].text());
        }
    }

private:
    const std::optional<TimeToTarget>& at(std::size_t candidate, std::size_t seed) const
    {
        return times_[seed * candidates_.size() + candidate];
    }

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

    void run_one(std::size_t candidate, std::size_t seed)
    {
        const double left = end_ - clock_seconds();
        if (left <= 0 || unfit_[candidate] || slow_[candidate] || certain_) return;
        const TimeLimit time(std::min(left, longest_.value_or(left)));
        try {
            auto& result = times_[seed * candidates_.size() + candidate];
            result = time_to_target(candidates_[candidate], settings_, shared_,
                                    static_cast<int>(seed), target_, time.over());
            if (!result) slow_[candidate] = true;
        } catch (const BadInput&) {
            unfit_[candidate] = true;
        }
    }

    // Whether the first two seeds give the same times for all candidates.
    bool all_alike() const
    {
        if (seeds_ < 2) return false;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const auto &one = at(i, 0), &other = at(i, 1);
            if (one && other && one->seconds != other->seconds) return false;
        }
        return true;
    }

    const Settings& settings_;
    const Options shared_;
    const AdviceProgress& progress_;
    std::vector<std::string> data_only_ = {};
    const std::vector<Candidate> candidates_;
    const std::size_t seeds_;
    const Seconds end_, limit_;
    std::optional<Seconds> longest_;  // for one simulation
    std::optional<double> target_;    // loss
    std::vector<std::optional<TimeToTarget>> times_;
    // Of each candidate: whether it cannot be made with these settings, or was stopped.
    std::vector<std::atomic<bool>> unfit_, slow_;
    std::atomic<bool> certain_ = false;
    std::mutex mutex_;
    std::size_t done_ = 0, done_of_first_two_ = 0;
};

// Returns for each candidate with how many of the seeds it was the fastest.
std::vector<int> wins(const std::vector<Prediction>& all, int seeds)
{
    std::vector<int> count(all.size());
    for (int seed = 0; seed < seeds; ++seed) {
        const auto at = std::ranges::min_element(all, {}, [&](const Prediction& one) {
            return one.seconds[static_cast<std::size_t>(seed)];
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
        {"repeat", "N", "5", "simulations of each candidate, with different seeds"},
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
    for (auto& option : shared_options()) all.push_back(std::move(option));
    return all;
}

bool Advice::like_the_first(const Prediction& one) const
{
    const auto& first = ranked.front();
    std::vector<double> apart;
    for (std::size_t i = 0; i < std::min(one.seconds.size(), first.seconds.size()); ++i)
        apart.push_back(one.seconds[i] - first.seconds[i]);
    const auto half = certain ? std::nullopt : quorate::half_interval(apart);
    const double sum = std::accumulate(apart.begin(), apart.end(), 0.0);
    return half && sum / static_cast<double>(apart.size()) <= *half;
}

std::optional<double> Advice::half_interval(const Prediction& one) const
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
    Simulations simulations(settings, seeds, *limit, progress);
    simulations.run();
    simulations.report(advice);
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
    std::ranges::stable_sort(advice.ranked, {}, &Prediction::mean);
    for (const auto& one : advice.ranked)
        advice.seeds = std::min(advice.seeds, static_cast<int>(one.seconds.size()));
    if (!advice.certain && advice.seeds < seeds)
        log(LogLevel::warning,
            fmt::format("{} of {} simulations of each candidate are done within {}: --time-limit "
                        "gives more time",
                        advice.seeds, seeds, settings.text("time-limit")));
    advice.fastest = wins(advice.ranked, advice.seeds);
    return advice;
}

}  // namespace quorate
