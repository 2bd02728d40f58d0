// SPDX-License-Identifier: BSD-2-Clause
#include "import/import.hpp"
#include "tables/encode.hpp"
#include "tables/formats.hpp"
#include "tables/labels.hpp"

namespace quorate {

std::vector<Option> import_options()
{
    std::vector<Option> all = {
        {"input", "FILE", "", "rows to import; plain, .gz, .bz2, .xz, or alone in a .zip"},
        {"labels", "FILE", "",
         "their labels, in place of those in the input: a number or word in each line, IDX, .npy, "
         ".npz or a PETSc vector"},
        {"test-input", "FILE", "", "test rows; else see --test-fraction"},
        {"test-labels", "FILE", "", "their labels, likewise"},
        {"output", "FILE", "", "the data set to write"},
        {"overwrite", "", "", "replace a data set of that name"},
        {"format", "auto|NAME", "auto",
         "see quorate list formats; auto: by the first bytes; of text, libsvm if some of the first "
         "lines are"},
        {"limit-rows", "N", "0", "of the input, and of the test input; 0: all"},
        {"test-fraction", "F", "0", "share of the input's rows for test, chosen by --split-seed"},
        {"split-seed", "N", "0",
         "the split is NumPy's legacy permutation of the rows for this seed"},
        {"shuffle", "SEED|auto|no", "auto",
         "put the training rows into a random order; auto: by seed 0 if they are sorted by label, "
         "but not with --like; no: they keep their order"},
        {"storage", "auto|sparse|dense", "auto",
         "auto: dense if the input is, or half of the entries are not zero"},
        {"like", "DATA", "",
         "give the data the columns, classes and scaling of another data set, to predict with its "
         "models: takes over its options, needs no labels, and leaves out columns and categories "
         "that it does not know"},
        {"image", "CxHxW", "", "rows are images: channels, height, width"},
        {"float32", "", "", "store values in single precision"},
        {"max-bytes", "N", "1000000000000", "of a file when decompressed"},
        {"name", "WORD", "", "name of the data set; default: the output's"},
    };
    add_options(all, label_options());
    add_options(all, RowEncoder::options());
    for (const auto& format : formats()) add_options(all, format.options);
    return all;
}

}  // namespace quorate
