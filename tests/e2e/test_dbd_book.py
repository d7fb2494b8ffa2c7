# SPDX-License-Identifier: Apache-2.0
"""The accounts of several clusters in slurmdbd: sacctmgr asks it, controllers follow at once or when they are back."""

import glob
import os
import sqlite3

from dbd import make_dbd, rows, wait_delivered  # noqa: F401
from harness import OTHER, USER, wait_until


def book(cluster, words, user="root"):
    return cluster.ok(f"sacctmgr -nP show {words}", user=user).splitlines()


def two_clusters(make_cluster, make_dbd, conf=""):
    dbd = make_dbd()
    enforce = "AccountingStorageEnforce=associations,limits,qos\n" + conf
    first = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf(enforce))
    dbd.attach(first).start()
    second = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf(
        f"AuthInfo=socket={first.dir}/munge/socket\nClusterName=other\n{enforce}"))
    wait_until(lambda: {"sluice", "other"} <= set(book(first, "cluster format=cluster")), what="both clusters")
    return dbd, first, second


def may_submit(cluster, account="physics", user=USER):
    return cluster.run(f"sbatch -A {account} -o /dev/null --wrap true", user=user, cwd="/tmp").rc == 0


def test_changes_reach_the_controllers_of_the_clusters_that_they_name_at_once(make_cluster, make_dbd):
    dbd, first, second = two_clusters(make_cluster, make_dbd)
    out = first.ok("sacctmgr -i add account physics", user="root")
    assert "C = other" in out and "C = sluice" in out
    first.ok(f"sacctmgr -i add user {USER} account=physics cluster=sluice", user="root")
    assert may_submit(first) and not may_submit(second)
    second.ok(f"sacctmgr -i add user {USER} account=physics cluster=other maxjobs=1", user="root")
    assert may_submit(second)
    assert book(first, f"assoc user={USER} format=cluster,account,maxjobs") == ["other|physics|1", "sluice|physics|"]
    assert book(first, f"user {USER} format=user,defaultaccount") == [f"{USER}|physics"]
    second.ok("sacctmgr -i add qos night priority=7", user="root")
    for cluster in (first, second):
        cluster.ok(f"sacctmgr -i modify user {USER} set qos=normal,night", user="root")
        assert cluster.run("sbatch -q night -o /dev/null --wrap true", cwd="/tmp").rc == 0
    # who did what is with slurmdbd, once
    lines = book(first, "transactions action='add qos' format=action,actor,where,cluster")
    assert lines == ["Add QOS|root|night|"]
    # a job that counts on what goes is known to its controller
    job = second.submit("--begin=now+1hour -A physics -o /dev/null --wrap true", cwd="/tmp")
    done = first.run("sacctmgr -i delete account physics", user="root")
    assert done.rc == 1 and f"JobID = {job}" in done.err and "C = other" in done.err, str(done)
    assert book(first, "account physics format=account") == ["physics"]
    second.ok(f"scancel {job}")
    wait_until(lambda: not second.ok("squeue -h -A physics", user="root"), what="no job of the account")
    wait_until(lambda: not first.ok("squeue -h -A physics", user="root"), what="no job of the account")
    first.ok("sacctmgr -i delete account physics", user="root")
    assert not may_submit(first) and not may_submit(second)


