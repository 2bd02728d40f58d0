// SPDX-License-Identifier: BSD-2-Clause
#include "simulation.hpp"

#include "engine/engine.hpp"
#include "fleet/virtual_fleet.hpp"
#include "support.hpp"

namespace quorate::test {

std::unique_ptr<Scheme> make_scheme(const std::string& name, const Problem& problem,
                                    const Options& given)
{
    const auto& one = entry(schemes(), name);
    auto all = settings(one.options, given);
    all.set("scheme", {name, "", true});
    return one.make(all, problem);
}

std::unique_ptr<DelayModel> make_delays(const std::string& text, int machines, std::uint64_t seed)
{
    const auto all = settings({{"delay", text}});
    return chosen(delays(), all, "delay").make(all, {.seed = seed, .machines = machines});
}

OwnedDelayModels make_stragglers(const Options& models, int machines, std::uint64_t seed)
{
    OwnedDelayModels made;
    for (const auto& one : delay_options) {
        const auto given = models.find(one.name);
        const auto all = settings({{one.name, given == models.end() ? "none" : given->second}});
        made.add(one, chosen(delays(), all, one.name)
                          .make(all, {.option = one.name,
                                      .neutral = one.neutral,
                                      .purpose = one.purpose,
                                      .seed = seed,
                                      .machines = machines}));
    }
    return made;
}

std::vector<double> Simulation::run() const
{
    const Problem problem{workers, rows_each * workers, seed, 0, row_time};
    const auto scheme_made = make_scheme(scheme, problem, options);
    const auto stragglers =
        make_stragglers({{"delay", delay}, {"slowdown", slowdown}}, workers, seed);
    const auto needs = scheme_made->needs();
    const Batches batches(needs, seed, 0);
    const ByzantineWorkers nobody;
    Recipes recipes(needs, batches, nobody, 0);
    VirtualFleet fleet(recipes, {stragglers.models(row_time), network});
    const auto none = settings(entry(optimizers(), "gd").options, {});
    std::vector<std::unique_ptr<Optimizer>> made;
    for (int model = 0; model < needs.models; ++model)
        made.push_back(entry(optimizers(), "gd").make(none, {}, {}));
    trace::NoSink nowhere;
    Engine engine({.rounds = rounds,
                   .evaluate_every = 0,
                   .arrivals = Arrivals::none,
                   .estimates = {.seed = seed}},
                  *scheme_made, fleet, made, nowhere);
    std::vector<double> seconds;
    double last = 0;
    const std::atomic<bool> stop = false;
    engine.run(stop, {.round = [&](const Progress& progress) {
                   seconds.push_back(progress.time - last);
                   last = progress.time;
               }});
    return seconds;
}

}  // namespace quorate::test
