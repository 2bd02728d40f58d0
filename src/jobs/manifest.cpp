// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

std::string escaped(std::string text)
{
    boost::replace_all(text, "\\", "\\\\");
    boost::replace_all(text, "\t", "\\t");
    boost::replace_all(text, "\n", "\\n");
    boost::replace_all(text, "\r", "\\r");
    return text;
}

std::string unescaped(const std::string& cell)
{
    std::string text;
    for (std::size_t i = 0; i < cell.size(); ++i) {
        if (cell[i] != '\\' || i + 1 == cell.size()) {
            text += cell[i];
            continue;
        }
        const char c = cell[++i];
        text += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
    }
    return text;
}

}  // namespace

std::string ManifestRow::value(const std::string& option) const
{
    for (const auto& [name, text] : options)
        if (name == option) return text;
    return "";
}

Manifest Manifest::read(const std::string& path)
{
    const auto text = contents_of(path);
    if (!text)
        throw BadInput("cannot read " + path + ": give the manifest.tsv that quorate script wrote");
    Manifest manifest;
    manifest.path_ = path;
    std::vector<std::string> columns;
    std::set<std::string> traces;
    std::istringstream file(*text);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.ends_with('\r')) line.pop_back();
        if (trimmed(line).empty() || line.starts_with('#')) continue;
        const auto origin = fmt::format("{}:{}: ", path, number);
        auto cells = split(line, '\t');
        for (auto& cell : cells) cell = unescaped(cell);
        if (columns.empty()) {
            columns = cells;
            const std::set<std::string> names(columns.begin(), columns.end());
            if (columns.size() < 2 || columns[0] != "run" || columns[1] != "trace" ||
                names.size() != columns.size() || names.contains(""))
                throw BadInput(origin +
                               "the columns must be run, trace and different options, with "
                               "tabs between");
            continue;
        }
        if (cells.size() != columns.size())
            throw BadInput(
                fmt::format("{}{} cells, but there are {} columns: separate them by tabs, "
                            "and leave those empty that are not given",
                            origin, cells.size(), columns.size()));
        const auto run = to_integer(cells[0]);
        const auto last = manifest.rows_.empty() ? 0 : manifest.rows_.back().number;
        if (!run || *run <= last || *run > 10'000'000)
            throw BadInput(fmt::format("{}run is '{}': number the runs in ascending order, from 1",
                                       origin, cells[0]));
        const auto trace = std::filesystem::path(cells[1]).lexically_normal().string();
        if (trace.empty() || !traces.insert(trace).second)
            throw BadInput(
                fmt::format("{}trace is '{}': each run needs a file of its own", origin, cells[1]));
        ManifestRow row{*run, cells[1], {}, origin};
        for (std::size_t i = 2; i < columns.size(); ++i)
            if (!cells[i].empty()) row.options.emplace_back(columns[i], cells[i]);
        manifest.rows_.push_back(std::move(row));
    }
    if (manifest.rows_.empty())
        throw BadInput(path + " has no runs: write one a line, below the names of the columns");
    manifest.refuse_shared_checkpoints();
    return manifest;
}

const ManifestRow& Manifest::row(std::int64_t number) const
{
    const auto at = std::ranges::find(rows_, number, &ManifestRow::number);
    if (at == rows_.end())
        throw BadInput(fmt::format("--row is {}, which {} does not have: it has {} to {}", number,
                                   path_, rows_.front().number, rows_.back().number));
    return *at;
}

std::vector<std::string> Manifest::options() const
{
    std::vector<std::string> all;
    std::set<std::string> known;
    for (const auto& row : rows_)
        for (const auto& [name, text] : row.options)
            if (known.insert(name).second) all.push_back(name);
    return all;
}

void Manifest::refuse_shared_checkpoints() const
{
    std::set<std::string> known;
    for (const auto& row : rows_) {
        const auto checkpoint = row.value("checkpoint");
        const auto file = std::filesystem::path(checkpoint).lexically_normal().string();
        if (!file.empty() && !known.insert(file).second)
            throw BadInput(fmt::format(
                "{}checkpoint is {}, which is another run's: each run needs one of its own",
                row.origin, checkpoint));
    }
}

std::string Manifest::text() const
{
    const auto columns = options();
    std::string text = "run\ttrace";
    for (const auto& name : columns) text.append(1, '\t').append(escaped(name));
    text += "\n";
    for (const auto& row : rows_) {
        text += fmt::format("{}\t{}", row.number, escaped(row.trace));
        for (const auto& name : columns) text.append(1, '\t').append(escaped(row.value(name)));
        text += "\n";
    }
    return text;
}

void Manifest::write(const std::string& path, const std::vector<std::string>& header) const
{
    std::string all;
    for (const auto& line : header) all += "# " + escaped(line) + "\n";
    write_file(path, all + text());
}

std::string ranges(const std::vector<std::int64_t>& ascending)
{
    std::string text;
    for (std::size_t i = 0; i < ascending.size();) {
        auto last = i;
        while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
        if (!text.empty()) text += ",";
        text += std::to_string(ascending[i]);
        if (last > i) text.append(1, '-').append(std::to_string(ascending[last]));
        i = last + 1;
    }
    return text;
}

std::vector<std::int64_t> numbers(const std::string& ranges)
{
    std::vector<std::int64_t> all;
    if (ranges.empty()) return all;
    for (const auto& range : split(ranges, ',')) {
        const auto dash = range.find('-');
        const auto first = to_integer(range.substr(0, dash));
        const auto last = dash == std::string::npos ? first : to_integer(range.substr(dash + 1));
        if (!first || !last)
            throw BadInput(fmt::format("'{}' are no ranges of numbers, as 3,7,12-15", ranges));
        for (auto number = *first; number <= *last; ++number) all.push_back(number);
    }
    return all;
}

}  // namespace quorate
