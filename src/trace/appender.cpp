// SPDX-License-Identifier: BSD-2-Clause
#include "trace/appender.hpp"

#include <algorithm>

namespace quorate::trace {

Appender::Appender(const std::string& path)
    : path_(path), owner_(path), file_(h5::open_to_append(path)),
      evaluations_(Table::open<Evaluation>(file_.get()))
{
}

std::vector<std::int64_t> Appender::iterate_rounds() const
{
    auto rounds = h5::read<std::int64_t>(file_.get(), "iterate/round");
    // If the run was killed, there may be fewer models than rounds.
    const auto models = h5::rows_of(file_.get(), "iterate/model");
    rounds.resize(static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(rounds), models)));
    return rounds;
}

Iterate Appender::iterate(std::int64_t i) const
{
    const auto model = h5::read_rows<double>(file_.get(), "iterate/model", i, 1);
    return std::make_shared<NumberVector>(ConstNumbers(model));
}

void Appender::add(const Evaluation& row)
{
    evaluations_->append(std::vector{row});
    h5::flush(file_, path_);
}

void Appender::close()
{
    evaluations_.reset();
    file_.close("close " + path_);
}

}  // namespace quorate::trace
