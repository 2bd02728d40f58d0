// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "code/assignments.hpp"
#include "code/collect_decoder.hpp"
#include "code/unlike_stragglers.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/coded.hpp"

namespace quorate {

namespace {

// In each round workers scale what they send by how often they straggled before. The answers that a
// round waits for need not be a random set: coefficients only ask how often each worker is among
// them.
class LearningScheme final : public CodedScheme {
public:
    LearningScheme(const Problem& problem, GradientCode code, const RoundLimit& limit)
        : CodedScheme(problem, std::move(code), limit), encoding_(encoding()),
          straggling_(problem.workers)
    {
    }

protected:
    void begin(Version version) override
    {
        CodedScheme::begin(version);
        if (begun_) straggling_.round(answered_);
        begun_ = true;
        answered_.clear();
        weigh_by_straggling(encoding_, straggling_.probabilities());
        layout().plans = plans_of(encoding_);
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        answered_.push_back(contribution.worker);
        return corrected(CodedScheme::receive(contribution));
    }

    std::optional<Step> expire() override { return corrected(CodedScheme::expire()); }

private:
    // The decoder knows the coefficients of the first round.
    std::optional<Step> corrected(std::optional<Step> step) const
    {
        if (!step) return step;
        std::vector<Weight> weights;
        for (const int worker : answered_) weights.push_back({worker, 0, 1});
        step->error = decode_error(encoding_, weights, 1);
        return step;
    }

    Encoding encoding_;  // with the coefficients of the running round
    LearnedStraggling straggling_;
    bool begun_ = false;
    std::vector<int> answered_;  // in the running round
};

std::unique_ptr<Scheme> make_stochastic(const StochasticOptions& given, const Problem& problem)
{
    const int n = problem.workers;
    const auto& straggling = given.straggling;
    const bool timed = given.deadline.fixed != never;
    const bool learned = straggling && straggling->learned;
    const bool unlike = straggling && !straggling->given.empty();
    const bool reliable = given.loads == StochasticOptions::Loads::reliable;
    if (timed && given.collect)
        throw Refusal("collect", ", but a round ends at its --deadline: leave out one of the two");
    if (straggling && !timed && !learned && !unlike)
        throw Refusal("straggling",
                      ", but of workers that are alike only rounds with a --deadline of seconds "
                      "use it: leave it out");
    if (reliable && !unlike)
        throw Refusal("loads",
                      ", but who is reliable must be known: give --straggling P,WORKER,...");
    const int answers = timed ? n : quorum(given.deadline, given.collect, n);
    auto encoding = reliable ? reliable_assignment(given.degree, straggling->given, problem.seed)
                             : stochastic_assignment(n, given.degree, problem.seed);
    auto weigh =
        timed ? plain_sum_of_probability(straggling ? straggling->others : 0) : plain_sum(n);
    if (learned || unlike) {
        weigh_by_straggling(encoding,
                            learned ? LearnedStraggling(n).probabilities() : straggling->given);
        weigh = plain_sum_of_probability(0);
    }
    auto code = collecting(std::move(encoding), answers, std::move(weigh));
    if (learned) return std::make_unique<LearningScheme>(problem, std::move(code), given.deadline);
    return std::make_unique<CodedScheme>(problem, std::move(code), given.deadline);
}

}  // namespace

void read_option(StragglingProbabilities& probabilities, const GivenWords& given)
{
    probabilities.learned = given.text() == "auto";
    if (probabilities.learned) return;
    const auto allowed = [](double p) { return p >= 0 && p <= 0.999; };
    const std::string form =
        "auto, a probability from 0 to 0.999, or those of workers, P,WORKER,..., such as "
        "0.1/0.5,0,1/0.3,7";
    const auto slash = given.text().find('/');
    const auto first = given.text().substr(0, slash);
    auto groups = given.text();
    if (first.find(',') == std::string::npos) {
        const auto others = to_real(first);
        if (!others || !allowed(*others)) given.refuse(": write " + form);
        probabilities.others = *others;
        if (slash == std::string::npos) return;
        groups.erase(0, slash + 1);
    }
    probabilities.given = values_by_worker(given, groups, probabilities.others, allowed, form);
    if (std::ranges::all_of(probabilities.given,
                            [&](double p) { return p == probabilities.others; }))
        probabilities.given.clear();
}

std::string written(const StragglingProbabilities& probabilities, const OptionRow&)
{
    if (probabilities.learned) return "auto";
    const auto named = written_by_worker(probabilities.given, probabilities.others);
    return fmt::format("{}{}{}", probabilities.others, named.empty() ? "" : "/", named);
}

SchemeEntry<StochasticOptions> StochasticOptions::entry()
{
    return {.name = "stochastic",
            .text =
                "stochastic gradient coding: unbiased without decoding; each partition is on D "
                "random workers, and what comes in time is added up",
            .source =
                "Bitar, Wootters, El Rouayheb, arXiv 1905.05383; unlike workers: arXiv "
                "2510.22539",
            .options = options<StochasticOptions>(
                {{&StochasticOptions::straggling,
                  {"straggling", "P[/P,WORKER,...]|auto", "",
                   "probability that a worker misses the deadline, by which the sum is scaled; "
                   "with others for some workers, as 0.1/0.5,0,1/0.3,7, each scales what it sends "
                   "by its own; auto: as often as it did before in this run; default: 0"}},
                 {&StochasticOptions::loads,
                  {"loads", "equal|reliable", "equal",
                   "partitions of a worker: as many for all on average; or more for those that "
                   "--straggling calls reliable, and as reliable holders for each partition"}}}),
            .make = make_stochastic,
            .properties = {.blocked = [](const StochasticOptions& given, int workers) {
                return given.straggling ? Blocked{}
                                        : until_collected<StochasticOptions>(given, workers);
            }}};
}

}  // namespace quorate
