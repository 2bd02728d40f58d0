#!/bin/bash
# made by: quorate script --experiment REPOSITORY/tests/golden/experiment.ini --cluster niagara --output FOLDER/niagara --time 3h --account def-someone --mail someone@example.org --retired
# 6 runs of 16 ranks
#SBATCH --job-name=experiment
#SBATCH --account=def-someone
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=2
#SBATCH --time=3:00:00
#SBATCH --array=1-6
#SBATCH --mail-user=someone@example.org
#SBATCH --mail-type=END,FAIL
#SBATCH --output=experiment.%A_%a.log
#SBATCH --open-mode=append
#SBATCH --export=NONE
#SBATCH --no-kill
set -eo pipefail
cd FOLDER/niagara
export SLURM_EXPORT_ENV=ALL
# Whether hosts and ranks will do: mpirun --bind-to core --map-by ppr:16:node:pe=2 -n 16 QUORATE doctor --threads 2 --resilient
rc=0
mpirun --bind-to core --map-by ppr:16:node:pe=2 -n 16 QUORATE run --manifest manifest.tsv --row "$SLURM_ARRAY_TASK_ID" --resume --walltime 10800 --stop-before 300 || rc=$?
# With killed ranks the launcher's status is not the run's: its trace knows.
rc=0; QUORATE todo --manifest manifest.tsv --row "$SLURM_ARRAY_TASK_ID" || rc=$?
[ "$rc" -eq 75 ] && rc=0  # stopped in time: the next link, or a new submission, goes on
exit "$rc"
