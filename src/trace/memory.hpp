// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "trace/sink.hpp"
#include "trace/trace.hpp"

namespace quorate::trace {

/// A sink that keeps the trace in memory, with the iterates until end(). Local.
class Memory final : public Record {
public:
    /// Begins a trace with these attributes and the status `running`.
    explicit Memory(const Header& header);

    void add(const Row& row) override { trace_.add(row); }
    void keep(std::int64_t round, Iterate model) override;
    Position position() override;
    void put(std::int64_t round, VectorPiece piece) override;
    bool has_room(std::size_t) override { return true; }
    void pause() override {}
    std::int64_t iterates() const override { return trace_.iterates; }
    Iterate iterate(std::int64_t i) const override;
    std::vector<std::int64_t> iterate_rounds() const override { return rounds_; }
    /// Sorts the evaluations by round and forgets the iterates.
    void end(const std::string& status, const std::string& stopped_at) override;

    /// Hands the trace over, once. After end().
    Trace take() { return std::move(trace_); }

private:
    Trace trace_;
    std::vector<std::int64_t> rounds_;  // of the iterates
    std::vector<Iterate> iterates_;
    std::shared_ptr<NumberVector> begun_;  // an iterate that is not whole
};

/// Writes a trace of a Memory to a file, as Writer would have, without iterates. Local.
/// @throws BadInput if the file is there, or the trace came from a file  @throws Failure if it
///         cannot be written
void save(const Trace& trace, const std::string& path);

}  // namespace quorate::trace
