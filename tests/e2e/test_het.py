# SPDX-License-Identifier: Apache-2.0
"""Heterogeneous jobs: components that start together, and steps over several of them."""

import os
import signal

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


def names(cluster):
    return cluster.node_names()[:2]


def test_salloc_gets_components_together_and_its_command_finds_them(cluster, work):
    first, second = names(cluster)
    done = cluster.run(f"salloc -n1 -w {first} -J pair : -n2 -w {second} bash -c '"
                       "echo $SLURM_HET_SIZE $SLURM_NTASKS $SLURM_JOB_NODELIST_HET_GROUP_1 $SLURM_JOB_ID_HET_GROUP_1;"
                       "echo $SLURM_JOB_ID; srun -l --het-group=0,1 printenv SLURMD_NODENAME; srun printenv SLURM_NTASKS;"
                       "scancel $SLURM_JOB_ID_HET_GROUP_1; exit 3'", cwd=work)
    lines = done.out.splitlines()
    job = int(lines[1])
    assert done.rc == 3
    assert lines[0] == f"2 3 {second} {job + 1}"
    assert sorted(lines[2:5]) == [f"0: {first}", f"1: {second}", f"2: {second}"]
    assert lines[5:] == ["1"]
    assert f"salloc: Granted job allocation {job}" in done.err
    assert f"salloc: Job allocation {job + 1} has been revoked." in done.err
    wait_until(lambda: [r[1:3] + r[3].split()[:1] for r in cluster.sacct(job, "JobID,JobName,ExitCode,State")
                        if "." not in r[0]] == [["pair", "3:0", "FAILED"], ["pair", "0:0", "CANCELLED"]])


def test_srun_outside_a_job_runs_one_step_over_components_of_its_own(cluster, work):
    first, second = names(cluster)
    done = cluster.run(f"srun -l -n1 -w {first} bash -c 'echo $SLURMD_NODENAME $SLURM_NTASKS $SLURM_HET_SIZE $SLURM_JOB_ID' "
                       f": -n2 -w {second} bash -c 'echo $SLURMD_NODENAME $SLURM_PROCID; exit 4'", cwd=work)
    lines = sorted(done.out.splitlines())
    job = lines[0].split()[-1]
    assert done.rc == 4
    assert lines == [f"0: {first} 3 2 {job}", f"1: {second} 1", f"2: {second} 2"]
    # In one line, or in one for each task.
    assert f"srun: error: {second}: task" in done.err and "Exited with exit code 4" in done.err
    wait_until(lambda: sorted(r[1] for r in cluster.sacct(job, "JobID,State")) == ["COMPLETED"] + ["FAILED"] * 3)
    assert cluster.run(f"srun -n1 -w {first} : -n1 -w {second} printenv SLURMD_NODENAME", cwd=work).out.split() in \
        ([first, second], [second, first])
    assert "No command given to execute." in cluster.run("srun -n1 true : -n1", cwd=work).err
    assert "component 1 of 2: partition nosuch" in cluster.run("srun -n1 true : -p nosuch -n1 true", cwd=work).err


def test_a_step_from_elsewhere_chooses_among_the_components_of_the_job_that_it_names(cluster, work):
    first, second = names(cluster)
    cluster.ok(f"salloc --no-shell -J kept -n1 -w {first} : -n1 -w {second}", cwd=work)
    job = min(int(word) for word in cluster.ok("squeue -h -n kept -o %A").split())
    assert sorted(cluster.ok(f"srun -l --jobid={job} --het-group=0,1 printenv SLURMD_NODENAME").splitlines()) == \
        [f"0: {first}", f"1: {second}"]
    assert cluster.ok(f"srun --jobid={job} --het-group=1 printenv SLURMD_NODENAME").split() == [second]
    assert cluster.ok(f"srun --jobid={job}+1 printenv SLURMD_NODENAME").split() == [second]
    assert "exceeds highest hetjob index (2 > 1)" in cluster.run(f"srun --jobid={job} --het-group=2 true").err
    cluster.ok(f"scancel {job}")
    wait_until(lambda: not cluster.ok("squeue -h -n kept"))


def test_an_interrupt_while_components_wait_or_run_ends_all(cluster, work):
    first, second = names(cluster)
    holder = cluster.submit(f"--exclusive -w {second} -o /dev/null --wrap 'sleep 100'", cwd=work)
    for command in (f"srun -J waits -n1 -w {first} true : -n1 -w {second} true",
                    f"salloc -J waits -n1 -w {first} : -n1 -w {second} true"):
        process = cluster.start(command, cwd=work)
        wait_until(lambda: len(cluster.ok("squeue -h -n waits -t PD").splitlines()) == 2)
        process.signal(signal.SIGTERM)
        assert process.wait().rc == 1
        wait_until(lambda: not cluster.ok("squeue -h -n waits"))
    assert "Requested nodes are busy" in cluster.run(f"salloc -n1 -w {first} : -I -n1 -w {second} true", cwd=work).err
    cluster.ok(f"scancel {holder}")
    process = cluster.start(f"srun -J waits -n1 -w {first} sleep 100 : -n1 -w {second} sleep 100", cwd=work)
    wait_until(lambda: len(cluster.ok("squeue -s -h -n waits").splitlines()) == 2)
    process.signal(signal.SIGTERM)
    assert process.wait().rc != 0
    wait_until(lambda: not cluster.ok("squeue -h -n waits"))
