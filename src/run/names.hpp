// SPDX-License-Identifier: BSD-2-Clause
// A model knows columns and classes by their numbers. Their names tell whether other rows have the
// same.
#pragma once

#include <map>
#include <string>

#include "data/data_set.hpp"
#include "trace/trace.hpp"

namespace quorate {

/// Returns attributes of a trace: SHA-256 of the names of columns, and of classes that are words;
/// empty if there are none. @throws Failure if HDF5 or OpenSSL fails
std::map<std::string, std::string> digests_of_names(const DataSet& data);

/// Refuses rows whose columns or classes are called otherwise than those of a run's data.
/// @param of_run  path of these data, which may be gone; then the trace says less of what differs
/// @throws BadInput
void check_names(const DataSet& rows, const trace::Trace& trace, const std::string& of_run);

}  // namespace quorate
