// SPDX-License-Identifier: BSD-2-Clause
#include <Eigen/Core>
#include <cmath>

#include "optimizer/rule.hpp"

namespace quorate {

namespace {

using Constant = Eigen::Map<const Eigen::ArrayXd>;
using Variable = Eigen::Map<Eigen::ArrayXd>;

// The elements first..last-1. The order of summation in operations of Eigen does not depend on the
// address of a vector.
Constant part_of(std::span<const double> x, std::size_t first, std::size_t last)
{
    return {x.data() + first, static_cast<Eigen::Index>(last - first)};
}
Variable part_of(std::vector<double>& x, std::size_t first, std::size_t last)
{
    return {x.data() + first, static_cast<Eigen::Index>(last - first)};
}

// Limited-memory BFGS with a backtracking line search. F is the objective, G its gradient, both at
// the trial point y = w + t d, whose estimate update() gets: a round for each trial.
//   y is accepted if F(y) <= F(w) + c t g.d; where rounding hides the decrease, if the slopes say
//   the same (Hager, Zhang 2005, the approximate Wolfe condition). Otherwise t shrinks. When
//   accepted: the pair s = y - w, v = G - g is kept if s.v > 1e-8 |s| |v|, the oldest of M is
//   dropped, and d = -H G by the two-loop recursion from a diagonal H_0 that all pairs have formed,
//   also those that are dropped (Gilbert, Lemarechal 1989).
// Without pairs d = -step G. After a search that fails the pairs are dropped; if that one fails
// too, rounding hides all further progress. With an l1 term it is OWL-QN (Andrew, Gao 2007): in d
// and slopes the least subgradient takes the place of G, which is without the term in pairs, and no
// parameter changes its sign along a search: elements of y that have crossed zero are set to zero,
// and so are those of d that would leave zero uphill. (Theirs sets all of d to zero that points
// uphill, which took 18 times as many rounds on a9a with l1 = 1e-4.) Per update: 4 M p
// multiplications and additions, in as many vectors as there are pairs.
class Lbfgs final : public Rule {
public:
    Lbfgs(const LbfgsOptions& given, std::vector<double> initial, const Regularizer& regularizer)
        : Rule(std::move(initial), regularizer), y_(w_), g_(w_.size()), d_(w_.size()),
          h_(w_.size()), trial_g_(w_.size()), kinked_(regularizer.l1 > 0),
          most_(static_cast<std::size_t>(given.memory)), pairs_(most_), state_(state_size + most_)
    {
        for (auto& [s, v] : pairs_) s.resize(w_.size()), v.resize(w_.size());
    }

    void tell_loss(double loss) override { loss_ = loss; }
    double taken(double given) const override
    {
        if (w_.empty() || updates_ == 1) return given;
        return state_[was_refused] != 0 ? 0 : state_[taken_factor];
    }
    bool exhausted() const override { return state_[is_exhausted] != 0; }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        ++updates_;
        if (w_.empty()) return;  // a dry run
        const double objective = objective_at_trial(estimate);
        if (!exhausted()) {
            if (updates_ == 1 || is_acceptable(objective))
                accept(objective, step);
            else
                backtrack(objective, step);
        }
        for_parameters([t = state_[factor], w = w_.data(), d = d_.data(), y = y_.data(),
                        point = next.data(), kinked = kinked_](std::size_t i) {
            const double moved = w[i] + t * d[i];
            point[i] = y[i] = kinked && w[i] * moved < 0 ? 0 : moved;
        });
    }

    // The points are trials, which no model tells.
    Told retrace(std::span<const double>, std::span<const double>, std::span<double>) override
    {
        return Told::nothing;
    }

    std::vector<Numbers> memory() override
    {
        std::vector<Numbers> all = {w_, y_, g_, d_, h_, state_};
        for (auto& [s, v] : pairs_) all.insert(all.end(), {s, v});
        return all;
    }
    bool is_sliced(std::size_t i) const override { return i != 5; }  // state_

private:
    struct Pair {
        std::vector<double> s, v;
    };
    static constexpr double decrease = 1e-4;   // c
    static constexpr double rounding = 1e-10;  // of the objective, relative
    static constexpr double flat = 1e-8;       // least s.v / |s||v| of a pair
    static constexpr int most_trials = 20;     // of a search
    // The numbers in state_; behind them stands 1 / s.v of each pair.
    enum {
        accepted,      // F(w)
        slope,         // g.d
        factor,        // t
        taken_factor,  // t with which w was accepted
        trials,        // of this search so far
        count,         // pairs that are kept
        newest,        // of these
        was_refused,   // whether the last trial was
        is_exhausted,
        state_size
    };

