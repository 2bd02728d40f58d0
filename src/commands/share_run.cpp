// SPDX-License-Identifier: BSD-2-Clause
#include "commands/share_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "ranks/owner_fleet.hpp"
#include "run/aggregation.hpp"
#include "run/history.hpp"
#include "run/memory_checkpoint.hpp"

namespace quorate {

void check_shares(const Training& training)
{
    if (training.settings.text("aggregate") != "shares") return;
    if (const auto why = why_no_shares(training.settings); !why.empty())
        training.settings.refuse("aggregate", fmt::format(", but {}: use node or flat", why));
}

namespace {

// What the engine of a share is to do: what the coordinator's does, but for what that one alone
// decides and writes.
EngineOptions options_of_share(const Training& training, OwnerFleet& fleet)
{
    auto options = training.engine;
    options.point_memory = fleet.point_memory();
    options.arrivals = Arrivals::none;
    options.churn = {};
    // If the code is not made again, the coordinator waits or ends the run.
    if (options.on_loss != OnLoss::reencode) options.on_loss = OnLoss::wait;
    return options;
}

// A checkpoint and a trace as they travel to an owner: vectors are slices, and of the trace there
// is what an engine needs to go through it.
constexpr const char* attributes[] = {"aggregate", "nodes"};

// Puts a slice of a vector that has so many elements as a whole, or a vector of another length.
void put(MessageWriter& out, const StoredVector& vector, std::size_t whole, const ShareRange& share)
{
    const auto elements = vector.size == whole ? share.second : vector.size;
    out.put(static_cast<std::int64_t>(elements));
    out.numbers<double>(
        elements, [&](double* at) { std::ranges::copy(slice_of(vector, elements, share), at); });
}

// A vector that is in memory.
StoredVector stored(std::vector<double> vector)
{
    const auto size = vector.size();
    return {size, [all = std::move(vector)](std::size_t first, std::size_t count) {
                const auto some = std::span(all).subspan(first, count);
                return std::vector<double>(some.begin(), some.end());
            }};
}

std::vector<double> get_vector(MessageReader& in)
{
    const auto numbers = in.doubles(in.get_length(sizeof(double)));
    return {numbers.begin(), numbers.end()};
}

// Tables that no engine asks for stay away.
template <class Row>
constexpr bool travels = !std::is_same_v<Row, trace::Evaluation>;

Resumption decode_resumption(const transport::Bytes& bytes)
{
    MessageReader in(bytes);
    Resumption resumed;
    auto& [checkpoint, trace, completed, here, rounds, time, loss] = resumed;
    checkpoint.snapshot.event = in.get<std::int64_t>();
    checkpoint.snapshot.round = in.get<std::int64_t>();
    here = in.get_list<std::vector<Worker>>();
    for (const auto version : in.get_list<std::vector<Version>>())
        checkpoint.points[version] = stored(get_vector(in));
    checkpoint.snapshot.last_estimate = get_vector(in);
    checkpoint.optimizers.resize(in.get_length(sizeof(std::int64_t)));
    for (auto& memory : checkpoint.optimizers) {
        memory.updates = in.get<std::int64_t>();
        memory.state = in.get_list<std::string>();
        const auto count = in.get_length(sizeof(std::int64_t));
        for (std::size_t i = 0; i < count; ++i) memory.vectors.push_back(stored(get_vector(in)));
    }
    for (const auto* name : attributes) trace.attributes[name] = in.get_list<std::string>();
    trace.for_each([&]<class Row>(std::vector<Row>& rows) {
        if (travels<Row>) rows = in.get_list<std::vector<Row>>();
    });
    return resumed;
}

// Keeps the owner's part of states in its rank, and sends it to the owner of the next share.
std::optional<StateParts> parts_in_memory(const Training& training, const Ownership& ownership,
                                          const Optimizers& optimizers, transport::Relay& relay)
{
    const auto every = memory_interval_of(training.settings);
    if (!every) return std::nullopt;
    const auto& shares = ownership.shares;
    const auto share = static_cast<std::size_t>(ownership.share);
    const auto to = [&relay](int rank) {
        return [&relay, rank](std::shared_ptr<transport::Bytes> bytes) {
            relay.post(rank, transport::Tag::state_piece, std::move(bytes));
        };
    };
    return std::optional<StateParts>(
        std::in_place, *every, optimizers,
        ShareRange{static_cast<std::size_t>(shares.first(share)), shares.size(share)},
        StateKeepers{to(shares.ranks[share]), to(shares.ranks[(share + 1) % shares.count()]),
                     ownership.share, static_cast<std::int64_t>(shares.count())});
}

}  // namespace

std::shared_ptr<transport::Bytes> encode(const Resumption& resumed, const ShareRange& share,
                                         transport::Pool& pool)
{
    const auto& [checkpoint, trace, completed, here, rounds, time, loss] = resumed;
    const auto whole = checkpoint.points.begin()->second.size;
    return make_message(pool, [&](MessageWriter& out) {
        const auto put_slice = [&](const StoredVector& vector) { put(out, vector, whole, share); };
        out.put(checkpoint.snapshot.event);
        out.put(checkpoint.snapshot.round);
        out.put_list(here);
        std::vector<Version> versions;
        for (const auto& [version, point] : checkpoint.points) versions.push_back(version);
        out.put_list(versions);
        for (const auto& [version, point] : checkpoint.points) put_slice(point);
        put_slice(stored(checkpoint.snapshot.last_estimate));
        out.put(std::ssize(checkpoint.optimizers));
        for (const auto& memory : checkpoint.optimizers) {
            out.put(memory.updates);
            out.put_list(memory.state);
            out.put(std::ssize(memory.vectors));
            for (const auto& vector : memory.vectors) put_slice(vector);
        }
        for (const auto* name : attributes) out.put_list(trace.text(name));
        trace.for_each([&]<class Row>(const std::vector<Row>& rows) {
            if (travels<Row>) out.put_list(rows);
        });
    });
}

void own_share(Training& training, const Ownership& ownership, transport::Relay& relay, int ranks)
{
    training.settings.set("step", {ownership.step, "", false});
    const auto share = static_cast<std::size_t>(ownership.share);
    const auto optimizers =
        begin_training(training, ShareRange{static_cast<std::size_t>(ownership.shares.first(share)),
                                            ownership.shares.size(share)});
    OwnerFleet fleet(relay, ownership, training.wire, training.precision(), ranks);
    std::optional<Resumption> resumed;
    std::optional<History> history;
    if (const auto past = fleet.begin()) {
        resumed = decode_resumption(*past);
        history.emplace(training, *resumed, std::nullopt, false);
    }
    const auto sums = sums_over(fleet);
    for (const auto& optimizer : optimizers) optimizer->use_sums(sums);
    Stopping stopping(training.stop_rules, training.regularizer, sums);
    ModelSlices models(fleet);
    std::optional<Engine> engine(
        std::in_place, options_of_share(training, fleet), *training.coding->scheme,
        history ? static_cast<Fleet&>(history->fleet) : fleet, optimizers, models);
    if (resumed) {
        engine->resume(resumed->past(), &fleet);
        restore(optimizers, resumed->checkpoint);
        resumed->checkpoint.drop_vectors();
    }
    std::size_t updated = 0;  // the model of the last update
    Observer observer{
        .round =
            [&](const Progress& progress) { updated = static_cast<std::size_t>(progress.model); },
        .done = [&](const Update& update) { return stopping.done(update); }};
    Snapshot last;
    auto in_memory = parts_in_memory(training, ownership, optimizers, relay);
    if (training.settings.on("checkpoint"))
        observer.snapshot = [&](Snapshot snapshot) {
            if (in_memory) in_memory->send_piece();
            last = std::move(snapshot);
        };
    fleet.join_from([&] { return vectors_of(last, optimizers); });
    if (in_memory) fleet.keep_by([&] { in_memory->make(last); });
    engine->run(fleet.ended(), observer);
    engine.reset();  // the memory is needed for the models that are sent
    // The coordinator also keeps the model of a round that turns out to be the last.
    if (const auto kept = fleet.end(); kept > models.last())
        models.keep(kept, std::make_shared<NumberVector>(optimizers[updated]->model()));
    for (std::size_t model = 0; model < optimizers.size(); ++model)
        fleet.hold({SliceName::finished, 0, static_cast<std::int64_t>(model)},
                   optimizers[model]->model(), nullptr);
    fleet.hand_over();
}

}  // namespace quorate
