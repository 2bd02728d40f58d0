// SPDX-License-Identifier: BSD-2-Clause
#include "base/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "base/path.hpp"

namespace quorate {

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new())
{
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
        throw Failure("cannot start SHA-256");
}

void Sha256::add(std::span<const std::byte> bytes)
{
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
        throw Failure("cannot compute SHA-256");
}

std::string Sha256::text()
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context_.get(), digest.data(), &size) != 1)
        throw Failure("cannot finish SHA-256");
    return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

std::string sha256(const std::string& path, std::int64_t bytes)
{
    auto file = open_file(path);
    Sha256 digest;
    std::array<char, 1 << 16> block{};
    for (auto left = bytes < 0 ? std::numeric_limits<std::int64_t>::max() : bytes; left > 0;) {
        file.read(block.data(), std::min<std::int64_t>(left, block.size()));
        if (file.gcount() == 0) break;
        left -= file.gcount();
        digest.add(std::span(block).first(static_cast<std::size_t>(file.gcount())));
    }
    return digest.text();
}

}  // namespace quorate
