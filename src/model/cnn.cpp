// SPDX-License-Identifier: BSD-2-Clause
// Convolutional networks for images, in float32.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "base/text.hpp"
#include "model/conv_net.hpp"
#include "model/learning_task.hpp"
#include "model/models.hpp"

namespace quorate {

namespace {

using Kind = NetLayer::Kind;

constexpr std::int64_t images_at_once = 32;

// Networks that are built and not in use at the moment. Threads and calls share them.
class Nets {
public:
    explicit Nets(std::vector<NetLayer> layers) : layers_(std::move(layers)) {}
    const std::vector<NetLayer>& layers() const { return layers_; }

    std::unique_ptr<ConvNet> take(std::int64_t images)
    {
        {
            const std::lock_guard lock(mutex_);
            const auto at = std::ranges::find(idle_, images, &ConvNet::images);
            if (at != idle_.end()) {
                auto net = std::move(*at);
                idle_.erase(at);
                return net;
            }
        }
        return std::make_unique<ConvNet>(layers_, images);
    }
    void give_back(std::unique_ptr<ConvNet> net)
    {
        constexpr std::size_t most = 16;  // a few sizes of the last chunk of a partition
        const std::lock_guard lock(mutex_);
        if (idle_.size() == most) idle_.erase(idle_.begin());
        idle_.push_back(std::move(net));
    }

private:
    std::vector<NetLayer> layers_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ConvNet>> idle_;
};

class Cnn final : public Model {
public:
    Cnn(std::unique_ptr<Loss> loss, std::vector<NetLayer> layers)
        : Model(std::move(loss)), nets_(std::move(layers))
    {
    }

    std::int64_t per_column() const override { return 0; }
    std::int64_t shared_parameters() const override
    {
        std::int64_t sum = 0;
        for (const auto& layer : nets_.layers()) sum += layer.weights() + layer.biases();
        return sum;
    }
    bool linear() const override { return false; }

    std::vector<Layer> layers(std::int64_t) const override
    {
        std::vector<Layer> all;
        for (const auto& layer : nets_.layers()) {
            const bool conv = layer.kind == Kind::conv;
            const auto area = layer.size * layer.size;
            if (layer.weights() > 0)
                all.push_back({layer.weights(), conv ? layer.channels * area : layer.inputs(),
                               conv ? layer.outputs * area : layer.outputs, layer.biases()});
        }
        return all;
    }

    double add_gradient(const RowView& rows, std::span<const double> point, double coefficient,
                        std::span<double> gradient) const override
    {
        const std::vector<float> parameters(point.begin(), point.end());
        std::vector<float> change(point.size());
        double sum = 0;
        for_chunks(rows, [&](const RowView& part, const float* pixels, ConvNet& net) {
            std::vector<float> scores(static_cast<std::size_t>(part.rows * outputs()));
            net.forward(pixels, parameters.data(), scores.data());
            std::vector<double> z(scores.begin(), scores.end()), r(scores.size());
            sum += loss().evaluate(z.data(), part.label, part.rows, r.data());
            std::copy(r.begin(), r.end(), scores.begin());
            net.backward(scores.data(), change.data());
            for (std::size_t i = 0; i < change.size(); ++i) gradient[i] += coefficient * change[i];
        });
        return sum;
    }

    void score(const RowView& rows, std::span<const double> point,
               std::span<double> scores) const override
    {
        const std::vector<float> parameters(point.begin(), point.end());
        auto to = scores.begin();
        for_chunks(rows, [&](const RowView& part, const float* pixels, ConvNet& net) {
            std::vector<float> z(static_cast<std::size_t>(part.rows * outputs()));
            net.forward(pixels, parameters.data(), z.data());
            to = std::copy(z.begin(), z.end(), to);
        });
    }

    std::int64_t chunk_rows(const DataShape&) const override { return images_at_once; }

private:
    template <class F>
    void for_chunks(const RowView& rows, F f) const
    {
        for (std::int64_t first = 0; first < rows.rows; first += images_at_once) {
            const auto part = rows.slice(first, std::min(images_at_once, rows.rows - first));
            auto net = nets_.take(part.rows);
            const std::vector<float> pixels(part.dense, part.dense + part.rows * part.columns);
            f(part, pixels.data(), *net);
            nets_.give_back(std::move(net));
        }
    }

