// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "base/numbers.hpp"

namespace quorate {

/// Some elements of a vector that is handed over in pieces, each behind the one before.
struct VectorPiece {
    std::size_t first;  // its first element
    std::size_t whole;  // elements of the whole vector
    ConstNumbers numbers;
    /// Owns the numbers; null: these live as long as whoever takes the piece.
    std::shared_ptr<const void> memory;

    /// Whether the vector ends with it.
    bool last() const { return first + numbers.size() == whole; }
};

/// Returns a piece that is a whole vector. @param memory  as VectorPiece has it
inline VectorPiece whole_piece(ConstNumbers numbers, std::shared_ptr<const void> memory)
{
    return {0, numbers.size(), numbers, std::move(memory)};
}

/// Returns the same piece where so many vectors of one size stand one behind the other.
/// @param i  which of them it is of
inline VectorPiece among(VectorPiece piece, std::size_t i, std::size_t vectors)
{
    piece.first += i * piece.whole;
    piece.whole *= vectors;
    return piece;
}

}  // namespace quorate
