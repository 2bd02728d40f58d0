// SPDX-License-Identifier: BSD-2-Clause
// Trains on rows in memory, simulated: two clouds of points. No file is named.
#include <cstdio>
#include <quorate/quorate.hpp>
#include <random>
#include <vector>

int main()
{
    constexpr int rows = 2000, columns = 10;
    std::mt19937 random(1);
    std::normal_distribution<double> noise;
    std::vector<double> x, y;
    for (int i = 0; i < rows; ++i) {
        y.push_back(i % 2);
        for (int j = 0; j < columns; ++j) x.push_back(noise(random) + 0.5 * (i % 2));
    }
    const quorate::Data data({quorate::DenseMatrix{x, columns}, y});
    for (const char* scheme : {"uncoded", "agc"}) {
        const auto trace = quorate::simulate(data, {{"workers", "10"},
                                                    {"scheme", scheme},
                                                    {"step", "0.5"},
                                                    {"rounds", "50"},
                                                    {"delay", "exponential:1"}});
        const auto& last = trace.evaluations.back();
        std::printf("%s: %g s, training loss %.4f\n", scheme, last.time, last.train_loss);
    }
}
