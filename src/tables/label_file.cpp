// SPDX-License-Identifier: BSD-2-Clause
// Labels in a file of their own.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/formats.hpp"
#include "tables/idx.hpp"
#include "tables/npz.hpp"
#include "tables/petsc_binary.hpp"

namespace quorate {

namespace {

// Reads a label from each line. The first one says whether they are words.
std::vector<double> read_text(const std::string& path, const Reading& reading, Levels& words)
{
    std::vector<double> labels;
    bool are_words = false;
    TextBlocks blocks(path, reading, false);
    for (TextBlock block; blocks.next(block);) {
        std::istringstream in(std::move(block.text));
        Lines lines(in, path, block.first_line - 1);
        for (std::string line; lines.next(line);) {
            const auto word = trimmed(line);
            if (word.empty()) continue;
            const auto is_control = [](unsigned char letter) { return letter < ' '; };
            if (std::ranges::any_of(word, is_control))
                lines.refuse(
                    1,
                    "a control character: labels are a line of text each, IDX or a PETSc vector");
            const auto label = to_real(word);
            if (labels.empty()) are_words = !label;
            if (!label && !are_words)
                lines.refuse(
                    1, fmt::format("expected a label, a finite number, got '{}'", shown(word, 20)));
            labels.push_back(are_words ? words.number(word) : *label);
        }
    }
    return labels;
}

}  // namespace

bool labels_are_optional(const Settings& settings)
{
    return settings.has("like") && settings.on("like") && !settings.given("label");
}

std::vector<double> read_labels(const std::string& path, const Reading& reading, Levels& words)
{
    std::string first(8, '\0');
    {
        ByteSource source(path, reading);
        first.resize(source.read(first.data(), first.size()));
    }
    std::vector<double> labels;
    if (is_idx(first)) {
        IdxReader idx(path, reading);
        if (idx.shape().size() != 1)
            throw BadInput(
                fmt::format("{} has {} dimensions: labels have one", path, idx.shape().size()));
        std::vector<double> one;
        for (std::int64_t row = 0; row < idx.rows(); ++row) {
            idx.next(one);
            labels.push_back(one[0]);
        }
        idx.end();
        return labels;
    }
    if (is_npy(first)) {
        NpyReader array(ByteSource(path, reading), "y");
        return read_npy_labels(array, words);
    }
    if (is_zip(first)) {
        const Npz npz(path, reading);
        auto array = npz.open(npz.has("y") ? "y" : npz.names()[0]);
        return read_npy_labels(array, words);
    }
    if (is_petsc(first)) return read_petsc_vector(path, reading);
    return read_text(path, reading, words);
}

}  // namespace quorate
