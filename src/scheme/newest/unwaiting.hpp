// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "scheme/newest/schemes.hpp"

namespace quorate {

/// K-batch-async whose workers never wait for a message: each takes batch after batch at the point
/// that it has, and the newest one that has reached it when it begins a batch. Every K batches, of
/// whatever workers, make an update, whose point goes to all. Source: Async-FMB in the code of
/// Al-Lawati and Draper, arXiv 2012.08616.
/// @param collect  K  @param note  for the user, when the run begins; empty: none
std::unique_ptr<Scheme> unwaiting(const KBatchAsyncOptions& given, const Problem& problem,
                                  int collect, std::string note);

}  // namespace quorate
