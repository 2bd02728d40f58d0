// SPDX-License-Identifier: BSD-2-Clause
#include "code/null_space_decoder.hpp"

#include "base/error.hpp"
#include "code/linear_algebra.hpp"

namespace quorate {

Eigen::VectorXd decoding_weights(const LinearCode& code, const std::vector<int>& missing)
{
    Eigen::VectorXd a = code.all_weights;
    if (missing.empty()) return a;
    if (code.null_space.cols() == 0) {
        for (const int i : missing) a[i] = 0;
        return a;
    }
    // The solver is rank-revealing and gives the shortest solution, because the equations are
    // nearly dependent if neighbouring workers are missing.
    a += code.null_space * shortest_solution(code.null_space(missing, Eigen::all), -a(missing));
    for (const int i : missing) a[i] = 0;
    return a;
}

Eigen::MatrixXd dense(const Encoding& encoding)
{
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(encoding.workers(), encoding.partitions);
    for (int i = 0; i < encoding.workers(); ++i)
        for (const auto& [j, value] : encoding.rows[i][0]) b(i, j) = value;
    return b;
}

double residual(const Encoding& encoding, const Eigen::VectorXd& weights)
{
    Eigen::VectorXd sum = Eigen::VectorXd::Constant(encoding.partitions, -1);
    for (int i = 0; i < encoding.workers(); ++i)
        for (const auto& [j, value] : encoding.rows[i][0]) sum[j] += weights[i] * value;
    return sum.lpNorm<Eigen::Infinity>();
}

NullSpaceDecoder::NullSpaceDecoder(LinearCode code, int needed)
    : code_(std::move(code)), needed_(needed)
{
    begin();
}

void NullSpaceDecoder::begin()
{
    received_.assign(code_.encoding.workers(), false);
    answers_ = 0;
}

const Decoding* NullSpaceDecoder::receive(int worker)
{
    received_[worker] = true;
    if (++answers_ < needed_) return nullptr;
    std::vector<int> missing;
    for (std::size_t i = 0; i < received_.size(); ++i)
        if (!received_[i]) missing.push_back(static_cast<int>(i));
    const auto* known = cache_.find(missing);
    if (!known) known = cache_.insert(missing, decode(missing));
    return *known ? &**known : nullptr;
}

std::optional<Decoding> NullSpaceDecoder::decode(const std::vector<int>& missing) const
{
    const auto a = decoding_weights(code_, missing);
    const double largest = std::max(1.0, a.lpNorm<Eigen::Infinity>());
    // The comparison is written so that NaN is refused.
    if (!(residual(code_.encoding, a) <= std::min(1e-6, 1e-9 * largest))) return std::nullopt;
    Decoding decoding;
    for (int i = 0; i < static_cast<int>(received_.size()); ++i)
        if (received_[i]) decoding.weights.push_back({i, 0, a[i]});
    decoding.error = decode_error(code_.encoding, decoding.weights, 1);
    return decoding;
}

GradientCode decoded_on_demand(LinearCode code, int needed, std::string warning)
{
    auto encoding = code.encoding;
    return {std::move(encoding), std::make_unique<NullSpaceDecoder>(std::move(code), needed),
            std::move(warning)};
}

GradientCode exact_code(Encoding encoding)
{
    const auto b = dense(encoding);
    std::size_t most = 1;
    for (const auto& parts : encoding.rows) most = std::max(most, parts[0].size());
    LinearCode code{std::move(encoding), left_null_space(b, static_cast<int>(b.rows()) - rank(b)),
                    shortest_solution(b.transpose(), Eigen::VectorXd::Ones(b.cols()))};
    if (!(residual(code.encoding, code.all_weights) <= 1e-9))
        throw BadInput(
            "the rows of this matrix cannot add up to ones, so that no answers give the exact "
            "gradient: say how many answers an approximate one collects");
    // Fewer answers than this do not even touch all partitions.
    const auto needed = (static_cast<std::size_t>(b.cols()) + most - 1) / most;
    return decoded_on_demand(std::move(code), static_cast<int>(needed));
}

}  // namespace quorate
