// SPDX-License-Identifier: BSD-2-Clause
// To add a model: one file with an entry, and one line here.
#include "model/model.hpp"

namespace quorate {

Entry<MakeModel> logistic_entry();

const std::vector<Entry<MakeModel>>& models()
{
    static const std::vector<Entry<MakeModel>> all = {
        logistic_entry(),
    };
    return all;
}

}  // namespace quorate
