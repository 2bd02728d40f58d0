// SPDX-License-Identifier: BSD-2-Clause
// Vectors that are cut into shares, each held by a thread, against the whole ones: the same bits.
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cmath>
#include <mutex>
#include <thread>

#include "engine/estimates.hpp"
#include "held_fleet.hpp"
#include "optimizer/optimizer.hpp"
#include "run/stopping.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;

constexpr std::size_t parameters = 2 * sum_block + 1000;
// Where shares begin and end.
const std::vector<std::vector<std::size_t>> cuts = {{0, sum_block, parameters},
                                                    {0, sum_block, 2 * sum_block, parameters}};

// Adds up the sums of blocks of threads that each have a share.
class Exchange {
public:
    explicit Exchange(std::size_t shares)
        : given_(shares), all_here_(static_cast<std::ptrdiff_t>(shares))
    {
    }
    void sum(std::size_t share, std::span<const double> blocks, std::span<double> sums)
    {
        given_[share] = blocks;
        all_here_.arrive_and_wait();
        Reals all;
        for (const auto& one : given_) all.insert(all.end(), one.begin(), one.end());
        sum_blocks(all, sums);
        all_here_.arrive_and_wait();
        if (share == 0) ++calls_;
    }
    // Nobody waits for this share any more.
    void leave() { all_here_.arrive_and_drop(); }
    int calls() const { return calls_; }

private:
    std::vector<std::span<const double>> given_;
    std::barrier<> all_here_;
    int calls_ = 0;
};

// Calls f(share, first, last, exchange) in a thread for each share. @return calls of the exchange
template <class F>
int in_shares(const std::vector<std::size_t>& bounds, F f)
{
    Exchange exchange(bounds.size() - 1);
    std::vector<std::jthread> threads;
    for (std::size_t share = 0; share + 1 < bounds.size(); ++share)
        threads.emplace_back([&, share] {
            f(share, bounds[share], bounds[share + 1], exchange);
            exchange.leave();
        });
    threads.clear();
    return exchange.calls();
}

Reals slice(std::span<const double> whole, std::size_t first, std::size_t last)
{
    const auto part = whole.subspan(first, last - first);
    return {part.begin(), part.end()};
}

// What an optimiser of all parameters got and returned.
struct MadeUpdate {
    double loss;
    Reals estimate, next, model;
};

std::unique_ptr<Optimizer> make(const Entry<MakeOptimizer>& entry, Reals initial,
                                const Regularizer& regularizer)
{
    auto settings = test::settings(entry.options, {});
    if (entry.name == "dual-averaging") settings.set("radius", {"3", "", true});
    return entry.make(settings, std::move(initial), regularizer);
}

// Minimises sum_j lambda_j (w_j - c_j)^2 / 2 of parameters of very different curvature.
std::vector<MadeUpdate> minimised(Optimizer& optimizer, Reals point)
{
    std::vector<MadeUpdate> updates;
    for (int round = 0; round < 15; ++round) {
        auto& one = updates.emplace_back();
        for (std::size_t j = 0; j < parameters; ++j) {
            const auto x = static_cast<double>(j);
            const double curvature = 0.01 + std::pow(std::sin(x), 2), off = point[j] - std::cos(x);
            one.loss += curvature * off * off / 2;
            one.estimate.push_back(curvature * off);
        }
        optimizer.tell_loss(one.loss);
        optimizer.update(one.estimate, 0.5, point);
        one.next = point;
        one.model = optimizer.model().doubles();
    }
    return updates;
}

class OptimizersInShares : public testing::TestWithParam<Regularizer> {};

