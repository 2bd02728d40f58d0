// SPDX-License-Identifier: BSD-2-Clause
// quorate encode: a data set whose rows are mixed by a tight frame, so that stragglers can be
// ignored.
#include "import/encode.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "process/session.hpp"

namespace quorate {

namespace {

int encode(const Settings& settings)
{
    const auto told = encode_data(settings);
    if (!settings.on("quiet")) say(told);
    return exit_done;
}

}  // namespace

Command encode_command()
{
    return {.name = "encode",
            .text = "a data set with rows mixed by a code, of which stragglers may be ignored",
            .options = {{"data", "FILE", "", "data set of a regression"},
                        {"output", "FILE", "", "the data set to write; it is dense"},
                        {"frame", "hadamard|steiner", "hadamard",
                         "the code: random columns of a Hadamard matrix, or of an equiangular "
                         "tight frame"},
                        {"redundancy", "B", "2",
                         "rows over those of --data at least; they are the next power of two"},
                        {"seed", "N", "0", "key of the random stream"},
                        {"overwrite", "", "", "replace a data set of that name"}},
            .run = encode,
            .examples = {"quorate encode --data data.h5 --output encoded.h5"}};
}

}  // namespace quorate
