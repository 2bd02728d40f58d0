// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ranks/share_owner.hpp"
#include "run/resumption.hpp"
#include "run/training.hpp"

namespace quorate {

/// Checks that hosts can have shares of the parameters in such a run, if --aggregate wants it.
/// @throws BadInput if not
void check_shares(const Training& training);

/// Encodes what a run goes on from, for the owner of a share.
/// @param resumed  of all parameters
std::shared_ptr<transport::Bytes> encode(const Resumption& resumed, const ShareRange& share,
                                         transport::Pool& pool);

/// The part of a worker's rank that owns a share: an engine that does what the coordinator's does,
/// on its share of all vectors, until the coordinator ends the run.
/// @param ranks  of the run
/// @throws transport::Closed if the rank ends before  @throws as Engine::run()
void own_share(Training& training, const Ownership& ownership, transport::Relay& relay, int ranks);

}  // namespace quorate
