// SPDX-License-Identifier: BSD-2-Clause
#include "model/model.hpp"

#include <stdexcept>

namespace quorate {

double Model::add_gradient_floats(const RowView&, std::span<const float>, double,
                                  std::span<float>) const
{
    throw std::logic_error("this model is one of doubles");
}

}  // namespace quorate
