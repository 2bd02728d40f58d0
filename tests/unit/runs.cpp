// SPDX-License-Identifier: BSD-2-Clause
#include "runs.hpp"

#include <algorithm>
#include <filesystem>

#include "commands/run.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "same_trace.hpp"
#include "trace/reader.hpp"

namespace quorate::test {

DataSets::DataSets()
{
    command("generate --quiet --rows 203 --columns 12 --test-rows 41 --seed 3 --output " + dense);
    command(
        "generate --quiet --rows 400 --columns 5000 --nnz-per-row 20 --test-rows 40 --seed 5 "
        "--output " +
        sparse);
    command(
        "generate --quiet --rows 400 --columns 9000 --nnz-per-row 30 --test-rows 40 --seed 5 "
        "--output " +
        wide);
}

const DataSets& data_sets()
{
    static const DataSets sets;
    return sets;
}

Result::Result(const std::string& path) : trace(trace::read(path))
{
    const auto file = h5::open(path);
    const auto kept = h5::shape(file.get(), "iterate/model").at(0);
    iterates = h5::read_rows<double>(file.get(), "iterate/model", 0, kept);
    model = h5::read<double>(file.get(), "model/final");
}

void expect_same(const Result& a, const Result& b, const std::set<std::string>& but)
{
    expect_same_rows(a.trace.rounds, b.trace.rounds, but);
    expect_same_rows(a.trace.arrivals, b.trace.arrivals, but);
    expect_same_rows(a.trace.items, b.trace.items, but);
    expect_same_rows(a.trace.measures, b.trace.measures, but);
    expect_same_rows(a.trace.membership, b.trace.membership, but);
    expect_same_rows(a.trace.evaluations, b.trace.evaluations, but);
    EXPECT_TRUE(same_bits(a.iterates, b.iterates));
    EXPECT_TRUE(same_bits(a.model, b.model));
}

const std::set<std::string>& of_messages()
{
    static const std::set<std::string> columns = {"wait", "bytes_sent", "bytes_received", "bytes",
                                                  "waste"};
    return columns;
}

Said run_on_threads(const std::string& words, const ThreadRanks& ranks)
{
    return command(words_in("run " + words), [&](const Settings& settings) {
        return quorate::run_on_threads(settings, ranks);
    });
}

int ranks_of(const Way& way)
{
    const auto words = words_in(way.words(""));
    const auto at = std::ranges::find(words, "--workers");
    return 1 + std::stoi(*(at + 1));
}

Killed::Killed(const Folder& folder, const std::string& verb, const std::string& words)
    : trace(folder.file("killed.h5")), checkpoint_(folder.file("killed.checkpoint"))
{
    run_ = verb + " --quiet --checkpoint-every 7r --checkpoint " + checkpoint_ + " --trace " +
           trace + " " + words;
    said_ = command(run_);
    EXPECT_EQ(said_.status, 0) << said_.text;
    cut();
}

Killed::Killed(const Folder& folder, const std::string& words, const std::string& more,
               const ThreadRanks& ranks)
    : trace(folder.file("killed.h5")), checkpoint_(folder.file("killed.checkpoint")),
      threads_("--quiet --checkpoint-every 7r --checkpoint " + checkpoint_ + " --trace " + trace +
               " " + words),
      said_(run_on_threads(threads_ + " " + more, ranks))
{
    if (said_.status == 0) cut();
}

void Killed::cut() const
{
    std::filesystem::rename(checkpoint_ + ".1", checkpoint_);
    const h5::File file(H5Fopen(trace.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), "open " + trace);
    h5::write_attribute(file.get(), "status", std::string("running"));
}

}  // namespace quorate::test
