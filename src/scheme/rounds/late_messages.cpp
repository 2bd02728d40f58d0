// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/rounds/late_messages.hpp"

#include <algorithm>

#include "code/piece_code.hpp"

namespace quorate {

namespace {

constexpr int end_of_computing = 0;  // the only timer
constexpr double tolerance = 1e-9;   // of |B^T a - 1|^2 where rounds are exact

class LateMessages final : public Scheme {
public:
    LateMessages(const Problem& problem, ChunkLists lists, int pieces, Seconds limit, bool rescale)
        : lists_(std::move(lists)), code_(problem.workers, pieces), limit_(limit),
          rescale_(rescale),
          layout_(layout_of(lists_, problem,
                            [](const ChunkList& list) { return in_parts(list, true); })),
          length_(std::max<std::int64_t>(1, (problem.parameters + pieces - 1) / pieces)),
          state_(lists_.chunks_of.size()), copies_(lists_.chunks)
    {
        layout_.needs.exact = limit == never;
        layout_.needs.places = pieces > 1;
    }

    Needs needs() const override { return layout_.needs; }

    void handle(const Event& event, Seconds now, std::vector<Action>& out) override
    {
        if (const auto* start = std::get_if<Start>(&event)) {
            active_ = start->active;
            begin(0, now, out);
        } else if (const auto* done = std::get_if<Stepped>(&event)) {
            begin(done->version, now, out);
        } else if (const auto* arrived = std::get_if<Arrived>(&event)) {
            for (const auto& one : arrived->contributions) receive(one);
            go_on(out);
        } else if (std::holds_alternative<Deadline>(event)) {
            expired_ = true;
            go_on(out);
        } else if (std::holds_alternative<Quiescent>(event)) {
            make_do(out);
        }
    }

private:
    struct State {
        TaskId task = -1;
        int done = 0;        // chunks, from the first of the list on, that it holds
        bool asked = false;  // its task is to send what it holds
        ContributionId sent = -1;
    };

    void begin(Version version, Seconds now, std::vector<Action>& out)
    {
        version_ = version;
        first_ = next_;
        expired_ = collecting_ = false;
        std::ranges::fill(state_, State{});
        std::ranges::fill(copies_, 0);
        covered_ = 0;
        for (const auto worker : active_) compute(worker, out);
        if (limit_ != never) out.push_back(SetTimer{end_of_computing, now + limit_});
    }

    // Gives a worker another task. What it has sent for the one before is needed no more.
    void give(Worker worker, std::shared_ptr<const Plan> plan, std::vector<Action>& out)
    {
        const auto before = std::exchange(state_[worker].task, next_);
        state_[worker].sent = -1;
        out.push_back(Dispatch{.task = next_++,
                               .worker = worker,
                               .plan = std::move(plan),
                               .inputs = {version_},
                               .control = {.draw = version_}});
        if (before >= 0) out.push_back(Close{before, before});
    }

    void compute(Worker worker, std::vector<Action>& out)
    {
        state_[worker].asked = false;
        give(worker, layout_.plans[worker], out);
    }

    void receive(const Contribution& contribution)
    {
        auto& of = state_[contribution.worker];
        if (of.asked) {
            owed_ -= of.sent < 0;
            of.sent = contribution.id;
        } else {
            hold(contribution.worker, std::max(of.done, contribution.part + 1));
        }
    }

    // Notes how many chunks of its list a worker holds.
    void hold(Worker worker, int chunks)
    {
        auto& done = state_[worker].done;
        const auto copies = [&](int place) -> int& {
            const auto chunk = lists_.chunks_of[worker][place];
            return copies_[chunk];
        };
        for (; done < chunks; ++done) covered_ += copies(done)++ < code_.pieces();
        for (; done > chunks; --done) covered_ -= --copies(done - 1) < code_.pieces();
    }

    void go_on(std::vector<Action>& out)
    {
        if (!collecting_)
            collect(out);
        else if (owed_ == 0)
            finish(out);
    }

    // The workers that are done with each chunk, ascending.
    std::vector<std::vector<int>> holders() const
    {
        std::vector<std::vector<int>> all(lists_.chunks);
        for (std::size_t i = 0; i < state_.size(); ++i)
            for (int place = 0; place < state_[i].done; ++place)
                all[lists_.chunks_of[i][place]].push_back(static_cast<int>(i));
        // Of whole gradients one copy does.
        if (code_.pieces() == 1)
            for (auto& of_chunk : all) of_chunk.resize(std::min<std::size_t>(1, of_chunk.size()));
        return all;
    }

