// SPDX-License-Identifier: BSD-2-Clause
// The options of the schemes that use gradients of earlier rounds again. Each member is the option
// of its name.
#pragma once

#include <optional>

#include "scheme/scheme.hpp"

namespace quorate {

struct PgcFrcOptions {
    /// When a round ends: at so many answers, by default at those of all but the stragglers, or at
    /// one of each group. Who is late is interrupted in the latter case only.
    struct Collect {
        std::optional<int> answers = {};
        bool group = false;
    };
    int stragglers = 1;
    Collect collect = {};
    std::optional<std::int64_t> staleness_cap = {};
    static SchemeEntry<PgcFrcOptions> entry();
};

void read_option(PgcFrcOptions::Collect& collect, const GivenWords& given);
std::string written(const PgcFrcOptions::Collect& collect, const OptionRow&);

struct PgcCyclicOptions {
    enum class Decoder { residue, mds, mu };
    int stragglers = 1;
    std::optional<std::int64_t> staleness_cap = {};
    std::optional<Decoder> decoder = {};
    static SchemeEntry<PgcCyclicOptions> entry();
};

struct DsagOptions {
    enum class Stale { use, drop };
    enum class Estimator { sag, saga };
    enum class Order { cyclic, random };
    enum class Cache { coordinator, worker };
    enum class Balance { off, equal, authors };
    std::optional<int> collect = {}, subpartitions = {};
    double margin = 0.02;
    Stale stale = Stale::use;
    Estimator estimator = Estimator::sag;
    Order order = Order::cyclic;
    std::optional<std::int64_t> staleness_cap = {};
    Cache cache = Cache::coordinator;
    Balance balance = Balance::off;
    static SchemeEntry<DsagOptions> entry();
};

}  // namespace quorate
