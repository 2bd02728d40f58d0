// SPDX-License-Identifier: BSD-2-Clause
// As src/precompiled.hpp, for unit tests.
#include <gtest/gtest.h>

#include "../../src/precompiled.hpp"
