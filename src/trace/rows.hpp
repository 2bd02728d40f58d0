// SPDX-License-Identifier: BSD-2-Clause
// The rows of a trace's tables, and the name under which each field is stored. This is the one
// place that says what a trace holds; docs/trace.md explains the fields. The first column of a
// table is the dimension scale of the others.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace quorate::trace {

/// The version of the format, and the only one that is read: it changes with the tables below.
inline constexpr std::int64_t format_version = 7;

/// A column of a table: its name in the file, the field that fills it, and its unit if it has one.
/// Seconds are "s", because xarray would take "seconds" for a timedelta.
template <class Row, class T>
struct Column {
    const char* name;
    T Row::*field;
    const char* unit = "";
};
// Clang 14 deduces no template arguments of aggregates without guides.
template <class Row, class T>
Column(const char*, T Row::*) -> Column<Row, T>;
template <class Row, class T>
Column(const char*, T Row::*, const char*) -> Column<Row, T>;

/// One model update. Times are seconds on the coordinator's clock, from the first dispatch.
struct Round {
    double time, wait, step_size;
    std::int64_t model, used, erased, samples;
    double decode_error, staleness_mean;
    std::int64_t staleness_max;
    double gradient_norm, loss_estimate, inner;
    std::int64_t bytes_sent, bytes_received, waste;

    static constexpr const char* table = "round";
    static constexpr auto columns = std::tuple{
        Column{"time", &Round::time, "s"},
        Column{"wait", &Round::wait, "s"},
        Column{"step_size", &Round::step_size},
        Column{"model", &Round::model},
        Column{"used", &Round::used, "workers"},
        Column{"erased", &Round::erased, "workers"},
        Column{"samples", &Round::samples, "rows"},
        Column{"decode_error", &Round::decode_error},
        Column{"staleness_mean", &Round::staleness_mean, "updates"},
        Column{"staleness_max", &Round::staleness_max, "updates"},
        Column{"gradient_norm", &Round::gradient_norm},
        Column{"loss_estimate", &Round::loss_estimate},
        Column{"inner", &Round::inner},
        Column{"bytes_sent", &Round::bytes_sent, "bytes"},
        Column{"bytes_received", &Round::bytes_received, "bytes"},
        Column{"waste", &Round::waste, "rows"},
    };
};

/// One contribution that reached the coordinator, used or not.
struct Arrival {
    std::int64_t event, round, worker, task, part, draw, version, version_oldest;
    double sent, arrived, compute, delay, idle, send;
    std::int64_t samples, bytes, used, uses;

    static constexpr const char* table = "arrival";
    static constexpr auto columns = std::tuple{
        Column{"event", &Arrival::event},
        Column{"round", &Arrival::round},
        Column{"worker", &Arrival::worker},
        Column{"task", &Arrival::task},
        Column{"part", &Arrival::part},
        Column{"draw", &Arrival::draw},
        Column{"version", &Arrival::version},
        Column{"version_oldest", &Arrival::version_oldest},
        Column{"sent", &Arrival::sent, "s"},
        Column{"arrived", &Arrival::arrived, "s"},
        Column{"compute", &Arrival::compute, "s"},
        Column{"delay", &Arrival::delay, "s"},
        Column{"idle", &Arrival::idle, "s"},
        Column{"send", &Arrival::send, "s"},
        Column{"samples", &Arrival::samples, "rows"},
        Column{"bytes", &Arrival::bytes, "bytes"},
        Column{"used", &Arrival::used},
        Column{"uses", &Arrival::uses},
    };
};

/// The version of one item of a contribution whose items are taken at different versions.
struct ItemRow {
    std::int64_t event, part, item, version;

    static constexpr const char* table = "item";
    static constexpr auto columns = std::tuple{
        Column{"event", &ItemRow::event},
        Column{"part", &ItemRow::part},
        Column{"item", &ItemRow::item},
        Column{"version", &ItemRow::version},
    };
};

/// What the engine measured of a contribution for the scheme. The fingerprint is an unsigned
/// number, stored bit by bit.
struct Measure {
    std::int64_t event, part, fingerprint;
    double projection;

    static constexpr const char* table = "measure";
    static constexpr auto columns = std::tuple{
        Column{"event", &Measure::event},
        Column{"part", &Measure::part},
        Column{"fingerprint", &Measure::fingerprint},
        Column{"projection", &Measure::projection},
    };
};

/// A term of a round's estimate: the weight of a contribution in it, by which the sum over samples
/// that the contribution is becomes a part of the mean. Only with --trace-weights.
struct Weight {
    std::int64_t round, event, part;  // round: from 1; event and part: of the contribution
    double weight;

