// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/rank_fleet.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/drop_if.hpp"
#include "base/parallel.hpp"
#include "transport/clock.hpp"

namespace quorate {

namespace {

// For receive_until(): messages wait for wait().
constexpr auto none_of_them = [](const ArrivedMessage&) { return false; };

}  // namespace

RankFleet::RankFleet(transport::Endpoint& endpoint, FleetRanks ranks, const Scoring& scoring,
                     Wire wire, std::shared_ptr<const Compressor> compressor, Seconds timeout,
                     CoordinatorMemory& memory)
    : endpoint_(endpoint), scoring_(scoring), memory_(memory), mailbox_(endpoint, timeout),
      membership_(mailbox_, *this, std::move(ranks), scoring.width()),
      leaders_(mailbox_, membership_, scoring.width(), wire),
      tasks_(mailbox_, membership_, leaders_, memory, wire),
      values_(membership_, memory, wire, std::move(compressor), scoring.model.precision()),
      shares_(mailbox_, membership_, values_, scoring.width(), wire, scoring.model.precision())
{
    load();
    values_.restart_count();
}

Seconds RankFleet::now() const { return began_ < 0 ? 0 : clock_seconds() - began_; }

PointMemory* RankFleet::point_memory()
{
    if (shares_.present()) return shares_.share().point_memory();
    const bool shared = std::ranges::any_of(workers(), &WorkerInfo::shared);
    return shared ? &memory_ : nullptr;
}

// --- messages ------------------------------------------------------------------------------------

// Starts the sends that can start now.
void RankFleet::post()
{
    tasks_.send();
    if (shares_.present()) {
        shares_.share().send_points();
        values_.released().clear();  // the owners know what their hosts may use again
    } else {
        leaders_.send(values_.released());
    }
    endpoint_.ring();
}

// Receives what has come. @return whether a message has come
bool RankFleet::progress()
{
    bool any = false;
    for (; auto message = mailbox_.receive(); any = true)
        if (message->tag == transport::Tag::state_piece)
            keep_state(std::move(message->bytes));
        else if (message->tag == transport::Tag::state_kept)
            state_is_kept(MessageReader(*message->bytes).get<StatePart>());
        else if (!(spare_ && spare_->take(*message)) && !shares_.take(*message))
            arrived_.push_back(values_.claim(std::move(*message)));
    shares_.go_on();
    return any;
}

// Looks after the ranks until this is so, and receives.
// @param take  called with each message; returns whether it is to be dropped
template <class Done, class Take>
void RankFleet::receive_until(const Done& done, const Take& take)
{
    endpoint_.restart_wait();
    while (!done()) {
        membership_.find_dead();
        if (!progress()) endpoint_.wait();
        drop_if(arrived_, take);
    }
}

void RankFleet::load()
{
    receive_until([this] { return !membership_.is_loading(); },
                  [this](const ArrivedMessage& message) {
                      membership_.take(message);
                      return true;
                  });
}

std::vector<int> RankFleet::finish(Ending ending)
{
    shares_.let_go();
    auto ranks = membership_.idle();
    // One of them may have scored models until now, and answered no ping.
    for (const int rank : ranks) mailbox_.detector().extend_grace(rank);
    std::ranges::copy(membership_.standby(), std::back_inserter(ranks));
    for (const auto worker : membership_.living()) ranks.push_back(membership_.rank(worker));
    for (const int rank : ranks)
        mailbox_.send_aside(rank, transport::Tag::stop, encode_values(mailbox_.pool(), ending));
    std::vector<int> left = {0};
    receive_until(
        [&] {
            std::erase_if(ranks, [this](int rank) { return mailbox_.has_died(rank); });
            return ranks.empty() && !endpoint_.is_receiving();
        },
        [&](const ArrivedMessage& message) {
            if (message.tag == transport::Tag::farewell && std::erase(ranks, message.from) > 0)
                left.push_back(message.from);
            return true;
        });
    std::ranges::sort(left);
    if (ending == Ending::regroup) {
        const auto bytes =
            make_message(mailbox_.pool(), [&](MessageWriter& out) { out.put_list(left); });
        for (std::size_t i = 1; i < left.size(); ++i)
            mailbox_.send_aside(left[i], transport::Tag::regroup, bytes);
    }
    if (ending != Ending::apart) endpoint_.flush();
    return left;
}

// --- tasks and contributions ---------------------------------------------------------------------

void RankFleet::dispatch(const Dispatch& task, PointList inputs)
{
    if (began_ < 0) began_ = clock_seconds();
    memory_.begin();
    if (shares_.present()) shares_.share().dispatch(task, inputs);
    tasks_.dispatch(task, std::move(inputs));
}

void RankFleet::close(Worker worker, TaskId task)
{
    if (shares_.present()) shares_.share().forget(worker, task);
    tasks_.close(worker, task);
}

std::vector<Arrival> RankFleet::wait(Seconds until, const std::atomic<bool>& stop)
{
    endpoint_.restart_wait();
    for (;;) {
        post();
        membership_.find_dead();
        while (!arrived_.empty()) {
            membership_.take(arrived_.front());
            if (tell_changes()) return {};
            const auto message = std::move(arrived_.front());
            arrived_.pop_front();
            const auto worker = membership_.worker_of(message.from);
            if (message.tag == transport::Tag::contribution && worker >= 0 &&
                !membership_.is_dead(worker))
                return arrivals_of(message);
        }
        if (tell_changes()) return {};
        if (progress()) continue;
        const auto left = until - now();
        if (left <= 0 || stop) return {};
        endpoint_.wait(left);
    }
}

std::vector<Arrival> RankFleet::arrivals_of(const ArrivedMessage& message)
{
    auto arrivals = values_.unpack(message);
    const auto sent = tasks_.sent_at(membership_.worker_of(message.from), arrivals.at(0).task);
    for (auto& one : arrivals) {
        one.sent = sent ? *sent - began_ : 0;
        one.arrived = now();
    }
    if (shares_.present()) shares_.tell_arrivals(arrivals, now());
    return arrivals;
}

std::size_t RankFleet::adopt(Worker worker, const Values& values)
{
    if (shares_.present()) shares_.tell_adopted(worker, values);
    return values_.adopt(worker, values);
}

void RankFleet::set_clock(Seconds now, std::span<const std::int64_t> counts)
{
    began_ = clock_seconds() - now;
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (const auto worker = static_cast<Worker>(i);
            counts[i] > 0 && !membership_.is_dead(worker))
            mailbox_.send_aside(membership_.rank(worker), transport::Tag::count,
                                encode_values(mailbox_.pool(), counts[i]));
}

// --- membership ----------------------------------------------------------------------------------

// Whether members have changed. Then the owners of shares are told, too.
bool RankFleet::tell_changes()
{
    if (!membership_.has_changed()) return false;
    if (shares_.present()) {
        told_ = membership_.take_changes();
        shares_.tell({.kind = EngineEvent::Kind::changes, .time = now(), .changes = told_});
    }
    return true;
}

// Where parameters are shared out, changes are told at the end of a wait() only, because other
// engines are told of them at the same point of their history.
std::vector<Change> RankFleet::changes(std::int64_t)
{
    return shares_.present() ? std::exchange(told_, {}) : membership_.take_changes();
}

void RankFleet::reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members)
{
    membership_.reencode(coding->workers(), members);
    if (!shares_.present()) return;
    load();  // owners have to know the new supports before they send points
    shares_.reencode();
}

