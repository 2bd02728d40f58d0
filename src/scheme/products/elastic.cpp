// SPDX-License-Identifier: BSD-2-Clause
// Coded elastic computing. Each machine stores a coded block of 1/L of the data. Whenever a machine
// leaves or joins, the rows are shared out anew, and no data move. A round has two stages, z = X w
// and X'r, where r are the derivatives of the losses by the scores z.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "scheme/options.hpp"
#include "scheme/products/coded_product.hpp"
#include "scheme/products/elastic_plan.hpp"

namespace quorate {

namespace {

class Elastic final : public Scheme {
public:
    Elastic(const ElasticOptions& given, const Problem& problem)
        : problem_(problem), needed_(needed_machines(given, problem)),
          two_codes_(given.storage == ElasticOptions::Storage::two),
          code_(given.generator.value_or(problem.dense ? Generator::haar : Generator::systematic),
                problem.workers, needed_, problem.seed),
          height_((problem.rows + needed_ - 1) / needed_),
          width_((problem.columns + needed_ - 1) / needed_),
          division_(given.allocation, needed_, needed_ + given.slack, height_, problem.workers),
          column_division_(given.allocation, needed_, needed_ + given.slack, width_,
                           problem.workers),
          rows_(code_, Item::Operation::product, height_),
          columns_(code_, Item::Operation::column_product, width_),
          derivatives_(std::make_shared<const std::vector<Operand>>(
              1, Operand{{{.rows = {0, problem.rows}, .weight = 1}}}))
    {
    }

    Needs needs() const override
    {
        Needs needs;
        needs.blocks = {{0, problem_.rows}};
        needs.shard.resize(problem_.workers);
        needs.membership = true;
        needs.exact = true;
        for (int machine = 0; machine < problem_.workers; ++machine) {
            needs.coded.push_back(coded(machine, height_, problem_.rows));
            if (two_codes_) needs.coded_columns.push_back(coded(machine, width_, problem_.columns));
        }
        return needs;
    }

    double worst_window() const { return code_.worst_window(); }

    std::string warning() const override
    {
        const auto worst = worst_window();
        return worst > 1e4 ? fmt::format(
                                 "decoding may lose {:.0f} of 16 digits: the storage code "
                                 "has condition numbers up to {:.1e}; another --seed or "
                                 "--generator may do better",
                                 std::log10(worst), worst)
                           : "";
    }

    void handle(const Event& event, Seconds, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            there_ = {start->active.begin(), start->active.end()};
            begin(0, out);
        } else if (const auto* stepped = std::get_if<Stepped>(&event)) {
            begin(stepped->version, out);
        } else if (const auto* joined = std::get_if<WorkerJoined>(&event)) {
            there_.insert(joined->worker);  // from the next round on
            if (starved_) begin(version_, out);
        } else if (const auto* lost = std::get_if<WorkerLost>(&event)) {
            there_.erase(lost->worker);
            working_.erase(lost->worker);
            if (stage_ == Stage::sums)
                repair_sums(lost->worker, out);
            else if (stage_ != Stage::none)
                ask(product().lose(lost->worker, working_), TaskControl::Begin::after, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& one : arrived->contributions) receive(one, out);
        } else if (std::holds_alternative<Quiescent>(event)) {
            out.push_back(Undecodable{"all machines have answered"});
        }
    }

private:
    // The stage of the running round. The second one is `sums` of coded rows or products of coded
    // `columns`.
    enum class Stage { none, scores, sums, columns };
    // A task of the second stage from coded rows: a machine adds up the transpose of these rows
    // times an operand.
    struct Sum {
        Worker worker;
        std::vector<Rows> rows;
        Operand operand;
    };

    // Gives up the round for now. It begins anew when enough machines are there.
    Undecodable too_few()
    {
        starved_ = true;
        stage_ = Stage::none;
        return {
            fmt::format("{} machines are left, and {} are needed: let some join, or use a lower "
                        "--needed",
                        there_.size(), needed_)};
    }

    // The coded block of a machine, of `count` rows or columns that are cut into blocks of that
    // height; the last block may be shorter.
    CodedBlock coded(int machine, std::int64_t height, std::int64_t count) const
    {
        CodedBlock block{height, {}};
        for (int i = 0; i < needed_; ++i) {
            const auto first = std::min(i * height, count);
            if (const double g = code_.coefficient(machine, i); g != 0)
                block.terms.push_back({{first, std::min(height, count - first)}, g});
        }
        return block;
    }

    void begin(Version version, std::vector<Action>& out)
    {
        version_ = version;
        const std::vector<int> machines(there_.begin(), there_.end());
        waste_ = division_.share_out(machines);
        if (two_codes_) waste_ += column_division_.share_out(machines);
        working_ = there_;
        if (first_ < next_) out.push_back(Close{first_, next_ - 1});  // of a round given up
        first_ = next_;
        starved_ = false;
        if (std::ssize(there_) < needed_) {
            out.push_back(too_few());
            return;
        }
        stage_ = Stage::scores;
        ask(rows_.begin(division_.shares(), working_), TaskControl::Begin::now, out);
    }

