# SPDX-License-Identifier: Apache-2.0
"""sattach: the streams of a running step from beside."""

import os
import signal

import pytest
from harness import OTHER, wait_until
from terminal import Terminal


@pytest.fixture
def step(cluster, work):
    """A step that runs: step(srun options, command) gives its id and the job's."""
    def make(options, command, stdin="/dev/null"):
        job = cluster.submit(f"-n 8 -N 2 --ntasks-per-node 4 -o job.out --wrap \"srun {options} sh -c '{command}' <{stdin} >srun.out 2>srun.err\"",
                             cwd=work)
        cluster.wait_state(job, "RUNNING")
        wait_until(lambda: cluster.run(f"sattach --layout {job}.0").rc == 0, what="the step")
        return f"{job}.0"
    return make


UNTIL_GO = "while ! test -e go; do echo tick \\$SLURM_PROCID >&2; sleep 0.1; done;"


class Watcher:
    """A sattach of a step that does UNTIL_GO: it is attached, for it has got a word of each of these tasks."""

    def __init__(self, cluster, work, command, ranks):
        self.errors = f"{work}/watched-{len(os.listdir(work))}"
        self.running = cluster.start(f"exec {command} 2>{self.errors}", cwd=work)
        for rank in ranks:
            wait_for(self.errors, f"tick {rank}")

    def wait(self):
        result = self.running.wait()
        with open(self.errors) as file:
            result.err = "".join(line for line in file if "tick " not in line)
        return result


def wait_for(path, text):
    wait_until(lambda: os.path.exists(path) and text in open(path).read(), what=f"{text!r} in {path}")


def test_output_goes_to_srun_and_to_all_that_watch(cluster, work, step):
    name = step("-n 4 -N 2", UNTIL_GO + " echo out \\$SLURM_PROCID; echo err >&2; exit \\$SLURM_PROCID")
    watchers = [Watcher(cluster, work, f"sattach {options} {name}", ranks) for options, ranks in
                (("-l", range(4)), ("--output-filter=2 --error-filter=3", [3]), ("", range(4)))]
    open(f"{work}/go", "w").close()
    labelled, filtered, plain = [watcher.wait() for watcher in watchers]
    assert sorted(labelled.lines) == [f"{rank}: out {rank}" for rank in range(4)]
    assert filtered.out == "out 2\n" and filtered.err.count("err\n") == 1
    assert sorted(plain.lines) == [f"out {rank}" for rank in range(4)]
    assert plain.rc == 3 and "sattach: error: task 3 exited with exit code 3" in plain.err
    wait_for(f"{work}/srun.out", "out 3")
    assert sorted(open(f"{work}/srun.out").read().splitlines()) == [f"out {rank}" for rank in range(4)]


def test_the_layout_tells_ranks_and_nodes(cluster, step):
    name = step("-n 4 -N 2 -m cyclic", "sleep 100")
    text = cluster.ok(f"sattach --layout {name}")
    assert text == ("Job step layout:\n\t4 tasks, 2 nodes (n[1-2])\n\n\tNode 0 (n1), 2 task(s): 0 2 \n"
                    "\tNode 1 (n2), 2 task(s): 1 3 \n")


def test_input_reaches_the_tasks_and_its_end_does_not(cluster, work, step):
    os.mkfifo(f"{work}/fifo")
    os.chmod(f"{work}/fifo", 0o666)
    hold = os.open(f"{work}/fifo", os.O_RDWR)       # srun's input stays open
    name = step("-n 2", "while read line; do echo got \\$line by \\$SLURM_PROCID; done; echo over", stdin="fifo")
    first = cluster.start(f"exec sattach {name}", cwd=work, stdin=-1)
    first.process.stdin.write(b"one\n")
    first.process.stdin.close()
    wait_until(lambda: os.path.exists(f"{work}/srun.out") and
               open(f"{work}/srun.out").read().count("got one by") == 2, what="input")
    second = cluster.start(f"exec sattach --input-filter=1 {name}", cwd=work, stdin=-1)
    second.process.stdin.write(b"two\n")
    second.process.stdin.flush()
    wait_for(f"{work}/srun.out", "got two by 1")
    text = open(f"{work}/srun.out").read()
    assert "got two by 0" not in text and "over" not in text
    os.close(hold)
    wait_for(f"{work}/srun.out", "over")
    first.process.stdin = None
    assert "got two by 1" in first.wait().out
    second.kill()


