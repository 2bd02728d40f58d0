// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/live_scoring.hpp"

#include "compute/part_sum.hpp"
#include "mpi/backoff.hpp"
#include "mpi/blocking.hpp"

namespace quorate {

bool LiveScoring::offer(std::int64_t round, const Point& model)
{
    if (asked_) return false;
    asked_ = round;
    const auto all = Support::all(static_cast<std::int64_t>(model->size()));
    sending_ =
        mpi::send(comm_, scorer_, mpi::Tag::score, encode_models(std::span(&model, 1), all, pool_));
    return true;
}

void LiveScoring::poll(const std::function<void(std::int64_t, const Scored&)>& scored)
{
    if (!asked_ || !sending_->done()) return;
    if (!incoming_) incoming_ = mpi::receive(comm_, scorer_, pool_);
    if (!incoming_ || !incoming_->done()) return;
    const auto answer = Reader(*incoming_->bytes).get<Scored>();
    incoming_.reset();
    scored(*std::exchange(asked_, std::nullopt), answer);
}

void LiveScoring::finish(const std::function<void(std::int64_t, const Scored&)>& scored)
{
    if (std::exchange(finished_, true)) return;
    Backoff backoff(1e-3);
    for (poll(scored); asked_; poll(scored)) backoff.wait();
    mpi::send_blocking(comm_, scorer_, mpi::Tag::stop, pool_.take(0));
}

void score_live(const mpi::Comm& comm, const DataSet& data, const Model& model)
{
    mpi::Pool pool;
    for (;;) {
        const auto message = mpi::receive_blocking(comm, 0, pool);
        if (message.tag == mpi::Tag::stop) return;
        auto models = decode_models(*message.bytes, model.parameters(data.columns()));
        Scored answer{};
        evaluate_here(
            data, model, [&] { return std::exchange(models, {}); },
            [&](const Scored& one) { answer = one; });
        mpi::send_blocking(comm, 0, mpi::Tag::scores, encode_values(pool, answer));
    }
}

}  // namespace quorate
