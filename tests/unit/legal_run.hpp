// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "engine/scheme_check.hpp"

#include <gtest/gtest.h>

namespace quorate::test {

/// A legal run that fails the test if a promise is broken.
class LegalRun : public SchemeCheck {
public:
    using SchemeCheck::SchemeCheck;

    void run(std::int64_t rounds)
    {
        SchemeCheck::run(rounds);
        for (const auto& promise : broken) ADD_FAILURE() << promise;
    }
};

}  // namespace quorate::test
