// SPDX-License-Identifier: BSD-2-Clause
// Coded elastic computing: machines store a coded 1/L of the data each, and share out the rows anew
// whenever one leaves or joins; no data move. A round has two stages, z = X w and X'r, with r from z.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "scheme/elastic_plan.hpp"
#include "scheme/options.hpp"

namespace quorate {

namespace {

class Elastic final : public Scheme {
public:
    Elastic(const Problem& problem, const ElasticWays& ways)
        : problem_(problem), ways_(ways),
          code_(ways.generator, problem.workers, ways.needed, problem.seed),
          height_((problem.rows + ways.needed - 1) / ways.needed),
          division_(ways, height_, problem.workers)
    {
    }

    Needs needs() const override
    {
        Needs needs;
        needs.blocks = {{0, problem_.rows}};
        needs.shard.resize(static_cast<std::size_t>(problem_.workers));
        needs.membership = true;
        for (int machine = 0; machine < problem_.workers; ++machine) {
            CodedBlock block{height_, {}};
            for (int i = 0; i < ways_.needed; ++i)
                if (const double g = code_.coefficient(machine, i); g != 0)
                    block.terms.push_back({block_rows(i, {0, height_}), g});
            needs.coded.push_back(std::move(block));
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
            if (stage_ == Stage::scores)
                repair_scores(lost->worker, out);
            else if (stage_ == Stage::gradient)
                repair_gradient(lost->worker, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& one : arrived->contributions) hear(one, out);
        } else if (std::holds_alternative<Silence>(event)) {
            out.push_back(Stuck{"all machines have answered"});
        }
    }

private:
    enum class Stage { none, scores, gradient };
    // Of a task of the first stage, the shares of each part.
    using Parts = std::vector<std::vector<std::size_t>>;
    // Who has answered for a share, or still may.
    struct Answers {
        std::vector<Worker> asked;
        struct One {
            Worker worker;
            ContributionId id;
            std::int64_t row;  // where the share begins in the contribution
        };
        std::vector<One> come;
    };
    // Rows whose transpose times an operand one machine adds up.
    struct Sum {
        Worker worker;
        std::vector<Rows> rows;
        Operand operand;
    };

    // The round begins anew when enough machines are there.
    Stuck too_few()
    {
        starved_ = true;
        stage_ = Stage::none;
        return {
            fmt::format("{} machines are left, and {} are needed: let some join, or use a lower "
                        "--needed",
                        there_.size(), ways_.needed)};
    }

    // The training rows that stand at these rows of block i; the last block may be shorter.
    Rows block_rows(int i, Rows rows) const
    {
        const auto first = std::min(i * height_ + rows.first, problem_.rows);
        return {first, std::min(rows.count, problem_.rows - first)};
    }

    void begin(Version version, std::vector<Action>& out)
    {
        version_ = version;
        waste_ = division_.share_out({there_.begin(), there_.end()});
        working_ = there_;
        if (first_ < next_) out.push_back(Close{first_, next_ - 1});  // of a round that starved
        first_ = next_;
        starved_ = false;
        if (std::ssize(there_) < ways_.needed) {
            out.push_back(too_few());
            return;
        }
        stage_ = Stage::scores;
        tasks_.clear();
        const auto& shares = division_.shares();
        answers_.clear();
        for (const auto& share : shares)
            answers_.push_back({{share.machines.begin(), share.machines.end()}, {}});
        incomplete_ = shares.size();
        for (const auto worker : there_) {
            std::vector<std::size_t> mine;
            for (std::size_t share = 0; share < shares.size(); ++share)
                if (std::ranges::binary_search(shares[share].machines, worker))
                    mine.push_back(share);
            ask_scores(worker, mine, Dispatch::Begin::now, out);
        }
    }

    // ---- z = X w --------------------------------------------------------------------------------

