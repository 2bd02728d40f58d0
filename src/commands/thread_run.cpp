// SPDX-License-Identifier: BSD-2-Clause
#include "commands/thread_run.hpp"

#include <fmt/format.h>

#include <thread>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/version.hpp"
#include "commands/attempt.hpp"
#include "transport/thread_endpoint.hpp"

namespace quorate {

int ranks_to_start(const Settings& settings)
{
    if (settings.on("resilient"))
        settings.refuse("resilient", ", which is for processes: start them with mpiexec or srun");
    if (!settings.on("workers"))
        throw BadInput(
            fmt::format("--workers is missing: --workers N makes them threads of this process, and "
                        "'{} -n N' starts processes, a coordinator and N - 1 workers",
                        launcher));
    constexpr std::int64_t most = 4096;
    const auto workers = settings.integer("workers", 1, most);
    const auto standby = settings.integer("standby", 0, most);
    return static_cast<int>(1 + workers + standby + (scores_live(settings) ? 1 : 0));
}

namespace {

// What a rank speaks by.
class Ends {
public:
    Ends(transport::Threads& messages, int rank, const ThreadRanks& ranks)
        : own_(messages, rank, host_of(rank, ranks)),
          around_(ranks.around ? ranks.around(own_) : nullptr)
    {
    }
    transport::Endpoint& endpoint()
    {
        if (around_) return *around_;
        return own_;
    }

private:
    static std::string host_of(int rank, const ThreadRanks& ranks)
    {
        return ranks.hosts.empty() ? host_name() : ranks.hosts.at(static_cast<std::size_t>(rank));
    }
    transport::ThreadEndpoint own_;
    std::unique_ptr<transport::Endpoint> around_;
};

}  // namespace

End lead_threads(const Settings& settings, const Coordinator& coordinator, const ThreadRanks& ranks)
{
    const auto count = ranks_to_start(settings);
    transport::Threads messages(count);
    std::vector<std::jthread> others;  // joined when rank 0 has ended, of which they take note
    Ends own(messages, 0, ranks);
    for (int rank = 1; rank < count; ++rank)
        others.emplace_back([&, rank] {
            Ends ends(messages, rank, ranks);
            try {
                follow(settings, ends.endpoint(), never_stop);
            } catch (const transport::Died&) {
            } catch (...) {
                messages.fail(std::current_exception());
            }
        });
    return lead(settings, own.endpoint(), coordinator);
}

}  // namespace quorate
