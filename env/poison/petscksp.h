// SPDX-License-Identifier: BSD-2-Clause
// First in the include path of the layers that are compiled and tested without MPI.
#error "petscksp.h: base, code, model, optimizer, straggler and scheme know no MPI, PETSc or HDF5"
