# SPDX-License-Identifier: Apache-2.0
"""sacct from the embedded store [A09, A46, A47]."""

import signal
import time

from harness import wait_until


def test_the_columns_of_the_book(cluster, work):                                                         # A47
    job = cluster.submit("-W --mem=64M -o /dev/null --wrap='sleep 0.1'", cwd=work)
    lines = cluster.ok(f"sacct -j {job} --format=JobID,State,ExitCode,MaxRSS,Elapsed,ReqMem").splitlines()
    assert lines[0] == "JobID             State ExitCode     MaxRSS    Elapsed     ReqMem "
    assert lines[1] == "------------ ---------- -------- ---------- ---------- ---------- "
    assert lines[2].startswith(f"{job:<12} ") and " COMPLETED      0:0 " in lines[2] and lines[2].endswith("64M ")
    assert lines[3].startswith(f"{job}.batch")


def test_a_job_is_known_at_once(cluster, work):
    """Clients poll sacct right after sbatch; an empty answer would end some of them."""
    for _ in range(10):
        job = cluster.submit("-H --wrap=true", cwd=work)
        assert cluster.sacct(job, "JobID,State") == [[job, "PENDING"]]


def test_states_and_exit_codes(cluster, work):
    ok = cluster.submit("-W -o /dev/null --wrap='exit 0'", cwd=work)
    assert cluster.run("sbatch -W -J bad -o /dev/null --wrap='exit 3'", cwd=work).rc == 3
    bad = cluster.ok("squeue -h -t all -n bad -o %A").split()[0]
    assert cluster.sacct(ok) == [[ok, "COMPLETED", "0:0"], [f"{ok}.batch", "COMPLETED", "0:0"]]
    assert cluster.sacct(bad) == [[bad, "FAILED", "3:0"], [f"{bad}.batch", "FAILED", "3:0"]]
    gone = cluster.submit("-o /dev/null --wrap='exec sleep 1000'", cwd=work)
    cluster.wait_state(gone, "RUNNING")
    cluster.ok(f"scancel {gone}")
    cluster.wait_end(gone)
    assert cluster.sacct(gone) == [[gone, "CANCELLED by 7101", "0:0"], [f"{gone}.batch", "CANCELLED", "0:15"]]


def test_records_outlive_the_controllers_memory(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="MinJobAge=2\n")
    job = cluster.submit("-W -o /dev/null --wrap=true", cwd=work)
    wait_until(lambda: cluster.run(f"squeue -h -j {job}").rc == 1, 20, 0.2, "the job is forgotten by squeue")
    assert cluster.sacct(job)[0] == [job, "COMPLETED", "0:0"]
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    assert cluster.sacct(job)[0] == [job, "COMPLETED", "0:0"]


def test_a_job_on_its_way_into_history_is_never_missing(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="MinJobAge=2\n")
    jobs, asked = set(), 0
    for _ in range(40):
        jobs.add(cluster.submit("-o /dev/null --wrap=true", cwd=work))
    end = time.monotonic() + 12
    while time.monotonic() < end and cluster.ok("squeue -h -t all -o %A"):
        rows = cluster.ok("sacct -n -X -P -o jobid").split()
        asked += 1
        assert jobs <= set(rows) and len(rows) == len(set(rows)), f"question {asked}"
    assert asked > 10


def test_users_see_their_own_and_root_all(cluster, work):
    mine = cluster.submit("-W -J mine -o /dev/null --wrap=true", cwd=work)
    other = cluster.submit("-W -J other -D /tmp -o /dev/null --wrap=true", user="sluicet2")
    assert cluster.ok("sacct -n -X -P -o jobid").split().count(mine) == 1
    assert other not in cluster.ok("sacct -n -X -P -o jobid").split()
    assert {mine, other} <= set(cluster.ok("sacct -a -n -X -P -o jobid", user="root").split())


def test_arrays_have_a_row_a_task(cluster, work):
    job = cluster.submit("-W -a 1-3 -o /dev/null --wrap=true", cwd=work)
    assert sorted(row[0] for row in cluster.sacct(f"{job} -X", "JobID")) == [f"{job}_{i}" for i in (1, 2, 3)]


def test_cpu_time_and_memory_are_measured(cluster, work):
    job = cluster.submit("-W --mem=500 -o /dev/null --wrap='python3 -c \"x = bytearray(60000000); "
                         "[i * i for i in range(2000000)]\"'", cwd=work)
    rows = cluster.sacct(job, "JobID,MaxRSS,TotalCPU")
    rss = rows[1][1]
    assert rss and float(rss.rstrip("KMG")) * {"K": 1, "M": 1024, "G": 1 << 20}.get(rss[-1], 1 / 1024) > 50000, rows
    assert rows[1][2] != "00:00:00", rows