    // Asks workers for what they hold, if it is enough. The others go on meanwhile, for those asked
    // may die, unless the round has to do with what there is.
    void collect(std::vector<Action>& out)
    {
        const auto all = std::int64_t{code_.pieces()} * lists_.chunks;
        if (covered_ == 0 || (covered_ < all && !expired_)) return;
        scale_ = rescale_ ? static_cast<double>(all) / static_cast<double>(covered_) : 1;
        auto parts = combine(holders());
        // More holders may mend an inaccurate decoding. The comparison is written so that NaN is
        // refused.
        if (limit_ == never && !(error_ <= tolerance)) return;
        collecting_ = true;
        owed_ = 0;
        for (const auto worker : active_) {
            auto& part = parts[worker];
            state_[worker].asked = !part.items.empty();
            owed_ += state_[worker].asked;
            state_[worker].sent = -1;  // what it has sent of another combination
            if (!part.items.empty()) {
                give(worker, std::make_shared<const Plan>(Plan{.parts = {std::move(part)}}), out);
            } else if (expired_) {
                out.push_back(Close{state_[worker].task, state_[worker].task});
            }
        }
        if (limit_ != never) out.push_back(SetTimer{end_of_computing, never});
    }

    // Returns what each worker is to send, and sets the error that comes of it.
    std::vector<Part> combine(const std::vector<std::vector<int>>& by_chunk)
    {
        const int pieces = code_.pieces();
        std::vector<Part> parts(state_.size());
        error_ = 0;
        for (int chunk = 0; chunk < lists_.chunks; ++chunk) {
            const auto& of_chunk = by_chunk[chunk];
            if (of_chunk.empty()) {
                error_ += pieces;
                continue;
            }
            const auto& [coefficients, decoded] = code_.combination(of_chunk);
            error_ += (scale_ * decoded - Eigen::MatrixXd::Identity(pieces, pieces)).squaredNorm();
            for (int m = 0; m < coefficients.rows(); ++m) {
                auto& part = parts[of_chunk[m]];
                part.items.push_back({.block = chunk, .operation = Item::Operation::held});
                for (int u = 0; u < pieces && pieces > 1; ++u)
                    part.fold.push_back(coefficients(m, u));
            }
        }
        return parts;
    }

    // Nobody who is left owes an answer: who was asked and has not sent is gone, with what it held.
    // Others are asked for other combinations, or if they hold too little go on with their lists;
    // as does who was gone, if it comes back.
    void make_do(std::vector<Action>& out)
    {
        for (const auto worker : active_)
            if (auto& of = state_[worker]; of.asked && of.sent < 0) {
                out.push_back(Close{of.task, of.task});
                hold(worker, 0);
            }
        const bool collected = std::exchange(collecting_, false);
        expired_ = limit_ != never;
        collect(out);
        if (collecting_ || !collected) return;
        for (const auto worker : active_)
            if (state_[worker].done < std::ssize(lists_.chunks_of[worker])) compute(worker, out);
    }

    void finish(std::vector<Action>& out)
    {
        Step step{
            .terms = {}, .divisor = static_cast<double>(layout_.samples) / scale_, .error = error_};
        for (int u = 0; u < code_.pieces(); ++u)
            for (const auto worker : active_) {
                const auto sent = state_[worker].sent;
                if (sent < 0) continue;
                if (layout_.needs.places)
                    step.placed.push_back(
                        {sent, code_.weight(u, worker), {0, length_}, u * length_});
                else
                    step.terms.push_back({sent});
            }
        out.push_back(std::move(step));
        out.push_back(Close{first_, next_ - 1});
    }

    ChunkLists lists_;
    PieceCode code_;
    Seconds limit_;
    bool rescale_;
    Layout layout_;
    std::int64_t length_;       // elements of a message with l > 1
    std::vector<State> state_;  // by worker
    std::vector<int> copies_;   // of each chunk, that workers hold
    std::int64_t covered_ = 0;  // pieces of all chunks that can be had
    std::vector<Worker> active_;
    Version version_ = 0;
    TaskId first_ = 0, next_ = 0;  // tasks of the running round are [first_, next_)
    bool expired_ = false;         // the round does with what there is
    bool collecting_ = false;
    int owed_ = 0;                  // messages of what is collected that have not come
    double scale_ = 1, error_ = 0;  // of what is collected
};

}  // namespace

std::unique_ptr<Scheme> late_messages(const Problem& problem, ChunkLists lists, int pieces,
                                      Seconds limit, bool rescale)
{
    return std::make_unique<LateMessages>(problem, std::move(lists), pieces, limit, rescale);
}

}  // namespace quorate
