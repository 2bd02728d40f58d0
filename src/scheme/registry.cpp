// SPDX-License-Identifier: BSD-2-Clause
// To add a scheme: one file with an entry, and one line here.
#include "scheme/scheme.hpp"

namespace quorate {

Entry<MakeScheme> uncoded_entry();
Entry<MakeScheme> frc_entry();
Entry<MakeScheme> cyclic_entry();
Entry<MakeScheme> reed_solomon_entry();
Entry<MakeScheme> partial_frc_entry();
Entry<MakeScheme> partial_cyclic_entry();
Entry<MakeScheme> agc_entry();
Entry<MakeScheme> draco_repetition_entry();

const std::vector<Entry<MakeScheme>>& schemes()
{
    static const std::vector<Entry<MakeScheme>> all = {
        uncoded_entry(),     frc_entry(),
        cyclic_entry(),      reed_solomon_entry(),
        partial_frc_entry(), partial_cyclic_entry(),
        agc_entry(),         draco_repetition_entry(),
    };
    return all;
}

}  // namespace quorate
