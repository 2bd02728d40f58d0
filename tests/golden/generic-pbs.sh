#!/bin/bash
# made by: quorate script --experiment REPOSITORY/tests/golden/experiment.ini --cluster generic-pbs --output FOLDER/generic-pbs --time 3h --account def-someone --mail someone@example.org
# 6 runs of 16 ranks
#PBS -N experiment
#PBS -A def-someone
#PBS -l select=1:ncpus=32:mpiprocs=16
#PBS -l walltime=3:00:00
#PBS -J 1-6
#PBS -M someone@example.org
#PBS -m ae
#PBS -j oe
set -eo pipefail
cd FOLDER/generic-pbs
row=${PBS_ARRAY_INDEX:-${PBS_ARRAYID:-${SLURM_ARRAY_TASK_ID:-${row:-1}}}}
exec > experiment."$row".log 2>&1
# Whether hosts and ranks will do: LAUNCHER KEEP_GOING -n 16 QUORATE doctor --threads 2 --resilient
rc=0
LAUNCHER KEEP_GOING -n 16 QUORATE run --manifest manifest.tsv --row "$row" --resume --walltime 10800 --stop-before 300 || rc=$?
# With killed ranks the launcher's status is not the run's: its trace knows.
rc=0; QUORATE todo --manifest manifest.tsv --row "$row" || rc=$?
[ "$rc" -eq 75 ] && rc=0  # stopped in time: the next link, or a new submission, goes on
exit "$rc"
