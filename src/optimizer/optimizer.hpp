// SPDX-License-Identifier: BSD-2-Clause
// Update rules: they turn estimates of the gradient into models. Pure mathematics: no MPI, no
// clock, no files. p is the number of parameters.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/block_sums.hpp"
#include "base/numbers.hpp"
#include "base/typed_entry.hpp"
#include "optimizer/regularizer.hpp"

namespace quorate {

/// One model that is being trained. Estimates are those of the mean gradient of the loss alone. The
/// optimiser adds the gradient of l2 |w|^2 and takes the proximal step of l1 |w|_1. Local.
///
/// Several processes may each have an optimiser of a share of the parameters, a range of whole
/// blocks (sum_block). It is made with its share of the initial point, and gets its share of each
/// estimate. Then "p elements" are those of the share, and all shares together have the bits of one
/// optimiser of all parameters. That works for rules that change each parameter by its own numbers
/// alone, and for those whose scalars of the whole model are added up by what use_sums() says
/// (OptimizerProperties::shares).
class Optimizer {
public:
    virtual ~Optimizer() = default;

    /// Makes one update. O(p).
    /// @param estimate  mean gradient of the loss at the point published last, p elements
    /// @param step      step size of this round
    /// @param next      receives the point at which the next gradient is to be taken, p elements.
    ///                  It is not always the model: agd takes gradients at y. Must not be a point
    ///                  that is published
    virtual void update(std::span<const double> estimate, double step, std::span<double> next) = 0;

    /// The same of a model of floats.
    /// @throws std::logic_error unless the rule is for these
    virtual void update_floats(std::span<const float> estimate, double step, std::span<float> next);

    /// Tells the mean loss at the point of the estimate that the next update gets. Rules that
    /// search a line need it.
    virtual void tell_loss(double) {}
    /// The step size that the last update took, as the trace shows it: that which update() was
    /// given; of a rule that searches a line the factor of its direction, or 0 if it refused the
    /// point.
    /// @param given  to that update
    virtual double taken(double given) const { return given; }
    /// Whether rounding lets no further update lower the objective.
    virtual bool exhausted() const { return false; }

    /// The model w after the updates so far, p elements.
    virtual ConstNumbers model() const = 0;

    /// All vectors on which later updates depend, the model first; mostly of p elements. A
    /// checkpoint keeps them, and a resumed run sets them.
    virtual std::vector<Numbers> memory() = 0;
    /// Whether vector i of memory() has an element for each parameter. The others, and state(), are
    /// the same in all shares.
    virtual bool is_sliced([[maybe_unused]] std::size_t i) const { return true; }
    /// What later updates depend on beside memory(), in a format of its own. A checkpoint keeps it.
    virtual std::string state() const { return {}; }
    /// Sets it, after memory().
    virtual void set_state(const std::string&) {}
    /// What two models in a row tell of a rule.
    enum class Told {
        nothing,
        point,  // at which the next gradient is taken
        state   // that, and all on which later updates depend
    };
    /// Makes the rule stand where it stood after update number updates(), as far as the models
    /// before and after it tell. Needed to check single updates of a recorded run. O(p).
    /// @param before  empty: it is not known
    /// @param point   receives the point that the update published, if that is told
    virtual Told retrace([[maybe_unused]] std::span<const double> before,
                         [[maybe_unused]] std::span<const double> after,
                         [[maybe_unused]] std::span<double> point)
    {
        return Told::nothing;
    }
    /// The number of updates so far. A resumed run sets it.
    long& updates() { return updates_; }
    /// Has updates share out the parameters among so many threads, which changes no bit.
    void use_threads(int threads) { threads_ = threads; }
    /// Has the rule add up its scalars of the whole model in this way, where it has a share of it.
    /// All shares make the same calls, in each update the same number.
    void use_sums(SumBlocks sums) { sums_ = std::move(sums); }

protected:
    long updates_ = 0;
    int threads_ = 1;
    SumBlocks sums_ = sum_blocks;
};

/// Makes an update of a model of either type: Optimizer::update() or update_floats().
void update(Optimizer& optimizer, ConstNumbers estimate, double step, Numbers next);

/// Makes an optimiser. @param initial  w_0, p elements; also the first point
/// @throws BadInput if an option is wrong
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(
    const Settings&, std::vector<double> initial, const Regularizer& regularizer)>;

/// What an optimiser says of the step sizes that it takes well.
struct OptimizerProperties {
    /// Whether 1/L is one for functions whose curvature is L at most.
    bool by_curvature = false;
    double step = 0.1;  // where no curvature is known, as for networks
    /// It searches lines for a lower objective: it needs the exact loss and gradient of all rows,
    /// and makes its own steps.
    bool searches = false;
    /// It works on a share of the parameters, as Optimizer says. Else all have to be in one
    /// process.
    bool shares = false;
};
template <>
struct PropertiesOf<MakeOptimizer> {
    using type = OptimizerProperties;
    static constexpr const char* option = "optimizer";
};

/// The entry of an optimiser whose options are a T (optimizer/optimizers.hpp has those structs).
template <class T>
using OptimizerEntry = TypedEntry<MakeOptimizer, T>;

/// The optimisers that --optimizer can name.
const std::vector<Entry<MakeOptimizer>>& optimizers();
/// Adds one. While no other thread uses Quorate. @throws BadInput if its name is taken
void add_optimizer(Entry<MakeOptimizer> entry);

}  // namespace quorate
