// SPDX-License-Identifier: BSD-2-Clause
// Labels in a file of their own.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/array_reader.hpp"
#include "tables/formats.hpp"

namespace quorate {

namespace {

// Reads a label from each line. The first one says whether they are words.
GivenLabels read_text(const std::string& path, const Reading& reading)
{
    GivenLabels labels;
    TextBlocks blocks(path, reading, false);
    for (TextBlock block; blocks.next(block);) {
        Lines lines(std::move(block), path);
        for (std::string line; lines.next(line);) {
            auto word = trimmed(line);
            if (word.empty()) continue;
            const auto is_control = [](unsigned char letter) { return letter < ' '; };
            if (std::ranges::any_of(word, is_control))
                lines.refuse(
                    1,
                    "a control character: labels are a line of text each, IDX or a PETSc vector");
            const auto label = to_real(word);
            if (!labels.words.empty() || (!label && labels.numbers.empty()))
                labels.words.push_back(std::move(word));
            else if (label)
                labels.numbers.push_back(*label);
            else
                lines.refuse(
                    1, fmt::format("expected a label, a finite number, got '{}'", shown(word, 20)));
        }
    }
    return labels;
}

}  // namespace

GivenLabels read_labels(const std::string& path, const Reading& reading)
{
    std::string first(8, '\0');
    first.resize(ByteSource(path, reading).read(first.data(), first.size()));
    if (is_idx(first) || is_npy(first)) return ArrayReader(ByteSource(path, reading), "y").labels();
    if (is_zip(first)) {
        const Npz npz(path, reading);
        return npz.open(npz.has("y") ? "y" : npz.names()[0], "labels").labels();
    }
    if (is_petsc(first)) return {read_petsc_vector(path, reading), {}};
    return read_text(path, reading);
}

}  // namespace quorate
