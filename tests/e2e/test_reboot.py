# SPDX-License-Identifier: Apache-2.0
"""scontrol reboot. RebootProgram of these tests is what happens to a slurmd when its machine reboots: it ends, with the
jobs, and starts again; `slurmd -b` then says that the machine has booted anew."""

import os

from harness import wait_until

CONF = "ReturnToService=0\nResumeTimeout=60\n"


def root(cluster, command):
    """The mark tells `sluice down` that a daemon which we start belongs to the cluster."""
    return cluster.run(command, user="root", env={"SLUICE_CLUSTER": cluster.dir})


def reboot_program(work, body=None):
    """Runs as root in slurmd's place; what it needs of the cluster it finds in files beside it."""
    path = os.path.join(work, "reboot")
    with open(path, "w") as file:
        file.write("#!/bin/bash\n" + (body or f"""
echo $SLURMD_NODENAME >> {work}/rebooted
[ -e {work}/broken ] && exit 1
export PATH=$(cat {work}/path) SLUICE_CLUSTER=$(cat {work}/cluster)
kill -KILL $(cat $SLUICE_CLUSTER/run/slurmd-$SLURMD_NODENAME.pid)
while [ -e {work}/off ]; do sleep 0.1; done
exec slurmd -b -N $SLURMD_NODENAME
"""))
    os.chmod(path, 0o755)
    return path


def start(make_cluster, work, nodes=2, conf=""):
    cluster = make_cluster(nodes=nodes, conf=f"{CONF}RebootProgram={reboot_program(work)}\n{conf}")
    for name, text in (("path", cluster.env["PATH"] + ":" + os.path.dirname(cluster.ok("which slurmd").strip())),
                       ("cluster", cluster.dir)):
        with open(os.path.join(work, name), "w") as file:
            file.write(text)
    return cluster


def rebooted(work):
    try:
        with open(os.path.join(work, "rebooted")) as file:
            return file.read().split()
    except FileNotFoundError:
        return []


