// SPDX-License-Identifier: BSD-2-Clause
#include "model/conv_net.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>
#include <functional>
#include <unordered_map>

#include "base/error.hpp"

namespace quorate {

using Kind = NetLayer::Kind;

std::int64_t NetLayer::weights() const
{
    switch (kind) {
        case Kind::conv: return outputs * channels * size * size;
        case Kind::dense: return outputs * inputs();
        case Kind::pool: break;
    }
    return 0;
}

namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;
using Arguments = std::unordered_map<int, dnnl::memory>;

Desc any(const Dims& dims) { return {dims, dnnl::memory::data_type::f32, Tag::any}; }

Desc plain(const Dims& dims)
{
    const Tag tags[] = {Tag::a, Tag::ab, Tag::abc, Tag::abcd};
    return {dims, dnnl::memory::data_type::f32, tags[dims.size() - 1]};
}

// A float array of the caller as memory of a plain format. Its address is set before each use.
struct Array {
    dnnl::memory memory;
    std::int64_t first;  // element of the caller's array
};

using Calls = std::vector<std::pair<dnnl::primitive, Arguments>>;

dnnl::primitive_attr with_relu(bool relu)
{
    dnnl::primitive_attr attributes;
    if (relu) {
        dnnl::post_ops after;
        after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
        attributes.set_post_ops(after);
    }
    return attributes;
}

// Runs with one thread. A primitive must run with as many threads as it was made for, or its
// threads wait for each other for ever. Several threads of a worker compute different chunks of
// rows.
class OneThread {
public:
    OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;
    ~OneThread() { omp_set_num_threads(before_); }

private:
    int before_;
};

void run(const Calls& calls, dnnl::stream& stream)
{
    const OneThread one;
    for (const auto& [call, arguments] : calls) call.execute(stream, arguments);
    stream.wait();
}

// oneDNN takes addresses without const, also of arrays that it only reads.
float* writable(const float* values) { return const_cast<float*>(values); }

}  // namespace

// The calls of oneDNN in their order. If two layers want memory in different formats, a reorder
// stands between them.
struct ConvNet::Steps {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    Calls forward, backward;
    dnnl::memory pixels, scores, weights;     // weights: derivatives by the scores
    std::vector<Array> parameters, gradient;  // of all layers

    // While layers are added: the output of the last layer, the number of parameters so far, and
    // for each layer a function that adds the calls of its way back, from the derivatives by its
    // output to those by its input.
    dnnl::memory value;
    std::int64_t elements = 0;
    std::vector<std::function<dnnl::memory(const dnnl::memory&)>> back;

    dnnl::memory memory(const Desc& desc) const { return {desc, engine}; }
    dnnl::memory outside(const Dims& dims) const { return {plain(dims), engine, nullptr}; }

    // Returns `from` in the format that is wanted.
    dnnl::memory as(const Desc& wanted, const dnnl::memory& from, Calls& calls) const
    {
        if (from.get_desc() == wanted) return from;
        auto to = memory(wanted);
        reorder(from, to, calls);
        return to;
    }
    static void reorder(const dnnl::memory& from, const dnnl::memory& to, Calls& calls)
    {
        calls.emplace_back(dnnl::reorder(from, to),
                           Arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    }
    // A place among the parameters, and in their gradient.
    std::pair<dnnl::memory, dnnl::memory> parameter(const Dims& dims, std::int64_t count)
    {
        parameters.push_back({outside(dims), elements});
        gradient.push_back({outside(dims), elements});
        elements += count;
        return {parameters.back().memory, gradient.back().memory};
    }

    void add_pool(const NetLayer& layer, std::int64_t images);
    void add_conv(const NetLayer& layer, std::int64_t images, bool relu);
    void add_dense(const NetLayer& layer, std::int64_t images, bool relu);
    template <class Forward, class BackwardWeights, class BackwardData>
    void add_weighted(const NetLayer& layer, const Dims& weights_shape, bool relu,
                      const typename Forward::desc& forward_of,
                      const typename BackwardWeights::desc& by_weights_of,
                      const typename BackwardData::desc& by_source_of);
    dnnl::memory before_relu(const dnnl::memory& result, const dnnl::memory& given);
};

void ConvNet::Steps::add_pool(const NetLayer& layer, std::int64_t images)
{
    using namespace dnnl;
    const Dims out = {images, layer.channels, layer.height / layer.size, layer.width / layer.size};
    const Dims window = {layer.size, layer.size}, zero = {0, 0};
    const auto maximum = algorithm::pooling_max;
    const pooling_forward::primitive_desc desc(
        {prop_kind::forward_training, maximum, value.get_desc(), any(out), window, window, zero,
         zero},
        engine);
    const auto source = value, result = memory(desc.dst_desc()),
               workspace = memory(desc.workspace_desc());
    forward.emplace_back(
        pooling_forward(desc),
        Arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}, {DNNL_ARG_WORKSPACE, workspace}});
    value = result;
    back.emplace_back([=, this](const dnnl::memory& given) {
        const pooling_backward::primitive_desc of(
            {maximum, source.get_desc(), result.get_desc(), window, window, zero, zero}, engine,
            desc);
        const auto by_result = as(of.diff_dst_desc(), given, backward);
        auto by_source = memory(of.diff_src_desc());
        backward.emplace_back(pooling_backward(of), Arguments{{DNNL_ARG_DIFF_DST, by_result},
                                                              {DNNL_ARG_DIFF_SRC, by_source},
                                                              {DNNL_ARG_WORKSPACE, workspace}});
        return by_source;
    });
}

