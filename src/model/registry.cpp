// SPDX-License-Identifier: BSD-2-Clause
// To add a model: one file with an entry, and one line here.
#include "model/model.hpp"

namespace quorate {

Entry<MakeModel> cnn_entry();
Entry<MakeModel> hinge_entry();
Entry<MakeModel> logistic_entry();
Entry<MakeModel> mlp_entry();
Entry<MakeModel> ridge_entry();
Entry<MakeModel> softmax_entry();
Entry<MakeModel> squared_hinge_entry();

const std::vector<Entry<MakeModel>>& models()
{
    static const std::vector<Entry<MakeModel>> all = {
        logistic_entry(), ridge_entry(), hinge_entry(), squared_hinge_entry(),
        softmax_entry(),  mlp_entry(),   cnn_entry(),
    };
    return all;
}

}  // namespace quorate
