// SPDX-License-Identifier: BSD-2-Clause
#include "engine/churn_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

constexpr std::string_view max_away = "max-away=", failures = "failures:";

constexpr const char* grammar =
    "write TIME leave|join|kill WORKER, with TIME in seconds (3.5, 50ms, 2min) or rounds "
    "(100r), and a semicolon before the next event";

// Returns the events as text. In a file, a line may hold one or several, and a comment behind #.
std::string text_of(const Settings& settings)
{
    const auto& text = settings.text("events");
    std::error_code error;
    if (!std::filesystem::is_regular_file(text, error)) return text;
    std::ifstream file(text);
    std::string all;
    for (std::string line; std::getline(file, line);) all += line.substr(0, line.find('#')) + ";";
    if (file.bad()) settings.refuse("events", ", which cannot be read");
    return all;
}

std::optional<Change::Kind> kind_of(const std::string& word)
{
    if (word == "leave") return Change::Kind::left;
    if (word == "join") return Change::Kind::joined;
    if (word == "kill") return Change::Kind::died;
    return std::nullopt;
}

// Reads "10+12*3": numbers of workers, each as often as its weight; nothing if it cannot be.
std::vector<std::size_t> numbers_of(const std::string& text, int workers)
{
    std::vector<std::size_t> all;
    for (const auto& word : split(text, '+')) {
        const auto times = word.find('*');
        const auto number = to_integer(trimmed(word.substr(0, times)));
        const auto weight = times == std::string::npos
                                ? std::optional<std::int64_t>(1)
                                : to_integer(trimmed(word.substr(times + 1)));
        if (!number || *number < 1 || *number > workers || !weight || *weight < 1 || *weight > 1000)
            return {};
        all.insert(all.end(), static_cast<std::size_t>(*weight), static_cast<std::size_t>(*number));
    }
    return all;
}

}  // namespace

Option events_option()
{
    return {"events", "EVENTS|FILE|max-away=N|random:...|failures:...", "",
            "who leaves, dies and comes back when: '3.5 leave 4; 100r join 4; 7 kill 2', times in "
            "seconds or rounds; max-away: before each round 0 to N workers are away, each number "
            "as likely; random:leave=P,join=P,least=N: before each round each worker leaves with a "
            "probability, unless only N are left, and each that is away joins; "
            "random:change=P,numbers=N+N*W: with a probability their number is drawn again from "
            "these, each as often as its weight W; failures:mtbf=S,repair=S,together=N: each "
            "worker fails, and comes back, after exponential times of these means, or N workers of "
            "a host together"};
}

ChurnSchedule::ChurnSchedule(const Settings& settings, int workers, std::uint64_t seed)
    : seed_(seed)
{
    if (!settings.on("events")) return;
    const auto& text = settings.text("events");
    if (text.starts_with(max_away))
        read_most_away(settings, text.substr(max_away.size()), workers);
    else if (text.starts_with(failures))
        read_failures(settings, text.substr(failures.size()), workers);
    else if (text.starts_with("random"))
        read_chance(settings, text, workers);
    else
        read(settings, text_of(settings), workers);
}

void ChurnSchedule::read_most_away(const Settings& settings, const std::string& text, int workers)
{
    const auto most = to_integer(text);
    if (!most || *most < 1 || *most >= workers)
        settings.refuse("events", fmt::format(", and of {} workers 1 to {} may be away: write {}N",
                                              workers, workers - 1, max_away));
    chance_.emplace();
    chance_->change = 1;
    for (std::int64_t away = 0; away <= *most; ++away)
        chance_->numbers.push_back(static_cast<std::size_t>(workers - away));
}

void ChurnSchedule::read_chance(const Settings& settings, const std::string& text, int workers)
{
    chance_.emplace();
    bool each = false, number = false;
    const auto refuse = [&](const std::string& what) {
        settings.refuse("events",
                        fmt::format(", {}: write random:leave=P,join=P,least=N or "
                                    "random:change=P,numbers=N+N*W with P from 0 to 1 and N from 1 "
                                    "to {}",
                                    what, workers));
    };
    const auto arguments =
        text.find(':') == std::string::npos ? "" : text.substr(text.find(':') + 1);
    for (const auto& argument : split(arguments, ',')) {
        const auto equals = argument.find('=');
        const auto name = trimmed(argument.substr(0, equals));
        const auto value = equals == std::string::npos ? "" : argument.substr(equals + 1);
        const double given = to_real(value).value_or(-1);
        const bool probability = given >= 0 && given <= 1;
        if (name == "leave" && probability) {
            chance_->leave = given;
        } else if (name == "join" && probability) {
            chance_->join = given;
        } else if (name == "least" && given >= 1 && given <= workers) {
            chance_->least = static_cast<std::size_t>(given);
        } else if (name == "change" && probability) {
            chance_->change = given;
        } else if (name == "numbers") {
            chance_->numbers = numbers_of(value, workers);
            if (chance_->numbers.empty()) refuse(fmt::format("where '{}' is wrong", argument));
        } else {
            refuse(fmt::format("where '{}' is wrong", argument));
        }
        (name == "change" || name == "numbers" ? number : each) = true;
    }
    if (number && (each || chance_->change == 0 || chance_->numbers.empty()))
        refuse("where change and numbers stand alone or for nothing");
}

