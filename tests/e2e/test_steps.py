# SPDX-License-Identifier: Apache-2.0
"""srun: tasks, input and output, ends [A19, A25, A26]."""

import os
import signal

from harness import wait_until


def test_a_job_and_its_steps_in_the_accounting(cluster, work):                                           # A19
    job = cluster.submit("-W -n 2 -o /dev/null --wrap='srun -J one true; srun -J two -n 1 false; true'", cwd=work)
    wait_until(lambda: len(cluster.sacct(job)) == 4, 10, 0.1)
    assert cluster.sacct(job, "JobID,JobName,State,ExitCode") == [
        [job, "wrap", "COMPLETED", "0:0"], [f"{job}.batch", "batch", "COMPLETED", "0:0"],
        [f"{job}.0", "one", "COMPLETED", "0:0"], [f"{job}.1", "two", "FAILED", "1:0"]]


def test_exit_codes_and_their_messages(cluster, work):
    assert cluster.run("srun true", cwd=work).rc == 0
    result = cluster.run("srun sh -c 'exit 7'", cwd=work)
    assert result.rc == 7 and "task 0: Exited with exit code 7" in result.err
    result = cluster.run("srun sh -c 'kill -9 $$'", cwd=work)
    assert result.rc == 137 and "task 0: Killed" in result.err
    result = cluster.run("srun -N 2 sh -c 'exit $((SLURM_PROCID * 3))'", cwd=work)
    assert result.rc == 3
    result = cluster.run("srun nosuchcommand-xyz", cwd=work)
    assert result.rc == 2 and "No such file or directory" in result.err


def test_stdout_and_stderr_stay_apart(cluster, work):
    result = cluster.run("srun -n 3 sh -c 'echo out; echo err >&2'", cwd=work)
    assert result.out == "out\n" * 3 and result.err == "err\n" * 3


def test_a_megabyte_through_every_task(cluster, work):
    result = cluster.run("srun -N 2 -n 4 sh -c 'head -c 1000000 /dev/zero'", cwd=work)
    assert result.rc == 0 and len(result.out) == 4000000


def test_labelled_lines_are_never_torn(cluster, work):
    out = cluster.ok("srun -l -n 8 sh -c 'for i in $(seq 300); do echo line $i of task $SLURM_PROCID; done'", cwd=work)
    lines = out.splitlines()
    assert len(lines) == 2400
    for line in lines:
        label, text = line.split(": ")
        assert text.endswith(f"of task {label.strip()}"), line


def test_input_reaches_all_tasks_or_one(cluster, work):
    result = cluster.run("srun -n 3 wc -c", cwd=work, stdin="x" * 100000)
    assert result.out.split() == ["100000"] * 3
    result = cluster.run("srun -n 3 -i 1 wc -c", cwd=work, stdin="abc")
    assert sorted(result.out.split()) == ["0", "0", "3"]
    assert cluster.run("srun -i none cat", cwd=work, stdin="lost").out == ""


def test_a_reader_that_goes_away_ends_nothing_badly(cluster, work):
    result = cluster.run("srun sh -c 'yes | head -c 10000000' | head -1", cwd=work)
    assert result.out == "y\n"


def test_output_files_per_task(cluster, work):
    cluster.ok("srun -n 2 -o 'o-%t' -e 'e-%t' sh -c 'echo out $SLURM_PROCID; echo err >&2'", cwd=work)
    assert open(os.path.join(work, "o-1")).read() == "out 1\n"
    assert open(os.path.join(work, "e-0")).read() == "err\n"


def test_steps_wait_for_each_other_unless_they_overlap(cluster, work):
    job = cluster.submit("-n 4 -o out --wrap='srun -n 4 sh -c \"touch a; while ! test -e b; do sleep 0.05; done\" & "
                         "while ! test -e a; do sleep 0.05; done; srun --overlap -n 1 touch b; wait; echo fine'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    assert open(os.path.join(work, "out")).read().endswith("fine\n")


def test_interrupting_srun_twice_ends_the_job(cluster, work):
    running = cluster.start("exec srun -J intr sh -c 'touch up; sleep 1000'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up")))
    def has_ended():     # two interrupts that arrive together are one
        running.signal(signal.SIGINT)
        return running.process.poll() is not None
    wait_until(has_ended, every=0.3)
    assert running.wait().rc != 0
    wait_until(lambda: cluster.ok("squeue -h -n intr", user="root") == "", 10)


