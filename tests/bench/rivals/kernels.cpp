// SPDX-License-Identifier: BSD-2-Clause
// One core, in turn in one process: Quorate's gradient and loss beside a plain loop that has no
// loss, its gradient of one worker's shard beside PETSc's two products, and the rates from which
// the bounds are computed. Prints the least seconds, and rates a second.
//   kernels FILE --workers N
#include <petscmat.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "base/settings.hpp"
#include "data/petsc.hpp"
#include "model/model.hpp"
#include "rival.hpp"

namespace {

using quorate::petsc::check;

using Vector = std::vector<double>;

double seconds(const std::function<void()>& work, int times)
{
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

// The least times of all, which take turns: what other processes add is not theirs.
std::vector<double> in_turn(const std::vector<std::function<void()>>& all)
{
    constexpr int turns = 25;
    constexpr double at_least = 1e-3;  // seconds a measurement
    std::vector<int> times;
    for (const auto& work : all)
        times.push_back(1 + static_cast<int>(at_least / (seconds(work, 1) + 1e-9)));
    std::vector<double> least(all.size(), std::numeric_limits<double>::infinity());
    for (int turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < all.size(); ++i)
            least[i] = std::min(least[i], seconds(all[i], times[i]));
    return least;
}

quorate::RowView view(const rival::Rows& rows, std::size_t columns)
{
    return {.rows = static_cast<std::int64_t>(rows.size()),
            .columns = static_cast<std::int64_t>(columns),
            .start = rows.start.data(),
            .column = rows.column.data(),
            .label = rows.label.data()};
}

// What a loop over rows takes that reads and updates nothing else: entries a second read from and
// added to a vector, at the columns of the data in their order.
double read_at(const std::vector<rival::Index>& column, const Vector& w)
{
    double sum[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= column.size(); k += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) sum[lane] += w[column[k + lane]];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}
void add_at(const std::vector<rival::Index>& column, Vector& g)
{
    for (const auto j : column) g[static_cast<std::size_t>(j)] += 1e-9;
}

}  // namespace

int main(int argc, char** argv)
{
    PetscInitializeNoArguments();
    {
        const rival::Problem problem(argc, argv);
        const auto columns = problem.columns();
        const int workers = static_cast<int>(rival::number(argc, argv, "--workers", 30));
        const rival::Rows all(problem.data, 1, 0);
        rival::Rows shard(problem.data, workers, 0);
        const auto touched = shard.keep_touched(columns);

        quorate::Settings settings;
        settings.set("model", {"logistic", "", true});
        settings.set("threshold", {"0", "", false});
        const auto model = quorate::chosen(quorate::models(), settings, "model").make(settings, {});
        Vector w(columns, 0.01), g(columns), a(columns, 1.0), b(columns, 1.0), c(columns);
        Vector shard_w(touched.size(), 0.01), shard_g(touched.size());
        const double* volatile result = nullptr;  // so that the compiler leaves nothing out
        volatile double read = 0;

        std::vector<double> values(shard.column.size(), 1.0);
        quorate::petsc::Matrix matrix;
        check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, static_cast<PetscInt>(shard.size()),
                                        static_cast<PetscInt>(touched.size()), shard.start.data(),
                                        shard.column.data(), values.data(), matrix.made()),
              "MatCreateSeqAIJWithArrays");
        quorate::petsc::Vector x, z, y;
        check(MatCreateVecs(matrix.get(), x.made(), z.made()), "MatCreateVecs");
        check(VecDuplicate(x.get(), y.made()), "VecDuplicate");
        check(VecSet(x.get(), 0.01), "VecSet");

        const auto times = in_turn({
            [&] { read = model->add_gradient(view(all, columns), w, 1, g); },
            [&] { all.add_gradient(0, all.size(), w.data(), g.data()); },
            [&] { read = model->add_gradient(view(shard, touched.size()), shard_w, 1, shard_g); },
            [&] {
                check(MatMult(matrix.get(), x.get(), z.get()), "MatMult");
                check(MatMultTranspose(matrix.get(), z.get(), y.get()), "MatMultTranspose");
            },
            [&] { read = read_at(all.column, w); },
            [&] { add_at(all.column, g); },
            [&] { read = read_at(shard.column, shard_w); },
            [&] { add_at(shard.column, shard_g); },
            [&] { add_at(touched, g); },
            [&] {
                for (std::size_t j = 0; j < columns; ++j) c[j] = a[j] + 0.5 * b[j];
                result = c.data();
            },
        });
        const auto entries = static_cast<double>(all.column.size()),
                   of_shard = static_cast<double>(shard.column.size()),
                   support = static_cast<double>(touched.size());
        fmt::print(
            "{{\"gradient\": {}, \"plain\": {}, \"shard\": {}, \"petsc\": {}, "
            "\"entries\": {}, \"shard_entries\": {}, \"reads\": {}, \"updates\": {}, "
            "\"shard_reads\": {}, \"shard_updates\": {}, \"additions\": {}, "
            "\"bandwidth\": {}}}\n",
            times[0], times[1], times[2], times[3], entries, of_shard, entries / times[4],
            entries / times[5], of_shard / times[6], of_shard / times[7], support / times[8],
            24 * static_cast<double>(columns) / times[9]);
    }
    PetscFinalize();
}
