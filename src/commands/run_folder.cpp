// SPDX-License-Identifier: BSD-2-Clause
#include "commands/run_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "parts/plugins.hpp"
#include "run/training.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

// What options.ini leaves out: where the run's files are, so that a run with --config options.ini
// gets files of its own, and how its command was given.
constexpr const char* left_out[] = {"trace",  "checkpoint", "overwrite",
                                    "resume", "quiet",      "verbose"};

constexpr const char* of_times = "trace:";  // before the file of a delay model

bool is_run(const fs::path& folder)
{
    std::error_code error;
    return fs::exists(folder / run_file::options, error);
}

// Makes the paths of files absolute that options name. Whoever goes on with the run, or looks into
// its folder, may be elsewhere.
void use_absolute_paths(Settings& settings)
{
    const auto make_absolute = [&](const char* name) {
        const auto& text = settings.text(name);
        const std::string word = text.starts_with(of_times) ? of_times : "";
        const auto path = text.substr(word.size());
        std::error_code error;
        if (fs::is_regular_file(path, error))
            settings.set(name, {word + fs::absolute(path).string(), "", true});
    };
    for (const auto* name : {"data", "init", "row-time", "events"}) make_absolute(name);
    for (const auto& one : delay_options) make_absolute(one.name);
    if (const auto plugins = paths_of_plugins(); !plugins.empty())
        settings.set("plugin", {plugins, "", true});
}

// Makes the folder after the last one: DIR/0001, ... mkdir decides whose it is.
std::string make_next(const std::string& parent)
{
    std::error_code error;
    std::int64_t last = 0;
    for (const auto& entry : fs::directory_iterator(parent, error)) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") == std::string::npos)
            last = std::max(last, to_integer(name).value_or(0));
    }
    for (auto number = last + 1;; ++number) {
        auto folder = (fs::path(parent) / fmt::format("{:04}", number)).string();
        if (fs::create_directory(folder, error)) return folder;
        if (error)
            throw BadInput(
                fmt::format("--folder is {}, where no folder can be made ({}): give "
                            "another one",
                            parent, error.message()));
    }
}

std::string now()
{
    const auto time = std::chrono::system_clock::now();
    return fmt::format("{:%F %T}", fmt::localtime(std::chrono::system_clock::to_time_t(time)));
}

// The log of a run. Messages of any thread go there until the process ends.
struct Log {
    std::ofstream file;
    std::mutex mutex;

    void write(const std::string& text)
    {
        const std::lock_guard lock(mutex);
        file << now() << "  " << text << '\n' << std::flush;
    }
};

void open_log(const std::string& path, const std::string& command)
{
    const auto log = std::make_shared<Log>();
    log->file.open(path, std::ios::app);
    log->write(fmt::format("{} (quorate {}, {})", command, version, host_name()));
    log_also_to([log](LogLevel level, const std::string& text) {
        log->write((level == LogLevel::warning ? "warning: " : "") + text);
    });
}

}  // namespace

Option folder_option()
{
    return {"folder", "FOLDER", "",
            "make a folder for the run in this one, FOLDER/0001, ..., with its trace, checkpoint, "
            "options and log; with --resume: the folder of the run that is to go on"};
}

std::string options_to_resume(const Settings& settings)
{
    if (!settings.on("folder")) return "";
    const fs::path folder = settings.text("folder");
    if (!settings.on("resume") && is_run(folder))
        settings.refuse("folder",
                        ", the folder of a run: add --resume to go on with it, or give the "
                        "one above for a new run");
    if (!settings.on("resume")) return "";
    if (!is_run(folder))
        settings.refuse("folder",
                        fmt::format(", which holds no {} of a run: name the folder of the "
                                    "run that is to go on, as runs/0003",
                                    run_file::options));
    return (folder / run_file::options).string();
}

std::optional<int> workers_to_resume(const Settings& settings, bool in_memory)
{
    if (!settings.on("resume")) return {};
    const fs::path folder = settings.text("folder");
    if (!folder.empty())
        return began_with((folder / run_file::trace).string(),
                          (folder / run_file::checkpoint).string(), in_memory);
    return began_with(settings.text("trace"), settings.text("checkpoint"), in_memory);
}

std::string trace_in(const std::string& path)
{
    const auto trace = fs::path(path) / run_file::trace;
    std::error_code error;
    return fs::exists(trace, error) ? trace.string() : path;
}

std::string how_to_resume(const std::string& trace)
{
    const auto folder = fs::absolute(trace).parent_path();
    return is_run(folder) ? fmt::format("--folder {} --resume", quoted(folder.string()))
                          : "the same command with --resume";
}

RunFolder::RunFolder(const Settings& given) : settings_(given)
{
    if (given.on("log")) given.one_of("log", {"workers"});
    if (!given.on("folder")) return;
    for (const auto* name : {"trace", "checkpoint"})
        if (given.given(name))
            given.refuse(name, ", but --folder says where files are: leave out one of the two");
    if (given.on("overwrite"))
        throw BadInput(
            "--folder makes a new folder, so there is nothing to --overwrite: leave out "
            "one of the two");
}

std::optional<Resumption> RunFolder::prepare(const Training& training, const NextState& next)
{
    if (!settings_.on("folder")) return resumption(settings_, training, owner_, next);
    const bool resume = settings_.on("resume");
    const auto parent = settings_.text("folder");
    bool new_parent = false;
    if (!resume) {
        std::error_code error;
        new_parent = fs::create_directories(parent, error);
        if (error)
            settings_.refuse("folder", fmt::format(", which cannot be made ({}): give another one",
                                                   error.message()));
    }
    folder_ = resume ? parent : make_next(parent);
    try {
        open_log((fs::path(folder_) / run_file::log).string(), settings_.command_line);
        const auto place = [&](const char* name, const char* file) {
            settings_.set(name, {(fs::path(folder_) / file).string(), "", true});
        };
        place("trace", run_file::trace);
        // A dry run takes no time worth keeping; without all contributions none can go on.
        if (training.data && training.engine.arrivals == Arrivals::all)
            place("checkpoint", run_file::checkpoint);
        for (const auto* name : {"folder", "config"})
            if (settings_.has(name)) settings_.set(name, {"", "", false});
        use_absolute_paths(settings_);
        auto resumed = resumption(settings_, training, owner_, next);
        if (!resume) {
            auto options = settings_;
            for (const auto* name : left_out) options.set(name, {"", "", false});
            write_file((fs::path(folder_) / run_file::options).string(),
                       fmt::format("# {}\n{}", one_line(settings_.command_line),
                                   configuration(options, !training.data)));
        }
        return resumed;
    } catch (...) {
        std::error_code error;
        if (!resume) fs::remove_all(folder_, error);
        if (new_parent) fs::remove(parent, error);
        throw;
    }
}

int RunFolder::ended(int status) const
{
    if (!folder_.empty()) log(LogLevel::detail, fmt::format("the run ends with status {}", status));
    return status;
}

}  // namespace quorate
