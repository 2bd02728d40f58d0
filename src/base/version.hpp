// SPDX-License-Identifier: BSD-2-Clause
// What this program is, for --version and for the trace. The Makefile writes the definitions.
#pragma once

namespace quorate {

/// Release, as 0.1.0.
extern const char* const version;
/// `git describe --always --dirty` of the sources, or "unknown".
extern const char* const git_revision;
/// The text of `make info`: MPI, launcher, compiler, flags, libraries; lines of "name  value".
extern const char* const build_info;
/// What a plugin must have been built with too: version, MPI, index width, compiler.
extern const char* const built_with;
/// The program that starts ranks of the MPI this was built with, as mpiexec.mpich.
extern const char* const launcher;
/// The Python that runs the analysis.
extern const char* const python;

}  // namespace quorate