    mutable Nets nets_;
};

constexpr std::array<std::string_view, 3> kind_words = {"conv", "pool",
                                                        "dense"};  // in the order of Kind

std::string word_of(const CnnOptions::Layer& layer)
{
    return fmt::format("{}:{}{}{}", kind_words.at(static_cast<std::size_t>(layer.kind)),
                       layer.kind == Kind::pool ? layer.size : layer.outputs,
                       layer.kind == Kind::conv ? "x" : "",
                       layer.kind == Kind::conv ? std::to_string(layer.size) : "");
}

// The layers for these images, and a last dense one with a value for each class.
std::vector<NetLayer> layers_for(const std::vector<CnnOptions::Layer>& given, const DataShape& data,
                                 std::int64_t classes)
{
    std::vector<NetLayer> layers;
    auto channels = data.channels, height = data.height, width = data.width;
    for (const auto& layer : given) {
        const auto kind = layer.kind;
        const auto size = layer.size;
        if (kind == Kind::pool && size > std::min(height, width))
            throw Refusal("layers", fmt::format(", but '{}' is larger than what it gets, {} x {}",
                                                word_of(layer), height, width));
        layers.push_back(
            {kind, kind == Kind::pool ? channels : layer.outputs, size, channels, height, width});
        channels = layers.back().outputs;
        const auto shrunk = [&](auto side) {
            return kind == Kind::conv ? side : kind == Kind::pool ? side / size : 1;
        };
        height = shrunk(height);
        width = shrunk(width);
    }
    layers.push_back({Kind::dense, classes, 0, channels, height, width});
    return layers;
}

std::unique_ptr<Model> make_cnn(const CnnOptions& given, const DataShape& data)
{
    require_task(data, {LearningTask::binary, LearningTask::multiclass});
    if (!data.image() || !data.dense)
        throw Refusal("model",
                      ", but the rows of the data set are not images: import it with "
                      "--image CxHxW and --storage dense");
    auto loss = softmax_loss(data, given.top_k);
    auto layers = layers_for(given.layers, data, loss->outputs());
    return std::make_unique<Cnn>(std::move(loss), std::move(layers));
}

}  // namespace

void read_option(std::vector<CnnOptions::Layer>& layers, const GivenWords& given)
{
    layers.clear();
    for (const auto& piece : split(given.text(), ',')) {
        const auto word = trimmed(piece);
        const auto refuse = [&](const std::string& why) {
            given.refuse(fmt::format(", but '{}' {}", word, why));
        };
        const auto parts = split(word, ':');
        std::vector<std::int64_t> value;
        for (const auto& number : split(parts.back(), 'x'))
            value.push_back(to_integer(number).value_or(0));
        const auto place = std::ranges::find(kind_words, parts[0]) - kind_words.begin();
        const auto kind = static_cast<Kind>(place);
        const bool after_dense = !layers.empty() && layers.back().kind == Kind::dense;
        if (parts.size() != 2 || place == std::ssize(kind_words) ||
            value.size() != (kind == Kind::conv ? 2 : 1) || std::ranges::min(value) < 1 ||
            (after_dense && kind != Kind::dense))
            refuse("is no layer: write conv:CHANNELSxSIZE and pool:SIZE, then dense:VALUES");
        if (kind == Kind::conv && value[1] % 2 == 0) refuse("has an even size: use an odd one");
        layers.push_back(
            {kind, kind == Kind::pool ? 0 : value[0], kind == Kind::dense ? 0 : value.back()});
    }
}

std::string written(const std::vector<CnnOptions::Layer>& layers, const OptionRow&)
{
    std::string words;
    for (const auto& layer : layers)
        words += fmt::format("{}{}", words.empty() ? "" : ",", word_of(layer));
    return words;
}

ModelEntry<CnnOptions> CnnOptions::entry()
{
    return {.name = "cnn",
            .text = "convolutional network on images, in float32",
            .source = "LeCun et al. 1998; by oneDNN",
            .options = {{&CnnOptions::layers,
                         {"layers", "LAYER,...", "conv:16x5,pool:2,conv:32x5,pool:2,dense:64",
                          "conv:CHANNELSxSIZE, pool:SIZE, dense:VALUES; a last dense layer with a "
                          "value for each class follows"}},
                        {&CnnOptions::top_k, top_k_row()}},
            .make = make_cnn};
}

}  // namespace quorate
