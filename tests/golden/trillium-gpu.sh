#!/bin/bash
# made by: quorate script --experiment REPOSITORY/tests/golden/experiment.ini --cluster trillium-gpu --output FOLDER/trillium-gpu --time 3h --account def-someone --mail someone@example.org --gpus-per-task 1
# 6 runs of 16 ranks
#SBATCH --job-name=experiment
#SBATCH --account=def-someone
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=2
#SBATCH --gpus-per-node=4
#SBATCH --time=3:00:00
#SBATCH --array=1-6
#SBATCH --mail-user=someone@example.org
#SBATCH --mail-type=END,FAIL
#SBATCH --output=experiment.%A_%a.log
#SBATCH --open-mode=append
#SBATCH --export=NONE
#SBATCH --no-kill
set -eo pipefail
cd FOLDER/trillium-gpu
export SLURM_EXPORT_ENV=ALL
module purge
module load StdEnv/2023 gcc/12.3 openmpi/4.1.5 petsc/3.23.4 hdf5-mpi/1.14.5 boost/1.85.0 cuda/12.6
source /scinet/vast/etc/vastpreload-openmpi.bash
# Whether hosts and ranks will do: mpirun --mca orte_allowed_exit_without_sync 1 --bind-to core --map-by ppr:4:node:pe=2 -n 16 QUORATE doctor --threads 2 --resilient
rc=0
mpirun --mca orte_allowed_exit_without_sync 1 --bind-to core --map-by ppr:4:node:pe=2 -n 16 QUORATE run --manifest manifest.tsv --row "$SLURM_ARRAY_TASK_ID" --resume --walltime 10800 --stop-before 300 || rc=$?
# With killed ranks the launcher's status is not the run's: its trace knows.
rc=0; QUORATE todo --manifest manifest.tsv --row "$SLURM_ARRAY_TASK_ID" || rc=$?
[ "$rc" -eq 75 ] && rc=0  # stopped in time: the next link, or a new submission, goes on
exit "$rc"
