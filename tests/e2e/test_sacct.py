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


def test_a_site_may_keep_nothing_of_steps_or_of_jobs(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="AccountingStorageEnforce=nosteps\n")
    job = cluster.submit("-W -o /dev/null --wrap='srun true'", cwd=work)
    assert cluster.sacct(job) == [[job, "COMPLETED", "0:0"]]
    cluster.edit_conf(lambda text: text.replace("=nosteps", "=nojobs"))
    cluster.ok("scontrol reconfigure", user="root")
    waits = cluster.submit("-H --wrap=true", cwd=work)
    ended = cluster.submit("-W -o /dev/null --wrap=true", cwd=work)
    assert cluster.sacct(waits) == [] and cluster.sacct(ended) == [] and cluster.state(waits) == {"PENDING"}
    cluster.kill("slurmctld")
    cluster.up()
    assert cluster.sacct(ended) == [] and cluster.state(waits) == {"PENDING"}


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
    submitted = cluster.ok("for i in {1..40}; do sbatch --parsable -o /dev/null --wrap=true; done", cwd=work)
    jobs.update(submitted.split())
    end = time.monotonic() + 12
    while time.monotonic() < end and cluster.ok("squeue -h -t all -o %A"):
        rows = cluster.ok("sacct -n -X -P -o jobid").split()
        asked += 1
        assert jobs <= set(rows) and len(rows) == len(set(rows)), f"question {asked}"
    assert asked > 2      # on a slow machine, too, some of them were forgotten between two questions


def test_users_see_their_own_and_root_all(cluster, work):
    mine = cluster.submit("-W -J mine -o /dev/null --wrap=true", cwd=work)
    other = cluster.submit("-W -J other -D /tmp -o /dev/null --wrap=true", user="sluicet2")
    assert cluster.ok("sacct -n -X -P -o jobid").split().count(mine) == 1
    assert other not in cluster.ok("sacct -n -X -P -o jobid").split()
    assert {mine, other} <= set(cluster.ok("sacct -a -n -X -P -o jobid", user="root").split())


def test_arrays_have_a_row_a_task(cluster, work):
    job = cluster.submit("-W -a 1-3 -o /dev/null --wrap=true", cwd=work)
    assert sorted(row[0] for row in cluster.sacct(f"{job} -X", "JobID")) == [f"{job}_{i}" for i in (1, 2, 3)]


def test_tasks_are_found_by_their_array_when_they_are_history(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="MinJobAge=2\n")
    job = cluster.submit("-W -a 1-3 -o /dev/null --wrap=true", cwd=work)
    wait_until(lambda: cluster.run(f"squeue -h -t all -j {job}").out.strip() == "", 30, 0.2, "squeue forgets the array")
    assert sorted(row[0] for row in cluster.sacct(f"{job} -X", "JobID")) == [f"{job}_{i}" for i in (1, 2, 3)]
    assert cluster.sacct(f"{job}_2 -X", "JobID,State") == [[f"{job}_2", "COMPLETED"]]


def test_a_requeued_run_is_kept_as_such(cluster, work):
    job = cluster.submit("--requeue -o /dev/null --wrap='exec sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    cluster.ok(f"scontrol requeue {job}", user="root")
    wait_until(lambda: len(cluster.sacct(f"{job} -X -D", "State")) == 2, 20, 0.2, "two runs")
    assert cluster.sacct(f"{job} -D", "JobID,State")[:2] == [[job, "REQUEUED"], [f"{job}.batch", "CANCELLED"]]
    assert ["REQUEUED"] in cluster.sacct(f"{job} -X -D -s RQ", "State")
    assert len(cluster.sacct(f"{job} -X", "State")) == 1
    cluster.ok(f"scancel {job}")


def test_scripts_and_environments_are_kept_where_asked(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="MinJobAge=2\nAccountingStoreFlags=job_script,job_env\n")
    with open(f"{work}/kept.sh", "w") as script:
        script.write("#!/bin/bash\n# a comment stays\ntrue\n")
    job = cluster.submit("-W -o /dev/null --export=ALL,KEPT=yes kept.sh", cwd=work)
    wait_until(lambda: cluster.run(f"squeue -h -j {job}").rc == 1, 20, 0.2, "squeue forgets the job")
    line = "-" * 80
    assert cluster.ok(f"sacct -B -j {job}") == f"Batch Script for {job}\n{line}\n#!/bin/bash\n# a comment stays\ntrue\n\n"
    out = cluster.ok(f"sacct --env-vars -j {job}")
    assert out.startswith(f"Environment used for {job} (must be batch to display)\n{line}\n") and "\nKEPT=yes\n" in out
    # Nobody else's.
    assert cluster.ok(f"sacct -B -j {job}", user="sluicet2") == f"Batch Script for {job}\n{line}\nNONE\n\n"
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    assert "# a comment stays" in cluster.ok(f"sacct -B -j {job}", user="root")


def test_scripts_are_not_kept_unasked(cluster, work):
    job = cluster.submit("-W -o /dev/null --wrap=true", cwd=work)
    assert cluster.ok(f"sacct -B -j {job}").splitlines()[2] == "NONE"
    refused = cluster.run("sacct --env-vars")
    assert refused.rc == 1 and "with the '-j' option" in refused.err


def test_an_instant_without_jobs_says_how_to_ask_for_more(cluster, work):
    job = cluster.submit("-W -o /dev/null --wrap='exit 1; true' || true", cwd=work)
    wait_until(lambda: cluster.sacct(f"{job} -X", "State") == [["FAILED"]], 20, 0.2, "it has failed")
    asked = cluster.run("sacct -n -X -s F -S now-1hour")
    assert asked.out == "" and "-E now" in asked.err
    assert job in cluster.ok("sacct -n -X -s F -S now-1hour -E now")


def test_cpu_time_and_memory_are_measured(cluster, work):
    job = cluster.submit("-W --mem=500 -o /dev/null --wrap='python3 -c \"x = bytearray(60000000); "
                         "[i * i for i in range(2000000)]\"'", cwd=work)
    rows = cluster.sacct(job, "JobID,MaxRSS,TotalCPU")
    rss = rows[1][1]
    assert rss and float(rss.rstrip("KMG")) * {"K": 1, "M": 1024, "G": 1 << 20}.get(rss[-1], 1 / 1024) > 50000, rows
    assert rows[1][2] != "00:00:00", rows
