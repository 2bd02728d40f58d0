// SPDX-License-Identifier: BSD-2-Clause
// A model computes scores of rows of data, a loss of the scores, and its gradient. Pure
// mathematics: no MPI, no clock, no files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers.hpp"
#include "base/typed_entry.hpp"
#include "model/data_shape.hpp"
#include "model/loss.hpp"
#include "model/row_view.hpp"

namespace quorate {

/// Parameters that belong together, for random initial values: first the weights, then the biases.
struct Layer {
    std::int64_t weights, fan_in, fan_out;  // their number, and how many values go in and come out
    std::int64_t biases;                    // their number; they start at zero
};

/// The rows that calls of add_gradient() take if their work goes on. Owns all that it reads.
class UpcomingRows {
public:
    virtual ~UpcomingRows() = default;
    struct Rows {
        std::size_t item;                // of the work's items
        std::vector<std::int64_t> rows;  // in the item's block
    };
    /// Those of the next call; nothing: there is none. O(rows).
    virtual std::optional<Rows> next() = 0;
};

/// Stateless and safe to share. Local; no communication.
///
/// Parameters: for each column in turn, per_column() of them; then shared_parameters() that no
/// column owns. A shard that touches some columns only needs the parameters of these, and the
/// shared ones.
class Model {
public:
    explicit Model(std::unique_ptr<Loss> loss) : loss_(std::move(loss)) {}
    virtual ~Model() = default;

    virtual std::int64_t per_column() const = 0;
    virtual std::int64_t shared_parameters() const = 0;
    /// Number of parameters for data of that many columns.
    std::int64_t parameters(std::int64_t columns) const
    {
        return columns * per_column() + shared_parameters();
    }
    /// The layers, in the order of the parameters.
    virtual std::vector<Layer> layers(std::int64_t columns) const = 0;
    /// Initial values of its own, parameters(columns) elements; none: --init says which.
    virtual std::optional<std::vector<double>> initial(std::int64_t /*columns*/,
                                                       std::uint64_t /*seed*/) const
    {
        return {};
    }
    /// Whether the scores of a row are x'W, with the row of W that belongs to a column stored
    /// together.
    virtual bool linear() const = 0;
    /// The type of points and gradients.
    virtual Precision precision() const { return Precision::binary64; }
    /// How many scores a row has.
    std::int64_t outputs() const { return loss_->outputs(); }
    const Loss& loss() const { return *loss_; }

    /// gradient += coefficient * sum over the rows of the gradient of the loss at `point`.
    ///
    /// Rows are added one after the other in their order. Cutting them into several calls changes
    /// no bit of a linear model's gradient, anywhere; with dense rows and more than 24 scores, at
    /// multiples of 256 rows. One pass over the entries.
    /// @param point, gradient  parameters(rows.columns) elements
    /// @return sum over the rows of the loss at `point` (not weighted with the coefficient)
    virtual double add_gradient(const RowView& rows, std::span<const double> point,
                                double coefficient, std::span<double> gradient) const = 0;
    /// The same of floats. @throws std::logic_error unless precision() is binary32
    virtual double add_gradient_floats(const RowView& rows, std::span<const float> point,
                                       double coefficient, std::span<float> gradient) const;

    /// Whether rows are what comes next of a stream, each time they are read and whatever they are
    /// called: no two workers have the same ones, and nobody can compute anything again.
    virtual bool streams() const { return false; }

    /// Whether the model wants to know of rows before they come: expect() is called.
    virtual bool looks_ahead() const { return false; }
    /// A sum of gradients begins. @param blocks  the rows of its items
    virtual void expect(std::span<const RowView> /*blocks*/,
                        const std::shared_ptr<UpcomingRows>& /*upcoming*/) const
    {
    }

    /// Computes the scores of rows. One pass over the entries.
    /// @param point   parameters(rows.columns) elements
    /// @param scores  receives rows x outputs() values, row by row; what they mean belongs to the
    ///                loss
    virtual void score(const RowView& rows, std::span<const double> point,
                       std::span<double> scores) const = 0;

    /// Returns how many rows to compute at a time. Their work takes about a millisecond at most,
    /// and adding their gradient costs little beside it. Depends on data and model only.
    virtual std::int64_t chunk_rows(const DataShape& data) const = 0;

private:
    std::unique_ptr<Loss> loss_;
};

/// @throws BadInput if the model is not for such data, or an option is wrong
using MakeModel = std::function<std::unique_ptr<Model>(const Settings&, const DataShape&)>;
template <>
struct PropertiesOf<MakeModel> {
    struct type {};
    static constexpr const char* option = "model";
};

/// The entry of a model whose options are a T (model/models.hpp has those structs).
template <class T>
using ModelEntry = TypedEntry<MakeModel, T>;

/// The models that --model can name.
const std::vector<Entry<MakeModel>>& models();
/// Adds one. While no other thread uses Quorate. @throws BadInput if its name is taken
void add_model(Entry<MakeModel> entry);

}  // namespace quorate
