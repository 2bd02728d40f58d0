// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/evaluation_team.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "compute/work.hpp"

namespace quorate {

namespace {

std::shared_ptr<transport::Bytes> encode_models(const std::vector<Point>& models,
                                                const Support& support, transport::Pool& pool)
{
    return make_message(pool, [&](MessageWriter& out) {
        out.put(static_cast<std::int64_t>(models.size()));
        for (const auto& model : models)
            out.numbers<double>(support.size(), [&](double* to) { support.gather(*model, to); });
    });
}

std::vector<std::span<const double>> decode_models(const transport::Bytes& bytes, std::size_t size)
{
    MessageReader in(bytes);
    std::vector<std::span<const double>> models(static_cast<std::size_t>(in.get<std::int64_t>()));
    for (auto& model : models) model = in.doubles(size);
    return models;
}

// Which rows a rank scores, and whether these are all (`evaluate`).
struct Order {
    EvaluationRows rows;
    std::int64_t all;
};

}  // namespace

// --- the side that has the models ----------------------------------------------------------------

EvaluationTeam::EvaluationTeam(const Scoring& scoring, const std::vector<int>& ranks,
                               transport::Pool& pool, Send send)
    : scoring_(scoring), pool_(pool), send_(std::move(send))
{
    const auto count = static_cast<int>(ranks.size());
    for (const int rank : ranks) scorers_.push_back({rank});
    for (int i = 0; i < count; ++i)
        send_(scorers_[static_cast<std::size_t>(i)].rank, transport::Tag::evaluate,
              encode_values(pool, Order{scoring.rows.share(count, i), count == 1}));
    if (count > 1) test_labels_ = scoring.rows.test_labels(scoring.data);
}

EvaluationTeam::Scorer* EvaluationTeam::scorer(int rank)
{
    const auto at = std::ranges::find(scorers_, rank, &Scorer::rank);
    return at == scorers_.end() ? nullptr : &*at;
}

void EvaluationTeam::send(const Scorer& to, const std::vector<Point>& models)
{
    send_(to.rank, transport::Tag::score, encode_models(models, *to.support, pool_));
}

void EvaluationTeam::ask(std::vector<Point> models)
{
    asked_.push_back(std::move(models));
    for (const auto& one : scorers_)
        if (one.support) send(one, asked_.back());
}

bool EvaluationTeam::take(const transport::Message& message)
{
    auto* from = scorer(message.from);
    if (!from) return false;
    if (message.tag == transport::Tag::scores) {
        from->answers.push_back(message.bytes);
        return true;
    }
    if (message.tag != transport::Tag::ready || from->support) return false;
    auto ready = decode_ready(*message.bytes, scoring_.width());
    check_shard(ready.shard, rows_to_score);
    from->support = std::make_shared<const Support>(std::move(ready.support));
    for (const auto& models : asked_) send(*from, models);
    return true;
}

bool EvaluationTeam::has_answered() const
{
    return has_asked() &&
           std::ranges::none_of(scorers_, [](const Scorer& one) { return one.answers.empty(); });
}

std::vector<Scored> EvaluationTeam::scores()
{
    const auto models = asked_.front().size();
    asked_.pop_front();
    std::vector<std::shared_ptr<transport::Bytes>> bytes;
    for (auto& one : scorers_) {
        bytes.push_back(std::move(one.answers.front()));
        one.answers.pop_front();
    }
    if (scorers_.size() == 1) {
        MessageReader in(*bytes[0]);
        std::vector<Scored> all;
        while (all.size() < models) all.push_back(in.get<Scored>());
        return all;
    }
    std::vector<std::span<const double>> answers;
    for (const auto& one : bytes)
        answers.push_back(MessageReader(*one).doubles(one->size() / sizeof(double)));
    return combine_scores(scoring_, models, answers, test_labels_);
}

std::vector<Point> EvaluationTeam::take_back()
{
    std::vector<Point> all;
    for (auto& models : std::exchange(asked_, {}))
        std::ranges::move(models, std::back_inserter(all));
    return all;
}

// --- the side that has rows ----------------------------------------------------------------------

transport::Message EvaluationMember::answer(const transport::Message& message)
{
    const bool begins = message.tag == transport::Tag::evaluate;
    return {begins ? load(*message.bytes) : score(*message.bytes), endpoint_.rank(),
            begins ? transport::Tag::ready : transport::Tag::scores};
}

std::shared_ptr<transport::Bytes> EvaluationMember::load(const transport::Bytes& bytes)
{
    const auto [rows, all] = MessageReader(bytes).get<Order>();
    shard_.emplace(scoring_.rows.read(scoring_.data, rows));
    has_all_rows_ = all != 0;
    if (has_all_rows_) test_labels_ = scoring_.rows.test_labels(scoring_.data);
    return encode({.shard = rows_to_score,
                   .info = {.rank = endpoint_.rank(),
                            .host = endpoint_.host(),
                            .rows = shard_->rows(),
                            .columns = 0},
                   .support = parameters_of(*shard_, scoring_.model)},
                  endpoint_.pool());
}

std::shared_ptr<transport::Bytes> EvaluationMember::score(const transport::Bytes& bytes)
{
    auto& pool = endpoint_.pool();
    const auto models = decode_models(bytes, parameters_of(*shard_, scoring_.model).size());
    const auto length = scores_length(models.size(), *shard_, scoring_.model);
    auto answer = pool.take(length * sizeof(double));
    const std::span values(reinterpret_cast<double*>(answer->data()), length);
    quorate::score(models, *shard_, scoring_.model, values);
    if (!has_all_rows_) return answer;
    const std::span<const double> whole = values;
    const auto scored = combine_scores(scoring_, models.size(), {&whole, 1}, test_labels_);
    return make_message(pool, [&](MessageWriter& out) {
        for (const auto& one : scored) out.put(one);
    });
}

// --- without a fleet -----------------------------------------------------------------------------

void evaluate_on_all_ranks(transport::Endpoint& endpoint, const Scoring& scoring,
                           const NextModels& next, const TakeScored& scored)
{
    if (endpoint.size() == 1) {
        Evaluator(scoring).score_all(next, scored);
        return;
    }
    EvaluationMember member(endpoint, scoring);
    if (endpoint.rank() != 0) {
        for (;;) {
            const auto message = endpoint.receive_from(0);
            if (message.tag == transport::Tag::stop) return endpoint.flush();
            auto [bytes, from, tag, sent] = member.answer(message);
            endpoint.send(0, tag, std::move(bytes));
        }
    }
    // The first rank is the last scorer, so that it begins when the others have been sent theirs.
    std::vector<int> ranks(static_cast<std::size_t>(scoring.rows.useful_scorers(endpoint.size())));
    std::iota(ranks.begin(), ranks.end(), 1);
    ranks.back() = 0;
    std::deque<transport::Message> own;
    EvaluationTeam team(scoring, ranks, endpoint.pool(), [&](int rank, auto tag, auto bytes) {
        if (rank == 0)
            own.push_back({std::move(bytes), 0, tag});
        else
            endpoint.send(rank, tag, std::move(bytes));
    });
    const auto hear_all = [&] {
        for (; !own.empty(); own.pop_front()) team.take(member.answer(own.front()));
        for (const int rank : ranks)
            if (rank != 0) team.take(endpoint.receive_from(rank));
    };
    hear_all();  // that they have their rows
    for (auto models = next(); !models.empty(); models = next()) {
        team.ask(std::move(models));
        hear_all();
        for (const auto& one : team.scores()) scored(one);
    }
    for (int rank = 1; rank < endpoint.size(); ++rank)
        endpoint.send(rank, transport::Tag::stop, endpoint.pool().take(0));
    endpoint.flush();
}

}  // namespace quorate
