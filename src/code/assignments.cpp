// SPDX-License-Identifier: BSD-2-Clause
#include "code/assignments.hpp"

#include <algorithm>
#include <array>
#include <boost/pending/disjoint_sets.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/random.hpp"
#include "code/fractional_repetition.hpp"

namespace quorate {

namespace {

// Which draw of the random codes a stream is for.
enum Draw : std::uint32_t { bernoulli = 100, regular, graph, stochastic };  // 104: reliable

Encoding from_holdings(const std::vector<std::set<int>>& held, int k, double coefficient = 1)
{
    Encoding encoding{k, {}};
    for (const auto& partitions : held) {
        Row row;
        for (const int j : partitions) row.push_back({j, coefficient});
        encoding.rows.push_back({row});
    }
    return encoding;
}

// B_ij = 1 with probability p(i, j); rows and columns of zeros are drawn again.
Encoding random_assignment(int n, const std::function<double(int, int)>& p, std::uint64_t seed)
{
    Stream stream(seed, Purpose::code, Draw::bernoulli);
    std::vector<std::set<int>> held(n);
    std::vector<int> copies(n);
    const auto draw = [&](int i, int j) {
        if (stream.uniform() >= p(i, j)) return;
        if (held[i].insert(j).second) ++copies[j];
    };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) draw(i, j);
    for (int i = 0; i < n; ++i)
        while (held[i].empty())
            for (int j = 0; j < n; ++j) draw(i, j);
    for (int j = 0; j < n; ++j)
        while (copies[j] == 0)
            for (int i = 0; i < n; ++i) draw(i, j);
    return from_holdings(held, n);
}

}  // namespace

Encoding bernoulli_assignment(int n, double d, std::uint64_t seed)
{
    return random_assignment(
        n, [p = d / n](int, int) { return p; }, seed);
}

Encoding block_assignment(int n, int groups, double inside, double outside, std::uint64_t seed)
{
    const auto of = repetition_groups(n, n / groups).of;
    const auto p = [&](int i, int j) { return of[i] == of[j] ? inside : outside; };
    return random_assignment(n, p, seed);
}

Encoding regular_assignment(int n, int d, std::uint64_t seed)
{
    Stream stream(seed, Purpose::code, Draw::regular);
    std::vector<std::set<int>> held(n);
    std::vector<std::pair<int, int>> edges;
    for (int i = 0; i < n; ++i)
        for (int t = 0; t < d; ++t) {
            held[i].insert((i + t) % n);
            edges.emplace_back(i, (i + t) % n);
        }
    const auto count = static_cast<int>(edges.size());
    for (int turn = 0; turn < 20 * count; ++turn) {
        auto& [i, j] = edges[stream.below(edges.size())];
        auto& [x, y] = edges[stream.below(edges.size())];
        auto &mine = held[i], &theirs = held[x];
        if (mine.contains(y) || theirs.contains(j)) continue;
        mine.erase(j);
        theirs.erase(y);
        mine.insert(y);
        theirs.insert(j);
        std::swap(j, y);
    }
    return from_holdings(held, n);
}

Encoding margulis_assignment(int m)
{
    Encoding encoding{m * m, {}};
    for (int x = 0; x < m; ++x)
        for (int y = 0; y < m; ++y) {
            std::map<int, double> row;
            const auto add = [&](int u, int v) { ++row[(u % m + m) % m * m + (v % m + m) % m]; };
            for (const int sign : {-1, 1}) {
                add(x + sign * 2 * y, y);
                add(x + sign * (2 * y + 1), y);
                add(x, y + sign * 2 * x);
                add(x, y + sign * (2 * x + 1));
            }
            Row coefficients;
            for (const auto& [j, multiplicity] : row) coefficients.push_back({j, multiplicity});
            encoding.rows.push_back({coefficients});
        }
    return encoding;
}

int plane_order(int n)
{
    for (int q = 2; q * q + q + 1 <= n; ++q) {
        bool prime = true;
        for (int factor = 2; factor * factor <= q; ++factor) prime = prime && q % factor != 0;
        if (prime && q * q + q + 1 == n) return q;
    }
    return 0;
}

