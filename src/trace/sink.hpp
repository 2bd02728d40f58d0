// SPDX-License-Identifier: BSD-2-Clause
// Sinks, to which a run gives its rows and models: a file, memory, or nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "base/vector_piece.hpp"
#include "trace/rows.hpp"

namespace quorate::trace {

/// A model that is kept: shared and immutable.
using Iterate = std::shared_ptr<const NumberVector>;

/// Bytes of waiting iterates at which a sink begins to write them at once. At twice that, a round
/// waits for the disk.
inline constexpr std::size_t iterates_in_memory = 208 << 20;

/// How far a trace goes: the number of rows of each table by its name, and of iterates by
/// "iterate".
using Position = std::map<std::string, std::int64_t>;

/// Returns how many rows a table has at a position.
inline std::int64_t rows_at(const Position& position, const std::string& table)
{
    const auto at = position.find(table);
    return at == position.end() ? 0 : at->second;
}
/// Whether one is as far as another, in all tables.
inline bool reaches(const Position& position, const Position& other)
{
    return std::ranges::all_of(
        other, [&](const auto& one) { return rows_at(position, one.first) >= one.second; });
}

/// The attributes of a trace's root, which say of which run it is, by name.
struct Header {
    std::map<std::string, std::string> text;
    std::map<std::string, double> real;
    std::map<std::string, std::int64_t> integer;
};

/// What an engine writes a run to. Local.
class Sink {
public:
    virtual ~Sink() = default;
    Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    /// Appends a row to its table.
    virtual void add(const Row& row) = 0;
    /// Appends the model after `round` updates to the iterates.
    virtual void keep(std::int64_t round, Iterate model) = 0;
    /// Returns how far the trace goes with all that was added so far.
    virtual Position position() = 0;
};

/// A sink that drops all, for a history that is written already.
class NoSink final : public Sink {
public:
    void add(const Row&) override {}
    void keep(std::int64_t, Iterate) override {}
    Position position() override { return {}; }
};

/// What Record::put() calls the final models instead of a round.
inline constexpr std::int64_t final_models = -1;

/// A sink that takes models in pieces too, and gives its iterates back, so that they can be scored
/// after the last round. Local.
class Record : public Sink {
public:
    /// Takes the next piece of a model: of an iterate, after `round` updates, or of the final
    /// models of the run, one behind the other, for which `round` is final_models. Another iterate
    /// begins only after the last piece of the one before. Never waits.
    virtual void put(std::int64_t round, VectorPiece piece) = 0;
    /// Whether nothing waits to be written, or with so many bytes more no more than
    /// iterates_in_memory. If not, what waits is written at once.
    virtual bool has_room(std::size_t bytes) = 0;
    /// Ends writing in the background, once all that was added is written.
    /// @throws Failure if writing in the background has failed
    virtual void pause() = 0;
    /// Returns the number of iterates. After pause().
    virtual std::int64_t iterates() const = 0;
    /// Returns iterate i, from 0. After pause().
    virtual Iterate iterate(std::int64_t i) const = 0;
    /// Returns the round of each iterate. After pause().
    virtual std::vector<std::int64_t> iterate_rounds() const = 0;
    /// Takes the status of the run, whose final models are there, and why it ended before its last
    /// round; empty: it did not. Nothing may be added later.
    /// @throws Failure if that cannot be written
    virtual void end(const std::string& status, const std::string& stopped_at) = 0;
    /// The same of final models that are there in one piece. Copies them.
    void finish(ConstNumbers models, const std::string& status, const std::string& stopped_at)
    {
        const auto copy = std::make_shared<const NumberVector>(models);
        put(final_models, whole_piece(*copy, copy));
        end(status, stopped_at);
    }
};

}  // namespace quorate::trace
