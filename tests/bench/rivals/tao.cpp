// SPDX-License-Identifier: BSD-2-Clause
// PETSc's TAO on the same objective: L-BFGS over a distributed matrix, stopped after as many
// gradients as Quorate has rounds. What it prints as rounds are its gradients.
//   mpiexec -n N tao FILE --rounds N
#include <petsctao.h>

#include "data/petsc.hpp"
#include "optimum/distributed_rows.hpp"
#include "rival.hpp"

namespace {

using quorate::petsc::check;

struct Logistic {
    const quorate::DistributedRows& rows;
    Vec score;
    rival::Clock clock = {};
    double loss = 0;
};

// f = mean loss + |w|^2 / n and its gradient, as in the other rivals.
PetscErrorCode evaluate(Tao, Vec w, PetscReal* f, Vec gradient, void* context)
{
    auto& self = *static_cast<Logistic*>(context);
    const auto n = static_cast<double>(self.rows.rows());
    check(MatMult(self.rows.matrix(), w, self.score), "MatMult");
    PetscScalar* z = nullptr;
    check(VecGetArray(self.score, &z), "VecGetArray");
    double sum = 0, square = 0;
    for (const double y : self.rows.labels()) {
        const double m = y * *z, e = std::exp(-std::abs(m));
        sum += std::max(0.0, -m) + std::log1p(e);
        *z++ = -y * (m >= 0 ? e : 1) / (1 + e) / n;
    }
    z -= self.rows.labels().size();
    check(VecRestoreArray(self.score, &z), "VecRestoreArray");
    check(MatMultTranspose(self.rows.matrix(), self.score, gradient), "MatMultTranspose");
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
    check(VecDot(w, w, &square), "VecDot");
    check(VecAXPY(gradient, 2 / n, w), "VecAXPY");
    self.loss = sum / n;
    *f = self.loss + square / n;
    self.clock.round();
    return 0;
}

// A line search that has begun is ended, so a few gradients more are possible.
PetscErrorCode enough(Tao tao, void* rounds)
{
    PetscInt gradients = 0;
    check(TaoGetCurrentFunctionEvaluations(tao, &gradients), "TaoGetCurrentFunctionEvaluations");
    if (gradients >= *static_cast<const int*>(rounds))
        check(TaoSetConvergedReason(tao, TAO_CONVERGED_USER), "TaoSetConvergedReason");
    return 0;
}

void solve(rival::Problem& problem)
{
    const quorate::DistributedRows rows(PETSC_COMM_WORLD, problem.data);
    quorate::petsc::Vector w, score;
    check(MatCreateVecs(rows.matrix(), w.made(), score.made()), "MatCreateVecs");
    check(VecSet(w.get(), 0), "VecSet");
    quorate::petsc::Owner<Tao, TaoDestroy> owner;
    check(TaoCreate(PETSC_COMM_WORLD, owner.made()), "TaoCreate");
    const auto tao = owner.get();
    check(TaoSetType(tao, TAOLMVM), "TaoSetType");
    check(TaoSetSolution(tao, w.get()), "TaoSetSolution");
    Logistic logistic{rows, score.get()};
    check(TaoSetObjectiveAndGradient(tao, nullptr, evaluate, &logistic),
          "TaoSetObjectiveAndGradient");
    check(TaoSetMaximumIterations(tao, problem.rounds), "TaoSetMaximumIterations");
    check(TaoSetConvergenceTest(tao, enough, &problem.rounds), "TaoSetConvergenceTest");
    check(TaoSolve(tao), "TaoSolve");
    int rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    if (rank == 0) logistic.clock.print(logistic.loss);
}

}  // namespace

int main(int argc, char** argv)
{
    PetscInitializeNoArguments();
    {
        rival::Problem problem(argc, argv);
        solve(problem);
    }
    PetscFinalize();
}
