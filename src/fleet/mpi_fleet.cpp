// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/mpi_fleet.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "fleet/evaluation.hpp"

namespace quorate {

namespace {

// A message that has begun to come needs a few more looks, and no bell rings for them.
constexpr Seconds soon = 20e-6;

constexpr TaskId everything = std::numeric_limits<TaskId>::max();

}  // namespace

MpiFleet::MpiFleet(const mpi::Comm& comm, const std::vector<int>& ranks, std::vector<int> standby,
                   std::vector<int> idle, std::int64_t parameters, Seconds timeout,
                   Doorbells& bells)
    : comm_(comm), bells_(bells), info_(ranks.size()),
      worker_of_(static_cast<std::size_t>(comm.size()), -1), links_(info_.size()),
      standby_(std::move(standby)), idle_(std::move(idle)), places_(info_.size()),
      coded_for_(static_cast<int>(info_.size())), parameters_(parameters),
      pulse_(comm.size(), timeout, bells)
{
    std::iota(places_.begin(), places_.end(), 0);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        info_[i].rank = ranks[i];
        worker_of_[static_cast<std::size_t>(ranks[i])] = static_cast<Worker>(i);
        pulse_.excuse(ranks[i]);
    }
    const auto loading = [](const Link& link) { return link.state == State::loading; };
    patience_.reset();
    while (std::ranges::any_of(links_, loading)) {
        check_pulse();
        if (!progress()) patience_.rest();
        for (const auto& mail : arrived_) take_note(mail);
        arrived_.clear();
    }
    bytes_sent_ = bytes_received_ = 0;
}

// A rank has loaded its shard.
void MpiFleet::be_ready(const mpi::Transfer& mail)
{
    const auto worker = worker_of(mail.peer);
    if (worker < 0 || link(worker).state != State::loading) return;
    auto& to = link(worker);
    auto [info, support] = decode_ready(*mail.bytes, parameters_);
    info.rank = mail.peer;
    info_[static_cast<std::size_t>(worker)] = std::move(info);
    // Replicas share one support, so that their tasks can share one message.
    for (auto& other : links_)
        if (other.support && *other.support == support) to.support = other.support;
    if (!to.support || *to.support != support)
        to.support = std::make_shared<const Support>(std::move(support));
    to.state = State::here;
    for (auto& [task, inputs] : std::exchange(to.unready, {})) dispatch(task, std::move(inputs));
}

std::vector<Worker> MpiFleet::living() const
{
    std::vector<Worker> some;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (links_[i].state != State::dead) some.push_back(static_cast<Worker>(i));
    return some;
}

Seconds MpiFleet::now() const { return began_ < 0 ? 0 : clock_seconds() - began_; }

void MpiFleet::clear(Link& link)
{
    link.unready.clear();
    link.waiting.clear();
    link.held.clear();
    link.sent.clear();
    link.cancel = -1;
}

void MpiFleet::change(const Change& wanted)
{
    auto& to = link(wanted.worker);
    switch (wanted.kind) {
        case Change::Kind::joined: to.state = State::here; break;
        case Change::Kind::left:
            clear(to);
            to.state = State::away;
            send_aside(rank(wanted.worker), mpi::Tag::cancel, encode_values(pool_, everything));
            break;
        case Change::Kind::died:
            send_aside(rank(wanted.worker), mpi::Tag::die, pool_.take(0));
            return;                          // its silence will tell
        case Change::Kind::loading: return;  // nobody asks for that
    }
    changes_.push_back(wanted);
}

// A few bytes that need not wait for what else is on its way.
void MpiFleet::send_aside(int rank, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    std::erase_if(aside_, [this](mpi::Transfer& one) { return done(one); });
    if (auto sent = try_send(rank, tag, std::move(bytes))) aside_.push_back(std::move(*sent));
}

// Pings the quiet, and buries the dead.
void MpiFleet::check_pulse()
{
    constexpr Seconds interval = 0.02;
    const auto now = clock_seconds();
    if (now - looked_ < interval) return;
    looked_ = now;
    for (const auto worker : living()) {
        if (pulse_.lost(rank(worker)))
            bury(worker);
        else
            ping(rank(worker));
    }
    mourns_ |= std::erase_if(standby_, [this](int rank) { return pulse_.lost(rank); }) > 0;
    for (const int rank : standby_) ping(rank);
}

void MpiFleet::ping(int rank)
{
    if (pulse_.ask(rank)) send_aside(rank, mpi::Tag::ping, pool_.take(0));
}

// What MPI still does for a dead rank is never waited for, and its buffers are never used again.
void MpiFleet::abandon(Link& link, int rank)
{
    if (link.sending) abandoned_.push_back(std::move(*link.sending));
    link.sending.reset();
    for (auto at = incoming_.begin(); at != incoming_.end();) {
        if (at->peer != rank) {
            ++at;
            continue;
        }
        abandoned_.push_back(std::move(*at));
        at = incoming_.erase(at);
    }
}

