# SPDX-License-Identifier: Apache-2.0
"""Standard streams of steps: nothing lost, nothing torn, nobody held up by somebody else's slow reader [B40]."""

import collections
import hashlib
import os
import signal
import time

import pytest
from harness import pids_of, process_is_alive, stepds, wait_until

TASKS = 200     # on four nodes with 8 CPUs each


def memory_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(dict(line.split(":", 1) for line in file)["VmRSS"].split()[0])


# -- output ------------------------------------------------------------------------------------------------------

def test_hundreds_of_tasks_long_lines_and_labels(cluster, work, script):
    path = script("talk.sh", "long=$(printf '%5000s' x | tr ' ' y)\n"
                  "for i in 1 2 3 4 5; do echo line $i of $SLURM_PROCID $long; echo err $i >&2; done\n"
                  "printf 'end of %s' $SLURM_PROCID\n")
    result = cluster.run(f"srun -O -n {TASKS} -l bash {path}", cwd=work, timeout=60)
    assert result.rc == 0, result.err[-2000:]
    seen = collections.Counter()
    for line in result.lines:
        label, _, text = line.partition(": ")
        assert len(label) == 3 and text, line[:80]
        rank = int(label)
        if text == f"end of {rank}":
            seen[rank, "end"] += 1
        else:
            words = text.split()
            assert words[:1] == ["line"] and words[2:4] == ["of", str(rank)] and len(words[4]) == 5000, line[:80]
            seen[rank, words[1]] += 1
    assert len(seen) == TASKS * 6 and set(seen.values()) == {1}
    assert len(result.err.splitlines()) == TASKS * 5


def test_bytes_of_any_value_pass_unchanged(cluster, work):
    with open(f"{work}/bytes", "wb") as file:
        file.write(bytes(range(256)) * 4000 + b"\0no newline at the end")
    os.chmod(f"{work}/bytes", 0o644)
    with open(f"{work}/bytes", "rb") as file:
        wanted = file.read()
    for options in ("", "-u", "-n 1 -l"):
        cluster.ok(f"srun {options} cat bytes >copy", cwd=work)
        with open(f"{work}/copy", "rb") as file:
            copy = file.read()
        if "-l" in options:
            lines = copy.split(b"\n")
            assert all(line.startswith(b"0: ") for line in lines[:-1]) and not lines[-1], "the last line is ended"
            copy = b"\n".join(line[3:] for line in lines[:-1])
        assert copy == wanted, options


def test_many_megabytes_of_several_tasks_add_up(cluster, work):
    out = cluster.ok("srun -n 8 sh -c 'head -c 4000000 /dev/zero | tr \"\\0\" $SLURM_PROCID'", cwd=work)
    assert [out.count(str(rank)) for rank in range(8)] == [4000000] * 8 and len(out) == 32000000


def test_endless_lines_of_many_tasks_cost_bounded_memory(cluster, work):
    running = cluster.start("exec srun -O -n 64 -l sh -c 'tr \"\\0\" x </dev/zero | head -c 1000000; touch at.$SLURM_PROCID; "
                            "while ! test -e go; do sleep 0.1; done; echo' >out", cwd=work)
    wait_until(lambda: all(os.path.exists(f"{work}/at.{rank}") for rank in range(64)), what="64 million bytes")
    assert memory_kib(running.process.pid) < 150000
    open(f"{work}/go", "w").close()
    assert running.wait().rc == 0
    assert open(f"{work}/out").read().count("x") == 64000000


def test_unbuffered_output_comes_before_its_line_ends(cluster, work):
    running = cluster.start("srun -u -n 2 sh -c 'printf half; while ! test -e go; do sleep 0.05; done; echo .' >out",
                            cwd=work)
    wait_until(lambda: os.path.exists(f"{work}/out") and open(f"{work}/out").read() == "halfhalf", what="both halves")
    open(f"{work}/go", "w").close()
    assert running.wait().rc == 0


