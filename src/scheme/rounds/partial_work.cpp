// SPDX-License-Identifier: BSD-2-Clause
// Gradient coding in which what slow workers have done counts. Each partition is on d = s + 1
// workers, and a worker computes the chunks of its list one after the other. A round needs every
// chunk from somebody, not every worker, nor a number of them.
//
// k chunks, c_i chunks done by worker i. The setting is that of Ramamoorthy, Meng, Girimaji, arXiv
// 2405.19509; messages, order and decoding are this project's own.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "code/collect_decoder.hpp"
#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "scheme/options.hpp"
#include "scheme/rounds/chunk_lists.hpp"
#include "scheme/rounds/late_messages.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/rounds/synchronous.hpp"

namespace quorate {

namespace {

// A message for each chunk. The round ends when each chunk has come: the first copy of each counts.
// Exact, without a linear system. With a deadline, what has come by then.
class ChunkMessages final : public SynchronousScheme {
public:
    /// @param limit    seconds after which a round ends with what has come; never: no limit
    /// @param rescale  whether chunks that have come stand for those that have not
    ChunkMessages(const Problem& problem, ChunkLists lists, Seconds limit, bool rescale)
        : SynchronousScheme(layout_of(lists, problem,
                                      [](const ChunkList& list) { return in_parts(list, false); }),
                            limit),
          lists_(std::move(lists)), rescale_(rescale), first_copy_(lists_.chunks)
    {
        layout().needs.exact = limit == never;
        layout().needs.answers = lists_.chunks;
    }

protected:
    void begin(Version) override
    {
        std::ranges::fill(first_copy_, std::nullopt);
        covered_ = 0;
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        const auto& list = lists_.chunks_of[contribution.worker];
        const int chunk = list[contribution.part];
        auto& copy = first_copy_[chunk];
        if (copy) return std::nullopt;
        copy = contribution.id;
        ++covered_;
        return covered_ < lists_.chunks ? std::nullopt : expire();
    }

    // c of k chunks: each missing one adds 1 to the error. If the others stand for it, the error is
    // c (k/c - 1)^2 + (k - c).
    std::optional<Step> expire() override
    {
        if (covered_ == 0) return std::nullopt;
        const auto k = static_cast<double>(lists_.chunks), c = static_cast<double>(covered_);
        const double scale = rescale_ ? k / c : 1;
        std::vector<Term> terms;
        for (const auto& copy : first_copy_)
            if (copy) terms.push_back({*copy});
        return Step{.terms = std::move(terms),
                    .divisor = static_cast<double>(samples()) / scale,
                    .error = (k - c) * scale};
    }

    std::string why_undecodable() const override
    {
        return fmt::format("all workers have answered, and {} of {} chunks are missing",
                           lists_.chunks - covered_, lists_.chunks);
    }

private:
    ChunkLists lists_;
    bool rescale_;
    std::vector<std::optional<ContributionId>> first_copy_;  // by chunk
    int covered_ = 0;                                        // chunks that have come
};

// One message of each worker: the plain sum of the chunks that it is done with when its time is
// over. The rows of B follow from that, and weights of least squares from B.
class PrefixMessages final : public SynchronousScheme {
public:
    /// @param seconds  that workers have, their delay included
    /// @param rescale  whether the weights are scaled so that B^T a is one on average
    PrefixMessages(const Problem& problem, ChunkLists lists, Seconds seconds, bool rescale)
        : SynchronousScheme(
              layout_of(lists, problem,
                        [](const ChunkList& list) { return in_one_part(list, list.size()); })),
          lists_(std::move(lists)), seconds_(seconds), rescale_(rescale),
          first_chunk_(
              plans_of(lists_, [](const ChunkList& list) { return in_one_part(list, 1); })),
          done_(lists_.chunks_of.size())
    {
        layout().needs.limits_time = true;
    }

protected:
    Task task(Worker worker, Version version) const override
    {
        return {plan(worker), {version}, {.seconds = seconds_}};
    }

    // If no worker is done with a chunk, all get their first one again, without a limit. The first
    // to finish ends the round.
    Task again(Worker worker, Version version) override
    {
        if (!std::exchange(told_, true))
            said_ = fmt::format(
                "no worker finished a chunk within {:g} s in round {}: such rounds wait for the "
                "first that does; use a longer --deadline",
                seconds_, version + 1);
        again_ = true;
        return {first_chunk_[worker], {version}};
    }

    void begin(Version) override
    {
        std::ranges::fill(done_, Done{});
        answers_ = 0;
        again_ = false;
    }

    std::optional<Step> receive(const Contribution& contribution) override
    {
        done_[contribution.worker] = {contribution.id, again_ ? 1 : contribution.items};
        ++answers_;
        return answers_ >= std::ssize(done_) ? expire() : std::nullopt;
    }

