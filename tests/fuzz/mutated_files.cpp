// SPDX-License-Identifier: BSD-2-Clause
// mutated_files COUNT [FIRST]: reads COUNT damaged copies of a data set, a trace, optima and
// arrays, each in a process of its own, and tells what came of it. Copy K is the same each time.
// Some have bits flipped, bytes overwritten or their end cut; others are sound HDF5 files with
// attributes and data sets of other types, sizes and values. A fault of ours is what a sanitizer
// finds in the memory or in a function of Quorate, or an exception that is no answer. HDF5 itself
// crashes on some files, and does not return from others; that is counted apart.
#include <fcntl.h>
#include <fmt/format.h>
#include <petscsys.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "base/error.hpp"
#include "command.hpp"
#include "data/data_set.hpp"
#include "data/shard.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/data_sets.hpp"
#include "hdf5/journal.hpp"
#include "jobs/glance.hpp"
#include "optimum/optimum_cache.hpp"
#include "reading.hpp"
#include "trace/reader.hpp"
#include "trace/recorded_times.hpp"

extern "C" void __sanitizer_print_stack_trace();
extern "C" const char* __asan_default_options()
{
    // An allocation as large as a file says fails as it does without the sanitizer.
    return "allocator_may_return_null=1:detect_leaks=0:handle_abort=1:exitcode=99:max_allocation_"
           "size_mb=2000";
}
extern "C" const char* __ubsan_default_options()
{
    return "print_stacktrace=1:halt_on_error=1:exitcode=99";
}

namespace {

using namespace quorate;

using Random =
    std::mt19937_64;  // its numbers are the same everywhere, those of distributions are not

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

// --- what is damaged -----------------------------------------------------------------------------

enum class Kind { data_set, trace, optima, arrays };

struct Sound {
    Kind kind;
    std::string path, bytes;
};

std::string bytes_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Sound> sound_files(const test::Folder& folder)
{
    const auto carry_out = [](const std::string& words) {
        if (const auto said = test::command(words); said.status != 0)
            throw Failure(words + ": " + said.text);
    };
    folder.write("d.csv",
                 "y,a,b\nno,1,x\nyes,3,y\nno,2,x\nyes,5,z\nno,1,z\nyes,4,y\nno,2,z\nyes,7,y\n");
    const auto words = folder.file("words.h5"), data = folder.file("d.h5"),
               trace = folder.file("t.h5");
    carry_out(fmt::format(
        "import --quiet --input {} --output {} --label y --missing mean --scale standardise "
        "--test-fraction 0.25 --categorical b",
        folder.file("d.csv"), words));
    carry_out(fmt::format("generate --quiet --rows 40 --columns 5 --output {}", data));
    carry_out(fmt::format(
        "simulate --quiet --data {} --workers 4 --scheme frc --stragglers 1 --rounds 6 --step 0.1 "
        "--delay exponential:1 --trace {}",
        data, trace));
    carry_out(fmt::format("optimum --quiet --data {}", data));
    std::vector<Sound> all = {{Kind::data_set, words, {}},
                              {Kind::data_set, data, {}},
                              {Kind::trace, trace, {}},
                              {Kind::optima, optimum_cache_of(data), {}},
                              {Kind::arrays, words, {}}};
    for (auto& one : all) one.bytes = bytes_of(one.path);
    return all;
}

// Overwrites some bytes of a file.
std::string damaged(std::string bytes, Random& random)
{
    constexpr std::uint64_t values[] = {
        0, 1, 127, 128, 255, 0x7fffffff, 0xffffffff, ~std::uint64_t{0} >> 1, ~std::uint64_t{0}};
    for (auto left = 1 + below(random, 6); left > 0; --left) {
        const auto at = below(random, bytes.size() - 8);
        switch (below(random, 4)) {
            case 0:
            case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8))); break;
            case 2: {
                const auto value = values[below(random, std::size(values))];
                const auto* from = reinterpret_cast<const char*>(&value);
                std::copy_n(from, std::size_t{1} << below(random, 4),
                            bytes.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            }
            default:
                bytes.resize(std::max<std::size_t>(16, below(random, 8) == 0 ? at : bytes.size()));
                break;
        }
    }
    return bytes;
}

