// SPDX-License-Identifier: BSD-2-Clause
#include "run/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "run/output.hpp"

namespace quorate {

namespace {

using Names = std::vector<std::string>;

// Returns the names of classes; nothing if they are numbers.
Names words_of(const DataSet& data)
{
    auto names = data.class_names();
    const auto is_number = [](const auto& name) { return to_real(name).has_value(); };
    return std::ranges::all_of(names, is_number) ? Names() : names;
}

std::string digest_of(const Names& names)
{
    if (names.empty()) return "";
    Sha256 digest;
    digest.add(fmt::format("{}", fmt::join(names, std::string_view("\0", 1))));
    return digest.text();
}

void refuse(const std::string& what)
{
    throw BadInput(what +
                   ", with which the model was trained: give the same in the same order "
                   "(quorate import --like)");
}

}  // namespace

std::map<std::string, std::string> digests_of_names(const DataSet& data)
{
    return {{"columns_sha256", digest_of(data.features())},
            {"classes_sha256", digest_of(words_of(data))}};
}

void check_names(const DataSet& rows, const trace::Trace& trace, const std::string& of_run)
{
    if (rows.path() != of_run && is_a("data set", of_run)) {
        const DataSet own(of_run, Unlabelled::accepted);
        const auto compare = [&](const char* what, const Names& theirs, const Names& ours) {
            for (std::size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i)
                if (theirs[i] != ours[i])
                    refuse(fmt::format("{} {} of {} is '{}', but '{}' in {}", what, i, rows.path(),
                                       theirs[i], ours[i], of_run));
        };
        compare("column", rows.features(), own.features());
        // Of two classes that are numbers the larger is positive, whatever the numbers are.
        const auto theirs = rows.class_names(), ours = own.class_names();
        if (ours.size() == 2 && (words_of(rows).empty() || words_of(own).empty())) {
            if (theirs != ours && theirs.size() == 2)
                log(LogLevel::warning,
                    fmt::format("the classes {} of {} are taken for {} of {}", shown(theirs),
                                rows.path(), shown(ours), of_run));
        } else {
            compare("class", theirs, ours);
        }
    }
    for (const auto& [name, theirs] : digests_of_names(rows))
        if (const auto ours = trace.text(name); !ours.empty() && !theirs.empty() && ours != theirs)
            refuse(fmt::format("{} of {} are called otherwise than those of the run's data",
                               split(name, '_')[0], rows.path()));
}

}  // namespace quorate
