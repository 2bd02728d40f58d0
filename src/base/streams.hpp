// SPDX-License-Identifier: BSD-2-Clause
// The standard streams of a process, any of which may be closed, full, or a pipe that nobody reads.
// Commands print results on stdout; a result that cannot be written is a failure. Messages, on
// either stream, are written if they can be.
#pragma once

#include <string>

namespace quorate {

/// Opens those of the descriptors 0, 1 and 2 that are closed, so that no other file gets their
/// number, and messages with it. What is read there is empty, results cannot be written, and
/// messages are lost. To be called before a file is opened.
void open_standard_streams();

/// Prints a message on stderr, in one call, so that lines of several threads and ranks do not mix.
void show(const std::string& text);

/// Prints a message on stdout. @throws Failure if results printed before it cannot be written
void show_on_stdout(const std::string& text);

/// Writes what was printed on stdout. If its reader has gone, ends the process by SIGPIPE.
/// @param why  errno of a call that could not print, if there was one
/// @throws Failure if it cannot be written
void write_results(int why = 0);

}  // namespace quorate
