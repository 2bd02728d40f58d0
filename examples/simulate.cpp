// SPDX-License-Identifier: BSD-2-Clause
// Simulates three schemes with the same stragglers, and prints how long their rounds take.
#include <cstdio>
#include <exception>
#include <quorate/quorate.hpp>

int main()
{
    try {
        quorate::Options options = {{"dry", "on"},
                                    {"workers", "12"},
                                    {"rounds", "200"},
                                    {"row-time", "1e-4"},
                                    {"delay", "exponential:0.5"}};
        std::printf("%-10s %12s %12s\n", "scheme", "s a round", "decode error");
        for (const auto* scheme : {"uncoded", "frc", "agc"}) {
            options["scheme"] = scheme;
            const auto trace = quorate::simulate(options);
            double error = 0;
            for (const auto& round : trace.rounds) error += round.decode_error;
            const auto rounds = static_cast<double>(trace.rounds.size());
            std::printf("%-10s %12.4f %12.4f\n", scheme, trace.rounds.back().time / rounds,
                        error / rounds);
        }
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return quorate::finish(1);
    }
    return quorate::finish(0);
}
