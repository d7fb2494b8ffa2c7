# SPDX-License-Identifier: Apache-2.0
"""What jobs use, and what becomes of those that use too much memory [A46-A48]."""

import json
import os
import re

import pytest
from harness import cluster_of_its_own, wait_until

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
    conf = "KillWait=1\nJobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1\n"
    with cluster_of_its_own("memory", nodes=2, cpus=4, mem=8000, conf=conf) as cluster:
        yield cluster


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


# ---- out of memory ------------------------------------------------------------------------------------------------

EAT = ("python3 -c 'b = bytearray(300 << 20)\n"
       "for i in range(0, len(b), 4096): b[i] = 1'")


@pytest.fixture
def eater(cluster, work):
    """A script that needs 300 MiB, and then goes on."""
    def make(after="", before=""):
        path = os.path.join(work, "eat.sh")
        with open(path, "w") as file:
            file.write(f"#!/bin/bash\n{before}\n{EAT}\n{after}\n")
        os.chmod(path, 0o755)
        return path
    return make


def text_of(work, name="out"):
    with open(os.path.join(work, name)) as file:
        return file.read()


def test_a_script_without_memory_ends_out_of_memory_and_says_what_it_needed(cluster, work, eater):       # A46-A48
    job = cluster.submit(f"--mem=64 -o out {eater('echo still here')}", cwd=work)
    assert cluster.wait_end(job) == "OUT_OF_MEMORY"
    node = cluster.show(f"job {job}")["NodeList"]
    text = text_of(work)
    line = re.search(r"slurmstepd: error: Out of memory on (\S+): pid (\d+) \((.*)\) was killed: (\S+) used 64M of the "
                     r"64M that it may use. --mem=(\d+)M would hold all that it had asked for by then\n", text)
    assert line, text
    assert line.group(1) == node and line.group(3) == "python3" and line.group(4) == f"{job}.batch"
    assert 300 <= int(line.group(5)) <= 400
    assert f"slurmstepd: error: Detected 1 oom_kill event in StepId={job}.batch. " in text and "still here" in text
    rows = {row[0]: row[1:] for row in cluster.sacct(job, "JobID,State,ExitCode,MaxRSS,ReqMem")}
    assert rows[job] == ["OUT_OF_MEMORY", "0:125", "", "64M"]
    assert rows[f"{job}.batch"][:2] == ["OUT_OF_MEMORY", "0:125"]
    assert 64 * 1024 * 0.98 <= kib(rows[f"{job}.batch"][2]) <= 64 * 1024 * 1.02
    shown = cluster.show(f"job {job}")
    assert shown["JobState"] == "OUT_OF_MEMORY" and shown["Reason"] == "OutOfMemory" and shown["ExitCode"] == "0:125"
    enough = cluster.submit(f"--mem={line.group(5)} -o out2 {eater()}", cwd=work)
    assert cluster.wait_end(enough) == "COMPLETED", text_of(work, "out2")


def test_the_table_that_shows_it_has_the_usual_widths(cluster, work, eater):                             # A47
    job = cluster.submit(f"--mem=64 -o out {eater()}", cwd=work)
    cluster.wait_end(job)
    lines = cluster.ok(f"sacct -j {job} --format=JobID,State,ExitCode,MaxRSS,Elapsed,ReqMem").splitlines()
    assert lines[0] == "JobID             State ExitCode     MaxRSS    Elapsed     ReqMem "
    assert lines[1] == "------------ ---------- -------- ---------- ---------- ---------- "
    assert re.fullmatch(rf"{job:<12} OUT_OF_ME\+    0:125              \d\d:\d\d:\d\d        64M ", lines[2])
    assert re.fullmatch(rf"{job + '.batch':<12} OUT_OF_ME\+    0:125 +\d+[KM] +\d\d:\d\d:\d\d            ", lines[3])


