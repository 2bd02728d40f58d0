// SPDX-License-Identifier: BSD-2-Clause
// Exact gradient codes: every pattern of stragglers that they promise to decode.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <functional>
#include <numeric>
#include <random>

#include "code/cyclic.hpp"
#include "code/cyclic_matrix.hpp"
#include "code/fractional_repetition.hpp"
#include "code/reed_solomon.hpp"
#include "linear_algebra.hpp"
#include "patterns.hpp"

namespace quorate {
namespace {

using namespace test;

// Relative error of decoded sums, for random partition gradients of 16 numbers.
class CodeTrial {
public:
    explicit CodeTrial(GradientCode code) : code_(std::move(code))
    {
        std::mt19937 generator(1);
        std::normal_distribution<double> normal;
        gradients_ = Eigen::MatrixXd(code_.encoding.partitions, 16);
        for (auto& g : gradients_.reshaped()) g = normal(generator);
        exact_ = gradients_.colwise().sum();
    }

    int workers() const { return code_.encoding.workers(); }

    /// The first decoding when all but `missing` answer in the order of their numbers, and then the
    /// missing ones too. @return infinity: none
    double error(const Pattern& missing)
    {
        code_.decoder->begin();
        answers = 0;
        const auto at = [&](int worker) { return std::ranges::count(missing, worker) > 0; };
        const Decoding* decoding = nullptr;
        for (const bool late : {false, true})
            for (int i = 0; i < workers() && !decoding; ++i)
                if (at(i) == late) {
                    ++answers;
                    decoding = code_.decoder->receive(i);
                }
        if (!decoding) return std::numeric_limits<double>::infinity();
        stated = decoding->error;
        Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(16);
        for (const auto& [worker, part, weight] : decoding->weights)
            for (const auto& [j, b] : code_.encoding.rows[static_cast<std::size_t>(worker)]
                                                         [static_cast<std::size_t>(part)])
                sum += weight * b * gradients_.row(j);
        return (decoding->scale * sum - exact_).norm() / exact_.norm();
    }

