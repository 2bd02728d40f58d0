// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/evaluation.hpp"

#include <exception>
#include <functional>

#include "code/partition.hpp"

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
    auto bytes = pool.take(count * (1 + test_rows) * sizeof(double));
    Writer out(*bytes);
    double* losses = out.doubles(count);
    double* scores = out.doubles(count * test_rows);
    std::vector<double> train_scores(static_cast<std::size_t>(train.rows));
    for (std::size_t i = 0; i < count; ++i) {
        const auto point = in.doubles(shard.support().size());
        model.score(train, point, train_scores);
        losses[i] = model.loss(train_scores, {train.label, train_scores.size()});
        if (test_rows > 0) model.score(test, point, {scores + i * test_rows, test_rows});
    }
    return bytes;
}

void evaluate_here(const DataSet& data, const Model& model,
                   const std::function<std::vector<Point>()>& next,
                   const std::function<void(double, const Quality&)>& scored)
{
    const RowSet sets[] = {{Split::train, 0, data.rows(Split::train)},
                           {Split::test, 0, data.rows(Split::test)}};
    const auto test_rows = static_cast<std::size_t>(data.rows(Split::test));
    const Shard shard(data, std::span(sets).first(test_rows > 0 ? 2 : 1));
    const auto labels = data.read(Split::test, 0, data.rows(Split::test)).label;
    for (auto models = next(); !models.empty(); models = next()) {
        std::vector<double> losses(models.size());
        std::vector<Quality> qualities(models.size());
        std::exception_ptr error;
        const auto count = static_cast<std::ptrdiff_t>(models.size());
#pragma omp parallel for schedule(dynamic)
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            try {  // an exception must not leave a parallel region
                mpi::Pool pool;
                const auto at = static_cast<std::size_t>(i);
                const auto message =
                    encode_models(std::span(models).subspan(at, 1), shard.support(), pool);
                const auto answer = score_models(*message, shard, model, pool);
                Reader in(*answer);
                losses[at] = in.doubles(1)[0];
                qualities[at] = model.quality(in.doubles(test_rows), labels);
            } catch (...) {
#pragma omp critical
                error = std::current_exception();
            }
        }
        if (error) std::rethrow_exception(error);
        for (std::size_t i = 0; i < models.size(); ++i)
            scored(losses[i] / static_cast<double>(data.rows(Split::train)), qualities[i]);
    }
}

}  // namespace quorate
