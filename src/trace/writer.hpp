// SPDX-License-Identifier: BSD-2-Clause
// Writes the trace of a run to its file. The engine hands rows and iterates over at once. A thread
// of the writer writes and flushes them once a second, so that a slow file system does not slow a
// round and a `kill -9` loses at most the last second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/owner.hpp"
#include "hdf5/journal.hpp"
#include "hdf5/libraries.hpp"
#include "trace/sink.hpp"
#include "trace/table.hpp"

namespace quorate::trace {

/// The trace could not be written for too long; what it lacks is lost.
class Unsaved : public Failure {
public:
    using Failure::Failure;
};

/// The trace file of a running run, of which it is the owner (base/owner.hpp). Local. Holds
/// libraries() whenever it uses HDF5, since its own thread and those of workers use HDF5 too; so
/// must others from construction to end(), or call pause() first.
class Writer final : public Record {
public:
    /// Creates the file, or replaces the one that is there once the new one is whole.
    /// @param width  elements of an iterate
    /// @param owner  of the file; null: this object becomes it
    /// @throws BadInput if another process writes it  @throws Failure if it cannot be created
    Writer(const std::string& path, const Header& header, std::int64_t width,
           std::unique_ptr<Owner> owner = nullptr);
    /// Goes on with a trace from a position in it. Rows and iterates behind the position are cut
    /// off, and so is the final model. The rows of rounds go to /lost (trace/lost.hpp). All that is
    /// one commit.
    /// @param why  these rounds are lost
    /// @param changed  attributes that are no longer as they were
    /// @param width  elements of an iterate, as before; it is not checked
    /// @param owner  as above
    /// @throws BadInput if the file is absent, unreadable or not HDF5, or another process writes
    ///         it; Failure if it is shorter than the position, or lacks a table
    Writer(const std::string& path, const Position& position, const std::string& why,
           const Header& changed, std::int64_t width, std::unique_ptr<Owner> owner = nullptr);
    /// Without end(), writes what was added and the status `failed`, if they can be written.
    ~Writer() override;

    void add(const Row& row) override;
    Position position() override;
    /// From now on each commit is on disk when it ends, so that what comes after it may rely on it
    /// after a power loss.
    void be_durable();
    /// What cannot be written stays in memory and is tried again, once a second and for so long; by
    /// default it is not.
    /// @param gave_up  called then, on the writing thread; pause() throws Unsaved
    void try_for(double seconds, std::function<void()> gave_up);
    /// Runs `action` on the writing thread after its next commit, when all that was handed over so
    /// far is in the file. The action may use HDF5. It must not throw: that would end all writing.
    /// @param bytes  that it holds until then
    void after_commit(std::function<void()> action, std::size_t bytes = 0);

    /// Has what comes before a position written without waiting for the next second, once all of
    /// it was handed over. Returns at once. @return whether it is in the file
    bool write_up_to(const Position& position);

    /// Returns at once, unless the disk is far behind (iterates_in_memory).
    void keep(std::int64_t round, Iterate model) override;
    void put(std::int64_t round, VectorPiece piece) override;
    bool has_room(std::size_t bytes) override;
    void pause() override;
    std::int64_t iterates() const override { return rows_at(saved_, "iterate"); }
    /// Reads the iterate from the file, unless it is still in memory. O(width).
    Iterate iterate(std::int64_t i) const override;
    std::vector<std::int64_t> iterate_rounds() const override;
    /// Gives the final models their name, sets the status and closes the file.
    void end(const std::string& status, const std::string& stopped_at) override;

private:
    // What was handed over.
    struct Batch {
        Tables rows;
        std::vector<std::pair<std::int64_t, VectorPiece>> pieces;  // of models, by round
        std::vector<std::function<void()>> actions;
        std::size_t bytes_of_models = 0, bytes_of_actions = 0;
    };

    // The open file.
    struct Open {
        h5::File file;
        std::map<std::string, Table> tables;
        h5::Group iterates;
        h5::DataSet iterate_round, iterate_model;
        h5::DataSet final;  // once there is a piece of the final models
    };

    void begin(const std::function<void()>& open, const Header& header);
    void create();
    void open_again();
    void cut_off();
    void drop_open();
    void flush();
    void check_written() const;
    void write_in_background();
    bool commit(bool last);
    bool attempt(const std::function<void()>& write);
    void write_unsaved();
    void write(std::int64_t round, const VectorPiece& piece);
    const h5::DataSet& final(std::size_t elements);
    void wait_or_give_up(const std::string& why);
    std::size_t bytes_of_models() const;
    void hurry();

    std::string path_;
    std::int64_t width_;
    std::unique_ptr<Owner> owner_;
    h5::WriteAccess access_{.owner = &*owner_};
    std::optional<Open> open_;        // none after an attempt that failed
    Batch unsaved_;                   // what was handed over and is not in the file yet
    Position saved_;                  // where the last commit ended
    bool part_saved_ = false;         // whether it ended within an iterate, which is the next one
    std::vector<VectorPiece> last_;   // the iterates of pause()'s commit, which iterate() returns
    std::optional<double> patience_;  // seconds; none: what fails is not tried again
    // Since when attempts have failed.
    std::optional<std::chrono::steady_clock::time_point> failing_;
    std::function<void()> gave_up_;

    std::mutex mutex_;  // guards what follows, but the thread
    std::condition_variable wake_, caught_up_;
    Batch batch_;
    Position position_, written_;  // where what was handed over ends, and what is in the file
    bool pausing_ = false, hurried_ = false;
    std::size_t unsaved_models_ = 0, unsaved_actions_ = 0;  // bytes
    std::exception_ptr error_;                              // what ended writing in the background
    std::thread thread_;
};

}  // namespace quorate::trace
