// SPDX-License-Identifier: BSD-2-Clause
#include "tables/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "base/shown.hpp"

namespace quorate {

namespace {

std::string checked(const std::string& path)
{
    std::string first(4, '\0');
    std::ifstream(path, std::ios::binary).read(first.data(), std::ssize(first));
    if (!is_zip(first))
        throw BadInput(path + " is neither .npy nor .npz: give such a file, or name its --format");
    return path;
}

}  // namespace

Npz::Npz(const std::string& path, const Reading& reading)
    : reading_(reading), archive_(checked(path))
{
    const std::string end = ".npy";
    for (const auto& name : archive_.names())
        if (name.ends_with(end)) names_.push_back(name.substr(0, name.size() - end.size()));
    auto sorted = names_;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw BadInput(fmt::format("{} has two arrays {}: save it again, with a name for each",
                                   path, shown(*twice)));
    if (names_.empty())
        throw BadInput(path + " is a zip archive without arrays: give what numpy.savez wrote");
    if (has("format") && has("shape") && has("data"))
        throw BadInput(path +
                       " is a sparse matrix of SciPy, which is not read here: in Python, write "
                       "quorate.dataset(scipy.sparse.load_npz(path), y, path=...), or LIBSVM text "
                       "by sklearn.datasets.dump_svmlight_file(X, y, path)");
}

bool Npz::has(const std::string& name) const
{
    return std::ranges::find(names_, name) != names_.end();
}

void Npz::require(const std::string& name, const std::string& option) const
{
    if (!has(name))
        throw BadInput(fmt::format("--{} is {}, but {} has no such array{}", option, name, path(),
                                   shown_near(name, names_)));
}

NpyReader Npz::open(const std::string& name) const
{
    return {ByteSource(archive_.open(name + ".npy"), path(), reading_), name};
}

}  // namespace quorate
