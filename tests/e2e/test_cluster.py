# SPDX-License-Identifier: Apache-2.0
"""sluice up, env, status, down: a cluster on one machine [A08, B32, B46]."""

import contextlib
import os
import signal

from harness import BASE, Cluster, leftovers, mounts, processes_of, wait_until

COMMANDS = ("sbatch", "srun", "salloc", "squeue", "sinfo", "scancel", "scontrol", "sacct", "sacctmgr", "sprio", "sdiag", "sattach", "sbcast")


def test_up_makes_the_asked_nodes_and_they_are_idle(make_cluster):
    cluster = make_cluster(nodes=3, cpus=16, mem=5000)
    assert len(cluster.node_names()) == 3
    node = cluster.show("node " + cluster.node_names()[0])
    assert node["CPUTot"] == "16" and node["RealMemory"] == "5000"
    wait_until(cluster.idle, 10)


def test_up_on_a_running_cluster_changes_nothing(make_cluster):
    cluster = make_cluster(nodes=2)
    before = [cluster.pid("slurmctld")] + [cluster.pid(f"slurmd-{n}") for n in cluster.node_names()]
    assert all(before)
    cluster.up()
    assert before == [cluster.pid("slurmctld")] + [cluster.pid(f"slurmd-{n}") for n in cluster.node_names()]


def test_up_starts_what_does_not_run(make_cluster):
    cluster = make_cluster(nodes=2)
    node = cluster.node_names()[0]
    other = cluster.pid(f"slurmd-{cluster.node_names()[1]}")
    cluster.kill("slurmctld")
    cluster.kill(f"slurmd-{node}")
    cluster.up()
    assert cluster.pid("slurmctld") and cluster.pid(f"slurmd-{node}")
    assert cluster.pid(f"slurmd-{cluster.node_names()[1]}") == other
    wait_until(cluster.idle, 20)


def test_down_leaves_nothing_even_with_running_jobs():
    cluster = Cluster(f"down-{os.getpid()}", nodes=2)
    before = mounts()
    try:
        cluster.up()
        ports = cluster.ports()
        job = cluster.submit("-D /tmp -o /dev/null --wrap='trap \"\" TERM; sleep 1000 & setsid sleep 1000 & "
                             "env -i setsid setsid sleep 1000 & wait'")
        cluster.wait_state(job, "RUNNING")
    finally:
        left = cluster.down()
    assert left == [] and leftovers(cluster.dir, before, ports) == []


def test_a_pid_file_that_names_a_stranger_is_not_believed(make_cluster):
    """After a kill -9 the number may have become that of another cluster's slurmctld."""
    mine, stranger = make_cluster(nodes=1), make_cluster(nodes=1)
    mine.kill("slurmctld")
    with open(mine.pid_file("slurmctld"), "w") as file:
        file.write(f"{stranger.pid('slurmctld')}\n")
    assert Cluster.sluice("status", "--dir", mine.dir, check=False).rc != 0
    mine.up()
    assert mine.pid("slurmctld") != stranger.pid("slurmctld")
    assert mine.ok("scontrol ping").endswith("is UP\n")


def test_down_works_after_everything_was_killed():
    cluster = Cluster(f"killed-{os.getpid()}", nodes=2)
    try:
        cluster.up()
        victims = [pid for pid, _ in processes_of(cluster.dir)]
        assert {cluster.pid(name) for name in ("slurmctld", "slurmd-n1", "slurmd-n2")} <= set(victims)
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    finally:
        left = cluster.down()
    assert left == []


def test_status_names_what_runs(make_cluster):
    cluster = make_cluster(nodes=2)
    text = Cluster.sluice("status", "--dir", cluster.dir, check=False).out
    assert "slurmctld" in text and all(node in text for node in cluster.node_names())
    cluster.kill("slurmctld")
    assert Cluster.sluice("status", "--dir", cluster.dir, check=False).rc != 0


def test_an_ordinary_user_can_have_a_cluster(make_cluster):
    os.chmod(BASE, 0o1777)
    cluster = make_cluster(nodes=1, user="sluicet1")
    job = cluster.submit("-D /tmp -o /dev/null --wrap=true")
    assert cluster.wait_end(job) == "COMPLETED"


def test_bad_options_of_up_are_refused():
    for options in (["--nodes", "0"], ["--nodes", "x"], ["--cpus", "-1"], ["--mem", "lots"], ["--gpus", "a100:x"],
                    ["--frobnicate"]):
        result = Cluster.sluice("up", "--dir", os.path.join(BASE, "never"), *options, check=False)
        assert result.rc != 0 and result.err, str(result)
        assert not os.path.exists(os.path.join(BASE, "never")), str(result)


def test_every_command_prints_the_version_tools_look_for(cluster):
    for name in COMMANDS + ("slurmctld", "slurmd"):
        assert cluster.ok(f"{name} -V") == "slurm 26.05.3\n", name


def test_every_command_explains_itself(cluster):
    for name in COMMANDS:
        result = cluster.run(f"{name} --help")
        assert result.rc == 0 and name in result.out and result.err == "", name


def test_slurmd_prints_the_line_of_this_machine(cluster):
    line = cluster.ok("slurmd -C").splitlines()[0]
    assert line.startswith("NodeName=") and "CPUs=" in line and "RealMemory=" in line


def test_up_with_slurmdbd_keeps_its_accounts_there_and_down_leaves_nothing(make_cluster):
    cluster = make_cluster(nodes=1, dbd=True)
    cluster.ok("sacctmgr -i add account physics", user="root")       # at once: up has waited for the registration
    assert cluster.ok("sacctmgr ping").endswith("is UP\n")
    assert "slurmdbd         running" in cluster.sluice("status", "--dir", cluster.dir).out
    os.kill(cluster.pid("slurmdbd"), signal.SIGKILL)
    wait_until(lambda: cluster.run("sacctmgr ping").rc == 1, what="slurmdbd is gone")
    cluster.up()
    assert cluster.ok("sacctmgr -nP show account physics format=account", user="root") == "physics\n"
    other = cluster.sluice("up", "--dir", make_cluster(nodes=1).dir, "--dbd", check=False)
    assert other.rc == 1 and "there is a cluster" in other.err
