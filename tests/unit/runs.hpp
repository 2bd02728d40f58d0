// SPDX-License-Identifier: BSD-2-Clause
// Whole runs in this process, from their words to their trace.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "command.hpp"
#include "commands/thread_run.hpp"
#include "support.hpp"
#include "trace/trace.hpp"
#include "ways.hpp"

namespace quorate::test {

/// Small data sets, made once. 203 rows are no multiple of any number of workers here.
struct DataSets {
    Folder folder;
    std::string dense = folder.file("dense.h5"), sparse = folder.file("sparse.h5");
    std::string wide = folder.file("wide.h5");  // columns for the shares of three hosts
    DataSets();
};
const DataSets& data_sets();

/// What a run left.
struct Result {
    trace::Trace trace;
    std::vector<double> iterates, model;
    explicit Result(const std::string& path);
};

/// @param but  columns that may differ
void expect_same(const Result& a, const Result& b, const std::set<std::string>& but = {});

/// Those in which a replay differs: it does not know how long messages were under way.
const std::set<std::string>& of_messages();

/// `quorate run WORDS` on threads, as command().
Said run_on_threads(const std::string& words, const ThreadRanks& ranks = {});

/// How many ranks that is.
int ranks_of(const Way& way);

/// A run in a folder, killed after its last checkpoint but one.
class Killed {
public:
    /// @param verb, words  of a command that completes: run or simulate
    Killed(const Folder& folder, const std::string& verb, const std::string& words);
    /// The same of a run on threads, whose ranks may be on several hosts.
    /// @param more  words that the run begins with; resume_on_threads() may give others
    Killed(const Folder& folder, const std::string& words, const std::string& more,
           const ThreadRanks& ranks);
    Said resume(const std::string& more = "") const { return command(run_ + " --resume" + more); }
    Said resume_on_threads(const std::string& more, const ThreadRanks& ranks) const
    {
        return run_on_threads(threads_ + " --resume " + more, ranks);
    }
    /// What the run said that was killed.
    const Said& said() const { return said_; }
    /// Has the last checkpoint but one be the end, once the command has completed.
    void cut() const;

    const std::string trace;

private:
    std::string checkpoint_, threads_, run_;
    Said said_;
};

}  // namespace quorate::test
