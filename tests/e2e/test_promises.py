# SPDX-License-Identifier: Apache-2.0
"""A job that starts later than it was told says why; deadlines that cannot be met end jobs."""

import re

import pytest
from harness import wait_until

CONF = """KillWait=1
DefMemPerCPU=10
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def two_nodes(make_cluster):
    return make_cluster(nodes=2, cpus=4, mem=4000, conf=CONF)


def show(cluster, job):
    return cluster.ok(f"scontrol show job {job}", user="root")


def broken(cluster):
    found = re.search(r"promises_broken: (\d+)", cluster.ok("sdiag", user="root"))
    return int(found.group(1)) if found else 0


def test_a_raised_limit_is_named_in_the_record_the_counter_and_the_log(two_nodes, work):
    running = two_nodes.submit("-o /dev/null -t 10 -N 2 --exclusive --wrap='sleep 300'", cwd=work)
    two_nodes.wait_state(running, "RUNNING")
    waiting = two_nodes.submit("-o /dev/null -t 10 -N 2 --exclusive --wrap=true", cwd=work)
    two_nodes.wait_reason(waiting, "Resources")
    assert "DelayedBy" not in show(two_nodes, waiting)
    before = broken(two_nodes)
    two_nodes.ok(f"scontrol update jobid={running} timelimit=30", user="root")
    wait_until(lambda: "DelayedBy" in show(two_nodes, waiting), what="the job says that it is delayed")
    text = show(two_nodes, waiting)
    assert f"DelayedBy=the time limit of job {running} was raised" in text, text
    start, later = (re.search(rf"{key}=(\S+)", text).group(1) for key in ("ExpectedStart", "DelayedTo"))
    assert start < later == re.search(r"StartTime=(\S+)", text).group(1)
    assert broken(two_nodes) == before + 1


def test_a_deadline_out_of_reach_is_refused(two_nodes, work):
    result = two_nodes.run("sbatch --deadline=now+10minutes -t 20 --wrap=true", cwd=work)
    assert result.rc == 1
    assert "Requested time limit is invalid (missing or exceeds some limit)" in result.err