    static constexpr const char* table = "weight";
    static constexpr auto columns = std::tuple{
        Column{"round", &Weight::round},
        Column{"event", &Weight::event},
        Column{"part", &Weight::part},
        Column{"weight", &Weight::weight},
    };
};

/// A timer that went off.
struct Timer {
    std::int64_t event, timer;

    static constexpr const char* table = "timer";
    static constexpr auto columns = std::tuple{
        Column{"event", &Timer::event},
        Column{"timer", &Timer::timer},
    };
};

/// The values of `kind` in the table of membership.
enum class Change : std::int64_t {
    joined = 1,  // the worker takes part again, or another machine has taken its place
    left = 2,    // the worker has left with notice
    died = 3,
    reencoded = 4,
    loading = 5,  // a standby rank has begun to load the shard of this worker, which died
    resumed = 6,  // the run went on with other workers than the code was for
    lost = 7,     // contributions were lost after a step was decided; the round begins anew
    apart = 8,    // the changes before it and behind it came apart, though nothing lies between
    reset = 9     // the optimisers of local steps lost their states, because the run was resumed
};

/// A change of membership. If the run was re-encoded, `worker` is the number of workers of the new
/// code; if it was resumed, how many it went on with; if contributions or states were lost, or
/// changes came apart, -1; else it names the worker that the change is of. The changes that a
/// resumption brings follow its row, and behind them the code is made anew.
struct Membership {
    std::int64_t event;
    double time;
    std::int64_t worker, kind;

    static constexpr const char* table = "membership";
    static constexpr auto columns = std::tuple{
        Column{"event", &Membership::event},
        Column{"time", &Membership::time, "s"},
        Column{"worker", &Membership::worker},
        Column{"kind", &Membership::kind},
    };
};

/// The model after `round` updates, scored.
struct Evaluation {
    std::int64_t round, model;
    double time, train_loss, objective, train_accuracy, test_loss, accuracy, auc, average_precision,
        precision, recall, f1, mse, top_k;

    static constexpr const char* table = "evaluation";
    static constexpr auto columns = std::tuple{
        Column{"round", &Evaluation::round},
        Column{"model", &Evaluation::model},
        Column{"time", &Evaluation::time, "s"},
        Column{"train_loss", &Evaluation::train_loss},
        Column{"objective", &Evaluation::objective},
        Column{"train_accuracy", &Evaluation::train_accuracy},
        Column{"test_loss", &Evaluation::test_loss},
        Column{"accuracy", &Evaluation::accuracy},
        Column{"auc", &Evaluation::auc},
        Column{"average_precision", &Evaluation::average_precision},
        Column{"precision", &Evaluation::precision},
        Column{"recall", &Evaluation::recall},
        Column{"f1", &Evaluation::f1},
        Column{"mse", &Evaluation::mse},
        Column{"top_k", &Evaluation::top_k},
    };
};

/// One worker of the run. Rows are in the order of worker numbers.
struct WorkerRow {
    std::int64_t rank, rows, columns_touched, node;

    static constexpr const char* table = "worker";
    static constexpr auto columns = std::tuple{
        Column{"rank", &WorkerRow::rank},
        Column{"rows", &WorkerRow::rows, "rows"},
        Column{"columns", &WorkerRow::columns_touched, "columns"},
        Column{"node", &WorkerRow::node},
    };
};

/// A row of any table.
using Row = std::variant<Round, Arrival, ItemRow, Measure, Weight, Timer, Membership, Evaluation,
                         WorkerRow>;

/// The rows of all tables.
struct Tables {
    std::vector<Round> rounds;
    std::vector<Arrival> arrivals;
    std::vector<ItemRow> items;
    std::vector<Measure> measures;
    std::vector<Weight> weights;
    std::vector<Timer> timers;
    std::vector<Membership> membership;
    std::vector<Evaluation> evaluations;
    std::vector<WorkerRow> workers;

    /// Calls f with each table, a vector of rows.
    void for_each(auto f) { visit(*this, f); }
    void for_each(auto f) const { visit(*this, f); }
    /// Returns the table that a row belongs to.
    template <class Kind>
    std::vector<Kind>& table(const Kind&)
    {
        return std::get<std::vector<Kind>&>(std::tie(rounds, arrivals, items, measures, weights,
                                                     timers, membership, evaluations, workers));
    }
    /// Appends a row to its table.
    void add(const Row& row)
    {
        std::visit([this](const auto& one) { table(one).push_back(one); }, row);
    }

private:
    static void visit(auto& self, auto& f)
    {
        f(self.rounds), f(self.arrivals), f(self.items), f(self.measures), f(self.weights),
            f(self.timers), f(self.membership), f(self.evaluations), f(self.workers);
    }
};

/// The type of a table's rows.
template <class Rows>
using RowOf = typename std::remove_cvref_t<Rows>::value_type;

}  // namespace quorate::trace
