// SPDX-License-Identifier: BSD-2-Clause
// To add a file format: one file with an entry, and one line here. The first format that knows the
// beginning of a file for its own is taken; text is tried last.
#include "data/formats.hpp"

namespace quorate {

Entry<Format> cifar10_entry();
Entry<Format> csv_entry();
Entry<Format> hdf5_entry();
Entry<Format> idx_entry();
Entry<Format> libsvm_entry();
Entry<Format> petsc_entry();

const std::vector<Entry<Format>>& formats()
{
    static const std::vector<Entry<Format>> all = {
        hdf5_entry(), idx_entry(), petsc_entry(), cifar10_entry(), csv_entry(), libsvm_entry(),
    };
    return all;
}

}  // namespace quorate
