// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace quorate {

/// Values named by numbers, which are used again when given back. Not for several threads.
template <class T>
class Numbered {
public:
    /// A free slot's number; what is in it is left over.
    std::size_t take()
    {
        if (free_.empty()) {
            values_.emplace_back();
            return values_.size() - 1;
        }
        const auto number = free_.back();
        free_.pop_back();
        return number;
    }
    void give_back(std::size_t number) { free_.push_back(number); }
    T& at(std::size_t number) { return values_.at(number); }
    const T& at(std::size_t number) const { return values_.at(number); }

private:
    std::vector<T> values_;
    std::vector<std::size_t> free_;
};

}  // namespace quorate