    // ---- z = X w, and X'r where the columns are coded too ---------------------------------------

    CodedProduct& product() { return stage_ == Stage::columns ? columns_ : rows_; }

    // Asks for what a machine is to compute of the running stage's product; nullopt: too few
    // machines are left.
    void ask(const std::optional<CodedProduct::Requests>& requests, TaskControl::Begin begin,
             std::vector<Action>& out)
    {
        if (!requests) {
            out.push_back(too_few());
            return;
        }
        for (const auto& [worker, shares] : *requests) {
            out.push_back(Dispatch{.task = next_,
                                   .worker = worker,
                                   .plan = product().plan(next_, worker, shares),
                                   .inputs = {version_},
                                   .operands = stage_ == Stage::columns ? derivatives_ : nullptr,
                                   .control = {.draw = version_, .begin = begin}});
            ++next_;
        }
    }

    bool well_conditioned(const CodedProduct& product, std::vector<Action>& out) const
    {
        const double condition = product.condition();
        if (condition <= worst_condition) return true;
        out.push_back(
            Undecodable{fmt::format("decoding from these machines has condition number "
                                    "{:.1e}: use another --seed or --generator",
                                    condition)});
        return false;
    }

    void receive(const Contribution& one, std::vector<Action>& out)
    {
        auto& division = stage_ == Stage::columns ? column_division_ : division_;
        division.measure(one.worker, one.samples, one.compute);
        if (stage_ == Stage::scores) {
            if (rows_.receive(one)) combine(out);
        } else if (stage_ == Stage::sums) {
            receive_sum(one, out);
        } else if (stage_ == Stage::columns && columns_.receive(one) &&
                   well_conditioned(columns_, out)) {
            step({}, columns_.decoded(), out);
        }
    }

    // ---- r, and X'r -----------------------------------------------------------------------------

    void combine(std::vector<Action>& out)
    {
        if (!well_conditioned(rows_, out)) return;
        out.push_back(Combine{rows_.decoded()});
        out.push_back(Close{first_, next_ - 1});
        first_ = next_;
        if (two_codes_) {
            stage_ = Stage::columns;
            ask(columns_.begin(column_division_.shares(), working_), TaskControl::Begin::now, out);
            return;
        }
        stage_ = Stage::sums;
        ask_sums(out);
    }

    // ---- X'r from coded rows --------------------------------------------------------------------

    void ask_sums(std::vector<Action>& out)
    {
        std::map<Worker, Sum> sums;
        for (std::size_t s = 0; s < division_.shares().size(); ++s) {
            const auto& share = division_.shares()[s];
            const auto machines = rows_.machines(s);
            const auto& inverse = code_.decoding(machines).inverse;
            for (std::size_t m = 0; m < machines.size(); ++m) {
                auto& sum = sums[machines[m]];
                sum.worker = machines[m];
                sum.rows.push_back({share.first, share.count});
                Piece piece;
                for (int i = 0; i < needed_; ++i) {
                    const double weight = inverse(i, static_cast<Eigen::Index>(m));
                    const Rows rows{i * height_ + share.first, share.count};
                    if (weight != 0) piece.push_back({rows, weight});
                }
                if (piece.empty()) piece.push_back({{share.first, share.count}, 0});
                sum.operand.push_back(std::move(piece));
            }
        }
        sums_.clear();
        summed_.clear();
        std::vector<Sum> ours;
        for (auto& [worker, sum] : sums) {
            if (working_.contains(worker))
                ask_sum(std::move(sum), TaskControl::Begin::now, out);
            else
                ours.push_back(std::move(sum));  // the machine has left since it answered
        }
        for (const auto& sum : ours) substitute(sum, out);
    }

    void ask_sum(Sum sum, TaskControl::Begin begin, std::vector<Action>& out)
    {
        auto plan = std::make_shared<Plan>();
        plan->parts.emplace_back();
        for (const auto& rows : sum.rows)
            plan->parts.back().items.push_back({.block = sum.worker,
                                                .input = 1,
                                                .operation = Item::Operation::transpose_product,
                                                .rows = rows});
        out.push_back(
            Dispatch{.task = next_,
                     .worker = sum.worker,
                     .plan = std::move(plan),
                     .inputs = {version_},
                     .operands = std::make_shared<const std::vector<Operand>>(1, sum.operand),
                     .control = {.draw = version_, .begin = begin}});
        sums_.emplace(next_++, std::move(sum));
    }

    void receive_sum(const Contribution& one, std::vector<Action>& out)
    {
        sums_.erase(one.task);
        summed_.push_back({one.id});
        if (sums_.empty()) step(summed_, {}, out);
    }

