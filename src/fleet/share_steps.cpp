// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/share_steps.hpp"

#include <utility>

#include "fleet/shares.hpp"

namespace quorate {

ShareSteps::ShareSteps(const std::vector<std::int64_t>& bounds,
                       std::vector<std::vector<std::int64_t>> of_points, std::int64_t header_bytes)
    : header_bytes_(header_bytes), of_points_(std::move(of_points)), hosts_(of_points_.size()),
      owners_(static_cast<int>(bounds.size()) - 1)
{
    constexpr std::int64_t of_a_sum = 8;
    for (std::size_t share = 0; share + 1 < bounds.size(); ++share) {
        const auto parameters = bounds[share + 1] - bounds[share];
        of_reports_.push_back(of_a_sum * ((parameters + share_block - 1) / share_block));
    }
}

ShareSteps::Messages ShareSteps::tell(std::int64_t bytes)
{
    for (int host = 1; host < hosts(); ++host) ++at(host).untold;
    Messages next;
    tell_others({Kind::told, 0, 0, step_, header_bytes_ + bytes}, next);
    return next;
}

// A host hands on what it was told.
void ShareSteps::tell_others(const Message& by, Messages& next) const
{
    for (const int host : told_by(by.to, hosts()))
        next.push_back({Kind::told, by.to, host, by.step, by.bytes});
}

ShareSteps::Messages ShareSteps::begin(std::vector<Used> used)
{
    ++step_;
    reports_ = owners_;
    int senders = 0;
    for (const auto& one : used) senders += !one.bytes.empty();
    for (int host = 0; host < hosts(); ++host) {
        auto& to = at(host);
        to.used = std::move(used[static_cast<std::size_t>(host)]);
        to.knows = false;
        to.sums = 1 + senders;
        const int from_coordinator = host > 0;
        to.missing.push_back(owners_ - (host < owners_) + from_coordinator);
        drop_complete(to);
    }
    Messages next;
    for (int host = 0; host < hosts(); ++host)
        if (at(host).untold == 0) know(host, next);
    return next;
}

// A host knows the step, and adds up.
void ShareSteps::know(int host, Messages& next)
{
    auto& one = at(host);
    if (std::exchange(one.knows, true)) return;
    if (!one.used.bytes.empty())
        next.push_back({Kind::added, host, host, step_, 0, one.used.adding});
    add_to_share(host, next);
}

// Something that the owner of a share waits for is there. With the last of it the share is updated.
void ShareSteps::add_to_share(int owner, Messages& next)
{
    if (owner >= owners_ || --at(owner).sums > 0) return;
    const auto share = static_cast<std::size_t>(owner);
    if (owner == 0)
        --reports_;
    else
        next.push_back({Kind::report, owner, 0, step_, header_bytes_ + of_reports_[share]});
    for (int host = 0; host < hosts(); ++host)
        if (host != owner)
            next.push_back({Kind::point, owner, host, step_,
                            header_bytes_ + of_points_[static_cast<std::size_t>(host)][share]});
}

ShareSteps::Messages ShareSteps::receive(const Message& message)
{
    Messages next;
    switch (message.kind) {
        case Kind::told:
            tell_others(message, next);
            if (--at(message.to).untold == 0 && !is_over()) know(message.to, next);
            break;
        case Kind::added:
            for (int owner = 0; owner < owners_; ++owner)
                if (owner != message.to)
                    next.push_back(
                        {Kind::sum, message.to, owner, message.step,
                         header_bytes_ +
                             at(message.to).used.bytes[static_cast<std::size_t>(owner)]});
            add_to_share(message.to, next);
            break;
        case Kind::sum: add_to_share(message.to, next); break;
        case Kind::report: --reports_; break;
        case Kind::point:
        case Kind::ended: note_point(message.to, message.step); break;
    }
    return next;
}

ShareSteps::Messages ShareSteps::end()
{
    Messages next;
    for (int host = 1; host < hosts(); ++host)
        next.push_back({Kind::ended, 0, host, step_, header_bytes_});
    return next;
}

void ShareSteps::note_point(int host, std::int64_t step)
{
    auto& to = at(host);
    --to.missing[static_cast<std::size_t>(step - to.first)];
    drop_complete(to);
}

void ShareSteps::drop_complete(Host& host)
{
    for (; !host.missing.empty() && host.missing.front() == 0; ++host.first)
        host.missing.pop_front();
}

}  // namespace quorate
