// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/share_owner.hpp"

#include <utility>

namespace quorate {

ShareOwner::ShareOwner(const OwnShare& own, Ownership ownership, transport::Endpoint& endpoint)
    : endpoint_(endpoint), relay_([&endpoint] { endpoint.interrupt(); }),
      thread_([this, &own, ownership = std::move(ownership)] {
          try {
              own(ownership, relay_);
          } catch (const transport::Closed&) {
          } catch (...) {
              error_ = std::current_exception();
              failed_ = true;
          }
      })
{
}

ShareOwner::~ShareOwner() { relay_.close(); }

bool ShareOwner::wants(transport::Tag tag)
{
    return tag == transport::Tag::own || tag == transport::Tag::event ||
           tag == transport::Tag::point_slice || tag == transport::Tag::sum_slice ||
           tag == transport::Tag::block_sums || tag == transport::Tag::past ||
           tag == transport::Tag::adopted || tag == transport::Tag::slice_wanted;
}

void ShareOwner::pass_on(const std::function<void(const transport::Message&)>& own)
{
    if (failed_.exchange(false)) std::rethrow_exception(error_);
    const bool any =
        relay_.pass_on([&](int to, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes) {
            if (to == endpoint_.rank())
                own({std::move(bytes), to, tag});
            else
                endpoint_.send(to, tag, std::move(bytes));
        });
    if (any) endpoint_.ring();
}

}  // namespace quorate
