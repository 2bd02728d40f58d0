// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/evaluation.hpp"

#include <algorithm>
#include <functional>

#include "base/parallel.hpp"
#include "code/partition.hpp"
#include "fleet/mail.hpp"
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

std::vector<Scored> combine_scores(const DataSet& data, const Model& model, std::size_t models,
                                   const std::vector<std::shared_ptr<mpi::Bytes>>& answers,
                                   std::span<const double> test_labels)
{
    const auto outputs = static_cast<std::size_t>(model.outputs());
    const auto width = test_labels.size() * outputs;
    std::vector<double> losses(models), hits(models), scores(models * width);
    for (std::size_t worker = 0; worker < answers.size(); ++worker) {
        const auto rows =
            evaluation_rows(data, static_cast<int>(answers.size()), static_cast<int>(worker));
        Reader in(*answers[worker]);
        const auto sums = in.doubles(2 * models);
        const auto first = static_cast<std::size_t>(rows.test_first) * outputs;
        for (std::size_t i = 0; i < models; ++i) {
            losses[i] += sums[2 * i];
            hits[i] += sums[2 * i + 1];
            const auto part = in.doubles(static_cast<std::size_t>(rows.test_count) * outputs);
            std::ranges::copy(part,
                              scores.begin() + static_cast<std::ptrdiff_t>(i * width + first));
        }
    }
    const auto count = static_cast<double>(data.rows(Split::train));
    std::vector<Scored> all;
    for (std::size_t i = 0; i < models; ++i)
        all.push_back(
            {losses[i] / count, hits[i] / count,
             model.loss().quality(std::span(scores).subspan(i * width, width), test_labels)});
    return all;
}

void evaluate_on_all_ranks(const mpi::Comm& comm, const DataSet& data, const Model& model,
                           const std::function<std::vector<Point>()>& next,
                           const std::function<void(const Scored&)>& scored)
{
    if (comm.size() == 1) {
        evaluate_here(data, model, next, scored);
        return;
    }
    const auto rows = evaluation_rows(data, comm.size(), comm.rank());
    const RowSet sets[] = {{Split::train, rows.train_first, rows.train_count},
                           {Split::test, rows.test_first, rows.test_count}};
    const Shard shard(data, std::span(sets).first(rows.test_count > 0 ? 2 : 1));
    const auto support = parameters_of(shard, model);
    const auto labels = comm.rank() == 0 ? data.read(Split::test, 0, data.rows(Split::test)).label
                                         : std::vector<double>();
    mpi::Pool pool;
    for (;;) {
        // Rank 0 hands out whole models, and an empty message at the end.
        std::vector<Point> models;
        std::shared_ptr<mpi::Bytes> whole;
        if (comm.rank() == 0) {
            models = next();
            const auto all = Support::all(model.parameters(data.columns()));
            whole = encode_models(models, all, pool);
            for (int rank = 1; rank < comm.size(); ++rank)
                mpi::post(comm, rank, mpi::Tag::score, whole);
        } else {
            whole = mpi::wait_for(comm, 0, pool).bytes;
            Reader in(*whole);
            const auto count = in.get<std::int64_t>();
            for (std::int64_t i = 0; i < count; ++i) {
                const auto values =
                    in.doubles(static_cast<std::size_t>(model.parameters(data.columns())));
                models.push_back(
                    std::make_shared<std::vector<double>>(values.begin(), values.end()));
            }
        }
        if (models.empty()) return;
        auto mine = score_models(*encode_models(models, support, pool), shard, model, pool);
        if (comm.rank() != 0) {
            mpi::post(comm, 0, mpi::Tag::scores, std::move(mine));
            continue;
        }
        std::vector<std::shared_ptr<mpi::Bytes>> answers = {std::move(mine)};
        for (int rank = 1; rank < comm.size(); ++rank)
            answers.push_back(mpi::wait_for(comm, rank, pool).bytes);
        for (const auto& one : combine_scores(data, model, models.size(), answers, labels))
            scored(one);
    }
}

namespace {

// Block 0: training rows; block 1, if any: test rows.
Shard whole_shard(const DataSet& data)
{
    const RowSet sets[] = {{Split::train, 0, data.rows(Split::train)},
                           {Split::test, 0, data.rows(Split::test)}};
    return {data, std::span(sets).first(data.rows(Split::test) > 0 ? 2 : 1)};
}

Shard shard_with(const DataSet& data, const ShardBlock& training)
{
    const auto test_rows = data.rows(Split::test);
    std::vector<ShardBlock> blocks;
    blocks.emplace_back(training, 0, data.rows(Split::train));
    if (test_rows > 0) blocks.emplace_back(data.read(Split::test, 0, test_rows), data.columns());
    return {std::move(blocks), data.columns()};
}

}  // namespace

void evaluate_here(const DataSet& data, const Model& model,
                   const std::function<std::vector<Point>()>& next,
                   const std::function<void(const Scored&)>& scored, const ShardBlock* training)
{
    const auto test_rows = static_cast<std::size_t>(data.rows(Split::test));
    const auto shard = training ? shard_with(data, *training) : whole_shard(data);
    const auto parameters = parameters_of(shard, model);
    const auto labels = data.read(Split::test, 0, data.rows(Split::test)).label;
    const auto test_scores = test_rows * static_cast<std::size_t>(model.outputs());
    const auto train_rows = static_cast<double>(data.rows(Split::train));
    for (auto models = next(); !models.empty(); models = next()) {
        std::vector<Scored> results(models.size());
        in_parallel(models.size(), usable_cores(), [&](std::size_t i) {
            mpi::Pool pool;
            const auto message = encode_models(std::span(models).subspan(i, 1), parameters, pool);
            const auto answer = score_models(*message, shard, model, pool);
            Reader in(*answer);
            const auto sums = in.doubles(2);
            results[i] = {sums[0] / train_rows, sums[1] / train_rows,
                          model.loss().quality(in.doubles(test_scores), labels)};
        });
        for (const auto& result : results) scored(result);
    }
}

}  // namespace quorate