def test_asap_waits_for_the_job_and_lets_no_other_start(make_cluster, work):
    cluster = start(make_cluster, work)
    node, other = cluster.node_names()
    job = cluster.submit(f"-w {node} -o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    assert root(cluster, f"scontrol reboot ASAP {node}").rc == 0
    assert cluster.node_state(node) == "drng@" and cluster.node_reason(node) == "Reboot ASAP"
    assert cluster.show(f"node {node}")["State"] == "MIXED+DRAIN+REBOOT_REQUESTED"
    waiting = cluster.submit(f"-w {node} -o /dev/null --wrap=true", cwd=work)
    open(os.path.join(work, "off"), "w").close()
    assert rebooted(work) == [] and cluster.state(waiting) == {"PENDING"}
    cluster.ok(f"scancel {job}")
    wait_until(lambda: cluster.node_state(node) == "boot^")
    assert cluster.node_reason(node) == "Reboot ASAP : reboot issued"
    assert cluster.show(f"node {node}")["NextState"] == "RESUME"
    assert cluster.state(waiting) == {"PENDING"} and cluster.node_state(other) == "idle"
    os.unlink(os.path.join(work, "off"))
    assert cluster.wait_end(waiting) == "COMPLETED"
    assert cluster.node_state(node) == "idle" and cluster.node_reason(node) == "none"
    assert rebooted(work) == [node]


def test_a_drained_node_stays_drained_and_nextstate_decides(make_cluster, work):
    cluster = start(make_cluster, work, nodes=3)
    first, second, third = cluster.node_names()
    assert root(cluster, f"scontrol update nodename={first} state=drain reason=broken").rc == 0
    assert root(cluster, f"scontrol reboot {first}").rc == 0
    assert root(cluster, f"scontrol reboot nextstate=DOWN reason='new kernel' {second}").rc == 0
    assert root(cluster, f"scontrol update nodename={third} state=drain reason=broken").rc == 0
    assert root(cluster, f"scontrol reboot asap nextstate=resume {third}").rc == 0
    wait_until(lambda: cluster.node_state(first) == "drain" and sorted(rebooted(work)) == [first, second, third])
    wait_until(lambda: cluster.node_state(second) == "down" and cluster.node_state(third) == "idle")
    assert cluster.node_reason(first) == "broken" and cluster.node_reason(third) == "none"
    assert cluster.node_reason(second) == "new kernel : reboot issued : reboot complete"
    assert root(cluster, f"scontrol update nodename={second} state=resume").rc == 0
    assert cluster.node_state(second) == "idle"


def test_a_reboot_may_be_cancelled_until_it_begins(make_cluster, work):
    cluster = start(make_cluster, work)
    node, other = cluster.node_names()
    job = cluster.submit(f"-w {node} -o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    assert root(cluster, f"scontrol reboot {node}").rc == 0
    assert cluster.node_state(node) == "mix@"
    more = cluster.submit(f"-w {node} -o /dev/null --wrap=true", cwd=work)
    assert cluster.wait_end(more) == "COMPLETED", "without ASAP jobs go on to start"
    assert root(cluster, f"scontrol cancel_reboot {node}").rc == 0
    assert cluster.node_state(node) == "mix" and cluster.node_reason(node) == "none"
    again = root(cluster, f"scontrol cancel_reboot {node}")
    assert again.rc == 1 and "slurm_update error: Invalid node state" in again.err, str(again)
    assert f"note: State=CANCEL_REBOOT: node {node} is not waiting for a reboot" in again.err, str(again)
    cluster.ok(f"scancel {job}")
    wait_until(cluster.idle)
    assert rebooted(work) == []


def test_a_reboot_that_takes_too_long_leaves_the_node_down(make_cluster, work):
    cluster = start(make_cluster, work, conf="ResumeTimeout=2\n")
    node, _ = cluster.node_names()
    open(os.path.join(work, "broken"), "w").close()
    assert root(cluster, f"scontrol reboot {node}").rc == 0
    wait_until(lambda: cluster.node_state(node) == "down")
    assert cluster.node_reason(node) == "reboot requested : reboot issued : reboot timed out"
    assert f"RebootProgram {work}/reboot: exit status 1" in cluster.log(f"slurmd-{node}")
    assert root(cluster, f"scontrol update nodename={node} state=resume").rc == 0
    assert cluster.node_state(node) == "idle"


def test_a_reboot_under_way_outlives_a_restart_of_the_controller(make_cluster, work):
    cluster = start(make_cluster, work)
    node, _ = cluster.node_names()
    open(os.path.join(work, "off"), "w").close()
    assert root(cluster, f"scontrol reboot {node}").rc == 0
    wait_until(lambda: cluster.node_state(node) == "boot^")
    cluster.kill("slurmctld")
    assert root(cluster, "slurmctld").rc == 0
    wait_until(lambda: root(cluster, "sinfo").rc == 0)
    assert cluster.node_state(node) == "boot^"
    os.unlink(os.path.join(work, "off"))
    wait_until(lambda: cluster.node_state(node) == "idle")
    assert cluster.node_reason(node) == "none"


def test_a_reboot_that_nobody_asked_for_puts_the_node_down(make_cluster, work):
    cluster = start(make_cluster, work)
    node, other = cluster.node_names()
    cluster.kill(f"slurmd-{node}")
    assert root(cluster, f"slurmd -b -N {node}").rc == 0
    wait_until(lambda: cluster.node_state(node) == "down")
    assert cluster.node_reason(node) == "Node unexpectedly rebooted"
    cluster.kill(f"slurmd-{other}")
    assert root(cluster, f"slurmd -N {other}").rc == 0
    wait_until(lambda: cluster.log(f"slurmd-{other}").count("registered as") == 2)
    assert cluster.node_state(other) == "idle", "a restart of slurmd alone is no reboot"


def test_who_may_and_what_is_wrong_is_said(make_cluster, work):
    cluster = start(make_cluster, work, nodes=1)
    for command, user, text in (
            ("reboot", "root", "Missing node list. Specify ALL|<NodeList>\n"),
            ("reboot n9", "root", "scontrol_reboot_nodes error: Invalid node name specified\n"),
            ("reboot nextstate=FOO n1", "root", "Invalid state: FOO\nValid states: DOWN, RESUME\n"),
            ("reboot foo=bar n1", "root", "too many arguments for keyword:reboot\n"),
            ("reboot n1", "sluicet1", "scontrol_reboot_nodes error: Permission denied\n"),
            ("cancel_reboot", "root", "missing argument for keyword:cancel_reboot\n"),
            ("cancel_reboot n9", "root", "slurm_update error: Invalid node name specified\n")):
        result = cluster.run(f"scontrol {command}", user=user)
        assert result.rc == 1 and result.err.endswith(text), str(result)
    assert rebooted(work) == []
    without = make_cluster(nodes=1)
    result = root(without, "scontrol reboot ALL")
    assert result.rc == 1 and "RebootProgram" in result.err, str(result)
