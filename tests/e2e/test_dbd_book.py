# SPDX-License-Identifier: Apache-2.0
"""The accounts of several clusters in slurmdbd: sacctmgr asks it, controllers follow at once or when they are back."""

import glob
import os

from dbd import make_dbd  # noqa: F401
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
    second.kill("slurmctld")
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
    cluster.write_conf("slurm.conf", open(os.path.join(cluster.dir, "etc", "slurm.conf")).read() + dbd.conf())
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
    assert done.rc == 1 and "only administrators" in done.err
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
