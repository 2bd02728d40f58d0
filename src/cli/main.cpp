// SPDX-License-Identifier: BSD-2-Clause
// All other code of the program is in libquorate, and only that is linked with further libraries.
#include "cli/command.hpp"

int main(int argc, char** argv) { return quorate::program({argv + 1, argv + argc}); }