Encoding plane_assignment(int q)
{
    // Points and lines are triples up to a factor: (1, a, b), (0, 1, a), (0, 0, 1). A point is on a
    // line if their product is 0 modulo q.
    std::vector<std::array<int, 3>> triples;
    for (int a = 0; a < q; ++a)
        for (int b = 0; b < q; ++b) triples.push_back({1, a, b});
    for (int a = 0; a < q; ++a) triples.push_back({0, 1, a});
    triples.push_back({0, 0, 1});
    std::vector<std::set<int>> held(triples.size());
    for (std::size_t line = 0; line < triples.size(); ++line)
        for (std::size_t at = 0; at < triples.size(); ++at)
            if (std::inner_product(triples[line].begin(), triples[line].end(), triples[at].begin(),
                                   0) %
                    q ==
                0)
                held[line].insert(static_cast<int>(at));
    return from_holdings(held, static_cast<int>(triples.size()));
}

namespace {

bool connected(int vertices, const std::vector<std::pair<int, int>>& edges)
{
    boost::disjoint_sets_with_storage<> parts(static_cast<std::size_t>(vertices));
    for (const auto& [a, b] : edges) parts.union_set(a, b);
    for (int v = 1; v < vertices; ++v)
        if (parts.find_set(v) != parts.find_set(0)) return false;
    return true;
}

std::vector<std::set<int>> circulant_graph(int k, int d)
{
    std::vector<std::set<int>> neighbours(k);
    const auto join = [&](int a, int b) {
        neighbours[a].insert(b % k);
        neighbours[b % k].insert(a);
    };
    for (int v = 0; v < k; ++v) {
        for (int t = 1; t <= d / 2; ++t) join(v, v + t);
        if (d % 2 == 1) join(v, v + k / 2);
    }
    return neighbours;
}

}  // namespace

Encoding graph_assignment(int n, int d, std::uint64_t seed)
{
    const int k = 2 * n / d;
    Stream stream(seed, Purpose::code, Draw::graph);
    auto neighbours = circulant_graph(k, d);
    std::vector<std::pair<int, int>> edges;
    for (int v = 0; v < k; ++v)
        for (const int u : neighbours[v])
            if (v < u) edges.emplace_back(v, u);
    const auto of = [&](int v) -> std::set<int>& { return neighbours[v]; };
    const auto join = [&](int a, int b) {
        return of(a).insert(b).second && of(b).insert(a).second;
    };
    const auto part = [&](int a, int b) {
        of(a).erase(b);
        of(b).erase(a);
    };
    // Edges ab, cd become ad, cb; taken back if that cuts the graph in two. Looking is O(n), so
    // only every so often, and then all switches since the last look are taken back.
    auto good = std::pair(neighbours, edges);
    for (int turn = 0; turn < 20 * n; ++turn) {
        auto& [a, b] = edges[stream.below(edges.size())];
        auto& [c, e] = edges[stream.below(edges.size())];
        if (stream.uniform() < 0.5) std::swap(c, e);
        if (a != e && c != b && a != c && b != e && !of(a).contains(e) && !of(c).contains(b)) {
            part(a, b);
            part(c, e);
            join(a, e);
            join(c, b);
            std::swap(b, e);
        }
        if (turn % n != n - 1) continue;
        if (connected(k, edges))
            good = {neighbours, edges};
        else
            std::tie(neighbours, edges) = good;
    }
    std::vector<std::set<int>> held;
    for (const auto& [a, b] : edges) held.push_back({a, b});
    std::ranges::sort(held);
    return from_holdings(held, k);
}

Encoding stochastic_assignment(int n, int d, std::uint64_t seed)
{
    std::vector<std::set<int>> held(n);
    for (int j = 0; j < n; ++j) {
        Stream stream(seed, Purpose::code, Draw::stochastic, static_cast<std::uint32_t>(j));
        for (int left = d; left > 0;) left -= held[stream.below(held.size())].insert(j).second;
    }
    return from_holdings(held, n, 1.0 / d);
}

}  // namespace quorate
