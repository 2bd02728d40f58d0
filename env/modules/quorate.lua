-- SPDX-License-Identifier: BSD-2-Clause
-- Lmod modulefile of an installed tree. Tried with Lmod 8.6 on Debian, on no cluster.
--
--   make install PREFIX=$HOME/software/quorate
--   install -D -m 644 env/modules/quorate.lua $HOME/software/quorate/modulefiles/quorate/0.1.0.lua
--   module use $HOME/software/quorate/modulefiles && module load quorate
--
-- The prefix is the folder that holds modulefiles/. Where modulefiles are kept apart, name it here.
local prefix = myFileName():match("^(.*)/modulefiles/.*$") or "PREFIX"

-- The modules that it was built with, for example
-- depends_on("StdEnv/2023", "gcc/12.3", "openmpi/4.1.5", "petsc/3.23.4", "hdf5-mpi/1.14.5", "boost/1.85.0")

if mode() == "load" and not isFile(pathJoin(prefix, "bin/quorate")) then
  LmodError("there is no " .. pathJoin(prefix, "bin/quorate") .. ": set prefix in " .. myFileName())
end

help([[
Quorate trains models by distributed first-order optimisation on clusters whose workers are slow,
uneven or dead. Begin with `quorate --help` and `man quorate`.
]])
whatis("Name: Quorate")
whatis("Version: " .. myModuleVersion())
whatis("Description: distributed first-order optimisation that does not wait for stragglers")

conflict("quorate")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
append_path("MANPATH", "") -- an empty one at the end: the system's
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib/pkgconfig"))
setenv("QUORATE_ROOT", prefix)
