// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/sequential/wait_for.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/values.hpp"

namespace quorate {

void read_option(WaitFor& wait, const GivenWords& given)
{
    const auto& text = given.text();
    const auto words = split(text, ':');
    const auto numbers = words.size() == 2 && words[0] == "quorum" ? split(words[1], ',')
                                                                   : std::vector<std::string>();
    if (text == "conform" || text == "all") {
        wait = {text == "all" ? WaitFor::all : WaitFor::conform};
        return;
    }
    if (numbers.empty() || numbers.size() > 2)
        given.refuse(unless_several(given.name(), text,
                                    ": write conform, all or quorum:Q[,GRACE], such as "
                                    "quorum:1,0.02",
                                    {"conform", "all", "quorum"}));
    const auto missing = to_integer(numbers[0]);
    const int most = given.workers > 0 ? given.workers - 1 : 1'000'000;
    if (!missing || *missing < 0 || *missing > most)
        given.refuse(fmt::format(", but Q is no whole number from 0 to {}", most));
    const auto grace = numbers.size() == 2 ? to_real(numbers[1]) : 0;
    if (!grace || *grace < 0) given.refuse(", but GRACE is no number of at least 0, such as 0.02");
    wait = {WaitFor::quorum, static_cast<int>(*missing), *grace};
}

std::string written(const WaitFor& wait, const OptionRow&)
{
    if (wait.rule != WaitFor::quorum) return wait.rule == WaitFor::all ? "all" : "conform";
    return fmt::format("quorum:{}", wait.missing) +
           (wait.grace > 0 ? fmt::format(",{}", wait.grace) : "");
}

}  // namespace quorate
