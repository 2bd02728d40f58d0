#!/bin/bash
# made by: quorate script --experiment REPOSITORY/tests/golden/experiment.ini --cluster hosts --output FOLDER/hosts --time 3h --hostfile FOLDER/machines
# 6 runs of 16 ranks
set -eo pipefail
cd FOLDER/hosts
# Whether hosts and ranks will do: LAUNCHER KEEP_GOING HOSTFILE_OPTION BIND_2_CORES -n 16 QUORATE doctor --threads 2 --resilient
rows=$(QUORATE todo --manifest manifest.tsv --lines)
for row in $rows; do
  rc=0
  LAUNCHER KEEP_GOING HOSTFILE_OPTION BIND_2_CORES -n 16 QUORATE run --manifest manifest.tsv --row "$row" --resume || rc=$?
  # With killed ranks the launcher's status is not the run's: its trace knows.
  rc=0; QUORATE todo --manifest manifest.tsv --row "$row" || rc=$?
  [ "$rc" -eq 0 ] || exit "$rc"
done
