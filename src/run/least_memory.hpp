// SPDX-License-Identifier: BSD-2-Clause
// What a run takes of memory at least, known before it has read a row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quorate {

struct Training;

/// The memory of the host of a rank.
struct RankMemory {
    std::string host;
    std::int64_t free;  // bytes that the rank may take
};

/// Refuses a run for which a host has too little memory, and says what the ranks take if that is
/// more than a tenth of what is free on some host. Coordinator only.
/// @param ranks  all of them, the coordinator first
/// @throws BadInput with the host and the bytes
void check_memory(const Training& training, const std::vector<RankMemory>& ranks);

/// The same for a process that simulates all ranks. @throws BadInput with the bytes
void check_memory_of_simulation(const Training& training);

}  // namespace quorate
