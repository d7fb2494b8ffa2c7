# SPDX-License-Identifier: Apache-2.0
"""Nodes that find something wrong with themselves: they drain, say why, and do not come back by themselves."""

import json
import os
import re
import subprocess

from harness import wait_until

SLOW = "SlurmdParameters=config_overrides,sluice_check_interval=86400"


def update(cluster, node, what):
    return cluster.run(f"scontrol update nodename={node} {what}", user="root")


def device_of(cluster, node):
    """The last device file of a node."""
    lines = cluster.ok(f"grep -h File= {cluster.dir}/etc/gres.conf", user="root").splitlines()
    line = next(line for line in lines if node in line or "NodeName" not in line)
    return re.sub(r"\[\d+-(\d+)\]", r"\1", re.search(r"File=(\S+)", line).group(1))


def fill(cluster, node):
    """A file system of 1 MiB with a file that fills it, under the node's spool; returns the file's path."""
    spool = os.path.join(cluster.dir, "spool", node)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", spool], check=True)
    subprocess.run(["mkdir", "-p", os.path.join(spool, "step")], check=True)
    filler = os.path.join(spool, "filler")
    subprocess.run(["sh", "-c", f"cat /dev/zero > {filler}"], stderr=subprocess.DEVNULL, check=False)
    return filler


def test_a_full_disk_drains_and_resume_tells_whether_it_is_mended(make_cluster, work):            # A44, A45, A51
    cluster = make_cluster(nodes=2, conf="SlurmdParameters=config_overrides,sluice_check_interval=1")
    node = cluster.node_names()[0]
    spool = os.path.join(cluster.dir, "spool", node)
    filler = fill(cluster, node)
    try:
        wait_until(lambda: cluster.node_state(node) == "drain")
        assert f"disk: {spool} is 99 % full or more" in cluster.node_reason(node)
        shown = cluster.show(f"node {node}")
        assert shown["State"] == "IDLE+DRAIN" and re.search(r"\[root@\d{4}-", shown["Reason"]), shown
        # The cause persists: it says so at once, and the node drains again without taking a job.
        job = cluster.submit(f"-w {node} -o /dev/null --wrap=true", cwd=work)
        answer = update(cluster, node, "state=resume")
        assert answer.rc == 0 and f"disk: {spool} is 99 % full or more" in answer.err, str(answer)
        assert cluster.node_state(node) == "drain" and cluster.state(job) == {"PENDING"}
        # Mended, it stays away until somebody says so.
        os.unlink(filler)
        wait_until(lambda: "mended" in cluster.log(f"slurmd-{node}"))
        assert cluster.node_state(node) == "drain" and cluster.state(job) == {"PENDING"}
        answer = update(cluster, node, "state=resume")
        assert answer.rc == 0 and answer.err == "", str(answer)
        assert cluster.wait_end(job) == "COMPLETED"
        assert cluster.node_reason(node) == "none"
    finally:
        cluster.kill(f"slurmd-{node}")
        subprocess.run(["umount", "-l", spool], check=True)


def test_a_read_only_or_missing_file_system_drains_with_its_name(make_cluster, work):
    places = [os.path.join(work, name) for name in ("data", "gone")]
    for place in places:
        os.mkdir(place)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", places[0]], check=True)
    try:
        cluster = make_cluster(nodes=1, conf="SlurmdParameters=config_overrides,sluice_check_interval=1,"
                                             f"sluice_watch={':'.join(places)}")
        node = cluster.node_names()[0]
        assert cluster.idle()
        subprocess.run(["mount", "-o", "remount,ro", places[0]], check=True)
        wait_until(lambda: f"readonly: {places[0]} cannot be written to" in cluster.node_reason(node))
        os.rmdir(places[1])
        wait_until(lambda: f"missing: {places[1]}: No such file or directory" in cluster.node_reason(node))
        # One cause added another: both stand there once.
        assert cluster.node_reason(node).count("readonly") == 1
        assert cluster.log().count(f"node {node} drained") == 2
    finally:
        subprocess.run(["umount", places[0]], check=True)


