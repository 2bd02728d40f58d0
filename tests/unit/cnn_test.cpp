// SPDX-License-Identifier: BSD-2-Clause
// The convolutional network against plain loops in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "model/conv_net.hpp"
#include "model/model.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;

/// Values of a layer, image by image, channel by channel, row by row.
struct Maps {
    std::int64_t channels, height, width;
    Reals value;
    double at(std::int64_t n, std::int64_t c, std::int64_t i, std::int64_t j) const
    {
        if (i < 0 || j < 0 || i >= height || j >= width) return 0;
        return value[static_cast<std::size_t>(((n * channels + c) * height + i) * width + j)];
    }
};

// The textbook's definition of each layer.
Maps apply(const NetLayer& layer, const Maps& in, const double* weight, std::int64_t images,
           bool relu)
{
    using Kind = NetLayer::Kind;
    Maps out{layer.outputs, in.height, in.width, {}};
    if (layer.kind == Kind::pool) out.height /= layer.size, out.width /= layer.size;
    if (layer.kind == Kind::dense) out.height = out.width = 1;
    const double* bias = weight + layer.weights();
    for (std::int64_t n = 0; n < images; ++n)
        for (std::int64_t o = 0; o < out.channels; ++o)
            for (std::int64_t i = 0; i < out.height; ++i)
                for (std::int64_t j = 0; j < out.width; ++j) {
                    double z = 0;
                    if (layer.kind == Kind::pool) {
                        z = -1e300;
                        for (std::int64_t a = 0; a < layer.size; ++a)
                            for (std::int64_t b = 0; b < layer.size; ++b)
                                z = std::max(z,
                                             in.at(n, o, i * layer.size + a, j * layer.size + b));
                    } else {
                        const bool conv = layer.kind == Kind::conv;
                        const auto rows = conv ? layer.size : in.height,
                                   columns = conv ? layer.size : in.width;
                        const auto shift = conv ? layer.size / 2 : 0;
                        z = bias[o];
                        for (std::int64_t c = 0; c < in.channels; ++c)
                            for (std::int64_t a = 0; a < rows; ++a)
                                for (std::int64_t b = 0; b < columns; ++b)
                                    z += weight[((o * in.channels + c) * rows + a) * columns + b] *
                                         in.at(n, c, i + a - shift, j + b - shift);
                        if (relu) z = std::max(0.0, z);
                    }
                    out.value.push_back(z);
                }
    return out;
}

struct SmallNetwork {
    DataShape shape{.columns = 2 * 9 * 7,
                    .task = LearningTask::multiclass,
                    .classes = 3,
                    .channels = 2,
                    .height = 9,
                    .width = 7,
                    .dense = true};
    std::unique_ptr<Model> model;
    std::vector<NetLayer> layers = {{NetLayer::Kind::conv, 4, 3, 2, 9, 7},
                                    {NetLayer::Kind::pool, 4, 2, 4, 9, 7},
                                    {NetLayer::Kind::conv, 5, 5, 4, 4, 3},
                                    {NetLayer::Kind::dense, 6, 0, 5, 4, 3},
                                    {NetLayer::Kind::dense, 3, 0, 6, 1, 1}};
    std::int64_t images = 37;  // more than one chunk
    Reals pixels, labels, point;

