// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/host_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "compute/addend.hpp"

namespace quorate {

HostShare::HostShare(Ownership ownership, Wire wire, Precision precision, int readers,
                     std::function<bool(int)> gone, transport::Pool& pool, Send send)
    : own_(std::move(ownership)), wire_(wire), precision_(precision), readers_(readers),
      pool_(pool), send_(std::move(send))
{
    for (const auto group : own_.shares.groups) groups_ = std::max(groups_, group + 1);
    if (own_.group() >= 0)
        memory_ = {SharedBlocks("quorate-share-points", readers_, std::move(gone)),
                   static_cast<std::size_t>(own_.shares.bounds.back()),
                   static_cast<std::size_t>(own_.shares.first(this->share())), precision_};
    take_supports();
}

// Notes what hosts touch.
void HostShare::take_supports()
{
    const auto touched = [&](int group, std::shared_ptr<const Support> ShareWorker::*which,
                             std::int64_t parameters) {
        std::vector<const Support*> all;
        for (const auto& worker : own_.workers)
            if (worker.info.group == group) all.push_back((worker.*which).get());
        return union_of(all, parameters);
    };
    others_.clear();
    here_.clear();
    unions_.clear();
    for (int group = 0; group < groups_; ++group)
        others_.push_back(touched(group, &ShareWorker::part,
                                  static_cast<std::int64_t>(own_.shares.size(share()))));
    if (own_.group() < 0) return;
    const auto all = touched(own_.group(), &ShareWorker::whole, own_.shares.bounds.back());
    for (std::size_t other = 0; other < own_.shares.count(); ++other)
        here_.push_back(all.slice(own_.shares.first(other), own_.shares.last(other)));
}

void HostShare::reencode(std::vector<ShareWorker> workers)
{
    own_.workers = std::move(workers);
    take_supports();
    ++codings_;
    to_send_.clear();
    // Points that hosts have lack columns of the new supports.
    for (const auto& [version, point] : std::exchange(points_, {}))
        if (point.begun()) memory_.let_go(point.block);
    take_early();
}

namespace {

// A hash of what is added up, by FNV-1a.
std::uint64_t hash_of(std::span<const std::vector<Weighted>> groups)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
    for (const auto& terms : groups)
        for (const auto& term : terms) {
            add(static_cast<std::uint64_t>(term.worker));
            add(std::bit_cast<std::uint64_t>(term.weight));
        }
    return hash;
}

}  // namespace

std::size_t HostShare::owner_of(int group) const
{
    return static_cast<std::size_t>(std::ranges::find(own_.shares.groups, group) -
                                    own_.shares.groups.begin());
}

// --- points --------------------------------------------------------------------------------------

void HostShare::dispatch(const Dispatch& task, const PointList& inputs)
{
    drop_points();
    const auto& to = of(task.worker);
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const auto version = task.inputs[i];
        const auto group = to.info.group;
        auto& point = points_[version];
        point.slice = inputs[i];
        const bool is_new = point.sent.insert(group).second;
        if (group != own_.group()) {
            if (is_new) to_send_.push_back({version, inputs[i], owner_of(group)});
            continue;
        }
        if (is_new) begin(point, *inputs[i]);
        const Delivery delivery{to.info.rank, to.shard, task.task};
        if (point.missing == 0)
            deliver(point, version, delivery);
        else
            point.waiting.push_back(delivery);
    }
    take_early();
}

// How many shares come before one, from that behind the own one on. Each owner sends its slices in
// this order, so that at a time all send to different ones, and no link waits for another.
std::size_t HostShare::behind(std::size_t share) const
{
    return (share + own_.shares.count() - this->share() - 1) % own_.shares.count();
}

void HostShare::send_points()
{
    // The sums that came last have been used: their memory takes the messages.
    if (!to_send_.empty())
        std::erase_if(slices_, [this](const auto& one) { return one.first.first <= sums_; });
    std::ranges::stable_sort(to_send_, {}, [this](const ToSend& one) { return behind(one.to); });
    for (const auto& one : std::exchange(to_send_, {})) send_point(one.version, *one.slice, one.to);
}

void HostShare::send_point(Version version, const NumberVector& slice, std::size_t to)
{
    const auto& touched = others_[static_cast<std::size_t>(own_.shares.groups[to])];
    auto bytes = make_message(pool_, [&](MessageWriter& out) {
        out.put(PointSlice{own_.share, version, codings_});
        with_number(wire_, [&]<class Number>(Number) {
            out.numbers<Number>(touched.size(), [&](Number* at) { touched.gather(slice, at); });
        });
    });
    own_points_ += static_cast<std::int64_t>(bytes->size());
    send_(own_.shares.ranks[to], transport::Tag::point_slice, std::move(bytes));
}

