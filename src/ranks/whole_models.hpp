// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "ranks/share_messages.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// A sink that joins the slices of models that are kept: the coordinator's, which its engine gives,
/// and those that the other owners send. Whole models go on to another sink, in the order of
/// rounds. Local; never waits.
class WholeModels final : public trace::Sink {
public:
    /// @param shares, behind  must outlive this object
    WholeModels(const Shares& shares, Precision precision, trace::Sink& behind)
        : shares_(shares), precision_(precision), behind_(behind)
    {
    }

    void add(const trace::Row& row) override { behind_.add(row); }
    void keep(std::int64_t round, trace::Iterate slice) override
    {
        last_ = round;
        put(round, 0, *slice);
    }
    /// With models that are not whole yet.
    trace::Position position() override
    {
        auto position = behind_.position();
        position["iterate"] += std::distance(models_.upper_bound(0), models_.end());
        return position;
    }
    /// Takes a slice of an owner.
    void take(const transport::Bytes& bytes);

    /// The last round of which a model was kept; 0: none.
    std::int64_t last() const { return last_; }
    /// Takes the coordinator's slice of a final model.
    void end(int model, ConstNumbers slice) { put(-model, 0, slice); }
    /// Whether all slices of so many final models have come, and of all that are kept.
    bool has_ended(int models) const;
    /// A final model. O(parameters).
    ConstNumbers final(int model) const { return *models_.at(-model).whole; }

private:
    struct Joined {
        std::shared_ptr<NumberVector> whole;
        std::size_t slices = 0;  // that have come
    };
    void put(std::int64_t round, std::size_t share, ConstNumbers slice);

    const Shares& shares_;
    Precision precision_;
    trace::Sink& behind_;
    std::map<std::int64_t, Joined> models_;  // by round, as ModelSlice has it
    std::int64_t last_ = 0;
};

}  // namespace quorate