// The derivatives by the output of a layer before its ReLU.
dnnl::memory ConvNet::Steps::before_relu(const dnnl::memory& result, const dnnl::memory& given)
{
    using namespace dnnl;
    const auto desc = result.get_desc();
    const eltwise_forward::primitive_desc hint(
        {prop_kind::forward_training, algorithm::eltwise_relu, desc, 0.f, 0.f}, engine);
    const eltwise_backward::primitive_desc of(
        {algorithm::eltwise_relu_use_dst_for_bwd, desc, desc, 0.f, 0.f}, engine, hint);
    const auto after = as(desc, given, backward);
    auto before = memory(desc);
    backward.emplace_back(
        eltwise_backward(of),
        Arguments{{DNNL_ARG_DST, result}, {DNNL_ARG_DIFF_DST, after}, {DNNL_ARG_DIFF_SRC, before}});
    return before;
}

template <class Forward, class BackwardWeights, class BackwardData>
void ConvNet::Steps::add_weighted(const NetLayer& layer, const Dims& weights_shape, bool relu,
                                  const typename Forward::desc& forward_of,
                                  const typename BackwardWeights::desc& by_weights_of,
                                  const typename BackwardData::desc& by_source_of)
{
    const bool is_first = back.empty();
    const auto [user_weights, by_user_weights] = parameter(weights_shape, layer.weights());
    const auto [bias, by_bias] = parameter({layer.outputs}, layer.biases());
    const typename Forward::primitive_desc desc(forward_of, with_relu(relu), engine);
    const auto source = as(desc.src_desc(), value, forward);
    const auto used = as(desc.weights_desc(), user_weights, forward);
    const auto result = memory(desc.dst_desc());
    forward.emplace_back(Forward(desc), Arguments{{DNNL_ARG_SRC, source},
                                                  {DNNL_ARG_WEIGHTS, used},
                                                  {DNNL_ARG_BIAS, bias},
                                                  {DNNL_ARG_DST, result}});
    value = result;
    back.emplace_back([=, this, by_weights = by_user_weights,
                       by_biases = by_bias](const dnnl::memory& given) {
        const auto by_result = relu ? before_relu(result, given) : given;
        const typename BackwardWeights::primitive_desc weights_desc(by_weights_of, engine, desc);
        const bool plain_format = by_weights.get_desc() == weights_desc.diff_weights_desc();
        const auto made = plain_format ? by_weights : memory(weights_desc.diff_weights_desc());
        const auto source_here = as(weights_desc.src_desc(), source, backward);
        const auto by_result_here = as(weights_desc.diff_dst_desc(), by_result, backward);
        backward.emplace_back(BackwardWeights(weights_desc),
                              Arguments{{DNNL_ARG_SRC, source_here},
                                        {DNNL_ARG_DIFF_DST, by_result_here},
                                        {DNNL_ARG_DIFF_WEIGHTS, made},
                                        {DNNL_ARG_DIFF_BIAS, by_biases}});
        if (!plain_format) reorder(made, by_weights, backward);
        if (is_first) return dnnl::memory();
        const typename BackwardData::primitive_desc data_desc(by_source_of, engine, desc);
        auto by_source = memory(data_desc.diff_src_desc());
        const auto by_result_there = as(data_desc.diff_dst_desc(), by_result, backward);
        const auto used_there = as(data_desc.weights_desc(), used, backward);
        backward.emplace_back(BackwardData(data_desc),
                              Arguments{{DNNL_ARG_DIFF_DST, by_result_there},
                                        {DNNL_ARG_WEIGHTS, used_there},
                                        {DNNL_ARG_DIFF_SRC, by_source}});
        return by_source;
    });
}

