// SPDX-License-Identifier: BSD-2-Clause
// The registries as the command line sees them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// What is said of one entry of a registry.
struct Component {
    std::string name, arguments, text, source;
    std::vector<Option> options;
    std::string example = {};  // options with which it runs, where defaults do not do
};

/// A registry: which option names its entries, and what they are called together.
struct ComponentKind {
    std::string option;  // "scheme"
    std::string plural;  // "schemes"
    std::vector<Component> all;
};

/// Those whose entries a run can choose from.
std::vector<ComponentKind> run_components();

/// The options of all entries of all kinds, each once.
std::vector<Option> component_options();

/// @throws BadInput if an option was given that none of the chosen components reads
void refuse_unused_options(const Settings& settings);

/// Without values for such options, defaults among them: what a run can be given again.
Settings without_unused_options(Settings settings);

}  // namespace quorate
