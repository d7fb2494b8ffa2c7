# SPDX-License-Identifier: Apache-2.0
"""slurmdbd: what controllers deliver is stored once, whoever is killed and whenever, and is asked for by sacct."""

import json
import os
import random
import signal
import sqlite3
import time

import pytest
from dbd import Server, make_dbd, make_server, rows, run_jobs, wait_delivered, wait_ended, wait_forgotten, waiting  # noqa: F401
from harness import OTHER, USER, wait_until


def test_jobs_reach_slurmdbd_and_stay_when_the_controller_has_forgotten_them(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=4, mem=4000, conf=dbd.conf())
    dbd.attach(cluster).start()
    job = cluster.submit("-J 'it''s; DROP TABLE job' -o /dev/null --wrap 'srun true; sleep 0.2'", cwd="/tmp")
    assert rows(cluster, f"-X -j {job}", "jobid") == [job]        # at once, from the controller
    wait_ended(cluster)
    cluster.ok("scontrol show job", user="root")
    wait_until(lambda: "Invalid job id" in cluster.run(f"scontrol show job {job}", user="root").err, 60, 0.2,
               "the controller forgets the job")
    wait_delivered(cluster)
    assert rows(cluster, f"-j {job}", "jobid,state,jobname") == [
        f"{job}|COMPLETED|its; DROP TABLE job", f"{job}.batch|COMPLETED|batch", f"{job}.0|COMPLETED|true"]
    assert rows(cluster, f"-j {job}.batch", "jobid") == [f"{job}.batch"]
    found = [json.loads(cluster.ok(f"sacct {words} -j {job} --json"))["jobs"][0] for words in ("", "-X")]
    assert [len(record["steps"]) for record in found] == [2, 0]
    many = ",".join(str(number) for number in range(int(job), int(job) + 6000))
    assert rows(cluster, f"-X -j {many}", "jobid") == [job]
    assert rows(cluster, "-X -S now-1hour", "jobid,cluster") == [f"{job}|sluice"]
    assert rows(cluster, "-X -L -S now-1hour", "jobid,cluster") == [f"{job}|sluice"]
    assert rows(cluster, "-X -M nowhere -S now-1hour", "jobid,cluster") == []
    # Without slurmdbd the controller tells what it has, and that something may be missing.
    dbd.stop()
    fresh = run_jobs(cluster, 1)[0]
    done = cluster.run("sacct -a -n -X -P -S now-1hour -o jobid", user="root")
    assert done.rc == 1 and "Problem talking to the database" in done.err and "controller still has" in done.err
    assert done.out.split() == [fresh]
    dbd.start()
    wait_until(lambda: rows(cluster, "-X -S now-1hour", "jobid") == [job, fresh], 20, 0.2, "both jobs")
    # Without the controller, slurmdbd answers.
    wait_ended(cluster)
    wait_delivered(cluster)
    cluster.kill("slurmctld")
    done = cluster.run("sacct -a -n -X -P -S now-1hour -o jobid", user="root")
    assert done.rc == 1 and done.out.split() == [job, fresh] and "slurmdbd has" in done.err, str(done)
    cluster.up()


def test_nothing_is_lost_or_counted_twice_whoever_is_killed(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=2, cpus=4, mem=4000, conf=dbd.conf())
    dbd.attach(cluster).start()
    chance, jobs = random.Random(7), []
    for turn in range(6):
        jobs += run_jobs(cluster, 5)
        time.sleep(chance.uniform(0, 0.6))
        if turn % 2 == 0:
            dbd.stop(signal.SIGKILL)
            jobs += run_jobs(cluster, 3)
            time.sleep(chance.uniform(0, 0.3))
            dbd.start()
        else:
            cluster.kill("slurmctld")
            cluster.up()
    wait_forgotten(cluster)
    found = rows(cluster, "-X -D -S now-1hour", "jobid,state")
    assert sorted(found) == sorted(f"{job}|COMPLETED" for job in jobs)


