// SPDX-License-Identifier: BSD-2-Clause
#include "optimum/optimum.hpp"

#include <fmt/format.h>
#include <petsctao.h>

#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace quorate {

namespace {

using petsc::check;
using petsc::Vector;

/// Access to the elements of a vector that this rank holds.
class Elements {
public:
    explicit Elements(Vec vector) : vector_(vector)
    {
        check(VecGetArray(vector, &first_), "VecGetArray");
        PetscInt size = 0;
        check(VecGetLocalSize(vector, &size), "VecGetLocalSize");
        size_ = static_cast<std::size_t>(size);
    }
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;
    ~Elements() { VecRestoreArray(vector_, &first_); }
    std::span<double> get() const { return {first_, size_}; }

private:
    Vec vector_;
    PetscScalar* first_ = nullptr;
    std::size_t size_ = 0;
};

double sum_over_ranks(MPI_Comm comm, double local)
{
    double sum = 0;
    if (MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, comm) != MPI_SUCCESS)
        throw Failure("MPI_Allreduce failed");
    return sum;
}

Vector filled(MPI_Comm comm, PetscInt local_size, double value)
{
    Vector made;
    check(VecCreateMPI(comm, local_size, PETSC_DETERMINE, made.made()), "VecCreateMPI");
    check(VecSet(made.get(), value), "VecSet");
    return made;
}

/// Products of the rows with all outputs of a model: z = X W with W stored column by column of X.
class Products {
public:
    Products(const DistributedRows& rows, std::int64_t outputs)
        : rows_(rows), outputs_(static_cast<PetscInt>(outputs))
    {
        check(MatCreateVecs(rows.matrix(), column_.made(), row_.made()), "MatCreateVecs");
    }

    /// Makes a vector for a model, in which the elements of a column of X stand together.
    Vector model() const
    {
        PetscInt columns = 0;
        check(MatGetLocalSize(rows_.matrix(), nullptr, &columns), "MatGetLocalSize");
        auto made = filled(rows_.comm(), columns * outputs_, 0);
        check(VecSetBlockSize(made.get(), outputs_), "VecSetBlockSize");
        return made;
    }

    /// @param z  this rank's rows x outputs
    void scores(Vec w, std::vector<double>& z)
    {
        z.resize(rows_.labels().size() * static_cast<std::size_t>(outputs_));
        for (PetscInt c = 0; c < outputs_; ++c) {
            check(VecStrideGather(w, c, column_.get(), INSERT_VALUES), "VecStrideGather");
            check(MatMult(rows_.matrix(), column_.get(), row_.get()), "MatMult");
            const Elements some(row_.get());
            for (std::size_t i = 0; i < some.get().size(); ++i)
                z[i * static_cast<std::size_t>(outputs_) + static_cast<std::size_t>(c)] =
                    some.get()[i];
        }
    }
    /// Sets g = X'R.
    void gradient(const std::vector<double>& r, Vec g)
    {
        for (PetscInt c = 0; c < outputs_; ++c) {
            {
                const Elements some(row_.get());
                for (std::size_t i = 0; i < some.get().size(); ++i)
                    some.get()[i] =
                        r[i * static_cast<std::size_t>(outputs_) + static_cast<std::size_t>(c)];
            }
            check(MatMultTranspose(rows_.matrix(), row_.get(), column_.get()), "MatMultTranspose");
            check(VecStrideScatter(column_.get(), c, g, INSERT_VALUES), "VecStrideScatter");
        }
    }

private:
    const DistributedRows& rows_;
    PetscInt outputs_;
    Vector column_, row_;
};

/// f(w) = mean loss + l2 |w|^2. The l1 term is added by Lasso.
class Primal {
public:
    Primal(const DistributedRows& rows, const Model& model, const Regularizer& regularizer)
        : rows_(rows), model_(model), regularizer_(regularizer), products_(rows, model.outputs())
    {
    }
    Vector start() const { return products_.model(); }

    double evaluate(Vec w, Vec g)
    {
        products_.scores(w, z_);
        r_.resize(z_.size());
        const auto& labels = rows_.labels();
        const double loss = model_.loss().evaluate(
            z_.data(), labels.data(), static_cast<std::int64_t>(labels.size()), r_.data());
        const auto all = static_cast<double>(rows_.rows());
        for (double& weight : r_) weight /= all;
        products_.gradient(r_, g);
        check(VecAXPY(g, 2 * regularizer_.l2, w), "VecAXPY");
        double norm = 0;
        check(VecNorm(w, NORM_2, &norm), "VecNorm");
        return sum_over_ranks(rows_.comm(), loss) / all + regularizer_.l2 * norm * norm;
    }

private:
    const DistributedRows& rows_;
    const Model& model_;
    Regularizer regularizer_;
    Products products_;
    std::vector<double> z_, r_;
};

