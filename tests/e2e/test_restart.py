# SPDX-License-Identifier: Apache-2.0
"""Daemons that die and come back [A06, A07, A08]: no acknowledged job is lost, none runs twice, no id is reused."""

import os
import re
import signal
import time

from harness import process_is_alive, wait_until

ROUNDS = int(os.environ.get("SLUICE_KILL_ROUNDS", "5"))


def start_submitters(cluster, work, count):
    """Loops of sbatch that note every acknowledged id; they stop at the file `stop`."""
    loop = ("while ! test -e stop; do id=$(sbatch --parsable -H -J held --wrap=true 2>/dev/null) "
            "&& echo $id >> acked.{0}; done")
    return [cluster.start(loop.format(i), cwd=work) for i in range(count)]


def acknowledged(work):
    ids = []
    for name in os.listdir(work):
        if name.startswith("acked."):
            with open(os.path.join(work, name)) as file:
                ids += [int(line) for line in file.read().splitlines()]
    return ids


def test_kill_9_of_the_controller_loses_no_acknowledged_job(make_cluster, work):
    cluster = make_cluster(nodes=1)
    delays = [0.3, 0.05, 0.6, 0.15, 1.0]
    for turn in range(ROUNDS):
        submitters = start_submitters(cluster, work, 2)
        time.sleep(delays[turn % len(delays)])
        cluster.kill("slurmctld", signal.SIGKILL)
        open(os.path.join(work, "stop"), "w").close()
        for submitter in submitters:
            submitter.wait(60)
        os.unlink(os.path.join(work, "stop"))
        cluster.up()
        ids = acknowledged(work)
        assert len(ids) == len(set(ids)), "an id was given out twice"
        queued = set(map(int, cluster.ok("squeue -h -o %A", user="root").split()))
        lost = sorted(set(ids) - queued)
        assert not lost, f"round {turn}: {len(lost)} of {len(ids)} acknowledged jobs are lost: {lost[:5]}"
    assert len(acknowledged(work)) > ROUNDS


def test_killed_right_after_the_answer(make_cluster, work):
    cluster = make_cluster(nodes=1)
    last = 0
    for _ in range(ROUNDS):
        job = int(cluster.submit("-H --wrap=true", cwd=work))
        os.kill(cluster.pid("slurmctld"), signal.SIGKILL)
        assert job > last, "an id was given out twice"
        last = job
        wait_until(lambda: not cluster.pid("slurmctld"))
        cluster.up()
        assert cluster.state(str(job)) == {"PENDING"}


def test_running_jobs_do_not_notice_a_dead_controller(make_cluster, work):
    cluster = make_cluster(nodes=2)
    job = cluster.submit("-N 2 -o out --wrap='srun -N 2 sh -c \"touch up.\\$SLURM_PROCID; "
                         "while ! test -e go; do sleep 0.05; done; echo \\$SLURM_PROCID\"; echo end'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up.0")) and os.path.exists(os.path.join(work, "up.1")))
    started = cluster.field(job, "S")
    for sig in (signal.SIGKILL, signal.SIGTERM):
        cluster.kill("slurmctld", sig)
        cluster.up()
        assert cluster.state(job) == {"RUNNING"} and cluster.field(job, "S") == started
    open(os.path.join(work, "go"), "w").close()
    assert cluster.wait_end(job) == "COMPLETED"
    with open(os.path.join(work, "out")) as file:
        assert sorted(file.read().split()) == ["0", "1", "end"]


def test_a_job_that_ends_while_the_controller_is_down_is_told_later(make_cluster, work):
    cluster = make_cluster(nodes=1)
    good = cluster.submit("-o /dev/null --wrap='while ! test -e go; do sleep 0.05; done; touch done1'", cwd=work)
    bad = cluster.submit("-o /dev/null --wrap='while ! test -e go; do sleep 0.05; done; touch done2; exit 9'", cwd=work)
    cluster.wait_state(f"{good},{bad}", "RUNNING")
    cluster.kill("slurmctld")
    open(os.path.join(work, "go"), "w").close()
    wait_until(lambda: {"done1", "done2"} <= set(os.listdir(work)))
    cluster.up()
    assert cluster.wait_end(good) == "COMPLETED" and cluster.wait_end(bad) == "FAILED"
    assert cluster.show(f"job {bad}")["ExitCode"].strip() == "9:0"


