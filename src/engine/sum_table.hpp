// SPDX-License-Identifier: BSD-2-Clause
// The table of contributions whose sum steps add (Fill, Step::table).
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// The slots of the table, and the tree in which their sum is formed: each node of the lowest level
/// adds up `fan` neighbouring slots in their order, each node above `fan` nodes. So the sum follows
/// from what the slots hold, not from how they came to hold it, and a step forms anew only the
/// nodes above slots that have changed. Nodes are numbered from the lowest level on; the last one
/// is the root. Knows no vectors. Local.
class SumTable {
public:
    static constexpr int fan = 16;

    /// What a round's row in the trace says of contributions.
    struct Totals {
        std::int64_t count = 0, samples = 0;
        double updates =
            0;  // that their model had had where they were taken; of several items, on average
        std::int64_t oldest = std::numeric_limits<std::int64_t>::max();  // update of their items
        void add(const Totals& other)
        {
            count += other.count;
            samples += other.samples;
            updates += other.updates;
            oldest = std::min(oldest, other.oldest);
        }
    };
    /// A contribution in a slot.
    struct Entry {
        ContributionId id;
        std::size_t handle;  // the fleet's name for its values
        Worker worker;
        Totals totals;
    };
    using Entries = boost::container::small_vector<Entry, 1>;
    struct Slot {
        double weight = 0;
        Entries entries = {};
    };

    /// An empty table of so many slots, all of whose nodes have changed. O(slots).
    explicit SumTable(int slots);

    int slots() const { return static_cast<int>(slots_.size()); }
    const Slot& slot(int number) const { return slots_[static_cast<std::size_t>(number)]; }
    /// How many nodes a table of so many slots has.
    static std::int64_t nodes(std::int64_t slots);
    int nodes() const { return static_cast<int>(totals_.size()); }
    /// Whether the children of a node are slots; else they are nodes.
    bool is_lowest(int node) const { return node < levels_[0].end; }
    /// The children of a node, first..last-1.
    std::pair<int, int> children(int node) const;

    /// Fills a slot, in place of what it holds. O(entries).
    void fill(int slot, double weight, Entries entries);
    /// Takes a contribution out of its slot. O(entries of the slot).
    void remove(int slot, ContributionId id);
    /// Gives entries other handles. @param handle_of  a function of the id  O(slots).
    template <class F>
    void rename(F handle_of)
    {
        for (auto& slot : slots_)
            for (auto& one : slot.entries) one.handle = handle_of(one.id);
    }

    /// The totals of all slots. O(fan x nodes above slots that have changed since the last call).
    const Totals& totals();
    /// Of the nodes, as totals() has left them.
    const Totals& totals(int node) const { return totals_[static_cast<std::size_t>(node)]; }
    /// Returns the nodes that have changed since the last call, children before parents. After
    /// totals().
    std::vector<int> take_changed();

    /// How many workers have a contribution in the table.
    int workers() const { return workers_; }
    bool has(Worker worker) const
    {
        return worker < std::ssize(of_worker_) && of_worker_[static_cast<std::size_t>(worker)] > 0;
    }

private:
    // Nodes begin..end-1. The children of the first begin at `below`, in the numbers of slots or
    // nodes.
    struct Level {
        int begin, end, below, below_end;
        std::vector<int> dirty = {};  // whose totals are to be formed anew
    };
    void mark(std::size_t level, int child);
    void count(const Entries& entries, int by);

    std::vector<Slot> slots_;
    std::vector<Level> levels_;
    std::vector<Totals> totals_;         // by node
    std::vector<char> dirty_, changed_;  // by node: whether it is in the level's list; in the next
    std::vector<int> changed_nodes_;
    std::vector<int> of_worker_;  // contributions in the table
    int workers_ = 0;
};

}  // namespace quorate
