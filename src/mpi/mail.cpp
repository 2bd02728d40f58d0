// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/mail.hpp"

#include "mpi/patience.hpp"

namespace quorate::mpi {

Transfer wait_for(const Comm& comm, int rank, Pool& pool)
{
    Patience patience(1e-3);
    for (;;) {
        if (auto mail = receive(comm, rank, pool)) {
            while (!mail->done()) patience.rest();
            return std::move(*mail);
        }
        patience.rest();
    }
}

void wait_until_sent(std::vector<Transfer> sends)
{
    Patience patience(1e-3);
    for (auto& send : sends)
        while (!send.done()) patience.rest();
}

void post(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    std::vector<Transfer> sends;
    sends.push_back(send(comm, to, tag, std::move(bytes)));
    wait_until_sent(std::move(sends));
}

}  // namespace quorate::mpi