void ChurnSchedule::read_failures(const Settings& settings, const std::string& text, int workers)
{
    std::map<std::string, double> given = {{"mtbf", 0}, {"repair", 0}, {"together", 1}};
    for (const auto& argument : split(text, ',')) {
        const auto equals = std::min(argument.find('='), argument.size());
        const auto name = trimmed(argument.substr(0, equals));
        const auto value = trimmed(argument.substr(std::min(equals + 1, argument.size())));
        const auto number =
            name == "together" ? to_integer(value).value_or(0) : to_seconds(value).value_or(0);
        if (!given.contains(name) || !(number > 0))
            settings.refuse("events", fmt::format(", where '{}' is wrong: write "
                                                  "failures:mtbf=S,repair=S or "
                                                  "failures:mtbf=S,repair=S,together=N",
                                                  argument));
        given[name] = number;
    }
    for (const auto* name : {"mtbf", "repair"})
        if (given[name] == 0)
            settings.refuse("events", fmt::format(", without {}: write failures:mtbf=S,repair=S "
                                                  "with seconds, or 2h",
                                                  name));
    if (given["together"] > workers)
        settings.refuse("events", fmt::format(", but there are {} workers: use together={} at most",
                                              workers, workers));
    failures_.emplace(given["mtbf"], given["repair"], static_cast<int>(given["together"]), workers,
                      seed_);
}

void ChurnSchedule::read(const Settings& settings, const std::string& text, int workers)
{
    for (const auto& piece : split(text, ';')) {
        if (trimmed(piece).empty()) continue;
        std::istringstream words(piece);
        std::string time, verb, who, more;
        words >> time >> verb >> who >> more;
        const bool rounds = time.ends_with('r');
        if (rounds) time.pop_back();
        const auto at = rounds ? to_real(time) : to_seconds(time);
        const auto kind = kind_of(verb);
        const bool whole =
            !rounds || (at && *at == static_cast<double>(static_cast<std::int64_t>(*at)));
        if (!at || *at < 0 || !whole || !kind || who.empty() || !more.empty())
            settings.refuse("events",
                            fmt::format(", where '{}' is no event: {}", trimmed(piece), grammar));
        for (const auto& one : split(who, ',')) {
            const auto worker = to_integer(one);
            if (!worker || *worker < 0 || *worker >= workers)
                settings.refuse(
                    "events", fmt::format(", where '{}' names no worker: there are workers 0 to {}",
                                          trimmed(piece), workers - 1));
            (rounds ? by_round_ : by_time_).push_back({*at, {*kind, static_cast<Worker>(*worker)}});
        }
    }
    for (auto* list : {&by_time_, &by_round_}) {
        std::ranges::stable_sort(*list, {}, &Planned::at);
        std::set<Worker> dead;
        for (const auto& [time, change] : *list) {
            if (change.kind == Change::Kind::joined && dead.contains(change.worker))
                settings.refuse(
                    "events", fmt::format(", where worker {} joins, which is dead by then: let it "
                                          "leave instead, or have a --standby rank take its place",
                                          change.worker));
            if (change.kind == Change::Kind::died) dead.insert(change.worker);
        }
    }
}

Seconds ChurnSchedule::next() const
{
    if (failures_) return failures_->next();
    return time_ < by_time_.size() ? by_time_[time_].at : never;
}

std::vector<Change> ChurnSchedule::due(Seconds now)
{
    std::vector<Change> all;
    while (next() <= now) {
        if (failures_)
            std::ranges::copy(failures_->pass(), std::back_inserter(all));
        else
            all.push_back(by_time_[time_++].change);
    }
    return all;
}

std::vector<Change> ChurnSchedule::planned_by(std::int64_t round)
{
    std::vector<Change> all;
    for (; round_ < by_round_.size() && by_round_[round_].at <= static_cast<double>(round);
         ++round_)
        all.push_back(by_round_[round_].change);
    return all;
}

std::vector<Change> ChurnSchedule::after_round(std::int64_t round, const MembershipTable& members)
{
    auto all = planned_by(round);
    if (!chance_) return all;
    Stream stream(seed_, Purpose::membership, static_cast<std::uint32_t>(round));
    if (chance_->numbers.empty())
        each_by_chance(stream, members, all);
    else
        number_by_chance(stream, members, all);
    return all;
}

void ChurnSchedule::each_by_chance(Stream& stream, const MembershipTable& members,
                                   std::vector<Change>& all) const
{
    auto left = members.all(MembershipTable::Status::active).size();
    for (Worker worker = 0; worker < std::ssize(members); ++worker) {
        const double drawn = stream.uniform();  // for each worker, whoever takes part
        if (members.active(worker) && drawn < chance_->leave && left > chance_->least) {
            all.push_back({Change::Kind::left, worker});
            --left;
        } else if (members.status(worker) == MembershipTable::Status::away &&
                   drawn < chance_->join) {
            all.push_back({Change::Kind::joined, worker});
        }
    }
}

void ChurnSchedule::number_by_chance(Stream& stream, const MembershipTable& members,
                                     std::vector<Change>& all) const
{
    if (stream.uniform() >= chance_->change) return;
    const auto wanted = chance_->numbers[stream.below(chance_->numbers.size())];
    auto here = members.all(MembershipTable::Status::active);
    auto away = members.all(MembershipTable::Status::away);
    const bool leave = here.size() > wanted;
    auto& some = leave ? here : away;
    const auto count = leave ? here.size() - wanted : std::min(wanted - here.size(), away.size());
    stream.shuffle(some);
    for (std::size_t i = 0; i < count; ++i)
        all.push_back({leave ? Change::Kind::left : Change::Kind::joined, some[i]});
}

void ChurnSchedule::skip(Seconds now, std::int64_t round)
{
    due(now);
    planned_by(round);
}

bool ChurnSchedule::joins() const
{
    if (failures_) return failures_->joins();
    const auto joins = [](const Planned& one) { return one.change.kind == Change::Kind::joined; };
    return std::any_of(by_time_.begin() + static_cast<std::ptrdiff_t>(time_), by_time_.end(),
                       joins);
}

}  // namespace quorate
