# SPDX-License-Identifier: Apache-2.0
"""The controller's state on disk: a full disk, a state of a newer version, two controllers, signals, many kills."""

import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest
from harness import process_is_alive, wait_until

ROUNDS = int(os.environ.get("SLUICE_KILL_ROUNDS", "5"))


def state_directory(cluster):
    return re.search(r"StateSaveLocation\s*=\s*(\S+)", cluster.ok("scontrol show config")).group(1)


def database(cluster):
    """The store's file: the SQLite database in the state directory."""
    directory = state_directory(cluster)
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        with open(path, "rb") as file:
            if file.read(16) == b"SQLite format 3\0":
                return path
    raise AssertionError(f"no database in {directory}")


def pragma(path, statement):
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(statement).fetchall()
        connection.commit()
        return rows[0][0] if rows else None
    finally:
        connection.close()


def run_controller(cluster, arguments="-D"):
    return cluster.run(f"timeout 10 slurmctld {arguments}", user="root", cwd="/")


def test_a_state_of_a_newer_version_is_left_alone(make_cluster, work):
    cluster = make_cluster(nodes=1)
    job = cluster.submit("-H --wrap=true", cwd=work)
    path = database(cluster)
    cluster.kill("slurmctld", signal.SIGTERM)
    version = pragma(path, "PRAGMA user_version")
    pragma(path, f"PRAGMA user_version = {version + 1}")
    result = run_controller(cluster)
    assert result.rc not in (0, 124), str(result)
    assert "newer" in result.err and path in result.err, str(result)
    assert pragma(path, "PRAGMA user_version") == version + 1
    pragma(path, f"PRAGMA user_version = {version}")
    cluster.up()
    assert cluster.state(job) == {"PENDING"}