def test_a_step_without_memory_leaves_the_job_running(cluster, work, eater):
    eater()
    script = os.path.join(work, "job.sh")
    with open(script, "w") as file:
        file.write("#!/bin/bash\nsrun --mem=64 ./eat.sh\necho srun $?\nsrun -n1 --mem=100 true\necho then $?\n")
    with open(os.path.join(work, "eat.sh"), "w") as file:
        file.write("#!/bin/bash\nexec " + EAT + "\n")
    job = cluster.submit(f"--mem=400 -o out {script}", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    text = text_of(work)
    assert "srun 137\n" in text and "then 0\n" in text
    assert re.search(r"srun: error: \S+: task 0: Out Of Memory\n", text), text
    assert re.search(rf"Out of memory on \S+: pid \d+ \(python3\) was killed: {job}.0 used 64M of the 64M", text), text
    rows = {row[0]: row[1:] for row in cluster.sacct(job, "JobID,State,ExitCode,DerivedExitCode")}
    assert rows[f"{job}.0"][:2] == ["OUT_OF_MEMORY", "0:125"]
    assert rows[job] == ["COMPLETED", "0:0", "0:125"] and rows[f"{job}.1"][0] == "COMPLETED"


def test_an_srun_of_its_own_ends_out_of_memory(cluster, work, eater):
    result = cluster.run(f"srun --mem=64 bash -c 'echo $SLURM_JOB_ID; exec ./eat.sh'; echo $?", cwd=work,
                         env={"IGNORED": eater()})
    job, code = result.out.split()[0], result.out.split()[-1]
    assert code == "137" and "Detected 1 oom_kill event" in result.err, str(result)
    assert cluster.wait_end(job) == "OUT_OF_MEMORY"
    rows = {row[0]: row[1:] for row in cluster.sacct(job)}
    assert rows[job] == ["OUT_OF_MEMORY", "0:125"] and rows[f"{job}.0"] == ["OUT_OF_MEMORY", "0:125"]


def test_memory_per_cpu_is_advised_as_it_was_asked_for(cluster, work, eater):
    job = cluster.submit(f"-c2 --mem-per-cpu=40 -o out {eater()}", cwd=work)
    assert cluster.wait_end(job) == "OUT_OF_MEMORY"
    found = re.search(r"used 80M of the 80M that it may use. --mem-per-cpu=(\d+)M would hold", text_of(work))
    assert found and 150 <= int(found.group(1)) <= 200, text_of(work)


def test_a_kill_far_below_the_job_is_told_at_once(cluster, work, eater):
    job = cluster.submit(f"--mem=64 -o out {eater('touch went-on; while [ ! -e go ]; do sleep 0.05; done')}", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "went-on")))
    wait_until(lambda: "(python3) was killed" in text_of(work))
    assert cluster.state(job) == {"RUNNING"} and "Detected" not in text_of(work)
    let_go(work)
    assert cluster.wait_end(job) == "OUT_OF_MEMORY"


def test_a_step_over_its_memory_is_ended_where_no_fence_does_it(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="KillWait=1\nJobAcctGatherType=jobacct_gather/linux\n"
                                         "JobAcctGatherFrequency=1\nJobAcctGatherParams=OverMemoryKill\n")
    path = os.path.join(work, "slow.py")
    with open(path, "w") as file:
        file.write("import time\nb = bytearray(90 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\ntime.sleep(100)\n")
    cluster.write_conf("cgroup.conf", "ConstrainRAMSpace=no\n")
    cluster.ok("scontrol reconfigure", user="root")
    job = cluster.submit(f"--mem=50 --acctg-freq=100 -o out --wrap='python3 {path}'", cwd=work)
    assert cluster.wait_end(job) == "OUT_OF_MEMORY"
    assert re.search(rf"slurmstepd: error: StepId={job}.batch exceeded memory limit \(\d+ > 52428800\), being killed\n"
                     "slurmstepd: error: Exceeded job memory limit\n", text_of(work)), text_of(work)
    assert dict((row[0], row[2]) for row in cluster.sacct(job))[job] == "0:125"


def test_a_task_without_memory_takes_its_step_along_if_asked(cluster, work, eater):
    script = os.path.join(work, "job.sh")
    with open(os.path.join(work, "tasks.sh"), "w") as file:
        file.write("#!/bin/bash\n[ $SLURM_PROCID = 1 ] && exec sleep 1000\nexec " + EAT + "\n")
    with open(script, "w") as file:
        file.write("#!/bin/bash\nsrun -N1 -n2 --mem=64 bash ./tasks.sh\necho over\n")
    job = cluster.submit(f"-N1 -n2 --mem=200 --oom-kill-step -o out {script}", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    assert "task 0: Out Of Memory" in text_of(work) and "over" in text_of(work)
    assert dict((row[0], row[1]) for row in cluster.sacct(job))[f"{job}.0"] == "OUT_OF_MEMORY"


def test_a_daemon_that_nobody_saw_at_home_counts_for_its_task(measured, work):
    """It has left its parent, its session and its process group before the first look."""
    script = os.path.join(work, "task.sh")
    with open(script, "w") as file:
        file.write("#!/bin/bash\nif [ $SLURM_PROCID = 1 ]; then\n"
                   "setsid -f setsid -f python3 -c 'b = bytearray(120 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\n"
                   "open(\"up\", \"w\")\nimport time; time.sleep(1000)'\nfi\nuntil [ -e go ]; do sleep 0.05; done\n")
    job = measured.submit(f"-N1 -n2 --mem=1000 -o out --wrap='srun bash {script}'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up")))
    row, = [line.split("|") for line in measured.ok(f"sstat -n -P -j {job}.0 -o maxrss,maxrsstask").splitlines()]
    assert kib(row[0]) >= 120 * 1024 and row[1] == "1"
    let_go(work)
    assert measured.wait_end(job) == "COMPLETED"
