// SPDX-License-Identifier: BSD-2-Clause
#include "code/cyclic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "code/cyclic_matrix.hpp"

namespace quorate {

GradientCode cyclic_code(int n, int s)
{
    const bool spare = (n - s) % 2 == 0 && s > std::min(6, n / 4);
    const int tolerance = spare ? s + 1 : s;
    std::string warning;
    if (n > 100 || (n > 30 && tolerance > 9))
        warning = fmt::format(
            "cyclic codes were measured to n = 100 with 9 stragglers and n = 30 with any number, "
            "not to n = {} with {}: a pattern whose decoding fails the residual test waits for "
            "one more worker",
            n, s);
    return decoded_on_demand(mds_code(n, tolerance), n - s, std::move(warning));
}

Encoding cyclic_windows(int n, int c)
{
    Encoding encoding{n, {}};
    const std::vector<double> ones(c, 1.0);
    for (int i = 0; i < n; ++i) encoding.rows.push_back({cyclic_row(ones, n, i)});
    return encoding;
}

namespace {

class ResidueClassDecoder final : public Decoder {
public:
    ResidueClassDecoder(int n, int d) : n_(n), d_(d) { begin(); }
    void begin() override { missing_.assign(d_, n_ / d_); }
    const Decoding* receive(int worker) override
    {
        const int residue = worker % d_;
        if (--missing_[residue] > 0) return nullptr;
        decoding_.weights.clear();
        for (int i = residue; i < n_; i += d_) decoding_.weights.push_back({i, 0, 1});
        return &decoding_;
    }
    bool exact() const override { return true; }

private:
    int n_, d_;
    std::vector<int> missing_;  // answers, by class
    Decoding decoding_;
};

}  // namespace

GradientCode residue_class_code(int n, int s)
{
    return {cyclic_windows(n, s + 1), std::make_unique<ResidueClassDecoder>(n, s + 1)};
}

}  // namespace quorate