// This host is going to have a point, of which the own slice is there.
void HostShare::begin(Arriving& point, const NumberVector& slice)
{
    point.block = memory_.block_of(slice);
    point.missing = own_.shares.count() - 1;
    if (point.missing > 0) memory_.hold(point.block);
}

void HostShare::deliver(const Arriving& point, Version version, const Delivery& to)
{
    auto& blocks = memory_.blocks();
    const Delivered told{blocks.address(), blocks.lend(point.block, to.rank), version, to.task,
                         to.shard};
    send_(to.rank, transport::Tag::delivery, encode_values(pool_, told));
}

void HostShare::forget(Worker worker, std::optional<TaskId> task)
{
    for (auto& [version, point] : points_)
        std::erase_if(point.waiting, [&](const Delivery& one) {
            return one.rank == of(worker).info.rank && (!task || one.task == *task);
        });
}

// Forgets points that no task names any more. One that this host has begun to get stays until all
// of its slices have come.
void HostShare::drop_points()
{
    std::erase_if(points_, [](const auto& one) {
        return one.second.slice.expired() && one.second.missing == 0;
    });
}

void HostShare::take_point(const std::shared_ptr<transport::Bytes>& bytes)
{
    MessageReader in(*bytes);
    const auto [from, version, coding] = in.get<PointSlice>();
    if (coding < codings_) return;
    const auto known = points_.find(version);
    if (coding > codings_ || known == points_.end() || !known->second.begun()) {
        early_.push_back(bytes);
        return;
    }
    auto& point = known->second;
    const auto share = static_cast<std::size_t>(from);
    const auto& touched = here_[share];
    with_number(wire_, [&]<class Number>(Number) {
        touched.scatter(in.numbers<Number>(touched.size()), 0,
                        memory_.whole(point.block)
                            .subspan(static_cast<std::size_t>(own_.shares.first(share)),
                                     own_.shares.size(share)));
    });
    if (--point.missing > 0) return;
    memory_.let_go(point.block);
    for (const auto& delivery : std::exchange(point.waiting, {})) deliver(point, version, delivery);
}

// Takes slices of points that have come too early.
void HostShare::take_early()
{
    for (const auto& slice : std::exchange(early_, {})) take_point(slice);
}

// --- messages ------------------------------------------------------------------------------------

bool HostShare::take(transport::Message& message)
{
    MessageReader in(*message.bytes);
    switch (message.tag) {
        case transport::Tag::point_slice: take_point(message.bytes); return true;
        case transport::Tag::sum_slice: {
            const auto head = in.get<SumSlice>();
            own_sums_ += static_cast<std::int64_t>(message.bytes->size());
            slices_[{head.number, head.group}] = std::move(message.bytes);
            return true;
        }
        case transport::Tag::block_sums: {
            const auto head = in.get<BlockSums>();
            points_sent_ += head.points_sent;
            sums_received_ += head.sums_received;
            const auto blocks = in.doubles(static_cast<std::size_t>(head.blocks));
            blocks_[head.number][head.share].assign(blocks.begin(), blocks.end());
            return true;
        }
        default: return false;
    }
}

// --- sums ----------------------------------------------------------------------------------------

// Returns the union of the supports of the workers of a sum. The workers are often the same ones.
std::shared_ptr<const Support> HostShare::union_of_used(
    std::span<const Weighted> terms, std::shared_ptr<const Support> ShareWorker::*which)
{
    std::vector<Worker> used;
    for (const auto& term : terms)
        if (used.empty() || used.back() != term.worker) used.push_back(term.worker);
    auto& known = unions_[{which == &ShareWorker::whole, used}];
    if (!known) {
        std::vector<const Support*> all;
        for (const auto worker : used) all.push_back((of(worker).*which).get());
        known = std::make_shared<const Support>(union_of(all, all[0]->whole()));
    }
    return known;
}

// Forgets unions of supports that the running sum does not use, if they are many or long.
void HostShare::drop_unions()
{
    constexpr std::size_t most = 64;
    std::size_t columns = 0;
    for (const auto& [workers, support] : unions_) columns += support->chosen().size();
    if (unions_.size() > most || columns > own_.shares.size(share()))
        std::erase_if(unions_, [](const auto& one) { return one.second.use_count() == 1; });
}