def test_what_waits_is_counted_and_survives_restarts(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=4, mem=4000, conf=dbd.conf())
    dbd.attach(cluster)
    jobs = run_jobs(cluster, 4)
    wait_ended(cluster)
    wait_until(lambda: waiting(cluster) >= 8, what="events wait")
    before = waiting(cluster)
    cluster.kill("slurmctld")
    cluster.up()
    assert waiting(cluster) >= before
    done = cluster.run("sdiag", user="root")
    assert "slurmdbd" in done.err and "wait" in done.err, str(done)
    dbd.start()
    wait_delivered(cluster)
    assert sorted(row.split("|")[0] for row in rows(cluster)) == sorted(jobs)
    assert "registered" in cluster.log() and "registered" in dbd.log()


def test_two_clusters_share_a_slurmdbd_and_one_name_has_one_controller(make_cluster, make_dbd):
    dbd = make_dbd()
    first = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf())
    dbd.attach(first).start()
    munge = f"AuthInfo=socket={first.dir}/munge/socket\n"
    second = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf(munge + "ClusterName=other\n"))
    one, two = run_jobs(first, 2), run_jobs(second, 3)
    for cluster, jobs in ((first, one), (second, two)):
        wait_ended(cluster)
        wait_delivered(cluster)
    assert sorted(rows(first, "-X -S now-1hour", "cluster")) == ["sluice"] * 2
    assert sorted(rows(first, "-X -L -S now-1hour", "cluster")) == ["other"] * 3 + ["sluice"] * 2
    assert sorted(rows(first, "-X -M other -S now-1hour", "cluster")) == ["other"] * 3
    assert sorted(rows(second, "-X -M sluice,other -S now-1hour", "cluster")) == ["other"] * 3 + ["sluice"] * 2
    third = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf(munge))      # ClusterName=sluice again
    wait_until(lambda: "another ClusterName" in third.log(), what="the third is refused")
    assert "another controller" in dbd.log()
    run_jobs(third, 1)
    assert sorted(rows(first, "-X -L -S now-1hour", "cluster")) == ["other"] * 3 + ["sluice"] * 2


def test_who_may_see_and_do_what(make_cluster, make_dbd):
    dbd = make_dbd(extra="PrivateData=jobs")
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf("PrivateData=jobs"))
    dbd.attach(cluster).start()
    mine = run_jobs(cluster, 1)[0]
    theirs = run_jobs(cluster, 1, OTHER)[0]
    wait_forgotten(cluster)
    assert rows(cluster, user=USER, fields="jobid") == [mine]
    assert rows(cluster, user=OTHER, fields="jobid") == [theirs]
    assert sorted(rows(cluster, fields="jobid")) == sorted([mine, theirs])


def test_a_configuration_that_cannot_work_is_refused_with_the_cure(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=2, mem=2000)
    dbd.attach(cluster)
    good = open(dbd.path).read()
    dbd.write(good, 0o644)
    done = dbd.run("-D")
    assert done.returncode == 1 and "chmod 600" in done.stderr
    for text, word in ((good.replace("DbdHost=localhost", "DbdHost=elsewhere"), "DbdHost=elsewhere"),
                       (good.replace("DbdHost=localhost\n", ""), "DbdHost is missing"),
                       (good + "Nonsense=3\n", "Nonsense"),
                       (good.replace("SlurmUser=root", "SlurmUser=nobody-here"), "SlurmUser=nobody-here"),
                       (good.replace("StorageLoc=", "StorageLoc=/nonexistent/"), "/nonexistent/")):
        dbd.write(text)
        done = dbd.run("-D")
        assert done.returncode == 1 and word in done.stderr, (word, done.stderr)