/// The dual of the support vector machine: with w(a) = sum_i a_i y_i x_i / (2 l2 N),
///   f(w) >= D(a) = sum_i a_i / N - l2 |w(a)|^2   for 0 <= a <= 1, with equality at the optimum.
/// What is minimised is -N D, whose gradient is y_i x_i.w(a) - 1.
class HingeDual {
public:
    HingeDual(const DistributedRows& rows, const Regularizer& regularizer)
        : rows_(rows), regularizer_(regularizer), products_(rows, 1), w_(products_.model())
    {
    }
    Vector start() const
    {
        return filled(rows_.comm(), static_cast<PetscInt>(rows_.labels().size()), 0.5);
    }

    double evaluate(Vec a, Vec g)
    {
        const auto& y = rows_.labels();
        const auto all = static_cast<double>(rows_.rows());
        double sum = 0;
        r_.resize(y.size());
        {
            const Elements some(a);
            for (std::size_t i = 0; i < y.size(); ++i) {
                sum += some.get()[i];
                r_[i] = some.get()[i] * y[i] / (2 * regularizer_.l2 * all);
            }
        }
        products_.gradient(r_, w_.get());
        products_.scores(w_.get(), z_);
        double hinge = 0;
        {
            const Elements some(g);
            for (std::size_t i = 0; i < y.size(); ++i) {
                some.get()[i] = y[i] * z_[i] - 1;
                hinge += std::max(0.0, 1 - y[i] * z_[i]);
            }
        }
        double norm = 0;
        check(VecNorm(w_.get(), NORM_2, &norm), "VecNorm");
        const double penalty = regularizer_.l2 * norm * norm;
        primal_ = sum_over_ranks(rows_.comm(), hinge) / all + penalty;
        dual_ = sum_over_ranks(rows_.comm(), sum) / all - penalty;
        return -all * dual_;
    }
    double primal() const { return primal_; }
    double dual() const { return dual_; }
    Vec model() const { return w_.get(); }

private:
    const DistributedRows& rows_;
    Regularizer regularizer_;
    Products products_;
    Vector w_;
    std::vector<double> z_, r_;
    double primal_ = 0, dual_ = 0;
};

/// f(u - v) + l1 sum(u + v) for u, v >= 0, which is smooth and has the minimum of f(w) + l1 |w|_1.
/// On each rank the elements of u are followed by those of v.
class Lasso {
public:
    Lasso(const DistributedRows& rows, Primal& primal, double l1)
        : rows_(rows), primal_(primal), l1_(l1), w_(primal.start()), g_(primal.start())
    {
    }
    Vector start() const
    {
        PetscInt size = 0;
        check(VecGetLocalSize(w_.get(), &size), "VecGetLocalSize");
        return filled(rows_.comm(), 2 * size, 0);
    }

    double evaluate(Vec x, Vec g)
    {
        double sum = 0;
        {
            const Elements both(x), w(w_.get());
            const auto size = w.get().size();
            for (std::size_t i = 0; i < size; ++i) {
                w.get()[i] = both.get()[i] - both.get()[size + i];
                sum += both.get()[i] + both.get()[size + i];
            }
        }
        const double f = primal_.evaluate(w_.get(), g_.get());
        const Elements both(g), slope(g_.get());
        const auto size = slope.get().size();
        for (std::size_t i = 0; i < size; ++i) {
            both.get()[i] = l1_ + slope.get()[i];
            both.get()[size + i] = l1_ - slope.get()[i];
        }
        return f + l1_ * sum_over_ranks(rows_.comm(), sum);
    }
    Vec model() const { return w_.get(); }

private:
    const DistributedRows& rows_;
    Primal& primal_;
    double l1_;
    Vector w_, g_;
};

