# SPDX-License-Identifier: Apache-2.0
"""Limits of associations and QOS, as users meet them: one job below, one above, the reason, the release [B09-B15]."""

import pytest
from harness import OTHER, USER

CONF = """AccountingStorageEnforce=limits,qos
GresTypes=gpu
Licenses=flex:4
PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=100 MaxTime=60 State=UP
PartitionName=short Nodes=ALL DefMemPerCPU=100 QOS=short State=UP
"""
POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


@pytest.fixture
def cluster(make_cluster):
    cluster = make_cluster(nodes=2, cpus=4, mem=4000, gpus="a100:2", conf=CONF)
    for command in ["add account physics", "add account grads,undergrads parent=physics", "add qos short",
                    f"add user {USER} account=grads,undergrads defaultaccount=grads",
                    f"add user {OTHER} account=grads", f"modify user {USER},{OTHER} set qos=normal,short"]:
        admin(cluster, command)
    return cluster


def admin(cluster, command):
    return cluster.ok(f"sacctmgr -i {command}", user="root")


def limit(cluster, entity, words):
    admin(cluster, f"modify {entity} set {words}")


def lift(cluster, entity, words):
    """Takes a limit like GrpTRES=cpu=3 back."""
    limit(cluster, entity, words.rpartition("=")[0] + "=-1")


def job(cluster, options="", user=USER):
    return cluster.submit(f"-o /dev/null {options} --wrap='sleep 300'", user=user, cwd="/tmp")


def refused(cluster, options="", reason=None):
    """Lines of sbatch for one who is refused; the reason stands in the first."""
    done = cluster.run(f"sbatch -o /dev/null {options} --wrap='sleep 300'", cwd="/tmp")
    assert done.rc == 1, str(done)
    lines = done.err.splitlines()
    assert lines[-1] == f"sbatch: error: Batch job submission failed: {POLICY}", str(done)
    assert reason is None or lines[0] == f"sbatch: error: {reason}", str(done)
    return lines


def holds_back(cluster, first, second, reason, other):
    """The first starts, the second waits for that reason until the first has gone."""
    one = job(cluster, first)
    cluster.wait_state(one, "RUNNING")
    two = job(cluster, second, other)
    cluster.wait_reason(two, reason)
    cluster.ok(f"scancel {one}")
    cluster.wait_state(two, "RUNNING")
    cluster.ok(f"scancel {two}", user="root")
    cluster.wait_end(two)


def test_limits_of_running_jobs_at_every_level(cluster):                                            # B09, B10
    rows = [
        ("account physics", "GrpJobs=1", "", "", "AssocGrpJobsLimit", OTHER),
        ("account grads", "GrpTRES=cpu=3", "-c2", "-c2", "AssocGrpCpuLimit", OTHER),
        ("account grads", "GrpTRES=mem=250", "-c2", "-c1", "AssocGrpMemLimit", OTHER),
        ("account grads", "GrpTRES=node=1", "-c4", "-c4", "AssocGrpNodeLimit", OTHER),
        ("account grads", "GrpTRES=gres/gpu=1", "-G1", "-G1", "AssocGrpGRES", OTHER),
        ("account grads", "GrpTRES=gres/gpu:a100=1", "-G a100:1", "-G1", "AssocGrpGRES", OTHER),
        (f"user {USER}", "MaxJobs=1", "", "", "AssocMaxJobsLimit", USER),
        ("qos normal", "MaxJobsPU=1", "", "-A undergrads", "QOSMaxJobsPerUserLimit", USER),
        ("qos normal", "MaxTRESPU=cpu=3", "-c2", "-c2", "QOSMaxCpuPerUserLimit", USER),
        ("qos normal", "MaxTRESPU=gres/gpu=1", "-G1", "-G1", "QOSMaxGRESPerUser", USER),
        ("qos normal", "MaxJobsPA=1", "", "", "MaxJobsPerAccount", OTHER),
        ("qos normal", "GrpJobs=1", "", "-A grads", "QOSGrpJobsLimit", OTHER),
        ("qos normal", "GrpTRES=cpu=3", "-c2", "-c2", "QOSGrpCpuLimit", OTHER),
    ]
    for entity, words, first, second, reason, other in rows:
        limit(cluster, entity, words)
        holds_back(cluster, first, second, reason, other)
        lift(cluster, entity, words)


def test_limits_of_each_job_and_deny_on_limit(cluster):
    rows = [
        (f"user {USER}", "MaxTRES=cpu=2", "-c2", "-c3", "AssocMaxCpuPerJobLimit"),
        (f"user {USER}", "MaxTRES=gres/gpu=1", "-G1", "-G2", "AssocMaxGRESPerJob"),
        ("account physics", "MaxWall=10", "-t10", "-t11", "AssocMaxWallDurationPerJobLimit"),
        ("qos normal", "MaxTRESPerJob=node=1", "-N1", "-N2", "QOSMaxNodePerJobLimit"),
        ("qos normal", "MaxTRESMins=cpu=20", "-c2 -t10", "-c2 -t11", "QOSMaxCpuMinutesPerJobLimit"),
        ("qos normal", "MinTRES=cpu=2", "-c2", "-c1", "QOSMinCpuNotSatisfied"),
    ]
    for entity, words, below, above, reason in rows:
        limit(cluster, entity, words)
        one, two = job(cluster, below), job(cluster, above)
        cluster.wait_state(one, "RUNNING")
        cluster.wait_reason(two, reason)
        admin(cluster, "modify qos normal set flags=DenyOnLimit")
        refused(cluster, above, reason)
        admin(cluster, "modify qos normal set flags=-1")
        cluster.ok(f"scancel {one}")
        lift(cluster, entity, words)
        cluster.wait_state(two, "RUNNING")
        cluster.ok(f"scancel {two}")
        cluster.wait_end(two)


