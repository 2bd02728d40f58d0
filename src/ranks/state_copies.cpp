// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/state_copies.hpp"

#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace quorate {

namespace {

StatePiece head_of(const transport::Bytes& message)
{
    StatePiece piece{};
    if (message.size() >= state_piece_head) std::memcpy(&piece, message.data(), sizeof(piece));
    if (message.size() < state_piece_head || piece.bytes < 0 || piece.first < 0 ||
        message.size() != state_piece_head + static_cast<std::size_t>(piece.bytes) ||
        piece.first + piece.bytes > piece.whole)
        throw Failure("a piece of a state is not as long as it says: report this as a bug");
    return piece;
}

}  // namespace

StatePieces::StatePieces(std::shared_ptr<transport::Bytes> part, std::int64_t pieces)
    : part_(std::move(part))
{
    const auto all = part_->size() - state_piece_head, many = static_cast<std::size_t>(pieces);
    most_ = std::max<std::size_t>(1, (all + many - 1) / many);
}

std::shared_ptr<transport::Bytes> StatePieces::next(transport::Pool& pool)
{
    auto piece = head_of(*part_);
    const auto bytes = std::min(most_, part_->size() - state_piece_head - first_);
    piece.first = static_cast<std::int64_t>(first_);
    piece.bytes = static_cast<std::int64_t>(bytes);
    auto message = pool.take(state_piece_head + bytes);
    std::memcpy(message->data(), &piece, sizeof(piece));
    std::memcpy(message->data() + state_piece_head, part_->data() + state_piece_head + first_,
                bytes);
    first_ += bytes;
    return message;
}

std::optional<StatePart> StateCopies::take(std::shared_ptr<transport::Bytes> message)
{
    auto piece = head_of(*message);
    auto& copy = parts_[piece.part];
    if (piece.bytes == piece.whole) {
        copy = {std::move(message), nullptr, static_cast<std::size_t>(piece.whole)};
    } else {
        const auto whole = static_cast<std::size_t>(piece.whole);
        if (piece.first == 0) {
            copy = {nullptr, std::make_shared<transport::Bytes>(state_piece_head + whole), 0};
            auto head = piece;
            head.bytes = piece.whole;
            std::memcpy(copy.growing->data(), &head, sizeof(head));
        }
        if (!copy.growing || copy.growing->size() != state_piece_head + whole ||
            copy.has != static_cast<std::size_t>(piece.first))
            throw Failure("the pieces of a state do not follow each other: report this as a bug");
        std::memcpy(copy.growing->data() + state_piece_head + piece.first,
                    message->data() + state_piece_head, static_cast<std::size_t>(piece.bytes));
        copy.has += static_cast<std::size_t>(piece.bytes);
        if (copy.has == whole) copy.message = std::move(copy.growing);
    }
    const bool is_whole = copy.message != nullptr;
    // Two states are kept: the newest may not be whole everywhere.
    std::int64_t newest = -1, second = -1;
    for (const auto& [part, one] : parts_)
        if (part.round > newest) second = std::exchange(newest, part.round);
    std::erase_if(parts_, [&](const auto& one) { return one.first.round < second; });
    return is_whole ? std::optional(piece.part) : std::nullopt;
}

std::set<StatePart> StateCopies::whole() const
{
    std::set<StatePart> all;
    for (const auto& [part, copy] : parts_)
        if (copy.message) all.insert(part);
    return all;
}

std::shared_ptr<transport::Bytes> StateCopies::find(const StatePart& part) const
{
    const auto at = parts_.find(part);
    return at == parts_.end() ? nullptr : at->second.message;
}

void StateCopies::forget_after(std::int64_t round)
{
    std::erase_if(parts_, [&](const auto& one) { return one.first.round > round; });
}

std::vector<std::pair<std::int64_t, std::int64_t>> whole_states(const std::set<StatePart>& parts)
{
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> have;
    for (const auto& part : parts) ++have[{part.round, part.shares}];
    std::vector<std::pair<std::int64_t, std::int64_t>> states;
    for (const auto& [state, count] : have)
        if (count == state.second) states.push_back(state);
    std::ranges::reverse(states);
    return states;
}

}  // namespace quorate