void RankFleet::forgets(Worker worker)
{
    if (shares_.present()) shares_.share().forget(worker);
    tasks_.forget(worker);
    leaders_.forget(worker);
}

void RankFleet::has_loaded(Worker worker)
{
    leaders_.has_loaded(worker);
    tasks_.has_loaded(worker);
}

void RankFleet::has_died(Worker worker, bool replaced)
{
    if (shares_.present()) shares_.check_owner(worker);
    tasks_.has_died(worker);
    leaders_.has_died(worker, replaced);
}

// --- aggregation by node -------------------------------------------------------------------------

void RankFleet::aggregate(std::span<const int> groups, std::vector<SharedAddress> contributions)
{
    membership_.set_groups(groups);
    for (std::size_t i = 0; i < contributions.size(); ++i)
        if (memory_.reads(static_cast<int>(i) + 1)) contributions[i] = {};
    leaders_.begin(groups, contributions);
    receive_until([this] { return !leaders_.is_beginning(); },
                  [this](ArrivedMessage& message) { return leaders_.take(message); });
}

std::vector<std::optional<Values>> RankFleet::sums(std::span<const std::vector<Weighted>> groups)
{
    if (shares_.present()) {
        auto& share = shares_.share();
        share.begin_sums(groups, [this](std::size_t handle) { return values_.values(handle); });
        receive_until([&] { return share.has_sums(); }, none_of_them);
        return share.sums();
    }
    const auto lies_at_node = [this](const Weighted& of) { return values_.is_at_node(of.handle); };
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (std::ranges::any_of(groups[i], lies_at_node)) {
            leaders_.begin_sum(i);
            wanted.push_back(i);
        }
    std::vector<std::optional<Values>> found(groups.size());
    if (wanted.empty()) return found;
    const auto terms = [&](std::size_t group) {
        std::vector<Leaders::Term> all;
        for (const auto& one : groups[group]) all.push_back(values_.term(one));
        return all;
    };
    receive_until(
        [&] {
            for (const auto group : wanted)
                leaders_.ask_for_sum(group, [&] { return terms(group); });
            endpoint_.ring();
            return std::ranges::all_of(wanted, [&](auto group) { return leaders_.has_sum(group); });
        },
        [this](ArrivedMessage& message) { return leaders_.take(message); });
    for (const auto group : wanted) found[group].emplace(leaders_.sum(group));
    return found;
}