def test_running_jobs_do_not_notice_a_dead_node_daemon(make_cluster, work):
    cluster = make_cluster(nodes=1)
    node = cluster.node_names()[0]
    job = cluster.submit("-o out --wrap='echo start; while ! test -e go; do sleep 0.05; done; echo end'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "out")) and os.path.getsize(os.path.join(work, "out")))
    for sig in (signal.SIGTERM, signal.SIGKILL):
        cluster.kill(f"slurmd-{node}", sig)
        cluster.up()
        wait_until(lambda: cluster.run(f"srun --jobid={job} --overlap true", cwd=work).rc == 0, 20, 0.2)
        assert cluster.state(job) == {"RUNNING"}
    open(os.path.join(work, "go"), "w").close()
    assert cluster.wait_end(job) == "COMPLETED"
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "start\nend\n"


def test_a_job_that_ends_while_its_node_daemon_is_down_is_told_later(make_cluster, work):
    cluster = make_cluster(nodes=1)
    node = cluster.node_names()[0]
    job = cluster.submit("-o /dev/null --wrap='while ! test -e go; do sleep 0.05; done; touch over; exit 4'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    cluster.kill(f"slurmd-{node}")
    open(os.path.join(work, "go"), "w").close()
    wait_until(lambda: os.path.exists(os.path.join(work, "over")))
    cluster.up()
    assert cluster.wait_end(job) == "FAILED"
    assert cluster.show(f"job {job}")["ExitCode"].strip() == "4:0"


def test_every_job_runs_once_while_daemons_are_killed(make_cluster, work):
    cluster = make_cluster(nodes=2, cpus=8)
    jobs = [cluster.submit(f"-n 1 -o /dev/null --wrap='echo {i} >> ran; sleep 0.2'", cwd=work) for i in range(40)]
    for turn in range(3):
        time.sleep(0.3)
        cluster.kill("slurmctld")
        if turn == 1:
            cluster.kill(f"slurmd-{cluster_node(cluster)}")
        cluster.up()
    wait_until(lambda: cluster.run("squeue -h", user="root").out == "", 60, 0.1, "the queue is empty")
    states = {job: cluster.state(job) for job in jobs}
    assert set.union(*states.values()) == {"COMPLETED"}, {j: s for j, s in states.items() if s != {"COMPLETED"}}
    with open(os.path.join(work, "ran")) as file:
        assert sorted(map(int, file.read().split())) == list(range(40))


def cluster_node(cluster):
    """A node's name without the controller, from its pid file."""
    names = [name for name in os.listdir(os.path.join(cluster.dir, "run")) if name.startswith("slurmd-")]
    return re.fullmatch(r"slurmd-(.*)\.pid", sorted(names)[0]).group(1)


def test_holds_drains_and_arrays_survive_a_restart(make_cluster, work):
    cluster = make_cluster(nodes=2)
    node = cluster.node_names()[1]
    cluster.ok(f"scontrol update nodename={node} state=drain reason='kept reason'", user="root")
    cluster.ok("scontrol update partitionname=$(sinfo -h -o %R | head -1) state=down", user="root")
    held = cluster.submit("-H -J held --wrap=true", cwd=work)
    array = cluster.submit("-a 1-5%2 -J arr --wrap=true", cwd=work)
    depend = cluster.submit(f"-d afterok:{held} -J dep --wrap=true", cwd=work)
    columns = "squeue -h -S i -o '%i %j %T %l %E %u'"
    before = cluster.ok(columns)
    for sig in (signal.SIGTERM, signal.SIGKILL):
        cluster.kill("slurmctld", sig)
        cluster.up()
        assert cluster.ok(columns) == before
        assert cluster.ok(f"sinfo -h -n {node} -o '%t %E'") == "drain kept reason\n"
        assert cluster.ok("sinfo -h -o %a").split()[0] == "down", "the operator's change is forgotten"
    assert cluster.field(array, "K") == "1-5%2" and cluster.field(depend, "E").startswith("afterok:")


def test_a_node_that_dies_is_seen_at_once_and_comes_back(make_cluster):
    cluster = make_cluster(nodes=2)
    node = cluster.node_names()[0]
    cluster.kill(f"slurmd-{node}")
    wait_until(lambda: cluster.ok(f"sinfo -h -n {node} -o %t").split()[0].endswith("*"), 5, 0.05,
               "the node is shown as not responding")
    cluster.up()
    wait_until(cluster.idle, 10)


def test_orderly_shutdown_by_scontrol(make_cluster):
    cluster = make_cluster(nodes=1)
    pid = cluster.pid("slurmctld")
    assert cluster.run("scontrol shutdown").rc == 1
    assert process_is_alive(pid)
    cluster.ok("scontrol shutdown slurmctld", user="root")
    wait_until(lambda: not process_is_alive(pid), 10)


def test_a_second_controller_on_the_same_store_is_refused(make_cluster):
    cluster = make_cluster(nodes=1)
    result = cluster.run("timeout 20 slurmctld -D", user="root")
    assert result.rc not in (0, 124) and result.err
    assert cluster.ok("scontrol ping").endswith("is UP\n")
