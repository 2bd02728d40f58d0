# SPDX-License-Identifier: BSD-2-Clause
"""What a round takes over hosts of this machine: of runs, of the same under the virtual clock, and
of rivals.

Of each run the mean of the rounds but the first ones counts. Bytes are those of the busiest link,
one way, as the host's network counts them, without those of a run of few rounds.

The rivals are gradient descent with an allreduce of the dense gradient, one process a host: gloo's
ring, and MPI_Allreduce. Both have (almost) no gradient to compute, so they are at their best. On
dense data there is gloo's ring with the gradient of a host's rows, too.
"""
import json
import subprocess
import sys

import h5py

from program import BUILD, REPOSITORY, Job, attributes_of, call

# Of each its words, and of how many workers the number is a multiple.
SCHEMES = {"uncoded": ("uncoded", 1), "frc": ("frc --stragglers 2", 3)}
DENSE_ROWS, DENSE_COLUMNS = 4, 241915  # of a worker; as many columns as the Amazon data have
RESILIENT = ["--resilient", "--checkpoint-every", "1h", "--checkpoint"]
# Shares of runs that may go on without some of their ranks: with a file, and with states in memory.
STATES = {
    "shares, resilient": [],
    "shares, states every 10 rounds": ["--memory-checkpoint-every", "10r"],
}
GLOO = REPOSITORY / "tests" / "bench" / "rivals" / "gloo_allreduce"
RIVALS = ["gloo", "MPI"]
COMPUTES = "gloo, with gradients"
LEFT_OUT = 5  # rounds at the beginning
LONGEST = 900  # seconds
GOODPUT = 8948 / 9014  # of a link's rate: what TCP, IP and Ethernet leave of a full packet


def places(workers, hosts):
    """Ranks of each host: as evenly as it goes, and the coordinator on the first one."""
    counts = [(workers + hosts - 1 - host) // hosts + (host == 0) for host in range(hosts)]
    return {f"n{host + 1}": count for host, count in enumerate(counts)}


def workers_of(scheme, given):
    """How many there are on all hosts."""
    multiple = SCHEMES[scheme][1]
    return given.workers * given.hosts // multiple * multiple


def checked(done, what):
    """What it printed; an error ends all."""
    if done.returncode != 0:
        sys.exit(f"bench-nodes: {what}: {done.stderr.strip()}")
    return done.stdout


def need_gloo():
    """Ends all where it is missing; it says so itself."""
    if status := subprocess.run([sys.executable, GLOO]).returncode:
        sys.exit(status)


class OverHosts:
    """What all runs share: hosts, data and options."""

    def __init__(self, given, hosts, data, folder):
        self.given, self.hosts, self.data, self.folder = given, hosts, data, folder
        self.started = {}  # bytes of a run of few rounds, by name
        if data:
            with h5py.File(data, "r", locking=False) as file:
                self.columns = int(file.attrs["columns"])

    def ms(self, ends):
        return 1e3 * float(ends[-1] - ends[LEFT_OUT - 1]) / self.given.rounds

    def words(self, scheme, way, rounds):
        common = ["--workers", workers_of(scheme, self.given), "--rounds", rounds]
        common += ["--scheme", *SCHEMES[scheme][0].split()]
        common += ["--aggregate", way.split(",")[0], "--overwrite", "--quiet"]
        if not self.data:
            return common + ["--dry", "--columns", self.given.columns]
        learning = ["--step", 10, "--optimizer", "agd-eh", "--evaluate-every", 0]
        return common + ["--data", self.data, *learning]

    def run(self, scheme, way, rounds):
        """When each round ended."""
        trace = f"{self.folder}/run.h5"
        where = places(workers_of(scheme, self.given), self.given.hosts)
        words = [*self.words(scheme, way, rounds), "--trace", trace]
        if way in STATES:
            words += [*RESILIENT, f"{self.folder}/run.checkpoint", *STATES[way]]
        job = self.hosts.start(where, "run", *words)
        checked(job.wait(LONGEST), f"{scheme} {way}")
        with h5py.File(trace, "r", locking=False) as file:
            if attributes_of(file)["aggregate"] != way.split(",")[0]:
                sys.exit(f"bench-nodes: {trace} is {attributes_of(file)['aggregate']}, not {way}")
            return file["round/time"][:]

    def simulated(self, scheme, way, row_time):
        """ms a round under the virtual clock. row_time: seconds, or a trace to take them from."""
        trace = f"{self.folder}/simulated.h5"
        links = ["--nodes", self.given.hosts, "--latency", self.given.latency]
        links += ["--bandwidth", GOODPUT * self.given.mbit * 1e6 / 8]
        words = self.words(scheme, way, self.given.rounds + LEFT_OUT)
        done = call("simulate", *words, *links, "--row-time", row_time, "--trace", trace)
        checked(done, f"{scheme} {way}, simulated")
        with h5py.File(trace, "r", locking=False) as file:
            return self.ms(file["round/time"][:])

    def allreduce(self, rival, rounds):
        """When each round of a rival ended."""
        names = self.hosts.names
        if rival == "MPI":
            rows = f"{self.folder}/rows.h5"  # next to none
            made = [BUILD / "rivals" / "one_hot", rows, str(len(names)), str(self.columns)]
            checked(subprocess.run(made, capture_output=True, text=True), "one_hot")
            words = [rows, "--rounds", rounds, "--step", 10]
            program = BUILD / "rivals" / "allreduce"
            jobs = [self.hosts.start(dict.fromkeys(names, 1), *words, program=program)]
        else:
            env = {"MASTER_ADDR": names[0], "MASTER_PORT": "29500", "WORLD_SIZE": str(len(names))}
            env["GLOO_SOCKET_IFNAME"] = "eth0"
            words = [sys.executable, GLOO, self.columns, rounds]
            if rival == COMPUTES:
                words.append(DENSE_ROWS * self.given.workers)
            jobs = [
                Job(self.hosts.on(name, *words), {**env, "RANK": str(rank)})
                for rank, name in enumerate(names)
            ]
        told = [checked(job.wait(LONGEST), f"allreduce {rival}") for job in jobs]
        return json.loads(told[0])["ends"]

    def measure(self, links, name, way):
        """Returns ms and bytes of the busiest link, out and in, of a round."""

        def bytes_of(rounds):
            before = self.hosts.traffic()
            ends = self.run(name, way, rounds) if name in SCHEMES else self.allreduce(way, rounds)
            ways = zip(before, self.hosts.traffic())
            return ends, [[b - a for a, b in zip(*pair)] for pair in ways]

        key = (links, name, way)
        if key not in self.started:
            self.started[key] = bytes_of(LEFT_OUT)[1]
        ends, sent = bytes_of(self.given.rounds + LEFT_OUT)
        hosts = zip(sent, self.started[key])
        busiest = max(b - a for whole, few in hosts for b, a in zip(whole, few))
        return self.ms(ends), busiest / self.given.rounds