    double dot(std::span<const double> a, std::span<const double> b) const
    {
        return sums_of([=](std::size_t first, std::size_t last) {
            return std::array{(part_of(a, first, last) * part_of(b, first, last)).sum()};
        })[0];
    }
    // d += by * x. @return d.z, of the new d
    double add_to_direction(double by, std::span<const double> x, std::span<const double> z)
    {
        return sums_of([=, this](std::size_t first, std::size_t last) {
            auto d = part_of(d_, first, last);
            d += by * part_of(x, first, last);
            return std::array{(d * part_of(z, first, last)).sum()};
        })[0];
    }

    // Sets the gradient of the objective without the l1 term at y. @return the objective there
    double objective_at_trial(std::span<const double> estimate)
    {
        const double l2 = regularizer_.l2;
        const auto sums = sums_of([&](std::size_t first, std::size_t last) {
            const auto y = part_of(std::as_const(y_), first, last);
            part_of(trial_g_, first, last) = part_of(estimate, first, last) + 2 * l2 * y;
            return std::array{y.square().sum(), kinked_ ? y.abs().sum() : 0.0};
        });
        return loss_ + l2 * sums[0] + regularizer_.l1 * sums[1];
    }

    bool is_acceptable(double objective) const
    {
        const double before = state_[accepted], along = state_[slope];
        if (kinked_) return objective <= before + decrease * std::min(0.0, promised());
        if (objective <= before + decrease * state_[factor] * along) return true;
        return objective <= before + rounding * std::abs(before) &&
               dot(trial_g_, d_) <= (2 * decrease - 1) * along;
    }

    // By how much the objective would change from w to y if it went on as it begins.
    double promised() const
    {
        return sums_of([this](std::size_t first, std::size_t last) {
            double sum = 0;
            for (auto i = first; i < last; ++i)
                sum += regularizer_.least_subgradient(w_[i], g_[i]) * (y_[i] - w_[i]);
            return std::array{sum};
        })[0];
    }

    void accept(double objective, double step)
    {
        if (updates_ > 1) keep_pair();
        std::swap(w_, y_);
        std::swap(g_, trial_g_);
        state_[accepted] = objective;
        state_[taken_factor] = state_[factor];
        state_[was_refused] = 0;
        begin_search(step);
    }

    void keep_pair()
    {
        const auto at = state_[count] == 0 ? 0 : (number(newest) + 1) % most_;
        auto& pair = pairs_[at];
        const auto sums = sums_of([&](std::size_t first, std::size_t last) {
            auto moved = part_of(pair.s, first, last), changed = part_of(pair.v, first, last);
            moved =
                part_of(std::as_const(y_), first, last) - part_of(std::as_const(w_), first, last);
            changed = part_of(std::as_const(trial_g_), first, last) -
                      part_of(std::as_const(g_), first, last);
            return std::array{(moved * changed).sum(), moved.square().sum(),
                              changed.square().sum()};
        });
        // The place held the oldest pair, so that one is lost if this one is not kept.
        if (!(sums[0] > flat * std::sqrt(sums[1] * sums[2]))) {
            state_[count] = std::min(state_[count], static_cast<double>(most_ - 1));
            return;
        }
        state_[newest] = static_cast<double>(at);
        state_[count] = std::min(state_[count] + 1, static_cast<double>(most_));
        state_[state_size + at] = 1 / sums[0];
        scale(pair, sums[0], state_[count] == 1 ? sums[0] / sums[2] : 0);
    }

    // v.H_0 v and s.H_0^-1 s of a pair.
    std::pair<double, double> lengths(const Pair& pair) const
    {
        const auto sums = sums_of([&](std::size_t first, std::size_t last) {
            const auto h = part_of(h_, first, last);
            return std::array{(h * part_of(pair.v, first, last).square()).sum(),
                              (part_of(pair.s, first, last).square() / h).sum()};
        });
        return {sums[0], sums[1]};
    }

    // Updates the diagonal H_0 by a pair: 1 / H_0 becomes the diagonal of the BFGS update of c /
    // H_0 with c = v.H_0 v / s.v; then H_0 is multiplied with sqrt(s.H_0^-1 s / v.H_0 v), the
    // geometric mean of the two factors with which it would map v to s in one direction.
    // @param first  H_0 before its first pair; 0: there was one
    void scale(const Pair& pair, double sv, double first)
    {
        if (first > 0) std::ranges::fill(h_, first);
        const auto [vhv, sbs] = lengths(pair);
        const double c = vhv / sv, whole = sbs;
        for_parameters([=, h = h_.data(), s = pair.s.data(), v = pair.v.data()](std::size_t i) {
            const double b = 1 / h[i], bs = b * s[i];
            h[i] = 1 / (c * (b - bs * bs / whole) + v[i] * v[i] / sv);
        });
        const auto [after, inverse] = lengths(pair);
        const double by = std::sqrt(inverse / after);
        for_parameters([by, h = h_.data()](std::size_t i) { h[i] *= by; });
    }