def test_a_configuration_that_is_refused_while_it_runs_changes_nothing(make_cluster, make_dbd):
    dbd = make_dbd(extra="PrivateData=jobs")
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf())
    dbd.attach(cluster).start()
    good = open(dbd.path).read()
    job = run_jobs(cluster, 1, OTHER)[0]
    wait_forgotten(cluster)
    assert rows(cluster, "-X -M sluice -S now-1hour", "jobid") == [job]
    dbd.write(good.replace("PrivateData=jobs\n", ""), 0o644)
    os.kill(dbd.process, signal.SIGHUP)
    wait_until(lambda: "the former configuration stays" in dbd.log(), what="the refusal")
    assert rows(cluster, "-X -S now-1hour", "jobid", user=USER) == []
    dbd.write(good.replace("PrivateData=jobs\n", ""))
    os.kill(dbd.process, signal.SIGHUP)
    wait_until(lambda: "was read again" in dbd.log(), what="the new configuration")
    assert rows(cluster, "-X -S now-1hour", "jobid", user=USER) == [job]


def test_outages_capacity_and_changes_of_the_book_reach_slurmdbd_and_usage_is_summed_up(make_cluster, make_dbd):
    dbd = make_dbd(extra="DebugLevel=debug")
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf())
    dbd.attach(cluster).start()
    node = cluster.node_names()[0]
    wait_until(lambda: "registered" in dbd.log(), what="registration")
    cluster.ok("sacctmgr -i add account physics", user="root")
    cluster.ok(f"scontrol update nodename={node} state=drain reason='bad fan'", user="root")
    cluster.ok(f"scontrol update nodename={node} state=resume", user="root")
    wait_delivered(cluster)
    wait_until(lambda: cluster.run("sacctmgr -nP show event format=nodename,state,reason", user="root").out
               == f"{node}|DRAIN|bad fan\n", 10, 0.2, "the outage")
    out = cluster.ok("sacctmgr -nP show transactions format=action,actor,where,cluster", user="root")
    assert "Add Accounts|root|physics|sluice\n" in out
    assert "Add Accounts|root\n" in cluster.ok(
        "sacctmgr -nP show transactions actor=ROOT action='add accounts' format=action,actor", user="root")
    wait_until(lambda: "is summed up" in dbd.log(), 15, 0.2, "summing up")
    dbd.stop()
    done = cluster.run("sacctmgr -nP show transactions format=action", user="root")
    assert done.rc == 1 and "Problem talking to the database" in done.err


def test_reports_come_from_sums_which_outlive_the_jobs(make_cluster, make_dbd):
    dbd = make_dbd(extra="DebugLevel=debug\nPrivateData=usage")
    cluster = make_cluster(nodes=1, cpus=4, mem=4000, conf=dbd.conf())
    dbd.attach(cluster).start()
    wait_until(lambda: "registered" in dbd.log(), what="registration")
    cluster.ok("sacctmgr -i add account physics", user="root")
    cluster.ok(f"sacctmgr -i add user {USER} account=physics", user="root")
    cluster.submit("-W -n 2 -o /dev/null --wrap=true")
    wait_forgotten(cluster)
    dbd.stop()
    hour = int(time.time()) // 3600 * 3600 - 2 * 3600
    with sqlite3.connect(os.path.join(cluster.dir, "slurmdbd.sqlite")) as database:
        database.execute("UPDATE job SET submit_time = ?, eligible_time = ?, start_time = ?, end_time = ?",
                         (hour, hour, hour + 600, hour + 1200))
        database.execute("UPDATE capacity SET start_time = ?", (hour,))
        database.execute("UPDATE cluster SET roll_from = 0, rolled_until = 0")
    before = dbd.log().count("is summed up")
    dbd.start()
    wait_until(lambda: dbd.log().count("is summed up") > before, 30, 0.2, "summing up")
    dbd.stop()
    with sqlite3.connect(os.path.join(cluster.dir, "slurmdbd.sqlite")) as database:
        database.execute("DELETE FROM job")
    dbd.start()
    window = " ".join(f"{key}={time.strftime('%Y-%m-%dT%H:%M:%S', time.localtime(at))}"
                      for key, at in (("start", hour), ("end", hour + 3600)))

    def report(words, **options):
        return [line.split("|") for line in cluster.ok(f"sreport -nP -t seconds {words} {window}", **options).splitlines()]

    assert report("user topusage format=cluster,login,account,used") == [["sluice", USER, "physics", "1200"]]
    assert report("cluster accountutilizationbyuser format=account,login,used", user="root") == [
        ["root", "", "1200"], ["physics", "", "1200"], ["physics", USER, "1200"]]
    assert report("user topusage -t percent format=used") == [["8.33%"]]  # of an hour of 4 CPUs
    assert report("cluster utilization format=allocated,planned,idle,reported") == [["1200", "1200", "12000", "14400"]]
    assert report("-M other user topusage") == [] and report("-a user topusage format=used") == [["1200"]]
    assert report("user topusage", user=OTHER) == []  # PrivateData=usage
    # What has been used since the last full hour is not in the sums, and sreport says so.
    done = cluster.run("sreport user topusage start=now-1hour end=now+1hour")
    assert done.rc == 0 and "since the last one is not in it yet" in done.err, str(done)
    dbd.stop()
    done = cluster.run(f"sreport user topusage {window}")
    assert done.rc == 1 and "sreport: error" in done.err, str(done)