def test_one_job_too_many_is_refused_by_name_and_tasks_of_arrays_count(cluster):
    rows = [
        ("account physics", "GrpSubmitJobs=2", "AssocGrpSubmitJobsLimit"),
        (f"user {USER}", "MaxSubmitJobs=2", "AssocMaxSubmitJobLimit"),
        ("qos normal", "MaxSubmitJobsPU=2", "QOSMaxSubmitJobPerUserLimit"),
        ("qos normal", "GrpSubmitJobs=2", "QOSGrpSubmitJobsLimit"),
        ("qos normal", "MaxSubmitJobsPA=2", "MaxSubmitJobsPerAccount"),
    ]
    for entity, words, reason in rows:
        limit(cluster, entity, words)
        refused(cluster, "--array=1-3")
        array = job(cluster, "--array=1-2")
        assert "2 jobs are there, 1 more is asked for" in refused(cluster, "", reason)[1]
        cluster.ok(f"scancel {array}")
        last = job(cluster)
        cluster.ok(f"scancel {last}")
        lift(cluster, entity, words)
    done = cluster.run("salloc -Q true", user=USER)
    assert done.rc == 0, done.err


def test_counts_and_reasons_survive_a_restart_of_the_controller(cluster):
    admin(cluster, f"modify user {USER} set maxjobs=1 maxsubmitjobs=3")
    one, two = job(cluster), job(cluster)
    cluster.wait_state(one, "RUNNING")
    cluster.wait_reason(two, "AssocMaxJobsLimit")
    cluster.kill("slurmctld")
    cluster.up()
    cluster.wait_state(one, "RUNNING")
    cluster.wait_reason(two, "AssocMaxJobsLimit")
    job(cluster)
    refused(cluster)


def test_the_partitions_qos_goes_before_that_of_the_job(cluster):
    admin(cluster, "modify qos short set maxtresperjob=cpu=1")
    admin(cluster, "modify qos normal set maxtresperjob=cpu=2")
    waits = job(cluster, "-p short -c2")
    cluster.wait_reason(waits, "QOSMaxCpuPerJobLimit")
    admin(cluster, "modify qos normal set flags=OverPartQOS")
    cluster.wait_state(waits, "RUNNING")


def test_the_expected_start_counts_with_limits(cluster):
    admin(cluster, f"modify user {USER} set maxjobs=1")
    one, two = job(cluster, "-t20"), job(cluster, "-t20")
    cluster.wait_state(one, "RUNNING")
    cluster.wait_reason(two, "AssocMaxJobsLimit")
    end = cluster.field(one, "e")
    assert cluster.ok(f"squeue --start -h -j {two} -o %S").strip()[:16] == end[:16]


def test_why_tells_the_limit_and_who_uses_it(cluster):
    admin(cluster, "modify account physics set grptres=cpu=3")
    one = job(cluster, "-c2 -t20")
    cluster.wait_state(one, "RUNNING")
    two = job(cluster, "-c2", OTHER)
    cluster.wait_reason(two, "AssocGrpCpuLimit")
    out = cluster.ok(f"sluice why {two}", user=OTHER)
    assert f"GrpTRES cpu of account physics: limit 3, asked 2, 2 in use by job {one} of {USER} (2)" in out, out


def test_who_has_used_up_his_minutes_is_ended_and_waits_for_more(cluster, work):                          # A37
    limit(cluster, "account grads", "grptresmins=mem=20")
    one = cluster.submit(f"-o {work}/out -c4 -t20 --wrap='sleep 300'", cwd="/tmp")
    cluster.wait_state(one, "TIMEOUT")                            # 400 MB use up 20 MB minutes in 3 seconds
    assert cluster.field(one, "%r") == "TimeLimit"
    two = job(cluster, "-c1", OTHER)
    cluster.wait_reason(two, "AssocGrpMemMinutes")
    with open(f"{work}/out") as file:
        output = file.read()
    assert "DUE TO TIME LIMIT" in output and "account grads has GrpTRESMins=mem=20" in output, output
    cluster.kill("slurmctld")
    cluster.up()
    cluster.wait_reason(two, "AssocGrpMemMinutes")
    told = cluster.ok(f"sluice why {two}", user=OTHER)
    assert "GrpTRESMins mem of account grads: limit 20 TRES-minutes" in told, told
    assert f"{USER} in grads (2" in told and "half its weight" in told, told
    limit(cluster, "account grads", "rawusage=0")
    cluster.wait_state(two, "RUNNING")


def test_with_safe_only_who_can_finish_starts(make_cluster):
    cluster = make_cluster(nodes=1, cpus=4, mem=4000, conf=CONF.replace("limits,qos", "safe,qos"))
    for command in ["add account grads grptresmins=cpu=10", f"add user {USER} account=grads"]:
        admin(cluster, command)
    one = job(cluster, "-t6")
    cluster.wait_state(one, "RUNNING")
    two = job(cluster, "-t5")
    cluster.wait_reason(two, "AssocGrpCPUMinutesLimit")
    three = job(cluster, "-t4")
    cluster.wait_state(three, "RUNNING")
    cluster.ok(f"scancel {one}")
    cluster.wait_state(two, "RUNNING")


def test_what_sacctmgr_keeps_without_effect_is_said(cluster):
    done = cluster.run("sacctmgr -i modify qos normal set flags=NoReserve,DenyOnLimit grptres=energy=5,cpu=9", user="root")
    assert "Flags=NoReserve is kept, but without effect in this release" in done.err
    assert "GrpTRES=energy=5 is kept, but without effect in this release" in done.err
    assert "DenyOnLimit is kept" not in done.err
