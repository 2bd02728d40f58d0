// SPDX-License-Identifier: BSD-2-Clause
// The options of all schemes: make_scheme(AgcOptions{.stragglers = 2, .collect = 15}, problem).
#pragma once

#include "scheme/anytime/schemes.hpp"
#include "scheme/cached/schemes.hpp"
#include "scheme/newest/schemes.hpp"
#include "scheme/products/schemes.hpp"
#include "scheme/rounds/schemes.hpp"
#include "scheme/sequential/schemes.hpp"