    void ask_scores(Worker worker, const std::vector<std::size_t>& shares, Dispatch::Begin begin,
                    std::vector<Action>& out)
    {
        if (shares.empty()) return;
        // What a slow machine has done counts, but a message for each share would be too many.
        constexpr std::size_t most_parts = 8;
        const auto parts = std::min(most_parts, shares.size());
        auto plan = std::make_shared<Plan>();
        plan->each_when_ready = true;
        auto& asked = tasks_[next_];
        for (std::size_t part = 0; part < parts; ++part) {
            plan->parts.emplace_back();
            asked.emplace_back();
            for (auto i = shares.size() * part / parts; i < shares.size() * (part + 1) / parts;
                 ++i) {
                const auto& share = division_.shares()[shares[i]];
                plan->parts.back().items.push_back({.block = worker,
                                                    .operation = Item::Operation::product,
                                                    .rows = {share.first, share.count}});
                asked.back().push_back(shares[i]);
            }
        }
        out.push_back(Dispatch{.task = next_++,
                               .worker = worker,
                               .plan = std::move(plan),
                               .inputs = {version_},
                               .draw = version_,
                               .begin = begin});
    }

    void hear(const Contribution& one, std::vector<Action>& out)
    {
        division_.measure(one.worker, one.samples, one.compute);
        if (stage_ == Stage::gradient)
            hear_gradient(one, out);
        else if (stage_ == Stage::scores)
            hear_scores(one, out);
    }

    void hear_scores(const Contribution& one, std::vector<Action>& out)
    {
        std::int64_t row = 0;
        for (const auto share : tasks_.at(one.task)[static_cast<std::size_t>(one.part)]) {
            auto& come = answers_[share].come;
            if (std::ssize(come) < ways_.needed) {
                come.push_back({one.worker, one.id, row});
                if (std::ssize(come) == ways_.needed) --incomplete_;
            }
            row += division_.shares()[share].count;
        }
        if (incomplete_ == 0) combine(out);
    }

    // Shares that have lost an answer are given to machines that were not asked for them, those with
    // least to do first.
    void repair_scores(Worker lost, std::vector<Action>& out)
    {
        std::map<Worker, std::int64_t> extra;
        std::map<Worker, std::vector<std::size_t>> more;
        for (std::size_t share = 0; share < answers_.size(); ++share) {
            auto& [asked, come] = answers_[share];
            const auto has_come = [&come = come](Worker worker) {
                return std::ranges::find(come, worker, &Answers::One::worker) != come.end();
            };
            if (std::erase(asked, lost) == 0 || std::ssize(come) == ways_.needed) continue;
            std::int64_t may_come = 0;
            for (const auto worker : asked) may_come += !has_come(worker);
            for (auto missing = ways_.needed - std::ssize(come) - may_come; missing > 0;
                 --missing) {
                std::optional<Worker> best;
                for (const auto worker : working_)
                    if (std::ranges::find(asked, worker) == asked.end() && !has_come(worker) &&
                        (!best || extra[worker] < extra[*best]))
                        best = worker;
                if (!best) {
                    out.push_back(too_few());
                    return;
                }
                extra[*best] += division_.shares()[share].count;
                more[*best].push_back(share);
                asked.push_back(*best);
            }
        }
        for (const auto& [worker, shares] : more)
            ask_scores(worker, shares, Dispatch::Begin::after, out);
    }

    // ---- r, and X'r -----------------------------------------------------------------------------

    void combine(std::vector<Action>& out)
    {
        Combine combine;
        std::map<Worker, Sum> sums;
        for (std::size_t s = 0; s < answers_.size(); ++s) {
            const auto& share = division_.shares()[s];
            auto& come = answers_[s].come;
            std::ranges::sort(come, {}, &Answers::One::worker);
            std::vector<int> machines;
            for (const auto& one : come) machines.push_back(one.worker);
            const auto& [inverse, condition] = code_.decoding(machines);
            if (condition > worst_condition) {
                out.push_back(
                    Stuck{fmt::format("decoding from these machines has condition number "
                                      "{:.1e}: use another --seed or --generator",
                                      condition)});
                return;
            }
            for (std::size_t m = 0; m < come.size(); ++m) {
                auto& sum = sums[come[m].worker];
                sum.worker = come[m].worker;
                sum.rows.push_back({share.first, share.count});
                Piece piece;
                for (int i = 0; i < ways_.needed; ++i) {
                    const double weight = inverse(i, static_cast<Eigen::Index>(m));
                    const Rows rows{i * height_ + share.first, share.count};
                    if (weight == 0) continue;
                    combine.terms.push_back(
                        {come[m].id, weight, {come[m].row, share.count}, rows.first});
                    piece.push_back({rows, weight});
                }
                if (piece.empty()) piece.push_back({{share.first, share.count}, 0});
                sum.operand.push_back(std::move(piece));
            }
        }
        out.push_back(std::move(combine));
        out.push_back(Close{first_, next_ - 1});
        stage_ = Stage::gradient;
        first_ = next_;
        sums_.clear();
        step_.clear();
        std::vector<Sum> ours;
        for (auto& [worker, sum] : sums) {
            if (working_.contains(worker))
                ask_gradient(std::move(sum), Dispatch::Begin::now, out);
            else
                ours.push_back(std::move(sum));  // it has left since it answered
        }
        for (const auto& sum : ours) substitute(sum, out);
    }

