// SPDX-License-Identifier: BSD-2-Clause
// A coded product that machines compute: of coded rows with a point, or of coded columns with the
// derivatives of the losses. For the scheme `elastic`.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "code/allocation.hpp"
#include "scheme/types.hpp"

namespace quorate {

class StorageCode;

/// Keeps track of one coded product. Several machines compute each share of the coded rows (or
/// columns); any L of their answers give back that share of the product of all L blocks.
class CodedProduct {
public:
    /// @param code       must outlive this object
    /// @param operation  product or column_product
    /// @param height     rows, or columns, of a coded block
    CodedProduct(const StorageCode& code, Item::Operation operation, std::int64_t height)
        : code_(&code), operation_(operation), height_(height)
    {
    }

    /// What machines are asked to compute, as indices of shares.
    using Requests = std::map<Worker, std::vector<std::size_t>>;
    /// Begins a product.
    /// @param shares   who computes which rows
    /// @param working  machines that are there
    /// @return what each machine is to compute; nullopt: too few machines are there
    std::optional<Requests> begin(const Allocation& shares, const std::set<Worker>& working);
    /// Takes note that a machine is lost, and gives what it has not answered to others.
    /// @param working  machines that are left
    /// @return what machines are to compute beside what they were asked; nullopt: too few are left
    std::optional<Requests> lose(Worker lost, const std::set<Worker>& working);
    /// Makes the plan of a task that computes these shares, in at most 8 parts that are sent when
    /// ready. Remembers which shares the task computes.
    std::shared_ptr<const Plan> plan(TaskId task, Worker worker,
                                     const std::vector<std::size_t>& shares);
    /// Receives a contribution of such a task. @return whether every share has L answers
    bool receive(const Contribution& one);

    /// The machines whose answers to a share are used, ascending. Only if every share has L
    /// answers.
    std::vector<int> machines(std::size_t share) const;
    /// The largest condition number among the decodings of the shares. Likewise.
    double condition() const;
    /// Where the answers belong in the product of all blocks, block behind block, and with which
    /// weights. Likewise.
    std::vector<Placed> decoded() const;

private:
    // The machines that were asked for a share, and those that have answered.
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
    std::vector<Answers> answers_;                                   // to each share
    std::size_t incomplete_ = 0;  // shares without enough answers
};

}  // namespace quorate
