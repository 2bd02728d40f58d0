// SPDX-License-Identifier: BSD-2-Clause
// The list of file formats. A new one needs a file with an entry, and a line here. `--format auto`
// takes the first format that recognises the beginning of the file; LIBSVM text is tried last.
#include "tables/formats.hpp"

namespace quorate {

Entry<Format> cifar10_entry();
Entry<Format> csv_entry();
Entry<Format> hdf5_entry();
Entry<Format> idx_entry();
Entry<Format> libsvm_entry();
Entry<Format> numpy_entry();
Entry<Format> petsc_entry();

namespace {

std::vector<Entry<Format>>& entries()
{
    static std::vector<Entry<Format>> all = {
        hdf5_entry(),    numpy_entry(), idx_entry(),    petsc_entry(),
        cifar10_entry(), csv_entry(),   libsvm_entry(),
    };
    return all;
}

}  // namespace

const std::vector<Entry<Format>>& formats() { return entries(); }

void add_format(Entry<Format> entry) { add_entry(entries(), std::move(entry)); }

}  // namespace quorate
