// SPDX-License-Identifier: BSD-2-Clause
#include "cli/parse.hpp"
#include "base/ini.hpp"
#include "cli/usage.hpp"

#include <gtest/gtest.h>

#include "parts/components.hpp"
#include "run/recorded.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::refusal;

Command command(const std::string& operand = "")
{
    return {"cook",
            "a command",
            operand,
            {{"rounds", "N", "100", "how often"},
             {"round-trip", "N", "", "a longer name"},
             {"fast", "", "", "a switch"}},
            nullptr};
}

TEST(Parse, GivesDefaultsAndWhatWasGiven)
{
    const auto got = parse(command(), {"--rounds", "7", "--fast"});
    EXPECT_EQ(got.text("rounds"), "7");
    EXPECT_TRUE(got.given("rounds"));
    EXPECT_TRUE(got.on("fast"));
    EXPECT_FALSE(got.on("round-trip"));
    EXPECT_EQ(parse(command(), {}).text("rounds"), "100");
    EXPECT_FALSE(parse(command(), {}).given("rounds"));
}

TEST(Parse, TakesAnEqualsSignAndANegativeNumber)
{
    EXPECT_EQ(parse(command(), {"--rounds=7"}).text("rounds"), "7");
    EXPECT_EQ(parse(command(), {"--rounds", "-7"}).text("rounds"), "-7");
}

TEST(Parse, TakesOperandsOfWhichOneInBracketsMayBeLeftOut)
{
    EXPECT_EQ(parse(command("WHAT [NAME]"), {"a", "b"}).text("NAME"), "b");
    EXPECT_EQ(parse(command("WHAT [NAME]"), {"a"}).text("NAME"), "");
    EXPECT_EQ(parse(command("WHAT [NAME]"), {"a"}).text("WHAT"), "a");
    EXPECT_EQ(refusal([] { parse(command("WHAT [NAME]"), {}); }),
              "quorate cook needs WHAT: quorate cook WHAT [NAME]");
    EXPECT_EQ(refusal([] {
                  parse(command("WHAT [NAME]"), {"a", "b", "c"});
              }),
              "quorate cook: unexpected argument c: options begin with --");
}

TEST(Parse, HelpForAllOptionsIsWrittenInTwoWays)
{
    EXPECT_EQ(parse(command("FILE"), {"--help"}).text("help"), "on");
    EXPECT_EQ(parse(command("FILE"), {"--help=all"}).text("help"), "all");
    EXPECT_EQ(parse(command("FILE"), {"--help", "all"}).text("help"), "all");
    EXPECT_EQ(parse(command("FILE"), {"all"}).text("help"), "");
}

TEST(Parse, NamesTheNearestOptionForOneItDoesNotKnow)
{
    EXPECT_EQ(refusal([] {
                  parse(command(), {"--ruonds", "3"});
              }),
              "quorate cook has no option --ruonds; did you mean --rounds?");
    EXPECT_EQ(refusal([] { parse(command(), {"--ruonds=3"}); }),
              "quorate cook has no option --ruonds; did you mean --rounds?");
    EXPECT_EQ(refusal([] { parse(command(), {"--banana"}); }),
              "quorate cook has no option --banana; see quorate cook --help");
}

TEST(Parse, RefusesAbbreviations)
{
    EXPECT_EQ(refusal([] {
                  parse(command(), {"--round", "3"});
              }),
              "quorate cook has no option --round; did you mean --rounds?");
    EXPECT_EQ(refusal([] { parse(command(), {"--fas"}); }),
              "quorate cook has no option --fas; did you mean --fast?");
}

TEST(Parse, RefusesAnOptionGivenTwiceOrWithoutItsValue)
{
    EXPECT_EQ(refusal([] {
                  parse(command(), {"--rounds", "1", "--rounds", "2"});
              }),
              "quorate cook: --rounds is given twice: give it once");
    EXPECT_NE(refusal([] { parse(command(), {"--rounds"}); }).find("--rounds"), std::string::npos);
}

TEST(Parse, WantsItsOperandAndNoMore)
{
    EXPECT_EQ(parse(command("FILE"), {"a.h5"}).text("FILE"), "a.h5");
    EXPECT_EQ(parse(command("FILE"), {"--fast", "a.h5"}).text("FILE"), "a.h5");
    EXPECT_EQ(refusal([] { parse(command("FILE"), {}); }),
              "quorate cook needs FILE: quorate cook FILE");
    EXPECT_EQ(refusal([] {
                  parse(command("FILE"), {"a", "b"});
              }),
              "quorate cook: unexpected argument b: options begin with --");
    EXPECT_EQ(refusal([] { parse(command(), {"a"}); }),
              "quorate cook: unexpected argument a: options begin with --");
}

TEST(Parse, ReadsAnIniFileAndTheCommandLineGoesFirst)
{
    const Folder folder;
    const auto path = folder.write("x.ini", "# a comment\nrounds = 8\nround-trip=3\nfast = on\n");
    const auto got = parse(command(), {"--rounds", "9", "--config", path});
    EXPECT_EQ(got.text("rounds"), "9");
    EXPECT_EQ(got.text("round-trip"), "3");
    EXPECT_TRUE(got.on("fast"));
    EXPECT_TRUE(got.given("round-trip"));
}

