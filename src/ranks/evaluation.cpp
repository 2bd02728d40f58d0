// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/evaluation.hpp"

#include "compute/work.hpp"

namespace quorate {

std::shared_ptr<transport::Bytes> encode_models(std::span<const Point> models,
                                                const Support& support, transport::Pool& pool)
{
    auto bytes = pool.take(sizeof(std::int64_t) + models.size() * support.size() * sizeof(double));
    Writer out(*bytes);
    out.put(static_cast<std::int64_t>(models.size()));
    for (const auto& model : models) support.gather(*model, out.doubles(support.size()));
    return bytes;
}

std::vector<Point> decode_models(const transport::Bytes& bytes, std::int64_t parameters)
{
    Reader in(bytes);
    std::vector<Point> models(static_cast<std::size_t>(in.get<std::int64_t>()));
    for (auto& model : models) {
        const auto values = in.doubles(static_cast<std::size_t>(parameters));
        model = std::make_shared<std::pmr::vector<double>>(values.begin(), values.end());
    }
    return models;
}

std::shared_ptr<transport::Bytes> score_models(const transport::Bytes& models, const Shard& shard,
                                               const Model& model, transport::Pool& pool)
{
    Reader in(models);
    const auto parameters = parameters_of(shard, model).size();
    std::vector<std::span<const double>> points(static_cast<std::size_t>(in.get<std::int64_t>()));
    for (auto& point : points) point = in.doubles(parameters);
    const auto length = scores_length(points.size(), shard, model);
    auto bytes = pool.take(length * sizeof(double));
    score(points, shard, model, {Writer(*bytes).doubles(length), length});
    return bytes;
}

std::vector<Scored> combine_answers(const DataSet& data, const Model& model, std::size_t models,
                                    const std::vector<std::shared_ptr<transport::Bytes>>& answers,
                                    std::span<const double> test_labels)
{
    std::vector<std::span<const double>> scores;
    for (const auto& bytes : answers)
        scores.push_back(Reader(*bytes).doubles(bytes->size() / sizeof(double)));
    return combine_scores(data, model, models, scores, test_labels);
}

void evaluate_on_all_ranks(transport::Endpoint& endpoint, const DataSet& data, const Model& model,
                           const std::function<std::vector<Point>()>& next,
                           const std::function<void(const Scored&)>& scored)
{
    if (endpoint.size() == 1) {
        evaluate_here(data, model, next, scored);
        return;
    }
    const auto shard =
        evaluation_shard(data, evaluation_rows(data, endpoint.size(), endpoint.rank()));
    const auto support = parameters_of(shard, model);
    const auto labels = endpoint.rank() == 0
                            ? data.read(Split::test, 0, data.rows(Split::test)).label
                            : std::vector<double>();
    const auto parameters = model.parameters(data.columns());
    auto& pool = endpoint.pool();
    for (;;) {
        // Rank 0 sends whole models to all ranks, and a message without models at the end.
        std::vector<Point> models;
        if (endpoint.rank() == 0) {
            models = next();
            const auto whole = encode_models(models, Support::all(parameters), pool);
            for (int rank = 1; rank < endpoint.size(); ++rank)
                endpoint.send(rank, transport::Tag::score, whole);
        } else {
            models = decode_models(*endpoint.receive_from(0).bytes, parameters);
        }
        if (models.empty()) {
            endpoint.flush();
            return;
        }
        auto mine = score_models(*encode_models(models, support, pool), shard, model, pool);
        if (endpoint.rank() != 0) {
            endpoint.send(0, transport::Tag::scores, std::move(mine));
            continue;
        }
        std::vector<std::shared_ptr<transport::Bytes>> answers = {std::move(mine)};
        for (int rank = 1; rank < endpoint.size(); ++rank)
            answers.push_back(endpoint.receive_from(rank).bytes);
        for (const auto& one : combine_answers(data, model, models.size(), answers, labels))
            scored(one);
    }
}

}  // namespace quorate
