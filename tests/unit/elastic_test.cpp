// SPDX-License-Identifier: BSD-2-Clause
// Coded storage and the sharing out of rows, against the definitions and formulas of the papers.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "code/allocation.hpp"
#include "code/storage_code.hpp"

namespace {

using namespace quorate;

std::vector<int> first(int n)
{
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<std::vector<int>> subsets(int of, int least)
{
    std::vector<std::vector<int>> all;
    for (unsigned bits = 0; bits < 1U << of; ++bits) {
        std::vector<int> some;
        for (int i = 0; i < of; ++i)
            if (bits >> i & 1U) some.push_back(i);
        if (std::ssize(some) >= least) all.push_back(some);
    }
    return all;
}

// X of q rows in L blocks of `height`, zeros behind the last row.
struct Products {
    Products(const StorageCode& code, std::int64_t q) : code_(code)
    {
        const int blocks = code.blocks();
        height = (q + blocks - 1) / blocks;
        x = Eigen::MatrixXd::Random(height * blocks, 3);
        x.bottomRows(height * blocks - q).setZero();
        w = Eigen::VectorXd::Random(3);
        r = Eigen::VectorXd::Random(height * blocks);
        for (int machine = 0; machine < code.machines(); ++machine) {
            Eigen::MatrixXd stored = Eigen::MatrixXd::Zero(height, 3);
            for (int i = 0; i < blocks; ++i)
                stored += code.coefficient(machine, i) * x.middleRows(i * height, height);
            coded.push_back(stored);
        }
    }
    // The largest error of X w and of X'r, both from the coded rows of that allocation.
    double error(const Allocation& allocation) const
    {
        const int blocks = code_.blocks();
        Eigen::VectorXd z = Eigen::VectorXd::Zero(height * blocks);
        Eigen::VectorXd g = Eigen::VectorXd::Zero(3);
        for (const auto& share : allocation) {
            const std::vector<int> who(share.machines.begin(), share.machines.begin() + blocks);
            const auto& inverse = code_.decoding(who).inverse;
            for (int m = 0; m < blocks; ++m) {
                const auto rows =
                    coded[static_cast<std::size_t>(who[static_cast<std::size_t>(m)])].middleRows(
                        share.first, share.count);
                Eigen::VectorXd operand = Eigen::VectorXd::Zero(share.count);
                for (int i = 0; i < blocks; ++i) {
                    z.segment(i * height + share.first, share.count) += inverse(i, m) * rows * w;
                    operand += inverse(i, m) * r.segment(i * height + share.first, share.count);
                }
                g += rows.transpose() * operand;
            }
        }
        return std::max((z - x * w).cwiseAbs().maxCoeff(),
                        (g - x.transpose() * r).cwiseAbs().maxCoeff());
    }

    std::int64_t height;

private:
    const StorageCode& code_;
    Eigen::MatrixXd x;
    Eigen::VectorXd w, r;
    std::vector<Eigen::MatrixXd> coded;
};

TEST(ElasticTest, EverySetOfEnoughMachinesGivesBothProducts)
{
    for (const auto generator : {Generator::haar, Generator::systematic, Generator::fourier})
        for (int most = 2; most <= 8; ++most)
            for (int blocks = 1; blocks <= most; ++blocks) {
                const StorageCode code(generator, most, blocks, 1);
                const Products products(code, 97);  // no multiple of anything
                for (const auto& there : subsets(most, blocks)) {
                    const auto allocation = cyclic_allocation(products.height, there, blocks);
                    ASSERT_LT(products.error(allocation), 1e-10)
                        << most << " " << blocks << " " << there.size();
                    const auto n = std::ssize(there);
                    for (const int machine : there)
                        ASSERT_LE(rows_of(allocation, machine),
                                  blocks * ((products.height + n - 1) / n));
                }
            }
}

TEST(ElasticTest, OneMachineIsReplacedByAnyLOthers)
{
    const StorageCode code(Generator::haar, 8, 3, 7);
    for (int lost = 0; lost < 8; ++lost)
        for (const auto& others : subsets(8, 3)) {
            if (others.size() != 3 || std::ranges::binary_search(others, lost)) continue;
            const auto c = code.substitution(lost, others);
            for (int i = 0; i < 3; ++i) {
                double sum = 0;
                for (std::size_t m = 0; m < 3; ++m) sum += c[m] * code.coefficient(others[m], i);
                EXPECT_NEAR(sum, code.coefficient(lost, i), 1e-11);
            }
        }
}

TEST(ElasticTest, GeneratorsAreWellConditioned)
{
    // Windows of neighbours in the 1-norm, which is up to L times the 2-norm of the literature's
    // tables.
    EXPECT_LT(StorageCode(Generator::haar, 20, 10, 0).worst_window(), 3e4);
    EXPECT_LT(StorageCode(Generator::haar, 10, 5, 0).worst_window(), 3e3);
    EXPECT_LT(StorageCode(Generator::fourier, 20, 10, 0).worst_window(), 5e3);
    EXPECT_LT(StorageCode(Generator::fourier, 10, 5, 0).worst_window(), 500);
    // Where the first machines are there, nothing needs to be decoded.
    const StorageCode plain(Generator::systematic, 20, 10, 0);
    EXPECT_EQ(plain.decoding(first(10)).condition, 1);
}

std::vector<int> without(std::vector<int> machines, int leaver)
{
    std::erase(machines, leaver);
    return machines;
}

TEST(ElasticTest, TransitionWasteOfWindowsIsThatOfTheFormulas)
{
    for (int n = 4; n <= 12; ++n)
        for (int copies = 1; copies < n - 1; ++copies)
            for (int leaver = 0; leaver < n; ++leaver) {
                const std::int64_t unit = n * (n - 1), rows = unit * 10;
                const auto before = cyclic_allocation(rows, first(n), copies);
                const auto left = without(first(n), leaver);
                const auto plain = cyclic_allocation(rows, left, copies);
                const int rest = n - copies - leaver - 1;
                const int expected = leaver * (leaver - 1) + (rest > 0 ? rest * (rest + 1) : 0);
                EXPECT_EQ(transition_waste(before, plain, left), expected * (rows / unit))
                    << n << " " << copies << " " << leaver;
                auto shift = shift_after_leave(n, leaver, copies);
                shift -= std::floor(shift);
                const auto shifted = cyclic_allocation(rows, left, copies, shift);
                const int gap = n - copies;
                const double best =
                    gap % 2 == 1 ? (gap - 1) * (gap - 1) / 2.0 : gap * (gap - 2) / 2.0;
                EXPECT_NEAR(static_cast<double>(transition_waste(before, shifted, left)),
                            best * static_cast<double>(rows) / static_cast<double>(unit), n)
                    << n << " " << copies << " " << leaver;
            }
}

bool covers(const Allocation& allocation, std::int64_t rows, int copies)
{
    std::int64_t row = 0;
    for (const auto& share : allocation) {
        const std::set<int> who(share.machines.begin(), share.machines.end());
        if (share.first != row || std::ssize(who) != copies || who.size() != share.machines.size())
            return false;
        row += share.count;
    }
    return row == rows;
}

TEST(ElasticTest, FlowWastesNoMoreThanShiftedWindows)
{
    std::mt19937 random(5);
    int steps = 0, wasteful = 0;
    for (int walk = 0; walk < 12; ++walk) {
        const int most = 8 + static_cast<int>(random() % 9);
        const int copies = 2 + static_cast<int>(random() % 4);
        const std::int64_t rows = 20 * most * 3;
        auto there = first(most);
        FlowAllocation flow(rows, there, copies, most);
        double offset = 0;
        auto now = flow.allocation();
        auto shifted = cyclic_allocation(rows, there, copies);
        for (int step = 0; step < 20; ++step) {
            const auto before = now, before_shifted = shifted;
            const bool leaves =
                std::ssize(there) == most || (std::ssize(there) > copies + 1 && random() % 2 == 0);
            std::vector<int> remaining;
            if (leaves) {
                const auto place = static_cast<std::ptrdiff_t>(random() % there.size());
                offset += shift_after_leave(static_cast<int>(there.size()), static_cast<int>(place),
                                            copies);
                flow.leave(there[static_cast<std::size_t>(place)]);
                there.erase(there.begin() + place);
                remaining = there;
            } else {
                int joiner = 0;
                while (std::ranges::binary_search(there, joiner)) ++joiner;
                remaining = there;
                const auto at = there.insert(std::ranges::lower_bound(there, joiner), joiner);
                offset -= shift_after_leave(static_cast<int>(there.size()),
                                            static_cast<int>(at - there.begin()), copies);
                flow.join(joiner);
            }
            offset -= std::floor(offset);
            now = flow.allocation();
            shifted = cyclic_allocation(rows, there, copies, offset);
            ASSERT_TRUE(covers(now, rows, copies));
            ASSERT_TRUE(covers(shifted, rows, copies));
            const auto waste = transition_waste(before, now, remaining);
            // Rounding to rows alone moves a row at each end of a window.
            EXPECT_LE(waste, transition_waste(before_shifted, shifted, remaining) + 2 * most);
            wasteful += waste > 0;
            ++steps;
            const auto n = static_cast<double>(there.size());
            for (const int machine : there)
                EXPECT_LE(static_cast<double>(rows_of(now, machine)),
                          copies * static_cast<double>(rows) / n + 3 * 3);
        }
    }
    EXPECT_LE(wasteful, steps / 20) << steps;
}

TEST(ElasticTest, LoadsBySpeedAreOptimal)
{
    std::mt19937 random(3);
    for (int instance = 0; instance < 500; ++instance) {
        const int n = 2 + static_cast<int>(random() % 10);
        const int copies = 1 + static_cast<int>(random() % static_cast<unsigned>(n));
        std::vector<double> speeds;
        for (int i = 0; i < n; ++i)
            speeds.push_back(0.1 + static_cast<double>(random() % 1000) / 100);
        const auto loads = loads_by_speed(speeds, copies);
        EXPECT_NEAR(std::accumulate(loads.begin(), loads.end(), 0.0), copies, 1e-9);
        double longest = 0;
        for (std::size_t i = 0; i < loads.size(); ++i) {
            EXPECT_LE(loads[i], 1 + 1e-12);
            longest = std::max(longest, loads[i] / speeds[i]);
        }
        // The time in which all together do `copies` of everything, by bisection.
        double low = 0, high = 100;
        for (int i = 0; i < 200; ++i) {
            const double t = (low + high) / 2;
            double sum = 0;
            for (const double speed : speeds) sum += std::min(1.0, t * speed);
            (sum < copies ? low : high) = t;
        }
        EXPECT_NEAR(longest, high, 1e-9);
        const auto allocation = allocation_by_speed(10000, first(n), speeds, copies);
        EXPECT_TRUE(covers(allocation, 10000, copies)) << n << " " << copies;
        EXPECT_LE(std::ssize(allocation), n);
        for (int i = 0; i < n; ++i)
            EXPECT_NEAR(static_cast<double>(rows_of(allocation, i)),
                        10000 * loads[static_cast<std::size_t>(i)], n);
    }
}

}  // namespace
