# SPDX-License-Identifier: Apache-2.0
"""Programs that drive a cluster through its commands: a small workflow of each as an ordinary user.

Those that are packages of Debian run where they are installed and are skipped elsewhere, for they need several hundred MB:

    apt-get install --no-install-recommends snakemake toil r-cran-batchtools r-cran-rslurm

What others call is played as they call it, with their own expressions for what they read.
"""

import os
import re
import shutil

import pytest
from harness import cluster_of_its_own, wait_until

PATIENCE = 600      # seconds; interpreters that load a lot, on a machine that is busy


@pytest.fixture(scope="module")
def site():
    with cluster_of_its_own("clients", nodes=2, cpus=8, mem=8000, conf="DefMemPerCPU=100\nKillWait=1\n") as cluster:
        yield cluster


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def needs_r(package):
    return pytest.mark.skipif(not os.path.isdir(f"/usr/lib/R/site-library/{package}"),
                              reason=f"r-cran-{package} is not installed")


def client(site, work, command):
    """Runs a client in its directory, which is its home, too: nothing of it is left."""
    result = site.run(command, cwd=work, env={"HOME": work, "LANG": "C.UTF-8"}, timeout=PATIENCE)
    assert result.rc == 0, str(result)
    return result


def write(work, name, text):
    with open(os.path.join(work, name), "w") as file:
        file.write(text)


def read(work, name):
    with open(os.path.join(work, name)) as file:
        return file.read()


# -- packages of Debian ------------------------------------------------------------------------------------------

@needs("snakemake")
def test_snakemake_runs_a_workflow_of_two_rules(site, work):
    write(work, "Snakefile", '''
rule all:
    input: "sum.txt"
rule part:
    output: "{n}.txt"
    resources: mem_mb=600, runtime=5
    threads: 2
    shell: "echo $SLURM_CPUS_PER_TASK > {output}"
rule sum:
    input: expand("{n}.txt", n=[1, 2])
    output: "sum.txt"
    resources: mem_mb=600, runtime=5
    shell: "cat {input} > {output}"
''')
    client(site, work, "snakemake --slurm -j 4 --max-status-checks-per-second 10 --latency-wait 20")
    assert read(work, "sum.txt") == "2\n2\n"


@needs("snakemake")
def test_snakemake_sees_that_a_rule_fails(site, work):
    write(work, "Snakefile", '''
rule all:
    output: "never.txt"
    resources: mem_mb=600, runtime=5
    shell: "exit 3"
''')
    result = site.run("snakemake --slurm -j 1 --max-status-checks-per-second 10", cwd=work, env={"HOME": work},
                      timeout=PATIENCE)
    assert result.rc == 1 and "SLURM status is: 'FAILED'" in result.err, str(result)


@needs("toil")
def test_toil_runs_jobs_that_follow_each_other(site, work):
    write(work, "flow.py", '''
import os, sys
from toil.common import Toil
from toil.job import Job

def part(job, n):
    assert os.environ["SLURM_JOB_ID"]
    return n * n

def total(job, parts):
    return sum(parts)

def start(job):
    parts = [job.addChildJobFn(part, n, memory="600M", cores=1, disk="10M").rv() for n in (3, 4)]
    return job.addFollowOnJobFn(total, parts, memory="600M", cores=1, disk="10M").rv()

if __name__ == "__main__":
    options = Job.Runner.getDefaultArgumentParser().parse_args()
    with Toil(options) as toil:
        print("total", toil.start(Job.wrapJobFn(start, memory="600M", cores=1, disk="10M")))
''')
    result = client(site, work, "/usr/bin/python3 flow.py file:store --batchSystem slurm --statePollingWait 1 "
                                "--disableCaching --coordinationDir $PWD --workDir $PWD")
    assert "total 25" in result.out


@needs_r("batchtools")
def test_batchtools_submits_waits_and_collects(site, work):
    write(work, "flow.R", '''
library(batchtools)
reg <- makeRegistry("registry", seed = 1)
reg$cluster.functions <- makeClusterFunctionsSlurm(system.file("templates", "slurm-simple.tmpl", package = "batchtools"),
                                                   array.jobs = TRUE, scheduler.latency = 1, fs.latency = 30)
batchMap(function(n) if (n == 3) stop("no three") else n * n, n = 1:4)
submitJobs(data.frame(job.id = 1:4, chunk = 1, chunks.as.arrayjobs = TRUE),
           resources = list(walltime = 300, memory = 300, ncpus = 1, chunks.as.arrayjobs = TRUE))
waitForJobs(sleep = 1, timeout = 200)
cat("done", findDone()$job.id, "error", findErrors()$job.id, "\\n")
cat("sum", sum(unlist(reduceResultsList())), "\\n")
''')
    result = client(site, work, "Rscript flow.R")
    assert "done 1 2 4 error 3" in result.out and "sum 21" in result.out, str(result)


@needs_r("rslurm")
def test_rslurm_spreads_a_function_over_an_array(site, work):
    write(work, "flow.R", '''
library(rslurm)
job <- slurm_apply(function(a, b) a * b, data.frame(a = 1:4, b = 10), jobname = "times", nodes = 2, cpus_per_node = 1,
                   slurm_options = list(mem = "300", time = "5"))
cat("sum", sum(unlist(get_slurm_out(job, outtype = "raw", wait = TRUE))), "\\n")
print(get_job_status(job)$completed)
''')
    result = client(site, work, "Rscript flow.R")
    assert "sum 100" in result.out, str(result)


