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

std::vector<double> Fleet::whole_models(std::span<const ConstNumbers> models)
{
    std::vector<double> all;
    for (const auto& model : models) std::ranges::copy(model.doubles(), std::back_inserter(all));
    return all;
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
