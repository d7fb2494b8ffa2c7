# SPDX-License-Identifier: Apache-2.0
"""Usage and fair share: who has used less goes first, and what sshare, sprio and sluice share say of it."""

import json

import pytest
from harness import OTHER, USER, wait_until

CONF = """PriorityType=priority/multifactor
PriorityWeightFairshare=100000
PriorityCalcPeriod=00:00:01
PriorityDecayHalfLife=%s
KillWait=1
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def start(make_cluster):
    def _start(half_life="7-0", **more):
        conf = CONF % half_life + "".join(f"{key}={value}\n" for key, value in more.items())
        cluster = make_cluster(nodes=1, cpus=2, mem=2000, conf=conf)
        cluster.ok("sacctmgr -i add account physics,arts", user="root")
        cluster.ok(f"sacctmgr -i add user {USER} account=physics", user="root")
        cluster.ok(f"sacctmgr -i add user {OTHER} account=arts", user="root")
        return cluster
    return _start


def submit(cluster, command, user=USER, options=""):
    return cluster.submit(f"-o /dev/null {options} --wrap='{command}'", user=user, cwd="/tmp")


def usage(cluster, account):
    out = cluster.ok(f"sshare -anP -A {account} -o rawusage,user", user="root")
    return int(out.splitlines()[0].split("|")[0])


def use(cluster, seconds=3):
    job = submit(cluster, f"sleep {seconds}", options="-n2")
    cluster.wait_end(job)
    return job


def test_the_light_user_goes_first(start):
    cluster = start()
    blocker = submit(cluster, "sleep 600", options="-n2")
    heavy = submit(cluster, "sleep 1", options="-n2")
    light = submit(cluster, "sleep 1", user=OTHER, options="-n2")

    def factors():
        out = cluster.ok("sprio -h -o '%i %F'", user="root")
        return {line.split()[0]: int(line.split()[1]) for line in out.splitlines()}
    wait_until(lambda: factors().get(light) == 100000 and factors()[heavy] < factors()[light])
    # 1 of 3 users (root, USER, OTHER) is last
    assert factors()[heavy] == 33333
    cluster.ok(f"scancel {blocker}")
    cluster.wait_end(heavy)
    cluster.wait_end(light)
    started = {job: cluster.ok(f"sacct -nXP -j {job} -o start").strip() for job in (heavy, light)}
    assert started[light] < started[heavy], started
    said = cluster.ok("sluice share", user=USER)
    assert said.startswith(f"{USER} in account physics: fair share 0.3333, 2 of 3 users go first\n"), said
    assert "account physics: 33.3 % of the shares of root" in said and "over its share" in said
    assert f"most of it by {USER}" in said


def test_usage_outlives_a_killed_controller_and_loses_weight(start):
    cluster = start(half_life="00:00:20")
    job = use(cluster)
    used, elapsed = usage(cluster, "physics"), int(cluster.sacct(f"{job} -X", "ElapsedRaw")[0][0])
    assert elapsed // 2 <= used <= 2 * elapsed + 2, "two CPUs"
    cluster.kill("slurmctld")
    cluster.up()
    wait_until(lambda: 0 < usage(cluster, "physics") <= used)
    wait_until(lambda: usage(cluster, "physics") <= used // 2, timeout=60)


def test_what_was_used_can_be_forgotten_by_an_administrator(start):
    cluster = start(half_life="0")
    use(cluster)
    used = usage(cluster, "root")
    assert used >= 4
    assert cluster.run("sacctmgr -i modify account physics set rawusage=0", user=USER).rc == 1
    refused = cluster.run("sacctmgr -i modify account physics set rawusage=5", user="root")
    assert refused.rc == 1 and "it can be set to 0" in refused.out + refused.err
    assert usage(cluster, "root") == used
    cluster.ok("sacctmgr -i modify account physics set rawusage=0", user="root")
    assert usage(cluster, "root") == usage(cluster, "physics") == 0


def test_columns_json_and_privacy(start):
    cluster = start(half_life="0", PrivateData="accounts,users")
    use(cluster, 1)
    rows = json.loads(cluster.ok("sshare -a --json", user="root"))["shares"]
    assert rows["total_shares"] == 6
    own = next(row for row in rows["shares"] if row["name"] == USER)
    assert own["parent"] == "physics" and own["usage"] > 0 and own["fairshare"]["factor"]["number"] == pytest.approx(1 / 3)
    assert OTHER in cluster.ok("sshare -a", user="root")
    assert OTHER not in cluster.ok("sshare -a", user=USER)
    denied = cluster.run(f"sluice share {OTHER}", user=USER)
    assert denied.rc == 1 and "has no account here that you may see" in denied.err
    assert cluster.ok("sshare -nU -o user").split() == [USER]
    bad = cluster.run("sshare -o nonsense")
    assert bad.rc == 1 and 'Invalid field requested: "nonsense"' in bad.err
