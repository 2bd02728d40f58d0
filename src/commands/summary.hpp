// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace quorate {

/// What a run was and spent its time on, from its trace: paragraphs that begin with a word and are
/// wrapped to 80 columns, to be pasted into a mail. Times have four digits. What the trace does not
/// tell is left out.
///
/// * setting: scheme, workers, delays, model, optimiser, data.
/// * waiting: waiting_of() as shares of the time, and of the waiting.
/// * slowest: the three workers that took longest, by response_times().
/// * better: saving_of(), if the answers of all workers are known.
std::vector<std::string> summary(const trace::Trace& trace);

/// Returns a paragraph of a summary: text beside a word, each line with its end.
std::string summary_lines(const std::string& word, const std::string& text);

/// Returns a duration with four digits and its unit: 61.7 ms, 1.234 s.
std::string short_time(double seconds);

}  // namespace quorate
