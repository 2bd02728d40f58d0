// SPDX-License-Identifier: BSD-2-Clause
#include "code/collect_decoder.hpp"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <memory>

#include "code/linear_algebra.hpp"

namespace quorate {

namespace {

Decoding constant(const std::vector<int>& received, double weight, double scale)
{
    Decoding decoding;
    for (const int worker : received) decoding.weights.push_back({worker, 0, weight});
    decoding.scale = scale;
    return decoding;
}

const Row& row_of(const Encoding& encoding, int worker) { return encoding.rows[worker][0]; }

}  // namespace

const Decoding* CollectDecoder::receive(int worker)
{
    received_.push_back(worker);
    return static_cast<int>(received_.size()) < collect_ ? nullptr : expire();
}

const Decoding* CollectDecoder::expire()
{
    if (received_.empty()) return nullptr;
    std::ranges::sort(received_);
    decoding_ = weigh_(received_);
    decoding_.error = decode_error(encoding_, decoding_.weights, decoding_.scale);
    return &decoding_;
}

GradientCode collecting(Encoding encoding, int collect, Weigh weigh)
{
    auto decoder = std::make_unique<CollectDecoder>(encoding, collect, std::move(weigh));
    return {std::move(encoding), std::move(decoder)};
}

Weigh one_step(const Encoding& encoding)
{
    double sum = 0;
    for (int i = 0; i < encoding.workers(); ++i)
        for (const auto& coefficient : row_of(encoding, i)) sum += coefficient.value;
    const double d = sum / encoding.workers();
    return [k = encoding.partitions, d](const std::vector<int>& received) {
        return constant(received, 1, k / (static_cast<double>(received.size()) * d));
    };
}

Weigh least_squares(const Encoding& encoding)
{
    return [encoding](const std::vector<int>& received) {
        constexpr int small = 400;
        const auto r = static_cast<Eigen::Index>(received.size());
        const Eigen::VectorXd ones = Eigen::VectorXd::Ones(encoding.partitions);
        std::vector<Eigen::Triplet<double>> entries;
        for (Eigen::Index i = 0; i < r; ++i)
            for (const auto& [j, value] : row_of(encoding, received[i]))
                entries.emplace_back(j, i, value);
        Eigen::SparseMatrix<double> b(encoding.partitions, r);
        b.setFromTriplets(entries.begin(), entries.end());
        Eigen::VectorXd a;
        bool solved = false;
        if (encoding.workers() > small) {
            Eigen::LeastSquaresConjugateGradient<Eigen::SparseMatrix<double>> solver(b);
            solver.setTolerance(1e-12);
            a = solver.solve(ones);
            solved = solver.info() == Eigen::Success;
        }
        if (!solved) a = shortest_solution(b, ones);
        Decoding decoding;
        for (Eigen::Index i = 0; i < r; ++i) decoding.weights.push_back({received[i], 0, a[i]});
        return decoding;
    };
}

Weigh design_weights(int d)
{
    return [d](const std::vector<int>& received) {
        return constant(received, 1, d / (d + static_cast<double>(received.size()) - 1));
    };
}

namespace {

// The surviving graph: a forest of breadth-first trees, and for each tree one edge of an odd cycle.
class Graph {
public:
    Graph(const Encoding& encoding, const std::vector<int>& received)
        : adjacent_(encoding.partitions), target_(adjacent_.size()), side_(adjacent_.size(), -1),
          up_(adjacent_.size(), -1), weight_(received.size())
    {
        for (std::size_t e = 0; e < received.size(); ++e) {
            const auto& row = row_of(encoding, received[e]);
            ends_.emplace_back(row[0].partition, row[1].partition);
            for (const auto& [v, value] : row) adjacent_[v].push_back(static_cast<int>(e));
        }
        for (std::size_t v = 0; v < adjacent_.size(); ++v)
            if (side_[v] < 0) solve(static_cast<int>(v));
    }
    const std::vector<double>& weights() const { return weight_; }

private:
    int other(int edge, int v) const
    {
        const auto [a, b] = ends_[edge];
        return a == v ? b : a;
    }

