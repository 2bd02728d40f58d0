// SPDX-License-Identifier: BSD-2-Clause
#include "ways.hpp"

#include <algorithm>
#include <fstream>

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

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    auto name = info.param.scheme + "_" + std::to_string(info.index);
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
    std::ifstream file("tests/ways.txt");  // unit tests run in the repository
    std::vector<Way> all;
    for (std::string line; std::getline(file, line);)
        if (!line.starts_with('#')) {
            const auto end = line.find(' ');
            all.push_back({line.substr(0, end), line.substr(end + 1)});
        }
    return all;
}

std::vector<Way> eventful_ways()
{
    const std::string events =
        "--events '20e-3 leave 4; 50e-3 join 4; 75e-3 kill 2; 20r leave 5; 25r join 5'";
    const std::string network = "--latency 5e-4 --bandwidth 1e6";
    const std::string nodes = "--nodes 3 --aggregate node " + network;
    const std::string shares = "--nodes 3 --aggregate shares " + network;
    const std::string prefix = "--messages prefix --deadline 0.006 --stragglers 2";
    const std::string late = "--messages late --stragglers 2";
    std::vector<Way> all = {
        {"uncoded", network},
        {"uncoded", nodes},
        {"async", nodes},
        {"async", shares},
        {"pgc-cyclic", nodes + " --stragglers 2 --port separate"},
        {"dsag", nodes + " --subpartitions 3 --collect 4"},
        {"dsag", shares + " --subpartitions 3 --collect 4"},
        {"partial", nodes + " " + prefix},
        {"partial", nodes + " " + late},
        {"uncoded", "--slowdown gilbert-elliott:0.1,0.5,3"},
        {"dsag", "--balance equal --slowdown uneven:0.05,0.4,0.01,0.3,1.1,5,3,2"},
        {"uncoded", "--optimizer lbfgs --l1 0.01"},
        {"async", "--batch 100 --warmup 0.4e --schedule list:0.7e=2,1.5e=0.3"},
        {"uncoded", events},
        {"frc", events + " --standby 1"},
        {"frc", "--events failures:mtbf=0.1,repair=0.02"},
        {"uncoded", "--events failures:mtbf=0.1,repair=0.02,together=2 --on-loss wait"},
        {"frc", events + " --stragglers 2 --compressor qsgd:4,3"},
        {"frc", nodes + " " + events + " --standby 1"},
        {"frc", shares + " " + events + " --standby 1"},
        {"uncoded", nodes + " --workers 12 --events '5r kill 1; 5r kill 4; 5r kill 7; 5r kill 10'"},
        {"elastic", events + " --needed 4"},
        {"ignore", events + " --deadline adaptive:5,3,4"},
        {"partial", events + " --stragglers 2"},
        {"partial", events + " " + prefix},
        {"partial", events + " " + late + " --parts 2"},
        {"cyclic", events + " --optimizer lbfgs"},
        {"short-cyclic", events + " --fold 3"},
        {"pgc-cyclic", events},
        {"pgc-frc", events + " --workers 6"},
        {"pgc-frc", nodes + " --workers 6 --stragglers 2"},
        {"k-batch-async", events + " --keep-going"},
        {"k-batch-async", nodes + " --keep-going"},
        {"async", events},
        {"dsag", events + " --subpartitions 3"},
        {"amb", events + " --compute-time 0.003"},
        {"m-sgc", events + " --lambda 2 --wait-out quorum:6,0.1"},
        {"sr-sgc", events + " --lambda 2"},
        {"ata", events},
        {"malenia", events},
        {"ringleader", events},
    };
    for (const auto* optimizer : {"adam", "agd", "momentum", "rmsprop", "dual-averaging", "agd-eh"})
        all.push_back({"uncoded", std::string("--optimizer ") + optimizer});
    return all;
}

std::vector<Way> stateful_ways()
{
    const std::string inner = "--batch 70 --l2 0 --step 0.01 --inner-optimizer ";
    return {
        {"local-average", inner + "adam --local-steps 3"},
        {"local-average", inner + "momentum --local-steps 2 --collect 4"},
        {"anytime-sgd", inner + "adam --compute-time 0.004"},
        {"agc", "--stragglers 3 --compressor topk:0.3 --error-feedback"},
        {"frc", "--stragglers 2 --compressor qsgd:4,3 --error-feedback"},
        {"ignore", "--stragglers 2 --compressor sign:4 --error-feedback --wire float"},
        {"cyclic", "--stragglers 2 --compressor randk:0.4 --error-feedback"},
        {"amb", "--compute-time 0.004 --batch 70 --compressor topk:0.3 --error-feedback"},
        {"local-average", inner + "adam --compressor topk:0.3 --error-feedback"},
        {"local-average",
         inner + "adam --inner-state reset --compressor topk:0.3 --error-feedback"},
        {"async-local", inner + "adam --local-steps 3"},
        {"local-sgd", inner + "momentum --local-steps 2 --total 9"},
    };
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