def test_a_device_that_vanishes_drains_while_jobs_go_on(make_cluster, work):                                # A50
    cluster = make_cluster(nodes=1, gpus="a100:2", conf="SlurmdParameters=config_overrides,sluice_check_interval=1")
    node = cluster.node_names()[0]
    job = cluster.submit("-o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    path = device_of(cluster, node)
    os.rename(path, path + ".away")
    wait_until(lambda: cluster.node_state(node) == "drng")
    assert cluster.node_reason(node) == "gres/gpu count reported lower than configured (1 < 2)"
    assert cluster.state(job) == {"RUNNING"}
    os.rename(path + ".away", path)
    wait_until(lambda: "mended" in cluster.log(f"slurmd-{node}"))
    assert update(cluster, node, "state=resume").err == ""
    assert cluster.node_state(node) == "mix"


def test_reasons_users_and_times_outlive_a_restart(make_cluster):                                    # A42, A43
    cluster = make_cluster(nodes=3, conf=f"ReturnToService=0\n{SLOW}")
    first, second, third = cluster.node_names()
    assert update(cluster, first, "state=drain reason='bad DIMM'").rc == 0
    assert update(cluster, second, "state=down reason=fan").rc == 0
    before = cluster.ok("sinfo -R; sinfo -hRl", user="root")
    lines = before.splitlines()
    assert lines[0] == "REASON               USER      TIMESTAMP           NODELIST"
    time_ = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
    assert re.fullmatch(rf"bad DIMM             root      {time_} {first}", lines[1])
    assert re.fullmatch(rf"fan                  root      {time_} {second}", lines[2])
    assert any(re.fullmatch(rf"bad DIMM             root\(0\)      \S+ drain  {first}", line) for line in lines)
    cluster.kill("slurmctld")
    cluster.up(check=False)
    wait_until(lambda: cluster.node_state(third) == "idle")
    assert cluster.ok("sinfo -R; sinfo -hRl", user="root") == before
    assert {cluster.node_state(first), cluster.node_state(second)} == {"drain", "down"}


def test_drains_are_listed_with_their_cost_and_cure_and_the_log_reminds_of_them(make_cluster):                # A53
    cluster = make_cluster(nodes=2, gpus="a100:2",
                           conf=f"SlurmctldParameters=sluice_drain_reminder=00:00:01\n{SLOW}")
    node, other = cluster.node_names()
    assert cluster.ok("sluice drains") == "No node is out of service.\n"
    assert update(cluster, node, "state=drain reason='bad DIMM'").rc == 0
    wait_until(lambda: "node n1 has been out of service" in cluster.log())
    found = json.loads(cluster.ok("sluice drains --json"))["drains"]
    assert [drain["node"] for drain in found] == [node]
    assert found[0]["by"] == "root" and found[0]["cause"] == "bad DIMM" and not found[0]["cause_persists"]
    assert found[0]["lost_cpu_seconds"] == 4 * found[0]["age_seconds"] > 0
    assert found[0]["lost_gpu_seconds"] == 2 * found[0]["age_seconds"]
    lines = cluster.ok("sluice drains").splitlines()
    assert lines[0].split() == ["NODE", "STATE", "AGE", "BY", "GPU-HOURS", "CPU-HOURS", "CAUSE"]
    assert lines[2] == f"    cure: scontrol update nodename={node} state=resume"
    cluster.ok(lines[2].split("cure: ")[1], user="root")
    assert cluster.ok("sluice drains") == "No node is out of service.\n"


def program(work, name, body):
    path = os.path.join(work, name)
    with open(path, "w") as file:
        file.write("#!/bin/bash\n" + body)
    os.chmod(path, 0o755)
    return path


def test_the_health_check_program_runs_in_time_and_its_node_drains_itself(make_cluster, work):                # A44
    mark, bad = os.path.join(work, "mark"), os.path.join(work, "bad")
    path = program(work, "check", f"""
echo "$SLURMD_NODENAME:$(id -u):$(ps -o pgid= -p $$ | tr -d ' '):$$" >> {mark}
echo looked at $SLURMD_NODENAME
if [ "$(cat {bad} 2>/dev/null)" = "$SLURMD_NODENAME" ]; then
    PATH=$(cat {work}/path) scontrol update nodename=$SLURMD_NODENAME state=drain reason="card on fire"
fi
""")
    cluster = make_cluster(nodes=2, conf=f"HealthCheckProgram={path}\nHealthCheckInterval=1\n{SLOW}")
    node, other = cluster.node_names()
    with open(os.path.join(work, "path"), "w") as file:
        file.write(cluster.env["PATH"])
    def runs(name):
        with open(mark) as file:
            return [line.strip().split(":") for line in file if line.startswith(name + ":")]
    wait_until(lambda: len(runs(node)) >= 3 and len(runs(other)) >= 3)
    assert all(uid == "0" and group == pid for _, uid, group, pid in runs(node))
    assert f"HealthCheckProgram: looked at {node}" in cluster.log(f"slurmd-{node}")
    with open(bad, "w") as file:
        file.write(node)
    wait_until(lambda: cluster.node_state(node) == "drain")
    assert cluster.node_reason(node) == "card on fire" and cluster.node_state(other) == "idle"
    # Resumed without a cure it is back where it was.
    assert update(cluster, node, "state=resume").rc == 0
    wait_until(lambda: cluster.node_state(node) == "drain")


def test_the_health_check_program_is_killed_and_keeps_to_states(make_cluster, work):
    mark = os.path.join(work, "mark")
    path = program(work, "check", f"echo $SLURMD_NODENAME >> {mark}\n[ -e {work}/hang ] && sleep 1000 & wait\n")
    cluster = make_cluster(nodes=2, conf=f"HealthCheckProgram={path}\nHealthCheckInterval=1\nHealthCheckTimeout=1\n"
                                         f"HealthCheckNodeState=IDLE,CYCLE\n{SLOW}")
    node, other = cluster.node_names()
    def count(name):
        with open(mark) as file:
            return file.read().split().count(name)
    job = cluster.submit(f"-w {node} -o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    began, others = count(node), count(other)
    wait_until(lambda: count(other) >= others + 3)
    assert count(node) <= began + 1, "the node is not IDLE"
    open(os.path.join(work, "hang"), "w").close()
    wait_until(lambda: "HealthCheckProgram killed after 1 s" in cluster.log(f"slurmd-{other}"))
    assert cluster.idle() is False and cluster.node_state(other) == "idle"


def test_the_first_health_check_comes_before_the_first_job(make_cluster, work):
    """A hanging program keeps its node from registering until it is killed."""
    path = program(work, "check", "exec sleep 1000\n")
    cluster = make_cluster(nodes=1, conf=f"HealthCheckProgram={path}\nHealthCheckInterval=3600\n"
                                         f"HealthCheckTimeout=1\nHealthCheckNodeState=START_ONLY\n{SLOW}")
    node = cluster.node_names()[0]
    wait_until(lambda: cluster.node_state(node) == "idle")
    log = cluster.log(f"slurmd-{node}")
    assert log.index("HealthCheckProgram killed after 1 s") < log.index("registered as")


def test_a_node_that_is_less_than_configured_says_why_it_is_not_resumed(make_cluster):                       # A51
    cluster = make_cluster(nodes=1, gpus="a100:2", conf=SLOW)
    node = cluster.node_names()[0]
    path = device_of(cluster, node)
    os.rename(path, path + ".away")
    cluster.kill(f"slurmd-{node}")
    cluster.up(check=False)
    wait_until(lambda: cluster.node_state(node) == "inval")
    answer = update(cluster, node, "state=resume")
    assert answer.rc == 1 and "Invalid node state" in answer.err, str(answer)
    assert "gres/gpu count reported lower than configured (1 < 2)" in answer.err, str(answer)
    assert cluster.node_state(node) == "inval"
