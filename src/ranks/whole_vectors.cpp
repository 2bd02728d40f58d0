// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/whole_vectors.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace quorate {

void WholeVectors::add(const SliceName& name, ConstNumbers own, std::shared_ptr<const void> memory,
                       bool sliced, Take take)
{
    vectors_.push_back({name, own.precision(), std::move(take), {}, 0});
    auto& vector = vectors_.back();
    vector.slices.resize(sliced ? shares_.count() : 1);
    const auto whole = sliced ? static_cast<std::size_t>(shares_.bounds.back()) : own.size();
    vector.slices[0] = VectorPiece{0, whole, own, std::move(memory)};
}

void WholeVectors::take(const std::shared_ptr<const transport::Bytes>& bytes)
{
    MessageReader in(*bytes);
    const auto head = in.get<SliceHead>();
    const auto vector = std::ranges::find(vectors_, head.name, &Vector::name);
    if (vector == vectors_.end()) return;
    const auto share = static_cast<std::size_t>(head.share);
    if (head.numbers != shares_.last(share) - shares_.first(share) ||
        static_cast<Precision>(head.precision) != vector->precision)
        throw Failure(
            "the owner of a share has other vectors than the coordinator: the hosts compute "
            "differently; use hosts with equal processors and libraries, or --aggregate node");
    const auto numbers = with_number(vector->precision, [&]<class T>(T) -> ConstNumbers {
        return in.numbers<T>(static_cast<std::size_t>(head.numbers));
    });
    vector->slices[share] =
        VectorPiece{static_cast<std::size_t>(shares_.first(share)),
                    static_cast<std::size_t>(shares_.bounds.back()), numbers, bytes};
}

void WholeVectors::go_on()
{
    while (hand_on() || ask_next()) {
    }
}

// Hands on the next slice, if it has come. @return whether it has
bool WholeVectors::hand_on()
{
    if (vectors_.empty()) return false;
    auto& vector = vectors_.front();
    const bool was_asked = vector_ > 0 || vector.handed_on < share_;
    auto& slice = vector.slices[vector.handed_on];
    if (!was_asked || !slice) return false;
    asked_ -= slice->numbers.bytes();
    vector.take(*std::exchange(slice, std::nullopt));
    if (++vector.handed_on == vector.slices.size()) {
        vectors_.pop_front();
        --vector_;
    }
    return true;
}

// Asks for the next slice, if there is room. @return whether it has
bool WholeVectors::ask_next()
{
    if (vector_ == vectors_.size()) return false;
    auto& vector = vectors_[vector_];
    // Its own one this process has.
    const auto with_it = asked_ + (share_ == 0 ? vector.slices[0]->numbers.bytes()
                                               : shares_.size(share_) * bytes_of(vector.precision));
    if ((asked_ > 0 && with_it > trace::iterates_in_memory) || !has_room_(with_it)) return false;
    asked_ = with_it;
    if (share_ > 0) ask_(share_, vector.name);
    if (++share_ == vector.slices.size()) {
        ++vector_;
        share_ = 0;
    }
    return true;
}

void WholeVectors::clear()
{
    vectors_.clear();
    vector_ = share_ = asked_ = 0;
}

std::int64_t WholeVectors::kept() const
{
    return std::ranges::count(vectors_, SliceName::kept,
                              [](const Vector& one) { return one.name.kind; });
}

std::size_t WholeVectors::bytes_of_kept() const
{
    std::size_t bytes = 0;
    for (const auto& vector : vectors_)
        if (vector.name.kind == SliceName::kept && vector.slices[0])
            bytes += vector.slices[0]->numbers.bytes();
    return bytes;
}

void ModelsInSlices::keep(std::int64_t round, trace::Iterate slice)
{
    make_room_();
    last_ = round;
    whole_.add({SliceName::kept, round, 0}, *slice, slice, true,
               [this, round](VectorPiece piece) { record_.put(round, std::move(piece)); });
}

trace::Position ModelsInSlices::position()
{
    auto position = record_.position();
    position["iterate"] += whole_.kept();
    return position;
}

}  // namespace quorate