// The paths of the groups and data sets of a file.
std::vector<std::string> objects_of(hid_t file)
{
    std::vector<std::string> names;
    H5Ovisit(
        file, H5_INDEX_NAME, H5_ITER_NATIVE,
        [](hid_t, const char* name, const H5O_info_t*, void* all) -> herr_t {
            static_cast<std::vector<std::string>*>(all)->emplace_back(name);
            return 0;
        },
        &names);
    return names;
}

hid_t type_of(Random& random)
{
    const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64, H5T_NATIVE_INT8, H5T_NATIVE_FLOAT,
                           H5T_C_S1};
    return types[below(random, std::size(types))];
}

h5::Space space_of(Random& random)
{
    const hsize_t size[] = {1 + below(random, 40), 1 + below(random, 6), 1 + below(random, 3)};
    if (below(random, 4) == 0)
        return {H5Screate(below(random, 3) == 0 ? H5S_NULL : H5S_SCALAR), "make a space"};
    return {H5Screate_simple(1 + static_cast<int>(below(random, 3)), size, nullptr),
            "make a space"};
}

// Gives an object an attribute or, if it is one, a data set other types, sizes and values.
void change(hid_t file, Random& random)
{
    const auto objects = objects_of(file);
    const auto name = objects[below(random, objects.size())];
    std::vector<std::int64_t> bytes(4096);
    for (auto& one : bytes)
        one = below(random, 3) == 0 ? static_cast<std::int64_t>(random())
                                    : static_cast<std::int64_t>(below(random, 9)) - 3;
    const hid_t object = H5Oopen(file, name.c_str(), H5P_DEFAULT);
    const h5::Handle<H5Oclose> owner(object, "open " + name);
    const auto attributes = h5::attribute_names(object);
    if (H5Iget_type(object) != H5I_DATASET || (!attributes.empty() && below(random, 4) == 0)) {
        if (attributes.empty()) return;
        const auto attribute = attributes[below(random, attributes.size())];
        if (attribute.starts_with("REFERENCE") || attribute.starts_with("DIMENSION")) return;
        H5Adelete(object, attribute.c_str());
        if (below(random, 5) == 0) return;
        const auto type = type_of(random);
        const auto space = space_of(random);
        const h5::Attribute made(
            H5Acreate2(object, attribute.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
            "make an attribute");
        if (H5Sget_simple_extent_npoints(space.get()) > 0) H5Awrite(made.get(), type, bytes.data());
        return;
    }
    if (below(random, 2) == 0) {  // other values
        const h5::DataSet data_set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), "open " + name);
        const h5::Space space(H5Dget_space(data_set.get()), "get the shape");
        const h5::Type type(H5Dget_type(data_set.get()), "get the type");
        const auto size = static_cast<std::size_t>(
                              std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.get()))) *
                          H5Tget_size(type.get());
        std::vector<char> values(size + 8);
        H5Dread(data_set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        for (auto left = 1 + below(random, 3); left > 0 && size >= 8; --left)
            std::copy_n(reinterpret_cast<const char*>(&bytes[below(random, bytes.size())]), 8,
                        values.begin() + static_cast<std::ptrdiff_t>(below(random, size / 8) * 8));
        H5Dwrite(data_set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        return;
    }
    H5Ldelete(file, name.c_str(), H5P_DEFAULT);
    if (below(random, 5) == 0) return;
    const auto type = type_of(random);
    const auto space = space_of(random);
    const h5::DataSet made(
        H5Dcreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "make " + name);
    if (H5Sget_simple_extent_npoints(space.get()) > 0)
        H5Dwrite(made.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
}

// --- how it is read ------------------------------------------------------------------------------

// Reads all of a file that is said to be of some kind.
void read_all(const Sound& sound, const std::string& path, const test::Folder& folder)
{
    switch (sound.kind) {
        case Kind::data_set: {
            const DataSet data(path, Unlabelled::accepted);
            data.attributes();
            data.features();
            data.source_columns();
            data.class_names();
            data.scaling();
            data.means();
            for (const auto split : {Split::train, Split::test}) {
                const std::vector<RowSet> sets = {{split, 0, data.rows(split)}};
                const Shard shard(data, sets);
                const auto rows = shard.block(0).view();
                double sum = 0;
                for (std::int64_t row = 0; row < rows.rows; ++row) {
                    sum += rows.label[row];
                    if (!rows.dense)
                        for (auto i = rows.start[row]; i < rows.start[row + 1]; ++i)
                            sum += static_cast<double>(rows.column[i]);
                }
                volatile const double used = sum;
                static_cast<void>(used);
            }
            test::command({"import", "--quiet", "--overwrite", "--input", folder.file("d.csv"),
                           "--like", path, "--output", folder.file("like.h5")});
            break;
        }
        case Kind::trace: {
            glance(path);
            trace::faults(trace::read(path));
            trace::recorded_times(trace::read(path), path);
            break;
        }
        case Kind::optima:
            // Beside a data set of its name.
            known_optimum(path.substr(0, path.size() - std::string(".optima.h5").size()) + ".h5",
                          40, {"logistic", 0, 0});
            break;
        case Kind::arrays:
            test::read_file("hdf5", path, {{"array", "train/values"}, {"label", "train/label"}});
            break;
    }
    if (sound.kind == Kind::trace || sound.kind == Kind::data_set)
        test::command({"inspect", path, "--all"});
}

constexpr int answered = 0, refused = 2, wrong_exception = 3, not_returned = 4;

int outcome(const Sound& sound, const std::string& path, const test::Folder& folder)
{
    try {
        read_all(sound, path, folder);
        return answered;
    } catch (const BadInput&) {
        return refused;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return wrong_exception;
    }
}

// Whether what a sanitizer says is of our memory, or of one of our functions: the innermost one
// that is neither the sanitizer's nor the C library's.
bool is_ours(const std::string& report)
{
    const auto named = [](const std::string& line, const char* what) {
        return line.find(what) != std::string::npos;
    };
    std::istringstream lines(report);
    bool overflow = false, first = true, in_history = false;
    for (std::string line; std::getline(lines, line);) {
        overflow |= named(line, "-overflow on") || named(line, "runtime error: ");
        if (named(line, "allocated by") || named(line, "is located in stack"))
            in_history = true, first = true;
        if (!line.starts_with("    #")) continue;
        if (!first || named(line, "libc.so") || named(line, "interceptor") ||
            named(line, "__asan") || named(line, "__sanitizer") || named(line, "operator new") ||
            named(line, "libstdc++") || named(line, " in mem") || named(line, " in str"))
            continue;
        first = false;
        if (named(line, "quorate::") && (!in_history || overflow)) return true;
    }
    return false;
}

}  // namespace