    int answers = 0;    // of the last error()
    double stated = 0;  // the decoder's own error

private:
    GradientCode code_;
    Eigen::MatrixXd gradients_;
    Eigen::RowVectorXd exact_;
};

// Runs of neighbours (stride 1) and evenly spaced ones, from every start.
void for_strided_patterns(int n, int s, int stride, const std::function<void(const Pattern&)>& f)
{
    for (int start = 0; start < n; ++start) {
        Pattern pattern;
        for (int i = 0; i < s; ++i) pattern.push_back((start + i * stride) % n);
        std::ranges::sort(pattern);
        if (std::ranges::adjacent_find(pattern) == pattern.end()) f(pattern);
    }
}

// All patterns to n = 12; above, random, contiguous and evenly spaced ones.
void for_patterns(int n, int s, const std::function<void(const Pattern&)>& f)
{
    if (n <= 12) {
        for_all_patterns(n, s, f);
        return;
    }
    for_random_patterns(n, s, 2000, f);
    for (int stride = 1; stride < n; ++stride) for_strided_patterns(n, s, stride, f);
}

void expect_exact(GradientCode code, int s, double tolerance, const std::string& what)
{
    CodeTrial trial(std::move(code));
    const int n = trial.workers();
    double worst = 0, worst_stated = 0;
    for_patterns(n, s, [&](const Pattern& missing) {
        worst = std::max(worst, trial.error(missing));
        worst_stated = std::max(worst_stated, trial.stated);
        ASSERT_LE(trial.answers, n - s) << what;
    });
    EXPECT_LE(worst, tolerance) << what;
    EXPECT_LE(worst_stated, tolerance * n) << what;
}

std::string name(const char* kind, int n, int s)
{
    return std::string(kind) + ", n = " + std::to_string(n) + ", s = " + std::to_string(s);
}

TEST(ExactCodes, CyclicDecodesEveryPatternToTwelveWorkers)
{
    for (int n = 1; n <= 12; ++n)
        for (int s = 0; s < n; ++s) expect_exact(cyclic_code(n, s), s, 1e-9, name("cyclic", n, s));
}

TEST(ExactCodes, CyclicDecodesThePatternsOfThirtyWorkers)
{
    for (const int s : {1, 2, 3, 4, 5, 6, 7, 9, 13, 15, 22, 29})
        expect_exact(cyclic_code(30, s), s, (30 - s) % 2 == 0 && 4 * s <= 30 ? 1e-8 : 1e-9,
                     name("cyclic", 30, s));
}

TEST(ExactCodes, CyclicDecodesRandomPatternsOfAHundredWorkers)
{
    for (int s = 1; s <= 9; ++s) {
        CodeTrial trial(cyclic_code(100, s));
        double worst = 0;
        for_random_patterns(100, s, 2000, [&](const Pattern& missing) {
            worst = std::max(worst, trial.error(missing));
            ASSERT_LE(trial.answers, 100 - s);
        });
        EXPECT_LE(worst, 1e-9) << "s = " << s;
    }
}

TEST(ExactCodes, CyclicDecodesRunsOfAHundredWorkersOrWaitsForOneMore)
{
    for (int s = 1; s <= 9; ++s) {
        CodeTrial trial(cyclic_code(100, s));
        double worst = 0;
        int waited = 0;
        for (int stride = 1; stride < 100; ++stride)
            for_strided_patterns(100, s, stride, [&](const Pattern& missing) {
                worst = std::max(worst, trial.error(missing));
                waited = std::max(waited, trial.answers - (100 - s));
            });
        EXPECT_LE(worst, s <= 5 ? 1e-9 : 1e-5) << "s = " << s;
        EXPECT_LE(waited, s <= 5 ? 0 : 1) << "s = " << s;
    }
}

TEST(ExactCodes, OnesAndRepetitionAreExactToTheLastDigits)
{
    for (int n = 1; n <= 12; ++n)
        for (int d = 1; d <= n; ++d) {
            if (n % d == 0)
                for_patterns(n, d - 1,
                             [&, trial = std::make_shared<CodeTrial>(residue_class_code(n, d - 1))](
                                 const Pattern& missing) {
                                 ASSERT_LE(trial->error(missing), 1e-12) << name("ones", n, d - 1);
                                 ASSERT_LE(trial->answers, n - (d - 1));
                                 ASSERT_EQ(trial->stated, 0);
                             });
            expect_exact(fractional_repetition(n, d), d - 1, 1e-12, name("frc", n, d - 1));
        }
    for (const int d : {2, 3, 5, 6, 10}) {
        expect_exact(residue_class_code(30, d - 1), d - 1, 1e-12, name("ones", 30, d - 1));
        expect_exact(fractional_repetition(30, d), d - 1, 1e-12, name("frc", 30, d - 1));
    }
    expect_exact(fractional_repetition(31, 4), 3, 1e-12, name("frc", 31, 3));
}

TEST(ExactCodes, TheBestOfRandomDrawsDecodes)
{
    for (const auto& [n, s] : {std::pair{6, 2}, {10, 3}, {12, 5}, {30, 3}, {30, 5}}) {
        auto [code, largest] = random_cyclic_code(n, s, 3);
        EXPECT_LE(largest, 1e5) << name("random", n, s);
        expect_exact(decoded_on_demand(std::move(code), n - s), s, 1e-7, name("random", n, s));
    }
}

TEST(ExactCodes, ReedSolomonDecodesWithOtherNumbersOfPartitions)
{
    for (int n = 1; n <= 9; ++n)
        for (int s = 0; s < n; ++s)
            for (const int k : {1, n - 1, n, n + 3, 2 * n})
                if (k > 0) expect_exact(reed_solomon_code(n, k, s), s, 1e-9, name("RS", n, s));
    for (const auto& [n, s] : {std::pair{12, 3}, {20, 5}, {30, 9}})
        expect_exact(reed_solomon_code(n, n, s), s, 1e-8, name("RS", n, s));
}

TEST(ExactCodes, FewerStragglersAreNoLessExact)
{
    for (const int s : {4, 5}) {
        const auto code = mds_code(20, s);
        for (int fewer = 0; fewer <= s; ++fewer) {
            double worst = 0;
            for_random_patterns(20, fewer, 300, [&](const Pattern& missing) {
                worst = std::max(worst, residual(code.encoding, decoding_weights(code, missing)));
            });
            EXPECT_LE(worst, 1e-11) << fewer << " of " << s;
        }
    }
}

TEST(ExactCodes, OneStragglerTooManyIsSeen)
{
    // A run of s + 1 takes all copies of a partition; other patterns may happen to be decodable.
    for (const auto& [n, s] : {std::pair{8, 3}, {9, 3}, {12, 4}, {30, 9}})
        for_strided_patterns(n, s + 1, 1, [code = mds_code(n, s)](const Pattern& missing) {
            EXPECT_GT(residual(code.encoding, decoding_weights(code, missing)), 1e-3);
        });
    const auto random = random_cyclic_code(10, 3, 1).code;
    for_all_patterns(10, 4, [&](const Pattern& missing) {
        EXPECT_GT(residual(random.encoding, decoding_weights(random, missing)), 1e-3);
    });
}

TEST(ExactCodes, NullSpaceAndWeightsOfAllAreWhatTheySay)
{
    for (const auto& [n, s] :
         {std::pair{5, 0}, {6, 2}, {7, 3}, {12, 5}, {30, 4}, {30, 9}, {100, 9}, {100, 8}}) {
        const auto code = mds_code(n, s);
        Eigen::MatrixXd b = Eigen::MatrixXd::Zero(n, n);
        for (int i = 0; i < n; ++i) {
            const auto& row = code.encoding.rows[static_cast<std::size_t>(i)][0];
            EXPECT_TRUE(std::ranges::is_sorted(row, {}, &Coefficient::partition));
            // The support is exactly the window i, ..., i + s.
            ASSERT_EQ(row.size(), static_cast<std::size_t>(s + 1));
            for (const auto& [j, value] : row) {
                EXPECT_LE((j - i + n) % n, s);
                EXPECT_NE(value, 0);
                b(i, j) = value;
            }
        }
        const double cyclic = (n - s) % 2 ? 1 : 100;  // the negacyclic ones lose two digits
        if (s > 0) {
            EXPECT_LE((code.null_space.transpose() * b).norm(), 1e-12 * cyclic);
            EXPECT_LE(
                (code.null_space.transpose() * code.null_space - Eigen::MatrixXd::Identity(s, s))
                    .norm(),
                1e-12);
        }
        EXPECT_LE((b.transpose() * code.all_weights - Eigen::VectorXd::Ones(n)).norm(),
                  1e-12 * cyclic)
            << name("cyclic", n, s);
    }
}

TEST(ExactCodes, DecodingOnDemandAgreesWithLeastSquares)
{
    const int n = 12, s = 5;
    const auto code = mds_code(n, s);
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i)
        for (const auto& [j, value] : code.encoding.rows[static_cast<std::size_t>(i)][0])
            b(i, j) = value;
    for (const int missing : {0, 2, 5})
        for_random_patterns(n, missing, 100, [&](const Pattern& pattern) {
            std::vector<int> alive;
            for (int i = 0; i < n; ++i)
                if (!std::ranges::count(pattern, i)) alive.push_back(i);
            const Eigen::MatrixXd rows = b(alive, Eigen::all).transpose();
            const Eigen::VectorXd expected =
                test::solve_least_squares(rows, Eigen::VectorXd::Ones(n));
            const auto a = decoding_weights(code, pattern);
            EXPECT_LE((a(alive) - expected).norm(), 1e-9 * expected.norm());
        });
}

TEST(ExactCodes, ACachedDecodingHasTheSameBits)
{
    NullSpaceDecoder decoder(mds_code(20, 5), 15);
    const auto decode = [&](int first_missing) {
        decoder.begin();
        const Decoding* decoding = nullptr;
        for (int i = 0; i < 20; ++i)
            if ((i - first_missing + 20) % 20 >= 5) decoding = decoder.receive(i);
        return decoding->weights;
    };
    const auto cold = decode(3);
    decode(7);
    EXPECT_EQ(decode(3), cold);
    EXPECT_EQ(NullSpaceDecoder(mds_code(20, 5), 15).receive(0), nullptr);
}

TEST(ExactCodes, BeyondWhatWasMeasuredTheyWarn)
{
    EXPECT_EQ(cyclic_code(100, 9).warning, "");
    EXPECT_EQ(cyclic_code(30, 29).warning, "");
    EXPECT_NE(cyclic_code(101, 2).warning, "");
    EXPECT_NE(cyclic_code(100, 12).warning, "");
}

}  // namespace
}  // namespace quorate
