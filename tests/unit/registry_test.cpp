// SPDX-License-Identifier: BSD-2-Clause
// The registries: what one line in a registry.cpp brings with it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "cli/usage.hpp"
#include "model/model.hpp"
#include "optimizer/optimizer.hpp"
#include "parts/components.hpp"
#include "parts/plugins.hpp"
#include "run/defaults.hpp"
#include "scheme/scheme.hpp"
#include "straggler/delay.hpp"
#include "support.hpp"
#include "tables/formats.hpp"

namespace quorate {
namespace {

// So that what holds for all entries is tested for those of plugins, before the tests are counted.
[[maybe_unused]] const bool with_plugins = [] {
    const char* files = std::getenv("QUORATE_TEST_PLUGINS");
    if (files) load_plugins(files);
    return files != nullptr;
}();

TEST(Registries, NamesAreUniqueAndEntriesExplainThemselves)
{
    for (const auto& kind : run_components()) {
        std::set<std::string> seen;
        for (const auto& one : kind.all) {
            EXPECT_TRUE(seen.insert(one.name).second) << kind.option << " " << one.name;
            EXPECT_FALSE(one.text.empty()) << one.name;
            EXPECT_EQ(one.name.find_first_of(" :,"), std::string::npos) << one.name;
            for (const auto& option : one.options) EXPECT_FALSE(option.text.empty()) << option.name;
        }
    }
}

// Of several with one name the command line takes the first, for all components.
TEST(Registries, OptionsThatComponentsShareAreTheSame)
{
    std::map<std::string, Option> seen;
    for (const auto& kind : run_components())
        for (const auto& one : kind.all)
            for (const auto& option : one.options) {
                const auto& first = seen.try_emplace(option.name, option).first->second;
                EXPECT_EQ(option.argument, first.argument) << one.name << " " << option.name;
                EXPECT_EQ(option.fallback, first.fallback) << one.name << " " << option.name;
                EXPECT_EQ(option.text, first.text) << one.name << " " << option.name;
            }
}

TEST(Registries, EveryKindOfComponentIsSeenByTheCommandLine)
{
    const auto count = [](const std::string& option) {
        for (const auto& kind : run_components())
            if (kind.option == option) return kind.all.size();
        return std::size_t{0};
    };
    EXPECT_EQ(count("scheme"), schemes().size());
    EXPECT_EQ(count("model"), models().size());
    EXPECT_EQ(count("optimizer"), optimizers().size());
    EXPECT_EQ(count("delay"), delays().size());
}

TEST(Registries, TheOptionsOfEveryEntryAreOptionsOfRunAndInItsHelp)
{
    const auto run = command_named("run");
    const auto settings = parse(run, {});
    const auto help = usage(run, parse(run, {"--help=all"}));
    for (const auto& kind : run_components())
        for (const auto& one : kind.all)
            for (const auto& option : one.options) {
                EXPECT_EQ(settings.text(option.name), option.fallback) << option.name;
                EXPECT_NE(help.find("--" + option.name), std::string::npos) << option.name;
            }
}

TEST(Registries, OptionsOfOneNameMeanTheSameEverywhere)
{
    // Declared once on the command line, so entries that share an option share its default.
    std::map<std::string, std::string> fallback;
    const auto look = [&](const Option& option) {
        const auto [at, is_new] = fallback.emplace(option.name, option.fallback);
        EXPECT_EQ(at->second, option.fallback) << option.name;
    };
    for (const auto& kind : run_components())
        for (const auto& one : kind.all)
            for (const auto& option : one.options) look(option);
    for (const auto& command : commands()) {
        std::set<std::string> seen;
        for (const auto& option : all_options(command))
            EXPECT_TRUE(seen.insert(option.name).second) << command.name << " --" << option.name;
    }
}

TEST(Registries, TheDefaultsOfRunCanBeMade)
{
    const auto settings = with_defaults(parse(command_named("run"), {}), {}, nullptr, {});
    EXPECT_NE(chosen(schemes(), settings, "scheme").make(settings, {4, 100}), nullptr);
    EXPECT_NE(chosen(models(), settings, "model").make(settings, {}), nullptr);
    EXPECT_NE(chosen(optimizers(), settings, "optimizer").make(settings, {1, 2}, {}), nullptr);
    EXPECT_NE(chosen(delays(), settings, "delay").make(settings, {.seed = 0, .machines = 4}),
              nullptr);
}

TEST(Registries, WhatFollowsAColonIsNoPartOfTheName)
{
    EXPECT_EQ(chosen(delays(), test::settings({{"delay", "constant:3"}}), "delay").name,
              "constant");
    EXPECT_EQ(test::refusal([] {
                  chosen(schemes(), test::settings({{"scheme", "frk"}}), "scheme");
              }),
              "--scheme is frk; did you mean frc?");
}

}  // namespace
}  // namespace quorate
