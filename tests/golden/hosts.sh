#!/bin/bash
# made by: quorate script --experiment REPOSITORY/tests/golden/experiment.ini --cluster hosts --output FOLDER/hosts --time 3h --hostfile FOLDER/machines
# 6 runs of 16 ranks
set -eo pipefail
cd FOLDER/hosts
rows=$(QUORATE todo --manifest manifest.tsv --lines)
for row in $rows; do
  rc=0
  LAUNCHER KEEP_GOING HOSTFILE_OPTION -n 16 QUORATE run --manifest manifest.tsv --row "$row" --resume || rc=$?
  # With killed ranks the launcher's status is not the run's: its trace knows.
  rc=0; QUORATE todo --manifest manifest.tsv --row "$row" || rc=$?
  [ "$rc" -eq 0 ] || exit "$rc"
done