    void solve(int root)
    {
        std::vector<int> order = {root};
        side_[root] = 0;
        int odd = -1;
        int size[2] = {1, 0};
        for (std::size_t at = 0; at < order.size(); ++at) {
            const int v = order[at];
            const int side = side_[v];
            for (const int edge : adjacent_[v]) {
                const auto u = static_cast<std::size_t>(other(edge, v));
                if (side_[u] < 0) {
                    side_[u] = 1 - side;
                    ++size[1 - side];
                    up_[u] = edge;
                    order.push_back(static_cast<int>(u));
                } else if (side_[u] == side) {
                    odd = edge;
                }
            }
        }
        const double skew = static_cast<double>(size[1] - size[0]) / (size[0] + size[1]);
        for (const int v : order) {
            const auto at = static_cast<std::size_t>(v);
            target_[at] = odd >= 0 ? 1 : side_[at] == 0 ? 1 + skew : 1 - skew;
        }
        const double left = settle(order);
        if (odd < 0 || left == 0) return;
        // Half of what the root still lacks goes each way round the odd cycle.
        const bool root_side = side_[ends_[odd].first] == 0;
        weight_[odd] = (root_side ? 1 : -1) * left / 2;
        settle(order);
    }

    // Weights of the tree's edges, from the leaves up. @return what the root still lacks
    double settle(const std::vector<int>& order)
    {
        for (auto at = order.rbegin(); at != order.rend(); ++at) {
            const auto v = static_cast<std::size_t>(*at);
            double lacking = target_[v];
            for (const int edge : adjacent_[v])
                if (edge != up_[v]) lacking -= weight_[edge];
            if (up_[v] < 0) return lacking;
            weight_[up_[v]] = lacking;
        }
        return 0;
    }
    std::vector<std::vector<int>> adjacent_;  // edges of each vertex
    std::vector<std::pair<int, int>> ends_;   // of each edge
    std::vector<double> target_;              // the sum that each vertex is to get
    std::vector<int> side_, up_;              // of each vertex; edge to its parent, -1: a root
    std::vector<double> weight_;              // of each edge
};

}  // namespace

Weigh graph_weights(const Encoding& encoding)
{
    return [encoding](const std::vector<int>& received) {
        const Graph graph(encoding, received);
        Decoding decoding;
        for (std::size_t e = 0; e < received.size(); ++e)
            decoding.weights.push_back({received[e], 0, graph.weights()[e]});
        return decoding;
    };
}

Weigh debiased(const Encoding& encoding, Weigh weigh)
{
    return [encoding, weigh = std::move(weigh)](const std::vector<int>& received) {
        auto decoding = weigh(received);
        double sum = 0;
        for (const auto& [worker, part, weight] : decoding.weights)
            for (const auto& coefficient : row_of(encoding, worker))
                sum += weight * coefficient.value;
        if (sum != 0) decoding.scale = encoding.partitions / sum;
        return decoding;
    };
}

Weigh plain_sum(int n)
{
    return [n](const std::vector<int>& received) {
        return constant(received, 1, n / static_cast<double>(received.size()));
    };
}

Weigh plain_sum_of_probability(double p)
{
    return [p](const std::vector<int>& received) { return constant(received, 1, 1 / (1 - p)); };
}

Weigh horvitz_thompson(int n, int collect, double least)
{
    struct Counts {
        std::vector<double> received;
        double rounds;
    };
    // The counts begin with one imagined round, in which each worker answered with the same
    // probability.
    Counts first{std::vector<double>(n, static_cast<double>(collect) / n), 1};
    return [counts = std::move(first), least](const std::vector<int>& received) mutable {
        Decoding decoding;
        for (const int worker : received) {
            const double often = counts.received[worker] / counts.rounds;
            decoding.weights.push_back({worker, 0, 1 / std::max(least, often)});
        }
        for (const int worker : received) ++counts.received[worker];
        ++counts.rounds;
        return decoding;
    };
}

Weigh disjoint_windows(int n, int c)
{
    return [n, c](const std::vector<int>& received) {
        std::vector<int> best;
        for (std::size_t start = 0; start < received.size(); ++start) {
            std::vector<int> chosen;
            for (std::size_t step = 0; step < received.size(); ++step) {
                const int worker = received[(start + step) % received.size()];
                const auto distance = [n](int from, int to) { return (to - from + n) % n; };
                if (!chosen.empty() &&
                    (distance(chosen.back(), worker) < c || distance(worker, chosen.front()) < c))
                    continue;
                chosen.push_back(worker);
            }
            if (chosen.size() > best.size()) best = std::move(chosen);
        }
        std::ranges::sort(best);
        return constant(best, 1, n / (c * static_cast<double>(best.size())));
    };
}

}  // namespace quorate
