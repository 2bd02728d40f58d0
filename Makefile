# SPDX-License-Identifier: BSD-2-Clause
#
# Quorate's one makefile. `make help` lists the targets, `make info` what they would use,
# env/README.md the variables for systems without apt. Local choices go into config.mk.

.DEFAULT_GOAL := build
.SUFFIXES:
.SECONDEXPANSION:
.DELETE_ON_ERROR:
# Of -n and -q, which only look; before more flags are added.
dry_run := $(findstring n,$(firstword -$(MAKEFLAGS)))$(findstring q,$(firstword -$(MAKEFLAGS)))
MAKEFLAGS += --no-builtin-rules --no-print-directory

-include config.mk

VERSION := $(file < VERSION)
MPI     ?= mpich
PREFIX  ?= /usr/local
V       ?= 0
DEPS    ?= yes
JOBS    ?= $(shell nproc)
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif

# One folder for each kind of build; build/quorate is always the default one's program.
kind := $(strip $(filter-out mpich,$(MPI)) $(if $(INDEX),index$(INDEX)) $(if $(SAN),$(if $(filter thread,$(SAN)),tsan,san)) $(if $(DEBUG),debug) $(if $(COVER),coverage))
B    ?= build$(if $(kind),/$(subst $() ,-,$(kind)))

# --- Configuration -----------------------------------------------------------------------
# $(B)/configure.mk holds what env/configure found. `make configure` makes it, and so does every target that builds, as
# its first step, when it is missing, when one of these variables changed, when packages came or went, or when PETSc is
# gone. What only looks, `make info` and `make -n`, takes it as it is: neither installs, downloads or builds anything.
configure_inputs := MPI INDEX MPICXX CXX DEPS DEPS_PREFIX QUORATE_DEPS PETSC_DIR PETSC_ARCH \
  PKG_CONFIG_PATH LAUNCHER PYTHON HDF5_DIR EBROOTHDF5 \
  $(foreach l,MPI HDF5 PETSC BOOST EIGEN JSON FMT CRYPTO ARCHIVE DNNL GTEST BENCHMARK,$(l)_CFLAGS $(l)_LIBS)
ifeq ($(origin CXX),default)
CXX :=
endif
export $(configure_inputs)
configure_key := $(foreach v,$(configure_inputs),$(if $($(v)),$(v)=$($(v))))

configured_goals := $(filter-out help deps clean test test-all format uninstall container,$(or $(MAKECMDGOALS),build))
ifeq ($(configured_goals),)
else ifneq ($(dry_run)$(if $(filter-out info,$(configured_goals)),,info),)
-include $(wildcard $(B)/configure.mk)
ifneq ($(or $(found_cxx),none) $(configured_for),$(found_cxx) $(configure_key))
unconfigured := yes
endif
else
include $(B)/configure.mk
ifneq ($(configured_for)$(filter configure,$(MAKECMDGOALS)),$(configure_key))
# Once only: a value that does not survive the file must not loop.
$(if $(MAKE_RESTARTS),,$(eval $(B)/configure.mk: force))
endif

packages_state := $(if $(filter no,$(DEPS)),,$(wildcard /var/lib/dpkg/status))
$(B)/configure.mk: env/configure env/petsc env/build-petsc env/deps env/packages $(wildcard config.mk) \
                   $(packages_state)
	@mkdir -p $(@D)
	@$(if $(filter no,$(DEPS)),,env/deps $(MPI))
	@env/configure > $@.new
	@echo '$@: $$(found_petsc_prefix)/include/petscconf.h' >> $@.new
	@echo '$$(found_petsc_prefix)/include/petscconf.h:' >> $@.new
	@printf 'configured_for := %s\n' '$(subst #,\#,$(subst $$,$$$$,$(configure_key)))' >> $@.new
	@mv $@.new $@
endif

# --- Targets that need no configuration ---------------------------------------------------
help: ## this list
	@sed -n 's/^\([a-z_-][a-z_.-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 32
	@echo
	@echo '  MPI=openmpi  INDEX=64 (of PETSc)  SAN=1 (sanitizers; SAN=thread)  DEBUG=1'
	@echo '  PCH=no (precompiled headers)  V=1 (show commands)  JOBS=N  DEPS=no (no apt)'
	@echo '  Local choices: config.mk. Systems without apt: env/README.md.'

deps: ## install what is missing, by apt, and build PETSc if need be
	@env/deps $(MPI)
	@prefix=$$(env/petsc $(MPI)) && echo "deps: PETSc is in $$prefix"

# Not by its own name: make would run the line under -n, too.
this_make = $(MAKE)
test: ## install, build and test what users meet and changes break; a part: search=PATTERN, levels="unit mpi", marker=launcher (of pytest)
	$(if $(dry_run),,+)@MAKE='$(this_make)' B='$(B)' levels='$(levels)' search='$(search)' marker='$(marker)' tests/run

test-all: ## make test, and what takes long or builds much: containers, wheels, rivals, harm at random, verdicts of claims, fuzzers, threads, lint of all
	$(if $(dry_run),,+)@MAKE='$(this_make)' B='$(B)' levels='$(levels)' search='$(search)' marker='$(marker)' whole=yes tests/run

container: ## an image with the program, by podman, buildah or docker (ARGS="--target program": without analysis)
	@builder=$$(command -v podman buildah docker | head -n 1) && [ -n "$$builder" ] || \
	  { echo 'make container: found no podman, buildah or docker: install one of them' >&2; exit 1; }; \
	  "$$builder" build --file env/Containerfile --tag quorate --build-arg \
	    REVISION="$$(git describe --always --dirty 2> /dev/null || echo unknown)" $(ARGS) .

