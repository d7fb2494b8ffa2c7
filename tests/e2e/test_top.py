# SPDX-License-Identifier: Apache-2.0
"""scontrol top: who may put a job before others, and before whose."""

import pytest
from harness import OTHER

CONF = """KillWait=1
DefMemPerCPU=10
{settings}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def queue(make_cluster, work):
    """One node, held by a job; a function that submits one that waits for it."""
    def make(settings):
        cluster = make_cluster(nodes=1, cpus=2, mem=1000, conf=CONF.format(settings=settings))
        cluster.wait_state(cluster.submit("-n 2 -t 60 -o /dev/null --wrap='sleep 300'", cwd=work), "RUNNING")
        return cluster, lambda **user: cluster.submit("-n 2 -t 5 -o /dev/null --wrap='sleep 300'", cwd="/tmp", **user)
    return make


def order(cluster):
    return cluster.ok("squeue -h -t PD --sort=-p,i -o %i", user="root").split()


def test_the_owner_may_where_the_administrator_lets_users(queue):
    cluster, submit = queue("SchedulerParameters=enable_user_top")
    first, second, others, last = submit(), submit(), submit(user=OTHER), submit()
    assert order(cluster) == [first, second, others, last]
    cluster.ok(f"scontrol top {last}")
    # Equal priorities cannot change places without one going behind; nobody else is overtaken.
    assert order(cluster) == [others, last, first, second]
    refused = cluster.run(f"scontrol top {others}")
    assert refused.rc == 1 and "denied" in refused.err.lower()
    cluster.ok("scancel 1")
    cluster.wait_state(others, "RUNNING")
    cluster.ok(f"scancel {others}", user=OTHER)
    cluster.wait_state(last, "RUNNING")


def test_without_that_only_operators_may(queue):
    cluster, submit = queue("")
    first, second = submit(), submit()
    refused = cluster.run(f"scontrol top {second}")
    assert refused.rc == 1 and "denied" in refused.err.lower(), str(refused)
    assert order(cluster) == [first, second]
    cluster.ok(f"scontrol top {second}", user="root")
    assert order(cluster) == [second, first]
    cluster.ok("scancel 1")
    cluster.wait_state(second, "RUNNING")
    running = cluster.run(f"scontrol top {second}", user="root")
    assert running.rc == 1 and "pending" in running.err.lower(), str(running)