def test_what_is_too_old_is_archived_purged_and_can_be_loaded(make_cluster, make_dbd, tmp_path):
    archives = tmp_path / "archives"
    archives.mkdir()
    keys = f"ArchiveDir={archives}\nPurgeJobAfter=2hours\nPurgeTXNAfter=2hours\n"
    dbd = make_dbd(extra=keys + "ArchiveJobs=yes\n")
    cluster = make_cluster(nodes=1, cpus=4, mem=4000, conf=dbd.conf())
    dbd.attach(cluster).start()
    old, young = run_jobs(cluster, 2)
    wait_forgotten(cluster)
    dbd.stop()
    database = os.path.join(cluster.dir, "slurmdbd.sqlite")
    long_ago = int(time.time()) - 86400
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE job SET submit_time = ?, eligible_time = ?, start_time = ?, end_time = ? WHERE job_id = ?",
                           (long_ago, long_ago, long_ago, long_ago + 60, int(old)))
        connection.execute("INSERT INTO txn (id, done_time, actor, action) VALUES (1000, ?, 'root', 'Add')", (long_ago,))
    dbd.start()
    wait_until(lambda: "1 jobs of cluster sluice from before" in dbd.log(), 30, 0.2, "purging")
    wait_until(lambda: "1 changes from before" in dbd.log(), 30, 0.2, "purging of changes")
    assert rows(cluster, "-X -S now-1week", "jobid") == [young]
    (archive,) = os.listdir(archives)  # changes are not archived
    assert archive.startswith("sluice_job_archive_")
    assert os.stat(archives / archive).st_mode & 0o777 == 0o600
    for n in (1, 0):
        done = cluster.sluice("acct", "load", str(archives / archive), database)
        assert done.out == f"{n} rows from {archives / archive} to {database}\n", str(done)
    assert rows(cluster, "-X -S now-1week", "jobid") == [old, young]
    # A directory that is missing: nothing goes, and the log says why.
    dbd.stop()
    with open(dbd.path) as file:
        text = file.read()
    dbd.write(text.replace(str(archives), "/does/not/exist"))
    dbd.start()
    wait_until(lambda: "could not be purged: cannot write an archive to /does/not/exist" in dbd.log(), 30, 0.2, "the log")
    assert rows(cluster, "-X -S now-1week", "jobid") == [old, young]


