// SPDX-License-Identifier: BSD-2-Clause
// Messages by MPI, of a rank to itself.
#include <gtest/gtest.h>

#include <numeric>

#include "process/session.hpp"
#include "transport/mpi_endpoint.hpp"

namespace quorate::transport {
namespace {

std::shared_ptr<Bytes> bytes_that_begin_with(unsigned char first, std::size_t size)
{
    auto bytes = std::make_shared<Bytes>(size);
    auto* const at = reinterpret_cast<unsigned char*>(bytes->data());
    std::iota(at, at + size, first);
    return bytes;
}

TEST(MpiEndpoint, LongMessagesTravelInPieces)
{
    start_mpi();
    constexpr std::size_t piece = 1000;
    MpiEndpoint endpoint(MPI_COMM_SELF, 1e-3, piece);
    const std::size_t sizes[] = {0, 1, 999, 1000, 1001, 7, 2000, 2500, 0, 65536, 3};
    std::vector<Ticket> tickets;
    unsigned char number = 0;
    for (const auto size : sizes) {
        tickets.push_back(endpoint.send(0, number % 2 == 0 ? Tag::task : Tag::contribution,
                                        bytes_that_begin_with(number, size)));
        ++number;
    }
    number = 0;
    for (const auto size : sizes) {
        const auto message = endpoint.receive_from(0);
        EXPECT_EQ(message.tag, number % 2 == 0 ? Tag::task : Tag::contribution);
        ASSERT_EQ(message.bytes->size(), size);
        const auto sent = bytes_that_begin_with(number, size);
        EXPECT_TRUE(std::equal(sent->data(), sent->data() + size, message.bytes->data())) << size;
        ++number;
    }
    endpoint.flush();
    for (const auto& ticket : tickets) EXPECT_TRUE(ticket.has_left());
}

class LongMessage : public ::testing::TestWithParam<std::size_t> {};

// Takes twice its bytes of memory.
TEST_P(LongMessage, OfMoreBytesThanMpiCountsArrives)
{
    start_mpi();
    MpiEndpoint endpoint(MPI_COMM_SELF);
    auto bytes = std::make_shared<Bytes>(GetParam());
    const auto mark = [&](std::size_t i) { return static_cast<std::byte>(i / 4096 % 251); };
    for (std::size_t i = 0; i < bytes->size(); i += 4096) bytes->data()[i] = mark(i);
    endpoint.send(0, Tag::task, bytes);
    const auto message = endpoint.receive_from(0);
    ASSERT_EQ(message.bytes->size(), GetParam());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < message.bytes->size(); i += 4096)
        wrong += message.bytes->data()[i] == mark(i) ? 0 : 1;
    EXPECT_EQ(wrong, 0u);
    endpoint.flush();
}
INSTANTIATE_TEST_SUITE_P(Further, LongMessage, ::testing::Values((std::size_t{1} << 31) + 5));

}  // namespace
}  // namespace quorate::transport