void MpiFleet::bury(Worker worker)
{
    auto& to = link(worker);
    mourns_ = true;
    clear(to);
    to.state = State::dead;
    abandon(to, rank(worker));
    changes_.push_back({Change::Kind::died, worker});
    const auto place = places_[static_cast<std::size_t>(worker)];
    if (standby_.empty() || place < 0) return;
    worker_of_[static_cast<std::size_t>(rank(worker))] = -1;
    info_[static_cast<std::size_t>(worker)].rank = standby_.front();
    worker_of_[static_cast<std::size_t>(standby_.front())] = worker;
    standby_.erase(standby_.begin());
    seat(worker, place);
    to.joins = true;
    changes_.push_back({Change::Kind::loading, worker});
}

// Tells a worker's rank what to load.
void MpiFleet::seat(Worker worker, Worker place)
{
    auto& to = link(worker);
    clear(to);
    to.state = State::loading;
    pulse_.excuse(rank(worker));
    send_aside(rank(worker), mpi::Tag::seat, encode_values(pool_, Seat{worker, coded_for_, place}));
}

void MpiFleet::recode(std::shared_ptr<const Coding> coding, std::span<const Worker> seats)
{
    coded_for_ = coding->workers();
    std::ranges::fill(places_, -1);
    for (std::size_t i = 0; i < seats.size(); ++i) {
        places_[static_cast<std::size_t>(seats[i])] = static_cast<Worker>(i);
        seat(seats[i], static_cast<Worker>(i));
    }
}

// What is neither a contribution nor waited for.
void MpiFleet::take_note(const mpi::Transfer& mail)
{
    const auto worker = worker_of(mail.peer);
    if (mail.tag == mpi::Tag::ready) be_ready(mail);
    if (worker < 0) return;
    auto& from = link(worker);
    if (mail.tag == mpi::Tag::leaving && from.state == State::here) {
        clear(from);
        from.state = State::away;
        changes_.push_back({Change::Kind::left, worker});
    }
    const bool slow = from.state == State::dead && !pulse_.lost(mail.peer);
    const bool back = slow || (from.joins && from.state == State::here);
    if (!back) return;
    // It was only slow, or it has loaded the rows of one who died.
    from.state = State::here;
    from.joins = false;
    changes_.push_back({Change::Kind::joined, worker});
}