def test_a_delivery_that_cannot_be_stored_is_told_of_in_both_logs_and_by_sdiag(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf())
    dbd.attach(cluster).start()
    wait_until(lambda: "registered" in dbd.log(), what="registration")
    wait_delivered(cluster)
    before = cluster.log().count("nothing is lost")
    with sqlite3.connect(f"{cluster.dir}/slurmdbd.sqlite") as database:
        database.execute("ALTER TABLE job RENAME TO job_away")
    run_jobs(cluster, 1)
    wait_until(lambda: dbd.log().count("could not be stored") >= 3, what="it is tried again")
    assert cluster.log().count("nothing is lost") == before + 1
    assert "none is lost" in cluster.run("sdiag", user="root").err
    with sqlite3.connect(f"{cluster.dir}/slurmdbd.sqlite") as database:
        database.execute("ALTER TABLE job_away RENAME TO job")
    wait_delivered(cluster)
    assert "none is lost" not in cluster.run("sdiag", user="root").err


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_database_server_that_vanishes_loses_nothing_and_counts_nothing_twice(make_cluster, make_dbd, make_server, kind):
    if not Server.is_installed(kind):
        pytest.skip(f"{kind} is not installed")
    server = make_server(kind)
    dbd = make_dbd(server.storage())
    cluster = make_cluster(nodes=1, cpus=8, mem=8000, conf=dbd.conf("AccountingStorageEnforce=associations\n"))
    dbd.attach(cluster).start()
    wait_until(lambda: cluster.run("sacctmgr -n show cluster format=cluster", user="root").out.strip(), 20, 0.1, "the cluster")
    cluster.ok("sacctmgr -i add account physics description=\"it's; DROP TABLE job; --\"", user="root")
    cluster.ok(f"sacctmgr -i add user {USER} account=physics", user="root")
    jobs = []
    for n in range(3):      # the server dies while deliveries are under way, slurmdbd too in the second round
        jobs += run_jobs(cluster, 6)
        server.kill()
        jobs += run_jobs(cluster, 4)
        done = cluster.run("sacctmgr -i add account late", user="root")
        assert done.rc == 1 and "127.0.0.1" in done.err, str(done)
        if n == 1:
            dbd.stop(signal.SIGKILL)
            os.unlink(os.path.join(cluster.dir, "run", "slurmdbd.pid"))
            dbd.start()
        server.start()
    wait_ended(cluster)
    wait_until(lambda: waiting(cluster) == 0, 60, 0.2, "delivery")
    wait_forgotten(cluster)
    assert sorted(rows(cluster, "-X -S now-1hour", "jobid,state"), key=lambda row: int(row.split("|")[0])) == [
        f"{job}|COMPLETED" for job in sorted(jobs, key=int)]
    cluster.ok("sacctmgr -i add account late", user="root")
    shown = cluster.ok("sacctmgr -nP show account format=account,description", user="root").splitlines()
    assert shown == ["late|late", "physics|it's; DROP TABLE job; --", "root|default root account"]
    dbd.stop()
    dbd.start()
    wait_until(lambda: cluster.run("sacctmgr -nP show account format=account,description", user="root").out.splitlines() == shown,
               20, 0.1, "the same accounts after a restart")


def test_scripts_and_environments_that_are_kept_are_with_slurmdbd(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf("AccountingStoreFlags=job_script,job_env\n"))
    dbd.attach(cluster).start()
    job = cluster.submit("-o /dev/null --wrap 'echo it''s kept'", cwd="/tmp", env={"KEPT": "a b"})
    array = cluster.submit("-a 1-2 -o /dev/null --wrap 'echo of an array'", cwd="/tmp", user=OTHER)
    wait_forgotten(cluster)
    assert "echo its kept" in cluster.ok(f"sacct -B -j {job}")
    assert "KEPT=a b" in cluster.ok(f"sacct --env-vars -j {job}")
    assert "of an array" in cluster.ok(f"sacct -B -j {array}_2", user="root")
    assert "of an array" not in cluster.run(f"sacct -B -j {array}_2").out        # another user's
    kept = sqlite3.connect(os.path.join(cluster.dir, "state", "slurmctld.sqlite"))
    cluster.ok("scontrol reconfigure", user="root")
    wait_until(lambda: kept.execute("SELECT count(*) FROM record WHERE kind = 20").fetchone() == (0,), 10, 0.1,
               "the controller keeps none")
