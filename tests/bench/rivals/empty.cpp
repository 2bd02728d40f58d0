// SPDX-License-Identifier: BSD-2-Clause
// The MPI program that does nothing: what a launcher takes.
#include <mpi.h>

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
}
