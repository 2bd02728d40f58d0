// SPDX-License-Identifier: BSD-2-Clause
// Writes the trace of a run to its file. The engine hands rows and iterates over at once. A thread
// of the writer writes and flushes them once a second, so that a slow file system does not slow a
// round and a `kill -9` loses at most the last second.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "data/libraries.hpp"
#include "trace/sink.hpp"
#include "trace/table.hpp"

namespace quorate::trace {

/// The trace file of a running run. Local. Holds libraries() whenever it uses HDF5, since its own thread and those of
/// workers use HDF5 too; so must others from construction to finish(), or call pause() first.
class Writer final : public Record {
public:
    /// Creates the file, or replaces the one that is there.
    /// @param width  elements of an iterate
    /// @throws Failure if it cannot be created
    Writer(const std::string& path, const Header& header, std::int64_t width);
    /// Goes on with a trace from a position in it. Rows and iterates behind the position are cut
    /// off, and so is the final model.
    /// @param changed  attributes that are no longer as they were
    /// @param width  elements of an iterate, as before; it is not checked
    /// @throws BadInput if the file is absent, unreadable or not HDF5; Failure if it is shorter
    ///         than the position, or lacks a table
    Writer(const std::string& path, const Position& position, const Header& changed,
           std::int64_t width);
    /// Without finish(), writes what was added and the status `failed`, if they can be written.
    ~Writer() override;

    void add(const Row& row) override;
    Position position() override;
    /// Runs `action` on the writing thread after its next commit, when all that was handed over so
    /// far is in the file. The action may use HDF5. It must not throw: that would end all writing.
    void after_commit(std::function<void()> action);

    /// Returns at once, unless the disk is far behind (iterates_in_memory).
    void keep(std::int64_t round, Iterate model) override;
    void pause() override;
    std::int64_t iterates() const override { return iterates_; }
    /// Reads the iterate from the file, unless it is still in memory. O(width).
    Iterate iterate(std::int64_t i) const override;
    std::vector<std::int64_t> iterate_rounds() const override;
    /// Writes the final model, sets the status and closes the file.
    void finish(std::span<const double> model, const std::string& status,
                const std::string& stopped_at) override;

private:
    // Makes a buffer and a table for each type of row.
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
    // What was handed over since the last commit.
    struct Batch {
        All::Buffers rows;
        std::vector<std::pair<std::int64_t, Iterate>> iterates;
        std::vector<std::function<void()>> actions;
    };

    // Bytes of the iterates in the batch. Under the mutex.
    std::size_t waiting_bytes() const
    {
        return batch_.iterates.size() * static_cast<std::size_t>(width_) * sizeof(double);
    }
    void write_in_background();
    void commit(bool last);

    std::string path_;
    std::unique_lock<std::recursive_mutex> constructing_{
        libraries()};  // until the constructor ends
    h5::File file_;
    All::Tables tables_;
    h5::Group iterate_group_;
    h5::DataSet iterate_round_, iterate_model_;
    std::int64_t width_, iterates_ = 0;
    std::vector<Iterate> last_;  // the iterates of pause()'s commit, which iterate() returns

    std::mutex mutex_;  // guards what follows, but the thread
    std::condition_variable wake_, caught_up_;
    Batch batch_;
    Position position_;
    bool pausing_ = false;
    std::exception_ptr error_;  // what ended writing in the background
    std::thread thread_;
};

}  // namespace quorate::trace