    // Sets the direction at w, and the first trial of a search along it.
    void begin_search(double step)
    {
        state_[factor] = 1;
        state_[trials] = 0;
        two_loops(step);
        if (state_[count] > 0 && !(state_[slope] < 0)) {
            state_[count] = 0;
            two_loops(step);
        }
        if (!(state_[slope] < 0)) exhaust();
    }

    // d = -H g, g being the least subgradient at w, and the slope g.d. Each pass changes d and
    // forms the next inner product with it.
    void two_loops(double step)
    {
        const auto pairs = number(count);
        const auto at = [&](std::size_t age) { return (number(newest) + most_ - age) % most_; };
        for_parameters([d = d_.data(), g = g_.data(), w = w_.data(), r = regularizer_](
                           std::size_t i) { d[i] = -r.least_subgradient(w[i], g[i]); });
        std::vector<double> alpha(pairs);
        double product = pairs > 0 ? dot(d_, pairs_[at(0)].s) : 0;
        for (std::size_t age = 0; age < pairs; ++age) {
            const auto& [s, v] = pairs_[at(age)];
            alpha[age] = state_[state_size + at(age)] * product;
            product = add_to_direction(-alpha[age], v,
                                       age + 1 < pairs ? pairs_[at(age + 1)].s : pairs_[at(age)].v);
        }
        if (pairs > 0) {
            const auto& v = pairs_[at(pairs - 1)].v;
            product = sums_of([&](std::size_t first, std::size_t last) {
                auto d = part_of(d_, first, last);
                d *= part_of(std::as_const(h_), first, last);
                return std::array{(d * part_of(v, first, last)).sum()};
            })[0];
        } else {
            for_parameters([step, d = d_.data()](std::size_t i) { d[i] *= step; });
        }
        for (auto age = pairs; age-- > 0;) {
            const auto& s = pairs_[at(age)].s;
            const double beta = state_[state_size + at(age)] * product;
            product = add_to_direction(alpha[age] - beta, s, age > 0 ? pairs_[at(age - 1)].v : g_);
        }
        if (kinked_)
            state_[slope] = kept_from_zero();
        else
            state_[slope] = pairs > 0 ? product : dot(d_, g_);
    }

    // Sets the elements of d to zero that would leave zero uphill. @return the slope of what is
    // left
    double kept_from_zero()
    {
        return sums_of([this](std::size_t first, std::size_t last) {
            double sum = 0;
            for (auto i = first; i < last; ++i) {
                const double slope_here = regularizer_.least_subgradient(w_[i], g_[i]);
                if (w_[i] == 0 && slope_here * d_[i] >= 0) d_[i] = 0;
                sum += slope_here * d_[i];
            }
            return std::array{sum};
        })[0];
    }

    // Tries a shorter step: the minimum of the parabola through what is known, within bounds.
    void backtrack(double objective, double step)
    {
        state_[was_refused] = 1;
        if (++state_[trials] >= most_trials) {
            if (state_[count] == 0) return exhaust();
            state_[count] = 0;
            return begin_search(step);
        }
        const double t = state_[factor];
        const double above = objective - state_[accepted] - t * state_[slope];
        const double minimum = -state_[slope] * t * t / (2 * above);
        state_[factor] = std::isfinite(minimum) ? std::clamp(minimum, 0.1 * t, 0.5 * t) : 0.1 * t;
    }

    void exhaust()
    {
        state_[is_exhausted] = 1;
        state_[factor] = 0;
    }

    std::size_t number(int which) const { return static_cast<std::size_t>(state_[which]); }

    std::vector<double> y_, g_, d_, h_, trial_g_;
    bool kinked_;  // the objective has an l1 term
    double loss_ = 0;
    std::size_t most_;
    std::vector<Pair> pairs_;  // a ring
    std::vector<double> state_;
};

}  // namespace

OptimizerEntry<LbfgsOptions> LbfgsOptions::entry()
{
    return {.name = "lbfgs",
            .text =
                "limited-memory BFGS with a backtracking line search, a round for each trial; "
                "for exact estimates of all rows",
            .source = "Nocedal 1980; Liu, Nocedal 1989; with --l1 Andrew, Gao 2007",
            .options = {{&LbfgsOptions::memory,
                         {"memory", "M", "10", "pairs of steps and changes of the gradient"},
                         {.lowest = 1, .highest = 1000}}},
            .make = make_rule<Lbfgs>,
            .properties = {.by_curvature = true, .searches = true, .shares = true}};
}

}  // namespace quorate
