# SPDX-License-Identifier: Apache-2.0
"""Jobs at few switches, with four nodes at two of them."""

import os
import re

import pytest


@pytest.fixture
def tree(make_cluster):
    cluster = make_cluster(nodes=4, cpus=1)
    n = cluster.node_names()
    conf = cluster.env["SLURM_CONF"]
    with open(os.path.join(os.path.dirname(conf), "topology.conf"), "w") as file:
        file.write(f"SwitchName=s1 Nodes={n[0]},{n[2]} LinkSpeed=10\nSwitchName=s2 Nodes={n[1]},{n[3]}\n"
                   "SwitchName=top Switches=s[1-2]\n")
    with open(conf, "a") as file:
        file.write("TopologyPlugin=topology/tree\n")
    cluster.ok("scontrol reconfigure", user="root")
    return cluster


def nodes_of(cluster, job):
    return cluster.ok(f"scontrol show hostnames $(squeue -h -j {job} -o %N)").split()


def test_the_switches_are_listed(tree):
    n = tree.node_names()
    shown = tree.ok("scontrol show topology").splitlines()
    assert [line.split(" Nodes=")[0] for line in shown] == [
        "SwitchName=s1 Level=0 LinkSpeed=10", "SwitchName=s2 Level=0 LinkSpeed=1", "SwitchName=top Level=1 LinkSpeed=1"]
    assert shown[2].endswith(" Switches=s[1-2]")
    assert tree.ok("scontrol show topology s2").splitlines() == [shown[1]]
    assert tree.ok(f"scontrol show topology {n[3]}").splitlines() == shown[1:]
    assert "contains no switch or node named nobody" in tree.run("scontrol show topology nobody").err


def test_jobs_of_two_nodes_are_at_one_switch(tree):
    n = tree.node_names()
    first = tree.submit("-N 2 -o /dev/null --wrap='sleep 60'")
    tree.wait_state(first, "RUNNING")
    second = tree.submit("-N 2 --switches=1 -o /dev/null --wrap='sleep 60'")
    tree.wait_state(second, "RUNNING")
    assert nodes_of(tree, first) == [n[0], n[2]]
    assert nodes_of(tree, second) == [n[1], n[3]]
    assert "Switches=1@00:05:00" in tree.ok(f"scontrol show job {second}")


def test_a_job_waits_for_one_switch_until_it_wants_more(tree):
    n = tree.node_names()
    for node in n[:2]:
        tree.wait_state(tree.submit(f"-w {node} -o /dev/null --wrap='sleep 60'"), "RUNNING")
    job = tree.submit("-N 2 --switches=1@4:00 -o /dev/null --wrap='sleep 60'")
    tree.wait_reason(job, "Resources")
    tree.ok(f"scontrol update jobid={job} switches=2")
    tree.wait_state(job, "RUNNING")
    assert nodes_of(tree, job) == n[2:]
    assert re.search(r"\bSwitches=2@00:04:00\b", tree.ok(f"scontrol show job {job}"))
    assert tree.ok(f"squeue -h -j {job} -O ReqSwitch:5,Wait4Switch:8").split() == ["2", "4:00"]


def test_a_task_knows_the_way_to_its_node(tree, work):
    n = tree.node_names()
    out = tree.ok("srun -N 4 bash -c 'echo $SLURM_TOPOLOGY_ADDR $SLURM_TOPOLOGY_ADDR_PATTERN'", cwd=work)
    assert sorted(out.splitlines()) == sorted(
        f"top.{switch}.{node} switch.switch.node" for node, switch in zip(n, ("s1", "s2", "s1", "s2")))


def test_a_tree_that_is_wrong_is_refused_and_the_old_one_stays(tree):
    path = os.path.join(os.path.dirname(tree.env["SLURM_CONF"]), "topology.conf")
    with open(path, "a") as file:
        file.write("SwitchName=s3 Switches=stranger\n")
    refused = tree.run("scontrol reconfigure", user="root")
    assert refused.rc != 0 and "switch s3: there is no switch stranger" in refused.err
    assert "s3" not in tree.ok("scontrol show topology")
    checked = tree.run(f"slurmctld -t -f {tree.env['SLURM_CONF']}", user="root")
    assert checked.rc != 0 and "topology.conf:4: error" in checked.out + checked.err