void ConvNet::Steps::add_conv(const NetLayer& layer, std::int64_t images, bool relu)
{
    using namespace dnnl;
    const Dims shape = {layer.outputs, layer.channels, layer.size, layer.size};
    const auto source = any({images, layer.channels, layer.height, layer.width}),
               filters = any(shape), bias = plain({layer.outputs}),
               result = any({images, layer.outputs, layer.height, layer.width});
    const Dims stride = {1, 1}, around = {layer.size / 2, layer.size / 2};
    const auto direct = algorithm::convolution_direct;
    add_weighted<convolution_forward, convolution_backward_weights, convolution_backward_data>(
        layer, shape, relu,
        {prop_kind::forward_training, direct, source, filters, bias, result, stride, around,
         around},
        {direct, source, filters, bias, result, stride, around, around},
        {direct, source, filters, result, stride, around, around});
}

void ConvNet::Steps::add_dense(const NetLayer& layer, std::int64_t images, bool relu)
{
    using namespace dnnl;
    Dims in = {images, layer.channels, layer.height, layer.width};
    // The output of a dense layer has no height and width.
    if (layer.height == 1 && layer.width == 1) in.resize(2);
    auto shape = in;
    shape[0] = layer.outputs;
    const auto source = any(in), matrix = any(shape), bias = plain({layer.outputs}),
               result = any({images, layer.outputs});
    add_weighted<inner_product_forward, inner_product_backward_weights,
                 inner_product_backward_data>(
        layer, shape, relu, {prop_kind::forward_training, source, matrix, bias, result},
        {source, matrix, bias, result}, {source, matrix, result});
}

ConvNet::ConvNet(const std::vector<NetLayer>& layers, std::int64_t images)
try : images_(images), steps_(std::make_unique<Steps>()) {
    const OneThread one;
    auto& s = *steps_;
    const auto& front = layers.front();
    s.pixels = s.value = s.outside({images, front.channels, front.height, front.width});
    for (const auto& layer : layers) {
        const bool relu = &layer != &layers.back();
        switch (layer.kind) {
            case Kind::pool: s.add_pool(layer, images); break;
            case Kind::conv: s.add_conv(layer, images, relu); break;
            case Kind::dense: s.add_dense(layer, images, relu); break;
        }
    }
    const Dims score_dims = {images, layers.back().outputs};
    s.scores = s.outside(score_dims);
    Steps::reorder(s.value, s.scores, s.forward);
    s.weights = s.outside(score_dims);
    auto given = s.weights;
    for (auto layer = s.back.rbegin(); layer != s.back.rend(); ++layer) given = (*layer)(given);
    s.back.clear();
} catch (const dnnl::error& error) {
    throw Failure(fmt::format("oneDNN cannot build this network: {}", error.what()));
}

ConvNet::~ConvNet() = default;

void ConvNet::forward(const float* pixels, const float* parameters, float* scores)
{
    auto& s = *steps_;
    s.pixels.set_data_handle(writable(pixels));
    for (auto& [memory, first] : s.parameters) memory.set_data_handle(writable(parameters + first));
    s.scores.set_data_handle(scores);
    run(s.forward, s.stream);
}

void ConvNet::backward(const float* weights, float* gradient)
{
    auto& s = *steps_;
    s.weights.set_data_handle(writable(weights));
    for (auto& [memory, first] : s.gradient) memory.set_data_handle(gradient + first);
    run(s.backward, s.stream);
}

}  // namespace quorate
