// SPDX-License-Identifier: BSD-2-Clause
// The part of MpiFleet that has the workers score models after a run.
#include "mpi/mpi_fleet.hpp"

#include <algorithm>
#include <optional>

namespace quorate {

mpi::Transfer MpiFleet::next_of(mpi::Tag tag,
                                const std::function<bool(const mpi::Transfer&)>& wanted)
{
    backoff_.reset();
    for (;;) {
        for (auto at = arrived_.begin(); at != arrived_.end();) {
            if (at->tag == tag && worker_of(at->peer) >= 0 && (!wanted || wanted(*at))) {
                auto message = std::move(*at);
                arrived_.erase(at);
                return message;
            }
            // A fast worker may have scored the next batch already. Those scores wait for their
            // turn; all other messages are dropped.
            at = at->tag == mpi::Tag::scores ? at + 1 : arrived_.erase(at);
        }
        look_after_scorers();
    }
}

void MpiFleet::look_after_scorers()
{
    find_dead();
    if (living().size() < scorers_) throw Lost("a worker died while models were scored");
    if (!progress()) sleep();
}

std::vector<Support> MpiFleet::begin_evaluation(const DataSet& data, std::int64_t parameters)
{
    std::vector<Support> supports(links_.size(), Support::all(0));
    settle();
    // From here on no rank takes the place of a worker that dies, because the dead worker's share
    // of the scores would be missing anyway.
    idle_.insert(idle_.end(), standby_.begin(), standby_.end());
    standby_.clear();
    const auto scorers = living();
    scorers_ = scorers.size();
    for (std::size_t i = 0; i < scorers.size(); ++i) {
        clear(link(scorers[i]));
        const auto rows =
            evaluation_rows(data, static_cast<int>(scorers.size()), static_cast<int>(i));
        send_next(scorers[i], mpi::Tag::evaluate, encode_values(pool_, rows));
    }
    for (std::size_t i = 0; i < scorers.size(); ++i) {
        const auto message = next_of(mpi::Tag::ready);
        supports[static_cast<std::size_t>(worker_of(message.peer))] =
            decode_ready(*message.bytes, parameters).second;
    }
    return supports;
}

void MpiFleet::send_next(Worker worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    auto& to = link(worker);
    while (to.sending && !done(*to.sending)) look_after_scorers();
    detector_.extend_grace(rank(worker));
    send(to, worker, tag, std::move(bytes));
    ring_bells();
}

void MpiFleet::evaluate(const DataSet& data, const Model& model,
                        const std::function<std::vector<Point>()>& next,
                        const std::function<void(const Scored&)>& scored)
{
    const auto supports = begin_evaluation(data, model.parameters(data.columns()));
    const auto scorers = living();
    const auto labels = data.read(Split::test, 0, data.rows(Split::test)).label;
    const auto ask = [&](const std::vector<Point>& models) {
        if (models.empty()) return;
        for (const auto worker : scorers)
            send_next(worker, mpi::Tag::score,
                      encode_models(models, supports[static_cast<std::size_t>(worker)], pool_));
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

void MpiFleet::collect_scores(const DataSet& data, const Model& model, std::size_t models,
                              const std::vector<double>& labels,
                              const std::function<void(const Scored&)>& scored)
{
    // A worker answers the batches in their order. So its first answer here belongs to the oldest
    // one.
    std::vector<std::optional<mpi::Transfer>> answers(links_.size());
    const auto unanswered = [&](const mpi::Transfer& message) {
        return !answers[static_cast<std::size_t>(worker_of(message.peer))];
    };
    for (auto missing = living().size(); missing > 0; --missing) {
        auto message = next_of(mpi::Tag::scores, unanswered);
        answers[static_cast<std::size_t>(worker_of(message.peer))] = std::move(message);
    }
    std::vector<std::shared_ptr<mpi::Bytes>> bytes;
    for (const auto& answer : answers)
        if (answer) bytes.push_back(answer->bytes);
    for (const auto& one : combine_answers(data, model, models, bytes, labels)) scored(one);
}

}  // namespace quorate
