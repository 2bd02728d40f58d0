// SPDX-License-Identifier: BSD-2-Clause
// Writes one-hot data of the Amazon data's kind for the rivals, where the real data are not there.
//   one_hot FILE ROWS COLUMNS
#include <petscsys.h>

#include "one_hot_file.hpp"

int main(int argc, char** argv)
{
    if (argc != 4) return 2;
    const auto number = [&](int i) { return static_cast<quorate::Index>(std::atoi(argv[i])); };
    PetscInitializeNoArguments();  // PETSc measures the curvature
    quorate::bench::write(quorate::bench::OneHot(number(2), number(3)), argv[1]);
    PetscFinalize();
}