def test_a_controller_goes_on_without_slurmdbd_and_catches_up(make_cluster, make_dbd):
    dbd, first, second = two_clusters(make_cluster, make_dbd)
    first.ok("sacctmgr -i add account physics", user="root")
    first.ok(f"sacctmgr -i add user {USER} account=physics", user="root")
    job = second.submit("-A physics -o /dev/null --wrap 'sleep 60'", cwd="/tmp")
    second.wait_state(job, "RUNNING")
    wait_delivered(second)
    second.kill("slurmctld")
    done = first.run("sacctmgr -i delete account physics cluster=other", user="root")     # slurmdbd knows what has started
    assert done.rc == 1 and f"JobID = {job}" in done.err and "C = other" in done.err, str(done)
    done = first.run(f"sacctmgr -i add user {OTHER} account=physics", user="root")
    assert done.rc == 0 and "cluster other is not connected: it gets the change when it is back" in done.err, str(done)
    dbd.stop()
    done = first.run("sacctmgr -i add account late", user="root")
    assert done.rc == 1 and "slurmdbd" in done.err, str(done)
    assert first.run("sacctmgr show assoc", user="root").rc == 1
    first.kill("slurmctld")
    for cluster in (first, second):
        cluster.up()
    assert may_submit(first) and may_submit(first, user=OTHER)      # from what it has stored
    assert may_submit(second) and not may_submit(second, user=OTHER)
    dbd.start()
    wait_until(lambda: may_submit(second, user=OTHER), 20, 0.2, "the second controller catches up")


def test_the_book_of_a_controller_is_taken_over_when_slurmdbd_comes(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf="AccountingStorageEnforce=associations")
    cluster.ok("sacctmgr -i add qos night priority=7", user="root")
    cluster.ok("sacctmgr -i add account physics", user="root")
    cluster.ok(f"sacctmgr -i add user {USER} account=physics maxjobs=5 qos=normal,night", user="root")
    before = book(cluster, "assoc format=account,user,maxjobs,qos,id")
    dbd.attach(cluster).start()
    cluster.edit_conf(lambda text: text + dbd.conf())
    cluster.kill("slurmctld")
    cluster.up()
    wait_until(lambda: book(cluster, "assoc format=account,user,maxjobs,qos,id") == before, 20, 0.2, "the book in slurmdbd")
    assert book(cluster, "qos night format=name,priority") == ["night|7"]
    assert len(glob.glob(f"{cluster.dir}/**/accounts-before-slurmdbd-*.cfg", recursive=True)) == 1
    assert may_submit(cluster)
    assert "Take Over|" in "\n".join(book(cluster, "transactions format=action,where"))
    # a new state gets slurmdbd's
    cluster.kill("slurmctld")
    for path in glob.glob(f"{cluster.dir}/**/slurmctld.sqlite*", recursive=True):
        os.unlink(path)
    cluster.up()
    wait_until(lambda: may_submit(cluster), 20, 0.2, "the accounts are back")


def test_only_administrators_and_coordinators_change_accounts(make_cluster, make_dbd):
    dbd, first, second = two_clusters(make_cluster, make_dbd)
    first.ok("sacctmgr -i add account physics", user="root")
    first.ok(f"sacctmgr -i add user {USER} account=physics cluster=sluice", user="root")
    done = first.run("sacctmgr -i add account mine", user=USER)
    assert done.rc == 1 and "only operators, administrators and coordinators" in done.err
    first.ok(f"sacctmgr -i add coordinator account=physics names={USER}", user="root")
    first.ok(f"sacctmgr -i add user {OTHER} account=physics", user=USER)
    assert may_submit(first, user=OTHER)
    assert first.run("sacctmgr -i add qos fast", user=USER).rc == 1
    first.ok(f"sacctmgr -i modify user {USER} set adminlevel=administrator", user="root")
    second.ok("sacctmgr -i add account theirs cluster=other", user=USER)      # of all clusters
    # words that are SQL, quotes, blanks, other letters
    second.ok("""sacctmgr -i modify account physics set description="a'b; DROP TABLE book; -- 한국" """, user="root")
    assert book(first, "account physics format=description") == ["a'b; DROP TABLE book; -- 한국"]
    for name in ("'a b'", "\"a'b\"", "a,,'b|c'"):
        assert first.run(f"sacctmgr -i add account {name}", user="root").rc == 1
    done = first.run("sacctmgr -i modify account theirs set parent=theirs", user="root")
    assert done.rc == 1


