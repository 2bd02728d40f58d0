// SPDX-License-Identifier: BSD-2-Clause
#include "run/initialiser.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"

namespace quorate {

namespace {

// The parameters of a share, of all that are given one after the other.
class Share {
public:
    explicit Share(const ShareRange& range) : range_(range) { parameters_.reserve(range.second); }
    void add(double parameter)
    {
        // Those before the first one wrap round.
        if (at_++ - range_.first < range_.second) parameters_.push_back(parameter);
    }
    bool complete() const { return parameters_.size() == range_.second; }
    std::vector<double> take() { return std::move(parameters_); }

private:
    ShareRange range_;
    std::size_t at_ = 0;
    std::vector<double> parameters_;
};

// Adds random weights and zero biases, layer by layer. @param weight  draws a weight of a layer
template <class Weight>
std::vector<double> random_weights(const Model& model, std::int64_t columns, Share share,
                                   Weight weight)
{
    for (const auto& layer : model.layers(columns)) {
        for (std::int64_t i = 0; i < layer.weights && !share.complete(); ++i)
            share.add(weight(layer));
        for (std::int64_t i = 0; i < layer.biases; ++i) share.add(0);
    }
    return share.take();
}

// @param share   of the parameters
// @param remedy  if there is no final model
// @param refuse  throws BadInput: the trace, and what is wrong with it
template <class Refuse>
std::vector<double> read_final_model(const std::string& trace, std::int64_t width,
                                     const ShareRange& share, const std::string& remedy,
                                     Refuse refuse)
{
    const std::lock_guard lock(libraries());
    const auto file = h5::open(trace);
    if (!h5::has(file.get(), "model/final")) refuse("holds no final model: give " + remedy);
    return h5::reading(trace, "give another trace", [&] {
        if (const auto size = h5::rows_of(file.get(), "model/final"); size != width)
            refuse(fmt::format(
                "holds a model of {} parameters where {} are needed: give a trace of the same "
                "model and data",
                size, width));
        return h5::read<double>(file.get(), "model/final", static_cast<std::int64_t>(share.first),
                                static_cast<std::int64_t>(share.second));
    });
}

}  // namespace

std::string initialiser_of(const Settings& settings, const Model* model)
{
    if (settings.on("init")) return settings.text("init");
    return model && !model->linear() ? "he" : "zero";
}

std::vector<double> initial_model(const Settings& settings, std::uint64_t seed, const Model& model,
                                  std::int64_t columns, const std::optional<ShareRange>& share)
{
    const auto width = model.parameters(columns);
    const auto part = share.value_or(ShareRange{0, static_cast<std::size_t>(width)});
    if (settings.text("init").empty())
        if (auto own = model.initial(columns, seed)) {
            if (!share) return std::move(*own);
            const auto some = std::span(*own).subspan(part.first, part.second);
            return {some.begin(), some.end()};
        }
    const auto text = initialiser_of(settings, &model);
    Stream stream(seed, Purpose::initial_point);
    if (text == "zero") return std::vector<double>(part.second, 0.0);
    if (text == "he")
        return random_weights(model, columns, Share(part), [&](const Layer& layer) {
            return std::sqrt(2 / static_cast<double>(layer.fan_in)) * stream.normal();
        });
    if (text == "glorot")
        return random_weights(model, columns, Share(part), [&](const Layer& layer) {
            const auto fans = static_cast<double>(layer.fan_in + layer.fan_out);
            return std::sqrt(6 / fans) * (2 * stream.uniform() - 1);
        });
    if (text == "normal" || text.starts_with("normal:")) {
        const auto deviation = to_real(text.substr(std::min(text.size(), std::size_t{7})));
        if (!deviation || *deviation < 0)
            settings.refuse("init", ": write normal:SD with SD of at least 0");
        Share parameters(part);
        while (!parameters.complete()) parameters.add(*deviation * stream.normal());
        return parameters.take();
    }
    return read_final_model(
        text, width, part, "zero, normal:SD, he, glorot or a finished trace",
        [&](const std::string& wrong) { settings.refuse("init", ", which " + wrong); });
}

std::vector<double> final_model(const std::string& trace, std::int64_t width)
{
    return read_final_model(trace, width, {0, static_cast<std::size_t>(width)},
                            "the trace of a run that has ended",
                            [&](const std::string& wrong) { throw BadInput(trace + " " + wrong); });
}

void write_average(const std::string& path, std::span<const double> model)
{
    write_whole(path, [&](const std::string& temporary) {
        const std::lock_guard lock(libraries());
        auto file = h5::create(temporary);
        h5::write_attribute(file.get(), "format", std::string("quorate average"));
        const auto group = h5::create_group(file.get(), "model");
        h5::write(group.get(), "final", model);
        file.close("close " + temporary);
    });
}

}  // namespace quorate
