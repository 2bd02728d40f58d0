// SPDX-License-Identifier: BSD-2-Clause
// The list of schemes. A new one needs a file with an entry, and its struct of options here.
#include "scheme/options.hpp"
#include "scheme/schemes.hpp"

namespace quorate {

namespace {

std::vector<Entry<MakeScheme>>& entries()
{
    static auto all = [] {
        auto made = entries_of<
            MakeScheme, UncodedOptions, IgnoreOptions, FrcOptions, CyclicOptions,
            ShortCyclicOptions, ReedSolomonOptions, PartialOptions, PartialFrcOptions,
            PartialCyclicOptions, AgcOptions, BernoulliOptions, BlockOptions, RegularOptions,
            MargulisOptions, BibdOptions, GraphOptions, StochasticOptions, IsGcOptions, BccOptions,
            ClonesOptions, SvrgOptions, NestedOptions, DracoRepetitionOptions, DracoCyclicOptions,
            RobustOptions, AmbOptions, ElasticOptions, AnytimeSgdOptions, LocalAverageOptions,
            AmbDgOptions, KBatchSyncOptions, KAsyncOptions, KBatchAsyncOptions, AsyncOptions,
            RingmasterOptions, AsyncLocalOptions, LocalSgdOptions, MaleniaOptions,
            MindFlayerOptions, AtaOptions, RingleaderOptions, Ia2sgdOptions, PgcFrcOptions,
            PgcCyclicOptions, DsagOptions, SrSgcOptions, MSgcOptions>();
        made.push_back(alias(UncodedOptions::entry(), "fmb",
                             "fixed minibatches of --batch samples, all are waited for"));
        made.push_back(alias(IgnoreOptions::entry(), "k-sync",
                             "the first M answers of each round (--collect)"));
        made.push_back(alias(KBatchSyncOptions::entry(), "rennala",
                             "the first M batches at the newest point (--collect)"));
        return made;
    }();
    return all;
}

}  // namespace

const std::vector<Entry<MakeScheme>>& schemes() { return entries(); }

void add_scheme(Entry<MakeScheme> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