int main(int count, char** words)
{
    PetscInitializeNoArguments();
    const auto copies = count > 1 ? std::stoul(words[1]) : 2000,
               begin = count > 2 ? std::stoul(words[2]) : 0;
    const test::Folder folder, own;
    const auto sound = sound_files(folder);
    std::map<std::string, std::size_t> came;
    std::size_t faults = 0;
    for (auto copy = begin; copy < begin + copies; ++copy) {
        const auto report = own.file("report");
        const pid_t child = fork();
        if (child == 0) {
            const int to = open(report.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
            const int nowhere = open("/dev/null", O_WRONLY);
            dup2(nowhere, 1);
            dup2(to, 2);
            std::signal(SIGALRM, [](int) {
                __sanitizer_print_stack_trace();
                _exit(not_returned);
            });
            alarm(20);
            Random random(copy);
            const auto& one = sound[below(random, sound.size())];
            const auto path = own.file(one.kind == Kind::optima ? "x.optima.h5" : "x.h5");
            std::filesystem::remove(h5::journal_of(path));
            if (below(random, 2) == 0) {
                std::ofstream(path, std::ios::binary) << damaged(one.bytes, random);
            } else {
                std::ofstream(path, std::ios::binary) << one.bytes;
                auto file = h5::open_to_append(path);
                for (auto left = 1 + below(random, 3); left > 0; --left) change(file.get(), random);
                file.close("close");
            }
            _exit(outcome(one, path, folder));
        }
        int status = 0;
        waitpid(child, &status, 0);
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        const auto said = bytes_of(report);
        const bool ours =
            code != answered && code != refused && (code == wrong_exception || is_ours(said));
        const std::string what = ours                   ? "a fault of ours"
                                 : code == answered     ? "read"
                                 : code == refused      ? "refused"
                                 : code == not_returned ? "HDF5 does not return"
                                                        : "HDF5 crashes";
        ++came[what];
        if (!ours) continue;
        if (++faults <= 10)
            fmt::print("copy {}: status {}\n{}\n", copy, code, said.substr(0, 4000));
    }
    for (const auto& [what, number] : came) fmt::print("  {}: {}\n", what, number);
    fmt::print("mutated files: {} copies from {} on, {} faults\n", copies, begin, faults);
    std::fflush(nullptr);
    _exit(faults > 0);
}
