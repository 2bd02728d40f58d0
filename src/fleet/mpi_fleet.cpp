// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/mpi_fleet.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "fleet/evaluation.hpp"

namespace quorate {

namespace {

// A message that has begun to come needs a few more looks, and no bell rings for them.
constexpr Seconds soon = 20e-6;

}  // namespace

MpiFleet::MpiFleet(const mpi::Comm& comm, const std::vector<int>& ranks, std::int64_t parameters,
                   Doorbells& bells)
    : comm_(comm), bells_(bells), info_(ranks.size()),
      worker_of_(static_cast<std::size_t>(comm.size()), -1), links_(info_.size())
{
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        info_[i].rank = ranks[i];
        worker_of_[static_cast<std::size_t>(ranks[i])] = static_cast<Worker>(i);
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const auto mail = next_of(mpi::Tag::ready);
        const auto worker = static_cast<std::size_t>(worker_of(mail.peer));
        auto [info, support] = decode_ready(*mail.bytes, parameters);
        info.rank = mail.peer;
        info_[worker] = std::move(info);
        // Replicas share one support, so that their tasks can share one message.
        for (const auto& link : links_)
            if (link.support && *link.support == support) links_[worker].support = link.support;
        if (!links_[worker].support)
            links_[worker].support = std::make_shared<const Support>(std::move(support));
    }
    bytes_sent_ = bytes_received_ = 0;
}

Seconds MpiFleet::now() const { return began_ < 0 ? 0 : clock_seconds() - began_; }

void MpiFleet::dispatch(const Dispatch& task, PointList inputs)
{
    if (began_ < 0) began_ = clock_seconds();
    auto& link = links_.at(static_cast<std::size_t>(task.worker));
    const bool after = task.begin == Dispatch::Begin::after;
    const auto same = [&](const auto& shared) {
        return shared->support == link.support.get() && shared->plan == task.plan &&
               shared->message.draw == task.draw && shared->message.after == after &&
               shared->message.budget == task.budget && shared->message.repeat == task.repeat &&
               shared->points == inputs;
    };
    auto at = std::find_if(fresh_.begin(), fresh_.end(), same);
    if (at == fresh_.end()) {
        auto shared = std::make_shared<SharedTask>();
        shared->message.draw = task.draw;
        shared->message.after = after;
        shared->message.repeat = task.repeat;
        shared->message.budget = task.budget;
        shared->message.step = task.step;
        shared->message.plan = *task.plan;
        for (const auto version : task.inputs) shared->message.inputs.push_back({version, true});
        shared->plan = task.plan;
        shared->points = std::move(inputs);
        shared->support = link.support.get();
        at = fresh_.insert(fresh_.end(), std::move(shared));
    }
    (*at)->message.recipients.emplace_back(task.worker, task.task);
    // Latest wins.
    std::erase_if(link.waiting,
                  [&](const Order& waiting) { return !after || waiting.shared->message.repeat; });
    link.waiting.push_back({task.task, *at});
    if (!std::exchange(link.queued, true)) queue_.push_back(task.worker);
}

void MpiFleet::close(Worker worker, TaskId task)
{
    auto& link = links_[static_cast<std::size_t>(worker)];
    std::erase_if(link.waiting, [&](const auto& order) { return order.task == task; });
    if (link.sent.empty() || link.sent.back().first != task) return;
    if (link.cancel < 0) cancelled_.push_back(worker);
    link.cancel = task;
}

void MpiFleet::post()
{
    fresh_.clear();
    std::erase_if(queue_, [this](Worker worker) {
        auto& link = links_[static_cast<std::size_t>(worker)];
        post(link, worker);
        link.queued = !link.waiting.empty();
        return !link.queued;
    });
    std::erase_if(cancelled_, [this](Worker worker) {
        auto& link = links_[static_cast<std::size_t>(worker)];
        if (link.cancel >= 0) post(link, worker);
        return link.cancel < 0;
    });
}