def test_a_file_that_is_no_state_is_left_alone(make_cluster):
    cluster = make_cluster(nodes=1)
    path = database(cluster)
    cluster.kill("slurmctld", signal.SIGTERM)
    for name in (path + "-wal", path + "-shm"):
        if os.path.exists(name):
            os.unlink(name)
    with open(path, "rb") as file:
        good = file.read()
    for bad in (b"this is not a database\n" * 500, good[:len(good) // 2]):
        with open(path, "wb") as file:
            file.write(bad)
        result = run_controller(cluster)
        assert result.rc not in (0, 124) and path in result.err, str(result)
        with open(path, "rb") as file:
            assert file.read(64) == bad[:64], "what cannot be read was overwritten"
    with open(path, "wb") as file:
        file.write(good)
    cluster.up()


def test_a_second_controller_says_who_is_there(make_cluster):
    cluster = make_cluster(nodes=1)
    pid = cluster.pid("slurmctld")
    conf = cluster.env["SLURM_CONF"] + ".second"
    with open(cluster.env["SLURM_CONF"]) as file:
        text = re.sub(r"(?im)^SlurmctldPidFile=.*$", f"SlurmctldPidFile={cluster.dir}/run/second.pid", file.read())
        text = re.sub(r"(?im)^SlurmctldPort=.*$", f"SlurmctldPort={cluster.ports()[-1] + 1}", text)
    with open(conf, "w") as file:
        file.write(text)
    result = run_controller(cluster, f"-D -f {conf}")
    assert result.rc not in (0, 124) and state_directory(cluster) in result.err, str(result)
    assert cluster.pid("slurmctld") == pid and process_is_alive(pid)
    assert cluster.ok("scontrol ping").endswith("is UP\n")


def test_hangup_reads_the_configuration_again(make_cluster):
    cluster = make_cluster(nodes=1)
    pid, path = cluster.pid("slurmctld"), cluster.env["SLURM_CONF"]
    with open(path) as file:
        good = file.read()

    def write(text):
        with open(path, "w") as file:
            file.write(text)
        os.kill(pid, signal.SIGHUP)
    write(good + "MinJobAge=99\n")
    wait_until(lambda: re.search(r"MinJobAge\s+= 99 sec", cluster.ok("scontrol show config")), 5)
    write(good + "MinJobAge=never\n")
    wait_until(lambda: "MinJobAge" in cluster.log() and "the running one stays" in cluster.log(), 5)
    assert cluster.pid("slurmctld") == pid
    write(good)


def test_the_configuration_can_be_tested_before_it_is_used(make_cluster):
    cluster = make_cluster(nodes=1)
    path = cluster.env["SLURM_CONF"]
    assert run_controller(cluster, "-t").rc == 0
    with open(path) as file:
        good = file.read()
    with open(path, "w") as file:
        file.write(good + "PartitionName=second Nodes=nosuch State=UP\n")
    result = run_controller(cluster, "-t")
    line = good.count("\n") + 1
    assert result.rc == 1 and "nosuch" in result.out + result.err and f":{line}:" in result.out + result.err, str(result)
    with open(path, "w") as file:
        file.write(good)
    assert cluster.ok("scontrol ping").endswith("is UP\n")


@pytest.fixture
def small_disk(make_cluster):
    """A cluster whose state lies on a file system of 4 MiB; yields it and the directory."""
    cluster = make_cluster(nodes=1)
    state = state_directory(cluster)
    cluster.kill("slurmctld", signal.SIGTERM)
    saved = os.path.join(cluster.dir, "saved-state")
    subprocess.run(["cp", "-a", state, saved], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", state], check=True)
    try:
        subprocess.run(["cp", "-a", saved + "/.", state], check=True)
        cluster.up()
        yield cluster, state
    finally:
        if cluster.pid("slurmctld"):
            cluster.kill("slurmctld", signal.SIGKILL)
        subprocess.run(["umount", "-l", state], check=True)


def fill(state):
    """Takes all room in the directory; returns the file that holds it."""
    path = os.path.join(state, "filler")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    for size in (65536, 4096):
        try:
            while os.write(fd, b"x" * size):
                pass
        except OSError:
            pass
    os.close(fd)
    return path


def test_a_full_disk_heals_and_nothing_acknowledged_is_lost(small_disk, work):
    cluster, state = small_disk
    running = cluster.submit("-o /dev/null --wrap='while ! test -e go; do sleep 0.05; done'", cwd=work)
    cluster.wait_state(running, "RUNNING")
    acknowledged, refusals, filler = [running], [], fill(state)
    for _ in range(40):
        result = cluster.run("sbatch --parsable -H --wrap='" + "y" * 30000 + "'", cwd=work)
        if result.rc == 0:
            acknowledged.append(result.out.strip())
        else:
            refusals.append(result)
        if len(refusals) >= 3:
            break
    assert len(refusals) >= 3, "the disk was never full"
    assert all("sbatch: error: Batch job submission failed" in result.err for result in refusals)
    began = time.monotonic()
    result = cluster.run("sbatch -H --wrap=true", cwd=work)
    assert result.rc != 0 and time.monotonic() - began < 3, "while the disk is full, requests are turned away at once"
    assert re.search(r"disk|space|state", result.err, re.I), str(result)
    assert "the file system is full" in cluster.log()
    assert cluster.run("squeue -h").rc == 0, "listings go on"
    pid = cluster.pid("slurmctld")
    os.unlink(filler)
    wait_until(lambda: cluster.run("sbatch -H --wrap=true", cwd=work).rc == 0, 15, 0.2, "it heals")
    assert cluster.log().count("the state cannot be stored") == 1 and "the state is stored again" in cluster.log()
    assert cluster.pid("slurmctld") == pid
    queued = set(cluster.ok("squeue -h -o %A", user="root").split())
    assert set(acknowledged) <= queued
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    queued = set(cluster.ok("squeue -h -o %A", user="root").split())
    assert set(acknowledged) <= queued
    open(os.path.join(work, "go"), "w").close()
    assert cluster.wait_end(running) == "COMPLETED"


def test_killed_while_the_disk_is_full(small_disk, work):
    cluster, state = small_disk
    kept = [cluster.submit("-H --wrap=true", cwd=work) for _ in range(3)]
    filler = fill(state)
    for _ in range(6):
        result = cluster.run("sbatch --parsable -H --wrap='" + "y" * 30000 + "'", cwd=work)
        if result.rc == 0:
            kept.append(result.out.strip())
    cluster.kill("slurmctld", signal.SIGKILL)
    os.unlink(filler)
    cluster.up()
    assert set(kept) <= set(cluster.ok("squeue -h -o %A", user="root").split())


def test_four_loops_of_submissions_while_the_controller_is_killed(make_cluster, work):
    """No acknowledged job is lost, no id given out twice, and a command waits for the controller to come back."""
    cluster = make_cluster(nodes=1)
    loop = ("while ! test -e stop; do id=$(sbatch --parsable -H --wrap=true 2>>errors.{0}) "
            "&& echo $id >> acked.{0}; done")
    loops = [cluster.start(loop.format(i), cwd=work) for i in range(4)]
    try:
        for turn in range(ROUNDS):
            time.sleep((0.2, 0.07, 0.5, 0.13, 0.31)[turn % 5])
            cluster.kill("slurmctld", signal.SIGKILL)
            cluster.up()
        time.sleep(0.3)
    finally:
        open(os.path.join(work, "stop"), "w").close()
    for one in loops:
        one.wait(60)
    ids = []
    for i in range(4):
        with open(os.path.join(work, f"acked.{i}")) as file:
            ids += [int(line) for line in file.read().split()]
    assert len(ids) > 4 * ROUNDS and len(ids) == len(set(ids)), "an id was given out twice"
    queued = set(map(int, cluster.ok("squeue -h -o %A", user="root").split()))
    lost = sorted(set(ids) - queued)
    assert not lost, f"{len(lost)} of {len(ids)} acknowledged jobs are lost: {lost[:5]}"


def test_old_history_goes_and_kept_scripts_with_it(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="AccountingStoreFlags=job_script\nMinJobAge=2\n")
    jobs = [cluster.submit("-o /dev/null --wrap=true", cwd=work) for _ in range(2)]
    wait_until(lambda: not cluster.ok("squeue -h -t all -o %i"), 30, 0.2, "the controller has forgotten them")
    old, young = jobs
    path = database(cluster)
    pragma(path, f'UPDATE history SET "end" = "end" - 3 * 365 * 86400 WHERE job_id = {old}')
    cluster.ok("scontrol reconfigure", user="root")
    wait_until(lambda: cluster.ok("sacct -n -X -S 2000-01-01 -o jobid").split() == [young], 10, 0.1, "the old one has gone")
    assert cluster.run(f"sacct -B -j {young}").out.count("#!") == 1
    kept = sqlite3.connect(path).execute("SELECT id FROM record WHERE kind = 20").fetchall()
    assert kept == [(int(young),)]