def test_a_file_for_each_of_hundreds_of_tasks(cluster, work):
    cluster.ok(f"srun -O -n {TASKS} -o out/%J.%t.out -e out/%3t.%N.err sh -c 'echo $SLURM_PROCID; echo e >&2'", cwd=work,
               timeout=60)
    names = os.listdir(f"{work}/out")
    outs = [name for name in names if name.endswith(".out")]
    errs = [name for name in names if name.endswith(".err")]
    assert len(outs) == TASKS and len(errs) == TASKS
    for name in outs:
        assert open(f"{work}/out/{name}").read() == name.split(".")[2] + "\n"
    assert sorted(name[:3] for name in errs) == [f"{rank:03}" for rank in range(TASKS)]


def test_a_file_for_each_node_has_whole_lines_of_all_its_tasks(cluster, work):
    cluster.ok("srun -N 4 -n 16 -o %n.out sh -c 'for i in 1 2 3 4 5 6 7 8; do echo $SLURM_PROCID $i; done'", cwd=work)
    lines = [line for node in range(4) for line in open(f"{work}/{node}.out").read().splitlines()]
    assert sorted(lines) == sorted(f"{rank} {i}" for rank in range(16) for i in range(1, 9))


def test_one_tasks_output_only(cluster, work):
    assert cluster.ok("srun -n 4 -o 2 sh -c 'echo $SLURM_PROCID'", cwd=work) == "2\n"
    assert cluster.ok("srun -n 4 -o none sh -c 'echo $SLURM_PROCID'", cwd=work) == ""


# -- slow and stopped readers -------------------------------------------------------------------------------------

def test_a_stopped_srun_blocks_nobody_else_and_costs_little_memory(cluster, work):
    job = cluster.submit("-n 4 -N 1 --wrap 'sleep 300'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    running = cluster.start(f"exec srun --jobid {job} --overlap -n 4 sh -c 'yes $SLURM_PROCID | head -n 20000000' | "
                            "sort | uniq -c", cwd=work)
    [srun] = wait_until(lambda: pids_of(cluster, f"srun --jobid {job}"), what="srun")
    wait_until(lambda: len(pids_of(cluster, "yes")) == 4, what="the step")
    os.kill(srun, signal.SIGSTOP)
    [stepd] = stepds(cluster, job, "0")
    def has_settled():
        before = open(f"/proc/{stepd}/io").read()
        time.sleep(0.3)
        return open(f"/proc/{stepd}/io").read() == before
    wait_until(has_settled, what="slurmstepd waits")
    assert memory_kib(stepd) < 40000
    assert cluster.ok(f"srun --jobid {job} --overlap -n 2 echo fine", cwd=work) == "fine\nfine\n"
    cluster.ok(f"scontrol show job {job}")
    os.kill(srun, signal.SIGCONT)
    assert memory_kib(srun) < 40000
    cluster.ok(f"scancel {job}.0")
    running.wait()


def test_a_reader_that_pauses_loses_nothing(cluster, work):
    out = cluster.ok("srun -n 2 seq 1 200000 | (sleep 1; sort -n | uniq -c | "
                     "awk '$1 != 2 {bad++} END {print NR, bad + 0}')", cwd=work)
    assert out.split() == ["200000", "0"]


def test_a_pipe_that_is_closed_ends_the_step(cluster, work):
    out = cluster.ok("srun -n 2 yes | head -n 1", cwd=work)
    assert out == "y\n"
    wait_until(cluster.idle, what="idle")


# -- input ---------------------------------------------------------------------------------------------------------

def test_big_input_reaches_every_task_whole(cluster, work):
    data = os.urandom(1 << 20) * 24
    with open(f"{work}/in", "wb") as file:
        file.write(data)
    os.chmod(f"{work}/in", 0o644)
    want = hashlib.md5(data).hexdigest()
    for options in ("<in", "-i in", "-i all <in"):
        out = cluster.ok(f"srun -N 2 -n 4 {'' if options[0] == '<' else options} sh -c 'sleep 0.$SLURM_PROCID; md5sum' "
                         f"{options if options[0] == '<' else ''}", cwd=work)
        assert [line.split()[0] for line in out.splitlines()] == [want] * 4, options


def test_input_for_one_task_leaves_the_others_at_the_end_of_theirs(cluster, work):
    out = cluster.ok("printf 'a\\nb\\n' | srun -n 3 -l -i 1 wc -l", cwd=work)
    assert sorted(out.splitlines()) == ["0: 0", "1: 2", "2: 0"]
    assert sorted(cluster.ok("printf 'a\\nb\\n' | srun -n 3 -l -i none wc -l", cwd=work).split()) == sorted(
        "0: 0 1: 0 2: 0".split())


