// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/products/coded_product.hpp"

#include <algorithm>

#include "code/storage_code.hpp"

namespace quorate {

std::optional<CodedProduct::Requests> CodedProduct::begin(const Allocation& shares,
                                                          const std::set<Worker>& working)
{
    shares_ = shares;
    tasks_.clear();
    answers_.assign(shares_.size(), {});
    incomplete_ = shares_.size();
    Requests requests;
    for (std::size_t share = 0; share < shares_.size(); ++share)
        for (const auto worker : shares_[share].machines)
            if (working.contains(worker)) {
                answers_[share].asked.push_back(worker);
                requests[worker].push_back(share);
            }
    if (!complete(requests, working)) return std::nullopt;
    return requests;
}

std::optional<CodedProduct::Requests> CodedProduct::lose(Worker lost,
                                                         const std::set<Worker>& working)
{
    for (auto& answers : answers_) std::erase(answers.asked, lost);
    Requests requests;
    if (!complete(requests, working)) return std::nullopt;
    return requests;
}

// Asks further machines for the shares that cannot get L answers any more: machines that were not
// asked for them, and that got the fewest rows here. @return false if there are too few machines
bool CodedProduct::complete(Requests& requests, const std::set<Worker>& working)
{
    std::map<Worker, std::int64_t> extra;
    for (std::size_t share = 0; share < answers_.size(); ++share) {
        auto& [asked, come] = answers_[share];
        const auto has_come = [&come = come](Worker worker) {
            return std::ranges::find(come, worker, &Answers::One::worker) != come.end();
        };
        auto missing = code_->blocks() - std::ssize(come);
        for (const auto worker : asked) missing -= !has_come(worker);
        for (; missing > 0; --missing) {
            std::optional<Worker> best;
            for (const auto worker : working)
                if (std::ranges::find(asked, worker) == asked.end() && !has_come(worker) &&
                    (!best || extra[worker] < extra[*best]))
                    best = worker;
            if (!best) return false;
            extra[*best] += shares_[share].count;
            requests[*best].push_back(share);
            asked.push_back(*best);
        }
    }
    return true;
}

std::shared_ptr<const Plan> CodedProduct::plan(TaskId task, Worker worker,
                                               const std::vector<std::size_t>& shares)
{
    // A task has several parts, so that what a slow machine has done counts. But a part for each
    // share would make too many messages.
    constexpr std::size_t most_parts = 8;
    const auto parts = std::min(most_parts, shares.size());
    auto plan = std::make_shared<Plan>();
    plan->each_when_ready = true;
    auto& asked = tasks_[task];
    for (std::size_t part = 0; part < parts; ++part) {
        plan->parts.emplace_back();
        asked.emplace_back();
        for (auto i = shares.size() * part / parts; i < shares.size() * (part + 1) / parts; ++i) {
            const auto& share = shares_[shares[i]];
            plan->parts.back().items.push_back(
                {.block = worker,
                 .input = operation_ == Item::Operation::product ? 0 : 1,
                 .operation = operation_,
                 .rows = {share.first, share.count}});
            asked.back().push_back(shares[i]);
        }
    }
    return plan;
}

bool CodedProduct::receive(const Contribution& one)
{
    std::int64_t row = 0;
    for (const auto share : tasks_.at(one.task)[one.part]) {
        auto& come = answers_[share].come;
        if (std::ssize(come) < code_->blocks()) {
            const auto at = std::ranges::lower_bound(come, one.worker, {}, &Answers::One::worker);
            come.insert(at, {one.worker, one.id, row});
            if (std::ssize(come) == code_->blocks()) --incomplete_;
        }
        row += shares_[share].count;
    }
    return incomplete_ == 0;
}

std::vector<int> CodedProduct::machines(std::size_t share) const
{
    std::vector<int> some;
    for (const auto& one : answers_[share].come) some.push_back(one.worker);
    return some;
}

double CodedProduct::condition() const
{
    double worst = 1;
    for (std::size_t share = 0; share < answers_.size(); ++share)
        worst = std::max(worst, code_->decoding(machines(share)).condition);
    return worst;
}

std::vector<Placed> CodedProduct::decoded() const
{
    std::vector<Placed> all;
    for (std::size_t s = 0; s < answers_.size(); ++s) {
        const auto& inverse = code_->decoding(machines(s)).inverse;
        const auto& come = answers_[s].come;
        for (std::size_t m = 0; m < come.size(); ++m)
            for (int block = 0; block < code_->blocks(); ++block)
                if (const double weight = inverse(block, static_cast<Eigen::Index>(m)); weight != 0)
                    all.push_back({come[m].id,
                                   weight,
                                   {come[m].row, shares_[s].count},
                                   block * height_ + shares_[s].first});
    }
    return all;
}

}  // namespace quorate
