// SPDX-License-Identifier: BSD-2-Clause
// All of the program but this is in the library, and so are the libraries that it needs.
#include "cli/command.hpp"

int main(int argc, char** argv) { return quorate::program({argv + 1, argv + argc}); }
