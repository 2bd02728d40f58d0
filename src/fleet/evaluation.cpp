// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/evaluation.hpp"

#include <exception>
#include <functional>

#include "code/partition.hpp"
#include "fleet/part_sum.hpp"

namespace quorate {

EvaluationRows evaluation_rows(const DataSet& data, int workers, int worker)
{
    const auto train = partition(data.rows(Split::train), workers, worker);
    const auto test = partition(data.rows(Split::test), workers, worker);
    return {train.first, train.second, test.first, test.second};
}

std::shared_ptr<mpi::Bytes> encode_models(std::span<const Point> models, const Support& support,
                                          mpi::Pool& pool)
{
    auto bytes = pool.take(sizeof(std::int64_t) + models.size() * support.size() * sizeof(double));
    Writer out(*bytes);
    out.put(static_cast<std::int64_t>(models.size()));
    for (const auto& model : models) support.gather(*model, out.doubles(support.size()));
    return bytes;
}

std::shared_ptr<mpi::Bytes> score_models(const mpi::Bytes& models, const Shard& shard,
                                         const Model& model, mpi::Pool& pool)
{
    Reader in(models);
    const auto count = static_cast<std::size_t>(in.get<std::int64_t>());
    const auto train = shard.block(0).view();
    const auto test = shard.size() > 1 ? shard.block(1).view() : RowView{};
    const auto test_rows = static_cast<std::size_t>(test.rows);
    const auto parameters = parameters_of(shard, model).size();
    const auto outputs = static_cast<std::size_t>(model.outputs());
    auto bytes = pool.take(count * (2 + test_rows * outputs) * sizeof(double));
    Writer out(*bytes);
    double* sums = out.doubles(2 * count);
    double* scores = out.doubles(count * test_rows * outputs);
    std::vector<double> train_scores(static_cast<std::size_t>(train.rows) * outputs);
    for (std::size_t i = 0; i < count; ++i) {
        const auto point = in.doubles(parameters);
        model.score(train, point, train_scores);
        sums[2 * i] = model.loss().evaluate(train_scores.data(), train.label, train.rows, nullptr);
        sums[2 * i + 1] =
            model.loss().hits(train_scores, {train.label, static_cast<std::size_t>(train.rows)});
        const auto width = test_rows * outputs;
        if (test_rows > 0) model.score(test, point, {scores + i * width, width});
    }
    return bytes;
}

void evaluate_here(const DataSet& data, const Model& model,
                   const std::function<std::vector<Point>()>& next,
                   const std::function<void(const Scored&)>& scored)
{
    const RowSet sets[] = {{Split::train, 0, data.rows(Split::train)},
                           {Split::test, 0, data.rows(Split::test)}};
    const auto test_rows = static_cast<std::size_t>(data.rows(Split::test));
    const Shard shard(data, std::span(sets).first(test_rows > 0 ? 2 : 1));
    const auto parameters = parameters_of(shard, model);
    const auto labels = data.read(Split::test, 0, data.rows(Split::test)).label;
    const auto test_scores = test_rows * static_cast<std::size_t>(model.outputs());
    const auto train_rows = static_cast<double>(data.rows(Split::train));
    for (auto models = next(); !models.empty(); models = next()) {
        std::vector<Scored> results(models.size());
        std::exception_ptr error;
        const auto count = static_cast<std::ptrdiff_t>(models.size());
#pragma omp parallel for schedule(dynamic)
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            try {  // an exception must not leave a parallel region
                mpi::Pool pool;
                const auto at = static_cast<std::size_t>(i);
                const auto message =
                    encode_models(std::span(models).subspan(at, 1), parameters, pool);
                const auto answer = score_models(*message, shard, model, pool);
                Reader in(*answer);
                const auto sums = in.doubles(2);
                results[at] = {sums[0] / train_rows, sums[1] / train_rows,
                               model.loss().quality(in.doubles(test_scores), labels)};
            } catch (...) {
#pragma omp critical
                error = std::current_exception();
            }
        }
        if (error) std::rethrow_exception(error);
        for (const auto& result : results) scored(result);
    }
}

}  // namespace quorate
