// SPDX-License-Identifier: BSD-2-Clause
#include "trace/appender.hpp"

#include "trace/iterates.hpp"

namespace quorate::trace {

Appender::Appender(const std::string& path)
    : path_(path), owner_(path), file_(h5::open_to_append(path)),
      evaluations_(Table::open<Evaluation>(file_.get()))
{
}

std::vector<std::int64_t> Appender::iterate_rounds() const
{
    return trace::iterate_rounds(file_.get());
}

Iterate Appender::iterate(std::int64_t i) const
{
    const auto model = read_iterate(file_.get(), i);
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
