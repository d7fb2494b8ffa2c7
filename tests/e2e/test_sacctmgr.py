# SPDX-License-Identifier: Apache-2.0
"""Accounts, users, associations and QOS by sacctmgr, and what jobs get from them."""

import json

import pytest
from harness import OTHER, USER

CONF = """AccountingStorageEnforce=associations,qos
PriorityType=priority/multifactor
PriorityWeightQOS=1000
PreemptType=preempt/qos
PreemptMode=REQUEUE
KillWait=1
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(nodes=1, cpus=2, mem=2000, conf=CONF)


def submit(cluster, options, user=USER):
    return cluster.run(f"sbatch --parsable -o /dev/null {options} --wrap='sleep 300'", user=user, cwd="/tmp")


def admin(cluster, command):
    return cluster.ok(command, user="root")


def test_nobody_runs_without_an_association_and_the_answer_says_what_would_help(cluster):
    done = submit(cluster, "")
    assert done.rc == 1
    assert "Invalid account or account/partition combination specified" in done.err
    assert f"sacctmgr add user {USER} account=NAME" in done.err
    admin(cluster, "sacctmgr -i add account physics")
    out = admin(cluster, f"sacctmgr -i add user {USER} account=physics")
    assert out == (f" Adding User(s)\n  {USER}\n Associations =\n"
                   f"  U = {USER:9} A = physics    C = {cluster.ok('scontrol show config | grep ClusterName').split()[-1]:10.10}\n Non Default Settings\n")
    job = submit(cluster, "").out.strip()
    assert cluster.ok(f"squeue -h -j {job} -o '%a %q'") == "physics normal\n"
    number = admin(cluster, f"sacctmgr -nP show assoc user={USER} format=id").strip()
    qos = admin(cluster, "sacctmgr -nP show qos normal format=id").strip()
    assert cluster.ok(f"sacct -nPX -x 99,{number} -o jobid,associd,qosraw -j {job}") == f"{job}|{number}|{qos}\n"
    assert cluster.ok(f"sacct -nPX -x 99 -o jobid -j {job}") == ""
    assert "Invalid association id: physics" in cluster.run("sacct -x physics").err
    refused = submit(cluster, "-A root")
    assert f"user {USER} may use the account physics, and not root" in refused.err
    refused = submit(cluster, "--qos=high")
    assert "there is no QOS high; there are normal" in refused.err


def test_a_change_is_shown_before_it_is_made_and_silence_is_a_no(cluster):
    def listed():
        return admin(cluster, "sacctmgr -nP show qos format=name").split()
    done = cluster.run("sacctmgr add qos high < /dev/null", user="root")
    assert done.rc == 0 and done.out.endswith("(N/y): \n Changes Discarded\n"), done.out
    assert listed() == ["normal"]
    assert admin(cluster, "echo n | sacctmgr add qos high").endswith(" Changes Discarded\n")
    assert listed() == ["normal"]
    assert "Discarded" not in admin(cluster, "echo y | sacctmgr add qos high")
    assert listed() == ["normal", "high"]
    assert cluster.run("sacctmgr -i add qos high", user="root").rc == 1
    done = cluster.run("sacctmgr -r -i delete qos high", user="root")
    assert done.rc == 1 and listed() == ["normal", "high"]
    admin(cluster, "printf 'add qos third\\nquit\\n' | sacctmgr -i")
    assert listed() == ["normal", "high", "third"]
    assert admin(cluster, "echo show qos $(seq 300) third format=name | sacctmgr -nP") == "sacctmgr: third\nsacctmgr: "
    admin(cluster, "printf 'add qos fourth\\ny\\nquit\\n' | sacctmgr")
    assert listed() == ["normal", "high", "third", "fourth"]


def test_what_was_acknowledged_survives_a_killed_controller(cluster):
    admin(cluster, "sacctmgr -i add account physics description='Physics dept'")
    admin(cluster, "sacctmgr -i add account optics parent=physics fairshare=5")
    admin(cluster, f"sacctmgr -i add user {USER},{OTHER} account=optics maxjobs=3")
    admin(cluster, "sacctmgr -i add qos high priority=10 grptres=cpu=4,mem=2G maxwall=1-0")
    before = [admin(cluster, f"sacctmgr -P show {what}") for what in ("account", "user", "assoc tree", "qos", "cluster")]
    assert "physics|Physics dept|physics" in before[0]
    assert "  optics" in before[2]
    cluster.kill("slurmctld")
    cluster.up()
    assert before == [admin(cluster, f"sacctmgr -P show {what}")
                      for what in ("account", "user", "assoc tree", "qos", "cluster")]


def test_an_urgent_qos_preempts_the_one_that_it_names(cluster):
    admin(cluster, "sacctmgr -i add qos scavenger")
    admin(cluster, "sacctmgr -i add qos urgent priority=100 preempt=scavenger")
    admin(cluster, "sacctmgr -i add account physics qos=normal,scavenger,urgent")
    admin(cluster, f"sacctmgr -i add user {USER} account=physics")
    low = submit(cluster, "-n 2 --qos=scavenger").out.strip()
    cluster.wait_state(low, "RUNNING")
    high = submit(cluster, "-n 2 --qos=urgent").out.strip()
    cluster.wait_state(high, "RUNNING")
    cluster.wait_state(low, "PENDING")
    assert "QOS=urgent" in cluster.ok(f"scontrol show job {high}")
    busy = cluster.run("sacctmgr -i delete qos urgent", user="root")
    assert busy.rc == 1 and "Job(s) active" in busy.err


def test_the_configuration_of_the_accounts_is_shown_without_slurmdbd(cluster):
    out = cluster.ok("sacctmgr show configuration")
    assert "AccountingStorageEnforce" in out and "TrackWCKey" in out
    assert out.endswith("SlurmDBD configuration:\nnone: the controller keeps the accounts itself\n")


def test_accounts_and_users_are_listed_by_what_their_associations_are(cluster):
    admin(cluster, "sacctmgr -i add account physics")
    admin(cluster, "sacctmgr -i add account optics parent=physics")
    admin(cluster, "sacctmgr -i add qos high")
    admin(cluster, f"sacctmgr -i add user {USER} account=optics qos=high,normal")

    def names(words):
        return admin(cluster, f"sacctmgr -nP show {words} format=name").split()
    assert names("account") == ["optics", "physics", "root"]
    assert names("account parent=physics") == ["optics"]
    assert names(f"account user={USER}") == ["optics"]
    assert names("account cluster=elsewhere") == [] == names("user cluster=elsewhere")
    assert names("user qos=high") == [USER] and names("user qos=normal") == ["root", USER]
    assert admin(cluster, "sacctmgr -nP show assoc qos=high format=account,user") == f"optics|{USER}\n"


def test_users_see_and_change_what_they_may(cluster):
    admin(cluster, "sacctmgr -i add account physics")
    admin(cluster, f"sacctmgr -i add user {USER} account=physics")
    denied = cluster.run("sacctmgr -i add account hack", user=USER)
    assert denied.rc == 1 and "Access/permission denied" in denied.err
    assert "hack" not in admin(cluster, "sacctmgr -nP show account")
    admin(cluster, f"sacctmgr -i add coordinator account=physics names={USER}")
    cluster.ok("sacctmgr -i add account lasers parent=physics", user=USER)
    assert "lasers" in cluster.ok("sacctmgr -nP show assoc format=account", user=OTHER)


def test_mistakes_name_what_would_work(cluster):
    def fails(words, *texts):
        done = cluster.run(f"sacctmgr {words}", user="root")
        assert done.rc == 1
        for text in texts:
            assert text in done.err, (text, done.err)
    fails("show foo", "No valid entity in list command", '"QOS"')
    fails("add foo", "No valid entity in add command")
    fails("bogus", "invalid keyword: bogus")
    fails("show qos format=nope", "nope", "PreemptMode")
    fails("-i modify qos normal set priorty=3", "Unknown option: priorty=3", "Did you mean Priority?")
    fails("show qos where color=red", "Unknown condition: color=red")
    fails("-i add user x account=nope", "This account 'nope' doesn't exist.")
    note = cluster.run("sacctmgr -i modify qos normal set limitfactor=2", user="root")
    assert note.rc == 0 and "without effect in this release" in note.err


def test_listings_are_json_in_the_shapes_that_clients_know(make_cluster):
    cluster = make_cluster(nodes=1, conf="GresTypes=gpu")

    def shown(what, key, user="root"):
        document = json.loads(cluster.ok(f"sacctmgr show {what} --json", user=user))
        assert document["errors"] == [] and document["meta"]["slurm"]["cluster"]
        return document[key]

    cluster.ok("sacctmgr -i add qos night priority=7 preempt=normal grptres=cpu=4,gres/gpu=2 maxwall=60 flags=DenyOnLimit "
               "maxjobspu=3 usagefactor=0.5", user="root")
    cluster.ok("sacctmgr -i add account physics description='a \"b\"'", user="root")
    cluster.ok(f"sacctmgr -i add user {USER} account=physics maxjobs=5 fairshare=3 qos=night defaultqos=night", user="root")
    cluster.ok(f"sacctmgr -i add coordinator account=physics names={USER}", user="root")
    qos = {item["name"]: item for item in shown("qos", "qos")}["night"]
    limits = qos["limits"]["max"]
    assert qos["flags"] == ["DenyOnLimit"] and qos["preempt"]["list"] == ["normal"] and qos["priority"]["number"] == 7
    assert qos["usage_factor"]["number"] == 0.5
    assert limits["wall_clock"]["per"]["job"] == {"set": True, "infinite": False, "number": 60}
    assert limits["jobs"]["active_jobs"]["per"]["user"]["number"] == 3
    assert [(item["type"], item["name"], item["count"]) for item in limits["tres"]["total"]] == [("cpu", "", 4), ("gres", "gpu", 2)]
    assert limits["wall_clock"]["per"]["qos"]["set"] is False
    (assoc,) = shown(f"assoc user={USER}", "associations")
    assert assoc["account"] == "physics" and assoc["is_default"] and assoc["shares_raw"] == 3
    assert assoc["max"]["jobs"]["active"]["number"] == 5 and assoc["default"]["qos"] == "night" and assoc["qos"] == ["night"]
    (account,) = shown("account physics", "accounts")
    assert account["description"] == 'a "b"' and account["coordinators"] == [{"name": USER, "direct": True}]
    assert [item["user"] for item in account["associations"]] == ["", USER]
    (user,) = shown(f"user {USER}", "users", USER)
    assert user["default"]["account"] == "physics" and user["administrator_level"] == ["None"]
    assert shown("cluster", "clusters")[0]["associations"]["root"]["account"] == "root"
    assert {"type": "gres", "name": "gpu"}.items() <= shown("tres", "TRES")[-1].items()
    assert cluster.run("sacctmgr show event --json", user="root").rc == 1
