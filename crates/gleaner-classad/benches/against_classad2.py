"""Matches one job against machine ads with HTCondor's classad2, then with this crate, and prints the ratio.

    python3 -m venv /tmp/classad2 && /tmp/classad2/bin/pip install htcondor==25.14.1
    /tmp/classad2/bin/python crates/gleaner-classad/benches/against_classad2.py

Run from anywhere inside the workspace. The ads are those of benches/matching.rs; both sides run one after the other on
the same machine. classad2 meets fewer machines, since it is slow; its time for a match does not depend on how many.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

import classad2

MACHINES = 5_000
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
BENCHED_MACHINES = 100_000

JOBS = {
    "numbers only": (
        "[ RequestCpus = 2; RequestMemory = 2048; RequestDisk = 500000; Requirements = TARGET.Disk >= RequestDisk && "
        "TARGET.Memory >= RequestMemory && TARGET.Cpus >= RequestCpus ]"
    ),
    "with strings": (
        '[ MyType = "Job"; Owner = "alice"; RequestCpus = 2; RequestMemory = 2048; RequestDisk = 500000; '
        'Requirements = (TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX") && (TARGET.Disk >= RequestDisk) && '
        "(TARGET.Memory >= RequestMemory) && (TARGET.Cpus >= RequestCpus); Rank = TARGET.KFlops ]"
    ),
}


def machine(number):
    return classad2.ClassAd(
        f'[ MyType = "Machine"; Name = "slot{number}@host"; Arch = "X86_64"; OpSys = "LINUX"; '
        f"Cpus = {1 + number % 16}; Memory = {512 * (1 + number % 32)}; Disk = {100_000 * (1 + number % 20)}; "
        f"KFlops = {1_000_000 + number}; LoadAvg = {number % 100 / 100:.2f}; KeyboardIdle = {number % 3600}; "
        f'State = "Unclaimed"; Requirements = TARGET.RequestMemory <= MY.Memory && MY.LoadAvg < 0.9 ]'
    )


def seconds_each(match, machines):
    best = None
    for _ in range(5):
        start = time.perf_counter()
        for ad in machines:
            match(ad)
        each = (time.perf_counter() - start) / len(machines)
        best = each if best is None else min(best, each)
    return best


def ours():
    run = ["cargo", "bench", "-q", "-p", "gleaner-classad", "--bench", "matching"]
    output = subprocess.run(run, check=True, capture_output=True, text=True, cwd=Path(__file__).parent).stdout
    found = {}
    for name, fastest, unit in re.findall(r"(\w+) +([\d.]+) (ns|µs|ms|s) +│", output):
        found[name] = float(fastest) * UNITS[unit] / BENCHED_MACHINES
    return found


def main():
    machines = [machine(number) for number in range(MACHINES)]
    theirs = {}
    for title, text in JOBS.items():
        job = classad2.ClassAd(text)
        theirs["matches, " + title] = seconds_each(lambda ad, job=job: ad.matches(job), machines)
    job = classad2.ClassAd(JOBS["with strings"])
    theirs["symmetricMatch"] = seconds_each(job.symmetricMatch, machines)
    benches = {
        "matches, numbers only": "compiled_numeric",
        "matches, with strings": "compiled_with_strings",
        "symmetricMatch": "compiled_symmetric",
    }
    crate = ours()
    print(f"{'':24}{'classad2':>12}{'this crate':>12}{'ratio':>8}")
    for title, bench in benches.items():
        own, other = crate[bench], theirs[title]
        print(f"{title:24}{other * 1e9:>9.0f} ns{own * 1e9:>9.1f} ns{other / own:>7.0f}×")


if __name__ == "__main__":
    sys.exit(main())
