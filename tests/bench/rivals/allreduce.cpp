// SPDX-License-Identifier: BSD-2-Clause
// Gradient descent as most write it for MPI: each rank has its rows, all add up dense gradients by
// MPI_Allreduce, and each takes the same step.
//   mpiexec -n N allreduce FILE --rounds N --step X
#include <mpi.h>

#include "process/session.hpp"
#include "rival.hpp"

namespace {

// Ends MPI when the data set is closed, and not before. As Quorate does, because over several hosts
// MPI_Finalize may hang.
struct Mpi {
    Mpi() { quorate::start_mpi(); }
    Mpi(const Mpi&) = delete;
    ~Mpi() { quorate::end_mpi(0); }
};

}  // namespace

int main(int argc, char** argv)
{
    const Mpi mpi;
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const rival::Problem problem(argc, argv);
    const rival::Rows rows(problem.data, size, rank);
    const auto columns = static_cast<int>(problem.columns());
    std::vector<double> w(problem.columns()), gradient(problem.columns());
    rival::Update update(problem);

    MPI_Barrier(MPI_COMM_WORLD);
    rival::Clock clock;
    for (int round = 0; round < problem.rounds; ++round) {
        rows.add_gradient(0, rows.size(), w.data(), gradient.data());
        MPI_Allreduce(MPI_IN_PLACE, gradient.data(), columns, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        update(w.data(), gradient.data());
        clock.round();
    }

    double loss = rows.loss(w.data());
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) clock.print(loss / static_cast<double>(problem.rows()));
}
