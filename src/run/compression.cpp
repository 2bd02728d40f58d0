// SPDX-License-Identifier: BSD-2-Clause
#include "run/compression.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/scheme_check.hpp"

namespace quorate {

namespace {

// Refuses error feedback with a scheme whose workers cannot have a memory: tries the scheme against
// workers that finish in any order, so that no run ends for it after hours.
void check_memory(int workers, const MakeCoding& make_coding)
{
    constexpr std::int64_t most_tasks = 100'000, most_rounds = 30;
    constexpr unsigned orders = 3;
    for (unsigned order = 0; order < orders; ++order) {
        const auto coding = make_coding(workers);
        SchemeCheck tried(*coding->scheme, order);
        tried.keeps_unsent = true;
        tried.run(std::clamp<std::int64_t>(most_tasks / workers, 2, most_rounds));
        if (!tried.no_memory.empty()) throw BadInput(tried.no_memory);
    }
}

}  // namespace

Compression compression_of(const Settings& settings, Wire wire, const Coding& coding,
                           const MakeCoding& make_coding)
{
    const bool feedback = settings.on("error-feedback");
    Compression compression{
        .compressor = chosen(compressors(), settings, "compressor")
                          .make(settings, {.wire = wire, .unbiased = !feedback}),
        .feedback = feedback,
        .seed = static_cast<std::uint64_t>(settings.integer("seed", 0))};
    if (!compression) {
        if (feedback)
            settings.refuse("error-feedback",
                            ", but nothing is compressed: leave it out, or add --compressor");
        return compression;
    }
    const auto& needs = coding.needs;
    if (!needs.coded.empty() || !needs.coded_columns.empty() || needs.fingerprint ||
        needs.projection)
        settings.refuse("compressor",
                        fmt::format(", but --scheme {} decodes or compares the very numbers that "
                                    "workers compute: leave it out",
                                    settings.text("scheme")));
    if (feedback) check_memory(coding.workers(), make_coding);
    return compression;
}

}  // namespace quorate
