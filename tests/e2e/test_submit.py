# SPDX-License-Identifier: Apache-2.0
"""Submitting: from sbatch to the output file [A23-A28, B16-B20, B30, B37]."""

import os
import pwd
import re

import pytest
from harness import OTHER, USER, wait_until


def test_the_answer_of_sbatch_is_one_line_on_stdout(cluster, work, script):
    result = cluster.run(f"sbatch {script('a.sh', 'echo done')}", cwd=work)
    assert re.fullmatch(r"Submitted batch job \d+\n", result.out) and result.err == "" and result.rc == 0
    job = result.out.split()[-1]
    assert cluster.wait_end(job) == "COMPLETED"
    with open(os.path.join(work, f"slurm-{job}.out")) as file:
        assert file.read() == "done\n"


def test_the_line_of_the_book_is_accepted_whole(gpu_cluster, work, script):                              # A23
    """One node, one task, eight CPUs, memory, two GPUs of a type, four hours."""
    script("train.sh", "sleep 60")
    job = gpu_cluster.submit("--nodes=1 --ntasks=1 --cpus-per-task=8 --mem=6G --gres=gpu:a100:2 --time=04:00:00 train.sh",
                             cwd=work)
    gpu_cluster.wait_state(job, "RUNNING")
    shown = gpu_cluster.show(f"job {job}")
    assert shown["NumNodes"] == "1" and shown["NumTasks"] == "1" and shown["CPUs/Task"] == "8"
    assert shown["TimeLimit"] == "04:00:00" and shown["MinMemoryNode"] == "6G"
    assert "a100:2" in shown["TresPerNode"]


def test_a_count_of_nodes_gives_distinct_nodes(cluster, work):                                           # A24
    out = cluster.ok("srun -N 3 sh -c 'echo $SLURMD_NODENAME'", cwd=work)
    assert len(set(out.split())) == 3


def test_a_count_of_tasks_gives_their_ranks(cluster, work):                                              # A25
    out = cluster.ok("srun -n 7 sh -c 'echo $SLURM_PROCID'", cwd=work)
    assert sorted(map(int, out.split())) == list(range(7))


def test_steps_inherit_the_cpus_of_a_task(cluster, work):                                                # A26
    job = cluster.submit("-W -n 1 -c 3 -o out --wrap='srun sh -c \"echo \\$SLURM_CPUS_ON_NODE\"'", cwd=work)
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "3\n", job


def test_both_memories_are_refused_by_name(cluster, work):                                               # A27
    result = cluster.run("sbatch --mem=100 --mem-per-cpu=100 --wrap=true", cwd=work)
    assert result.rc == 1 and result.out == ""
    assert "--mem" in result.err and "--mem-per-cpu" in result.err and "mutually exclusive" in result.err
    assert cluster.ok("squeue -h", user="root") == ""


def test_gpus_by_type_by_count_and_unknown_ones(gpu_cluster, work):                                      # A28
    for good in ("gpu:a100:1", "gpu:1", "gpu", "gpu:a100"):
        gpu_cluster.submit(f"-H --gres={good} --wrap=true", cwd=work)
    for bad in ("gpu:h100:1", "gpu:3", "tpu:1", "gpu:a100:x"):
        result = gpu_cluster.run(f"sbatch --gres={bad} --wrap=true", cwd=work)
        assert result.rc == 1 and result.out == "" and "sbatch: error:" in result.err, bad