def test_a_bad_task_ends_the_others_on_request(cluster, work):
    result = cluster.run("srun -n 2 -K sh -c 'test $SLURM_PROCID = 1 && exit 5; sleep 1000'", cwd=work)
    assert result.rc != 0 and "Exited with exit code 5" in result.err


def test_many_steps_in_a_row(cluster, work):
    job = cluster.submit("-n 1 -o out --wrap='for i in $(seq 40); do srun echo $i; done'", cwd=work)
    assert cluster.wait_end(job, 60) == "COMPLETED"
    assert open(os.path.join(work, "out")).read().split() == [str(i) for i in range(1, 41)]


def test_four_nodes_and_32_tasks(cluster, work):
    out = cluster.ok("srun -N 4 -n 32 sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME'", cwd=work)
    ranks = {int(line.split()[0]): line.split()[1] for line in out.splitlines()}
    assert sorted(ranks) == list(range(32)) and len(set(ranks.values())) == 4


def test_srun_tells_when_it_waits(cluster, work):
    first = cluster.submit("-N 4 --exclusive -o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(first, "RUNNING")
    running = cluster.start("srun -J patient echo hello", cwd=work)
    wait_until(lambda: "PENDING" in cluster.ok("squeue -h -n patient -o %T", user="root"))
    cluster.ok(f"scancel {first}")
    result = running.wait()
    assert result.out == "hello\n" and result.rc == 0
    assert "queued and waiting for resources" in result.err and "has been allocated resources" in result.err


def test_memory_of_a_step_is_its_own_unless_it_is_inherited(cluster, work):
    job = cluster.submit("-n 4 --mem=400 -o out --wrap='"
                         "srun -n 1 --exact --mem=300 sh -c \"touch a; while ! test -e b; do sleep 0.05; done\" & "
                         "while ! test -e a; do sleep 0.05; done; "
                         "srun -n 1 --exact --mem=300 --immediate true; srun -n 1 --exact --mem=500 true; "
                         "srun -n 1 --exact echo shared; touch b; wait'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    text = open(os.path.join(work, "out")).read()
    assert f"Unable to create step for job {job}: Requested nodes are busy" in text
    assert f"Unable to create step for job {job}: Memory required by task is not available" in text
    assert "shared\n" in text


def test_gpus_of_a_step_are_its_own_unless_they_are_inherited(gpu_cluster, work):
    job = gpu_cluster.submit("-n 4 --gpus=2 -o out --wrap='"
                             "srun -n 1 --exact -G 1 sh -c \"touch a; while ! test -e b; do sleep 0.05; done\" & "
                             "while ! test -e a; do sleep 0.05; done; "
                             "srun -n 1 --exact -G 2 --immediate true; "
                             "srun -n 1 --exact -G 1 sh -c \"echo second \\$SLURM_STEP_GPUS\"; "
                             "srun -n 1 --exact sh -c \"echo all \\$SLURM_STEP_GPUS\"; "
                             "srun -n 1 --exact --gres=none sh -c \"echo none \\$SLURM_STEP_GPUS.\"; "
                             "touch b; wait'", cwd=work)
    assert gpu_cluster.wait_end(job) == "COMPLETED"
    lines = open(os.path.join(work, "out")).read().splitlines()
    assert "second 1" in lines and "all 0,1" in lines and "none ." in lines
    assert any("Requested nodes are busy" in line for line in lines)


def test_a_cancelled_step_ends_for_good_and_its_job_goes_on(cluster, work):
    job = cluster.submit("-N 2 -n 2 -o out --wrap='srun -J deaf sh -c \"trap : TERM; touch up.\\$SLURM_PROCID; "
                         "while :; do sleep 0.05; done\"; echo rc $?'", cwd=work)
    wait_until(lambda: all(os.path.exists(os.path.join(work, f"up.{rank}")) for rank in (0, 1)))
    cluster.ok(f"scancel {job}.0")
    assert cluster.wait_end(job) == "COMPLETED"
    text = open(os.path.join(work, "out")).read()
    assert f"*** STEP {job}.0 ON " in text and " CANCELLED AT " in text and "rc 137" in text
    assert "srun: Job step aborted: Waiting up to 3 seconds for job step to finish." in text
    assert [row[1] for row in cluster.sacct(job)][2].startswith("CANCELLED")


def test_signals_reach_one_step_or_all_tasks_but_not_the_script(cluster, work):
    body = ("trap \\\"echo step \\$SLURM_STEP_ID got it; exit 0\\\" USR1; touch up.\\$SLURM_STEP_ID; "
            "while :; do sleep 0.05; done")
    job = cluster.submit(f"-n 3 -o out --wrap='srun --exact -n 1 sh -c \"{body}\" & srun --exact -n 1 sh -c \"{body}\" & "
                         "wait; echo fine'", cwd=work)
    wait_until(lambda: all(os.path.exists(os.path.join(work, f"up.{step}")) for step in (0, 1)))
    cluster.ok(f"scancel --signal=USR1 {job}.1")
    wait_until(lambda: "step 1 got it" in open(os.path.join(work, "out")).read())
    assert "step 0" not in open(os.path.join(work, "out")).read()
    cluster.ok(f"scancel -s USR1 {job}")
    assert cluster.wait_end(job) == "COMPLETED"
    assert "step 0 got it\nfine\n" in open(os.path.join(work, "out")).read()


def test_a_step_is_listed_and_takes_another_time_limit(cluster, work):
    job = cluster.submit("-N 2 -n 4 --mem=100 -o /dev/null --wrap='srun -J nap -t 5 sh -c \"touch up; sleep 1000\"'",
                         cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up")))
    assert cluster.ok(f"squeue -s -h -j {job} -o '%i %j %N'").splitlines()[0] == f"{job}.0 nap n[1-2]"
    shown = cluster.show(f"step {job}.0")
    assert shown["TRES"] == "cpu=4,mem=200M,node=2" and shown["TimeLimit"] == "00:05:00" and shown["Tasks"] == "4"
    cluster.ok(f"scontrol update StepId={job}.0 TimeLimit=30")
    assert cluster.show(f"step {job}.0")["TimeLimit"] == "00:30:00"
    cluster.ok(f"scancel {job}")


def test_relative_chooses_nodes_and_does_not_go_with_names(cluster, work):
    job = cluster.submit("-N 3 -n 3 -o out --wrap='srun -r 1 -N 2 -n 2 -l sh -c \"echo \\$SLURMD_NODENAME\" | sort; "
                         "srun -r 1 -w n1 true; echo rc $?; srun -r 3 -N 1 -n 1 true; echo rc $?'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    assert open(os.path.join(work, "out")).read().splitlines() == [
        "0: n2", "1: n3", "srun: error: -r,--relative not allowed with -w,--nodelist or -x,--exclude.", "rc 1",
        "srun: error: --relative and --nodes option incompatible with count of allocated nodes (3+1>3)", "rc 1"]


def test_a_thousand_tasks_on_one_machine(cluster, work):
    out = cluster.ok("srun -N 4 -n 1000 -O sh -c 'echo $SLURM_PROCID'", cwd=work, timeout=60)
    assert sorted(int(line) for line in out.split()) == list(range(1000))


def test_fifty_steps_at_once(cluster, work):
    job = cluster.submit("-N 4 -n 32 -o out --wrap='for i in $(seq 50); do srun -Q --overlap -n 4 echo $i & done; wait'",
                         cwd=work)
    assert cluster.wait_end(job, 60) == "COMPLETED"
    numbers = sorted(int(word) for word in open(os.path.join(work, "out")).read().split())
    assert numbers == sorted(list(range(1, 51)) * 4)
