# SPDX-License-Identifier: Apache-2.0
"""Jobs that behave badly, and node daemons that die: when a job is over, nothing of it is left."""

import os
import signal
import time

import pytest
from harness import process_is_alive, processes_of, wait_until

ROGUE = r"""
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
note = open("pids", "a", buffering=1)
def daemon(clean):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    note.write("%d\n" % os.getpid())
    fd = note.fileno()
    for other in range(0, 64):
        if other != fd:
            try:
                os.close(other)
            except OSError:
                pass
    if clean:
        os.execve("/bin/sleep", ["sleep", "1000"], {})
    while True:
        time.sleep(1)
for turn in range(6):
    daemon(turn % 2)
for turn in range(6):
    if os.fork() == 0:
        os.setpgid(0, 0)
        note.write("%d\n" % os.getpid())
        while True:
            time.sleep(1)
while len(open("pids").read().split()) < 12: # else some may die before anybody knows of them
    time.sleep(0.01)
note.write("%d\n" % os.getpid())
open("ready", "w").close()
time.sleep(float(sys.argv[1]))
"""


def pids_in(work):
    with open(os.path.join(work, "pids")) as file:
        return [int(line) for line in file.read().split()]


@pytest.fixture
def rogue(work):
    path = os.path.join(work, "rogue.py")
    with open(path, "w") as file:
        file.write(ROGUE)
    return path


@pytest.mark.parametrize("seconds, cancelled", [("0.1", False), ("1000", True)])
@pytest.mark.parametrize("command", ["sbatch -o out --wrap='{}'", "sbatch -o out --wrap='srun {}'"])
def test_daemons_and_groups_of_their_own_end_with_the_job(cluster, work, rogue, command, seconds, cancelled):
    line = command.format(f"python3 {rogue} {seconds}")
    job = cluster.submit(line.removeprefix("sbatch "), cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "ready")))
    if cancelled:
        cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == ("CANCELLED" if cancelled else "COMPLETED")
    pids = wait_until(lambda: len(pids_in(work)) >= 13 and pids_in(work))
    wait_until(lambda: not [pid for pid in pids if process_is_alive(pid)], 5, what="all processes of the job are gone")
    wait_until(cluster.idle, 10)


def test_a_hundred_megabytes_of_output_arrive(cluster, work):
    job = cluster.submit("-o out --wrap='head -c 104857600 /dev/zero; echo; echo end'", cwd=work)
    assert cluster.wait_end(job, 60) == "COMPLETED"
    assert os.path.getsize(os.path.join(work, "out")) == 104857600 + 5
    job = cluster.submit("-o out2 --wrap='srun head -c 20971520 /dev/zero'", cwd=work)
    assert cluster.wait_end(job, 60) == "COMPLETED"
    assert os.path.getsize(os.path.join(work, "out2")) == 20971520


def test_a_step_that_closes_its_descriptors_still_ends(cluster, work):
    result = cluster.run("srun sh -c 'exec <&- >&- 2>&-; sleep 0.2; exit 3'", cwd=work)
    assert result.rc == 3, str(result)


def test_a_fork_bomb_is_swept(cluster, work):
    """Short of a real bomb: a tree of 200 processes that replace each other while they are killed."""
    body = ("import os, time\n"
            "for _ in range(200):\n"
            "    if os.fork() == 0:\n"
            "        os.setsid()\n"
            "        for _ in range(20):\n"
            "            if os.fork():\n"
            "                os._exit(0)\n"
            "            time.sleep(0.05)\n"
            "        time.sleep(1000)\n"
            "time.sleep(1000)\n")
    with open(os.path.join(work, "bomb.py"), "w") as file:
        file.write(body)
    job = cluster.submit("-J bomb -o out --wrap='python3 bomb.py'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    time.sleep(0.3)
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"
    wait_until(lambda: not [line for _, line in processes_of(cluster.dir) if "bomb.py" in line], 10)


@pytest.mark.parametrize("in_step", [False, True])
def test_a_dead_slurmstepd_takes_its_processes_along(make_cluster, work, rogue, in_step):
    cluster = make_cluster(nodes=1, conf="KillWait=1\n")
    job = cluster.submit(f"-o out --wrap='{'srun ' if in_step else ''}python3 {rogue} 1000'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "ready")))
    steps = [pid for pid, line in processes_of(cluster.dir) if line.startswith("slurmstepd:")]
    assert len(steps) >= 1 + in_step
    for pid in steps:
        os.kill(pid, signal.SIGKILL)
    assert cluster.wait_end(job) in ("FAILED", "NODE_FAIL")
    wait_until(lambda: not [pid for pid in pids_in(work) if process_is_alive(pid)], 10,
               what="the processes of the dead slurmstepd are gone")
    wait_until(cluster.idle, 10)
    assert cluster.submit("-W -o /dev/null --wrap=true", cwd=work)


def test_a_node_daemon_killed_again_and_again_touches_no_job(make_cluster, work):
    cluster = make_cluster(nodes=1, cpus=8)
    node = cluster.node_names()[0]
    jobs = [cluster.submit(f"-n 1 -o out.{i} --wrap='sleep {1 + i * 0.4}; echo done; exit {i}'", cwd=work)
            for i in range(6)]
    cluster.wait_state(",".join(jobs), "RUNNING")
    for turn in range(5):
        cluster.kill(f"slurmd-{node}", signal.SIGKILL)
        if turn % 2:
            time.sleep(0.3)
        cluster.up()
    for i, job in enumerate(jobs):
        assert cluster.wait_end(job) == ("FAILED" if i else "COMPLETED")
        assert cluster.show(f"job {job}")["ExitCode"].strip() == f"{i}:0"
        with open(os.path.join(work, f"out.{i}")) as file:
            assert file.read() == "done\n"
    wait_until(cluster.idle, 10)


def test_all_daemons_dead_at_once(make_cluster, work):
    cluster = make_cluster(nodes=2)
    job = cluster.submit("-N 2 -o out --wrap='srun sh -c \"while ! test -e go; do sleep 0.05; done\"; echo fine'", cwd=work)
    wait_until(lambda: cluster.run(f"squeue -h -s -j {job}").out.count(f"{job}.0") == 1)
    for name in ["slurmctld"] + [f"slurmd-{node}" for node in cluster.node_names()]:
        cluster.kill(name, signal.SIGKILL)
    cluster.up()
    assert cluster.state(job) == {"RUNNING"}
    open(os.path.join(work, "go"), "w").close()
    assert cluster.wait_end(job) == "COMPLETED"
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "fine\n"