void MpiFleet::post(Link& link, Worker worker)
{
    if (link.sending) {
        if (!link.sending->done()) return;
        link.sending.reset();
    }
    const bool replaced = !link.waiting.empty() && !link.waiting.front().shared->message.after;
    if (link.cancel >= 0 && !replaced) {
        const bool answered = link.sent.empty() || link.sent.back().first > link.cancel;
        const auto last = std::exchange(link.cancel, -1);
        if (!answered) {
            send(link, worker, mpi::Tag::cancel, encode_values(pool_, last));
            return;
        }
    }
    if (link.waiting.empty()) return;
    link.cancel = -1;
    const auto order = std::move(link.waiting.front());
    link.waiting.pop_front();
    auto& shared = *order.shared;
    send(link, worker, mpi::Tag::task, bytes_for(shared, link.held));
    link.sent.emplace_back(order.task, now());
    link.held.clear();
    for (const auto& input : shared.message.inputs) link.held.push_back(input.version);
}

std::shared_ptr<mpi::Bytes> MpiFleet::bytes_for(SharedTask& shared, const Versions& held)
{
    std::vector<bool> included;
    for (const auto& input : shared.message.inputs)
        included.push_back(std::find(held.begin(), held.end(), input.version) == held.end());
    for (const auto& [inputs, bytes] : shared.encoded)
        if (inputs == included) return bytes;
    for (std::size_t i = 0; i < included.size(); ++i)
        shared.message.inputs[i].included = included[i];
    auto bytes = encode(shared.message, {shared.points.data(), shared.points.size()},
                        *shared.support, pool_);
    shared.encoded.emplace_back(std::move(included), bytes);
    return bytes;
}

void MpiFleet::send(Link& link, Worker worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    bytes_sent_ += static_cast<std::int64_t>(bytes->size());
    link.sending = mpi::send(comm_, rank(worker), tag, std::move(bytes));
    bells_.ring(rank(worker));
}

bool MpiFleet::progress()
{
    while (auto mail = mpi::receive(comm_, MPI_ANY_SOURCE, pool_))
        incoming_.push_back(std::move(*mail));
    bool any = false;
    for (auto at = incoming_.begin(); at != incoming_.end();) {
        if (!at->done()) {
            ++at;
            continue;
        }
        bytes_received_ += static_cast<std::int64_t>(at->bytes->size());
        arrived_.push_back(std::move(*at));
        at = incoming_.erase(at);
        any = true;
    }
    return any;
}

std::vector<Arrival> MpiFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    patience_.reset();
    for (;;) {
        post();
        while (!arrived_.empty()) {
            const auto mail = std::move(arrived_.front());
            arrived_.pop_front();
            if (mail.tag == mpi::Tag::contribution) return unpack(mail);
        }
        if (progress()) continue;
        const auto left = until - now();
        if (left <= 0 || stop) return {};
        patience_.rest(incoming_.empty() ? left : std::min(left, soon));
    }
}

std::vector<Arrival> MpiFleet::unpack(const mpi::Transfer& mail)
{
    const Worker worker = worker_of(mail.peer);
    auto& link = links_.at(static_cast<std::size_t>(worker));
    Reader in(*mail.bytes);
    const auto head = in.get<ContributionHead>();
    while (!link.sent.empty() && link.sent.front().first < head.task) link.sent.pop_front();
    const auto sent = link.sent.empty() ? 0 : link.sent.front().second;
    std::vector<PartHead> parts;
    for (int i = 0; i < head.parts; ++i) parts.push_back(in.get<PartHead>());
    std::vector<std::vector<Version>> versions(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
        for (int item = 0; item < parts[i].versions; ++item)
            versions[i].push_back(in.get<Version>());
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& part = parts[i];
        const auto handle = slots_.take();
        slots_.at(handle) = {mail.bytes, in.doubles(link.support->size()), worker, part.loss};
        arrivals.push_back({.worker = worker,
                            .task = head.task,
                            .part = part.part,
                            .draw = head.draw,
                            .samples = part.samples,
                            .oldest = part.oldest,
                            .newest = part.newest,
                            .versions = std::move(versions[i]),
                            .sent = sent,
                            .arrived = now(),
                            .compute = part.compute,
                            .delay = head.delay,
                            .idle = head.idle,
                            .send = head.send,
                            .bytes = static_cast<std::int64_t>(mail.bytes->size()) / head.parts,
                            .handle = handle});
    }
    return arrivals;
}

Values MpiFleet::values(std::size_t handle)
{
    const auto& slot = slots_.at(handle);
    return {*links_[static_cast<std::size_t>(slot.worker)].support, slot.packed, slot.loss};
}