// --- shares of the parameters --------------------------------------------------------------------

void RankFleet::share(std::span<const int> groups, std::span<const SharedAddress> contributions,
                      const std::string& step, const TellPast& past)
{
    membership_.set_groups(groups);
    const auto answers = [this] {
        receive_until([this] { return !shares_.is_waiting(); }, none_of_them);
    };
    shares_.ask_to_meet(contributions);
    answers();
    shares_.deal(step, past);
    answers();
    tasks_.leave_points();
    shares_.tell({.kind = EngineEvent::Kind::begin});
    endpoint_.ring();
}

std::optional<std::pair<std::size_t, std::size_t>> RankFleet::own_share() const
{
    if (!shares_.present()) return std::nullopt;
    return std::pair(std::size_t{0}, shares_.share().ownership().shares.size(0));
}

void RankFleet::sum_of_blocks(std::span<const double> blocks, std::span<double> sums, bool decides)
{
    if (!shares_.present()) return Fleet::sum_of_blocks(blocks, sums, decides);
    auto& share = shares_.share();
    share.report(blocks, decides);
    receive_until([&] { return share.has_reports(); }, none_of_them);
    share.total(sums);
}

void RankFleet::fired(int timer)
{
    if (shares_.present())
        shares_.tell({.kind = EngineEvent::Kind::timer, .time = now(), .timer = timer});
}

trace::Sink& RankFleet::join_models(trace::Record& whole)
{
    if (!shares_.present()) return whole;
    return shares_.join_models(whole, [this] {
        receive_until(
            [this] { return shares_.whole().bytes_of_kept() < 2 * trace::iterates_in_memory; },
            none_of_them);
    });
}

void RankFleet::join_vectors(const std::vector<StateVector>& vectors, const TakePiece& take)
{
    if (!shares_.present()) return Fleet::join_vectors(vectors, take);
    shares_.join(vectors, take, now());
}

void RankFleet::end_models(std::span<const ConstNumbers> models, trace::Record& record)
{
    if (!shares_.present()) return Fleet::end_models(models, record);
    shares_.end(models, record, now());
    endpoint_.ring();
    receive_until([&] { return shares_.whole().is_done(); }, none_of_them);
    shares_.let_go();
}

// --- states in memory ---------------------------------------------------------------------------

int RankFleet::choose_keeper() const
{
    if (shares_.present()) return shares_.shares().ranks.at(1);
    int chosen = 0;
    for (const auto worker : membership_.living()) {
        const auto& [rank, host, rows, columns, shared, group] =
            workers()[static_cast<std::size_t>(worker)];
        if (host != endpoint_.host()) return rank;
        if (chosen == 0) chosen = rank;
    }
    return chosen;
}

