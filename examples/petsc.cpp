// SPDX-License-Identifier: BSD-2-Clause
// Trains over MPI on the rows of a distributed PETSc matrix: mpiexec -n 5 ./petsc
#include <cmath>
#include <cstdio>
#include <quorate/petsc.hpp>

namespace {

int train()
{
    constexpr PetscInt rows = 2000, columns = 50;
    Mat a = nullptr;
    Vec x = nullptr, b = nullptr;
    MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, columns, 2, nullptr, 2,
                 nullptr, &a);
    PetscInt begin = 0, end = 0;
    MatGetOwnershipRange(a, &begin, &end);
    for (auto i = begin; i < end; ++i)  // each rank fills in its rows
        for (const PetscInt j : {i % columns, (7 * i + 1) % columns})
            MatSetValue(a, i, j, 1 + 0.1 * std::sin(i), INSERT_VALUES);
    MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
    MatCreateVecs(a, &x, &b);
    VecSet(x, 0.5);
    MatMult(a, x, b);

    int status = 0;
    try {
        const auto data = quorate::data_of(a, b, nullptr, nullptr, {.task = "regression"});
        const auto trace =
            quorate::run(data, {{"model", "ridge"}, {"scheme", "agc"}, {"rounds", "50"}});
        if (trace)  // rank 0
            std::printf("%zu rounds, training loss %g\n", trace->rounds.size(),
                        trace->evaluations.back().train_loss);
    } catch (const quorate::BadInput& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        status = 2;
    }
    MatDestroy(&a);
    VecDestroy(&x);
    VecDestroy(&b);
    return status;
}

}  // namespace

int main(int argc, char** argv)
{
    PetscInitialize(&argc, &argv, nullptr, nullptr);
    const int status = train();
    PetscFinalize();
    return status;
}
