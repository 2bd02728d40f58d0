// SPDX-License-Identifier: BSD-2-Clause
// Folders of runs: --folder runs makes runs/0001, runs/0002, ..., each with what its run needs and
// leaves.
#pragma once

#include <optional>
#include <string>

#include "commands/run_files.hpp"
#include "run/resumption.hpp"

namespace quorate {

/// The option --folder.
Option folder_option();

/// Returns the options of the run that --folder and --resume name: the path of its options.ini.
/// Empty unless both are given. All ranks may call it. Local.
/// @throws BadInput if --resume is given and the folder is not that of a run, or the other way
/// round
std::string options_to_resume(const Settings& settings);

/// Returns how many workers the run began with that is to go on; none: a run begins, or nothing can
/// be read of it yet, which RunFolder::prepare() says. Local.
/// @param in_memory  as of began_with()
std::optional<int> workers_to_resume(const Settings& settings, bool in_memory);

/// Returns how a run that was stopped goes on, for the user: "the same command with --resume", or
/// what works from any folder.
/// @param trace  of the run
std::string how_to_resume(const std::string& trace);

/// A run's folder, if --folder asks for one. Coordinator only.
class RunFolder {
public:
    /// Checks --log, and that --folder goes with the other options. Makes nothing.
    /// @throws BadInput if it does not
    explicit RunFolder(const Settings& given);

    /// Makes the next folder, or takes the one to resume, and then prepares the run as resumption()
    /// does. Two runs at the same time get two folders, because the one that makes a folder has it.
    /// The options are written to it, with absolute paths, and from then on all messages of this
    /// process to its log. If the run is refused, the new folder is removed.
    /// @throws BadInput, Failure as resumption(), or if the folder cannot be made
    std::optional<Resumption> prepare(const Training& training, const NextState& next = {});

    /// The settings of the run: its files are in the folder. Those given if there is no --folder,
    /// and before prepare().
    const Settings& settings() const { return settings_; }

    /// The owner of the trace, from prepare() on. To be called once.
    std::unique_ptr<Owner> owner() { return std::move(owner_); }

    /// Writes into the log how the run has ended, and returns the exit status.
    int ended(int status) const;

private:
    Settings settings_;
    std::string parent_, folder_;  // empty: none
    std::unique_ptr<Owner> owner_;
};

}  // namespace quorate