def test_a_task_that_reads_nothing_does_not_stop_srun(cluster, work):
    out = cluster.ok("head -c 30000000 /dev/zero | srun -n 2 sh -c "
                     "'if [ $SLURM_PROCID = 0 ]; then exec 0<&-; sleep 0.2; else wc -c; fi'", cwd=work)
    assert out == "30000000\n"


def test_files_of_input_for_each_task(cluster, work):
    for rank in range(3):
        with open(f"{work}/in.{rank}", "w") as file:
            file.write(f"for {rank}\n")
        os.chmod(f"{work}/in.{rank}", 0o644)
    out = cluster.ok("srun -n 3 -l -i in.%t cat", cwd=work)
    assert sorted(out.splitlines()) == ["0: for 0", "1: for 1", "2: for 2"]


def test_a_loop_that_reads_a_list_with_input_none(cluster, work):
    out = cluster.ok("printf '1\\n2\\n3\\n' | while read n; do srun -i none echo got $n; done", cwd=work)
    assert out == "got 1\ngot 2\ngot 3\n"


# -- signals to srun -------------------------------------------------------------------------------------------------

def background(cluster, work, options, trap=""):
    """An srun that knows that all its tasks run: a word of each has passed through it."""
    running = cluster.start(f"exec srun {options} sh -c '{trap} echo up; while true; do sleep 0.05; done' >out",
                            cwd=work)
    n = int(options.split("-n ")[1].split()[0])
    wait_until(lambda: os.path.exists(f"{work}/out") and open(f"{work}/out").read() == n * "up\n", what="all tasks")
    return running


def test_a_killed_srun_takes_its_tasks_along(cluster, work):
    running = background(cluster, work, "-n 4 -N 2", 'trap "" HUP INT;')
    running.signal(signal.SIGKILL)
    running.wait()
    wait_until(lambda: not pids_of(cluster, "sh -c trap") and cluster.idle(), what="nothing left")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_that_ends_srun_ends_the_job(cluster, work, name):
    running = background(cluster, work, "-n 2")
    running.signal(getattr(signal, name))
    result = running.wait()
    assert "srun: forcing job termination" in result.err and result.rc != 0
    wait_until(cluster.idle, what="idle")


def test_one_interrupt_shows_the_state_and_nothing_else(cluster, work):
    running = background(cluster, work, "-n 2")
    running.signal(signal.SIGINT)
    said = b""
    while b"tasks 0-1: running" not in said:
        said += os.read(running.process.stderr.fileno(), 4096)
        assert said, "it has ended"
    assert b"interrupt (one more within 1 sec to abort)" in said
    time.sleep(1.2)
    assert process_is_alive(running.process.pid)
    running.signal(signal.SIGTERM)
    running.wait()


@pytest.mark.parametrize("option", ["-X", "--quit-on-interrupt"])
def test_one_interrupt_reaches_the_tasks_on_request(cluster, work, option):
    running = background(cluster, work, f"{option} -n 2", 'trap "exit 7" INT;')
    running.signal(signal.SIGINT)
    result = running.wait()
    assert result.rc == 7 and "one more within" not in result.err


def test_user_signals_pass_through(cluster, work):
    running = background(cluster, work, "-n 1", 'trap "echo one; exit 5" USR1;')
    running.signal(signal.SIGUSR1)
    assert running.wait().rc == 5
    assert open(f"{work}/out").read() == "up\none\n"


def test_a_stopped_srun_does_not_stop_its_tasks(cluster, work):
    running = cluster.start("exec srun sh -c 'touch ready.0; for i in 1 2 3 4 5 6; do date +%N >>ticks; sleep 0.1; done; "
                            "touch done; echo finished'", cwd=work)
    wait_until(lambda: os.path.exists(f"{work}/ready.0"), what="task 0")
    running.signal(signal.SIGTSTP)
    wait_until(lambda: os.path.exists(f"{work}/done"), what="end of the task")
    running.signal(signal.SIGCONT)
    assert running.wait().out == "finished\n"
