// SPDX-License-Identifier: BSD-2-Clause
#include "code/reed_solomon.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace quorate {

namespace {

using Complex = std::complex<long double>;

class ReedSolomonDecoder final : public Decoder {
public:
    ReedSolomonDecoder(Encoding encoding, int needed)
        : encoding_(std::move(encoding)), needed_(needed)
    {
    }
    void begin() override { received_.clear(); }
    const Decoding* receive(int worker) override
    {
        received_.push_back(worker);
        if (static_cast<int>(received_.size()) < needed_) return nullptr;
        std::ranges::sort(received_);
        decoding_ = reed_solomon_decoding(encoding_, received_);
        return decoding_ ? &*decoding_ : nullptr;
    }
    bool exact() const override { return true; }

private:
    Encoding encoding_;
    int needed_;
    std::vector<int> received_;
    std::optional<Decoding> decoding_;
};

}  // namespace

std::vector<Complex> reed_solomon_points(int n)
{
    std::vector<Complex> points;
    for (int i = 0; i < n; ++i)
        points.push_back(std::polar(1.0L, 2 * std::numbers::pi_v<long double> * i / n));
    return points;
}

std::optional<Decoding> reed_solomon_decoding(const Encoding& encoding,
                                              const std::vector<int>& workers)
{
    const auto points = reed_solomon_points(encoding.workers());
    const auto point = [&](int i) { return points[i]; };
    Decoding decoding;
    double largest = 1;
    for (const int i : workers) {
        Complex over = 1, under = 1;  // products first, because divisions are slow
        for (const int l : workers) {
            if (l == i) continue;
            over *= -point(l);
            under *= point(i) - point(l);
        }
        const Complex a = over / under;
        // Re(a m) = Re a Re m - Im a Im m
        decoding.weights.push_back({i, 0, static_cast<double>(a.real())});
        decoding.weights.push_back({i, 1, static_cast<double>(-a.imag())});
        largest = std::max(largest, static_cast<double>(std::abs(a)));
    }
    decoding.error = decode_error(encoding, decoding.weights, 1);
    // The comparison is written so that NaN is refused.
    if (!(std::sqrt(decoding.error) <= 1e-9 * largest)) return std::nullopt;
    return decoding;
}

GradientCode reed_solomon_code(int n, int k, int s)
{
    const auto points = reed_solomon_points(n);
    const auto point = [&](int i) { return points[i]; };
    Encoding encoding{
        k, std::vector<std::vector<Row>>(static_cast<std::size_t>(n), std::vector<Row>(2))};
    for (int j = 0; j < k; ++j) {
        const int first = static_cast<int>(static_cast<long>(j) * n / k);
        const auto holds = [&](int i) { return (i - first + n) % n <= s; };
        for (int i = 0; i < n; ++i) {
            if (!holds(i)) continue;
            Complex t = 1;
            for (int l = 0; l < n; ++l)
                if (!holds(l)) t *= (point(i) - point(l)) / -point(l);
            auto& parts = encoding.rows[i];
            parts[0].push_back({j, static_cast<double>(t.real())});
            parts[1].push_back({j, static_cast<double>(t.imag())});
        }
    }
    auto decoder = std::make_unique<ReedSolomonDecoder>(encoding, n - s);
    return {std::move(encoding), std::move(decoder)};
}

}  // namespace quorate
