// SPDX-License-Identifier: BSD-2-Clause
#include "ways.hpp"

#include <algorithm>

#include "command.hpp"
#include "scheme/scheme.hpp"

namespace quorate::test {

bool Way::names(const std::string& option) const
{
    const auto words = words_in(options);
    return std::ranges::find(words, option) != words.end();
}

std::string Way::words(const std::string& common) const
{
    auto all = "--scheme " + scheme + " " + options;
    const auto words = words_in(common + " --workers 7");
    for (std::size_t i = 0; i + 1 < words.size(); i += 2)
        if (const Way now{"", all}; !now.names(words[i]))
            all += " " + words[i] + " " + words[i + 1];
    return all;
}

std::ostream& operator<<(std::ostream& out, const Way& way)
{
    return out << way.scheme << " " << way.options;
}

std::string name_of(const Way& way, std::size_t number)
{
    auto name = way.scheme + "_" + std::to_string(number);
    std::ranges::replace(name, '-', '_');
    return name;
}

std::vector<Way> tried_ways()
{
    std::vector<Way> all;
    for (const auto& entry : schemes())
        all.push_back({entry.name, words_of(entry.properties.example)});
    return all;
}

std::vector<Way> further_ways()
{
    return {
        {"ignore", "--weights horvitz-thompson"},
        {"ignore", "--weights ratio --reshuffle"},
        {"ignore", "--adaptive 3,1,1 --stragglers 0"},
        {"ignore", "--deadline 0.004 --stragglers 0"},
        {"ignore", "--deadline adaptive:4,2,5"},
        {"agc", "--deadline adaptive:3,1,5,0.01"},
        {"bernoulli", "--deadline adaptive:2,0,1"},
        {"frc", "--stragglers 2"},
        {"cyclic", "--stragglers 3 --coefficients random"},
        {"cyclic", "--stragglers 6 --coefficients ones"},
        {"reed-solomon", "--stragglers 2 --partitions 11"},
        {"partial", "--stragglers 2 --placement frc --chunks 3"},
        {"partial", "--stragglers 2 --order given --batch 70 --wire float"},
        {"partial", "--deadline 0.004 --rescale none"},
        {"partial", "--messages prefix --deadline 0.004 --stragglers 3"},
        {"partial", "--messages prefix --deadline 0.006 --chunks 4 --batch 70"},
        {"partial", "--messages prefix --deadline 0.02 --row-time 0.0003"},
        {"partial", "--messages prefix --deadline 1e-06"},
        {"partial", "--messages late --stragglers 2 --wire float"},
        {"partial", "--messages late --stragglers 3 --parts 2 --batch 70"},
        {"partial", "--messages late --stragglers 2 --parts 3 --deadline 0.004"},
        {"short-cyclic", "--stragglers 2 --fold 4"},
        {"short-cyclic", "--fold 3 --wire float"},
        {"uncoded", "--optimizer lbfgs"},
        {"cyclic", "--stragglers 2 --optimizer lbfgs --memory 3"},
        {"short-cyclic", "--stragglers 1 --optimizer lbfgs"},
        {"stochastic", "--deadline 0.005 --straggling 0.2"},
        {"is-gc", "--placement frc --degree 3"},
        {"nested", "--placement frc --stragglers 6"},
        {"amb", "--compute-time 0.004 --micro-batch 3 --batch 70"},
        {"amb", "--probe 2 --batch 70 --weights equal"},
        {"amb", "--compute-time 0.008 --samples-cap 70 --micro-batch 3"},
        {"anytime-sgd", "--compute-time 0.004 --batch 70 --l2 0.01"},
        {"local-average", "--batch 70 --local-steps 3 --l2 0.01"},
        {"amb-dg", "--compute-time 0.004 --samples-cap 70 --micro-batch 3"},
        {"k-batch-async", "--batch 70 --collect 12 --staleness-scale inverse"},
        {"async", "--batch 70 --staleness-cap 3"},
        {"async", "--batch 70 --staleness-scale adaptive"},
        {"ringmaster", "--batch 70 --staleness-cap 2 --stop-stale"},
        {"k-batch-sync", "--batch 70 --collect 9 --restart-after 0.004"},
        {"k-batch-sync", "--batch 70 --collect 40 --restart-after auto"},
        {"malenia", "--batch 70 --collect 9"},
        {"malenia", "--batch 70 --update-at each"},
        {"mindflayer", "--batch 70 --restart-after 0.004 --trials 3"},
        {"mindflayer", "--batch 70 --collect 30 --estimator expected"},
        {"ata", "--batch 70 --tasks 20"},
        {"ringleader", "--batch 70 --most 2"},
        {"ringleader", "--batch 70 --points newest"},
        {"ia2sgd", "--batch 70"},
        {"pgc-frc", "--stragglers 2 --workers 6"},
        {"pgc-cyclic", "--stragglers 2 --decoder mu --staleness-cap 3"},
        {"dsag", "--subpartitions 3 --stale drop --margin 0"},
        {"dsag", "--subpartitions 4 --estimator saga --order random --collect 3"},
        {"dsag", "--cache worker --wire float --staleness-cap 20"},
        {"dsag", "--cache worker --batch 100 --collect 2"},
        {"dsag", "--balance equal --subpartitions 3 --rounds 40"},
        {"dsag", "--balance authors --subpartitions 3 --rounds 40 --batch 140"},
        {"sr-sgc", "--burst 2 --window 5 --lambda 3"},
        {"sr-sgc", "--burst 0 --lambda 2"},
        {"m-sgc", "--burst 2 --window 4 --lambda 2 --models 5 --batch 100"},
        {"m-sgc", "--lambda 7 --mu 0.2"},
        {"agc", "--wire float"},
        {"anytime-sgd", "--compute-time 0.004 --batch 70 --wire bfloat16"},
        {"pgc-cyclic", "--stragglers 2 --wire bfloat16"},
        {"draco-repetition", "--byzantine sign-flip:2 --stragglers 0"},
        {"draco-repetition", "--byzantine nan:0,5 --stragglers 1 --tolerate 2"},
        {"draco-repetition", "--byzantine sign-flip:2 --stragglers 0 --wire float"},
        {"draco-cyclic", "--byzantine random:2,3 --stragglers 1 --tolerate 2"},
    };
}

std::vector<Way> eventful_ways()
{
    const std::string events =
        "--events '20e-3 leave 4; 50e-3 join 4; 75e-3 kill 2; 20r leave 5; 25r join 5'";
    const std::string network = "--latency 5e-4 --bandwidth 1e6";
    const std::string nodes = "--nodes 3 --aggregate node " + network;
    const std::string prefix = "--messages prefix --deadline 0.006 --stragglers 2";
    const std::string late = "--messages late --stragglers 2";
    std::vector<Way> all = {
        {"uncoded", network},
        {"uncoded", nodes},
        {"async", nodes},
        {"pgc-cyclic", nodes + " --stragglers 2 --port separate"},
        {"dsag", nodes + " --subpartitions 3 --collect 4"},
        {"partial", nodes + " " + prefix},
        {"partial", nodes + " " + late},
        {"uncoded", "--slowdown gilbert-elliott:0.1,0.5,3"},
        {"dsag", "--balance equal --slowdown uneven:0.05,0.4,0.01,0.3,1.1,5,3,2"},
        {"uncoded", "--optimizer lbfgs --l1 0.01"},
        {"async", "--batch 100 --warmup 0.4e --schedule list:0.7e=2,1.5e=0.3"},
        {"uncoded", events},
        {"frc", events + " --standby 1"},
        {"frc", nodes + " " + events + " --standby 1"},
        {"uncoded", nodes + " --workers 12 --events '5r kill 1; 5r kill 4; 5r kill 7; 5r kill 10'"},
        {"elastic", events + " --needed 4"},
        {"ignore", events + " --deadline adaptive:5,3,4"},
        {"partial", events + " --stragglers 2"},
        {"partial", events + " " + prefix},
        {"partial", events + " " + late + " --parts 2"},
        {"cyclic", events + " --optimizer lbfgs"},
        {"short-cyclic", events + " --fold 3"},
        {"pgc-cyclic", events},
        {"async", events},
        {"dsag", events + " --subpartitions 3"},
        {"amb", events + " --compute-time 0.003"},
        {"ata", events},
        {"malenia", events},
        {"ringleader", events},
    };
    for (const auto* optimizer : {"adam", "agd", "momentum", "rmsprop", "dual-averaging", "agd-eh"})
        all.push_back({"uncoded", std::string("--optimizer ") + optimizer});
    return all;
}

std::vector<Way> exact_ways()
{
    return {
        {"frc", "--workers 12 --stragglers 2"},
        {"frc", "--workers 12 --stragglers 4"},
        {"cyclic", "--workers 12 --stragglers 2"},
        {"cyclic", "--workers 12 --stragglers 3"},
        {"cyclic", "--workers 12 --stragglers 3 --coefficients random"},
        {"cyclic", "--workers 12 --stragglers 2 --coefficients ones"},
        {"reed-solomon", "--workers 12 --stragglers 3 --partitions 10"},
        {"partial", "--workers 12 --stragglers 2"},
        {"partial", "--workers 12 --stragglers 3 --placement frc --chunks 2"},
        {"partial", "--workers 12 --stragglers 3 --messages late --parts 2"},
        {"partial-frc", "--workers 12 --stragglers 2"},
        {"partial-cyclic", "--workers 12 --stragglers 2"},
        {"nested", "--workers 12 --stragglers 3"},
        {"nested", "--workers 12 --stragglers 3 --placement frc"},
        {"short-cyclic", "--workers 12 --stragglers 2"},
        {"short-cyclic", "--workers 12 --stragglers 3 --fold 5"},
        {"draco-repetition", "--workers 12 --stragglers 1"},
        {"draco-cyclic", "--workers 12 --stragglers 1"},
    };
}

}  // namespace quorate::test
