// SPDX-License-Identifier: BSD-2-Clause
// The list of models. A new one needs a file with an entry, and its struct of options here.
#include "model/models.hpp"

namespace quorate {

namespace {

std::vector<Entry<MakeModel>>& entries()
{
    static auto all = entries_of<MakeModel, LogisticOptions, RidgeOptions, HingeOptions,
                                 SquaredHingeOptions, SoftmaxOptions, MlpOptions, CnnOptions>();
    return all;
}

}  // namespace

const std::vector<Entry<MakeModel>>& models() { return entries(); }

void add_model(Entry<MakeModel> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
