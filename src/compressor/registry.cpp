// SPDX-License-Identifier: BSD-2-Clause
// The list of compressors. A new one needs a file with an entry, and its struct of arguments in
// compressor.hpp.
#include "compressor/compressor.hpp"

namespace quorate {

GivenComponent PropertiesOf<MakeCompressor>::given(const Settings& settings,
                                                   const std::string& form, const std::string&,
                                                   const CompressorSetup&)
{
    return {settings, option, form, names(compressors())};
}

CompressorEntry<NoCompressor> NoCompressor::entry()
{
    return {.name = "none",
            .text = "contributions travel whole, as --wire says",
            .make = [](const NoCompressor&, const CompressorSetup&) {
                return std::shared_ptr<const Compressor>();
            }};
}

const std::vector<Entry<MakeCompressor>>& compressors()
{
    static const auto all = entries_of<MakeCompressor, NoCompressor, TopKCompressor,
                                       RandKCompressor, SignCompressor, QsgdCompressor>();
    return all;
}

}  // namespace quorate
