// SPDX-License-Identifier: BSD-2-Clause
// To add a file format: one file with an entry, and one line here.
#include "data/formats.hpp"

namespace quorate {

Entry<ReadFormat> csv_entry();
Entry<ReadFormat> libsvm_entry();

const std::vector<Entry<ReadFormat>>& formats()
{
    static const std::vector<Entry<ReadFormat>> all = {
        csv_entry(),
        libsvm_entry(),
    };
    return all;
}

}  // namespace quorate
