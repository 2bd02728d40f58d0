// SPDX-License-Identifier: BSD-2-Clause
#include "tables/foreign.hpp"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <string_view>

#include "base/error.hpp"
#include "tables/archive.hpp"

namespace quorate {

namespace {

using namespace std::string_view_literals;

struct ForeignKind {
    std::string_view begins;
    const char* what;
    const char* remedy;
};

constexpr auto* as_table = "save its rows as CSV, .npz or HDF5";
constexpr auto* unpack = "unpack it, or pack it with gzip, bzip2, xz or zip";
constexpr auto* again = "get the file itself";
constexpr auto* with_pandas = "in Python, write pandas.DataFrame.to_csv(path, index=False)";

// Files that are no text. If they begin like text, they have zeros farther on.
constexpr ForeignKind binary_kinds[] = {
    {"PAR1", "Parquet", with_pandas},
    {"ARROW1", "Arrow or Feather", with_pandas},
    {"FEA1", "Feather", with_pandas},
    {"Obj\x01", "Avro", as_table},
    {"\xd0\xcf\x11\xe0", "a workbook of Excel", "save the sheet as CSV"},
    {"MATLAB ", "a MAT file of MATLAB",
     "in Python, write numpy.savez(path, X=..., y=...) of scipy.io.loadmat(file)"},
    {"RDX", "a workspace of R", "in R, use write.csv(data, path, row.names = FALSE)"},
    {"X\n\0\0"sv, "an RDS file of R", "in R, use write.csv(data, path, row.names = FALSE)"},
    {"\x80", "a pickle of Python", as_table},
    {"SQLite format 3", "a database of SQLite",
     "in sqlite3, use .mode csv, .headers on and .once FILE"},
    {"$FL2", "a file of SPSS", with_pandas},
    {"CDF", "netCDF", as_table},
    {"\x28\xb5\x2f\xfd", "compressed by zstd", unpack},
    {"\x04\x22\x4d\x18", "compressed by lz4", unpack},
    {"\x1f\x9d", "compressed by compress", unpack},
    {"\x5d\0\0"sv, "compressed by lzma", unpack},
    {"7z\xbc\xaf\x27\x1c", "an archive of 7-Zip", unpack},
    {"Rar!", "an archive of RAR", unpack},
    {"PK\x05\x06", "an empty zip archive", again},
    {"\x89PNG", "an image", "give many of them as an array, in .npz or HDF5"},
    {"\xff\xd8\xff", "an image", "give many of them as an array, in .npz or HDF5"},
};

constexpr ForeignKind text_kinds[] = {
    {"@relation", "ARFF, as Weka writes it",
     "delete all before its rows, write a header line, and give --categorical"},
    {"%%MatrixMarket", "a Matrix Market file",
     "in Python, write quorate.dataset(scipy.io.mmread(file), y, path=...)"},
    {"<stata_dta>", "a file of Stata", with_pandas},
    {"HEADER RECORD*****", "a transport file of SAS", with_pandas},
    {"SIMPLE  =", "FITS", as_table},
    {"%PDF", "a PDF document", as_table},
    {"<!DOCTYPE html", "a web page", again},
    {"<html", "a web page", again},
    {"<?xml", "XML", as_table},
    {"version https://git-lfs", "a pointer of Git LFS", "get the file itself with git lfs pull"},
    {"{\"", "JSON", with_pandas},
    {"{\n", "JSON", with_pandas},
    {"[{", "JSON", with_pandas},
    {"[[", "JSON", with_pandas},
    {"[\n", "JSON", with_pandas},
};

// The text without blank lines and lines that begin with %, which are comments in ARFF.
std::string_view without_comments(std::string_view text)
{
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    for (;;) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
        if (!text.starts_with('%')) return text;
        text.remove_prefix(std::min(text.find('\n'), text.size()));
    }
}

[[noreturn]] void refuse(const std::string& path, const char* what, const char* remedy)
{
    throw BadInput(path + " is " + what + ", which is not read here: " + remedy);
}

}  // namespace

void refuse_foreign(const std::string& path, const std::string& bytes)
{
    const bool is_text = bytes.find('\0') == std::string::npos;
    const auto begins_like_text = [](std::string_view begins) {
        return std::ranges::all_of(begins, [](unsigned char c) { return c < 128; });
    };
    for (const auto& [begins, what, remedy] : binary_kinds)
        if (bytes.starts_with(begins) && !(is_text && begins_like_text(begins)))
            refuse(path, what, remedy);
    for (const auto& [begins, what, remedy] : text_kinds)
        if (boost::algorithm::istarts_with(bytes, begins) ||
            boost::algorithm::istarts_with(without_comments(bytes), begins))
            refuse(path, what, remedy);
    if (is_tar(bytes)) refuse(path, "a tar archive", "unpack it and give one of its files");
    if (bytes.size() > 3 && bytes[1] == '\0' && bytes[3] == '\0' && bytes[0] > 0 && bytes[2] > 0)
        refuse(path, "text in UTF-16 without a byte order mark",
               "save it as UTF-8, as iconv -f UTF-16LE -t UTF-8 does");
    if (!is_text)
        throw BadInput(
            path + " is neither text nor of a kind that its first bytes tell: name its --format");
}

}  // namespace quorate