format: ## clang-format and black, in place
	@env/lint --fix

clean: ## everything that was built
	@rm -rf build '$(B)' compile_commands.json analysis/*.egg-info

root = $(DESTDIR)$(PREFIX)
# bash-completion reads the file that has the name of the word to complete behind.
completions = $(root)/share/bash-completion/completions
completed_launchers := mpiexec mpiexec.mpich mpiexec.openmpi mpirun
uninstall: ## what install put there
	@$(foreach l,$(completed_launchers),[ "$$(readlink '$(completions)/$(l)')" != quorate ] || rm '$(completions)/$(l)' &&) :
	@rm -rf '$(root)/bin/quorate' '$(root)/share/quorate' '$(root)/lib/libquorate.a' '$(root)/lib/libquorate.so'* \
	  '$(root)/lib/quorate' '$(root)/include/quorate' '$(root)/lib/pkgconfig/quorate.pc' '$(root)/lib/cmake/quorate' \
	  '$(root)/share/man/man1/quorate.1' '$(root)/share/bash-completion/completions/quorate'

ifdef unconfigured
to_configure := $(B) is not configured: `make configure` installs what is missing, and configures
.PHONY: $(configured_goals)
$(configured_goals): ; @$(if $(dry_run),# $(to_configure),echo '$(to_configure)')
else

# --- Flags -------------------------------------------------------------------------------
machine := $(shell uname -m)
ifeq ($(SAN),thread)
OPT ?= -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
else ifdef SAN
# The address sanitizer sees what comes of null pointers and of accesses beyond an object, too: to have them looked for
# by both takes the compiler a sixth more, and -O1 half as much again as -Og.
OPT ?= -Og -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=null,object-size \
  -fno-sanitize-recover=undefined
else ifdef DEBUG
OPT ?= -O0 -g -D_GLIBCXX_ASSERTIONS
else
# Not native: the building and the running node of a cluster differ. Debug information takes a third of the
# compiler's time, and thirty times the space of the rest: DEBUG=1 has it, and OPT='-O3 -g'.
OPT ?= -O3 $(if $(filter x86_64,$(machine)),-march=x86-64-v3)
endif
WARNINGS ?= -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
# GCC 12 sees overflows in fmt's headers that are not there and, with the sanitizers, members
# of std::variant that nobody reads.
WARNINGS += -Wno-stringop-overflow $(if $(SAN),-Wno-maybe-uninitialized)
ifdef WERROR
WARNINGS += -Werror
endif
# OpenMP is what oneDNN computes with: it is told to use one thread. Loops are shared out by base/parallel.
# The objects of both libraries are the same. Nobody defines a function of the shared one anew, so calls inside it
# are direct: -fno-semantic-interposition tells the compiler, -Bsymbolic-functions the linker.
base_flags := -std=c++20 -fPIC -fno-semantic-interposition -fopenmp -DEIGEN_DONT_PARALLELIZE $(OPT) $(WARNINGS) \
  -Isrc -I$(B)/include $(CPPFLAGS) $(CXXFLAGS)
index_flag := $(if $(filter 64,$(found_petsc_index)),-DQUORATE_INDEX_64)

# Parsed once a build: what most files include of foreign headers. PCH=no parses it in each file.
PCH ?= yes
precompiled = $(if $(filter no,$(PCH))$(filter $(large),$(1)),,\
  $(B)/obj/$(if $(filter tests/unit/%,$(1)),tests/unit,src)/precompiled.hpp)
# What takes the compiler more than half a gigabyte, mostly by Eigen's decompositions, stays below it without
# precompiled headers and with garbage collected early, in a third more time.
large       := $(addsuffix %,$(addprefix src/,code/decompositions code/linear_algebra code/byzantine_locator \
  code/shortest_solution code/storage_code model/mlp) \
  $(addprefix tests/unit/,linear_algebra approximate_code_test exact_code_test))
thrifty     := $(if $(findstring clang,$(found_cxx))$(SAN),,--param ggc-min-expand=10)

# The layers that hold no MPI are compiled without its headers: env/poison has an mpi.h, a
# petsc.h and an hdf5.h that are errors, so a forbidden include breaks the build.
pure_layers := base code aggregator compressor model optimizer straggler scheme
pure_flags  := -Ienv/poison $(base_flags) $(index_flag) $(found_pure_cflags)
full_flags  := $(base_flags) $(index_flag) $(found_pure_cflags) $(found_mpi_cflags) \
  -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX
flags_of     = $(if $(filter $(pure_layers:%=src/%/%) src/precompiled.hpp,$(1)),$(pure_flags),$(full_flags)) \
  $(if $(filter tests/unit/%,$(1)),$(found_gtest_cflags) -Itests/unit) \
  $(if $(filter tests/bench/%,$(1)),$(found_benchmark_cflags) -iquotetests/bench) \
  $(if $(filter src/python/%,$(1)),$(python_cflags)) \
  $(if $(filter $(cool),$(1)),$(cool_opt)) $(if $(filter $(COVER),$(1)),--coverage -fprofile-update=atomic)
# What is never hot compiles faster with less optimisation: commands, jobs, and the tests (not what they test).
cool        := $(foreach layer,parts process run commands study import jobs doctor cli python,src/$(layer)/%) tests/unit/%
# Read when the module is made, which needs more than the program does.
python_cflags = -fvisibility=hidden $(shell $(found_python) -c 'import sysconfig; print("-isystem", sysconfig.get_path("include"))') \
  $(shell pkg-config --cflags pybind11 2>/dev/null || $(found_python) -m pybind11 --includes)
cool_opt    := $(if $(SAN)$(DEBUG),,-O1)
link_flags  := -fopenmp $(OPT) $(if $(COVER),--coverage) -Wl,--as-needed $(LDFLAGS)
link_libs   := $(found_libs) $(LDLIBS)
# Quorate's own PETSc lies below the home of whoever built it, where others may not look. So libquorate finds it from its
# own place: in lib/quorate of an installation, before what else may be in lib, or beside itself, in $(B) and a wheel.
comma        := ,
own_folder   := $(patsubst %/,%,$(dir $(found_own_petsc)))
to_own_petsc := $(if $(found_own_petsc),-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)'$$ORIGIN/quorate:$$ORIGIN')
# What is never installed finds it where it is.
test_libs    := $(link_libs) $(if $(found_own_petsc),-Wl$(comma)-rpath$(comma)$(own_folder))
installed_libs = $(if $(found_own_petsc),$(subst -L$(own_folder) ,-L$${libdir}/quorate \
  -Wl$(comma)-rpath$(comma)$${libdir}/quorate ,$(link_libs)),$(link_libs))

# --- Sources -----------------------------------------------------------------------------
# What only the program has. The second replaces functions of MPI, which no library may do.
main      := src/cli/main.cpp src/cli/without_spinning.cpp
# Everything else goes into libquorate, shared by the program and what else runs in a process with it, so that each
# registry is there once. tests/bench takes the archive.
python    := $(wildcard src/python/*.cpp)
sources   := $(filter-out $(main) $(python),$(wildcard src/*/*.cpp src/*/*/*.cpp))
units     := $(wildcard tests/unit/*.cpp)
benches   := $(wildcard tests/bench/*.cpp)
# Each a program of its own.
rivals    := $(wildcard tests/bench/rivals/*.cpp)
rival_programs := $(rivals:tests/bench/%.cpp=$(B)/%)
every     := $(if $(SAN),env/sanitizers.cpp)
# What tests load before the program.
served    := tests/served.cpp
calls     := tests/chaos/calls.cpp
all_cpp   := $(main) $(sources) $(python) $(units) $(served) $(calls) $(benches) $(rivals) $(every)
objects_of = $(patsubst %.cpp,$(B)/obj/%.o,$(1))
# A build that is made once and thrown away compiles files of a folder together: headers are parsed, and templates
# instantiated, once for all of them. So no two files of a folder define the same name.
JOIN      ?= $(if $(SAN),yes,no)
# Large files stay alone, and what others depend on by its own name.
alone     := $(large) src/quorate/%
# $(call joined,FILES): what is compiled for them. join/FIRST.cpp, in $(B), includes $(joined_FIRST.cpp).
joined     = $(if $(filter yes,$(JOIN)),$(filter $(alone),$(1)) \
  $(foreach folder,$(sort $(dir $(1))),$(call groups,$(filter-out $(alone),$(call in,$(folder),$(1))))),$(1))
in         = $(foreach file,$(2),$(if $(filter $(1),$(dir $(file))),$(file)))
groups     = $(if $(1),$(call group,$(wordlist 1,$(together),$(1)))$(call groups,$(wordlist $(words + $(wordlist \
  1,$(together),$(1))),$(words $(1)),$(1))))
group      = $(eval joined_$(firstword $(1)) := $(1))join/$(firstword $(1)) #
# So many that the compiler stays below 1.5 GB: tests are longer than what they test.
together   = $(if $(filter tests/%,$(1)),6,12)
library_files := $(call joined,$(sources))
python_files  := $(call joined,$(python))
unit_files    := $(call joined,$(units))
joins     := $(filter join/%,$(library_files) $(python_files) $(unit_files))
library   := $(call objects_of,$(library_files)) $(B)/obj/version.o
# Each version has an ABI of its own.
soname    := libquorate.so.$(VERSION)
texts     := $(if $(SAN),,$(B)/share/man/man1/quorate.1)

ifeq ($(V),0)
say = @printf '  %-8s %s\n' $(1) '$(2)';
Q   = @
else
say =
Q   =
endif

# What programs and plugins may include, and all that it includes: <quorate/FRONT>, <quorate/FOLDER/FILE>. Each is in
# $(B)/include as it is installed, where one folder holds all: sources include each other without `quorate/`.
front          := quorate.hpp arrays.hpp data.hpp petsc.hpp
public_headers := $(addprefix base/,arguments.hpp block_sums.hpp error.hpp fields.hpp index.hpp numbers.hpp random.hpp \
    registry.hpp seconds.hpp settings.hpp text.hpp typed_entry.hpp values.hpp vector_piece.hpp wire.hpp) \
  $(addprefix code/,collect_decoder.hpp generator.hpp gradient_code.hpp partition.hpp) \
  aggregator/aggregator.hpp compressor/compressor.hpp \
  $(addprefix model/,data_shape.hpp linear.hpp linear_model.hpp loss.hpp model.hpp models.hpp quality.hpp \
    row_view.hpp) \
  $(addprefix optimizer/,optimizer.hpp optimizers.hpp regularizer.hpp schedule.hpp) \
  $(addprefix scheme/,placement.hpp round_end.hpp sample_mean.hpp scheme.hpp schemes.hpp tree.hpp types.hpp) \
  $(addprefix scheme/,$(addsuffix /schemes.hpp,anytime cached newest products rounds sequential)) \
  scheme/sequential/wait_for.hpp \
  $(addprefix scheme/rounds/,adaptive_deadline.hpp synchronous.hpp) $(addprefix straggler/,delay.hpp delays.hpp) \
  $(addprefix tables/,formats.hpp raw_table.hpp source.hpp spool.hpp) \
  $(addprefix trace/,rows.hpp sink.hpp trace.hpp)
included       := $(addprefix $(B)/include/quorate/,build.hpp $(front) $(public_headers))

# --- Targets -----------------------------------------------------------------------------
# What env/deps installs for.
purposes  := cluster analysis-tests python python-tests docs fuzz
jobs_of_python := bandwidth load-time advice dsag local-tuning
jobs      := demo amazon elastic networks headline gallery claims $(jobs_of_python)
benches_of_python := $(addprefix bench-,ranks hosts nodes memory lbfgs python torch)
.PHONY: help info deps configure build python wheel test test-all tests-ready check-layers coverage chaos \
        experiments cluster-demo fuzz fuzzers plot container format lint docs install uninstall clean force \
        bench bench-against bench-rivals bench-report $(jobs) $(benches_of_python) $(purposes:%=%-deps)
force:

configure: $(B)/configure.mk ## install what is missing and find it: the first step of all that builds
	@echo 'configured: $(B)/configure.mk'

build: $(B)/quorate $(texts) $(included) ## the program, build/quorate (the default target)

# The library is looked for beside the program and in ../lib, before LD_LIBRARY_PATH (hence the old tag), so that a
# tree can be moved, and never loads the library of another one. Each takes its place when it is whole, so that what runs
# while it is built goes on with the one before.
$(B)/quorate: $(call objects_of,$(main) $(every)) $(B)/$(soname)
	$(call say,LINK,$@) $(found_cxx) $(link_flags) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/../lib' \
	  -o $@.new $^ $(link_libs) && mv $@.new $@

$(B)/$(soname): $(library) $(B)/sources
	$(call say,LINK,$@) $(found_cxx) $(link_flags) -shared -Wl,-soname,$(soname),-Bsymbolic-functions -o $@.new $(library) \
	  $(to_own_petsc) $(link_libs) && \
	  $(if $(found_own_petsc),ln -sf '$(found_own_petsc)' $(B)/,rm -f $(B)/libpetsc.so.*) && mv $@.new $@ && ln -sf $(soname) $(B)/libquorate.so

# The package of Python, as PYTHONPATH=$(B)/python finds it: links to what is written in Python, and the module.
module_suffix = $(if $(found_python),$(shell $(found_python) -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))'))
module  = $(B)/python/quorate/_quorate$(module_suffix)
package := $(wildcard analysis/quorate/*)
links   := $(filter-out %__pycache__,$(package:analysis/quorate/%=$(B)/python/quorate/%))
python: $(B)/configure.mk python-deps $(module) $(links) $(B)/python/quorate/_built.py ## the Python module: PYTHONPATH=build/python

wheel: python ## the Python module as a package for pip, build/wheel/*.whl, for this machine's Python and MPI
	@rm -rf $(B)/wheel
	@B='$(B)' MAKE='$(MAKE)' $(found_python) -m pip wheel --quiet --no-build-isolation --no-deps --no-index \
	  --wheel-dir '$(B)/wheel' .
	@ls $(B)/wheel/*.whl

$(module): $(call objects_of,$(python_files) $(every)) $(B)/$(soname) | $(B)/python/quorate/.dir
	$(call say,LINK,$@) $(found_cxx) $(link_flags) -shared -Wl,--disable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/../..' \
	  -o $@.new $(filter %.o,$^) $(B)/$(soname) $(link_libs) && mv $@.new $@
$(call objects_of,$(python_files)): | python-deps

# Read before the module is loaded, which could not be in one process with another MPI.
$(B)/python/quorate/_built.py: $(B)/configure.mk VERSION Makefile | $(B)/python/quorate/.dir
	$(Q)printf '# Made by the Makefile.\nMPI = "%s"\nVERSION = "%s"\n' '$(MPI)' '$(VERSION)' > $@

$(links): $(B)/python/quorate/%: | $(B)/python/quorate/.dir
	$(Q)ln -sfn '$(abspath analysis/quorate/$*)' $@

$(B)/libquorate.a: $(library) $(B)/sources
	$(call say,AR,$@) rm -f $@ && $(AR) rcs $@ $(library)

$(B)/obj/version.o: $(B)/version.cpp $(B)/include/quorate/build.hpp src/base/version.hpp $(B)/flags
	$(Q)$(found_cxx) $(base_flags) -c -o $@ $<

# Objects depend on the flags they were compiled with.
$(call objects_of,$(wildcard src/quorate/*.cpp) $(python_files)): | $(B)/include/quorate/build.hpp
$(B)/obj/%.o: %.cpp $(B)/flags $$(addsuffix .gch,$$(call precompiled,$$*)) | $$(@D)/.dir
	$(call say,CXX,$<) $(found_cxx) $(compile) $(if $(filter $(large),$<),$(thrifty)) -MMD -MP -c -o $@ $<
compile = $(call flags_of,$*.cpp) $(addprefix -Winvalid-pch -include ,$(call precompiled,$*.cpp))

$(B)/obj/join/%.o: $(B)/join/%.cpp $(B)/flags $$(addsuffix .gch,$$(call precompiled,$$*)) | $$(@D)/.dir
	$(call say,CXX,$<) $(found_cxx) $(compile) $(join_flags) -MMD -MP -c -o $@ $<

# GCC takes what is included for a header, which is not to use what it keeps to itself. Names of one file shadow those of
# another only here.
join_flags = -iquote . $(if $(findstring clang,$(found_cxx)),,-Wno-subobject-linkage) -Wno-shadow
$(joins:%=$(B)/%): $(B)/join/%: force | $$(@D)/.dir
	@printf '#include "%s"\n' $(joined_$*) > $@.new
	@$(call keep,$@)

$(B)/obj/%.hpp.gch: %.hpp $(B)/flags | $$(@D)/.dir
	$(call say,CXX,$<) $(found_cxx) $(call flags_of,$<) -MMD -MP -MT $@ -MF $(@:.gch=.d) -x c++-header -o $@.new $< && mv $@.new $@

%/.dir:
	@mkdir -p $(@D) && touch $@
.PRECIOUS: %/.dir $(B)/obj/%.hpp.gch

# $(call write,FILE,TEXT), but not under -n, which would write, too.
write = $(if $(dry_run),,$(file >$(1),$(2)))
# $(call keep,FILE): replaces FILE by FILE.new unless they are the same, and keeps its time then.
keep = if cmp -s $(1).new $(1); then rm $(1).new; else mv $(1).new $(1); fi

$(B)/flags: force | $(B)/.dir
	@printf '%s\n' '$(found_cxx) $(found_cxx_version)' '$(pure_flags)' '$(full_flags)' '$(link_flags) $(link_libs)' > $@.new
	@$(call keep,$@)

# The list of sources: a library without the object of a file that is gone must be made again.
$(B)/sources: force | $(B)/.dir
	$(call write,$@.new,$(sources) $(units))
	@$(call keep,$@)

define configuration
quorate    $(VERSION)
build      $(B)/quorate
MPI        $(MPI) $(found_mpi_version)
launcher   $(found_launcher)
compiler   $(found_cxx) $(found_cxx_version)
flags      $(strip $(base_flags) $(index_flag))
PETSc      $(found_petsc_version), $(found_petsc_index)-bit indices, $(found_petsc_prefix)
HDF5       $(found_hdf5_version)
Boost      $(found_boost_version)
Eigen      $(found_eigen_version)
fmt        $(found_fmt_version)
oneDNN     $(found_dnnl_version)
python     $(found_python)
endef

info: ## the effective configuration, as compiled into the program
	$(info $(configuration))$(info pybind11   $(or $(shell pkg-config --modversion pybind11 2>/dev/null),none; make python needs it))$(info shared     $(if $(shell $(found_python) -c 'import os; print(os.memfd_create("x"))' 2>/dev/null),memory of one host can be shared,no memory of this host: points and contributions travel in messages))@:

# What produced a result: the git revision and the configuration, compiled in.
revision = $(or $(shell git describe --always --dirty 2>/dev/null),unknown)
$(B)/version.cpp: force | $(B)/obj/.dir
	$(call write,$@.new,$(version_source))
	@$(call keep,$@)

# What plugins are compared with: they include this file, made again only if it changes.
$(B)/include/quorate/build.hpp: force | $$(@D)/.dir
	$(call write,$@.new,$(build_header))
	@$(call keep,$@)

include_of = $(Q)sed 's|^\#include "\(quorate/\)\{0,1\}\(.*\)"|\#include <quorate/\2>|' $< > $@
$(front:%=$(B)/include/quorate/%): $(B)/include/quorate/%: src/quorate/% Makefile | $$(@D)/.dir
	$(include_of)
$(public_headers:%=$(B)/include/quorate/%): $(B)/include/quorate/%: src/% Makefile | $$(@D)/.dir
	$(include_of)

version_words := $(subst ., ,$(VERSION))
abi           := v$(subst .,_,$(VERSION))
petsc_words   := $(subst ., ,$(found_petsc_version))
define build_header
// SPDX-License-Identifier: BSD-2-Clause
// Made by the Makefile.
#pragma once

// For comparisons, as `#if QUORATE_VERSION_MAJOR == 0`.
#define QUORATE_VERSION "$(VERSION)"
#define QUORATE_VERSION_MAJOR $(word 1,$(version_words))
#define QUORATE_VERSION_MINOR $(word 2,$(version_words))
#define QUORATE_VERSION_PATCH $(word 3,$(version_words))

// Of the PETSc that Quorate was built with, which petsc.hpp compares with the program's.
#define QUORATE_PETSC_MAJOR $(word 1,$(petsc_words))
#define QUORATE_PETSC_MINOR $(word 2,$(petsc_words))

// Part of the names of what quorate.hpp declares: a program does not link with the library of another version.
#define QUORATE_ABI $(abi)

// What plugins are compared with.
#define QUORATE_BUILT_WITH "Quorate $(VERSION), $(MPI) $(found_mpi_version), $(found_petsc_index)-bit indices, compiler " __VERSION__
endef

define version_source
// Made by the Makefile.
#include "base/version.hpp"
#include "quorate/build.hpp"

namespace quorate {
const char* const built_with = QUORATE_BUILT_WITH;
const char* const version = "$(VERSION)";
const char* const git_revision = "$(revision)";
const char* const launcher = "$(found_launcher)";
const char* const python = "$(found_python)";
const char* const build_info = R"QUORATE($(configuration))QUORATE";
} // namespace quorate
endef

# The man page comes from the option tables, by the program itself.
$(B)/share/man/man1/quorate.1: $(B)/quorate | $$(@D)/.dir
	$(Q)$(abspath $<) help --man > $@.new && mv $@.new $@

# What the scripts and tests that run the program are told.
run_env = QUORATE='$(abspath $(B)/quorate)' LAUNCHER='$(found_launcher)' PYTHON='$(found_python)' \
  B='$(B)' MPI='$(MPI)' $(launch_env) $(san_env)
# Open MPI refuses root and more ranks than cores unless told; tests and demo need both.
ifeq ($(MPI),openmpi)
launch_env := OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
endif
# A Python that loads a module with sanitizers must begin with their library, and with what it intercepts.
ifeq ($(SAN),thread)
# UCX watches what the C library does with memory as a thread ends, when this sanitizer has forgotten the thread.
thread_env := UCX_MEM_EVENTS=n
endif
ifdef SAN
san_env = $(thread_env) SANITIZERS='$(shell $(found_cxx) -print-file-name=lib$(if $(filter thread,$(SAN)),t,a)san.so) $(shell $(found_cxx) -print-file-name=libstdc++.so)'
endif

# Scripts of jobs/, in bash and in Python.
demo: build ## coded gradient descent with stragglers on generated data, and its figure
amazon: build ## the Amazon experiment of the ErasureHead paper, measured (AMAZON=train.csv.gz)
elastic: build ## coded elastic computing while machines leave and join (QUORATE_DATA=folder)
bandwidth: build ## messages of 8 kB to 2 MB, 1 to 99 workers on four hosts of this machine, beside the simulation; as root
networks: build ## MNIST and CIFAR-10 with networks, 8 workers (QUORATE_DATA=folder)
headline: build ## the figure at the top of README.md: ErasureHead's setting over MPI, half an hour (QUORATE_DATA=folder)
gallery: build ## the figures of docs/gallery.md, of all experiments; ARGS=NAME one of them (QUORATE_DATA=folder)
claims: build ## what papers and we say of schemes, judged by simulations, into docs/experiments.md and docs/papers.md; ARGS=NAME, SEEDS=100..104, VERDICTS=docs/experiments.md (QUORATE_DATA=folder)
load-time: build ## how long a worker loads a row beside computing with it, over MPI, half a minute
advice: build ## how well quorate advise ranks schemes, on recorded times and delay models (QUORATE_DATA=folder); ARGS=--slow
dsag: build ## seconds to small gaps with DSAG, SAG and exact gradients, simulated, ten seeds (ARGS="--seeds 5")
local-tuning: build ## a credit SVM tuned by each worker and averaged, beside one tuning for all, five seeds (ARGS="--seeds 3")
$(jobs):
	@AMAZON='$(AMAZON)' SEEDS='$(SEEDS)' VERDICTS='$(VERDICTS)' $(run_env) $(if $(filter $(jobs_of_python),$@),$(found_python)) jobs/$@ $(ARGS)

experiments: build ## what jobs/ holds; make run-NAME, simulate-NAME, tune-NAME, plot-NAME, report-NAME, submit-NAME CLUSTER=...
	@$(B)/quorate list experiments

# Of jobs/NAME.ini; ARGS are options of quorate script. None of them is a file.
define experiment_targets
$(1)-%: build force
	@$(if $(filter submit,$(1)),CLUSTER='$$(CLUSTER)') $$(run_env) jobs/experiment $(1) '$$*' $$(ARGS)
endef
$(foreach verb,run simulate tune plot report submit,$(eval $(call experiment_targets,$(verb))))

$(purposes:%=%-deps):
	@$(if $(filter no,$(DEPS)),,env/deps $(@:-deps=))
python-tests-deps docs-deps: python-deps

cluster-demo: build cluster-deps ## an experiment as jobs of a private SLURM on this machine, from data to report
	@$(run_env) slurm/demo

# For tests/run: builds what the levels need and writes down what to run them with.
tests-ready: $(if $(filter unit,$(or $(levels),unit)),$(B)/tests/unit) \
             $(if $(whole),$(if $(filter cli,$(or $(levels),cli)),$(B)/bench $(rival_programs))) \
             $(if $(filter bench,$(levels)),$(B)/bench) \
             $(if $(filter python,$(or $(levels),python)),python python-tests-deps) \
             $(if $(filter docs,$(or $(levels),docs)),python $(if $(whole),docs-deps)) \
             $(if $(filter analysis,$(or $(levels),analysis)),analysis-tests-deps) \
             $(if $(filter-out unit,$(or $(levels),all)),build $(B)/tests/served.so cluster-deps)
	@mkdir -p $(B)/tests
	@echo "export $(run_env)" > $(B)/tests/environment

check-layers: $(call objects_of,$(library_files)) ## what includes what, and who calls MPI, HDF5 or a clock
	@env/check-layers $^

# With the shared library, whose registries plugins add to.
$(B)/tests/unit: $(call objects_of,$(unit_files) $(every)) $(B)/$(soname) $(B)/sources | $$(@D)/.dir
	$(call say,LINK,$@) $(found_cxx) $(link_flags) -Wl,-rpath,'$$ORIGIN/..' -o $@ $(filter-out %/sources,$^) \
	  $(found_gtest_libs) $(test_libs)

# What is loaded before the program.
$(B)/tests/served.so: $(call objects_of,$(served))
$(B)/tests/calls.so: $(call objects_of,$(calls))
$(B)/tests/served.so $(B)/tests/calls.so: | $$(@D)/.dir
	$(call say,LINK,$@) $(found_cxx) $(link_flags) -shared -o $@.new $^ && mv $@.new $@

$(B)/bench: $(call objects_of,$(benches) tests/unit/simulation.cpp $(every)) $(B)/libquorate.a
	$(call say,LINK,$@) $(found_cxx) $(link_flags) -o $@ $^ $(found_benchmark_libs) $(test_libs)

$(rival_programs): $(B)/%: $(B)/obj/tests/bench/%.o $(call objects_of,$(every)) $(library) | $$(@D)/.dir
	$(call say,LINK,$@) $(found_cxx) $(link_flags) -o $@ $^ $(test_libs)

coverage: $(B)/tests/unit ## lines that unit tests execute; COVER="src/transport/% src/ranks/%", SAN=thread, ARGS="FILTER of tests"
	@$(run_env) tests/coverage '$(B)' $(ARGS)

chaos: build $(B)/tests/calls.so ## harm runs at random: kills, hosts, files, power losses; 50 of a kind or more, some as root; ARGS="--runs 5 --only hosts"
	@$(run_env) $(found_python) tests/chaos/chaos.py $(ARGS)

bench: build $(B)/bench ## Google Benchmark programs; ARGS="--benchmark_filter=..."
	@$(run_env) $(B)/bench $(ARGS)

bench-against: build $(B)/bench ## this build beside that of another checkout: OTHER=FOLDER (QUORATE_DATA=folder)
	@$(run_env) $(found_python) tests/bench/against '$(B)' '$(OTHER)' $(ARGS)

bench-rivals: build $(rival_programs) ## rounds and gradients beside a bare loop, MPI_Allreduce, TAO, SciPy; ARGS="--only agc30" (QUORATE_DATA=folder)
	@$(run_env) $(found_python) tests/bench/rivals/table $(ARGS)

bench-ranks: build ## what a run costs by its number of ranks; ARGS="--ranks 26,201"
bench-hosts: build cluster-deps ## what one slow link among hosts costs a round, by scheme; as root
bench-nodes: build $(B)/rivals/allreduce $(B)/rivals/one_hot cluster-deps ## rounds over hosts with slow links by --aggregate, beside allreduce and simulated, as root; ARGS="--dense" (QUORATE_DATA=folder)
bench-memory: build cluster-deps ## what a wide model takes of each rank's memory over hosts, by --aggregate; as root; ARGS="--columns 1000000"
bench-lbfgs: build ## rounds of lbfgs beside those of TAO's LMVM and of agd; ARGS="--only a9a" (QUORATE_DATA=folder)
bench-python: build python ## what Python costs: import, a scheme, a model, a network of PyTorch
bench-torch: build python ## training of PyTorch's modules beside a plain loop and DistributedDataParallel; ARGS="--only slow" (QUORATE_DATA=folder)
$(benches_of_python):
	@$(run_env) PYTHONPATH="$(B)/python$${PYTHONPATH:+:$$PYTHONPATH}" $(found_python) tests/bench/$(@:bench-%=%) $(ARGS)

bench-report: build ## what a report of 20 traces takes
	@$(run_env) tests/bench/report

# Parsers under libFuzzer, compiled by Clang with its sanitizers: tests/fuzz/NAME.cpp is one fuzzer, and
# tests/fuzz/corpus/NAME what it begins with. mutated_files reads damaged HDF5 files, in a process each, because HDF5
# itself crashes on some.
fuzzers      := $(filter-out mutated_files,$(patsubst tests/fuzz/%.cpp,%,$(wildcard tests/fuzz/*.cpp)))
# Clang lacks OpenMP here.
fuzz_sources := $(filter-out src/base/parallel.cpp,$(wildcard src/base/*.cpp src/hdf5/*.cpp src/tables/*.cpp src/data/*.cpp)) \
  $(wildcard src/trace/*.cpp) src/model/data_shape.cpp src/cli/parse.cpp \
  src/parts/plugins.cpp src/jobs/manifest.cpp src/jobs/glance.cpp src/optimum/optimum_cache.cpp
fuzz_objects := $(fuzz_sources:%.cpp=$(B)/fuzz/%.o) $(B)/fuzz/src/base/version.o
fuzz_flags    = -std=c++20 -O1 -g -fsanitize=fuzzer-no-link,address,undefined -Isrc -I$(B)/include -Itests/unit \
  -Itests/fuzz $(index_flag) $(found_pure_cflags) $(found_mpi_cflags)
FUZZ_SECONDS ?= 60
MUTATED      ?= 2000

$(B)/fuzz/%.o: %.cpp $(B)/flags | $$(@D)/.dir
	$(call say,CLANG,$<) clang++ $(fuzz_flags) -MMD -MP -c -o $@ $<
$(B)/fuzz/src/base/version.o: $(B)/version.cpp $(B)/include/quorate/build.hpp | $$(@D)/.dir
	$(Q)clang++ $(fuzz_flags) -c -o $@ $<
# What the parsers only refer to comes from the library, as GCC has made it.
link_fuzzer   = $(call say,LINK,$@) clang++ -fsanitize=$(1)address,undefined -o $@ $^ -Wl,-rpath,$(abspath $(B)) \
	  $(test_libs) "$$($(found_cxx) -print-file-name=libgomp.so)"
$(fuzzers:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/fuzz/tests/fuzz/%.o $(fuzz_objects) $(B)/$(soname)
	$(call link_fuzzer,fuzzer$(comma))
$(B)/fuzz/mutated_files: $(addprefix $(B)/fuzz/tests/,fuzz/mutated_files.o unit/command.o) $(fuzz_objects) \
  $(B)/$(soname)
	$(call link_fuzzer)

$(fuzz_objects): | fuzz-deps

fuzzers: fuzz-deps $(addprefix $(B)/fuzz/,$(fuzzers) mutated_files)

fuzz: fuzzers ## parsers under libFuzzer (FUZZ_SECONDS=60 each), and MUTATED=2000 damaged HDF5 files
	@for name in $(fuzzers); do echo "fuzz: $$name"; mkdir -p $(B)/fuzz/corpus/$$name; \
	  $(B)/fuzz/$$name -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 -print_final_stats=1 \
	    -artifact_prefix=$(B)/fuzz/$$name- $(B)/fuzz/corpus/$$name tests/fuzz/corpus/$$name \
	    > $(B)/fuzz/$$name.log 2>&1 || { tail -n 30 $(B)/fuzz/$$name.log; exit 1; }; \
	  grep -E 'number_of_executed_units' $(B)/fuzz/$$name.log; done
	@$(B)/fuzz/mutated_files $(MUTATED)

plot: $(B)/configure.mk ## loss and AUC of TRACES="a.h5 b.h5" in figures (OUTPUT=figure)
	@test -n '$(TRACES)' || { echo 'make plot: name the traces: TRACES="a.h5 b.h5"' >&2; exit 2; }
	@$(found_python) analysis/quorate-analysis compare --panel --quiet --out '$(dir $(or $(OUTPUT),figure))' \
	  --name '$(notdir $(or $(OUTPUT),figure))' $(TRACES)

compile_commands.json: $(B)/configure.mk $(B)/flags Makefile ## for clangd and clang-tidy
	$(call write,$@,[$(foreach s,$(all_cpp),$(call command_of,$(s)))])@:
command_of = {"directory": "$(CURDIR)"$(comma) "file": "$(1)"$(comma) "command": \
  "$(found_cxx) $(subst ",\",$(call flags_of,$(1))) -c $(1)"}$(if \
  $(filter-out $(lastword $(all_cpp)),$(1)),$(comma))

# --- Style -------------------------------------------------------------------------------
lint: compile_commands.json python-deps $(B)/include/quorate/build.hpp ## clang-format, clang-tidy, cppcheck, shellcheck, codespell, flake8, black, mypy; ARGS=--changed
	@PYTHON='$(found_python)' env/lint $(ARGS)

# --- Install -----------------------------------------------------------------------------
# Pages, option tables of the program, references of Python and C++: docs/site says what is where. Needs no network.
docs: build python docs-deps ## the site of docs/, with the references: build/docs/index.html
	@rm -rf $(B)/docs $(B)/site
	@export QUORATE='$(abspath $(B)/quorate)' QUORATE_PACKAGE='$(abspath $(B)/python)' QUORATE_VERSION='$(VERSION)' && \
	  $(found_python) docs/site/stage $(B)/site/sources && \
	  $(found_python) -m sphinx -q -W --keep-going -d $(B)/site/state $(B)/site/sources $(B)/docs
	@{ cat docs/site/Doxyfile; printf '%s\n' 'PROJECT_NUMBER = $(VERSION)' 'PREDEFINED = QUORATE_ABI=$(abi)' 'HTML_OUTPUT = $(B)/docs/cpp' \
	  'INPUT = $(front:%=src/quorate/%) $(public_headers:%=src/%)'; } | doxygen -
	@rm -rf $(B)/site
	@echo 'docs: $(B)/docs/index.html'

# $(call copy,FROM,FILES,TO): files by their paths in FROM into a folder of the installed tree, for all to read.
copy = umask 022 && to=$$(realpath -m '$(root)/$(3)') && mkdir -p "$$to" && cd '$(1)' && \
  cp --parents --remove-destination --no-preserve=mode $(2) "$$to"
# $(call fill,FILE,FOLDER): env/FILE.in, filled in, into a folder of the installed tree.
fill = install -d '$(root)/$(2)' && sed 's|@version@|$(VERSION)|; s|@soname@|$(soname)|; s|@libs@|-fopenmp $(installed_libs)|; \
  s|@cflags@|$(strip $(index_flag) $(subst -isystem ,-I,$(found_pure_cflags)))|' \
  env/$(1).in > '$(root)/$(2)/$(1)'

install: build $(B)/libquorate.a $(B)/python/quorate/_built.py ## program, libraries, headers, pkg-config, CMake, man page, completion (PREFIX, DESTDIR)
	@install -D -m 755 -t '$(root)/bin' $(B)/quorate
	@install -D -m 644 -t '$(root)/lib' $(B)/$(soname) $(B)/libquorate.a
	@ln -sf $(soname) '$(root)/lib/libquorate.so'
	@$(if $(found_own_petsc),install -D -m 644 -t '$(root)/lib/quorate' '$(found_own_petsc)' && \
	  ln -sf $(notdir $(found_own_petsc)) '$(root)/lib/quorate/libpetsc.so')
	@rm -rf '$(root)/include/quorate'
	@install -D -m 755 -t '$(root)/share/quorate/analysis' analysis/quorate-analysis analysis/quorate-hosts
	@$(call copy,.,$(wildcard slurm/*.ini jobs/*.ini jobs/*.tuned jobs/data/*.ini) \
	  $(wildcard analysis/quorate/*.py $(addprefix analysis/quorate/,torch/*.py hosts/*.py analysis/*.py analysis/*.mplstyle)),share/quorate)
	@$(call copy,$(B)/python,quorate/_built.py,share/quorate/analysis)
	@$(call copy,$(B),$(patsubst $(B)/%,%,$(included) $(texts)))
	@$(call fill,quorate.pc,lib/pkgconfig)
	@$(call fill,quorate-config.cmake,lib/cmake/quorate)
	@$(call fill,quorate-config-version.cmake,lib/cmake/quorate)
	@install -D -m 644 env/completion '$(completions)/quorate'
	@$(foreach l,$(completed_launchers),[ -e '$(completions)/$(l)' ] || ln -s quorate '$(completions)/$(l)' &&) :

-include $(patsubst %.o,%.d,$(call objects_of,$(all_cpp) $(joins)) $(fuzz_objects) $(wildcard $(B)/fuzz/tests/*/*.o))
endif
