// SPDX-License-Identifier: BSD-2-Clause
// Writes the trace of a run. Rows and iterates are handed over at once; a thread of its own writes
// and flushes them once a second, so that a slow file system never slows a round, and a `kill -9`
// loses at most the last second.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "trace/sink.hpp"
#include "trace/table.hpp"

namespace quorate::trace {

/// Local. Between construction and finish(), whoever else of this process uses HDF5 holds libraries(), or
/// calls pause() first.
class Writer final : public Record {
public:
    /// Creates the file, or replaces the trace that is there.
    /// @param width  elements of an iterate
    /// @throws Failure if it cannot be created
    Writer(const std::string& path, const Header& header, std::int64_t width);
    /// Goes on with a trace, from a position in it: what stands behind is cut off.
    /// @throws Failure if it is shorter than that, or not as wide
    Writer(const std::string& path, const Position& position, std::int64_t width);
    /// Without finish(): the status becomes `failed`, if that can be written.
    ~Writer() override;

    void add(const Row& row) override;
    Position position() override;
    /// Has `action` done by the writing thread, once all that was handed over so far is in the file. It
    /// may use HDF5; what it throws is for itself to catch.
    void after_commit(std::function<void()> action);

    /// Returns at once, unless the disk is far behind.
    void keep(std::int64_t round, Iterate model) override;
    void pause() override;
    std::int64_t iterates() const override { return iterates_; }
    /// Reads it back.
    Iterate iterate(std::int64_t i) const override;
    std::vector<std::int64_t> iterate_rounds() const override;
    /// Writes the final model, sets the status, closes.
    void finish(std::span<const double> model, const std::string& status) override;

private:
    // One table for each type of row.
    template <class... Rows>
    struct For {
        using Buffers = std::tuple<std::vector<Rows>...>;
        using Tables = std::tuple<Table<Rows>...>;
        template <class... How>
        static Tables tables(hid_t file, How... how)
        {
            return {Table<Rows>(file, how...)...};
        }
    };
    using All = For<Round, Arrival, ItemRow, Measure, Timer, Membership, Evaluation, WorkerRow>;
    struct Batch {
        All::Buffers rows;
        std::vector<std::pair<std::int64_t, Iterate>> iterates;
        std::vector<std::function<void()>> actions;
    };

    void write_in_background();
    void commit(bool last);

    std::string path_;
    h5::File file_;
    All::Tables tables_;
    h5::Group iterate_group_;
    h5::DataSet iterate_round_, iterate_model_;
    std::int64_t width_, iterates_ = 0;
    std::vector<Iterate> last_;  // the iterates of the last commit, for those who read them back

    std::mutex mutex_;
    std::condition_variable wake_, caught_up_;
    Batch batch_;
    Position position_;
    bool pausing_ = false;
    std::exception_ptr error_;
    std::thread thread_;
};

}  // namespace quorate::trace
