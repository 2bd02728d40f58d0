// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/glance.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "trace/rows.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

std::int64_t rows_of(hid_t file, const std::string& column)
{
    return h5::has(file, column) ? h5::rows_of(file, column) : 0;
}

// Fills in what the table of rounds tells.
void look_at_rounds(hid_t file, Glance& glance)
{
    constexpr std::int64_t recent = 50;
    glance.rounds = rows_of(file, "round/time");
    if (glance.rounds == 0) return;
    const auto first = std::max<std::int64_t>(0, glance.rounds - recent - 1);
    const auto times = h5::read<double>(file, "round/time", first, glance.rounds - first);
    glance.seconds = times.back();
    // Before the first round of all the time is 0.
    const double begin = first == 0 ? 0 : times.front();
    const auto count = glance.rounds - first - (first == 0 ? 0 : 1);
    glance.round_seconds = (times.back() - begin) / static_cast<double>(count);
    if (rows_of(file, "round/loss_estimate") >= glance.rounds &&
        !h5::find_string(file, "data").empty())
        glance.loss = h5::read<double>(file, "round/loss_estimate", glance.rounds - 1, 1)[0];
}

// Rows are in any order, because models are scored during the run and after it.
void look_at_scores(hid_t file, Glance& glance)
{
    const auto count =
        std::min(rows_of(file, "evaluation/round"), rows_of(file, "evaluation/train_loss"));
    if (count == 0) return;
    const auto rounds = h5::read<std::int64_t>(file, "evaluation/round", 0, count);
    const auto last = std::ranges::max_element(rounds) - rounds.begin();
    glance.loss = h5::read<double>(file, "evaluation/train_loss", last, 1)[0];
}

void look_for_deaths(hid_t file, Glance& glance)
{
    const auto count =
        std::min(rows_of(file, "membership/worker"), rows_of(file, "membership/kind"));
    if (count == 0) return;
    const auto workers = h5::read<std::int64_t>(file, "membership/worker", 0, count);
    const auto kinds = h5::read<std::int64_t>(file, "membership/kind", 0, count);
    std::set<std::int64_t> dead;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (kinds[i] == static_cast<std::int64_t>(trace::Change::died)) dead.insert(workers[i]);
    glance.lost = std::ssize(dead);
}

Glance look(const std::string& path)
{
    const std::lock_guard lock(libraries());
    const auto file = h5::open(path);
    return h5::reading(path, "if it is being written, try again", [&] {
        Glance glance{.status = h5::find_string(file.get(), "status"),
                      .clock = h5::find_string(file.get(), "clock"),
                      .job = h5::find_string(file.get(), "scheduler_job_id")};
        if (h5::has_attribute(file.get(), "rounds"))
            glance.rounds_wanted = h5::read_integer(file.get(), "rounds");
        look_at_rounds(file.get(), glance);
        look_at_scores(file.get(), glance);
        look_for_deaths(file.get(), glance);
        return glance;
    });
}

}  // namespace

std::optional<Glance> glance(const std::string& trace)
{
    std::error_code error;
    if (!fs::exists(trace, error)) return std::nullopt;
    const auto changed = fs::last_write_time(trace, error);
    const std::chrono::duration<double> age = fs::file_time_type::clock::now() - changed;
    constexpr int tries = 3;
    for (int i = 1;; ++i) {
        try {
            auto found = look(trace);
            found.age = age.count();
            return found;
        } catch (const std::runtime_error&) {
            if (i == tries) throw;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
}

}  // namespace quorate
