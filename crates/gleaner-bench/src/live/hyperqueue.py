"""Tasks a second through HyperQueue's Python package; python3 hyperqueue.py FOLDER TASKS CORES prints the seconds."""
import os, subprocess, sys, time

folder, tasks, cores = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if len(sys.argv) > 4:
    from hyperqueue.cluster import LocalCluster, WorkerConfig
    grid = LocalCluster(server_dir=folder, worker_config=WorkerConfig(cores=cores))
    print("DIR " + grid.cluster.server_dir, flush=True)
    sys.stdin.read()
    grid.stop()
    sys.exit(0)

from hyperqueue import Client, Job

# Server and worker in a process of their own, so that what this one does is not in their way.
grid = subprocess.Popen([sys.executable, *sys.argv, "serve"], text=True, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
try:
    client = Client(next(line[4:].strip() for line in grid.stdout if line.startswith("DIR ")))

    def run(count):
        job = Job(default_workdir=os.path.join(folder, "work"), max_fails=None)
        for _ in range(count):
            job.program(["/bin/true"], stdout=None, stderr=None)
        started = time.time()
        submitted = client.submit(job)
        client.connection.wait_for_jobs([submitted.id], lambda *_: None)
        return time.time() - started

    run(100)
    print("SECONDS", run(tasks), flush=True)
finally:
    grid.stdin.close()
    grid.wait(20)
