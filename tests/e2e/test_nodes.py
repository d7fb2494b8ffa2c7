# SPDX-License-Identifier: Apache-2.0
"""Nodes that are less than configured, and nodes that come back."""

import os
import re
import signal
import subprocess
import time

from harness import wait_until


def restart(cluster, node):
    cluster.kill(f"slurmd-{node}", signal.SIGTERM)
    cluster.up(check=False)


def test_a_lost_gpu_drains_its_node_for_good(make_cluster, work):                                   # A50, A52
    cluster = make_cluster(nodes=2, gpus="a100:2")
    node, other = cluster.node_names()
    lines = cluster.ok(f"grep -h File= {cluster.dir}/etc/gres.conf", user="root").splitlines()
    pattern = next(line for line in lines if node in line or "NodeName" not in line)
    path = re.sub(r"\[\d+-(\d+)\]", r"\1", re.search(r"File=(\S+)", pattern).group(1))
    assert os.path.exists(path)
    os.rename(path, path + ".away")
    for name in (node, other):
        restart(cluster, name)
    reason = "gres/gpu count reported lower than configured (1 < 2)"
    wait_until(lambda: cluster.node_state(node) == "inval", 10)
    shown = cluster.show(f"node {node}")
    assert {"DRAIN", "INVALID_REG"} <= set(shown["State"].split("+")) and reason in shown["Reason"]
    assert cluster.ok(f"sinfo -h -R -n {node} -o %E").startswith(reason[:20])
    assert path in cluster.log(f"slurmd-{node}"), "slurmd names the device that it misses"
    job = cluster.submit(f"-w {node} --gres=gpu:1 -o /dev/null --wrap=true", cwd=work)
    os.rename(path + ".away", path)
    for name in (node, other):
        restart(cluster, name)
    wait_until(lambda: cluster.node_state(node) == "drain", 10, what="it must not come back by itself")
    assert reason in cluster.show(f"node {node}")["Reason"] and cluster.state(job) == {"PENDING"}
    cluster.ok(f"scontrol update nodename={node},{other} state=resume", user="root")
    assert cluster.wait_end(job) == "COMPLETED"


def test_nodes_are_back_soon_after_a_restart_of_the_controller(make_cluster):
    """Not a benchmark: seconds would show that they wait for their turn."""
    cluster = make_cluster(nodes=4)
    for pause in (0, 1):
        cluster.kill("slurmctld", signal.SIGKILL)
        time.sleep(pause)
        before = len(cluster.log())
        began = time.monotonic()
        cluster.up()
        assert time.monotonic() - began < 3
        assert len(re.findall(r"node n\d has registered", cluster.log()[before:])) == 4


def test_a_node_of_another_name_is_turned_away_with_a_reason(make_cluster):
    cluster = make_cluster(nodes=1)
    result = cluster.run("timeout 10 slurmd -D -N nosuch", user="root", cwd="/")
    assert result.rc not in (0, 124) and "nosuch" in result.err


def test_a_second_slurmd_of_a_node_is_refused(make_cluster, work):
    cluster = make_cluster(nodes=1)
    node = cluster.node_names()[0]
    pid = cluster.pid(f"slurmd-{node}")
    result = cluster.run(f"timeout 10 slurmd -D -N {node}", user="root", cwd="/")
    assert result.rc not in (0, 124) and str(pid) in result.err
    assert cluster.pid(f"slurmd-{node}") == pid
    assert cluster.submit("-W -o /dev/null --wrap=true", cwd=work)


def test_a_stopped_slurmd_delays_only_its_own_jobs(make_cluster, work):
    """SIGSTOP: connections stand, nothing answers."""
    cluster = make_cluster(nodes=2)
    node, other = cluster.node_names()
    pid = cluster.pid(f"slurmd-{node}")
    os.kill(pid, signal.SIGSTOP)
    try:
        stuck = cluster.submit(f"-w {node} -o /dev/null --wrap=true", cwd=work)
        began = time.monotonic()
        assert cluster.submit(f"-W -w {other} -o /dev/null --wrap=true", cwd=work)
        assert cluster.ok("squeue -h -o %A").split() == [stuck]
        assert time.monotonic() - began < 5
    finally:
        os.kill(pid, signal.SIGCONT)
    assert cluster.wait_end(stuck) == "COMPLETED"


def test_a_node_without_room_for_scripts_drains_and_its_job_goes_on_later(make_cluster, work):
    """Else it would take and fail every job of the queue."""
    cluster = make_cluster(nodes=2)
    node, other = cluster.node_names()
    spool = os.path.join(cluster.dir, "spool", node)
    cluster.kill(f"slurmd-{node}", signal.SIGTERM)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", spool], check=True)
    cluster.up()
    filler = os.path.join(spool, "filler")
    subprocess.run(["sh", "-c", f"cat /dev/zero > {filler}"], stderr=subprocess.DEVNULL, check=False)
    first = cluster.submit(f"-w {node} -o out --wrap='echo ran'", cwd=work)
    wait_until(lambda: cluster.node_state(node) == "drain", 10)
    assert cluster.ok(f"sinfo -h -n {node} -o %E") == "batch job complete failure\n"
    assert "No space left on device" in cluster.log()
    assert cluster.state(first) == {"PENDING"} and cluster.field(first, "Q") != "0"
    jobs = [cluster.submit("-o /dev/null --wrap=true", cwd=work) for _ in range(5)]
    assert cluster.wait_end(",".join(jobs)) == "COMPLETED"
    os.unlink(filler)
    cluster.ok(f"scontrol update nodename={node} state=resume", user="root")
    assert cluster.wait_end(first) == "COMPLETED"
    assert open(os.path.join(work, "out")).read() == "ran\n"
