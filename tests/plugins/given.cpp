// SPDX-License-Identifier: BSD-2-Clause
// A program that trains on rows it has in memory: ./given aij|dense [FAULT]. Prints on rank 0 a
// line for each way to train: the training loss and the sum of the model, with all digits.
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>
#include <quorate/petsc.hpp>
#include <string>
#include <vector>

#ifdef H5_VERS_MAJOR
#error a public header includes one of a library that it hides
#endif

namespace {

constexpr PetscInt rows = 60, columns = 8;

double element(PetscInt i, PetscInt j) { return std::sin(1.0 + 3.0 * i + 7.0 * j); }

double label(PetscInt i) { return element(i, 1) + element(i, 4) > 0 ? 5 : 3; }

bool stored(bool dense, PetscInt i, PetscInt j) { return dense || (i + j) % 3 == 0; }

Mat matrix(bool dense, const std::string& fault)
{
    Mat made = nullptr;
    MatCreate(PETSC_COMM_WORLD, &made);
    MatSetSizes(made, PETSC_DECIDE, PETSC_DECIDE, rows, columns);
    MatSetType(made, dense ? MATDENSE : MATAIJ);
    MatSetUp(made);
    PetscInt begin = 0, end = 0;
    MatGetOwnershipRange(made, &begin, &end);
    for (auto i = begin; i < end; ++i)
        for (PetscInt j = 0; j < columns; ++j)
            if (stored(dense, i, j)) MatSetValue(made, i, j, element(i, j), INSERT_VALUES);
    if (fault == "infinite")
        MatSetValue(made, rows - 1, 0, std::numeric_limits<double>::infinity(), INSERT_VALUES);
    if (fault == "unassembled") return made;
    MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY);
    return made;
}

Vec vector(const std::string& fault)
{
    Vec made = nullptr;
    VecCreate(fault == "ranks" ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &made);
    PetscMPIInt rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    VecSetSizes(made, fault == "split" ? (rank == 0 ? rows : 0) : PETSC_DECIDE,
                fault == "sizes" ? rows - 1 : rows);
    VecSetFromOptions(made);
    PetscInt begin = 0, end = 0;
    VecGetOwnershipRange(made, &begin, &end);
    for (auto i = begin; i < end; ++i)
        VecSetValue(made, i, fault == "nan" && i == rows - 1 ? std::nan("") : label(i),
                    INSERT_VALUES);
    VecAssemblyBegin(made);
    VecAssemblyEnd(made);
    return made;
}

// The same rows as arrays.
quorate::Data arrays(bool dense)
{
    std::vector<int> start = {0}, column;
    std::vector<double> value, labels;
    for (PetscInt i = 0; i < rows; ++i) {
        for (PetscInt j = 0; j < columns; ++j)
            if (stored(dense, i, j)) {
                column.push_back(static_cast<int>(j));
                value.push_back(element(i, j));
            }
        start.push_back(static_cast<int>(column.size()));
        labels.push_back(label(i));
    }
    if (dense) return quorate::Data({quorate::DenseMatrix{value, columns}, labels});
    return quorate::Data({quorate::CsrMatrix{start, column, value, columns}, labels});
}

void show(const char* how, const quorate::Trace& trace)
{
    std::printf("%s %.17g %.17g\n", how, trace.evaluations.back().train_loss,
                std::accumulate(trace.model.begin(), trace.model.end(), 0.0));
}

}  // namespace

int main(int argc, char** argv)
{
    PetscInitialize(&argc, &argv, nullptr, nullptr);
    const bool dense = std::string(argv[1]) == "dense";
    const std::string fault = argc > 2 ? argv[2] : "";
    int status = 0, rank = 0, size = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    Mat a = matrix(dense, fault);
    Vec b = vector(fault);
    quorate::Options options = {{"rounds", "20"}, {"step", "0.5"}, {"scheme", "uncoded"}};
    auto run_options = options;
    options["workers"] = "3";
    if (size == 1) run_options["workers"] = "3";
    if (fault == "twice") run_options["data"] = "d.h5";
    try {
        const auto trained = quorate::run(a, b, run_options);
        const auto simulated = quorate::simulate(a, b, options);
        if (rank == 0) {
            show("run", *trained);
            show("simulate", simulated);
            show("arrays", quorate::simulate(arrays(dense), options));
        }
    } catch (const quorate::BadInput& wrong) {
        std::fprintf(stderr, "rank %d: %s\n", rank, wrong.what());
        status = 2;
    }
    MatDestroy(&a);
    VecDestroy(&b);
    PetscFinalize();
    return status;
}