bool RankFleet::has_keeper() { return keeper_ > 0 && !mailbox_.detector().is_dead(keeper_); }

void RankFleet::begin_state(std::int64_t round)
{
    state_ = round;
    missing_ = 2 * shares();  // each share's part, and its copy
    keeper_ = choose_keeper();
    if (shares_.present()) shares_.tell({.kind = EngineEvent::Kind::state, .time = now()});
}

void RankFleet::keep_state(std::shared_ptr<transport::Bytes> piece)
{
    if (const auto kept = states_->take(std::move(piece))) state_is_kept(*kept);
}

void RankFleet::state_is_kept(const StatePart& part)
{
    if (part.round == state_) --missing_;
}

bool RankFleet::has_whole_state() { return missing_ == 0 || (!shares_.present() && !has_keeper()); }

void RankFleet::send_state(std::shared_ptr<transport::Bytes> piece)
{
    if (has_keeper()) mailbox_.send_aside(keeper_, transport::Tag::state_piece, std::move(piece));
}

// --- scores --------------------------------------------------------------------------------------

EvaluationTeam RankFleet::team_of(const std::vector<int>& ranks)
{
    return {scoring_, ranks, mailbox_.pool(), [this](int rank, auto tag, auto bytes) {
                mailbox_.detector().extend_grace(rank);
                mailbox_.send_aside(rank, tag, std::move(bytes));
            }};
}

bool RankFleet::offer(std::int64_t round, const Point& model)
{
    if ((spare_ && spare_->has_asked()) || has_ended()) return false;
    if (!spare_) spare_.emplace(team_of({membership_.spare()}));
    spare_->ask({model});
    offered_ = round;
    return true;
}

void RankFleet::collect(const TakeLive& scored, bool all)
{
    if (!spare_ || !spare_->has_asked()) return;
    progress();
    if (all)
        receive_until([this] { return spare_->has_answered() || has_ended(); },
                      [](const ArrivedMessage&) { return false; });
    if (spare_->has_answered())
        scored(offered_, spare_->scores()[0]);
    else if (all)
        mailbox_.has_died(membership_.spare());
}

// Living workers: no more on a host than it has processors, since each gets the parameters that its
// rows touch, and more scorers on a host only get the same ones again.
std::vector<Worker> RankFleet::choose_scorers() const
{
    std::map<std::string_view, int> on_host;
    std::vector<Worker> chosen;
    std::ranges::copy_if(membership_.living(), std::back_inserter(chosen), [&](Worker worker) {
        return on_host[workers()[static_cast<std::size_t>(worker)].host]++ < processors_of_host();
    });
    chosen.resize(
        static_cast<std::size_t>(scoring_.rows.useful_scorers(static_cast<int>(chosen.size()))));
    return chosen;
}

void RankFleet::evaluate(const NextModels& next, const TakeScored& scored)
{
    load();
    // The share of a worker that dies would be missing anyway.
    membership_.replace_no_more();
    const auto scorers = choose_scorers();
    if (scorers.empty()) return Evaluator(scoring_).score_all(next, scored);
    std::vector<int> ranks;
    for (const auto worker : scorers) {
        forgets(worker);
        ranks.push_back(membership_.rank(worker));
    }
    auto team = team_of(ranks);
    const auto has_lost_one = [&] {
        return std::ranges::any_of(scorers, [&](auto one) { return membership_.is_dead(one); });
    };
    const auto ask = [&](std::vector<Point> models) {
        const bool any = !models.empty();
        if (any) team.ask(std::move(models));
        return any;
    };
    for (bool more = ask(next()); team.has_asked();) {
        // Models are sent one batch ahead, so that neither side waits for the other.
        more = more && ask(next());
        receive_until([&] { return team.has_answered() || has_lost_one(); },
                      [&](const ArrivedMessage& message) {
                          team.take(message);
                          return true;
                      });
        if (!team.has_answered()) break;
        for (const auto& one : team.scores()) scored(one);
    }
    auto left = team.take_back();
    if (left.empty()) return;
    const auto rest = [&] { return left.empty() ? next() : std::exchange(left, {}); };
    Evaluator(scoring_).score_all(rest, scored);
}

}  // namespace quorate
