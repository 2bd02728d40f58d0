// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/live_scoring.hpp"

#include "compute/work.hpp"

namespace quorate {

bool LiveScoring::offer(std::int64_t round, const Point& model)
{
    if (asked_) return false;
    asked_ = round;
    const auto all = Support::all(static_cast<std::int64_t>(model->size()));
    endpoint_.send(scorer_, transport::Tag::score,
                   encode_models(std::span(&model, 1), all, endpoint_.pool()));
    endpoint_.ring();
    return true;
}

void LiveScoring::poll(const TakeScores& scored)
{
    if (!asked_) return;
    const auto message = endpoint_.receive();
    if (!message) return;
    const auto answer = Reader(*message->bytes).get<Scored>();
    scored(*std::exchange(asked_, std::nullopt), answer);
}

void LiveScoring::collect(const TakeScores& scored, bool all)
{
    if (all) endpoint_.restart_wait();
    for (poll(scored); all && asked_; poll(scored)) endpoint_.wait();
}

void LiveScoring::stop()
{
    collect([](auto, const auto&) {}, true);
    endpoint_.send(scorer_, transport::Tag::stop, endpoint_.pool().take(0));
    endpoint_.flush();
}

void score_live(transport::Endpoint& endpoint, const DataSet& data, const Model& model)
{
    for (;;) {
        const auto message = endpoint.receive_from(0);
        if (message.tag == transport::Tag::stop) return;
        auto models = decode_models(*message.bytes, model.parameters(data.columns()));
        Scored answer{};
        evaluate_here(
            data, model, [&] { return std::exchange(models, {}); },
            [&](const Scored& one) { answer = one; });
        endpoint.send(0, transport::Tag::scores, encode_values(endpoint.pool(), answer));
    }
}

}  // namespace quorate