    std::optional<Step> expire() override
    {
        Encoding sums{lists_.chunks, {}};
        std::vector<int> received;
        for (std::size_t i = 0; i < done_.size(); ++i) {
            sums.rows.push_back({first_chunks(lists_.chunks_of[i], done_[i].chunks)});
            if (done_[i].chunks > 0) received.push_back(static_cast<int>(i));
        }
        if (received.empty()) return std::nullopt;
        auto weigh = least_squares(sums);
        if (rescale_) weigh = debiased(sums, std::move(weigh));
        const auto decoding = weigh(received);
        std::vector<Term> terms;
        for (const auto& [worker, part, weight] : decoding.weights)
            if (weight != 0) terms.push_back({done_[worker].contribution, weight});
        return Step{.terms = std::move(terms),
                    .divisor = static_cast<double>(samples()) / decoding.scale,
                    .error = decode_error(sums, decoding.weights, decoding.scale)};
    }

    std::optional<Step> make_do() override { return expire(); }

    std::string say() override { return std::exchange(said_, ""); }

private:
    struct Done {
        ContributionId contribution = -1;
        int chunks = 0;  // c_i
    };

    static Plan in_one_part(const ChunkList& list, std::size_t count)
    {
        Part part;
        for (const int chunk : std::span(list).first(count)) part.items.push_back({.block = chunk});
        return {.parts = {std::move(part)}};
    }

    ChunkLists lists_;
    Seconds seconds_;
    bool rescale_;
    Plans first_chunk_;
    std::vector<Done> done_;  // by worker
    std::int64_t answers_ = 0;
    bool again_ = false, told_ = false;
    std::string said_;
};

// The parts of a gradient that a message has. @param copies  of each chunk
int message_parts(const PartialOptions& given, const Problem& problem, int copies)
{
    const int parts = given.parts.value_or(1);
    at_most("parts", parts, copies);
    if (parts > 1 && !problem.dense)
        throw Refusal("parts",
                      ", but the data are sparse, and a sum of pieces of gradients has an element "
                      "wherever one of them has: its message is no shorter; use --parts 1, or "
                      "import the data with --storage dense");
    return parts;
}

std::unique_ptr<Scheme> make_partial_work(const PartialOptions& given, const Problem& problem)
{
    using enum PartialOptions::Messages;
    const int n = problem.workers, d = given.stragglers + 1, pieces = given.chunks;
    if (pieces > 1) at_most("chunks", pieces, std::min<std::int64_t>(problem.rows / n, 1000));
    const auto limit = seconds_of(given.deadline);
    const bool scaled = given.rescale == Rescale::coverage;
    if (!scaled && limit == never)
        throw Refusal("rescale",
                      ", but all chunks come if there is no deadline: add --deadline SECONDS, or "
                      "leave it out");
    const auto code = given.placement == Placement::cyclic
                          ? cyclic_windows(n, d)
                          : repetition_encoding(repetition_groups(n, d));
    auto lists = lists_of(code, pieces, given.order == PartialOptions::Order::rotate);
    if (given.messages == late)
        return late_messages(problem, std::move(lists), message_parts(given, problem, d), limit,
                             scaled);
    if (given.parts)
        throw Refusal("parts", ", which only --messages late has: give that too, or leave it out");
    if (given.messages == chunk)
        return std::make_unique<ChunkMessages>(problem, std::move(lists), limit, scaled);
    if (limit == never || limit == 0)
        throw Refusal("messages",
                      ", which are sent when time is over: give a --deadline above 0 too");
    if (d * pieces == 1)
        throw Refusal("messages",
                      ", but each worker has one chunk: use --stragglers 1 or more, --chunks 2 or "
                      "more, or --messages chunk");
    return std::make_unique<PrefixMessages>(problem, std::move(lists), limit, scaled);
}

}  // namespace

SchemeEntry<PartialOptions> PartialOptions::entry()
{
    return {
        .name = "partial",
        .text =
            "exact; what slow workers have done counts: a round ends when each chunk has come from "
            "one of the S + 1 workers that compute it, in an order that differs from worker to "
            "worker; approximate with a --deadline",
        .source = "Ramamoorthy, Meng, Girimaji, NeurIPS 2024",
        .options = options<PartialOptions>({
            {&PartialOptions::messages,
             {"messages", "chunk|prefix|late", "",
              "a message for each chunk; or one with the sum of those that a worker is done "
              "with at the --deadline; or of those that it is asked for when all are done; "
              "default: chunk"}},
            {&PartialOptions::parts,
             {"parts", "L", "",
              "late: messages have P/L numbers, and a round needs each chunk from L workers; "
              "up to S + 1; default: 1"},
             {.lowest = 1}},
            {&PartialOptions::order, worded("order", {"rotate", "given"})},
            {&PartialOptions::chunks,
             {"chunks", "C", "", "chunks that each partition is cut into; default: 1"},
             {.lowest = 1}},
        }),
        .make = make_partial_work,
        .properties = {.candidates =
                           [](int n, bool) {
                               return crossed(copies_tried(n), {{}, {{"messages", "late"}}});
                           },
                       .example = {{"messages", "late"}, {"stragglers", "2"}}}};
}

}  // namespace quorate