    void step(std::vector<Term> terms, std::vector<Placed> placed, std::vector<Action>& out)
    {
        out.push_back(Step{.terms = std::move(terms),
                           .divisor = static_cast<double>(problem_.rows),
                           .error = 0,
                           .waste = std::exchange(waste_, 0),
                           .placed = std::move(placed)});
        out.push_back(Close{first_, next_ - 1});
        first_ = next_;
        stage_ = Stage::none;
    }

    void repair_sums(Worker lost, std::vector<Action>& out)
    {
        std::vector<Sum> orphans;
        std::erase_if(sums_, [&](auto& open) {
            if (open.second.worker != lost) return false;
            orphans.push_back(std::move(open.second));
            return true;
        });
        for (const auto& sum : orphans) substitute(sum, out);
    }

    // Has L other machines do the work of one that is lost. Its row of G is a linear combination of
    // theirs, so each of them adds up the same rows of its own block, times a multiple of the
    // operand.
    void substitute(const Sum& lost, std::vector<Action>& out)
    {
        if (std::ssize(working_) < needed_) {
            out.push_back(too_few());
            return;
        }
        std::map<Worker, std::int64_t> busy;
        for (const auto& [task, sum] : sums_)
            for (const auto& rows : sum.rows) busy[sum.worker] += rows.count;
        std::vector<int> others(working_.begin(), working_.end());
        std::ranges::stable_sort(others, {}, [&](int worker) { return busy[worker]; });
        others.resize(needed_);
        std::ranges::sort(others);
        const auto c = code_.substitution(lost.worker, others);
        for (std::size_t m = 0; m < others.size(); ++m) {
            if (c[m] == 0) continue;
            Sum sum{others[m], lost.rows, lost.operand};
            for (auto& piece : sum.operand)
                for (auto& slice : piece) slice.weight *= c[m];
            ask_sum(std::move(sum), TaskControl::Begin::after, out);
        }
    }

    Problem problem_;
    int needed_;      // L
    bool two_codes_;  // the columns are coded as well as the rows
    StorageCode code_;
    std::int64_t height_, width_;  // rows of a coded block; of coded columns
    Division division_, column_division_;
    CodedProduct rows_, columns_;
    std::shared_ptr<const std::vector<Operand>> derivatives_;  // the operand of all derivatives
    std::set<Worker> there_, working_;  // working: of the running round, and not lost
    Version version_ = 0;
    Stage stage_ = Stage::none;
    bool starved_ = false;         // whether too few machines are there for a round
    TaskId first_ = 0, next_ = 0;  // tasks of the running stage are [first_, next_)
    std::map<TaskId, Sum> sums_;   // tasks whose sums have not come
    std::vector<Term> summed_;
    std::int64_t waste_ = 0;
};

}  // namespace

SchemeEntry<ElasticOptions> ElasticOptions::entry()
{
    return {
        .name = "elastic",
        .text =
            "coded elastic computing: each machine stores a coded part of the data, of which any "
            "L machines compute the whole; when machines leave and join, rows are shared out "
            "anew and no data move",
        .source = "Yang et al., Coded Elastic Computing, arXiv 1812.06411, 2018",
        .options =
            {{&ElasticOptions::needed,
              {"needed", "L", "",
               "machines whose answers suffice; each stores 1/L of the data; default: half of "
               "them"},
              {.lowest = 1}},
             {&ElasticOptions::slack,
              {"slack", "E", "0",
               "stragglers that the first of a round's two stages does without; with --storage two "
               "both"}},
             {&ElasticOptions::storage,
              {"storage", "one|two", "one",
               "what is coded: the rows, of which the second stage waits for all answers; or the "
               "columns too, in twice the memory, so that neither stage waits"}},
             {&ElasticOptions::generator,
              {"generator", "haar|systematic|fourier", "",
               "how stored blocks are combined; default: haar for dense data, systematic, which "
               "keeps the first L machines' blocks as they are, for sparse ones"}},
             {&ElasticOptions::allocation,
              {"allocation", "cyclic|shifted-cyclic|flow|speeds", "shifted-cyclic",
               "who computes which rows: windows; windows turned so that little changes hands; "
               "least changes, by maximum flow; by the speeds of the machines, measured as the run "
               "goes"}}},
        .make =
            [](const ElasticOptions& given, const Problem& problem) {
                auto scheme = std::make_unique<Elastic>(given, problem);
                if (const double worst = scheme->worst_window(); worst > worst_condition)
                    throw Refusal(
                        "generator",
                        fmt::format(", whose decodings have condition numbers up to {:.1e}, "
                                    "more than {:.0e}: use another one, or another --seed",
                                    worst, worst_condition));
                return scheme;
            },
        .properties = {.example = {{"needed", "3"}}}};
}

}  // namespace quorate
