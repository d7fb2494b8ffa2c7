# SPDX-License-Identifier: Apache-2.0
"""Processes that do not die of SIGKILL. They are made by the freezer of cgroup v1: what it holds stays in state D, killed
or not, until it is thawed."""

import os
import signal

import pytest
from harness import process_is_alive, wait_until

FREEZER = "/sys/fs/cgroup/freezer"
CONF = "KillWait=1\nUnkillableStepTimeout=2\nReturnToService=0\nSlurmdParameters=config_overrides,sluice_check_interval=86400"

pytestmark = pytest.mark.skipif(not os.path.exists(FREEZER), reason="needs the freezer of cgroup v1")


class Freezer:
    def __init__(self):
        self.path = os.path.join(FREEZER, f"sluice-e2e-{os.getpid()}")
        os.makedirs(self.path, exist_ok=True)

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(text)

    def freeze(self, pid):
        self.write("cgroup.procs", str(pid))
        self.write("freezer.state", "FROZEN")

        def frozen():
            with open(os.path.join(self.path, "freezer.state")) as file:
                return file.read().strip() == "FROZEN"
        wait_until(frozen)

    def thaw(self):
        self.write("freezer.state", "THAWED")

    def remove(self):
        self.thaw()

        def gone():
            try:
                os.rmdir(self.path)
            except FileNotFoundError:
                return True
            except OSError:
                return False
            return True
        wait_until(gone)


@pytest.fixture
def freezer():
    made = Freezer()
    try:
        yield made
    finally:
        made.remove()


def pids_of(path, n):
    """Pairs of node and pid, one a line, when there are n."""
    def read():
        try:
            with open(path) as file:
                lines = [line.split() for line in file]
        except FileNotFoundError:
            return None
        return dict(lines) if len(lines) == n and all(len(line) == 2 for line in lines) else None
    return {node: int(pid) for node, pid in wait_until(read).items()}


def test_only_its_node_is_lost_and_the_stuck_process_is_named(make_cluster, work, script, freezer):
    program = os.path.join(work, "unkillable")
    with open(program, "w") as file:
        file.write(f"#!/bin/sh\necho $SLURM_JOB_ID $SLURM_STEP_ID $SLURMD_NODENAME > {work}/told\n")
    os.chmod(program, 0o755)
    cluster = make_cluster(nodes=2, conf=f"UnkillableStepProgram={program}\n{CONF}")
    healthy, sick = cluster.node_names()
    task = script("task", "echo $SLURMD_NODENAME $$ >> pids\nexec sleep 1000\n")
    job = cluster.submit(f"-N2 -n2 --exclusive -o /dev/null --wrap='srun -o /dev/null bash {task}'", cwd=work)
    pid = pids_of(os.path.join(work, "pids"), 2)[sick]
    freezer.freeze(pid)
    cluster.ok(f"scancel {job}")
    # The other node is free while this one is still being waited for.
    wait_until(lambda: cluster.node_state(healthy) == "idle")
    next_one = cluster.submit(f"-w {healthy} -o /dev/null --wrap=true", cwd=work)
    assert cluster.wait_end(next_one) == "COMPLETED"
    wait_until(lambda: cluster.node_state(sick) == "drain")
    assert cluster.wait_end(job) == "CANCELLED"
    reason = cluster.node_reason(sick)
    assert reason.startswith(f"Kill task failed: pid {pid} (sleep, state D") and f"of step {job}.0" in reason, reason
    wait_until(lambda: os.path.exists(os.path.join(work, "told")))
    assert open(os.path.join(work, "told")).read().split() == [job, "0", sick]
    # Resumed while it is still there, the node drains again.
    assert process_is_alive(pid)
    answer = cluster.run(f"scontrol update nodename={sick} state=resume", user="root")
    assert answer.rc == 0 and f"pid {pid}" in answer.err, str(answer)
    assert cluster.node_state(sick) == "drain"
    # So it is when slurmd has been replaced meanwhile.
    cluster.kill(f"slurmd-{sick}")
    cluster.up(check=False)
    wait_until(lambda: cluster.log(f"slurmd-{sick}").count("registered as") == 2)
    answer = cluster.run(f"scontrol update nodename={sick} state=resume", user="root")
    assert f"pid {pid}" in answer.err, str(answer)
    # It dies at last: the node says so, and can be resumed.
    freezer.thaw()
    wait_until(lambda: not process_is_alive(pid))
    wait_until(lambda: "mended" in cluster.log(f"slurmd-{sick}"))
    answer = cluster.run(f"scontrol update nodename={sick} state=resume", user="root")
    assert answer.rc == 0 and answer.err == "" and cluster.node_state(sick) == "idle", str(answer)


def test_a_stuck_step_drains_its_node_while_the_job_goes_on(make_cluster, work, script, freezer):
    cluster = make_cluster(nodes=1, conf=CONF)
    node = cluster.node_names()[0]
    task = script("task", "echo $SLURMD_NODENAME $$ >> pids\nexec sleep 1000\n")
    job = cluster.submit(f"-n2 -o out --wrap='srun -n1 -o /dev/null bash {task}; echo step is over; sleep 1000'", cwd=work)
    pid = pids_of(os.path.join(work, "pids"), 1)[node]
    freezer.freeze(pid)
    cluster.ok(f"scancel {job}.0")
    wait_until(lambda: cluster.node_state(node) == "drng")
    assert f"pid {pid}" in cluster.node_reason(node)
    wait_until(lambda: "step is over" in open(os.path.join(work, "out")).read())
    assert cluster.state(job) == {"RUNNING"}
    freezer.thaw()
    wait_until(lambda: not process_is_alive(pid))
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"


def test_what_a_dead_slurmstepd_left_drains_too(make_cluster, work, script, freezer):
    cluster = make_cluster(nodes=1, conf=CONF)
    node = cluster.node_names()[0]
    task = script("task", "echo $SLURMD_NODENAME $$ >> pids\nexec sleep 1000\n")
    job = cluster.submit(f"--no-requeue -o /dev/null {task}", cwd=work)
    pid = pids_of(os.path.join(work, "pids"), 1)[node]
    freezer.freeze(pid)
    with open(f"/proc/{pid}/stat") as file:
        stepd = int(file.read().rsplit(")", 1)[1].split()[1])
    os.kill(stepd, signal.SIGKILL)
    wait_until(lambda: cluster.node_state(node) == "drain")
    assert cluster.node_reason(node).startswith("Kill task failed: processes of step " + job)
    freezer.thaw()
    wait_until(lambda: "mended" in cluster.log(f"slurmd-{node}"))
    answer = cluster.run(f"scontrol update nodename={node} state=resume", user="root")
    assert answer.err == "" and cluster.node_state(node) == "idle", str(answer)