    void ask_gradient(Sum sum, Dispatch::Begin begin, std::vector<Action>& out)
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
                     .draw = version_,
                     .begin = begin});
        sums_.emplace(next_++, std::move(sum));
    }

    void hear_gradient(const Contribution& one, std::vector<Action>& out)
    {
        sums_.erase(one.task);
        step_.push_back({one.id});
        if (!sums_.empty()) return;
        out.push_back(Step{.terms = step_,
                           .divisor = static_cast<double>(problem_.rows),
                           .error = 0,
                           .waste = std::exchange(waste_, 0)});
        out.push_back(Close{first_, next_ - 1});
        first_ = next_;
        stage_ = Stage::none;
    }

    void repair_gradient(Worker lost, std::vector<Action>& out)
    {
        std::vector<Sum> orphans;
        std::erase_if(sums_, [&](auto& open) {
            if (open.second.worker != lost) return false;
            orphans.push_back(std::move(open.second));
            return true;
        });
        for (const auto& sum : orphans) substitute(sum, out);
    }

    // One machine's rows of G are a combination of those of L others: each of these does all of its
    // work, on a multiple of the operand.
    void substitute(const Sum& lost, std::vector<Action>& out)
    {
        if (std::ssize(working_) < ways_.needed) {
            out.push_back(too_few());
            return;
        }
        std::map<Worker, std::int64_t> busy;
        for (const auto& [task, sum] : sums_)
            for (const auto& rows : sum.rows) busy[sum.worker] += rows.count;
        std::vector<int> others(working_.begin(), working_.end());
        std::ranges::stable_sort(others, {}, [&](int worker) { return busy[worker]; });
        others.resize(static_cast<std::size_t>(ways_.needed));
        std::ranges::sort(others);
        const auto c = code_.substitution(lost.worker, others);
        for (std::size_t m = 0; m < others.size(); ++m) {
            if (c[m] == 0) continue;
            Sum sum{others[m], lost.rows, lost.operand};
            for (auto& piece : sum.operand)
                for (auto& slice : piece) slice.weight *= c[m];
            ask_gradient(std::move(sum), Dispatch::Begin::after, out);
        }
    }

    Problem problem_;
    ElasticWays ways_;
    StorageCode code_;
    std::int64_t height_;  // rows of a block
    Division division_;
    std::set<Worker> there_, working_;  // working: of the running round, and not lost
    Version version_ = 0;
    Stage stage_ = Stage::none;
    bool starved_ = false;         // too few machines are there for a round
    TaskId first_ = 0, next_ = 0;  // tasks of the running stage are [first_, next_)
    std::map<TaskId, Parts> tasks_;
    std::vector<Answers> answers_;  // of each share
    std::size_t incomplete_ = 0;    // shares without enough answers
    std::map<TaskId, Sum> sums_;    // of the second stage, that have not come
    std::vector<Term> step_;
    std::int64_t waste_ = 0;
};

}  // namespace

Entry<MakeScheme> elastic_entry()
{
    return {
        .name = "elastic",
        .arguments = "",
        .text =
            "coded elastic computing: each machine stores a coded part of the data, of which any "
            "L machines compute the whole; when machines leave and join, rows are shared out "
            "anew and no data move",
        .source = "Yang et al., Coded Elastic Computing, arXiv 1812.06411, 2018",
        .options = elastic_options(),
        .make = [](const Settings& settings, const Problem& problem) -> std::unique_ptr<Scheme> {
            auto scheme = std::make_unique<Elastic>(problem, elastic_ways(settings, problem));
            if (const double worst = scheme->worst_window(); worst > worst_condition)
                settings.refuse(
                    "generator",
                    fmt::format(", whose decodings have condition numbers up to {:.1e}, "
                                "more than {:.0e}: use another one, or another --seed",
                                worst, worst_condition));
            return scheme;
        }};
}

}  // namespace quorate
