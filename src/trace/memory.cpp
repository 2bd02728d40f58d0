// SPDX-License-Identifier: BSD-2-Clause
#include "trace/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/error.hpp"
#include "base/path.hpp"
#include "hdf5/libraries.hpp"
#include "trace/writer.hpp"

namespace quorate::trace {

Memory::Memory(const Header& header)
{
    trace_.header = header;
    auto& attributes = trace_.attributes;
    attributes = header.text;
    for (const auto& [name, value] : header.real) attributes[name] = fmt::format("{}", value);
    for (const auto& [name, value] : header.integer) attributes[name] = fmt::format("{}", value);
    attributes["status"] = "running";
}

void Memory::keep(std::int64_t round, Iterate model)
{
    rounds_.push_back(round);
    iterates_.push_back(std::move(model));
    ++trace_.iterates;
}

Position Memory::position()
{
    Position position = {{"iterate", trace_.iterates}};
    trace_.for_each(
        [&](const auto& rows) { position[RowOf<decltype(rows)>::table] = std::ssize(rows); });
    return position;
}

Iterate Memory::iterate(std::int64_t i) const { return iterates_.at(static_cast<std::size_t>(i)); }

void Memory::put(std::int64_t round, VectorPiece piece)
{
    if (round == final_models) {
        trace_.model.resize(piece.whole);
        copy(piece.numbers, Numbers(trace_.model).subspan(piece.first, piece.numbers.size()));
        return;
    }
    if (piece.first == 0)
        begun_ = std::make_shared<NumberVector>(piece.whole, piece.numbers.precision());
    copy(piece.numbers, Numbers(*begun_).subspan(piece.first, piece.numbers.size()));
    if (piece.last()) keep(round, std::move(begun_));
}

void Memory::end(const std::string& status, const std::string& stopped_at)
{
    trace_.attributes["status"] = status;
    trace_.attributes["stopped_at"] = stopped_at;
    iterates_.clear();
    std::ranges::stable_sort(trace_.evaluations, {}, &Evaluation::round);
}

void save(const Trace& trace, const std::string& path)
{
    if (std::filesystem::exists(path))
        throw BadInput(path + " is there already: give another name, or remove it");
    if (trace.header.text.empty())
        throw BadInput("this trace was read from a file: copy the file to " + path);
    write_whole(path, [&](const std::string& temporary) {
        std::optional<Writer> writer;
        {
            const std::lock_guard lock(libraries());
            writer.emplace(temporary, trace.header, std::ssize(trace.model));
        }
        trace.for_each([&](const auto& rows) {
            for (const auto& row : rows) writer->add(row);
        });
        writer->pause();
        const std::lock_guard lock(libraries());
        writer->finish(trace.model, trace.status(), trace.text("stopped_at"));
    });
}

}  // namespace quorate::trace
