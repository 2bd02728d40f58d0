// SPDX-License-Identifier: BSD-2-Clause
#include "quorate/petsc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <mutex>
#include <system_error>

#include "data/petsc.hpp"
#include "hdf5/libraries.hpp"
#include "quorate/given.hpp"
#include "transport/mpi.hpp"

namespace quorate {

namespace {

// Entries that a broadcast has, about: a megabyte.
constexpr std::int64_t entries_at_once = 65536;

// A communicator of our own, so that messages never meet the program's.
class Ranks {
public:
    explicit Ranks(MPI_Comm of) { mpi::check(MPI_Comm_dup(of, &comm_), "MPI_Comm_dup"); }
    // The ranks of this one that share a host with it.
    static Ranks of_host(const Ranks& all)
    {
        MPI_Comm shared = MPI_COMM_NULL;
        mpi::check(MPI_Comm_split_type(all.comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared),
                   "MPI_Comm_split_type");
        return Ranks(shared, 0);
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    ~Ranks() { MPI_Comm_free(&comm_); }

    int rank() const
    {
        int rank = 0;
        mpi::check(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
        return rank;
    }
    int size() const
    {
        int size = 0;
        mpi::check(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
        return size;
    }
    // Collective, like all below. Whether all ranks say so.
    bool all(bool said) const
    {
        int value = said ? 1 : 0;
        mpi::check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, comm_),
                   "MPI_Allreduce");
        return value != 0;
    }
    template <class T>
    void broadcast(T* values, std::int64_t count, int from) const
    {
        constexpr std::int64_t most = std::int64_t{1} << 24;  // MPI counts with int
        for (std::int64_t i = 0; i < count; i += most) {
            const auto bytes = std::min(most, count - i) * std::int64_t{sizeof(T)};
            mpi::check(MPI_Bcast(values + i, static_cast<int>(bytes), MPI_BYTE, from, comm_),
                       "MPI_Bcast");
        }
    }
    // The text of the first rank that has one, on all; empty: none has.
    std::string first_of(std::string text) const
    {
        int who = text.empty() ? size() : rank();
        mpi::check(MPI_Allreduce(MPI_IN_PLACE, &who, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
        return who == size() ? std::string() : told(std::move(text), who);
    }
    // The text of a rank, on all.
    std::string told(std::string text, int from) const
    {
        auto length = std::ssize(text);
        broadcast(&length, 1, from);
        text.resize(static_cast<std::size_t>(length));
        broadcast(text.data(), length, from);
        return text;
    }

private:
    Ranks(MPI_Comm made, int) : comm_(made) {}
    MPI_Comm comm_ = MPI_COMM_NULL;
};

// A matrix and its labels. Functions that call PETSc hold libraries().
class MatrixPart {
public:
    // @param split  "training" or "test", for messages
    MatrixPart(Mat rows, Vec labels, std::string split)
        : matrix_(rows), vector_(labels), split_(std::move(split))
    {
        petsc::check(MatGetSize(rows, &rows_, &columns_), "MatGetSize");
        petsc::check(MatGetOwnershipRange(rows, &begin_, &end_), "MatGetOwnershipRange");
        PetscBool is = PETSC_FALSE;
        petsc::check(
            PetscObjectBaseTypeCompareAny(as_object(rows), &is, MATSEQDENSE, MATMPIDENSE, ""),
            "PetscObjectBaseTypeCompareAny");
        dense_ = is == PETSC_TRUE;
    }
    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    bool dense() const { return dense_; }

    // What is wrong with what this rank holds; empty: nothing. Local.
    std::string wrong() const
    {
        PetscBool is = PETSC_FALSE;
        petsc::check(PetscObjectBaseTypeCompareAny(as_object(matrix_), &is, MATSEQAIJ, MATMPIAIJ,
                                                   MATSEQDENSE, MATMPIDENSE, ""),
                     "PetscObjectBaseTypeCompareAny");
        if (!is) {
            MatType type = nullptr;
            petsc::check(MatGetType(matrix_, &type), "MatGetType");
            return fmt::format(
                "the {} rows are a matrix of type {}: turn it into one of type aij "
                "or dense (MatConvert)",
                split_, type ? type : "none");
        }
        petsc::check(MatAssembled(matrix_, &is), "MatAssembled");
        if (!is)
            return fmt::format("the matrix of the {} rows is not assembled: call MatAssemblyEnd",
                               split_);
        PetscInt count = 0, begin = 0, end = 0;
        petsc::check(VecGetSize(vector_, &count), "VecGetSize");
        petsc::check(VecGetOwnershipRange(vector_, &begin, &end), "VecGetOwnershipRange");
        if (count != rows_)
            return fmt::format("the {} rows are {}, but there are {} labels", split_, rows_, count);
        if (begin != begin_ || end != end_)
            return fmt::format(
                "a rank holds the {} rows {} to {}, but the labels {} to {}: "
                "distribute them alike (MatCreateVecs)",
                split_, begin_, end_, begin, end);
        return not_finite();
    }

    // Whether all stored numbers of this rank are one. Local.
    bool ones() const
    {
        bool ones = !dense_;
        each_row([&](PetscInt, std::span<const PetscInt>, std::span<const double> values) {
            ones = ones && std::ranges::all_of(values, [](double one) { return one == 1; });
        });
        return ones;
    }

    // Adds the labels of all rows. Collective. O(labels) messages of a rank.
    void gather_labels(const Ranks& ranks, std::vector<double>& all) const
    {
        const auto first = all.size();
        all.resize(first + static_cast<std::size_t>(rows_));
        const PetscInt* range = nullptr;
        petsc::check(MatGetOwnershipRanges(matrix_, &range), "MatGetOwnershipRanges");
        const double* mine = nullptr;
        petsc::check(VecGetArrayRead(vector_, &mine), "VecGetArrayRead");
        std::copy_n(mine, end_ - begin_, all.data() + first + begin_);
        petsc::check(VecRestoreArrayRead(vector_, &mine), "VecRestoreArrayRead");
        for (int rank = 0; rank < ranks.size(); ++rank)
            for (std::int64_t i = range[rank]; i < range[rank + 1]; i += entries_at_once)
                ranks.broadcast(all.data() + first + i,
                                std::min<std::int64_t>(entries_at_once, range[rank + 1] - i), rank);
    }

    // A row with its place: columns (none if dense) and values.
    using Add =
        std::function<void(std::int64_t, std::span<const PetscInt>, std::span<const double>)>;

    // Calls a function on all ranks with each row of the matrix, in its order. Collective.
    void stream(const Ranks& ranks, const Add& add) const
    {
        const PetscInt* range = nullptr;
        petsc::check(MatGetOwnershipRanges(matrix_, &range), "MatGetOwnershipRanges");
        for (int rank = 0; rank < ranks.size(); ++rank)
            for (std::int64_t row = range[rank]; row < range[rank + 1];)
                row = pass_on(ranks, rank, row, range[rank + 1], add);
    }

private:
    template <class Petsc>
    static PetscObject as_object(Petsc object)
    {
        return reinterpret_cast<PetscObject>(object);
    }

    // Calls a function with a row that this rank holds.
    template <class Use>
    void with_row(PetscInt row, Use use) const
    {
        PetscInt count = 0;
        const PetscInt* columns = nullptr;
        const double* values = nullptr;
        petsc::check(MatGetRow(matrix_, row, &count, &columns, &values), "MatGetRow");
        const auto length = static_cast<std::size_t>(count);
        use(row, std::span(columns, length), std::span(values, length));
        petsc::check(MatRestoreRow(matrix_, row, &count, &columns, &values), "MatRestoreRow");
    }
    template <class Use>
    void each_row(Use use) const
    {
        for (auto row = begin_; row < end_; ++row) with_row(row, use);
    }

    std::string not_finite() const
    {
        std::string text;
        const double* labels = nullptr;
        petsc::check(VecGetArrayRead(vector_, &labels), "VecGetArrayRead");
        for (auto row = begin_; row < end_ && text.empty(); ++row)
            if (const double label = labels[row - begin_]; !std::isfinite(label))
                text = fmt::format("label {} of the {} rows is {}: give finite numbers", row,
                                   split_, label);
        petsc::check(VecRestoreArrayRead(vector_, &labels), "VecRestoreArrayRead");
        each_row(
            [&](PetscInt row, std::span<const PetscInt> columns, std::span<const double> values) {
                for (std::size_t i = 0; i < values.size() && text.empty(); ++i)
                    if (!std::isfinite(values[i]))
                        text = fmt::format(
                            "row {} of the {} rows has {} in column {}: give finite "
                            "numbers",
                            row, split_, values[i], columns[i]);
            });
        return text;
    }

    // Passes some rows of a rank on to all. @return the row after them
    std::int64_t pass_on(const Ranks& ranks, int from, std::int64_t row, std::int64_t end,
                         const Add& add) const
    {
        std::vector<std::int64_t> counts;
        std::vector<PetscInt> columns;
        std::vector<double> values;
        if (ranks.rank() == from)
            for (auto i = row; i < end && std::ssize(values) < entries_at_once &&
                               std::ssize(counts) < entries_at_once;
                 ++i)
                with_row(static_cast<PetscInt>(i), [&](PetscInt, auto of_row, auto numbers) {
                    counts.push_back(std::ssize(numbers));
                    values.insert(values.end(), numbers.begin(), numbers.end());
                    if (!dense_) columns.insert(columns.end(), of_row.begin(), of_row.end());
                });
        std::int64_t sizes[] = {std::ssize(counts), std::ssize(values), std::ssize(columns)};
        ranks.broadcast(sizes, std::size(sizes), from);
        const auto sent = [&](auto& all, std::int64_t size) {
            all.resize(static_cast<std::size_t>(size));
            ranks.broadcast(all.data(), size, from);
        };
        sent(counts, sizes[0]);
        sent(values, sizes[1]);
        sent(columns, sizes[2]);
        std::size_t at = 0;
        for (const auto count : counts) {
            const auto length = static_cast<std::size_t>(count);
            add(row++,
                dense_ ? std::span<const PetscInt>() : std::span(columns).subspan(at, length),
                std::span(values).subspan(at, length));
            at += length;
        }
        return row;
    }

    Mat matrix_;
    Vec vector_;
    std::string split_;
    PetscInt rows_ = 0, columns_ = 0, begin_ = 0, end_ = 0;
    bool dense_ = false;
};

// The file of a host. One rank of the host writes it; the others only take part in what is
// collective. The first error is kept until the end, because the other ranks wait for this one.
class HostFile {
public:
    explicit HostFile(bool writes) : writes_(writes) {}

    // Does something that may fail, if this rank writes and nothing has failed.
    template <class Step>
    void attempt(Step step)
    {
        if (!writes_ || !error_.empty()) return;
        try {
            step();
        } catch (const std::exception& error) {
            error_ = error.what();
        }
    }
    void write(const MatrixPart& part, const Ranks& ranks, Split split,
               std::span<const double> labels)
    {
        attempt([&] { writer->begin(split); });
        std::vector<std::pair<std::int64_t, double>> entries;
        part.stream(ranks, [&](std::int64_t row, std::span<const PetscInt> columns,
                               std::span<const double> values) {
            attempt([&] {
                const auto label = labels[static_cast<std::size_t>(row)];
                if (part.dense()) return writer->add(values, label);
                entries.clear();
                for (std::size_t i = 0; i < values.size(); ++i)
                    entries.emplace_back(columns[i], values[i]);
                writer->add(entries, label);
            });
        });
    }
    const std::string& error() const { return error_; }

    std::optional<DataSetWriter> writer;

private:
    bool writes_;
    std::string error_;
};

// Refuses what is wrong on any rank, on all of them.
void check_parts(const Ranks& ranks, const std::vector<MatrixPart>& parts)
{
    std::string wrong;
    const auto& train = parts.front();
    if (train.rows() < 1 || train.columns() < 1)
        wrong = fmt::format("the matrix is {} x {}: give some rows and columns", train.rows(),
                            train.columns());
    for (const auto& part : parts) {
        if (wrong.empty()) wrong = part.wrong();
        if (wrong.empty() && (part.columns() != train.columns() || part.dense() != train.dense()))
            wrong = fmt::format(
                "the training rows are a {} matrix of {} columns, the test rows a "
                "{} one of {}: give both alike",
                train.dense() ? "dense" : "sparse", train.columns(),
                part.dense() ? "dense" : "sparse", part.columns());
    }
    wrong = ranks.first_of(wrong);
    if (!wrong.empty()) throw BadInput(wrong);
}

bool congruent(const Ranks& ranks, MPI_Comm one, MPI_Comm other)
{
    int result = MPI_UNEQUAL;
    mpi::check(MPI_Comm_compare(one, other, &result), "MPI_Comm_compare");
    return ranks.all(result == MPI_IDENT || result == MPI_CONGRUENT);
}

// Gives every rank of a host a name of its own for the file of the first one, so that each may
// remove it when it is done. Collective. @throws Failure on all ranks
void share(const Ranks& ranks, const Ranks& host, const std::string& path)
{
    const auto first = host.told(path, 0);
    std::error_code error;
    if (host.rank() != 0) std::filesystem::create_hard_link(first, path, error);
    const auto failed = ranks.first_of(
        error ? fmt::format("{} cannot be linked to {}: {}", first, path, error.message()) : "");
    if (!failed.empty()) throw Failure(failed);
}

// Writes the file of each host. Collective. @return this rank's name for it
// @throws Failure on all ranks
std::shared_ptr<const TemporaryData> written(const Ranks& ranks,
                                             const std::vector<MatrixPart>& parts,
                                             const Labels& labels, const std::string& name,
                                             const DataShape& shape)
{
    const bool ones = ranks.all(std::ranges::all_of(parts, &MatrixPart::ones));
    const auto host = Ranks::of_host(ranks);
    std::shared_ptr<TemporaryData> temporary;
    std::string failed;
    try {
        temporary = std::make_shared<TemporaryData>();
    } catch (const std::exception& error) {
        failed = error.what();
    }
    if (failed = ranks.first_of(failed); !failed.empty()) throw Failure(failed);
    HostFile file(host.rank() == 0);
    file.attempt([&] { file.writer.emplace(temporary->path(), name, shape, ones, false); });
    const auto values = std::span(labels.value);
    const auto train = static_cast<std::size_t>(parts[0].rows());
    file.write(parts[0], ranks, Split::train, values.first(train));
    if (parts.size() > 1)
        file.write(parts[1], ranks, Split::test, values.subspan(train));
    else
        file.attempt([&] { file.writer->begin(Split::test); });
    file.attempt([&] { finish(*file.writer, labels); });
    if (failed = ranks.first_of(file.error()); !failed.empty()) throw Failure(failed);
    share(ranks, host, temporary->path());
    return temporary;
}

}  // namespace

inline namespace QUORATE_ABI {

Data data_of(Mat rows, Vec labels, Mat test_rows, Vec test_labels, const DataOptions& options)
{
    const std::lock_guard lock(libraries());
    const auto comm = PetscObjectComm(reinterpret_cast<PetscObject>(rows));
    const Ranks ranks(comm);
    if (!test_rows != !test_labels)
        throw BadInput("test rows need a matrix and a vector: give both, or none");
    std::vector<std::pair<Mat, Vec>> given = {{rows, labels}};
    if (test_rows) given.emplace_back(test_rows, test_labels);
    std::vector<MatrixPart> parts;
    for (const auto& [matrix, vector] : given) {
        for (const auto object :
             {reinterpret_cast<PetscObject>(matrix), reinterpret_cast<PetscObject>(vector)})
            if (!congruent(ranks, comm, PetscObjectComm(object)))
                throw BadInput(
                    "matrices and vectors are distributed over different ranks: make "
                    "them with one communicator");
        parts.emplace_back(matrix, vector, parts.empty() ? "training" : "test");
    }
    check_parts(ranks, parts);

    std::vector<double> all;
    for (const auto& part : parts) part.gather_labels(ranks, all);
    const auto stored = stored_labels(all, parts[0].rows(), options);
    auto shape = shape_of(options, parts[0].columns(), parts[0].dense());
    shape.task = stored.task;
    shape.classes = std::ssize(stored.class_names);
    return Data(written(ranks, parts, stored, options.name, shape));
}

std::optional<Trace> run(Mat rows, Vec labels, const Options& options, const Components& components)
{
    return run(data_of(rows, labels), options, components);
}

Trace simulate(Mat rows, Vec labels, const Options& options, const Components& components)
{
    return simulate(data_of(rows, labels), options, components);
}

}  // namespace QUORATE_ABI

}  // namespace quorate
