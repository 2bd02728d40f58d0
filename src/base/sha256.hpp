// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace quorate {

/// SHA-256 of bytes that come piece by piece. All functions throw Failure if OpenSSL fails.
class Sha256 {
public:
    Sha256();

    /// Adds bytes. O(bytes).
    void add(std::span<const std::byte> bytes);
    /// Adds the bytes of characters or numbers as they are in memory.
    template <std::ranges::contiguous_range Range>
    void add(const Range& values)
    {
        add(std::as_bytes(std::span(std::ranges::data(values), std::ranges::size(values))));
    }
    /// Returns the digest in hexadecimal. To be called once, at the end.
    std::string text();

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// Computes the SHA-256 of a file as it is stored (not decompressed), in hexadecimal.
/// @param bytes  how many to read from the beginning; negative: all
/// @throws BadInput if the file cannot be opened  @throws Failure if OpenSSL fails
std::string sha256(const std::string& path, std::int64_t bytes = -1);

}  // namespace quorate
