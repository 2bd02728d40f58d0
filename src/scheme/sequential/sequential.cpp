// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/sequential/sequential.hpp"

#include <fmt/format.h>

#include "scheme/batches.hpp"
#include "scheme/stability.hpp"

namespace quorate {

namespace {

constexpr int patience = 0;  // the only timer: after it, missing workers may be stragglers

}  // namespace

std::optional<Decoding> decode(Decoder& decoder, const Results& results)
{
    decoder.begin();
    for (std::size_t worker = 0; worker < results.size(); ++worker) {
        if (results[worker] == not_received) continue;
        if (const auto* decoding = decoder.receive(static_cast<int>(worker))) return *decoding;
    }
    return std::nullopt;
}

void add_terms(const Decoding& decoding, const Results& results, std::vector<Term>& terms)
{
    for (const auto& [worker, part, value] : decoding.weights)
        if (value != 0) terms.push_back({results[worker], value * decoding.scale});
}

Sequential::Sequential(const Problem& problem, std::unique_ptr<SequentialCode> code,
                       const WaitOut& wait, int models)
    : problem_(problem), code_(std::move(code)), wait_(wait), models_(models),
      samples_(Batches(code_->needs(), problem.seed, problem.batch).samples()), newest_(models - 1)
{
}

Needs Sequential::needs() const
{
    auto needs = code_->needs();
    needs.models = models_;
    // The most. Without stragglers codes may decode sooner, but steps are to be safe with them.
    needs.staleness = models_ == 1 ? code_->delay() : 0;
    needs.stable_step = stable_step(needs.staleness);
    return needs;
}

void Sequential::handle(const Event& event, Seconds now, std::vector<Action>& out)
{
    if (const auto* start = std::get_if<Start>(&event)) {
        active_ = start->active;
        begin(now, out);
    } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
        receive(*arrived, now, out);
    } else if (const auto* done = std::get_if<Stepped>(&event)) {
        newest_ = done->version;
        step_or_begin(now, out);
    } else if (std::holds_alternative<Deadline>(event)) {
        expired_ = true;
        if (may_end())
            end(now, out);
        else
            for_all_ = wait_.rule.rule == WaitFor::all;
    }
}

void Sequential::begin(Seconds now, std::vector<Action>& out)
{
    began_ = now;
    code_->begin(++exchange_);
    // With M models in turn, job t belongs to model t mod M. No job has moved that model since job
    // t - M, which has a step since M > T, so its newest point is version t.
    version_of_.push_back(models_ > 1 ? exchange_ : newest_);
    pattern_.emplace_back(problem_.workers, true);
    if (static_cast<int>(pattern_.size()) > code_->tolerates().window) pattern_.pop_front();
    tasks_.emplace_back(next_, next_ + static_cast<TaskId>(active_.size()) - 1);
    missing_ = static_cast<int>(active_.size());
    expired_ = for_all_ = in_grace_ = false;
    for (const auto worker : active_) {
        auto task = code_->task(worker);
        Dispatch dispatch{.task = next_++,
                          .worker = worker,
                          .plan = std::move(task.plan),
                          .inputs = {},
                          .control = {.draw = exchange_}};
        for (const auto job : task.jobs) dispatch.inputs.push_back(version_of_[job]);
        out.emplace_back(std::move(dispatch));
    }
}

void Sequential::receive(const Arrived& message, Seconds now, std::vector<Action>& out)
{
    const auto& first = message.contributions.front();
    if (first.task < tasks_.back().first) return;  // of an exchange that has ended
    std::vector<ContributionId> ids;
    for (const auto& contribution : message.contributions) ids.push_back(contribution.id);
    code_->receive(first.worker, ids);
    pattern_.back()[first.worker] = false;
    const bool for_quorum = wait_.rule.rule == WaitFor::quorum;
    if (missing_-- == static_cast<int>(active_.size()) && !for_quorum)
        out.push_back(SetTimer{patience, now + wait_.mu * (now - began_)});
    if (missing_ > 0 && !may_be_left()) return;
    if (!may_end()) {
        if (missing_ == 0)
            out.push_back(
                Undecodable{fmt::format("all workers have answered exchange {}, and the code "
                                        "cannot decode to its accuracy",
                                        exchange_)});
    } else if (missing_ > 0 && for_quorum && wait_.rule.grace > 0) {
        in_grace_ = true;
        out.push_back(SetTimer{patience, now + wait_.rule.grace * (now - began_)});
    } else {
        end(now, out);
    }
}

// Whether the exchange may go on without those that are missing, if they fit.
bool Sequential::may_be_left() const
{
    if (wait_.rule.rule == WaitFor::quorum) return missing_ <= wait_.rule.missing && !in_grace_;
    return expired_ && !for_all_;
}

bool Sequential::may_end()
{
    return (missing_ == 0 || code_->harmless() || conforms(code_->tolerates(), pattern_)) &&
           code_->decodes();
}

void Sequential::end(Seconds now, std::vector<Action>& out)
{
    out.push_back(SetTimer{patience, never});
    // Late answers of stragglers are not used: they make up for them in later exchanges.
    if (missing_ > 0)
        for (std::size_t i = 0; i < active_.size(); ++i)
            if (pattern_.back()[active_[i]]) {
                const auto task = tasks_.back().first + static_cast<TaskId>(i);
                out.emplace_back(Close{task, task});
            }
    // Stragglers that harm no job do not count in the pattern of later exchanges.
    if (code_->harmless()) pattern_.back().assign(pattern_.back().size(), false);
    step_or_begin(now, out);
}

// Makes the step of the oldest job if it can be decoded. The next one waits until that is done,
// because it may be the last of the run. Begins an exchange if no job is left to step.
void Sequential::step_or_begin(Seconds now, std::vector<Action>& out)
{
    auto gradient = oldest_ <= exchange_ ? code_->gradient(oldest_) : std::nullopt;
    if (!gradient) {
        begin(now, out);
        return;
    }
    out.push_back(Step{.terms = std::move(gradient->terms),
                       .divisor = static_cast<double>(samples_),
                       .error = gradient->error,
                       .model = static_cast<int>(oldest_ % models_)});
    code_->forget(oldest_++);
    out.push_back(Close{tasks_.front().first, tasks_.front().second});
    tasks_.pop_front();
}

}  // namespace quorate
