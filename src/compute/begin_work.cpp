// SPDX-License-Identifier: BSD-2-Clause
#include "compute/begin_work.hpp"

#include "compute/fold.hpp"
#include "compute/part_sum.hpp"
#include "compute/product.hpp"

namespace quorate {

std::unique_ptr<Work> begin_work(const Computing& computing, const StoredRows& stored,
                                 const Part& part, std::vector<At> at, const Extent& extent,
                                 Numbers sum, const Kept& kept)
{
    if (!part.items.empty() && part.items[0].operation == Item::Operation::descent)
        return std::make_unique<Descent>(computing, stored, part, at, extent, sum, kept.states);
    if (!part.items.empty() && part.items[0].is_product())
        return std::make_unique<Product>(computing, stored, part, std::move(at), sum);
    if (!part.fold.empty() || is_held(part))
        return std::make_unique<SumByItem>(computing, stored, part, std::move(at), extent,
                                           is_held(part) ? kept.gradients : nullptr, sum);
    return std::make_unique<PartSum>(computing, stored, part, std::move(at), extent, sum);
}

}  // namespace quorate
