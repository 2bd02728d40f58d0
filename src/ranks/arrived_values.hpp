// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/numbered.hpp"
#include "compressor/compressor.hpp"
#include "fleet/fleet.hpp"
#include "ranks/host_memory.hpp"
#include "ranks/leaders.hpp"
#include "ranks/membership.hpp"
#include "ranks/messages.hpp"
#include "ranks/share_messages.hpp"

namespace quorate {

/// A message that has come. Where a contribution has its values in shared memory, their owner,
/// which gives them back when it ends; null in it: only the leader of the node reads them.
struct ArrivedMessage : transport::Message {
    std::shared_ptr<const double> values = {};
};

/// The heads of the parts of a contribution message, and the versions of their items.
struct ContributionParts {
    std::vector<PartHead> heads;
    std::vector<std::vector<Version>> versions;
};

/// The values of the contributions that have come, each by its handle: views of messages or of
/// shared memory; or they lie at their node. Local.
class ArrivedValues {
public:
    /// @param membership, memory  must outlive this object
    /// @param compressor          of contributions; null: they come whole
    ArrivedValues(const Membership& membership, CoordinatorMemory& memory, Wire wire,
                  std::shared_ptr<const Compressor> compressor, Precision precision)
        : membership_(membership), memory_(memory), wire_(wire), compressor_(std::move(compressor)),
          precision_(precision)
    {
    }

    /// Counts a message that has come, and takes hold of the values that it names. To be called at
    /// once, so that a message that is dropped gives them back. The result must not outlive this
    /// object.
    ArrivedMessage claim(transport::Message message);
    /// Takes the contributions of a message of a worker. Those for a shard before have no values.
    /// @return the contributions; when they were sent and arrived is left to the caller
    std::vector<Arrival> unpack(const ArrivedMessage& message);
    /// As Fleet::adopt().
    std::size_t adopt(Worker worker, const Values& values);
    /// As Fleet::values(). @throws std::logic_error if they are not here
    Values values(std::size_t handle) const;
    Losses losses(std::size_t handle) const { return contributions_.at(handle).losses; }
    /// Frees the values.
    void release(std::size_t handle);
    /// Whether the values lie at their node.
    bool is_at_node(std::size_t handle) const { return contributions_.at(handle).block != 0; }
    /// A contribution as the owners of shares are told of it.
    EngineEvent::Came came(const Arrival& arrival) const;
    /// A contribution as a term of a sum that a leader forms.
    Leaders::Term term(const Weighted& of) const;

    /// Contributions at their nodes that nobody here needs any more. Messages and contributions add
    /// to it when they end.
    std::vector<KeptBlock>& released() { return released_; }
    /// Bytes of all claimed messages, and those read in shared memory as if they had travelled.
    std::int64_t bytes_received() const { return bytes_received_; }
    void restart_count() { bytes_received_ = 0; }

private:
    struct Contribution {
        std::shared_ptr<const void> owner;
        Packed packed;
        std::vector<double> adopted;  // the values, if they came by adopt() and not in a message
        Touched of = {};              // the shard it was made for; no support: it has no values
        Losses losses = {};
        // Where it lies at its node: numbers first..first+length-1 of this block; 0: it does not.
        std::int64_t block = 0, first = 0, length = 0;
    };

    std::int64_t travelling(const ContributionParts& parts) const;
    std::shared_ptr<const NumberVector> expanded(MessageReader& in, const ContributionParts& parts,
                                                 std::size_t size) const;

    const Membership& membership_;
    CoordinatorMemory& memory_;
    Wire wire_;
    std::shared_ptr<const Compressor> compressor_;
    Precision precision_;  // of what lies in shared memory
    std::vector<KeptBlock> released_;
    Numbered<Contribution> contributions_;
    std::int64_t bytes_received_ = 0;
};

}  // namespace quorate
