# SPDX-License-Identifier: Apache-2.0
"""Workload characterisation keys: given to users, named by jobs, told by listings and reports."""

import json

from dbd import make_dbd, wait_delivered  # noqa: F401
from harness import USER, wait_until

WRAP = "-o /dev/null --wrap true"


def admin(cluster, words):
    return cluster.ok(f"sacctmgr -i {words}", user="root")


def keys_of_jobs(cluster, jobs):
    lines = cluster.ok(f"sacct -nPX -j {','.join(map(str, jobs))} -o jobid,wckey,wckeyid").splitlines()
    return {line.split("|")[0]: tuple(line.split("|")[1:]) for line in lines}


def ids_of_keys(cluster, user="root"):
    return dict(line.split("|") for line in
                cluster.ok(f"sacctmgr -nP show wckey user={USER} format=wckey,id", user=user).splitlines())


def submit_each(cluster):
    """One job of the default, one of another key; one that is refused."""
    default = cluster.submit(WRAP, cwd="/tmp")
    named = cluster.submit(f"--wckey=blue {WRAP}", cwd="/tmp")
    done = cluster.run(f"sbatch --wckey=nope {WRAP}", cwd="/tmp")
    assert done.rc == 1 and "Invalid wckey specification" in done.err, str(done)
    assert f"user {USER} may use the wckeys blue, red, and not nope" in done.err, str(done)
    for job in (default, named):
        cluster.wait_state(job, "COMPLETED")
    ids = ids_of_keys(cluster)
    assert keys_of_jobs(cluster, [default, named]) == {default: ("*red", ids["red"]), named: ("blue", ids["blue"])}
    return default, named


def test_jobs_count_for_the_keys_of_their_user(make_cluster):
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf="AccountingStorageEnforce=wckeys\n")
    admin(cluster, "add account physics")
    admin(cluster, f"add user {USER} account=physics wckeys=red,blue")
    default, named = submit_each(cluster)
    assert ids_of_keys(cluster, user=USER) == ids_of_keys(cluster)
    listed = json.loads(cluster.ok("sacctmgr --json show wckey", user="root"))["wckeys"]
    assert [(key["name"], key["user"]) for key in listed] == [("blue", USER), ("red", USER)]
    found = cluster.ok("sacct -nPX -W blue -o jobid").split()
    assert found == [named]
    document = json.loads(cluster.ok(f"sacct --json -j {default}"))["jobs"][0]["wckey"]
    assert document == {"wckey": "red", "flags": ["ASSIGNED_DEFAULT"]}
    held = cluster.submit(f"-H {WRAP}", cwd="/tmp")
    assert cluster.ok(f"squeue -h -j {held} -o %w").strip() == "*red"
    cluster.ok(f"scontrol update jobid={held} wckey=blue")
    assert " WCKey=blue" in cluster.ok(f"scontrol show job {held}")
    done = cluster.run(f"scontrol update jobid={held} wckey=nope")
    assert done.rc == 1 and f"Invalid wckey specification for job {held}" in done.err, str(done)
    cluster.kill("slurmctld")
    cluster.up()
    assert cluster.ok(f"squeue -h -j {held} -o %w").strip() == "blue"
    admin(cluster, f"delete user {USER} wckeys=red")
    done = cluster.run(f"sbatch {WRAP}", cwd="/tmp")
    assert done.rc == 1 and "has no default wckey" in done.err, str(done)
    done = cluster.run("sacctmgr -i add wckey green", user="root")
    assert done.rc == 1 and "wckeys are given to users" in done.err, str(done)
    report = cluster.ok("sreport -nP cluster wckeyutilizationbyuser start=now-1days end=now+1days -t seconds "
                        "format=wckey,login", user="root")
    assert set(report.splitlines()) <= {f"*red|{USER}", f"blue|{USER}"}


def test_slurmdbd_keeps_the_keys_and_the_file_brings_them_back(make_cluster, make_dbd):  # noqa: F811
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=dbd.conf("AccountingStorageEnforce=wckeys\n"))
    dbd.attach(cluster).start()
    wait_until(lambda: "sluice" in cluster.ok("sacctmgr -nP show cluster format=cluster", user="root"), what="the cluster")
    admin(cluster, "add account physics")
    admin(cluster, f"add user {USER} account=physics wckeys=red,blue")
    default, named = submit_each(cluster)
    wait_delivered(cluster)
    ids = ids_of_keys(cluster)
    wait_until(lambda: not cluster.ok("squeue -h"), what="the controller to forget")
    assert keys_of_jobs(cluster, [default, named]) == {default: ("*red", ids["red"]), named: ("blue", ids["blue"])}
    cluster.ok(f"sacctmgr dump sluice file={cluster.dir}/book.cfg", user="root")
    with open(f"{cluster.dir}/book.cfg") as file:
        assert ":DefaultWCKey='red':WCKeys='blue,red':" in file.read()
    admin(cluster, f"delete user {USER} wckeys=red,blue")
    assert ids_of_keys(cluster) == {}
    assert cluster.run(f"sbatch {WRAP}", cwd="/tmp").rc == 1
    admin(cluster, f"load {cluster.dir}/book.cfg")
    assert set(ids_of_keys(cluster)) == {"red", "blue"}
    again = cluster.submit(WRAP, cwd="/tmp")
    cluster.wait_state(again, "COMPLETED")
    assert keys_of_jobs(cluster, [again])[again][0] == "*red"
