// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/writer.hpp"

namespace quorate::trace {

/// A trace whose run is over, with its iterates; evaluations can be added. Local.
class Appender {
public:
    /// @throws BadInput
    explicit Appender(const std::string& path);

    std::vector<std::int64_t> iterate_rounds() const;
    Iterate iterate(std::int64_t i) const;
    /// Writes a row at once.
    void add(const Evaluation& row);
    /// @throws Failure
    void close();

private:
    std::string path_;
    h5::File file_;
    std::optional<Table<Evaluation>> evaluations_;
};

}  // namespace quorate::trace