def test_ten_tasks_of_an_array_write_ten_files(cluster, work, script):                              # B16-B19
    script("arr.sh", 'echo "My SLURM_ARRAY_TASK_ID: $SLURM_ARRAY_TASK_ID"\n'
                     'echo "$SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX"\n')
    job = cluster.submit("--array=1-10 arr.sh", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    for index in range(1, 11):
        with open(os.path.join(work, f"slurm-{job}_{index}.out")) as file:
            assert file.read() == f"My SLURM_ARRAY_TASK_ID: {index}\n{job} 10 1 10\n"


def test_a_priority_that_is_not_one_s_own_to_set_is_said(cluster, work):                                              # B23
    result = cluster.run("sbatch -H --priority=1000 -o /dev/null --wrap=true", cwd=work)
    assert result.rc == 0 and "--priority=1000 is not applied: only administrators" in result.err
    job = result.out.split()[-1]
    assert cluster.show(f"job {job}")["Priority"] == "0"
    mine = cluster.submit("-b now+1hour --priority=1000 -o /dev/null --wrap=true", user="root", cwd="/tmp")
    assert cluster.show(f"job {mine}")["Priority"] == "1000"
    cluster.ok(f"scancel {job} {mine}", user="root")


def test_job_array_task_id_has_two_names(cluster, work):                                                 # B18
    job = cluster.submit("-W -a 3 -o out --wrap='echo $JOB_ARRAY_TASK_ID $SLURM_ARRAY_TASK_ID'", cwd=work)
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "3 3\n", job


def test_begin_in_two_hours(cluster, work):                                                              # B37
    job = cluster.submit("--begin=now+2hours --wrap=true", cwd=work)
    cluster.wait_reason(job, "BeginTime")
    begin = int(cluster.ok(f"squeue -h -j {job} -o %S", env={"SLURM_TIME_FORMAT": "%s"}))
    submit = int(cluster.ok(f"squeue -h -j {job} -o %V", env={"SLURM_TIME_FORMAT": "%s"}))
    assert abs(begin - submit - 7200) <= 1


@pytest.mark.parametrize("begin", ["now+30minutes", "16:00", "tomorrow", "teatime", "2035-01-02", "now+1week"])
def test_begin_in_words(cluster, work, begin):                                                           # B37
    job = cluster.submit(f"--begin={begin} --wrap=true", cwd=work)
    cluster.wait_reason(job, "BeginTime")


def test_the_job_runs_as_its_owner(cluster, work):
    job = cluster.submit("-W -o out --wrap='id -u; id -g; umask; pwd; echo $USER $HOME'", cwd=work)
    with open(os.path.join(work, "out")) as file:
        uid, gid, umask, cwd, names = file.read().splitlines()
    account = pwd.getpwnam(USER)
    assert (int(uid), int(gid), umask, cwd) == (account.pw_uid, account.pw_gid, "0022", work), job
    assert names == f"{USER} {account.pw_dir}"
    assert os.stat(os.path.join(work, "out")).st_uid == account.pw_uid


def test_supplementary_groups_and_umask_reach_the_job(cluster, work):
    job = cluster.submit("-W -o out --wrap='id -Gn; umask; touch made'", cwd=work, env={})
    with open(os.path.join(work, "out")) as file:
        assert USER in file.readline().split(), job
    cluster.ok("umask 077; sbatch -W -o out2 --wrap='umask; touch private'", cwd=work)
    assert os.stat(os.path.join(work, "private")).st_mode & 0o777 == 0o600


def test_the_script_is_taken_at_submission(cluster, work, script):
    path = script("s.sh", "echo first")
    job = cluster.submit(f"-H -o out {path}", cwd=work)
    script("s.sh", "echo second")
    os.unlink(path)
    cluster.ok(f"scontrol release {job}")
    cluster.wait_end(job)
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "first\n"


def test_a_large_script_and_many_arguments(cluster, work, script):
    filler = "".join(f"# line {i} of a long comment that fills the script\n" for i in range(20000))
    path = script("big.sh", filler + 'echo "$# $1 ${200}"\n')
    arguments = " ".join(f"arg{i}" for i in range(1, 201))
    cluster.submit(f"-W -o out {path} {arguments}", cwd=work)
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "200 arg1 arg200\n"


def test_a_script_over_the_limit_is_refused(cluster, work, script):
    path = script("huge.sh", "#" + "x" * (5 << 20) + "\n")
    result = cluster.run(f"sbatch {path}", cwd=work)
    assert result.rc == 1 and result.out == "" and "error" in result.err


def test_wait_returns_the_exit_code(cluster, work):
    assert cluster.run("sbatch -W -o /dev/null --wrap='exit 0'", cwd=work).rc == 0
    assert cluster.run("sbatch -W -o /dev/null --wrap='exit 42'", cwd=work).rc == 42
    assert cluster.run("sbatch -W -o /dev/null --wrap='kill -9 $$'", cwd=work).rc == 1


def test_a_hundred_jobs_all_run_once(cluster, work):
    out = cluster.ok("for i in $(seq 100); do sbatch -Q -J many -o /dev/null --wrap=\"echo $i >> seen\"; done", cwd=work)
    assert out == ""
    wait_until(lambda: not cluster.ok("squeue -h -n many", user="root"), 60, 0.05, "the queue is empty")
    with open(os.path.join(work, "seen")) as file:
        assert sorted(map(int, file.read().split())) == list(range(1, 101))


def test_ids_grow_and_are_never_reused(cluster, work):
    ids = [int(cluster.submit("-H --wrap=true", cwd=work)) for _ in range(5)]
    assert ids == sorted(set(ids))
    cluster.ok("scancel " + " ".join(map(str, ids)))
    assert int(cluster.submit("-H --wrap=true", cwd=work)) > ids[-1]


def test_another_user_has_the_same_rights_to_his_own(cluster):
    job = cluster.submit("-D /tmp -o /dev/null --wrap='sleep 60'", user=OTHER)
    cluster.wait_state(job, "RUNNING")
    assert cluster.run(f"scancel {job}", user=USER).rc != 0
    assert cluster.state(job) == {"RUNNING"}
    assert cluster.run(f"scancel {job}", user=OTHER).rc == 0
    assert cluster.wait_end(job) == "CANCELLED"


def test_the_default_partition_is_used_and_its_absence_told(make_cluster, work):                         # B30
    cluster = make_cluster(nodes=1, conf="PartitionName=first Nodes=ALL\nPartitionName=second Nodes=ALL Default=YES\n")
    job = cluster.submit("-H --wrap=true", cwd=work)
    assert cluster.field(job, "P") == "second"
    cluster.edit_conf(lambda text: text.replace(" Default=YES", ""))
    cluster.ok("scontrol reconfigure", user="root")
    result = cluster.run("sbatch -H --wrap=true", cwd=work)
    assert result.rc == 1 and result.out == "" and "No partition specified or system default partition" in result.err
