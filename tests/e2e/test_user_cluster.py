# SPDX-License-Identifier: Apache-2.0
"""A cluster of an ordinary user, without root, cgroups or other users."""

import os
import signal

import pytest
from harness import BASE, OTHER, USER, process_is_alive, processes_of, wait_until


@pytest.fixture
def own(make_cluster):
    os.chmod(BASE, 0o1777)
    return make_cluster(nodes=2, user=USER, conf="KillWait=1\n")


def test_batch_jobs_steps_and_arrays_run(own, work):
    job = own.submit("-N 2 -o out --wrap='srun -N 2 -n 4 sh -c \"echo $SLURM_PROCID\" | sort'", cwd=work)
    assert own.wait_end(job) == "COMPLETED"
    assert own.ok("srun -n 2 echo task", cwd=work) == "task\n" * 2
    array = own.submit("-a 1-4 -o a.%a --wrap='echo $SLURM_ARRAY_TASK_ID'", cwd=work)
    assert own.wait_end(array) == "COMPLETED"
    assert [open(os.path.join(work, f"a.{i}")).read() for i in (1, 2, 3, 4)] == ["1\n", "2\n", "3\n", "4\n"]


def test_its_owner_is_its_administrator(own):
    node = own.node_names()[0]
    own.ok(f"scontrol update nodename={node} state=drain reason=mine")
    assert own.ok(f"sinfo -h -n {node} -o '%t %E'") == "drain mine\n"
    own.ok(f"scontrol update nodename={node} state=resume")


def test_a_node_says_that_it_holds_jobs_to_nothing(own):
    told = own.show("node n1")["Confinement"].strip()
    assert told == "none: only root makes control groups, and slurmd runs as another user"
    assert "held to nothing" in own.log("slurmd")


def test_nobody_else_can_submit(own):
    for user in (OTHER, "root"):
        for command in ("sbatch -o /dev/null -D /tmp --wrap=true", "srun -D /tmp true", "salloc true"):
            result = own.run(command, user=user, cwd="/")
            assert result.rc != 0 and "denied" in result.err and "SlurmdUser=root" in result.err, str(result)
    assert own.submit("-W -o /dev/null -D /tmp --wrap=true")


def test_no_process_outlives_its_job(own, work):
    body = "trap '' TERM HUP; setsid sleep 1000 & (setsid sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' &) ; touch up; wait"
    with open(os.path.join(work, "job.sh"), "w") as file:
        file.write("#!/bin/sh\n" + body + "\n")
    job = own.submit("-o /dev/null job.sh", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up")))
    own.ok(f"scancel {job}")
    assert own.wait_end(job) == "CANCELLED"
    wait_until(lambda: not [line for _, line in processes_of(own.dir) if "sleep 1000" in line], 5)


def test_a_dead_slurmstepd_is_swept_up_after(own, work):
    bystander = own.start("exec sleep 1000", env={"SLURM_JOB_ID": "1", "SLURM_CONF": "/another/slurm.conf"})
    job = own.submit("-o /dev/null --wrap='setsid sleep 1000 & touch up; wait'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up")))
    assert job == "1"
    for pid, line in processes_of(own.dir):
        if line.startswith("slurmstepd:"):
            os.kill(pid, signal.SIGKILL)
    assert own.wait_end(job) in ("FAILED", "NODE_FAIL")
    wait_until(lambda: not [pid for pid, line in processes_of(own.dir) if "sleep 1000" in line], 5)
    assert process_is_alive(bystander.process.pid), "a job of another cluster was killed"


def test_daemons_killed_and_started_again(own, work):
    job = own.submit("-o out --wrap='while ! test -e go; do sleep 0.05; done; echo fine'", cwd=work)
    own.wait_state(job, "RUNNING")
    for name in ["slurmctld"] + [f"slurmd-{node}" for node in own.node_names()]:
        own.kill(name)
    own.up()
    open(os.path.join(work, "go"), "w").close()
    assert own.wait_end(job) == "COMPLETED"
    assert open(os.path.join(work, "out")).read() == "fine\n"
