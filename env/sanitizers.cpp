// SPDX-License-Identifier: BSD-2-Clause
// Linked into every program of a build with sanitizers (SAN=1, SAN=thread), so that no environment
// has to reach the ranks.

/// A leak's stack needs the library it was made in: UCX and hwloc unload their modules before
/// the leaks are looked for.
extern "C" int dlclose(void*) { return 0; }

/// Leaks of MPI, PETSc and HDF5 themselves, which keep memory until the process ends. Behind
/// vasprintf, which this project has no use for, the stack of Open MPI's is lost.
extern "C" const char* __lsan_default_suppressions()
{
    return "leak:libmpich.so\n"
           "leak:libmpi.so\n"
           "leak:libopen-pal.so\n"
           "leak:libopen-rte.so\n"
           "leak:libpmix.so\n"
           "leak:mca_\n"
           "leak:vasprintf\n"
           "leak:libuc\n"
           "leak:libhwloc.so\n"
           "leak:hwloc_\n"
           "leak:libpciaccess.so\n"
           "leak:libpetsc\n"
           "leak:libhdf5\n";
}

extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }
/// Libraries that were built without it, such as MPI, synchronise in ways that it does not see.
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }
