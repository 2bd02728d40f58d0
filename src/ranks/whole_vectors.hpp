// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/vector_piece.hpp"
#include "ranks/share_messages.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// Makes vectors whole whose slices the owners of shares hold: kept and final models, and the
/// vectors of checkpoints. They become whole where they are written, one after the other. The
/// coordinator asks the owners for slices in their order, as far ahead as those that it has asked
/// for, or that wait to be written, are no more than trace::iterates_in_memory; or for one that is
/// larger. Local; never waits.
class WholeVectors {
public:
    /// Asks the owner of a share for its slice.
    using Ask = std::function<void(std::size_t share, const SliceName& name)>;
    /// Takes the slices of a vector, one behind the other.
    using Take = std::function<void(VectorPiece)>;

    /// Whether there is room for so many bytes where slices are taken, as trace::Record says it.
    using HasRoom = std::function<bool(std::size_t bytes)>;

    /// @param shares  must outlive this object
    WholeVectors(const Shares& shares, HasRoom has_room, Ask ask)
        : shares_(shares), has_room_(std::move(has_room)), ask_(std::move(ask))
    {
    }

    /// Adds the next vector.
    /// @param own     the coordinator's slice, with its owner, as VectorPiece has it
    /// @param sliced  false: it is the whole vector, and the same everywhere
    void add(const SliceName& name, ConstNumbers own, std::shared_ptr<const void> memory,
             bool sliced, Take take);
    /// Takes a slice of an owner. One that nobody waits for any more is dropped.
    /// @throws Failure if it has another size than it should have
    void take(const std::shared_ptr<const transport::Bytes>& bytes);
    /// Hands on what has come, and asks for what there is room for. To be called again and again.
    void go_on();
    /// Whether all vectors are whole.
    bool is_done() const { return vectors_.empty(); }
    /// Gives up those that are not.
    void clear();

    /// Kept models that are not whole, and the bytes of the coordinator's slices of these.
    std::int64_t kept() const;
    std::size_t bytes_of_kept() const;

private:
    struct Vector {
        SliceName name;
        Precision precision;
        Take take;
        std::vector<std::optional<VectorPiece>> slices;  // by share
        std::size_t handed_on = 0;
    };
    bool hand_on();
    bool ask_next();

    const Shares& shares_;
    HasRoom has_room_;
    Ask ask_;
    std::deque<Vector> vectors_;
    std::size_t vector_ = 0, share_ = 0;  // that is asked for next
    std::size_t asked_ = 0;               // bytes of slices that were asked for, or have come
};

/// The sink of an engine whose models are slices. Rows go on at once. Coordinator only.
class ModelsInSlices final : public trace::Sink {
public:
    /// @param whole, record  must outlive this object
    /// @param make_room      waits until it has fewer bytes of kept models than twice
    ///                       trace::iterates_in_memory
    ModelsInSlices(WholeVectors& whole, trace::Record& record, std::function<void()> make_room)
        : whole_(whole), record_(record), make_room_(std::move(make_room))
    {
    }
    void add(const trace::Row& row) override { record_.add(row); }
    void keep(std::int64_t round, trace::Iterate slice) override;
    /// With models that are not whole yet.
    trace::Position position() override;
    /// The last round of which a model was kept; 0: none.
    std::int64_t last() const { return last_; }

private:
    WholeVectors& whole_;
    trace::Record& record_;
    std::function<void()> make_room_;
    std::int64_t last_ = 0;
};

}  // namespace quorate
