// SPDX-License-Identifier: BSD-2-Clause
#include "cli/initial.hpp"

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/text.hpp"
#include "data/hdf5.hpp"

namespace quorate {

std::vector<double> initial_model(const Settings& settings, std::uint64_t seed, std::int64_t width)
{
    const auto& text = settings.text("init");
    if (text == "zero") return std::vector<double>(static_cast<std::size_t>(width), 0.0);
    if (text == "normal" || text.starts_with("normal:")) {
        const auto deviation = to_real(text.substr(std::min(text.size(), std::size_t{7})));
        if (!deviation || *deviation < 0)
            settings.refuse("init", ": write normal:SD with SD of at least 0");
        std::vector<double> model;
        Stream stream(seed, Purpose::initial_point);
        for (std::int64_t i = 0; i < width; ++i) model.push_back(*deviation * stream.normal());
        return model;
    }
    const auto file = h5::open(text);
    if (!h5::has(file.get(), "model/final"))
        settings.refuse("init",
                        ", which holds no final model: give zero, normal:SD or a finished trace");
    const auto model = h5::read<double>(file.get(), "model/final");
    if (static_cast<std::int64_t>(model.size()) != width)
        settings.refuse(
            "init",
            fmt::format(", whose model has {} parameters where this run has {}: give a trace of "
                        "the same model and data",
                        model.size(), width));
    return {model.begin(), model.end()};
}

}  // namespace quorate
