// SPDX-License-Identifier: BSD-2-Clause
// A convolutional network for a fixed number of images, forward and backward, by oneDNN in float32.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/models.hpp"

namespace quorate {

/// A layer. conv: size x size filters with ReLU, with so many zeros around that height and width
/// stay. pool: the maximum of size x size pixels, without overlap; pixels that are left at the
/// border are dropped. dense: with ReLU, but for the last layer.
struct NetLayer {
    using Kind = CnnOptions::Layer::Kind;
    Kind kind;
    std::int64_t outputs;  // channels or values; pool: as many channels as come in
    std::int64_t size;     // of conv and pool, pixels
    // The shape of what comes in:
    std::int64_t channels, height, width;

    std::int64_t weights()
        const;  // conv: outputs x channels x size x size; dense: outputs x inputs
    std::int64_t biases() const { return kind == Kind::pool ? 0 : outputs; }
    std::int64_t inputs() const { return channels * height * width; }
};

/// A network. Not safe for several threads; uses one thread. Local.
class ConvNet {
public:
    /// @param images  how many are computed at a time
    /// @throws Failure if oneDNN cannot make the network
    ConvNet(const std::vector<NetLayer>& layers, std::int64_t images);
    ConvNet(const ConvNet&) = delete;
    ConvNet& operator=(const ConvNet&) = delete;
    ~ConvNet();

    std::int64_t images() const { return images_; }

    /// Computes the scores. Arrays are read in place and must live until backward().
    /// @param pixels      images x channels x height x width
    /// @param parameters  of each layer its weights, then its biases
    /// @param scores      receives images x outputs of the last layer
    void forward(const float* pixels, const float* parameters, float* scores);
    /// Computes the gradient at what forward() was given last.
    /// @param weights   derivatives of the losses by the scores, images x outputs
    /// @param gradient  receives the derivatives by the parameters, in their order
    void backward(const float* weights, float* gradient);

private:
    struct Steps;
    std::int64_t images_ = 0;
    std::unique_ptr<Steps> steps_;
};

}  // namespace quorate
