// SPDX-License-Identifier: BSD-2-Clause
// The part of RankFleet that has the workers score models after a run.
#include "ranks/rank_fleet.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/parallel.hpp"

namespace quorate {

namespace {

// Those of some workers that score models: no more on a host than it has processors, since each gets
// the parameters that its rows touch, and more scorers on a host only get the same ones again.
std::vector<Worker> choose_scorers(const std::vector<Worker>& living,
                                   const std::vector<WorkerInfo>& info, const DataSet& data)
{
    std::map<std::string_view, int> on_host;
    std::vector<Worker> chosen;
    std::ranges::copy_if(living, std::back_inserter(chosen), [&](Worker worker) {
        return on_host[info[static_cast<std::size_t>(worker)].host]++ < processors_of_host();
    });
    chosen.resize(static_cast<std::size_t>(useful_scorers(data, static_cast<int>(chosen.size()))));
    return chosen;
}

}  // namespace

transport::Message RankFleet::next_of(transport::Tag tag,
                                      const std::function<bool(const transport::Message&)>& wanted)
{
    endpoint_.restart_wait();
    for (;;) {
        for (auto at = arrived_.begin(); at != arrived_.end();) {
            if (at->tag == tag && worker_of(at->from) >= 0 && (!wanted || wanted(*at))) {
                transport::Message message = std::move(*at);
                arrived_.erase(at);
                return message;
            }
            // A fast worker may have scored the next batch already. Those scores wait for their
            // turn; all other messages are dropped.
            at = at->tag == transport::Tag::scores ? at + 1 : arrived_.erase(at);
        }
        look_after_scorers();
    }
}

void RankFleet::look_after_scorers()
{
    find_dead();
    if (std::ranges::any_of(scorers_, [this](Worker w) { return link(w).state == State::dead; }))
        throw Lost("a worker died while models were scored");
    progress_or_wait();
}

std::size_t RankFleet::number_of_scorer(const transport::Message& message) const
{
    const auto at = std::ranges::find(scorers_, worker_of(message.from));
    return static_cast<std::size_t>(at - scorers_.begin());
}

std::vector<Support> RankFleet::begin_evaluation(const DataSet& data, std::int64_t parameters)
{
    settle();
    // From here on no rank takes the place of a worker that dies, because the dead worker's share
    // of the scores would be missing anyway.
    idle_.insert(idle_.end(), standby_.begin(), standby_.end());
    standby_.clear();
    scorers_ = choose_scorers(living(), info_, data);
    const auto count = static_cast<int>(scorers_.size());
    ++shards_;
    for (int i = 0; i < count; ++i) {
        const auto worker = scorers_[static_cast<std::size_t>(i)];
        clear(worker);
        send_next(worker, transport::Tag::evaluate,
                  encode_values(endpoint_.pool(), shards_, evaluation_rows(data, count, i)));
    }
    std::vector<Support> supports(scorers_.size(), Support::all(0));
    for (int i = 0; i < count; ++i) {
        const auto message = next_of(transport::Tag::ready, [this](const transport::Message& one) {
            return number_of_scorer(one) < scorers_.size();
        });
        auto ready = decode_ready(*message.bytes, parameters);
        check_shard(ready.shard, shards_);
        supports[number_of_scorer(message)] = std::move(ready.support);
    }
    return supports;
}

void RankFleet::send_next(Worker worker, transport::Tag tag,
                          std::shared_ptr<transport::Bytes> bytes)
{
    auto& to = link(worker);
    while (!to.sending.has_left()) look_after_scorers();
    detector_.extend_grace(rank(worker));
    send(to, worker, tag, std::move(bytes));
    endpoint_.ring();
}

void RankFleet::evaluate(const DataSet& data, const Model& model,
                         const std::function<std::vector<Point>()>& next,
                         const std::function<void(const Scored&)>& scored)
{
    const auto supports = begin_evaluation(data, model.parameters(data.columns()));
    const auto labels = data.read(Split::test, 0, data.rows(Split::test)).label;
    const auto ask = [&](const std::vector<Point>& models) {
        if (models.empty()) return;
        for (std::size_t i = 0; i < scorers_.size(); ++i)
            send_next(scorers_[i], transport::Tag::score,
                      encode_models(models, supports[i], endpoint_.pool()));
    };
    // Models are sent one batch ahead, so that neither side waits for the other.
    auto models = next();
    ask(models);
    while (!models.empty()) {
        auto following = next();
        ask(following);
        collect_scores(data, model, models.size(), labels, scored);
        models = std::move(following);
    }
}

void RankFleet::collect_scores(const DataSet& data, const Model& model, std::size_t models,
                               const std::vector<double>& labels,
                               const std::function<void(const Scored&)>& scored)
{
    // A worker answers the batches in their order. So its first answer here belongs to the oldest
    // one.
    std::vector<std::shared_ptr<transport::Bytes>> bytes(scorers_.size());
    const auto unanswered = [&](const transport::Message& message) {
        return !bytes[number_of_scorer(message)];
    };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto message = next_of(transport::Tag::scores, unanswered);
        bytes[number_of_scorer(message)] = message.bytes;
    }
    for (const auto& one : combine_answers(data, model, models, bytes, labels)) scored(one);
}

}  // namespace quorate
