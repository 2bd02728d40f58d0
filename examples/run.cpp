// SPDX-License-Identifier: BSD-2-Clause
// Trains over MPI: mpiexec -n 7 ./run DATA.h5 (quorate generate --output DATA.h5 makes one).
#include <cstdio>
#include <exception>
#include <quorate/quorate.hpp>

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: mpiexec -n RANKS %s DATA.h5\n", argv[0]);
        return 2;
    }
    try {
        const auto trace = quorate::run({{"data", argv[1]},
                                         {"scheme", "agc"},
                                         {"optimizer", "agd"},
                                         {"step", "0.5"},
                                         {"rounds", "50"},
                                         {"delay", "exponential:0.01"}});
        if (trace) {  // rank 0
            const auto& last = trace->evaluations.back();
            std::printf("%zu rounds in %.3f s, training loss %.6f, AUC %.4f\n",
                        trace->rounds.size(), last.time, last.train_loss, last.auc);
        }
    } catch (const quorate::BadInput& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return quorate::finish(2);
    }
    return quorate::finish(0);
}
