// SPDX-License-Identifier: BSD-2-Clause
// Under the names of foreign headers first in the include path of the layers that are compiled and tested without MPI.
#error "base, code, aggregator, compressor, model, optimizer, straggler and scheme know no MPI, PETSc or HDF5"
