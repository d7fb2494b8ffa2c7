# SPDX-License-Identifier: Apache-2.0
"""What jobs use, and what becomes of those that use too much memory [A46-A48]."""

import json
import os

import pytest
from harness import Cluster, wait_until

from conftest import stop_and_check

HOG = '''
import os, sys, time
memory = bytearray(int(sys.argv[1]) << 20)
for at in range(0, len(memory), 4096):
    memory[at] = 1
with open("/dev/null", "wb") as null:
    null.write(bytes(int(sys.argv[2]) << 20))
open("ready." + os.environ["SLURM_PROCID"] + "." + os.environ.get("SLURM_STEP_ID", ""), "w").close()
while not os.path.exists("go"):
    time.sleep(0.02)
'''


@pytest.fixture(scope="module")
def measured():
    """A cluster that looks at its jobs every second."""
    cluster = Cluster(f"memory-{os.getpid()}", nodes=2, cpus=4, mem=8000,
                      conf="KillWait=1\nJobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1\n")
    try:
        yield cluster.up()
    finally:
        stop_and_check(cluster)


@pytest.fixture
def hog(measured, work):
    """A program: MEBIBYTES to hold, MEBIBYTES to write; it ends when there is a file "go"."""
    path = os.path.join(work, "hog.py")
    with open(path, "w") as file:
        file.write(HOG)
    yield f"python3 {path}"
    measured.reset()


def kib(text):
    return float(text.rstrip("KMG")) * {"K": 1, "M": 1024, "G": 1 << 20}[text[-1]]


def let_go(work):
    open(os.path.join(work, "go"), "w").close()


def test_the_use_of_every_task_is_in_the_record(measured, work, hog):
    command = f'srun -n2 -N2 bash -c "{hog} $((60 + 60 * SLURM_PROCID)) 5; true"'.replace("$", "\\$")
    job = measured.submit(f"-N2 -n2 --mem=1000 -o out --wrap='{command}'", cwd=work)
    wait_until(lambda: all(os.path.exists(os.path.join(work, f"ready.{i}.0")) for i in (0, 1)))
    let_go(work)
    assert measured.wait_end(job) == "COMPLETED"
    fields = "JobID,MaxRSS,MaxRSSTask,AveRSS,MaxVMSize,MaxDiskWrite,MaxDiskWriteTask,AveCPU,NTasks,ConsumedEnergy"
    rows = {row[0]: row[1:] for row in measured.sacct(job, fields)}
    assert rows[job][:7] == [""] * 7
    step = rows[f"{job}.0"]
    assert 120 * 1024 <= kib(step[0]) < 200 * 1024 and step[1] == "1"
    assert 60 * 1024 <= kib(step[2]) < kib(step[0])
    assert step[4] == "5.00M" and step[7:] == ["2", "0"]
    assert kib(rows[f"{job}.batch"][0]) < 60 * 1024
    max_node, min_tasks = measured.sacct(f"{job}.0", "MaxRSSNode,TRESUsageInMinTask")[0]
    assert max_node == measured.node_names()[1] and "mem=0" in min_tasks


def test_the_use_stands_in_json(measured, work, hog):
    let_go(work)
    job = measured.submit(f"--mem=500 -o out --wrap='{hog} 50 3'", cwd=work)
    assert measured.wait_end(job) == "COMPLETED"
    steps = json.loads(measured.ok(f"sacct -j {job} --json"))["jobs"][0]["steps"]
    tres = steps[0]["tres"]
    most = {row["type"]: row for row in tres["requested"]["max"]}
    assert most["mem"]["count"] >= 50 << 20 and most["mem"]["node"]
    written = [row for row in tres["consumed"]["total"] if row["type"] == "fs"]
    assert written[0]["count"] >= 3 << 20


def test_cpu_time_of_all_processes_counts(measured, work):
    spin = "python3 -c 'import time\nwhile time.process_time() < 0.4: pass'"
    script = os.path.join(work, "spin.sh")
    with open(script, "w") as file:
        file.write(f"#!/bin/bash\nspin() {{ {spin}; }}\nspin & spin &\n(spin &) \nwait\nspin\n")
    os.chmod(script, 0o755)
    job = measured.submit(f"-o out {script}", cwd=work)
    assert measured.wait_end(job, 60) == "COMPLETED"
    minutes, seconds = measured.sacct(job, "TotalCPU")[0][0].split(":")
    assert 1.1 <= int(minutes) * 60 + float(seconds) < 8
