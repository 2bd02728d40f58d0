// SPDX-License-Identifier: BSD-2-Clause
#include "run/kept_models.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace quorate {

KeptModels::KeptModels(const std::string& path, const trace::Trace& trace,
                       std::function<Optimizers()> begin)
    : path_(path), iterates_(path), begin_(std::move(begin))
{
    const auto initial = begin_();
    width_ = initial[0]->model().size();
    models_ = std::ssize(initial);
    std::vector<Version> newest;
    for (Version version = 0; version < models_; ++version) {
        newest.push_back(version);
        before_.push_back(-1);
        model_.push_back(static_cast<std::size_t>(version));
        updates_.push_back(0);
    }
    for (const auto& round : trace.rounds) {
        if (round.model < 0 || round.model >= models_)
            throw BadInput(
                fmt::format("{} has updates of a model {}, but the run trains {}: give "
                            "the trace as it was written",
                            path, round.model, models_));
        const auto model = static_cast<std::size_t>(round.model);
        before_.push_back(std::exchange(newest[model], std::ssize(before_)));
        model_.push_back(model);
        updates_.push_back(updates_[static_cast<std::size_t>(before_.back())] + 1);
    }
    const std::vector<double> any(width_);
    std::vector<double> point(width_);
    initial[0]->updates() = 1;
    alone_ = initial[0]->retrace({}, any, point);
    pair_ = initial[0]->retrace(any, any, point);
}

bool KeptModels::has_model(Version version) const
{
    return version >= 0 && version < std::ssize(before_) &&
           (version < models_ || iterates_.has(round_of(version)));
}

bool KeptModels::has_point(Version version) const
{
    if (version < models_) return true;
    if (!has_model(version)) return false;
    const auto told = has_model(before(version)) ? pair_ : alone_;
    return told != Optimizer::Told::nothing;
}

std::vector<double> KeptModels::model(Version version) const
{
    if (version < models_)
        return ConstNumbers(begin_()[static_cast<std::size_t>(version)]->model()).doubles();
    auto model = iterates_.at(round_of(version));
    if (model.size() != width_)
        throw BadInput(
            fmt::format("{} keeps models of {} parameters, but its options make {}: "
                        "give the trace as it was written",
                        path_, model.size(), width_));
    return model;
}

KeptModels::State KeptModels::at(Version version) const
{
    const auto place = static_cast<std::size_t>(version);
    State state{std::move(begin_()[model_[place]]), Optimizer::Told::state, model(version)};
    if (version < models_) return state;
    state.rule->updates() = updates_[place];
    const auto last = before(version);
    const auto after = state.point;
    state.told = state.rule->retrace(has_model(last) ? model(last) : std::vector<double>(), after,
                                     state.point);
    return state;
}

}  // namespace quorate