void MpiFleet::release(std::size_t handle)
{
    slots_.at(handle) = {};
    slots_.give_back(handle);
}

mpi::Transfer MpiFleet::next_of(mpi::Tag tag,
                                const std::function<bool(const mpi::Transfer&)>& wanted)
{
    patience_.reset();
    for (;;) {
        for (auto at = arrived_.begin(); at != arrived_.end(); ++at)
            if (at->tag == tag && (!wanted || wanted(*at))) {
                auto mail = std::move(*at);
                arrived_.erase(at);
                return mail;
            }
        std::erase_if(arrived_,
                      [](const auto& mail) { return mail.tag == mpi::Tag::contribution; });
        post();
        if (!progress()) patience_.rest();
    }
}

std::vector<Support> MpiFleet::begin_evaluation(const DataSet& data, std::int64_t parameters)
{
    std::vector<Support> supports(links_.size(), Support::all(0));
    for (std::size_t worker = 0; worker < links_.size(); ++worker) {
        links_[worker].waiting.clear();
        const auto rows =
            evaluation_rows(data, static_cast<int>(links_.size()), static_cast<int>(worker));
        send_next(worker, mpi::Tag::evaluate, encode_values(pool_, rows));
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const auto mail = next_of(mpi::Tag::ready);
        supports[static_cast<std::size_t>(worker_of(mail.peer))] =
            decode_ready(*mail.bytes, parameters).second;
    }
    return supports;
}

void MpiFleet::send_next(std::size_t worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    auto& link = links_[worker];
    while (link.sending && !link.sending->done())
        if (!progress()) patience_.rest();
    send(link, static_cast<Worker>(worker), tag, std::move(bytes));
}

void MpiFleet::evaluate(const DataSet& data, const Model& model,
                        const std::function<std::vector<Point>()>& next,
                        const std::function<void(const Scored&)>& scored)
{
    const auto supports = begin_evaluation(data, model.parameters(data.columns()));
    const auto labels = data.read(Split::test, 0, data.rows(Split::test)).label;
    const auto ask = [&](const std::vector<Point>& models) {
        for (std::size_t worker = 0; worker < links_.size() && !models.empty(); ++worker)
            send_next(worker, mpi::Tag::score, encode_models(models, supports[worker], pool_));
    };
    // One batch ahead, so that nobody waits for the other side.
    auto models = next();
    ask(models);
    while (!models.empty()) {
        auto following = next();
        ask(following);
        collect_scores(data, model, models.size(), labels, scored);
        models = std::move(following);
    }
}

void MpiFleet::collect_scores(const DataSet& data, const Model& model, std::size_t models,
                              const std::vector<double>& labels,
                              const std::function<void(const Scored&)>& scored)
{
    // A worker answers batch after batch: its first answer here is to the oldest.
    std::vector<std::optional<mpi::Transfer>> answers(links_.size());
    const auto unanswered = [&](const mpi::Transfer& mail) {
        return !answers[static_cast<std::size_t>(worker_of(mail.peer))];
    };
    for (std::size_t i = 0; i < links_.size(); ++i) {
        auto mail = next_of(mpi::Tag::scores, unanswered);
        answers[static_cast<std::size_t>(worker_of(mail.peer))] = std::move(mail);
    }
    std::vector<std::shared_ptr<mpi::Bytes>> bytes;
    for (const auto& answer : answers) bytes.push_back(answer->bytes);
    for (const auto& one : combine_scores(data, model, models, bytes, labels)) scored(one);
}

void MpiFleet::finish()
{
    int missing = static_cast<int>(links_.size());
    std::vector<bool> told(links_.size());
    patience_.reset();
    while (missing > 0 || !incoming_.empty()) {
        for (std::size_t worker = 0; worker < links_.size(); ++worker) {
            auto& link = links_[worker];
            if (link.sending && link.sending->done()) link.sending.reset();
            if (link.sending || told[worker]) continue;
            send(link, static_cast<Worker>(worker), mpi::Tag::stop, encode_values(pool_));
            told[worker] = true;
        }
        if (!progress()) patience_.rest();
        for (const auto& mail : arrived_) missing -= mail.tag == mpi::Tag::farewell;
        arrived_.clear();
    }
    for (auto& link : links_)
        while (link.sending && !link.sending->done()) patience_.rest();
}

}  // namespace quorate
