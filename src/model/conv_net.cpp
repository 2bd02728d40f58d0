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

// A float array as memory of a plain format; the caller's address is set before each use.
struct Array {
    dnnl::memory memory;
    std::int64_t first;  // element of the caller's array
};

}  // namespace

// The calls in their order. Memory that two layers want in different formats is reordered between.
struct ConvNet::Steps {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::vector<std::pair<dnnl::primitive, Arguments>> forward, backward;
    dnnl::memory pixels, scores, weights;     // weights: derivatives by the scores
    std::vector<Array> parameters, gradient;  // of all layers

    dnnl::memory memory(const Desc& desc) const { return {desc, engine}; }
    dnnl::memory outside(const Dims& dims) const { return {plain(dims), engine, nullptr}; }

    // `from` in the format wanted.
    dnnl::memory as(const Desc& wanted, const dnnl::memory& from,
                    std::vector<std::pair<dnnl::primitive, Arguments>>& calls) const
    {
        if (from.get_desc() == wanted) return from;
        auto to = memory(wanted);
        calls.emplace_back(dnnl::reorder(from, to),
                           Arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
        return to;
    }
    // What a call fills in its own format, and then goes to `to`.
    dnnl::memory before(const Desc& given, const dnnl::memory& to) const
    {
        return to.get_desc() == given ? to : memory(given);
    }
    void deliver(const dnnl::memory& from, const dnnl::memory& to)
    {
        if (from == to) return;
        backward.emplace_back(dnnl::reorder(from, to),
                              Arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    }
};

namespace {

using Calls = std::vector<std::pair<dnnl::primitive, Arguments>>;

// A conv or dense layer forward; both have the same arguments.
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

// A primitive must run with as many threads as it was made for, or its threads wait for each other for
// ever: always one. What OpenMP has to share out are chunks of rows.
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

// oneDNN takes addresses without const, also of what it only reads.
float* writable(const float* values) { return const_cast<float*>(values); }

}  // namespace

ConvNet::ConvNet(const std::vector<NetLayer>& layers, std::int64_t images)
try : images_(images), steps_(std::make_unique<Steps>()) {
    using namespace dnnl;
    const OneThread one;
    auto& s = *steps_;
    // Backward calls, layer by layer; they run in reverse order of the layers. Each takes the
    // derivatives by what its layer gives, and returns those by what comes in.
    std::vector<std::function<memory(const memory&)>> back;
    const auto& front = layers.front();
    s.pixels = s.outside({images, front.channels, front.height, front.width});
    memory value = s.pixels;
    std::int64_t first = 0;

    for (std::size_t l = 0; l < layers.size(); ++l) {
        const auto& layer = layers[l];
        const bool is_first = l == 0, relu = l + 1 < layers.size();
        const Dims in = {images, layer.channels, layer.height, layer.width};
        if (layer.kind == Kind::pool) {
            const Dims out = {images, layer.channels, layer.height / layer.size,
                              layer.width / layer.size};
            const Dims window = {layer.size, layer.size}, zero = {0, 0};
            const pooling_forward::primitive_desc desc(
                {prop_kind::forward_training, algorithm::pooling_max, value.get_desc(), any(out),
                 window, window, zero, zero},
                s.engine);
            const auto source = value, result = s.memory(desc.dst_desc()),
                       workspace = s.memory(desc.workspace_desc());
            s.forward.emplace_back(pooling_forward(desc),
                                   Arguments{{DNNL_ARG_SRC, source},
                                             {DNNL_ARG_DST, result},
                                             {DNNL_ARG_WORKSPACE, workspace}});
            value = result;
            back.emplace_back([=, &s](const memory& given) {
                const pooling_backward::primitive_desc backwards(
                    {algorithm::pooling_max, source.get_desc(), result.get_desc(), window, window,
                     zero, zero},
                    s.engine, desc);
                const auto by_result = s.as(backwards.diff_dst_desc(), given, s.backward);
                const auto by_source = s.memory(backwards.diff_src_desc());
                s.backward.emplace_back(pooling_backward(backwards),
                                        Arguments{{DNNL_ARG_DIFF_DST, by_result},
                                                  {DNNL_ARG_DIFF_SRC, by_source},
                                                  {DNNL_ARG_WORKSPACE, workspace}});
                return by_source;
            });
            continue;
        }

        const bool conv = layer.kind == Kind::conv;
        const bool flat = !conv && layer.height == 1 && layer.width == 1;
        const Dims source_dims = flat ? Dims{images, layer.channels} : in;
        const Dims weight_dims =
            conv   ? Dims{layer.outputs, layer.channels, layer.size, layer.size}
            : flat ? Dims{layer.outputs, layer.channels}
                   : Dims{layer.outputs, layer.channels, layer.height, layer.width};
        const Dims result_dims = conv ? Dims{images, layer.outputs, layer.height, layer.width}
                                      : Dims{images, layer.outputs};
        const Dims bias_dims = {layer.outputs}, stride = {1, 1};
        const Dims around = {layer.size / 2, layer.size / 2};
        s.parameters.push_back({s.outside(weight_dims), first});
        s.gradient.push_back({s.outside(weight_dims), first});
        const auto user_weights = s.parameters.back().memory,
                   by_user_weights = s.gradient.back().memory;
        first += layer.weights();
        s.parameters.push_back({s.outside(bias_dims), first});
        s.gradient.push_back({s.outside(bias_dims), first});
        const auto bias = s.parameters.back().memory, by_bias = s.gradient.back().memory;
        first += layer.biases();

        const auto add = [&, value, relu](const auto& forward_desc, const auto& make_data,
                                          const auto& make_weights, auto forward_call,
                                          auto data_call, auto weights_call) {
            const auto source = s.as(forward_desc.src_desc(), value, s.forward);
            const auto weights = s.as(forward_desc.weights_desc(), user_weights, s.forward);
            auto result = s.memory(forward_desc.dst_desc());
            s.forward.emplace_back(forward_call(forward_desc),
                                   Arguments{{DNNL_ARG_SRC, source},
                                             {DNNL_ARG_WEIGHTS, weights},
                                             {DNNL_ARG_BIAS, bias},
                                             {DNNL_ARG_DST, result}});
            back.emplace_back([=, &s](const memory& given) {
                auto by_result = given;
                if (relu) {
                    const eltwise_forward::primitive_desc hint(
                        {prop_kind::forward_training, algorithm::eltwise_relu, result.get_desc(),
                         0.f, 0.f},
                        s.engine);
                    const eltwise_backward::primitive_desc desc(
                        {algorithm::eltwise_relu_use_dst_for_bwd, result.get_desc(),
                         result.get_desc(), 0.f, 0.f},
                        s.engine, hint);
                    const auto before = s.as(result.get_desc(), given, s.backward);
                    by_result = s.memory(result.get_desc());
                    s.backward.emplace_back(eltwise_backward(desc),
                                            Arguments{{DNNL_ARG_DST, result},
                                                      {DNNL_ARG_DIFF_DST, before},
                                                      {DNNL_ARG_DIFF_SRC, by_result}});
                }
                const auto of_weights = make_weights(forward_desc);
                const auto by_weights = s.before(of_weights.diff_weights_desc(), by_user_weights);
                s.backward.emplace_back(
                    weights_call(of_weights),
                    Arguments{{DNNL_ARG_SRC, s.as(of_weights.src_desc(), source, s.backward)},
                              {DNNL_ARG_DIFF_DST,
                               s.as(of_weights.diff_dst_desc(), by_result, s.backward)},
                              {DNNL_ARG_DIFF_WEIGHTS, by_weights},
                              {DNNL_ARG_DIFF_BIAS, by_bias}});
                s.deliver(by_weights, by_user_weights);
                if (is_first) return memory();
                const auto of_data = make_data(forward_desc);
                auto by_source = s.memory(of_data.diff_src_desc());
                s.backward.emplace_back(
                    data_call(of_data),
                    Arguments{
                        {DNNL_ARG_DIFF_DST, s.as(of_data.diff_dst_desc(), by_result, s.backward)},
                        {DNNL_ARG_WEIGHTS, s.as(of_data.weights_desc(), weights, s.backward)},
                        {DNNL_ARG_DIFF_SRC, by_source}});
                return by_source;
            });
            return result;
        };

        if (conv) {
            const auto direct = algorithm::convolution_direct;
            value = add(
                convolution_forward::primitive_desc(
                    {prop_kind::forward_training, direct, any(source_dims), any(weight_dims),
                     plain(bias_dims), any(result_dims), stride, around, around},
                    with_relu(relu), s.engine),
                [=, &s](const auto& hint) {
                    return convolution_backward_data::primitive_desc(
                        {direct, any(source_dims), any(weight_dims), any(result_dims), stride,
                         around, around},
                        s.engine, hint);
                },
                [=, &s](const auto& hint) {
                    return convolution_backward_weights::primitive_desc(
                        {direct, any(source_dims), any(weight_dims), plain(bias_dims),
                         any(result_dims), stride, around, around},
                        s.engine, hint);
                },
                [](const auto& desc) { return convolution_forward(desc); },
                [](const auto& desc) { return convolution_backward_data(desc); },
                [](const auto& desc) { return convolution_backward_weights(desc); });
        } else {
            value = add(
                inner_product_forward::primitive_desc(
                    {prop_kind::forward_training, any(source_dims), any(weight_dims),
                     plain(bias_dims), any(result_dims)},
                    with_relu(relu), s.engine),
                [=, &s](const auto& hint) {
                    return inner_product_backward_data::primitive_desc(
                        {any(source_dims), any(weight_dims), any(result_dims)}, s.engine, hint);
                },
                [=, &s](const auto& hint) {
                    return inner_product_backward_weights::primitive_desc(
                        {any(source_dims), any(weight_dims), plain(bias_dims), any(result_dims)},
                        s.engine, hint);
                },
                [](const auto& desc) { return inner_product_forward(desc); },
                [](const auto& desc) { return inner_product_backward_data(desc); },
                [](const auto& desc) { return inner_product_backward_weights(desc); });
        }
    }
    const Dims score_dims = {images, layers.back().outputs};
    s.scores = s.outside(score_dims);
    s.forward.emplace_back(reorder(value, s.scores),
                           Arguments{{DNNL_ARG_FROM, value}, {DNNL_ARG_TO, s.scores}});
    s.weights = s.outside(score_dims);
    auto given = s.weights;
    for (auto layer = back.rbegin(); layer != back.rend(); ++layer) given = (*layer)(given);
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