TEST(Parse, ASwitchInAnIniFileCanBeOff)
{
    const Folder folder;
    EXPECT_FALSE(parse(command(), {"--config", folder.write("x.ini", "fast = off\n")}).on("fast"));
    const auto path = folder.write("y.ini", "rounds = 1\nfast = maybe\n");
    EXPECT_EQ(refusal([&] {
                  parse(command(), {"--config", path});
              }),
              path + ":2: fast is maybe: write on or off");
}

TEST(Parse, ComplaintsAboutAnIniFileNameFileAndLine)
{
    const Folder folder;
    const auto unknown = folder.write("x.ini", "# comment\n\nruonds = 8\n");
    EXPECT_EQ(refusal([&] {
                  parse(command(), {"--config", unknown});
              }),
              unknown + ":3: quorate cook has no option --ruonds; did you mean --rounds?");
    const auto range = folder.write("y.ini", "fast = on\nrounds = 0\n");
    EXPECT_EQ(refusal([&] {
                  parse(command(), {"--config", range}).integer("rounds", 1);
              }),
              range + ":2: --rounds is 0: use at least 1");
    const auto garbage = folder.write("z.ini", "rounds\n");
    EXPECT_NE(refusal([&] {
                  parse(command(), {"--config", garbage});
              }).find(garbage),
              std::string::npos);
    EXPECT_EQ(refusal([&] {
                  parse(command(), {"--config", folder.file("none.ini")});
              }),
              "cannot read " + folder.file("none.ini") + ": give an INI file");
}

TEST(Ini, ValuesKnowTheirSectionAndLine)
{
    const Folder folder;
    const auto f = folder.write("f", "; one\na = 1 # no more\n\n[b]\n# two\na = x = #y\n");
    const auto values = read_ini(f);
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].section + values[0].name + values[0].text + values[0].origin,
              "a1 # no more" + f + ":2: ");
    EXPECT_EQ(values[1].section + values[1].name + values[1].text + values[1].origin,
              "bax = #y" + f + ":6: ");
    EXPECT_EQ(refusal([] { parse_ini("a = 1\na = 2\n", "f"); }),
              "f:2: duplicate key name: write lines 'name = value' and '[section]'");
}

TEST(Ini, ASectionTakesItsWholeLine)
{
    EXPECT_EQ(parse_ini("[delay trace:/a]b]\nx = 1\n", "f").at(0).section, "delay trace:/a]b");
    EXPECT_EQ(refusal([] { parse_ini("[run] # and more\n", "f"); }),
              "f:1: unmatched '[': write lines 'name = value' and '[section]'");
}

TEST(Ini, WhatIsWrittenIsReadAgain)
{
    EXPECT_EQ(ini_text("a #1/d.h5"), "a #1/d.h5");
    EXPECT_EQ(ini_text(" a "), "\" a \"");
    for (const auto* value :
         {"a #1/d.h5", "#",      "; a",     "a = b",     " a",          "a ",       "\t",
          "\"",        "\"\"",   "\"a\"",   "a\"b",      "\"a\" \"b\"", "a\nb = c", "a\rb",
          "\\",        "\"\\\"", "\"\\n\"", " \"q\\\" ", "[a]",         "d\\n"}) {
        const auto lines = "a = " + ini_text(value) + "\nb = 1\n";
        EXPECT_EQ(recorded_options(lines).at("a"), value) << lines;
        Settings settings;
        settings.set("a", {value, "", true});
        EXPECT_EQ(recorded_options(settings.ini()).at("a"), value) << settings.ini();
    }
    EXPECT_EQ(recorded_options("a = \"b\" \"c\"\n").at("a"), "\"b\" \"c\"");
}

TEST(Parse, HelpListsEveryOptionWithItsDefault)
{
    const auto text = usage(command("FILE"), parse(command("FILE"), {"--help"}));
    for (const auto* part : {"quorate cook FILE", "--rounds N", "[100]", "--fast", "--config FILE"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Components, AnOptionThatTheChosenSchemeDoesNotUseIsRefused)
{
    auto all = component_options();
    for (const auto* kind : {"scheme", "model", "optimizer", "schedule", "delay", "compressor"})
        all.push_back({kind, "", "", ""});
    const std::map<std::string, std::string> chosen = {
        {"scheme", "uncoded"},    {"model", "logistic"}, {"optimizer", "gd"},
        {"schedule", "constant"}, {"delay", "none"},     {"compressor", "none"}};
    auto with = chosen;
    with["rescale"] = "none";
    EXPECT_EQ(refusal([&] { refuse_unused_options(test::settings(all, with)); }),
              "--rescale is none, but only --scheme partial or agc uses it: leave it out");
    refuse_unused_options(test::settings(all, chosen));
    with["scheme"] = "agc";
    refuse_unused_options(test::settings(all, with));
}

}  // namespace
}  // namespace quorate
