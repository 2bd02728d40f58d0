// SPDX-License-Identifier: BSD-2-Clause
#include "optimum/minimise.hpp"

#include <petsctao.h>

#include <exception>
#include <string_view>

namespace quorate {

namespace {

using petsc::check;

// What PETSc's callbacks are given. An exception must not pass through C, so it is kept and thrown
// when TaoSolve has returned.
struct Context {
    const Minimisation& problem;
    const OptimumOptions& options;
    std::exception_ptr error = {};
};

PetscErrorCode evaluate(Tao, Vec x, PetscReal* f, Vec g, void* context)
{
    auto& self = *static_cast<Context*>(context);
    try {
        *f = self.problem.function(x, g);
        return 0;
    } catch (...) {
        self.error = std::current_exception();
        return PETSC_ERR_USER;
    }
}

PetscErrorCode show(Tao tao, void* context)
{
    PetscInt iteration = 0;
    PetscReal f = 0, norm = 0;
    TaoGetSolutionStatus(tao, &iteration, &f, &norm, nullptr, nullptr, nullptr);
    static_cast<Context*>(context)->options.progress(iteration, f, norm);
    return 0;
}

PetscErrorCode test(Tao tao, void* context)
{
    const auto& enough = static_cast<Context*>(context)->problem.enough;
    if (const auto code = TaoDefaultConvergenceTest(tao, nullptr)) return code;
    if (enough && enough()) TaoSetConvergedReason(tao, TAO_CONVERGED_USER);
    return 0;
}

}  // namespace

petsc::Vector like(Vec vector)
{
    petsc::Vector made;
    check(VecDuplicate(vector, made.made()), "VecDuplicate");
    return made;
}

std::int64_t minimise(MPI_Comm comm, const Minimisation& problem, Vec x,
                      const OptimumOptions& options)
{
    petsc::Owner<Tao, TaoDestroy> owner;
    check(TaoCreate(comm, owner.made()), "TaoCreate");
    const auto tao = owner.get();
    Context context{problem, options};
    check(TaoSetType(tao, problem.solver), "TaoSetType");
    check(TaoSetSolution(tao, x), "TaoSetSolution");
    check(TaoSetObjectiveAndGradient(tao, nullptr, evaluate, &context),
          "TaoSetObjectiveAndGradient");
    check(TaoSetTolerances(tao, options.tolerance, 0, 0), "TaoSetTolerances");
    check(TaoSetMaximumIterations(tao, static_cast<PetscInt>(options.iterations)),
          "TaoSetMaximumIterations");
    check(TaoSetMaximumFunctionEvaluations(tao, std::numeric_limits<PetscInt>::max()),
          "TaoSetMaximumFunctionEvaluations");
    check(TaoSetConvergenceTest(tao, test, &context), "TaoSetConvergenceTest");
    if (options.progress) check(TaoSetMonitor(tao, show, &context, nullptr), "TaoSetMonitor");
    petsc::Vector lower, upper;
    if (std::string_view(problem.solver) == TAOBLMVM) {
        lower = like(x);
        upper = like(x);
        check(VecSet(lower.get(), 0), "VecSet");
        check(VecSet(upper.get(), problem.highest), "VecSet");
        check(TaoSetVariableBounds(tao, lower.get(), upper.get()), "TaoSetVariableBounds");
    }
    // Keep more directions than the default of five, because evaluations of the function cost most.
    for (const auto* name : {"-tao_lmvm_mat_lmvm_hist_size", "-tao_blmvm_mat_lmvm_hist_size"})
        check(PetscOptionsSetValue(nullptr, name, "30"), "PetscOptionsSetValue");
    check(TaoSetFromOptions(tao), "TaoSetFromOptions");
    const auto code = TaoSolve(tao);
    if (context.error) std::rethrow_exception(context.error);
    check(code, "TaoSolve");
    PetscInt iterations = 0;
    check(TaoGetIterationNumber(tao, &iterations), "TaoGetIterationNumber");
    return iterations;
}

}  // namespace quorate