std::vector<double> on_rank_0(Vec w)
{
    petsc::Owner<VecScatter, VecScatterDestroy> scatter;
    Vector all;
    check(VecScatterCreateToZero(w, scatter.made(), all.made()), "VecScatterCreateToZero");
    check(VecScatterBegin(scatter.get(), w, all.get(), INSERT_VALUES, SCATTER_FORWARD),
          "VecScatterBegin");
    check(VecScatterEnd(scatter.get(), w, all.get(), INSERT_VALUES, SCATTER_FORWARD),
          "VecScatterEnd");
    const Elements elements(all.get());
    return {elements.get().begin(), elements.get().end()};
}

// Returns the norm of the least subgradient of f + l1 |w|_1 from the gradient of f. Collective.
double least_subgradient(MPI_Comm comm, Vec w, Vec g, const Regularizer& regularizer)
{
    const Elements at(w), slope(g);
    double square = 0;
    for (std::size_t i = 0; i < at.get().size(); ++i) {
        const double least = regularizer.least_subgradient(at.get()[i], slope.get()[i]);
        square += least * least;
    }
    return std::sqrt(sum_over_ranks(comm, square));
}

Optimum of_hinge(const DistributedRows& rows, const Regularizer& regularizer,
                 const OptimumOptions& options)
{
    HingeDual dual(rows, regularizer);
    const auto a = dual.start();
    const auto enough = [&] { return dual.primal() - dual.dual() <= options.tolerance; };
    Optimum found;
    found.iterations = minimise(rows.comm(),
                                {.solver = TAOBLMVM,
                                 .function =
                                     [&](Vec x, Vec g) {
                                         ++found.evaluations;
                                         return dual.evaluate(x, g);
                                     },
                                 .highest = 1,
                                 .enough = enough},
                                a.get(), options);
    dual.evaluate(a.get(), like(a.get()).get());
    found.model = on_rank_0(dual.model());
    found.objective = dual.primal();
    found.bound = dual.dual();
    found.gradient_norm = std::numeric_limits<double>::quiet_NaN();
    found.solver = "BLMVM on the dual";
    found.reached = enough();
    return found;
}

}  // namespace

void check_solvable(const Model& model, const std::string& name, const Regularizer& regularizer)
{
    if (!model.linear())
        throw BadInput(
            fmt::format("--model is {}, a network, which has no optimum that can be "
                        "found: use a linear model",
                        name));
    if (name == "hinge" && (regularizer.l2 <= 0 || regularizer.l1 > 0))
        throw BadInput(
            "--model is hinge, whose optimum is found by its dual: use --l2 above 0 "
            "and --l1 0");
}

Optimum find_optimum(const DistributedRows& rows, const Model& model, const std::string& name,
                     const Regularizer& regularizer, const OptimumOptions& options)
{
    check_solvable(model, name, regularizer);
    if (name == "hinge") return of_hinge(rows, regularizer, options);
    Primal primal(rows, model, regularizer);
    const auto w = primal.start();
    Optimum found;
    if (regularizer.l1 > 0) {
        Lasso lasso(rows, primal, regularizer.l1);
        const auto x = lasso.start();
        found.iterations = minimise(rows.comm(),
                                    {.solver = TAOBLMVM,
                                     .function =
                                         [&](Vec at, Vec g) {
                                             ++found.evaluations;
                                             return lasso.evaluate(at, g);
                                         }},
                                    x.get(), options);
        lasso.evaluate(x.get(), like(x.get()).get());
        check(VecCopy(lasso.model(), w.get()), "VecCopy");
        found.solver = "BLMVM on positive and negative parts";
    } else {
        found.iterations = minimise(rows.comm(),
                                    {.solver = TAOLMVM,
                                     .function =
                                         [&](Vec at, Vec g) {
                                             ++found.evaluations;
                                             return primal.evaluate(at, g);
                                         }},
                                    w.get(), options);
        found.solver = "LMVM";
    }
    const auto g = like(w.get());
    double size = 0;
    check(VecNorm(w.get(), NORM_1, &size), "VecNorm");
    found.objective = primal.evaluate(w.get(), g.get()) + regularizer.l1 * size;
    found.gradient_norm = least_subgradient(rows.comm(), w.get(), g.get(), regularizer);
    // f is strongly convex with modulus 2 l2, so f(w*) >= f(w) - |g|^2 / (4 l2).
    found.bound = regularizer.l2 > 0 ? found.objective - found.gradient_norm * found.gradient_norm /
                                                             (4 * regularizer.l2)
                                     : -std::numeric_limits<double>::infinity();
    found.model = on_rank_0(w.get());
    found.reached = found.gradient_norm <= options.tolerance;
    return found;
}

}  // namespace quorate