    SmallNetwork()
    {
        const auto& one = test::entry(models(), "cnn");
        auto settings =
            test::settings(one.options, {{"layers", "conv:4x3, pool:2, conv:5x5, dense:6"}});
        settings.set("model", {"cnn", "", true});
        model = one.make(settings, shape);
        std::mt19937 random(5);
        std::normal_distribution<double> normal;
        for (std::int64_t i = 0; i < images * shape.columns; ++i) pixels.push_back(normal(random));
        for (std::int64_t i = 0; i < images; ++i) labels.push_back(static_cast<double>(i % 3));
        for (const auto& layer : model->layers(shape.columns)) {
            const double scale = std::sqrt(2 / static_cast<double>(layer.fan_in));
            for (std::int64_t i = 0; i < layer.weights + layer.biases; ++i)
                point.push_back(scale * normal(random));
        }
    }
    RowView rows() const
    {
        return {.rows = images,
                .columns = shape.columns,
                .dense = pixels.data(),
                .label = labels.data()};
    }
    Reals plain_scores(const Reals& at) const
    {
        Maps maps{2, 9, 7, pixels};
        const double* weight = at.data();
        for (std::size_t l = 0; l < layers.size(); ++l) {
            maps = apply(layers[l], maps, weight, images, l + 1 < layers.size());
            weight += layers[l].weights() + layers[l].biases();
        }
        return maps.value;
    }
    double plain_loss(const Reals& at) const
    {
        const auto scores = plain_scores(at);
        return model->loss().evaluate(scores.data(), labels.data(), images, nullptr);
    }
};

TEST(Cnn, ScoresAreThoseOfPlainLoopsInDoublePrecision)
{
    const SmallNetwork net;
    ASSERT_EQ(net.model->parameters(net.shape.columns),
              static_cast<std::int64_t>(net.point.size()));
    const auto plain = net.plain_scores(net.point);
    Reals scores(plain.size());
    net.model->score(net.rows(), net.point, scores);
    for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], plain[i], 1e-4);
}

TEST(Cnn, TheGradientIsTheDerivativeOfThePlainLossToAThousandth)
{
    const SmallNetwork net;
    Reals gradient(net.point.size(), 0.0);
    const double loss = net.model->add_gradient(net.rows(), net.point, 1, gradient);
    EXPECT_NEAR(loss, net.plain_loss(net.point), 1e-3);
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    for (std::size_t j = 0; j < gradient.size(); j += 3) {
        auto moved = net.point;
        constexpr double h = 1e-5;
        moved[j] += h;
        const double above = net.plain_loss(moved);
        moved[j] -= 2 * h;
        const double difference = (above - net.plain_loss(moved)) / (2 * h);
        EXPECT_NEAR(gradient[j], difference, 1e-3 * largest) << j;
    }
}

TEST(Cnn, CuttingAtItsChunksChangesNoBit)
{
    const SmallNetwork net;
    const auto chunk = net.model->chunk_rows(net.shape);
    Reals whole(net.point.size(), 0.0), cut(net.point.size(), 0.0);
    net.model->add_gradient(net.rows(), net.point, 0.5, whole);
    for (std::int64_t at = 0; at < net.images; at += chunk)
        net.model->add_gradient(net.rows().slice(at, std::min(chunk, net.images - at)), net.point,
                                0.5, cut);
    EXPECT_TRUE(test::same_bits(whole, cut));
}

TEST(Cnn, LayersThatMakeNoNetworkAreRefused)
{
    const DataShape shape{.columns = 16,
                          .task = LearningTask::multiclass,
                          .classes = 2,
                          .channels = 1,
                          .height = 4,
                          .width = 4,
                          .dense = true};
    const auto& one = test::entry(models(), "cnn");
    const std::string write =
        "is no layer: write conv:CHANNELSxSIZE and pool:SIZE, then dense:VALUES";
    for (const auto& [layers, why] : std::vector<std::pair<std::string, std::string>>{
             {"conv:8", "'conv:8' " + write},
             {"conv:0x3", "'conv:0x3' " + write},
             {"relu", "'relu' " + write},
             {"dense:4,conv:8x3", "'conv:8x3' " + write},
             {"conv:8x4", "'conv:8x4' has an even size: use an odd one"},
             {"pool:2,pool:4", "'pool:4' is larger than what it gets, 2 x 2"}}) {
        auto settings = test::settings(one.options, {{"layers", layers}});
        settings.set("model", {"cnn", "", true});
        EXPECT_EQ(test::refusal([&] { one.make(settings, shape); }),
                  "--layers is " + layers + ", but " + why);
    }
}

}  // namespace
}  // namespace quorate
