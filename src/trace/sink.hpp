// SPDX-License-Identifier: BSD-2-Clause
// Where a run's rows and models go: to a file, to memory, or nowhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trace/rows.hpp"

namespace quorate::trace {

/// A row of any table.
using Row =
    std::variant<Round, Arrival, ItemRow, Measure, Timer, Membership, Evaluation, WorkerRow>;

/// A vector that is being kept: shared and immutable.
using Iterate = std::shared_ptr<const std::vector<double>>;

/// Bytes of iterates that wait in a sink at most; a round waits for the disk at twice that.
inline constexpr std::size_t iterates_in_memory = 208 << 20;

/// How far a trace has been written: rows of each table by name, and iterates.
using Position = std::map<std::string, std::int64_t>;

/// What the root of a trace says of its run. Values are text, numbers as JSON would write them.
struct Header {
    std::map<std::string, std::string> text;
    std::map<std::string, double> real;
    std::map<std::string, std::int64_t> integer;
};

/// What an engine writes to. Local.
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
    /// Where the next rows go.
    virtual Position position() = 0;
};

/// A sink for what is written already.
class NoSink final : public Sink {
public:
    void add(const Row&) override {}
    void keep(std::int64_t, Iterate) override {}
    Position position() override { return {}; }
};

/// A sink that gives its iterates back, for scores after the last round. Local.
class Record : public Sink {
public:
    /// Ends what goes on in the background: from here on, everything is done at once.
    /// @throws Failure if something that went on in the background has failed
    virtual void pause() = 0;
    /// Iterates kept. After pause().
    virtual std::int64_t iterates() const = 0;
    /// Iterate i. After pause().
    virtual Iterate iterate(std::int64_t i) const = 0;
    /// The round of each iterate. After pause().
    virtual std::vector<std::int64_t> iterate_rounds() const = 0;
    /// Takes the final model and the status; nothing is added later. @throws Failure
    virtual void finish(std::span<const double> model, const std::string& status) = 0;
};

}  // namespace quorate::trace
