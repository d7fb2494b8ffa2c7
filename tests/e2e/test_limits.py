# SPDX-License-Identifier: Apache-2.0
"""Time limits [A39, A46].  They count in minutes, so the test of their end takes one."""

import os

import pytest
from harness import wait_until


@pytest.mark.slow
def test_a_job_over_its_limit_ends_as_timeout(cluster, work, script):                                    # A46
    path = script("long.sh", "trap 'echo asked' TERM\nsleep 1000 & wait\nsleep 1000 & wait\n")
    job = cluster.submit(f"-t 1 -o out {path}", cwd=work)
    step = cluster.submit("-t 5 -o out2 --wrap='srun -t 1 sleep 1000; echo step $?'", cwd=work)
    assert cluster.wait_end(job, 100) == "TIMEOUT"
    text = open(os.path.join(work, "out")).read()
    assert "asked" in text and "DUE TO TIME LIMIT ***" in text and f"JOB {job} ON" in text
    rows = dict((row[0], row[1:]) for row in cluster.sacct(job))
    assert rows[job] == ["TIMEOUT", "0:0"]
    assert cluster.wait_end(step, 30) == "COMPLETED"
    assert "step 143" in open(os.path.join(work, "out2")).read()
    elapsed = cluster.sacct(job, "ElapsedRaw")[0][0]
    assert 59 <= int(elapsed) <= 66


def test_a_warning_signal_before_the_limit(cluster, work, script):
    path = script("warn.sh", "trap 'echo warned; exit 0' USR1\nsleep 1000 & wait\n")
    job = cluster.submit(f"-t 1 --signal=B:USR1@59 -o out {path}", cwd=work)
    assert cluster.wait_end(job, 40) == "COMPLETED"
    assert open(os.path.join(work, "out")).read() == "warned\n"


def test_a_limit_above_the_partitions_waits_or_is_refused(make_cluster, work):                           # A39
    cluster = make_cluster(nodes=1, conf="PartitionName=brief Nodes=ALL MaxTime=10 State=UP\n")
    result = cluster.run("sbatch -p brief -t 11 --wrap=true", cwd=work)
    job = result.out.split()[-1]
    assert result.err == ("sbatch: note: partition brief allows at most --time=00:10:00; the job waits with the reason "
                          "PartitionTimeLimit\n")
    cluster.wait_reason(job, "PartitionTimeLimit")
    ok = cluster.submit("-p brief -t 10 -o /dev/null --wrap=true", cwd=work)
    assert cluster.wait_end(ok) == "COMPLETED"
    assert cluster.field(ok, "l") == "10:00"


def test_kill_wait_separates_term_from_kill(cluster, work, script):
    path = script("stubborn.sh", "trap 'echo no' TERM\ntouch up\nwhile true; do sleep 0.05; done\n")
    job = cluster.submit(f"-o out {path}", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up")))
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job, 15) == "CANCELLED"
    assert "no" in open(os.path.join(work, "out")).read().split()


def test_an_owner_may_shorten_and_root_may_lengthen(cluster, work):
    job = cluster.submit("-t 10 -o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    assert cluster.run(f"scontrol update jobid={job} timelimit=20").rc == 1
    cluster.ok(f"scontrol update jobid={job} timelimit=5")
    assert cluster.field(job, "l") == "5:00"
    cluster.ok(f"scontrol update jobid={job} timelimit=30", user="root")
    assert cluster.field(job, "l") == "30:00"


def test_the_nice_value_of_the_submitting_shell_is_handed_on_if_so_configured(make_cluster, work):
    for mode, batch, step in (("0", "0", "0"), ("1", "5", "7"), ("2", "5", "7")):
        cluster = make_cluster(nodes=1, conf=f"PropagatePrioProcess={mode}\n")
        cluster.ok("nice -n 5 sbatch -W -o out --wrap nice", cwd=work)
        assert open(os.path.join(work, "out")).read().strip() == batch
        assert cluster.ok("nice -n 7 srun nice", cwd=work).strip() == step
        if mode == "2":
            assert cluster.ok("srun nice", cwd=work).strip() == "1"
