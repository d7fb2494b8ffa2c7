# SPDX-License-Identifier: Apache-2.0
"""The book as a file (sacctmgr dump, load) and its history (sacctmgr show transactions)."""

import pytest
from harness import OTHER, USER, wait_until


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(nodes=1, cpus=2, mem=2000)


def admin(cluster, command):
    return cluster.ok(command, user="root")


def fill(cluster):
    admin(cluster, "sacctmgr -i add qos low")
    admin(cluster, "sacctmgr -i add qos high preempt=low priority=10 grptres=cpu=4,mem=1536M,gres/gpu=2 usagefactor=0.123456")
    admin(cluster, "sacctmgr -i add account physics description=\"it's physics: optics, lasers = ö\" fairshare=3 maxwall=2-0")
    admin(cluster, "sacctmgr -i add account lasers parent=physics grptresmins=cpu=1000 qos=high,normal")
    admin(cluster, f"sacctmgr -i add user {USER} account=lasers fairshare=parent defaultqos=high")
    admin(cluster, f"sacctmgr -i add user {OTHER} account=physics adminlevel=operator")
    admin(cluster, f"sacctmgr -i add user {OTHER} account=lasers partition=main")
    admin(cluster, f"sacctmgr -i add coordinator account=lasers names={OTHER}")


def listed(cluster):
    return [admin(cluster, f"sacctmgr -nP show {words}") for words in
            ("assoc", "account withcoord", "user withcoord", "qos", "cluster format=cluster,share,qos")]


def name_of(cluster):
    return admin(cluster, "sacctmgr -nP show cluster format=cluster").strip()


def test_a_dump_loads_into_an_empty_book_and_is_the_same_again(cluster, tmp_path):
    fill(cluster)
    before, name, path = listed(cluster), name_of(cluster), tmp_path / "book"
    admin(cluster, f"sacctmgr -Q dump {name} file={path}")
    admin(cluster, "sacctmgr -i delete account physics")
    admin(cluster, f"sacctmgr -i delete user {USER},{OTHER}")
    admin(cluster, "sacctmgr -i delete qos high,low")
    assert listed(cluster) != before
    admin(cluster, f"sacctmgr -i load {path}")
    again = listed(cluster)
    assert again[0].splitlines() == before[0].splitlines()
    assert again[1:3] == before[1:3] and sorted(again[3].splitlines()) == sorted(before[3].splitlines())
    admin(cluster, f"sacctmgr -Q dump {name} file={path}2")
    assert sorted((tmp_path / "book").read_text().splitlines()) == sorted((tmp_path / "book2").read_text().splitlines())
    done = cluster.run(f"sacctmgr -i load {path}", user="root")
    assert done.rc == 0 and done.out.endswith(" Nothing new added.\n")


def test_a_load_is_shown_before_it_is_made_and_is_made_as_a_whole_or_not_at_all(cluster, tmp_path):
    fill(cluster)
    before, name, path = listed(cluster), name_of(cluster), tmp_path / "book"
    path.write_text(f"Cluster - '{name}'\nParent - 'root'\nAccount - 'art':Fairshare=4\n"
                    f"Parent - 'art'\nUser - '{USER}':MaxJobs=4\n")
    done = cluster.run(f"sacctmgr load {path} </dev/null", user="root")
    assert "art" in done.out and "Changes Discarded" in done.out and listed(cluster) == before
    broken = tmp_path / "broken"
    broken.write_text(path.read_text() + "Parent - 'nowhere'\nUser - 'x'\n")
    done = cluster.run(f"sacctmgr -i load {broken}", user="root")
    assert done.rc == 1 and "line(6)" in done.err and listed(cluster) == before
    for text, word in ((f"Cluster - '{name}'\nUser - '{USER}':MaxJobs=-5\n", "MaxJobs"),
                       (f"Cluster - '{name}'\nUser - 'x':MaxJobs=99999999999\n", "MaxJobs"),
                       (f"Cluster - '{name}'\nUser - 'a b':MaxJobs=5\n", "Bad name"),
                       (f"Cluster - '{name}'\nUser - 'x\n", "quote"),
                       (f"Cluster - '{name}'\nAccount - 'physics':Nonsense=1\n", "Unknown option: Nonsense=1"),
                       (f"Cluster - '{name}'\nGroup - 'physics'\n", "Unknown kind Group"),
                       (f"Cluster - '{name}'\nParent - 'lasers'\nAccount - 'physics'\n", "cannot be its own parent"),
                       ("Cluster - 'elsewhere'\n", "elsewhere"), ("", "cluster name first")):
        broken.write_text(text)
        done = cluster.run(f"sacctmgr -i load {broken}", user="root")
        assert done.rc == 1 and word in done.err and listed(cluster) == before, (text, done.err)
    admin(cluster, f"sacctmgr -i load {path}")
    assert f"art|{USER}" in admin(cluster, "sacctmgr -nP show assoc format=account,user")
    admin(cluster, f"sacctmgr -i load clean {path}")
    assert admin(cluster, "sacctmgr -nP show assoc format=account,user") == f"root|\nroot|root\nart|\nart|{USER}\n"
    cluster.kill("slurmctld")
    cluster.up()
    assert admin(cluster, "sacctmgr -nP show assoc format=account,user") == f"root|\nroot|root\nart|\nart|{USER}\n"


