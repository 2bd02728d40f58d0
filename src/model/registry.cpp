// SPDX-License-Identifier: BSD-2-Clause
// The list of models. A new one needs a file with an entry, and a line here.
#include "model/model.hpp"

namespace quorate {

Entry<MakeModel> cnn_entry();
Entry<MakeModel> hinge_entry();
Entry<MakeModel> logistic_entry();
Entry<MakeModel> mlp_entry();
Entry<MakeModel> ridge_entry();
Entry<MakeModel> softmax_entry();
Entry<MakeModel> squared_hinge_entry();

namespace {

std::vector<Entry<MakeModel>>& entries()
{
    static std::vector<Entry<MakeModel>> all = {
        logistic_entry(), ridge_entry(), hinge_entry(), squared_hinge_entry(),
        softmax_entry(),  mlp_entry(),   cnn_entry(),
    };
    return all;
}

}  // namespace

const std::vector<Entry<MakeModel>>& models() { return entries(); }

void add_model(Entry<MakeModel> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
