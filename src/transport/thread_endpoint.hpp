// SPDX-License-Identifier: BSD-2-Clause
// Messages among threads of one process.
#pragma once

#include <exception>
#include <memory>

#include "transport/endpoint.hpp"

namespace quorate::transport {

/// Where the threads of one run meet. Any thread may use it.
class Threads {
public:
    explicit Threads(int size);
    ~Threads();
    int size() const { return size_; }
    /// Says that a rank ends because of an error: the coordinator's next advance() throws it.
    void fail(std::exception_ptr error);

private:
    friend class ThreadEndpoint;
    struct Place;
    int size_;
    std::unique_ptr<Place[]> places_;
    struct Errors;
    std::unique_ptr<Errors> errors_;
};

/// What ends the thread of a rank that dies.
struct Died {};

/// The endpoint of a rank that is a thread. Its rank has ended when it is destroyed. Each message
/// is copied once, and nothing is under way.
class ThreadEndpoint final : public Endpoint {
public:
    /// @param threads  must outlive this object
    ThreadEndpoint(Threads& threads, int rank, std::string host);
    ~ThreadEndpoint() override;

    Ticket send(int to, Tag tag, std::shared_ptr<Bytes> bytes) override;
    void ring() override;
    bool wakes() const override { return true; }
    /// @throws what was given to Threads::fail(), on rank 0, once
    void advance() override;
    void wait(Seconds at_most = never) override;
    void restart_wait() override {}
    void interrupt() override;
    bool is_sending() const override { return false; }
    bool is_receiving() const override { return false; }
    void forsake(int) override {}
    void expect(int) override {}
    bool has_ended(int rank) const override;
    bool is_unreachable(int) const override { return false; }
    /// The rank has ended, but its thread waits for the end of rank 0: what it has lent and
    /// borrowed stays as it is, as if its process had been killed. @throws Died then
    [[noreturn]] void die() override;

private:
    void end();

    Threads& threads_;
    std::vector<int> to_ring_;
};

}  // namespace quorate::transport
