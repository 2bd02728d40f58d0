// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/prefetch.hpp"
#include "code/gradient_code.hpp"
#include "scheme/placement.hpp"

namespace quorate {

/// The contributions of a round, by worker and part, for the step that names them.
class Contributions {
public:
    /// @param plans  of the workers' tasks
    explicit Contributions(const Plans& plans);

    /// Begins a round.
    void clear();
    /// Adds a contribution. @return whether all parts of its worker have come now
    bool add(const Contribution& contribution);
    /// Fetches into the cache what add() looks at for a worker.
    void fetch_ahead(Worker worker) const
    {
        prefetch(&parts_[worker]);
        prefetch(&ids_[worker]);  // right where each worker has one part, and else a guess
    }

    /// Turns a decoding into a step; weights of 0 are left out. O(weights).
    /// @param samples  of a round, counted once: the estimate is the mean over them
    Step step(const Decoding& decoding, std::int64_t samples) const;

private:
    struct Parts {
        int end;      // in ids_, where those of the worker end
        int missing;  // how many have not come
    };
    int begin(Worker worker) const { return worker == 0 ? 0 : parts_[worker - 1].end; }
    std::vector<Parts> parts_;         // by worker
    std::vector<ContributionId> ids_;  // by worker and part
};

}  // namespace quorate
