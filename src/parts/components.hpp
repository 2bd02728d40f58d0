// SPDX-License-Identifier: BSD-2-Clause
// The registries of components (schemes, models, ...) as the command line sees them.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// What an entry of a registry says of itself. The fields that are not explained are those of
/// Entry.
struct Component {
    std::string name, arguments, form, text, source;
    std::vector<Option> options;
    Choice example = {};  // with which it is tried; empty: defaults do
};

/// A registry: the option that chooses one of its entries, the word for all of them, and the
/// entries.
struct ComponentKind {
    std::string option;  // "scheme"
    std::string plural;  // "schemes"
    std::vector<Component> all;
};

/// Returns the registries from which a run chooses its components.
std::vector<ComponentKind> run_components();

/// Returns the registry of the file formats that an import reads.
ComponentKind format_components();

/// Returns the names of the components of a registry that read an option.
std::vector<std::string> readers(const ComponentKind& kind, const std::string& option);

/// Returns the options of all components of a run, each once.
std::vector<Option> component_options();

/// Refuses options that the user gave and that none of the chosen components reads.
/// @throws BadInput with the components that do read it
void refuse_unused_options(const Settings& settings);

/// Removes the values, defaults among them, of component options that no chosen component reads.
/// What is left can be given to another run.
Settings without_unused_options(Settings settings);

}  // namespace quorate