def test_a_load_takes_nothing_away_that_jobs_use(cluster, tmp_path):
    fill(cluster)
    name, path = name_of(cluster), tmp_path / "book"
    cluster.ok("sbatch -A lasers -o /dev/null --wrap='sleep 60'", user=USER, cwd="/tmp")
    path.write_text(f"Cluster - '{name}'\nParent - 'root'\nAccount - 'art'\n")
    done = cluster.run(f"sacctmgr -i load clean {path}", user="root")
    assert done.rc == 1 and "Job(s) active" in done.err
    assert "lasers" in admin(cluster, "sacctmgr -nP show account format=account")


def test_who_changed_what_is_listed_and_kept(cluster):
    fill(cluster)
    cluster.ok(f"sacctmgr -i modify user {USER} set maxjobs=7", user=OTHER)
    admin(cluster, f"sacctmgr -i delete user {USER}")

    def rows(words=""):
        return admin(cluster, f"sacctmgr -nP show transactions {words} format=action,actor,where,info").splitlines()
    assert f"Add Accounts|root|physics|Description='it''s physics: optics, lasers = ö', Organization='physics'" in rows()
    assert any(row.startswith(f"Modify Associations|{OTHER}|") and row.endswith("MaxJobs=7") for row in rows())
    assert rows(f"actor={OTHER}") == [row for row in rows() if row.split("|")[1] == OTHER]
    assert rows(f"user={USER} action='Remove Users'") == [f"Remove Users|root|{USER}|"]
    assert rows("start=now+1hour") == [] and rows("end=2020-01-01") == [] and rows("start=now-1hour end=now") == rows()
    before = rows()
    cluster.kill("slurmctld")
    cluster.up()
    assert rows() == before
    done = cluster.run("sacctmgr show transactions start=soonish", user="root")
    assert done.rc == 1 and "soonish" in done.err
    assert admin(cluster, "sacct -n -a -D -S 2020-01-01") == ""


def test_outages_of_nodes_are_listed_with_reason_and_end(cluster):
    def events(words="", fields="nodename,state,reason,user"):
        return admin(cluster, f"sacctmgr -nP show event {words} format={fields}").splitlines()
    node = cluster.node_names()[0]
    assert events() == []
    admin(cluster, f"scontrol update nodename={node} state=drain reason='bad fan'")
    assert events() == [f"{node}|DRAIN|bad fan|root(0)"]
    assert events("onlyopen", "nodename,timeend") == [f"{node}|Unknown"]
    assert events("nodes=elsewhere") == [] and events(f"nodes={node} reason='bad fan'") == events()
    admin(cluster, f"scontrol update nodename={node} state=down reason=broken")
    cluster.kill("slurmctld")
    cluster.up()
    admin(cluster, f"scontrol update nodename={node} state=resume")
    assert [row.split("|")[1:3] for row in events()][:2] == [["DRAIN", "bad fan"], ["DOWN", "broken"]]
    wait_until(lambda: events("onlyopen") == [], what="the node is in service")
    assert "Unknown" not in str(events("", "timeend"))
    assert events("start=now+1hour") == [] and events("all_time") == events()
    done = cluster.run("sacctmgr show event nonsense=1", user="root")
    assert done.rc == 1 and "Unknown condition: nonsense=1" in done.err