namespace {

// Adds up the parameters first..last-1, and writes the numbers of their sum that a support holds.
// So nobody has a vector of all parameters.
template <class Number>
void add_up(std::span<const Addend> addends, const Support& touched, std::int64_t first,
            std::int64_t last, Precision precision, Number* to)
{
    constexpr auto most = static_cast<std::int64_t>(range_of_sums);
    NumberVector sum(range_of_sums, precision);
    for (; first < last; first += most) {
        const auto range =
            Numbers(sum).subspan(0, static_cast<std::size_t>(std::min(most, last - first)));
        clear(range);
        add(addends, range, static_cast<std::size_t>(first));
        to += touched.gather_range(range, first, to);
    }
}

}  // namespace

void HostShare::begin_sums(std::span<const std::vector<Weighted>> groups,
                           const std::function<Values(std::size_t)>& values)
{
    send_points();
    ++sums_;
    terms_ = hash_of(groups);
    std::erase_if(slices_, [this](const auto& one) { return one.first.first < sums_; });
    forming_.assign(groups.size(), {});
    for (std::size_t group = 0; group < groups.size(); ++group)
        if (!groups[group].empty())
            forming_[group] = union_of_used(groups[group], &ShareWorker::part);
    const auto terms = own_.group() < 0 ? std::span<const Weighted>()
                                        : groups[static_cast<std::size_t>(own_.group())];
    const auto touched = terms.empty() ? nullptr : union_of_used(terms, &ShareWorker::whole);
    drop_unions();
    if (!touched) return;
    std::vector<Addend> addends;
    for (const auto& term : terms) {
        const auto numbers = values(term.handle);
        addends.push_back({numbers.support, numbers.packed, term.weight});
    }
    // Each owner begins with another one's slice, so that all links are in use at once.
    for (std::size_t i = 1; i <= own_.shares.count(); ++i) {
        const auto to = (share() + i) % own_.shares.count();
        const auto first = own_.shares.first(to), last = own_.shares.last(to);
        auto bytes = make_message(pool_, [&](MessageWriter& out) {
            out.put(SumSlice{own_.group(), sums_, terms_});
            with_number(wire_, [&]<class Number>(Number) {
                out.numbers<Number>(touched->count(first, last), [&](Number* at) {
                    add_up(addends, *touched, first, last, precision_, at);
                });
            });
        });
        if (to == share())
            slices_[{sums_, own_.group()}] = std::move(bytes);
        else
            send_(own_.shares.ranks[to], transport::Tag::sum_slice, std::move(bytes));
    }
}

bool HostShare::has_sums() const
{
    for (std::size_t group = 0; group < forming_.size(); ++group)
        if (forming_[group] && !slices_.contains({sums_, static_cast<std::int64_t>(group)}))
            return false;
    return true;
}

std::vector<std::optional<Values>> HostShare::sums() const
{
    std::vector<std::optional<Values>> found(forming_.size());
    for (std::size_t group = 0; group < forming_.size(); ++group) {
        if (!forming_[group]) continue;
        const auto& support = *forming_[group];
        MessageReader in(*slices_.at({sums_, static_cast<std::int64_t>(group)}));
        if (in.get<SumSlice>().terms != terms_)
            throw Failure(
                "the owners of shares have added up different contributions: their hosts compute "
                "differently; use hosts with equal processors and libraries, or --aggregate node");
        found[group].emplace(Values{support,
                                    with_number(wire_,
                                                [&]<class Number>(Number) -> Packed {
                                                    return in.numbers<Number>(support.size());
                                                }),
                                    {}});
    }
    return found;
}

// --- scalars -------------------------------------------------------------------------------------

void HostShare::report(std::span<const double> blocks, bool decides)
{
    ++reports_;
    blocks_.erase(blocks_.begin(), blocks_.lower_bound(reports_));
    blocks_[reports_][own_.share].assign(blocks.begin(), blocks.end());
    const BlockSums head{own_.share, reports_, std::exchange(own_points_, 0),
                         std::exchange(own_sums_, 0), std::ssize(blocks)};
    points_sent_ += head.points_sent;
    sums_received_ += head.sums_received;
    for (std::size_t to = 0; to < own_.shares.count(); ++to) {
        if (to == share() || (to > 0 && !decides)) continue;
        send_(own_.shares.ranks[to], transport::Tag::block_sums,
              make_message(pool_, [&](MessageWriter& out) {
                  out.put(head);
                  out.numbers<double>(blocks.size(),
                                      [&](double* at) { std::ranges::copy(blocks, at); });
              }));
    }
}

bool HostShare::has_reports() const
{
    const auto at = blocks_.find(reports_);
    return at != blocks_.end() && at->second.size() == own_.shares.count();
}

void HostShare::total(std::span<double> sums) const
{
    std::vector<double> all;
    for (const auto& [share, blocks] : blocks_.at(reports_))
        all.insert(all.end(), blocks.begin(), blocks.end());
    sum_blocks(all, sums);
}

}  // namespace quorate
