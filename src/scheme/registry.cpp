// SPDX-License-Identifier: BSD-2-Clause
// The list of schemes. A new one needs a file with an entry, and a line here.
#include "scheme/options.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

Entry<MakeScheme> uncoded_entry();
Entry<MakeScheme> ignore_entry();
Entry<MakeScheme> frc_entry();
Entry<MakeScheme> cyclic_entry();
Entry<MakeScheme> short_cyclic_entry();
Entry<MakeScheme> reed_solomon_entry();
Entry<MakeScheme> partial_entry();
Entry<MakeScheme> partial_frc_entry();
Entry<MakeScheme> partial_cyclic_entry();
Entry<MakeScheme> agc_entry();
Entry<MakeScheme> bernoulli_entry();
Entry<MakeScheme> block_entry();
Entry<MakeScheme> regular_entry();
Entry<MakeScheme> margulis_entry();
Entry<MakeScheme> bibd_entry();
Entry<MakeScheme> graph_entry();
Entry<MakeScheme> stochastic_entry();
Entry<MakeScheme> is_gc_entry();
Entry<MakeScheme> nested_entry();
Entry<MakeScheme> draco_repetition_entry();
Entry<MakeScheme> draco_cyclic_entry();
Entry<MakeScheme> amb_entry();
Entry<MakeScheme> elastic_entry();
Entry<MakeScheme> anytime_sgd_entry();
Entry<MakeScheme> local_average_entry();
Entry<MakeScheme> amb_dg_entry();
Entry<MakeScheme> k_batch_sync_entry();
Entry<MakeScheme> k_async_entry();
Entry<MakeScheme> k_batch_async_entry();
Entry<MakeScheme> async_entry();
Entry<MakeScheme> ringmaster_entry();
Entry<MakeScheme> malenia_entry();
Entry<MakeScheme> mindflayer_entry();
Entry<MakeScheme> ata_entry();
Entry<MakeScheme> ringleader_entry();
Entry<MakeScheme> ia2sgd_entry();
Entry<MakeScheme> pgc_frc_entry();
Entry<MakeScheme> pgc_cyclic_entry();
Entry<MakeScheme> dsag_entry();
Entry<MakeScheme> sr_sgc_entry();
Entry<MakeScheme> m_sgc_entry();

namespace {

std::vector<Entry<MakeScheme>>& entries()
{
    static std::vector<Entry<MakeScheme>> all = {
        // clang-format off: one a line
        uncoded_entry(),
        ignore_entry(),
        frc_entry(),
        cyclic_entry(),
        short_cyclic_entry(),
        reed_solomon_entry(),
        partial_entry(),
        partial_frc_entry(),
        partial_cyclic_entry(),
        agc_entry(),
        bernoulli_entry(),
        block_entry(),
        regular_entry(),
        margulis_entry(),
        bibd_entry(),
        graph_entry(),
        stochastic_entry(),
        is_gc_entry(),
        nested_entry(),
        draco_repetition_entry(),
        draco_cyclic_entry(),
        amb_entry(),
        elastic_entry(),
        anytime_sgd_entry(),
        local_average_entry(),
        amb_dg_entry(),
        k_batch_sync_entry(),
        k_async_entry(),
        k_batch_async_entry(),
        async_entry(),
        ringmaster_entry(),
        malenia_entry(),
        mindflayer_entry(),
        ata_entry(),
        ringleader_entry(),
        ia2sgd_entry(),
        pgc_frc_entry(),
        pgc_cyclic_entry(),
        dsag_entry(),
        sr_sgc_entry(),
        m_sgc_entry(),
        alias(uncoded_entry(), "fmb", "fixed minibatches of --batch samples, all are waited for"),
        alias(ignore_entry(), "k-sync", "the first M answers of each round (--collect)"),
        alias(k_batch_sync_entry(), "rennala",
              "the first M batches at the newest point (--collect)"),
        // clang-format on
    };
    return all;
}

}  // namespace

const std::vector<Entry<MakeScheme>>& schemes() { return entries(); }

void add_scheme(Entry<MakeScheme> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
