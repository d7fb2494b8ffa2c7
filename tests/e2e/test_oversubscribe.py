# SPDX-License-Identifier: Apache-2.0
"""Jobs that share CPUs at the same time, where the partition lets them."""

import pytest
from harness import USER

CONF = """KillWait=1
DefMemPerCPU=10
PartitionName=force Nodes=ALL Default=YES OverSubscribe=FORCE:2 MaxTime=INFINITE State=UP
PartitionName=asked Nodes=ALL OverSubscribe=YES:2 MaxTime=INFINITE State=UP
PartitionName=never Nodes=ALL MaxTime=INFINITE State=UP
"""


@pytest.fixture
def one_node(make_cluster):
    return make_cluster(nodes=1, cpus=4, mem=4000, conf=CONF)


def submit(cluster, options):
    return cluster.submit(f"-o /dev/null {options} --wrap='sleep 300'", cwd="/tmp")


def runs(cluster, options):
    job = submit(cluster, options)
    cluster.wait_state(job, "RUNNING")
    return job


def waits(cluster, options):
    job = submit(cluster, options)
    cluster.wait_reason(job, "Resources")
    return job


def test_two_jobs_have_the_same_cpus_and_a_third_waits(one_node):
    first, second = runs(one_node, "-n 4"), runs(one_node, "-n 4")
    for job in (first, second):
        assert "CPU_IDs=0-3" in one_node.ok(f"scontrol -d show job {job}")
    third = waits(one_node, "-n 1")
    one_node.kill("slurmctld")
    one_node.up()
    one_node.wait_reason(third, "Resources")
    assert one_node.state(f"{first},{second}") == {"RUNNING"}
    assert one_node.ok("sinfo -h -p force -o %C") == "4/0/0/4\n"
    one_node.ok(f"scancel {first}")
    one_node.wait_state(third, "RUNNING")


def test_where_sharing_is_allowed_only_those_share_who_ask(one_node):
    first = runs(one_node, "-p asked -n 4 -t 60 --oversubscribe")
    alone = waits(one_node, "-p asked -n 1")
    second = runs(one_node, "-p asked -n 4 -t 10 -s")       # ends before the first, so it delays nobody
    assert one_node.state(alone) == {"PENDING"}
    one_node.ok(f"scancel {first}")
    one_node.wait_end(first)
    assert one_node.state(alone) == {"PENDING"}
    one_node.ok(f"scancel {second}")
    one_node.wait_state(alone, "RUNNING")
    waits(one_node, "-p asked -n 4 -s")


def test_a_waiting_job_that_asks_later_joins_the_others(one_node):
    runs(one_node, "-p asked -n 4 -s")
    job = waits(one_node, "-p asked -n 4")
    one_node.ok(f"scontrol update jobid={job} oversubscribe=yes")
    one_node.wait_state(job, "RUNNING")


def test_jobs_of_other_partitions_and_whole_nodes_share_with_nobody(one_node):
    shared = runs(one_node, "-n 4")
    waits(one_node, "-p never -n 1 -s")
    one_node.ok(f"scancel -u {USER} -t pending")
    whole = waits(one_node, "--exclusive")
    one_node.ok(f"scancel {shared}")
    one_node.wait_state(whole, "RUNNING")
    waits(one_node, "-n 1")
