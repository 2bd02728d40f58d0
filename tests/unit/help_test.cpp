// SPDX-License-Identifier: BSD-2-Clause
// The help of all commands: everything is in it, once, and fits a terminal.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "cli/option_groups.hpp"
#include "cli/parse.hpp"
#include "cli/usage.hpp"
#include "support.hpp"

namespace quorate {
namespace {

std::string help(const std::string& name, const std::vector<std::string>& words)
{
    const auto command = command_named(name);
    return usage(command, parse(command, words));
}

TEST(Help, NoLineIsWiderThanATerminal)
{
    for (const auto& command : commands()) {
        if (command.run_words) continue;
        for (const auto* word : {"--help", "--help=all"})
            for (const auto& line : split(help(command.name, {word}), '\n'))
                EXPECT_LE(line.size(), help_width) << command.name << ": " << line;
    }
}

TEST(Help, EveryOptionIsInOneGroup)
{
    for (const auto& command : commands()) {
        std::multiset<std::string> found;
        for (const auto& group : option_groups(command))
            for (const auto& option : group.options) found.insert(option.name);
        const auto all = names(all_options(command));
        EXPECT_EQ(found, std::multiset<std::string>(all.begin(), all.end())) << command.name;
    }
}

TEST(Help, NoOptionIsWithoutAPurpose)
{
    // A new option needs a place in src/cli/option_groups.cpp.
    for (const auto& command : commands())
        for (const auto& group : option_groups(command))
            EXPECT_NE(group.title, "more") << command.name << " --" << group.options[0].name;
}

TEST(Help, WhatComesFirstIsThere)
{
    for (const auto& command : commands()) {
        const auto all = names(all_options(command));
        for (const auto& name : command.first)
            EXPECT_NE(std::ranges::find(all, name), all.end()) << command.name << " --" << name;
    }
}

TEST(Help, OptionsOfASchemeAreToldWithTheScheme)
{
    EXPECT_EQ(help("run", {"--help"}).find("  --collect M"), std::string::npos);
    const auto one = help("run", {"--scheme", "agc", "--help"});
    EXPECT_NE(one.find("  --collect M"), std::string::npos);
    EXPECT_EQ(one.find("  --trace"), std::string::npos);
    EXPECT_NE(help("tune", {"--optimizer", "momentum", "--help"}).find("  --momentum B"),
              std::string::npos);
    // Another word than the model of a run.
    EXPECT_NE(help("generate", {"--model", "ridge", "--help"}).find("  --noise X"),
              std::string::npos);
    EXPECT_EQ(test::refusal([] {
                  help("run", {"--scheme", "agx", "--help"});
              }),
              "--scheme is agx; did you mean agc?");
}

}  // namespace
}  // namespace quorate