def test_megabytes_of_input_through_sattach_arrive(cluster, work, step):
    os.mkfifo(f"{work}/fifo")
    os.chmod(f"{work}/fifo", 0o666)
    hold = os.open(f"{work}/fifo", os.O_RDWR)
    name = step("-n 2", "head -c 20000000 | md5sum", stdin="fifo")
    sent = cluster.run(f"head -c 20000000 /dev/zero | tr '\\0' x | sattach {name}", cwd=work)
    want = cluster.ok("head -c 20000000 /dev/zero | tr '\\0' x | md5sum")
    assert sent.out == want * 2
    os.close(hold)


def test_a_stopped_watcher_holds_nobody_up(cluster, work, step):
    name = step("-n 2", UNTIL_GO + " head -c 40000000 /dev/zero; touch done.\\$SLURM_PROCID")
    watcher = Watcher(cluster, work, f"sattach {name} >/dev/null", range(2))
    watcher.running.signal(signal.SIGSTOP)
    open(f"{work}/go", "w").close()
    wait_until(lambda: os.path.exists(f"{work}/done.0") and os.path.exists(f"{work}/done.1"), what="tasks")
    cluster.wait_end(name.split(".")[0])
    assert os.path.getsize(f"{work}/srun.out") == 80000000
    watcher.running.signal(signal.SIGCONT)
    assert "bytes of output were left out here" in watcher.wait().err


def test_a_watcher_that_leaves_ends_nothing(cluster, work, step):
    name = step("-n 2", "while ! test -e go; do echo tick; sleep 0.05; done; echo fine")
    for sig in (signal.SIGINT, signal.SIGKILL):
        watcher = cluster.start(f"exec sattach {name}", cwd=work)
        assert watcher.process.stdout.readline() == b"tick\n"
        watcher.signal(sig)
        watcher.process.wait(20)
    assert cluster.ok(f"sattach {name} | head -n 1", cwd=work) == "tick\n"
    open(f"{work}/go", "w").close()
    wait_for(f"{work}/srun.out", "fine")


def test_only_the_owner_and_root_may_look(cluster, work, step):
    name = step("-n 1", "sleep 100")
    result = cluster.run(f"sattach {name}", user=OTHER)
    assert result.rc == 1 and "belongs to another user" in result.err
    assert cluster.run(f"sattach --layout {name}", user="root").rc == 0


def test_a_session_with_a_terminal_can_be_shared(cluster, work):
    first = Terminal(cluster, "exec srun -J shared --pty bash --norc", work)
    second = None
    try:
        first.send("echo here$((1+1))\n")
        first.expect("here2")
        job = cluster.ok("squeue -h -n shared -o %A").strip()
        second = Terminal(cluster, f"exec sattach --pty {job}.0", work)
        def is_shared():
            first.send("echo tick$((4+4))\n")
            try:
                return second.expect("tick8", 1) is not None
            except AssertionError:
                return False
        wait_until(is_shared)
        second.send("echo both$((3+3))\n")
        second.expect("both6")
        first.expect("both6")
        first.send("exit\n")
        assert first.wait() == 0 and second.wait() == 0
    finally:
        for terminal in (first, second):
            if terminal:
                terminal.end()


def test_what_it_says_when_there_is_nothing(cluster, work):
    job = cluster.submit("--wrap 'sleep 100'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    result = cluster.run(f"sattach {job}.batch")
    assert result.rc == 1 and "has no streams to attach to" in result.err
    none = cluster.run(f"sattach {job}.3").err
    assert "Invalid job id specified" in none and f"note: job {job} runs no step of srun\n" in none, none
    cluster.start(f"exec srun --overlap --jobid={job} sleep 100", cwd=work)
    wait_until(lambda: f"note: steps of srun that job {job} runs: {job}.0\n" in cluster.run(f"sattach {job}.3").err)
    assert "There is no task 9" in cluster.run(f"sattach --output-filter=9 {job}.batch").err


def test_it_works_after_a_restart_of_slurmd(make_cluster, work):
    own = make_cluster(nodes=1)
    running = own.start(f"exec srun sh -c '{UNTIL_GO} echo late'".replace("\\$", "$"), cwd=work)
    wait_until(lambda: own.run("sattach --layout 1.0").rc == 0, what="the step")
    [slurmd] = [name[:-4] for name in os.listdir(own.dir + "/run") if name.startswith("slurmd-")]
    own.kill(slurmd)
    own.up()
    wait_until(lambda: own.run("sattach --layout 1.0").rc == 0, what="attached again")
    watcher = Watcher(own, work, "sattach 1.0", [0])
    open(f"{work}/go", "w").close()
    assert watcher.wait().out == "late\n" and running.wait().out == "late\n"
