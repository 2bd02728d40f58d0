// SPDX-License-Identifier: BSD-2-Clause
// A gradient code: worker i sends the sum over j of B_ij g_j, where g_j is the sum of the sample
// gradients of partition j; from the messages of those who have answered, a decoder makes an
// estimate of g = sum_j g_j. The estimate sum_i a_i m_i is exact iff a^T B = 1^T.
//
// n workers, k partitions, d partitions a worker, s stragglers, r responders, as in the papers.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <vector>

namespace quorate {

/// An entry B_ij != 0 of the row of worker i.
struct Coefficient {
    int partition;
    double value;
    auto operator<=>(const Coefficient&) const = default;
};

/// A row of B, which says what one part of a message sums up; ascending by partition.
using Row = std::vector<Coefficient>;

/// The matrix B, worker by worker. Most codes have one part a worker; a complex code has two, the
/// real and the imaginary part of its row.
struct Encoding {
    int partitions = 0;                  // k
    std::vector<std::vector<Row>> rows;  // by worker, by part

    int workers() const { return static_cast<int>(rows.size()); }
};

/// The weight a_i of one part of one worker's message.
struct Weight {
    int worker;
    int part;
    double value;
    bool operator==(const Weight&) const = default;
};

/// What a decoder makes of the answers: estimate = scale * sum of weighted messages.
struct Decoding {
    std::vector<Weight> weights;  // of the messages used, ascending by (worker, part)
    double scale = 1;             // kept apart, so that 0/1 decodings add up messages as they are
    double error = 0;             // ||scale B^T a - 1||^2
};

/// The quorum and the decoder of one code. Keeps the state of the running round; local, pure.
class Decoder {
public:
    virtual ~Decoder() = default;

    /// Begins a round, in which no worker has answered yet.
    virtual void begin() = 0;

    /// Takes note that a worker has answered, with all its parts. No worker answers twice in a
    /// round.
    /// @return the decoding with which the round ends, valid until the next call; nullptr: wait on,
    ///         because too few have answered or because the residual test refuses their answers
    virtual const Decoding* receive(int worker) = 0;

    /// Ends a round whose time is up.
    /// @return the best decoding that its answers allow, valid until the next call; nullptr: none
    virtual const Decoding* expire() { return nullptr; }

    /// Whether the decodings of receive() are exact, whoever answers.
    virtual bool exact() const { return false; }
};

/// A code: what workers send, and how their answers are decoded.
struct GradientCode {
    Encoding encoding;
    std::unique_ptr<Decoder> decoder;
    std::string warning = {};  // what is not promised for these parameters; empty: nothing
};

/// Computes the decode error ||scale B^T a - 1||^2 by its definition. O(entries of the rows used +
/// k).
double decode_error(const Encoding& encoding, const std::vector<Weight>& weights, double scale);

}  // namespace quorate