def test_clusters_are_added_and_deleted_and_a_connected_one_stays(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf())
    dbd.attach(cluster).start()
    wait_until(lambda: cluster.run("sacctmgr -n show cluster format=cluster", user="root").out, what="the cluster")
    out = cluster.ok("sacctmgr -i add cluster Beta,gamma fairshare=3 maxjobs=7", user="root")
    assert out == (" Adding Cluster(s)\n  Name           = beta\n  Name           = gamma\n"
                   " Setting\n  Default Limits:\n  Fairshare     = 3\n  MaxJobs       = 7\n")
    assert book(cluster, "cluster where name=beta,gamma format=cluster,controlhost,controlport,share,maxjobs") == [
        "beta||0|3|7", "gamma||0|3|7"]
    done = cluster.run("sacctmgr -i add cluster beta", user="root")
    assert done.rc == 1 and "already exists" in done.err, str(done)
    assert cluster.run("sacctmgr -i add cluster 'a b'", user="root").rc == 1
    assert cluster.run("sacctmgr -i add cluster delta").rc == 1                  # an ordinary user
    cluster.ok("sacctmgr -i add account physics cluster=beta", user="root")
    done = cluster.run("sacctmgr -i delete cluster sluice", user="root")
    assert done.rc == 1 and "connected" in done.err, str(done)
    assert cluster.run("sacctmgr -i delete cluster nix", user="root").rc == 1
    out = cluster.ok("sacctmgr -i delete cluster where name=beta", user="root")
    assert out == " Deleting clusters...\n  beta\n"
    dbd.stop()
    dbd.start()
    wait_until(lambda: cluster.run("sacctmgr ping", user="root").rc == 0, what="slurmdbd is up")
    assert book(cluster, "cluster format=cluster") == ["gamma", "sluice"]
    assert book(cluster, "account physics format=account") == []
    assert "|Add Clusters|" in "\n".join(book(cluster, "transactions"))


def test_slurmdbd_is_pinged_counted_reconfigured_archived_and_stopped(make_cluster, make_dbd, tmp_path):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf())
    dbd.attach(cluster).start()
    assert cluster.ok("sacctmgr ping").startswith("slurmdbd(primary) at ")
    out = cluster.ok("sacctmgr show stats", user="root")
    assert "DIAG" in out and "PING" in out and "root" in out and "Data since" in out
    out = cluster.ok("sacctmgr show configuration")
    rows = dict(line.split(" = ", 1) for line in out.splitlines() if " = " in line)
    rows = {key.strip(): value for key, value in rows.items()}
    assert rows["AccountingStorageType"] == "accounting_storage/slurmdbd" and rows["TrackWCKey"] == "No"
    assert rows["DbdPort"] == str(dbd.port) and "StoragePass" not in rows
    for words in ("clear stats", "reconfigure", "shutdown", "archive dump jobs purgejobafter=1hours -i"):
        assert cluster.run(f"sacctmgr {words}").rc == 1                            # not by anybody
    cluster.ok("sacctmgr clear stats", user="root")
    assert "PING" not in cluster.ok("sacctmgr show stats", user="root")
    cluster.ok("sacctmgr reconfigure", user="root")
    assert "was read again" in dbd.log()
    assert cluster.run("sacctmgr archive nonsense", user="root").rc == 1
    done = cluster.run("sacctmgr -i archive load file=/nonexistent", user="root")
    assert done.rc == 1 and "/nonexistent" in done.err, str(done)
    done = cluster.run("sacctmgr -i archive dump jobs purgejobafter=soon", user="root")
    assert done.rc == 1 and "Bad age" in done.err
    assert cluster.ok("sacctmgr -i archive dump jobs purgejobafter=1hours", user="root") == " Nothing is as old as that.\n"
    done = cluster.run("sacctmgr -i archive dump events", user="root")
    assert done.rc == 1 and "from which age on are events to be archived?" in done.err, done.err
    cluster.ok("sacctmgr shutdown", user="root")
    wait_until(lambda: cluster.run("sacctmgr ping").rc == 1, what="slurmdbd is down")
    assert "is DOWN" in cluster.run("sacctmgr ping").out
    dbd.process = None