# -- others, as they call --------------------------------------------------------------------------------------------

def test_as_nextflow_calls(site, work):
    os.makedirs(f"{work}/x", 0o777)
    os.chmod(f"{work}/x", 0o777)
    write(work, "x/.command.run", """#!/bin/bash
#SBATCH -J nf-align_(1)
#SBATCH -o %s/x/.command.log
#SBATCH --no-requeue
#SBATCH --signal B:USR2@30
#SBATCH -c 2
#SBATCH -t 01:00:00
#SBATCH --mem 200M
NXF_CHDIR=%s/x
echo $SLURM_CPUS_PER_TASK; while ! test -e go; do sleep 0.05; done; exit 4
""" % (work, work))
    said = site.ok("sbatch .command.run", cwd=f"{work}/x")
    job = re.search(r"Submitted batch job (\d+)", said).group(1)
    def status():
        out = site.ok("squeue --noheader -o '%i %t' -t all -u $(id -un)")
        return dict(line.split() for line in out.splitlines())
    wait_until(lambda: status()[job] == "R", what="running")
    open(f"{work}/x/go", "w").close()
    wait_until(lambda: status().get(job) == "F", what="failed")
    assert read(work, "x/.command.log") == "2\n"
    ids = [re.search(r"\d+", site.ok("sbatch .command.run", cwd=f"{work}/x", env={"SBATCH_HOLD": "1"})).group()
           for _ in range(2)]
    assert site.run("scancel " + " ".join(ids)).rc == 0


def test_as_dask_jobqueue_calls(site, work):
    write(work, "worker.sh", """#!/usr/bin/env bash

#SBATCH -J dask-worker
#SBATCH -n 1
#SBATCH --cpus-per-task=2
#SBATCH --mem=190M
#SBATCH -t 00:30:00

exec sleep 1000
""")
    out = site.ok("sbatch worker.sh", cwd=work)
    job = re.search(r"(?P<job_id>\d+)", out).group("job_id")
    site.wait_state(job, "RUNNING")
    assert site.ok(f"scancel {job}") == ""
    assert site.wait_end(job) == "CANCELLED"


def test_as_submitit_calls(site, work):
    write(work, "submission.sh", """#!/bin/bash

# Parameters
#SBATCH --array=0-3%%4
#SBATCH --cpus-per-task=1
#SBATCH --error=%(work)s/%%A_%%a_0_log.err
#SBATCH --job-name=submitit
#SBATCH --mem=100MB
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --open-mode=append
#SBATCH --output=%(work)s/%%A_%%a_0_log.out
#SBATCH --signal=USR2@90
#SBATCH --time=5
#SBATCH --wckey=submitit

# command
export SUBMITIT_EXECUTOR=slurm
srun --unbuffered --output %(work)s/%%A_%%a_%%t_log.out --error %(work)s/%%A_%%a_%%t_log.err sh -c \
    'echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_LOCALID; if test $SLURM_ARRAY_TASK_ID = 3; then exit 2; fi'
""" % {"work": work})
    out = site.ok("sbatch submission.sh", cwd=work)
    job = re.search(r"job (?P<id>[0-9]+)", out).group("id")
    def states():
        """As submitit reads them: rows of steps are left out, tasks that wait are a range."""
        text = site.ok(f"sacct -o JobID,State,NodeList --parsable2 -j {job}")
        lines = text.splitlines()
        assert lines[0] == "JobID|State|NodeList"
        rows = [dict(zip(lines[0].split("|"), line.split("|"))) for line in lines[1:]]
        return {row["JobID"]: row["State"] for row in rows if "." not in row["JobID"]}
    assert states(), "it is there at once"
    want = {f"{job}_{task}": "FAILED" if task == 3 else "COMPLETED" for task in range(4)}
    wait_until(lambda: states() == want, what=f"the end of {states()}")
    assert read(work, f"{job}_2_0_log.out") == f"{job} 2 0\n"


def test_what_sbatch_says_with_its_stderr_ends_in_the_id(site, work):
    """snakemake and others read both together and take the last word, whatever sbatch has to advise."""
    out = site.ok("sbatch --mem=4 -t 1 -o /dev/null --wrap true 2>&1", cwd=work)
    assert re.fullmatch(r"\d+", out.strip().split(" ")[-1]), out
    assert out.count("\n") > 1, "it has been advised"


def test_a_list_of_jobs_with_an_unknown_one_and_an_unknown_one_alone(site, work):
    job = site.submit("-H --wrap true", cwd=work)
    both = site.run(f"squeue -h -j {job},99999999 -o '%i,%T'")
    assert (both.rc, both.out) == (0, f"{job},PENDING\n")
    alone = site.run("squeue -h -j 99999999 -o %i")
    assert (alone.rc, alone.out) == (1, "") and "Invalid job id specified" in alone.err
    assert site.run(f"sacct -n -X -P -j {job} -o JobIDRaw,State").out == f"{job}|PENDING\n"
    site.ok(f"scancel {job}")
