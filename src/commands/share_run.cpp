// SPDX-License-Identifier: BSD-2-Clause
#include "commands/share_run.hpp"

#include <fmt/format.h>

#include "parts/components.hpp"
#include "ranks/owner_fleet.hpp"

namespace quorate {

void check_shares(const Training& training)
{
    const auto& settings = training.settings;
    if (settings.text("aggregate") != "shares") return;
    const auto refuse = [&](const std::string& why) {
        settings.refuse("aggregate", fmt::format(", but {}: use node or flat", why));
    };
    for (const char* option : {"checkpoint", "resilient"})
        if (settings.on(option))
            refuse(fmt::format("--{} needs the vectors at the coordinator", option));
    if (training.standby > 0)
        refuse("--standby gives dead workers' places to ranks of other hosts");
    if (settings.text("transport") != "shared") refuse("--transport messages shares no memory");
    if (settings.text("evaluate") == "live") refuse("--evaluate live needs whole models");
    if (!chosen(optimizers(), settings, "optimizer").properties.shares)
        refuse(fmt::format("--optimizer {} needs all parameters in one process",
                           settings.text("optimizer")));
}

namespace {

// What the engine of a share is to do: what the coordinator's does, but for what that one alone
// decides and writes.
EngineOptions options_of_share(const Training& training)
{
    auto options = training.engine;
    options.arrivals = Arrivals::none;
    options.churn = {};
    // If the code is not made again, the coordinator waits or ends the run.
    if (options.on_loss != OnLoss::reencode) options.on_loss = OnLoss::wait;
    return options;
}

}  // namespace

void own_share(Training& training, const Ownership& ownership, transport::Relay& relay, int ranks)
{
    training.settings.set("step", {ownership.step, "", false});
    const auto share = static_cast<std::size_t>(ownership.share);
    const auto optimizers =
        begin_training(training, ShareRange{static_cast<std::size_t>(ownership.shares.first(share)),
                                            ownership.shares.size(share)});
    OwnerFleet fleet(relay, ownership, training.wire, training.precision(), ranks);
    const auto sums = sums_over(fleet);
    for (const auto& optimizer : optimizers) optimizer->use_sums(sums);
    Stopping stopping(training.stop_rules, training.regularizer, sums);
    ModelSlices models(fleet);
    Engine engine(options_of_share(training), *training.coding->scheme, fleet, optimizers, models);
    fleet.begin();
    std::size_t updated = 0;  // the model of the last update
    engine.run(
        fleet.ended(),
        {.round =
             [&](const Progress& progress) { updated = static_cast<std::size_t>(progress.model); },
         .done = [&](const Update& update) { return stopping.done(update); }});
    // The coordinator also keeps the model of a round that turns out to be the last.
    if (const auto kept = fleet.end(); kept > models.last())
        models.keep(kept, std::make_shared<NumberVector>(optimizers[updated]->model()));
    for (std::size_t model = 0; model < optimizers.size(); ++model)
        fleet.send_model(-static_cast<std::int64_t>(model), optimizers[model]->model());
}

}  // namespace quorate
