// SPDX-License-Identifier: BSD-2-Clause
// A gradient code as a plugin: each worker holds its own partition and the next one's half; with an
// option of its own.
#include <quorate/quorate.hpp>

namespace {

using namespace quorate;

GradientCode make(const Settings& settings, const Problem& problem)
{
    const auto n = static_cast<std::size_t>(problem.workers);
    std::vector<std::vector<double>> matrix(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
        matrix[i][i] = 1;
        matrix[i][(i + 1) % n] += 0.5;
    }
    return code_from_matrix(matrix,
                            static_cast<int>(settings.integer("answers", 1, problem.workers)));
}

void add()
{
    add_code({"half",
              "",
              "own partition and half of the next",
              "a test",
              {{"answers", "N", "3", "that a round waits for", 0}},
              make,
              {.candidates = [](int n, bool) -> std::vector<Choice> {
                   return {{{"answers", std::to_string(n / 2)}}};
               },
               .blocked =
                   [](const Settings& settings, int n) {
                       return until_answers(n, static_cast<int>(settings.integer("answers", 1, n)));
                   }}});
}

}  // namespace

QUORATE_PLUGIN(add)
