// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/blocking.hpp"

#include "mpi/backoff.hpp"

namespace quorate::mpi {

Transfer receive_blocking(const Comm& comm, int rank, Pool& pool)
{
    Backoff backoff(1e-3);
    for (;;) {
        if (auto message = receive(comm, rank, pool)) {
            while (!message->done()) backoff.wait();
            return std::move(*message);
        }
        backoff.wait();
    }
}

void wait_until_sent(std::vector<Transfer> sends)
{
    Backoff backoff(1e-3);
    for (auto& send : sends)
        while (!send.done()) backoff.wait();
}

void send_blocking(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    std::vector<Transfer> sends;
    sends.push_back(send(comm, to, tag, std::move(bytes)));
    wait_until_sent(std::move(sends));
}

}  // namespace quorate::mpi