void MpiFleet::dispatch(const Dispatch& task, PointList inputs)
{
    if (began_ < 0) began_ = clock_seconds();
    auto& link = links_.at(static_cast<std::size_t>(task.worker));
    if (link.state == State::loading) {
        link.unready.push_back({task, std::move(inputs)});
        return;
    }
    if (link.state != State::here) return;
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
    if (link.state != State::here) return;
    if (link.sending) {
        if (!done(*link.sending)) return;
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
    link.sending = try_send(rank(worker), tag, std::move(bytes));
}

// An error of MPI is a sign of death, if there is one at all.
std::optional<mpi::Transfer> MpiFleet::try_send(int rank, mpi::Tag tag,
                                                std::shared_ptr<mpi::Bytes> bytes)
{
    try {
        auto sent = mpi::send(comm_, rank, tag, std::move(bytes));
        bells_.ring(rank);
        return sent;
    } catch (const mpi::Error&) {
        pulse_.give_up(rank);
        return std::nullopt;
    }
}

bool MpiFleet::done(mpi::Transfer& transfer)
{
    try {
        return transfer.done();
    } catch (const mpi::Error&) {
        pulse_.give_up(transfer.peer);
        transfer.failed = true;
        return true;
    }
}

bool MpiFleet::progress()
{
    while (auto mail = mpi::receive(comm_, MPI_ANY_SOURCE, pool_))
        incoming_.push_back(std::move(*mail));
    bool any = false;
    for (auto at = incoming_.begin(); at != incoming_.end();) {
        if (!done(*at)) {
            ++at;
            continue;
        }
        if (at->failed) {
            at = incoming_.erase(at);
            continue;
        }
        bytes_received_ += static_cast<std::int64_t>(at->bytes->size());
        pulse_.heard(at->peer);
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
        check_pulse();
        while (!arrived_.empty()) {
            take_note(arrived_.front());
            if (!changes_.empty()) break;
            const auto mail = std::move(arrived_.front());
            arrived_.pop_front();
            const auto worker = worker_of(mail.peer);
            if (mail.tag == mpi::Tag::contribution && worker >= 0 &&
                link(worker).state != State::dead)
                return unpack(mail);
        }
        if (!changes_.empty()) return {};
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
    // What was sent before the rank was given another place has no values any more.
    const bool current = link.state != State::loading;
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& part = parts[i];
        const auto handle = slots_.take();
        if (current)
            slots_.at(handle) = {mail.bytes,
                                 in.doubles(static_cast<std::size_t>(part.length)),
                                 {},
                                 worker,
                                 part.loss};
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

std::size_t MpiFleet::adopt(Worker worker, std::vector<double> values, double loss)
{
    const auto handle = slots_.take();
    auto& slot = slots_.at(handle);
    slot = {nullptr, {}, std::move(values), worker, loss};
    slot.packed = slot.adopted;
    return handle;
}

void MpiFleet::set_clock(Seconds now, std::span<const std::int64_t> counts)
{
    began_ = clock_seconds() - now;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (counts[i] > 0)
            send_aside(rank(static_cast<Worker>(i)), mpi::Tag::count,
                       encode_values(pool_, counts[i]));
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
    const auto alive = living().size();
    for (;;) {
        for (auto at = arrived_.begin(); at != arrived_.end();) {
            if (at->tag == tag && worker_of(at->peer) >= 0 && (!wanted || wanted(*at))) {
                auto mail = std::move(*at);
                arrived_.erase(at);
                return mail;
            }
            // Scores of a later batch wait for their turn.
            at = at->tag == mpi::Tag::scores ? at + 1 : arrived_.erase(at);
        }
        check_pulse();
        if (living().size() < alive) throw Lost("a worker died while models were scored");
        if (!progress()) patience_.rest();
    }
}

std::vector<Support> MpiFleet::begin_evaluation(const DataSet& data, std::int64_t parameters)
{
    std::vector<Support> supports(links_.size(), Support::all(0));
    const auto loading = [](const Link& link) { return link.state == State::loading; };
    while (std::ranges::any_of(links_, loading)) wait(now(), false);
    const auto scorers = living();
    for (std::size_t i = 0; i < scorers.size(); ++i) {
        clear(link(scorers[i]));
        const auto rows =
            evaluation_rows(data, static_cast<int>(scorers.size()), static_cast<int>(i));
        send_next(scorers[i], mpi::Tag::evaluate, encode_values(pool_, rows));
    }
    for (std::size_t i = 0; i < scorers.size(); ++i) {
        const auto mail = next_of(mpi::Tag::ready);
        supports[static_cast<std::size_t>(worker_of(mail.peer))] =
            decode_ready(*mail.bytes, parameters).second;
    }
    return supports;
}

void MpiFleet::send_next(Worker worker, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    auto& to = link(worker);
    while (to.sending && !done(*to.sending)) {
        check_pulse();
        if (to.state == State::dead) throw Lost("a worker died while models were scored");
        if (!progress()) patience_.rest();
    }
    pulse_.excuse(rank(worker));
    send(to, worker, tag, std::move(bytes));
}

void MpiFleet::evaluate(const DataSet& data, const Model& model,
                        const std::function<std::vector<Point>()>& next,
                        const std::function<void(const Scored&)>& scored)
{
    const auto supports = begin_evaluation(data, model.parameters(data.columns()));
    const auto scorers = living();
    const auto labels = data.read(Split::test, 0, data.rows(Split::test)).label;
    const auto ask = [&](const std::vector<Point>& models) {
        if (models.empty()) return;
        for (const auto worker : scorers)
            send_next(worker, mpi::Tag::score,
                      encode_models(models, supports[static_cast<std::size_t>(worker)], pool_));
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
    for (auto missing = living().size(); missing > 0; --missing) {
        auto mail = next_of(mpi::Tag::scores, unanswered);
        answers[static_cast<std::size_t>(worker_of(mail.peer))] = std::move(mail);
    }
    std::vector<std::shared_ptr<mpi::Bytes>> bytes;
    for (const auto& answer : answers)
        if (answer) bytes.push_back(answer->bytes);
    for (const auto& one : combine_scores(data, model, models, bytes, labels)) scored(one);
}

void MpiFleet::finish(bool finalize)
{
    std::vector<int> ranks = idle_;
    ranks.insert(ranks.end(), standby_.begin(), standby_.end());
    for (const auto worker : living()) ranks.push_back(rank(worker));
    for (const int rank : ranks)
        send_aside(rank, mpi::Tag::stop, encode_values(pool_, std::int64_t{finalize}));
    patience_.reset();
    while (!ranks.empty() || !incoming_.empty()) {
        check_pulse();
        if (!progress()) patience_.rest();
        for (const auto& mail : arrived_)
            if (mail.tag == mpi::Tag::farewell) std::erase(ranks, mail.peer);
        arrived_.clear();
        std::erase_if(ranks, [this](int rank) { return pulse_.lost(rank); });
    }
    if (!finalize) return;
    const auto settle = [this](mpi::Transfer& one) {
        while (!done(one)) patience_.rest();
    };
    for (auto& one : aside_) settle(one);
    for (auto& link : links_)
        if (link.sending) settle(*link.sending);
}

}  // namespace quorate
