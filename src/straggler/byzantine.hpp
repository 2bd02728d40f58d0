// SPDX-License-Identifier: BSD-2-Clause
// Injected Byzantine workers, for tests: they send something else than what they computed. Pure
// mathematics: no MPI, no clock, no files.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "base/numbers.hpp"
#include "base/settings.hpp"

namespace quorate {

/// The workers of which every contribution is corrupted. Local.
class ByzantineWorkers {
public:
    enum class Kind {
        random,
        sign_flip,
        nan,
        // These know what honest workers send, as no worker of a cluster does: the coordinator acts
        // for them.
        alie,
        ipm,
        mimic
    };

    /// No worker is Byzantine.
    ByzantineWorkers() = default;
    /// @param seed    of the random payloads
    /// @param number  of alie and ipm their factor, of mimic the worker; none: 1.5, 2, the first
    ByzantineWorkers(Kind kind, std::set<int> workers, std::uint64_t seed,
                     std::optional<double> number = {})
        : kind_(kind), workers_(std::move(workers)), seed_(seed), number_(number)
    {
    }

    bool contains(int worker) const { return workers_.contains(worker); }
    /// Replaces the payload of a Byzantine worker, as its kind says: by normal numbers whose
    /// standard deviation is the payload's root mean square + 1, by the payload with the other
    /// sign, or by NaN. The payloads of honest workers stay as they are, and so do those of workers
    /// that collude. O(payload).
    /// @param draw, part  key the random numbers
    void corrupt(int worker, std::int64_t draw, int part, Numbers payload) const;

    /// Whether they make what they send of what honest workers send.
    bool collude() const { return !workers_.empty() && kind_ >= Kind::alie; }
    /// Replaces the columns of those that collude. With mean mu and standard deviation sigma of the
    /// honest columns, each row by itself: alie sends mu + z sigma (Baruch, Baruch, Goldberg, "A
    /// Little Is Enough", NeurIPS 2019), ipm sends -epsilon mu (Xie, Koyejo, Gupta, "Fall of
    /// Empires", UAI 2019), mimic the column of one honest worker (Karimireddy, He, Jaggi, ICLR
    /// 2022). Without an honest column all stay as they are. O(elements).
    /// @param of       the worker of each column
    /// @param columns  one behind the other
    void collude(std::span<const int> of, std::span<double> columns) const;

private:
    Kind kind_ = Kind::random;
    std::set<int> workers_;
    std::uint64_t seed_ = 0;
    std::optional<double> number_;
};

/// The option --byzantine KIND[=NUMBER]:WORKER,...
Option byzantine_option();
/// Reads --byzantine; without the option no worker is Byzantine.
/// @param workers  how many there are
/// @throws BadInput if the value has another form, or names a worker twice or one that is not there
ByzantineWorkers byzantine_workers(const Settings& settings, std::uint64_t seed, int workers);

}  // namespace quorate