def test_jobs_that_their_controller_has_forgotten_are_found_and_ended(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=4, mem=2000, conf=dbd.conf())
    dbd.attach(cluster).start()
    wait_until(lambda: cluster.run("sacctmgr -n show cluster format=cluster", user="root").out, what="the cluster")
    job = cluster.submit("-o /dev/null --wrap 'sleep 60'", cwd="/tmp")
    cluster.wait_state(job, "RUNNING")
    wait_delivered(cluster)
    assert "No runaway jobs" in cluster.ok("sacctmgr show runawayjobs", user="root")
    cluster.kill("slurmctld")
    done = cluster.run("sacctmgr show runawayjobs", user="root")
    assert done.rc == 1 and "does not answer" in done.err, str(done)
    # the controller loses the job, but not who it is
    (path,) = glob.glob(f"{cluster.dir}/**/slurmctld.sqlite", recursive=True)
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM record WHERE kind IN (2, 3, 5)")
    cluster.up()
    other = cluster.submit("-o /dev/null --wrap 'sleep 60'", cwd="/tmp")
    wait_until(lambda: f"{job}|" in cluster.run("sacctmgr -r -nP show runawayjobs format=id,state", user="root").out, 20, 0.3,
               "the runaway")
    out = cluster.ok("sacctmgr -i -P show runawayjobs format=id,state", user="root")
    assert f"\n{job}|RUNNING\n" in out and "Fixed 1 runaway" in out and f"\n{other}|" not in out, out
    assert rows(cluster, f"-X -j {job}", "jobid,state,elapsed") == [f"{job}|COMPLETED|00:00:00"]
    assert "No runaway jobs" in cluster.ok("sacctmgr show runawayjobs", user="root")


def test_a_cold_start_ends_the_jobs_of_the_state_before(make_cluster, make_dbd):
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=4, mem=2000, conf=dbd.conf())
    dbd.attach(cluster).start()
    job = cluster.submit("-o /dev/null --wrap 'sleep 60'", cwd="/tmp")
    cluster.wait_state(job, "RUNNING")
    wait_delivered(cluster)
    cluster.kill("slurmctld")
    for path in glob.glob(f"{cluster.dir}/**/slurmctld.sqlite*", recursive=True):
        os.unlink(path)
    cluster.up()
    wait_until(lambda: rows(cluster, f"-X -j {job}", "jobid,state") == [f"{job}|NODE_FAIL"], 20, 0.2, "its end")
    assert "new state" in dbd.log()


def test_where_slurmdbd_has_accounts_of_a_cluster_those_count_and_its_own_are_saved(make_cluster, make_dbd):
    dbd = make_dbd()
    first = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf())
    dbd.attach(first).start()
    wait_until(lambda: first.run("sacctmgr -n show cluster format=cluster", user="root").out, what="the cluster")
    first.ok("sacctmgr -i add cluster beta", user="root")
    first.ok("sacctmgr -i add account physics cluster=beta", user="root")
    munge = f"AuthInfo=socket={first.dir}/munge/socket\nClusterName=beta\n"
    second = make_cluster(nodes=1, cpus=2, mem=2000, conf=munge)
    second.ok("sacctmgr -i add account chem", user="root")
    second.edit_conf(lambda text: text + dbd.conf())
    second.kill("slurmctld")
    second.up()
    wait_until(lambda: "those of slurmdbd count" in second.log(), 20, 0.1, "the accounts of slurmdbd")
    assert second.ok("sshare -a -n -P -o account", user="root").split() == ["root", "root", "physics"]
    (saved,) = glob.glob(f"{second.dir}/state/accounts-before-slurmdbd-*.cfg")
    assert "'chem'" in open(saved).read()
    second.ok(f"sacctmgr -i load file={saved}", user="root")
    assert book(first, "account where cluster=beta format=account") == ["chem", "physics", "root"]
    assert book(first, "assoc where cluster=sluice format=account") == ["root", "root"]
