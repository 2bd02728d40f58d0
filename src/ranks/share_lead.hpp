// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranks/arrived_values.hpp"
#include "ranks/host_share.hpp"
#include "ranks/whole_vectors.hpp"

namespace quorate {

/// Encodes what a run goes on from, for the owner of parameters `first` to `last` - 1.
using TellPast =
    std::function<std::shared_ptr<transport::Bytes>(std::size_t first, std::size_t last)>;

/// What the coordinator does where several hosts have shares of the parameters: it deals the
/// shares, tells the owners what its own engine is told, and owns share 0 for its own host. Never
/// waits. Local.
class ShareLead {
public:
    /// @param mailbox, membership, values  must outlive this object
    ShareLead(CoordinatorMailbox& mailbox, const Membership& membership,
              const ArrivedValues& values, std::int64_t parameters, Wire wire, Precision precision)
        : mailbox_(mailbox), membership_(membership), values_(values), parameters_(parameters),
          wire_(wire), precision_(precision)
    {
    }

    /// Asks the workers of each other host whether they can read what the others of it write.
    /// @param contributions  for each rank but 0, where it writes them
    /// @throws BadInput if a worker shares no memory; take() does if one cannot read the others'
    void ask_to_meet(std::span<const SharedAddress> contributions);
    /// Cuts the parameters into shares, and deals them: to this process and to a worker of each
    /// other host. When all have answered ask_to_meet().
    /// @param step  --step, as it was chosen
    /// @param past  tells an owner what the run goes on from; none: the run begins
    /// @throws BadInput if there are too few parameters
    void deal(const std::string& step, const TellPast& past);
    /// The code was made again, and workers have loaded what it says: tells the owners.
    void reencode();
    /// Whether some rank has not answered what it was asked last.
    bool is_waiting() const { return !unanswered_.empty(); }
    /// Takes a message. @return whether it was for this object
    bool take(transport::Message& message);
    /// @throws LostShare if the worker owns a share and the run goes on, because nobody else has
    ///         its slices
    void check_owner(Worker worker) const;
    /// The run is over, however it has ended: owners may end.
    void let_go()
    {
        over_ = true;
        if (whole_) whole_->clear();
    }

    /// Whether deal() was called.
    bool present() const { return share_.has_value(); }
    HostShare& share() { return *share_; }
    const HostShare& share() const { return *share_; }
    int groups() const { return share_->groups(); }
    const Shares& shares() const { return dealt_; }

    /// Tells the other owners what the coordinator's fleet has told its engine: two of them, who
    /// hand it on.
    void tell(const EngineEvent& event);
    void tell_arrivals(std::span<const Arrival> arrivals, Seconds now);
    /// Tells them of a contribution of the run before, whose values this process has.
    void tell_adopted(Worker worker, const Values& values);

    /// Makes the sink that joins models. @param make_room  as ModelsInSlices has it
    trace::Sink& join_models(trace::Record& record, std::function<void()> make_room);
    /// Joins a checkpoint's vectors. @param slices  the coordinator's
    void join(const std::vector<StateVector>& slices, const TakePiece& take, Seconds now);
    /// Joins the final models, and tells the owners of the end.
    void end(std::span<const ConstNumbers> models, trace::Record& record, Seconds now);
    /// What is being joined. After join_models().
    WholeVectors& whole() { return *whole_; }
    /// Asks for slices, and hands on what has come.
    void go_on()
    {
        if (whole_) whole_->go_on();
    }

private:
    [[noreturn]] void refuse(Worker worker, const std::string& why) const;
    void check_group(Worker worker) const;
    Ownership ownership(std::size_t share) const;
    void ask(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);

    CoordinatorMailbox& mailbox_;
    const Membership& membership_;
    const ArrivedValues& values_;
    std::int64_t parameters_;
    Wire wire_;
    Precision precision_;
    std::vector<std::vector<Peer>> peers_;  // of each group: its workers; none on this host
    Shares dealt_;
    std::string step_;
    std::vector<int> unanswered_;  // ranks
    std::optional<HostShare> share_;
    std::optional<WholeVectors> whole_;
    std::optional<ModelsInSlices> models_;
    std::int64_t joins_ = 0;  // checkpoints so far
    bool over_ = false;
};

}  // namespace quorate
