# SPDX-License-Identifier: Apache-2.0
"""Arrays [B16-B20, A36]."""

import os

from harness import wait_until


def test_the_throttle_is_kept(cluster, work):
    job = cluster.submit("-a 1-12%3 -o /dev/null --wrap='echo $(squeue -h -t R -j $SLURM_ARRAY_JOB_ID | wc -l) >> seen; "
                         "sleep 0.2'", cwd=work)
    assert cluster.wait_end(job, 60) == "COMPLETED"
    with open(os.path.join(work, "seen")) as file:
        counts = list(map(int, file.read().split()))
    assert len(counts) == 12 and max(counts) <= 3


def test_the_remaining_tasks_fold_into_one_row(cluster, work):
    job = cluster.submit("-a 1-9:2%1 -o /dev/null --wrap='sleep 1000'", cwd=work)
    wait_until(lambda: "RUNNING" in cluster.state(job))
    rows = cluster.ok(f"squeue -h -S i -j {job} -o '%i %T'").splitlines()
    assert sorted(rows) == [f"{job}_1 RUNNING", f"{job}_[3,5,7,9%1] PENDING"]
    assert len(cluster.ok(f"squeue -h -r -j {job}").splitlines()) == 5


def test_one_task_can_be_cancelled_requeued_and_held(cluster, work):
    job = cluster.submit("--begin=now+1hour -a 0-3 -o /dev/null --wrap=true", cwd=work)
    cluster.ok(f"scancel {job}_2")
    cluster.ok(f"scontrol hold {job}_1")
    states = dict(line.split() for line in cluster.ok(f"squeue -h -r -t all -j {job} -o '%K %T'").splitlines())
    assert states == {"0": "PENDING", "1": "PENDING", "2": "CANCELLED", "3": "PENDING"}
    assert cluster.field(f"{job}_1", "r") == "JobHeldUser"
    cluster.ok(f"scontrol update jobid={job}_3 starttime=now")
    assert cluster.wait_end(f"{job}_3") == "COMPLETED"


def test_a_thousand_tasks_are_one_record_to_submit(cluster, work):
    job = cluster.submit("-H -a 0-999 --wrap=true", cwd=work)
    assert cluster.field(job, "i") == f"{job}_[0-999]"
    assert len(cluster.ok(f"squeue -h -r -j {job}").splitlines()) == 1000
    cluster.ok(f"scancel {job}")
    assert cluster.ok("squeue -h") == ""


def test_ids_of_tasks_are_unique(cluster, work):
    first = cluster.submit("-a 1-5 -o /dev/null --wrap='echo $SLURM_JOB_ID >> ids'", cwd=work)
    second = cluster.submit("-a 1-5 -o /dev/null --wrap='echo $SLURM_JOB_ID >> ids'", cwd=work)
    cluster.wait_end(first)
    cluster.wait_end(second)
    with open(os.path.join(work, "ids")) as file:
        ids = file.read().split()
    assert len(ids) == 10 == len(set(ids))


def test_a_failed_task_fails_only_itself(cluster, work):
    job = cluster.submit("-a 1-3 -o /dev/null --wrap='exit $((SLURM_ARRAY_TASK_ID == 2))'", cwd=work)
    cluster.wait_end(job)
    rows = dict(line.split() for line in cluster.ok(f"squeue -h -r -t all -j {job} -o '%K %T'").splitlines())
    assert rows == {"1": "COMPLETED", "2": "FAILED", "3": "COMPLETED"}


def test_a_step_joins_the_task_that_it_names(cluster, work):
    job = cluster.submit("-a 1-2 -o /dev/null --wrap='sleep 1000'", cwd=work)
    wait_until(lambda: cluster.state(job) == {"RUNNING"})
    for task in "12":
        said = cluster.ok(f"srun --jobid={job}_{task} -n1 sh -c 'echo $SLURM_JOB_ID $SLURM_ARRAY_TASK_ID'", cwd=work)
        assert said.split() == [cluster.field(f"{job}_{task}", "A"), task]
    result = cluster.run(f"srun --jobid={job}_7 true", cwd=work)
    assert result.rc != 0 and "Invalid job id specified" in result.err
    cluster.ok(f"scancel {job}")


def test_a_million_tasks_are_submitted_listed_held_and_cancelled_as_one(cluster, work):
    job = cluster.submit("-H -a 0-999999 --wrap=true", cwd=work)
    assert cluster.field(job, "i") == f"{job}_[0-999999]"
    cluster.ok(f"scancel {job}_[0-499999]")
    cluster.ok(f"scontrol hold {job}_[500000-600000]")
    rows = cluster.ok(f"squeue -h -t all -j {job} -o '%i %T'").splitlines()
    assert sorted(rows) == [f"{job}_[0-499999] CANCELLED", f"{job}_[500000-600000] PENDING",
                            f"{job}_[600001-999999] PENDING"]
    cluster.ok(f"scancel {job}")
    assert cluster.ok("squeue -h") == ""


def test_each_task_follows_its_counterpart(cluster, work):
    first = cluster.submit("-a 1-3 -o /dev/null --wrap='exit $((SLURM_ARRAY_TASK_ID == 2))'", cwd=work)
    second = cluster.submit(f"-a 1-3 -d aftercorr:{first} -o /dev/null --wrap=true", cwd=work)
    assert cluster.wait_end(f"{second}_1") == "COMPLETED"
    assert cluster.wait_end(f"{second}_3") == "COMPLETED"
    wait_until(lambda: cluster.field(f"{second}_2", "r") == "DependencyNeverSatisfied")
    shown = cluster.ok(f"scontrol show job {second}_2")
    assert f"DependencyFailed=aftercorr:{first}_*: job {first}_2 (wrap) ended FAILED, exit code 1:0" in shown
    cluster.ok(f"scancel {second}")


def test_a_job_requeued_into_a_special_state_waits_for_its_release(cluster, work):
    job = cluster.submit("-o /dev/null --wrap='sleep 1000'", cwd=work)
    wait_until(lambda: cluster.state(job) == {"RUNNING"})
    cluster.ok(f"scontrol requeuehold State=SpecialExit {job}")
    wait_until(lambda: cluster.state(job) == {"SPECIAL_EXIT"})
    cluster.ok(f"scontrol release {job}")
    wait_until(lambda: "RUNNING" in cluster.state(job))
    cluster.ok(f"scancel {job}")


def test_a_circle_of_dependencies_is_named(cluster, work):
    first = cluster.submit("-H -o /dev/null --wrap=true", cwd=work)
    second = cluster.submit(f"-H -d afterany:{first} -o /dev/null --wrap=true", cwd=work)
    result = cluster.run(f"scontrol update jobid={first} dependency=afterok:{second}", cwd=work)
    assert result.rc == 1 and f"{first} waits for {second}, {second} for {first}" in result.err
    cluster.ok(f"scancel {first} {second}")


def test_who_waits_for_an_array_gets_the_highest_code_of_all_tasks(cluster, work):
    waits = cluster.run("sbatch -W -a 1-2 -o /dev/null --wrap '[ $SLURM_ARRAY_TASK_ID = 2 ] || { sleep 1; exit 5; }'", cwd=work)
    assert waits.rc == 5
    waits = cluster.start("sbatch -W -J gone -o /dev/null --wrap 'sleep 1000'", cwd=work)
    wait_until(lambda: cluster.ok("squeue -h -n gone -o %T").strip() == "RUNNING")
    cluster.ok("scancel -n gone")
    assert waits.wait().rc == 1             # it has not succeeded
