// SPDX-License-Identifier: BSD-2-Clause
// An own gradient code: B from a CSV file, a line for each worker, decoded by least squares from
// the first answers. ./code B.csv 4 prints the decoding error and the time of each round.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <quorate/quorate.hpp>
#include <sstream>

namespace {

std::vector<std::vector<double>> read_matrix(const char* path)
{
    std::vector<std::vector<double>> matrix;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        matrix.emplace_back();
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');)
            matrix.back().push_back(std::stod(cell));
    }
    return matrix;
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s B.csv ANSWERS\n", argv[0]);
        return 2;
    }
    try {
        const auto matrix = read_matrix(argv[1]);
        const int collect = std::atoi(argv[2]);
        quorate::add_code({.name = "mine",
                           .arguments = "",
                           .text = "the matrix of a file",
                           .source = "",
                           .options = {},
                           .make = [&](const quorate::Settings&, const quorate::Problem&) {
                               return quorate::code_from_matrix(matrix, collect);
                           }});
        const auto trace = quorate::simulate({{"dry", "on"},
                                              {"workers", std::to_string(matrix.size())},
                                              {"rounds", "10"},
                                              {"scheme", "mine"},
                                              {"delay", "exponential:1"}});
        for (const auto& round : trace.rounds)
            std::printf("%.4f s, error %.4f\n", round.time, round.decode_error);
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "%s\n", wrong.what());
        return quorate::finish(1);
    }
    return quorate::finish(0);
}
