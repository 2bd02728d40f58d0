// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/fleet.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace quorate {

std::pair<Version, Version> versions_of(const Part& part, const Versions& inputs)
{
    const auto version = [&](const Item& item) {
        return inputs[static_cast<std::size_t>(item.input)];
    };
    if (inputs.size() == 1 || part.items.empty()) return {inputs[0], inputs[0]};
    const auto [oldest, newest] = std::ranges::minmax(part.items, {}, version);
    return {version(oldest), version(newest)};
}

std::vector<double> Values::doubles() const
{
    return std::visit(
        [](auto numbers) { return std::vector<double>(numbers.begin(), numbers.end()); }, packed);
}

std::size_t Fleet::adopt(Worker, const Values&)
{
    throw std::logic_error("this fleet goes on with what it has");
}

void Fleet::join_vectors(const std::vector<StateVector>& vectors, const TakePiece& take)
{
    for (std::size_t i = 0; i < vectors.size(); ++i)
        take(i, whole_piece(*vectors[i].numbers, vectors[i].numbers));
}

void Fleet::end_models(std::span<const ConstNumbers> models, trace::Record& record)
{
    for (std::size_t i = 0; i < models.size(); ++i)
        record.put(trace::final_models, among(whole_piece(models[i], nullptr), i, models.size()));
}

std::uint64_t Fleet::fingerprint(std::size_t handle)
{
    const auto hash = [](std::span<const double> numbers) {
        return std::hash<std::string_view>()(
            {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
    };
    const auto values = this->values(handle);
    if (const auto* numbers = std::get_if<std::span<const double>>(&values.packed))
        return hash(*numbers);
    // One worker's values may lie in shared memory, as doubles, and its replica's in a message.
    return hash(values.doubles());
}

}  // namespace quorate
