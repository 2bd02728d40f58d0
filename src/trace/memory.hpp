// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "trace/sink.hpp"
#include "trace/trace.hpp"

namespace quorate::trace {

/// Keeps a trace in memory.
class Memory final : public Record {
public:
    explicit Memory(const Header& header);

    void add(const Row& row) override;
    void keep(std::int64_t round, Iterate model) override;
    Position position() override;
    void pause() override {}
    std::int64_t iterates() const override { return trace_.iterates; }
    Iterate iterate(std::int64_t i) const override;
    std::vector<std::int64_t> iterate_rounds() const override { return rounds_; }
    /// Forgets the iterates.
    void finish(std::span<const double> model, const std::string& status) override;

    /// What was kept. After finish().
    Trace take() { return std::move(trace_); }

private:
    Trace trace_;
    std::vector<std::int64_t> rounds_;  // of the iterates
    std::vector<Iterate> iterates_;
};

}  // namespace quorate::trace
