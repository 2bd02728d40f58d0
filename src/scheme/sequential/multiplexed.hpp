// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>

#include "scheme/placement.hpp"
#include "scheme/sequential/sequential.hpp"

namespace quorate {

/// M-SGC. For each job a worker computes W - 1 chunks of its own, one in each exchange. In the B
/// exchanges after these it computes what it has missed, or else coded sums over groups of chunks;
/// each group tolerates lambda stragglers. T = W - 2 + B; the load is at most about twice that of
/// an uncoded job.
///
/// The data are cut into n (W - 1) own chunks of lambda + 1 units, and behind them B groups of n
/// chunks of one unit. With lambda = n there are own chunks only.
/// Krishnan, Ebrahimi, Khisti, "Sequential Gradient Coding for Straggler Mitigation", ICLR 2023.
class Multiplexed final : public SequentialCode {
public:
    /// @param code  of lambda stragglers over n chunks, one part a worker; lambda = n: unused
    Multiplexed(const Problem& problem, GradientCode code, const Bursty& model);

    int delay() const override { return model_.window - 2 + model_.burst; }
    Bursty tolerates() const override { return model_; }
    Needs needs() const override;
    void begin(std::int64_t exchange) override;
    Task task(Worker worker) override;
    void receive(Worker worker, const std::vector<ContributionId>& ids) override;
    bool decodes() override;
    std::optional<Gradient> gradient(Job job) override;
    void forget(Job) override { jobs_.pop_front(); }

    /// How many units the data are cut into. With at least as many rows no chunk is empty.
    static std::int64_t units(int workers, const Bursty& model);

private:
    // What a worker does for one job in one exchange: a chunk of its own, or a group's coded sum.
    struct MiniTask {
        Job job;
        int chunk;  // -1: a coded sum
        int group;
    };
    struct State {
        Results own;                     // by worker and chunk
        std::vector<Results> coded;      // by group
        std::vector<Decoding> decoding;  // of each group, once it is decoded
        std::int64_t own_missing;
        int groups_missing;
        bool complete() const { return own_missing == 0 && groups_missing == 0; }
    };
    bool coded() const { return model_.workers < problem_.workers; }
    bool has(Job job) const { return exchange_ - job < std::ssize(jobs_); }
    State& state(Job job) { return jobs_[std::ssize(jobs_) - 1 - (exchange_ - job)]; }
    std::vector<MiniTask> mini_tasks_for(Worker worker);
    std::shared_ptr<const Plan> plan_for(Worker worker, const std::vector<MiniTask>& mini_tasks);
    bool decode_group(State& state, int group);

    Problem problem_;
    GradientCode code_;
    Bursty model_;
    int chunks_;  // W - 1, of each worker
    std::vector<Plans>
        usual_;  // by worker: plans with nothing to make up for, by how many exchanges have begun
    std::int64_t exchange_ = -1;
    std::deque<State> jobs_;                         // jobs that are not forgotten, the newest last
    std::vector<std::vector<MiniTask>> mini_tasks_;  // of each worker in the running exchange
};

}  // namespace quorate
