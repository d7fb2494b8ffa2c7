# SPDX-License-Identifier: Apache-2.0
"""Heterogeneous jobs: components that start together, and steps over several of them."""

import os

from harness import wait_until

SCRIPT = """#!/bin/bash
#SBATCH -n 2 -w {first} -J first -t 5 -o het.out
#SBATCH hetjob
#SBATCH -n 1 -w {second} -J second
"""


def submit(cluster, work, text, nodes):
    path = os.path.join(work, "het.sh")
    with open(path, "w") as file:
        file.write(SCRIPT.format(first=nodes[0], second=nodes[1]) + text)
    os.chmod(path, 0o755)
    return cluster.submit("het.sh", cwd=work)


def output(work):
    with open(os.path.join(work, "het.out")) as file:
        return file.read().splitlines()


def test_components_are_shown_as_one_job_and_end_with_the_script(cluster, work):
    job = submit(cluster, work, "echo $SLURM_HET_SIZE $SLURM_JOB_ID_HET_GROUP_1 $SLURM_JOB_NODELIST_HET_GROUP_1\n"
                 "while [ ! -e go ]; do sleep 0.05; done; exit 3\n", cluster.node_names())
    second = str(int(job) + 1)
    rows = wait_until(lambda: [r for r in [cluster.ok(f"squeue -h -S i -j {job} -t R -o '%i %j %A'").splitlines()]
                               if len(r) == 2])
    assert sorted(rows[0]) == [f"{job}+0 first {job}", f"{job}+1 second {second}"]
    assert f"HetJobId={job} HetJobOffset=1" in cluster.ok(f"scontrol show job {second}")
    assert cluster.ok(f"squeue -h -j {second} -o %i").split() == [f"{job}+1"]
    open(os.path.join(work, "go"), "w").close()
    wait_until(lambda: [r[1:] for r in cluster.sacct(job, "JobID,State,ExitCode") if "." not in r[0]] ==
               [["FAILED", "3:0"]] * 2)
    assert output(work) == [f"2 {second} {cluster.node_names()[1]}"]


def test_a_step_is_in_the_component_that_it_names_or_in_several_at_once(cluster, work):
    job = submit(cluster, work, "srun printenv SLURMD_NODENAME | sort -u; srun --het-group=1 printenv SLURMD_NODENAME\n"
                 "srun -l --het-group=0,1 bash -c 'echo $SLURM_NTASKS $SLURM_STEP_ID $SLURM_JOB_ID' | sort\n"
                 "srun -l -n1 echo a : echo b\n"
                 "srun --het-group=2 true; srun true : false; echo $?\n", cluster.node_names())
    wait_until(lambda: cluster.state(job) and "COMPLETED" in cluster.state(job))
    lines = output(work)
    assert lines[:2] == cluster.node_names()[:2]
    assert lines[2:5] == [f"{rank}: 3 2 {job}" for rank in range(3)]
    assert sorted(lines[5:7]) == ["0: a", "1: b"]
    assert lines[7] == "srun: error: Requested het-group offset exceeds highest hetjob index (2 > 1)"
    assert lines[-1] == "1"
