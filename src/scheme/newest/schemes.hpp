// SPDX-License-Identifier: BSD-2-Clause
// The options of the schemes whose workers compute batch after batch of their own rows. Each member
// is the option of its name.
#pragma once

#include <optional>

#include "scheme/scheme.hpp"

namespace quorate {

/// The weight of a contribution of staleness T: 1, 1 / (1 + T), or N / max(N, T).
enum class StalenessScale { none, inverse, adaptive };
/// A limit of the time of tasks that follows from the workers' last times.
inline constexpr Seconds limit_by_times = -1;

struct KAsyncOptions {
    std::optional<int> collect = {};
    std::optional<std::int64_t> staleness_cap = {};
    StalenessScale staleness_scale = StalenessScale::none;
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<KAsyncOptions> entry();
};

struct KBatchAsyncOptions {
    std::optional<int> collect = {};
    bool keep_going = false;
    std::optional<std::int64_t> staleness_cap = {};
    StalenessScale staleness_scale = StalenessScale::none;
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<KBatchAsyncOptions> entry();
};

struct AsyncOptions {
    std::optional<std::int64_t> staleness_cap = {};
    StalenessScale staleness_scale = StalenessScale::none;
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<AsyncOptions> entry();
};

struct RingmasterOptions {
    std::optional<std::int64_t> staleness_cap = {};
    bool stop_stale = false;
    StalenessScale staleness_scale = StalenessScale::none;
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<RingmasterOptions> entry();
};

struct AsyncLocalOptions {
    std::optional<int> collect = {};
    std::int64_t local_steps = 10;
    double outer_step = 1;
    std::optional<std::int64_t> staleness_cap = {};
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<AsyncLocalOptions> entry();
};

struct LocalSgdOptions {
    std::optional<int> total = {};
    std::int64_t local_steps = 10;
    double outer_step = 1;
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<LocalSgdOptions> entry();
};

struct KBatchSyncOptions {
    std::optional<int> collect = {};
    std::optional<Seconds> restart_after = {};
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<KBatchSyncOptions> entry();
};

struct MaleniaOptions {
    enum class UpdateAt { mean, each };
    std::optional<double> noise = {}, target_gradient = {};
    std::optional<int> collect = {};
    int most = 16;
    UpdateAt update_at = UpdateAt::mean;
    static SchemeEntry<MaleniaOptions> entry();
};

struct MindFlayerOptions {
    enum class Estimator { ratio, expected };
    std::optional<int> collect = {};
    std::optional<Seconds> restart_after = {};
    std::optional<int> trials = {};
    Estimator estimator = Estimator::ratio;
    std::optional<double> success = {}, lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<MindFlayerOptions> entry();
};

struct AtaOptions {
    std::optional<int> tasks = {};
    double exploration = 0.2;
    static SchemeEntry<AtaOptions> entry();
};

struct RingleaderOptions {
    enum class Points { once, newest };
    int most = 16;
    Points points = Points::once;
    std::optional<double> lipschitz = {}, noise = {}, target_gradient = {};
    static SchemeEntry<RingleaderOptions> entry();
};

struct Ia2sgdOptions {
    static SchemeEntry<Ia2sgdOptions> entry();
};

}  // namespace quorate
