# SPDX-License-Identifier: Apache-2.0
"""Environment, limits and files that a job gets."""

import os

from harness import wait_until

EXPECTED = {"SLURM_JOB_NAME": "envjob", "SLURM_JOB_NUM_NODES": "2", "SLURM_NNODES": "2", "SLURM_NTASKS": "4",
            "SLURM_NPROCS": "4", "SLURM_CPUS_PER_TASK": "2", "SLURM_PROCID": "0", "SLURM_LOCALID": "0",
            "SLURM_NODEID": "0", "SLURM_GTIDS": "0", "SLURM_JOB_CPUS_PER_NODE": "6,2", "SLURM_TASKS_PER_NODE": "3,1",
            "SLURM_CPUS_ON_NODE": "6", "SLURM_JOB_USER": "sluicet1", "SLURM_JOB_UID": "7101",
            "SLURM_MEM_PER_CPU": "50", "ENVIRONMENT": "BATCH"}


def batch_env(cluster, work, arguments, **options):
    cluster.submit(f"-W -o env.out {arguments} --wrap='env -0 > env.bin'", cwd=work, **options)
    with open(os.path.join(work, "env.bin"), "rb") as file:
        text = file.read().decode()
    return dict(pair.split("=", 1) for pair in text.split("\0") if pair)


def test_a_batch_job_knows_its_shape(cluster, work):
    nodes = cluster.node_names()
    env = batch_env(cluster, work, f"-J envjob -N 2 -n 4 -c 2 --mem-per-cpu=50 -w {nodes[0]},{nodes[1]} "
                                   "-m block")
    for name, value in EXPECTED.items():
        assert env.get(name) == value, name
    assert env["SLURM_JOB_ID"] == env["SLURM_JOBID"]
    assert env["SLURM_SUBMIT_DIR"] == work
    assert env["SLURM_JOB_NODELIST"] == env["SLURM_NODELIST"]
    assert os.path.samefile(env["SLURM_CONF"], cluster.env["SLURM_CONF"])


def test_nothing_is_set_that_was_not_asked_for(cluster, work):
    env = batch_env(cluster, work, "")
    for name in ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_CPUS_PER_TASK", "SLURM_NTASKS_PER_NODE", "SLURM_RESTART_COUNT",
                 "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_DEPENDENCY", "CUDA_VISIBLE_DEVICES",
                 "SLURM_JOB_RESERVATION", "SLURM_EXPORT_ENV", "SLURM_OVERCOMMIT"):
        assert name not in env, name


def test_the_submitters_environment_arrives_whole(cluster, work):
    odd = {"PLAIN": "value", "EMPTY": "", "NEWLINE": "a\nb", "QUOTES": "\"'`$x", "EQUALS": "a=b=c",
           "LONG": "x" * 100000, "UTF": "grüße"}
    env = batch_env(cluster, work, "", env=odd)
    for name, value in odd.items():
        assert env.get(name) == value, name


def test_exported_functions_arrive(cluster, work):
    with open(os.path.join(work, "greet.sh"), "w") as file:
        file.write("#!/bin/bash\ngreet world\n")
    cluster.ok("greet() { echo hello $1; }; export -f greet; sbatch -W -o out greet.sh", cwd=work)
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "hello world\n"


def test_gpu_variables(gpu_cluster, work):
    env = batch_env(gpu_cluster, work, "--gres=gpu:a100:2")
    assert env["CUDA_VISIBLE_DEVICES"] == "0,1" and env["SLURM_GPUS_ON_NODE"] == "2" and env["SLURM_JOB_GPUS"] == "0,1"
    assert "CUDA_VISIBLE_DEVICES" not in batch_env(gpu_cluster, work, "")


def test_two_jobs_never_share_a_gpu(gpu_cluster, work):
    node = gpu_cluster.node_names()[0]
    jobs = [gpu_cluster.submit(f"-w {node} --gres=gpu:1 -o gpu-%j --wrap='echo $SLURM_JOB_GPUS; sleep 60'", cwd=work)
            for _ in range(3)]
    gpu_cluster.wait_state(jobs[0], "RUNNING")
    gpu_cluster.wait_state(jobs[1], "RUNNING")
    gpu_cluster.wait_reason(jobs[2], "Resources")

    def seen():
        texts = [open(os.path.join(work, f"gpu-{job}")).read().strip() for job in jobs[:2]
                 if os.path.exists(os.path.join(work, f"gpu-{job}"))]
        return sorted(texts) == ["0", "1"]
    wait_until(seen, 10)


def test_resource_limits_of_the_submitter_arrive(cluster, work):
    cluster.ok("ulimit -S -n 777; ulimit -S -s 4096; sbatch -W -o out --wrap='ulimit -n; ulimit -s'", cwd=work)
    with open(os.path.join(work, "out")) as file:
        assert file.read().split() == ["777", "4096"]


def test_descriptors_of_the_daemon_do_not_leak(cluster, work):
    cluster.submit("-W -o out --wrap='ls -l /proc/self/fd | grep -c socket:; exit 0'", cwd=work)
    with open(os.path.join(work, "out")) as file:
        assert file.read().strip() == "0"


def test_signals_are_at_their_defaults(cluster, work):
    cluster.submit("-W -o out --wrap='grep -E \"Sig(Blk|Ign)\" /proc/self/status'", cwd=work)
    with open(os.path.join(work, "out")) as file:
        masks = dict(line.split() for line in file)
    assert {name: int(mask, 16) for name, mask in masks.items()} == {"SigBlk:": 0, "SigIgn:": 0}