TEST_P(OptimizersInShares, HaveTheBitsOfTheWhole)
{
    const Reals initial(parameters, 0.1);
    for (const auto& entry : optimizers()) {
        ASSERT_TRUE(entry.properties.shares) << entry.name;
        const auto whole = make(entry, initial, GetParam());
        const auto updates = minimised(*whole, initial);
        for (const auto& bounds : cuts) {
            std::mutex mutex;
            std::vector<std::string> wrong;
            const auto calls = in_shares(bounds, [&](auto share, auto first, auto last, auto& all) {
                const auto one = make(entry, slice(initial, first, last), GetParam());
                one->use_sums([&](auto blocks, auto sums) { all.sum(share, blocks, sums); });
                Reals next = slice(initial, first, last);
                for (std::size_t i = 0; i < updates.size(); ++i) {
                    const auto& [loss, estimate, point, model] = updates[i];
                    one->tell_loss(loss);
                    one->update(slice(estimate, first, last), 0.5, next);
                    if (next != slice(point, first, last) ||
                        one->model().doubles() != slice(model, first, last)) {
                        const std::lock_guard lock(mutex);
                        wrong.push_back(entry.name + " in update " + std::to_string(i));
                        break;
                    }
                }
                EXPECT_EQ(one->exhausted(), whole->exhausted());
            });
            EXPECT_EQ(wrong, std::vector<std::string>());
            const bool has_scalars = entry.name == "lbfgs" || entry.name == "dual-averaging";
            EXPECT_EQ(calls > 0, has_scalars) << entry.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Regularizers, OptimizersInShares,
                         testing::Values(Regularizer{}, Regularizer{.l2 = 0.01},
                                         Regularizer{.l2 = 0.01, .l1 = 0.02}));

TEST(RegularizerInShares, HasTheBitsOfTheWhole)
{
    const Regularizer regularizer{.l2 = 0.3, .l1 = 0.7};
    Reals w(parameters);
    for (std::size_t j = 0; j < parameters; ++j) w[j] = std::sin(static_cast<double>(j));
    const auto value = regularizer.value(w);
    for (const auto& bounds : cuts)
        in_shares(bounds, [&](auto share, auto first, auto last, auto& all) {
            EXPECT_EQ(value, regularizer.value(slice(w, first, last), [&](auto blocks, auto sums) {
                all.sum(share, blocks, sums);
            }));
        });
}

TEST(StoppingInShares, MeasuresTheWholeGradient)
{
    Reals w(parameters), estimate(parameters);
    for (std::size_t j = 0; j < parameters; ++j) {
        w[j] = std::sin(static_cast<double>(j));
        estimate[j] = std::cos(static_cast<double>(j));
    }
    const auto why = [](const Reals& at, const Reals& of, SumBlocks sums) {
        Stopping stopping({.rules = {{StopRule::Of::gradient, 1e9}, {StopRule::Of::gap, 1e9}}},
                          {.l2 = 0.3}, std::move(sums));
        const Point point = std::make_shared<NumberVector>(ConstNumbers(at));
        EXPECT_TRUE(stopping.done({10, 1e9, 0.1, of, point}));
        return stopping.why();
    };
    const auto whole = why(w, estimate, sum_blocks);
    for (const auto& bounds : cuts)
        in_shares(bounds, [&](auto share, auto first, auto last, auto& all) {
            EXPECT_EQ(whole, why(slice(w, first, last), slice(estimate, first, last),
                                 [&](auto blocks, auto sums) { all.sum(share, blocks, sums); }));
        });
}

// Contributions of four workers in two groups, at the parameters first..last-1.
class ShareFleet final : public test::HeldFleet {
public:
    ShareFleet(Precision precision, std::size_t first, std::size_t last,
               SumBlocks sums = sum_blocks)
        : sums_(std::move(sums))
    {
        for (int worker = 0; worker < 4; ++worker) {
            const int every = worker == 1 ? 3 : 1;  // parameters that it touches
            std::vector<Index> chosen;
            Reals packed;
            for (auto j = first; j < last; ++j)
                if (j % static_cast<std::size_t>(every) == 0) {
                    chosen.push_back(static_cast<Index>(j - first));
                    packed.push_back(std::sin(static_cast<double>(j) * (worker + 1)));
                }
            add(Support::of(static_cast<Index>(last - first), std::move(chosen)),
                NumberVector(packed, precision), worker / 2);
        }
    }
    void sum_of_blocks(std::span<const double> blocks, std::span<double> sums, bool) override
    {
        sums_(blocks, sums);
    }

private:
    SumBlocks sums_;
};

struct Formed {
    Reals estimate;
    double norm, inner;
};

// The estimates of two steps, which are clipped.
std::array<Formed, 2> formed(Precision precision, std::size_t size, ShareFleet& fleet)
{
    const NumberVector model(size, precision);
    const Points points;
    Needs needs;
    needs.inner_product = true;
    ComputedEstimates estimates({.clip = 0.1}, needs, points, model);
    std::array<Formed, 2> all;
    for (auto& one : all) {
        std::vector<Summand> terms;
        for (std::size_t i = 0; i < 4; ++i)
            terms.push_back({&fleet.arrival(i), &one == &all[0] ? 1.0 : static_cast<double>(i)});
        trace::Round row{};
        estimates.form(needs, fleet, Step{{}, 4, 0}, {}, terms, nullptr, row);
        one = {ConstNumbers(estimates.estimate()).doubles(), row.gradient_norm, row.inner};
    }
    return all;
}

TEST(EstimatesInShares, HaveTheBitsOfTheWhole)
{
    for (const auto precision : {Precision::binary64, Precision::binary32}) {
        ShareFleet all(precision, 0, parameters);
        const auto whole = formed(precision, parameters, all);
        ASSERT_GT(whole[0].norm, 1);
        ASSERT_NE(whole[1].inner, 0);
        for (const auto& bounds : cuts)
            in_shares(bounds, [&](auto share, auto first, auto last, auto& exchange) {
                ShareFleet own(precision, first, last,
                               [&](auto blocks, auto sums) { exchange.sum(share, blocks, sums); });
                const auto part = formed(precision, last - first, own);
                for (std::size_t i = 0; i < 2; ++i) {
                    EXPECT_EQ(part[i].estimate, slice(whole[i].estimate, first, last));
                    EXPECT_EQ(part[i].norm, whole[i].norm);
                    EXPECT_EQ(part[i].inner, whole[i].inner);
                }
            });
    }
}

}  // namespace
}  // namespace quorate
