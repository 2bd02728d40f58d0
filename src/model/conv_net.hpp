// SPDX-License-Identifier: BSD-2-Clause
// A convolutional network for a fixed number of images, forward and backward, by oneDNN in float32.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quorate {

/// conv: size x size, as many zeros around as keep height and width; ReLU. pool: maximum of size x
/// size, without overlap; what is left at the border is dropped. dense: ReLU, but for the last.
struct NetLayer {
    enum class Kind { conv, pool, dense } kind;
    std::int64_t outputs;  // channels or values; pool: as many as come in
    std::int64_t size;     // conv, pool
    // What comes in:
    std::int64_t channels, height, width;

    std::int64_t weights()
        const;  // conv: outputs x channels x size x size; dense: outputs x inputs
    std::int64_t biases() const { return kind == Kind::pool ? 0 : outputs; }
    std::int64_t inputs() const { return channels * height * width; }
};

/// Not thread-safe; uses one thread.
class ConvNet {
public:
    /// @throws Failure if oneDNN cannot
    ConvNet(const std::vector<NetLayer>& layers, std::int64_t images);
    ConvNet(const ConvNet&) = delete;
    ConvNet& operator=(const ConvNet&) = delete;
    ~ConvNet();

    std::int64_t images() const { return images_; }

    /// @param pixels      images x channels x height x width; backward() reads them again
    /// @param parameters  of each layer its weights, then its biases; likewise
    /// @param scores      receives images x outputs of the last layer
    void forward(const float* pixels, const float* parameters, float* scores);
    /// After forward(). @param weights  derivatives by the scores  @param gradient  by the parameters
    void backward(const float* weights, float* gradient);

private:
    struct Steps;
    std::int64_t images_ = 0;
    std::unique_ptr<Steps> steps_;
};

}  // namespace quorate
