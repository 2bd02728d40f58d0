// SPDX-License-Identifier: BSD-2-Clause
// The data set: one HDF5 file that `quorate import` and `quorate generate` write and runs read. Its
// layout:
//
//   /              format = "quorate data set", format_version = 2, name, columns, dense (0|1),
//                  ones (0|1: every stored value is one, and values are not stored),
//                  task (binary: labels are +1 and -1; multiclass: 0..classes-1; regression),
//                  classes (0 of a regression), image (CxHxW; empty: rows are not images),
//                  unlabelled (optional: rows whose label is NaN),
//                  content_sha256 (of all arrays and of what the attributes above say of them, the
//                  name and unlabelled aside),
//                  command_line, quorate_version, sources, sha256, options (INI text),
//                  eigenvalue, row_square (see data/curvature.hpp)
//   /train, /test  row_start (int64, rows + 1), column (int64, ascending in a row), value (double,
//                  absent if ones), label (double); dense: values (rows x columns, double), label.
//                  Attributes rows, entries.
//   /column        (optional) name, categorical (0|1): of each used column of the imported file
//   /feature/name  (optional) a name for each column
//   /class/name    (optional) a name for each class, if the labels of the file were words
//   /scaling       (optional) factor, shift: of each column of the imported file
//   /missing/mean  (optional) what stands for missing numbers of these columns
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "hdf5/hdf5.hpp"
#include "model/data_shape.hpp"

namespace quorate {

enum class Split { train, test };

/// Whether rows without labels are of use: to predict with, but not to train with.
enum class Unlabelled { refused, accepted };

/// Rows as read from a data set: compressed sparse rows, or dense ones.
struct RawRows {
    std::vector<std::int64_t> start;  // rows + 1, where each row's entries begin; empty if dense
    std::vector<Index> column;        // of each entry, ascending in a row
    std::vector<double> value;        // of each entry; empty if all are one
    std::vector<double> dense;        // rows x columns, row by row; empty if sparse
    std::vector<double> label;        // of each row
};

/// An open data set. Local: every rank opens the file for itself and reads only its rows. Functions
/// that read hold libraries() meanwhile, and throw BadInput if the file is damaged.
class DataSet {
public:
    /// Opens the file and reads its shape, not its rows.
    /// @throws BadInput if the file cannot be opened, is not a data set, is damaged or empty, or
    ///         has rows without labels that are refused
    explicit DataSet(const std::string& path, Unlabelled unlabelled = Unlabelled::refused);

    const std::string& path() const { return path_; }
    const std::string& name() const { return name_; }
    const DataShape& shape() const { return shape_; }
    std::int64_t columns() const { return shape_.columns; }
    bool dense() const { return shape_.dense; }
    /// Whether all stored values are one, and therefore not in the file.
    bool ones() const { return ones_; }
    std::int64_t rows(Split split) const
    {
        return split == Split::train ? train_.rows : test_.rows;
    }
    std::int64_t entries(Split split) const
    {
        return split == Split::train ? train_.entries : test_.entries;
    }
    /// Rows of both splits whose label is NaN, because their file had none.
    std::int64_t unlabelled() const { return unlabelled_; }
    /// Bytes that the training rows take in memory, about.
    double training_bytes() const
    {
        const double of_an_entry = dense() ? 8 : ones() ? 4 : 12;
        return of_an_entry * static_cast<double>(entries(Split::train));
    }
    /// Reads rows [first, first + count). Reads no other rows.
    /// @throws BadInput if labels or columns are impossible, if the entries are more than Index can
    ///         count, or if there are not that many rows
    RawRows read(Split split, std::int64_t first, std::int64_t count) const;
    /// Reads the same but values, for which read_values() finds a place.
    /// @return labels, and of sparse rows start and column
    RawRows read_structure(Split split, std::int64_t first, std::int64_t count) const;
    /// Reads the values of rows [first, first + count), which are not all one.
    /// @param to  receives them: of dense rows all elements, of sparse ones all entries, row by row
    void read_values(Split split, std::int64_t first, std::int64_t count,
                     std::span<double> to) const;
    /// Reads the labels of all rows of a split, and nothing else.
    std::vector<double> labels(Split split) const;
    /// Reads the names of the columns; empty if they have none.
    std::vector<std::string> features() const;
    /// Reads the columns of the imported file that were used: their names, and whether they are
    /// categorical; empty if they had no names.
    std::vector<std::pair<std::string, bool>> source_columns() const;
    /// Reads what the labels of the classes were in the imported file, as text, by the number of
    /// the class: -1 and 1 are classes 0 and 1. Empty for a regression.
    std::vector<std::string> class_names() const;
    /// Reads how the import scaled the columns of its file: the factors that numbers were
    /// multiplied with, and the shifts that were added then. Both are empty if it did not scale.
    std::pair<std::vector<double>, std::vector<double>> scaling() const;
    /// Reads what stood for missing numbers of each column of the imported file; empty if they were
    /// not replaced.
    std::vector<double> means() const;
    /// Reads all attributes of the file as text.
    std::map<std::string, std::string> attributes() const;

private:
    struct Size {
        std::int64_t rows = 0, entries = 0;
    };
    // Calls read(), and holds libraries() meanwhile.
    template <class Read>
    auto reading(Read read) const
    {
        const std::lock_guard lock(libraries());
        return h5::reading(path_, "import it again", read);
    }
    void read_shape();
    bool is_label(double label) const;
    RawRows structure(Split split, std::int64_t first, std::int64_t count) const;
    std::int64_t first_entry(const std::string& group, std::int64_t row) const;
    std::vector<std::string> names(const std::string& array, std::int64_t count) const;
    std::vector<double> read_labels(Split split, std::int64_t first, std::int64_t count) const;
    Size size_of(const std::string& group) const;

    std::string path_, name_;
    h5::File file_;
    DataShape shape_;
    bool ones_ = false;
    std::int64_t unlabelled_ = 0;
    Size train_, test_;
};

}  // namespace quorate
