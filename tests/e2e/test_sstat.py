# SPDX-License-Identifier: Apache-2.0
"""sstat: the figures of steps that run."""

import os
import re
import signal

import pytest
from harness import OTHER, USER, wait_until
from test_memory import HOG, kib, let_go


@pytest.fixture
def running(cluster, work):
    """A job with a script, and a step of two tasks on two nodes that hold 40 and 80 MiB; no sampling is configured."""
    path = os.path.join(work, "hog.py")
    with open(path, "w") as file:
        file.write(HOG)
    script = os.path.join(work, "job.sh")
    with open(script, "w") as file:
        file.write(f"#!/bin/bash\nsrun -N2 -n2 bash -c 'python3 {path} $((40 + 40 * SLURM_PROCID)) 4; true'\n")
    job = cluster.submit(f"-N2 -n2 --mem=500 -o out {script}", cwd=work)
    wait_until(lambda: all(os.path.exists(os.path.join(work, f"ready.{i}.0")) for i in (0, 1)))
    yield job
    let_go(work)


def rows(cluster, options, user="sluicet1"):
    return [line.split("|") for line in cluster.ok(f"sstat -n -P {options}", user=user).splitlines()]


def test_a_step_is_shown_as_it_is_now(cluster, running):
    step, = rows(cluster, f"-j {running} -o jobid,ntasks,maxrss,maxrsstask,maxrssnode,averss,avevmsize,maxdiskwrite,avecpu")
    nodes = cluster.show(f"job {running}")["NodeList"]
    assert step[:2] == [f"{running}.0", "2"] and step[3] == "1"
    assert 80 * 1024 <= kib(step[2]) < 150 * 1024 and kib(step[5]) < kib(step[2]) < kib(step[6]) * 2
    second = cluster.ok(f"scontrol show hostnames {nodes}").split()[1]
    assert step[4] == second and int(step[7]) >= 4 << 20 and re.fullmatch(r"\d\d:\d\d:\d\d", step[8])


def test_all_steps_and_the_processes_of_each_node(cluster, running):
    assert [row[0] for row in rows(cluster, f"-a -j {running} -o jobid")] == [f"{running}.batch", f"{running}.0"]
    lines = rows(cluster, f"-i -j {running}")
    assert [line[0] for line in lines] == [f"{running}.0"] * 2
    names = []
    for _, _, pids in lines:
        for pid in pids.split(","):
            with open(f"/proc/{pid}/comm") as file:
                names.append(file.read().strip())
    assert names.count("python3") == 2
    joined, = rows(cluster, f"-j {running}.0 -o nodelist,pids")
    assert joined[0] == cluster.show(f"job {running}")["NodeList"]
    assert set(joined[1].split(",")) == set(",".join(line[2] for line in lines).split(","))


def test_only_the_owner_and_administrators_may_look(cluster, running):
    result = cluster.run(f"sstat -n -j {running}.0 -o jobid", user=OTHER)
    assert result.rc == 0 and result.out == ""
    assert result.err.count("rc = Invalid user id") == 2
    assert f"sstat: error: problem getting step_layout for StepId={running}.0: Invalid user id\n" in result.err
    assert rows(cluster, f"-j {running}.0 -o jobid", user="root") == [[f"{running}.0"]]


def test_a_node_that_is_silent_costs_its_own_figures_only(cluster, running):
    nodes = cluster.ok(f"scontrol show hostnames {cluster.show(f'job {running}')['NodeList']}").split()
    daemon = cluster.pid(f"slurmd-{nodes[1]}")
    os.kill(daemon, signal.SIGKILL)
    try:
        result = cluster.run(f"sstat -n -P -j {running}.0 -o jobid,maxrsstask", user="sluicet1")
    finally:
        cluster.up()
    assert result.out == f"{running}.0|0\n", str(result)
    assert f"there was an error with the request to {nodes[1]} rc = " in result.err
    wait_until(lambda: rows(cluster, f"-j {running}.0 -o maxrsstask") == [["1"]])


def test_what_does_not_run_is_named(cluster, running):
    result = cluster.run(f"sstat -j {running}.7,99999 -o jobid")
    assert result.rc == 0 and result.out == "JobID        \n------------ \n"
    assert result.err == (f"sstat: error: StepId={running}.7 not found running.\n"
                          "sstat: error: couldn't get steps for job 99999\n")
    assert cluster.run("sstat -j x").err == "sstat: fatal: Bad job/step specified: x\n"
    assert cluster.run("sstat").err == "sstat: error: You didn't give me any jobs to stat.\n"
    assert cluster.run("sstat -j 1 -o foo").err == 'sstat: error: Invalid field requested: "foo"\n'


def test_a_job_of_a_script_alone_points_to_the_script(cluster, work):
    job = cluster.submit("-o /dev/null --wrap='sleep 100'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    result = cluster.run(f"sstat -n -j {job} -o jobid")
    assert result.rc == 0 and result.out == "" and f"its script is step {job}.batch" in result.err
    wait_until(lambda: rows(cluster, f"-j {job}.batch -o jobid,ntasks") == [[f"{job}.batch", "1"]])


def test_what_a_login_uses_counts_for_the_extern_step(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="KillWait=1\nDefMemPerCPU=400\nPrologFlags=Contain\n")
    path = os.path.join(work, "hog.py")
    with open(path, "w") as file:
        file.write(HOG)
    job = cluster.submit("-o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    login = cluster.start(f"sluice adopt -u {USER} bash -c 'cd {work}; SLURM_PROCID=9 python3 {path} 80 1'", user="root")
    wait_until(lambda: os.path.exists(os.path.join(work, "ready.9.")), 20)
    row, = rows(cluster, f"-j {job}.extern -o maxrss,pids")
    assert kib(row[0]) >= 80 * 1024 and row[1]
    let_go(work)
    login.wait()
    cluster.ok(f"scancel {job}")
    cluster.wait_end(job)
    wait_until(lambda: dict((row[0], row[1]) for row in cluster.sacct(job, "JobID,MaxRSS")).get(f"{job}.extern"))
    assert kib(dict((row[0], row[1]) for row in cluster.sacct(job, "JobID,MaxRSS"))[f"{job}.extern"]) >= 80 * 1024
