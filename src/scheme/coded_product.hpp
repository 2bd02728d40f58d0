// SPDX-License-Identifier: BSD-2-Clause
// A coded product under way: of coded rows with a point, or of coded columns with the derivatives.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "code/allocation.hpp"
#include "scheme/types.hpp"

namespace quorate {

class StorageCode;

/// Each share of the coded rows (or columns) is computed by several machines; any L answers give it back.
class CodedProduct {
public:
    /// @param operation  product or column_product  @param height  rows or columns of a block
    CodedProduct(const StorageCode& code, Item::Operation operation, std::int64_t height)
        : code_(&code), operation_(operation), height_(height)
    {
    }

    /// What machines are to compute, as indices of shares.
    using Requests = std::map<Worker, std::vector<std::size_t>>;
    /// Begins anew. @param working  machines that are there
    /// @return nothing if they are too few
    std::optional<Requests> begin(const Allocation& shares, const std::set<Worker>& working);
    /// A machine is lost: what it had not answered is given to others.
    std::optional<Requests> lose(Worker lost, const std::set<Worker>& working);
    /// The plan of a task that does this.
    std::shared_ptr<const Plan> plan(TaskId task, Worker worker,
                                     const std::vector<std::size_t>& shares);
    /// @return whether every share can be given back
    bool receive(const Contribution& one);

    /// The machines whose answers to a share are used, ascending. Once every share can be given back.
    std::vector<int> machines(std::size_t share) const;
    /// The largest condition number among the decodings of the shares.
    double condition() const;
    /// The decoded product, block behind block.
    std::vector<Placed> decoded() const;

private:
    // Who has answered for a share, or still may.
    struct Answers {
        std::vector<Worker> asked;
        struct One {
            Worker worker;
            ContributionId id;
            std::int64_t row;  // where the share begins in the contribution
        };
        std::vector<One> come;  // ascending by worker
    };
    bool complete(Requests& requests, const std::set<Worker>& working);

    const StorageCode* code_;
    Item::Operation operation_;
    std::int64_t height_;
    Allocation shares_;
    std::map<TaskId, std::vector<std::vector<std::size_t>>> tasks_;  // shares of each part
    std::vector<Answers> answers_;                                   // of each share
    std::size_t incomplete_ = 0;  // shares without enough answers
};

}  // namespace quorate
