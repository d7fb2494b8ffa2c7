# SPDX-License-Identifier: Apache-2.0
"""Reservations and maintenance with real daemons: made, shown, used, kept over restarts, ended."""

import json
import signal

import pytest
from harness import OTHER, USER, wait_until

CONF = """KillWait=1
DefMemPerCPU=10
Licenses=matlab:2
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def cluster(make_cluster):
    return make_cluster(nodes=2, cpus=4, mem=4000, conf=CONF)


def text_of(path):
    with open(path) as file:
        return file.read()


def admin(cluster, command):
    return cluster.ok("scontrol " + command, user="root")


def test_a_reservation_is_made_shown_used_and_deleted(cluster, work):
    first, second = cluster.node_names()
    assert admin(cluster, f"create reservation users={USER} starttime=now duration=60 nodes={first}") == \
        f"Reservation created: {USER}_1\n"
    shown = cluster.ok("scontrol show reservation")
    assert f"Nodes={first} NodeCnt=1 CoreCnt=4" in shown and "State=ACTIVE" in shown
    assert json.loads(cluster.ok("scontrol show reservation --json"))["reservations"][0]["name"] == f"{USER}_1"
    assert cluster.ok("sinfo -T -h").split()[:2] == [f"{USER}_1", "ACTIVE"]
    assert json.loads(cluster.ok("sinfo -T --json"))["reservations"][0]["name"] == f"{USER}_1"
    assert cluster.run("timeout 3 sinfo -T -h -i 1").out.count(f"{USER}_1") > 1
    assert cluster.ok(f"sinfo -h -n {first} -o %t").split() == ["resv"]

    inside = cluster.submit(f"--reservation={USER}_1 -t 10 -o inside.out --wrap='env | grep ^SLURM_JOB_RES; sleep 100'",
                            cwd=work)
    cluster.wait_state(inside, "RUNNING")
    assert cluster.field(inside, "N") == first and cluster.field(inside, "v") == f"{USER}_1"
    wait_until(lambda: text_of(f"{work}/inside.out") == f"SLURM_JOB_RESERVATION={USER}_1\n", what="the variable")
    assert cluster.ok(f"squeue -h -R {USER}_1 -o %i").split() == [str(inside)]

    refused = cluster.run(f"sbatch --reservation={USER}_1 --wrap=true", user=OTHER)
    assert refused.rc == 1 and "Access denied to requested reservation" in refused.err
    refused = cluster.run("sbatch --reservation=nope --wrap=true")
    assert refused.rc == 1 and "Requested reservation is invalid" in refused.err
    outside = cluster.submit(f"-w {first} -t 10 -o /dev/null --wrap=true", cwd=work)
    cluster.wait_reason(outside, "ReqNodeNotAvail, May be reserved for other job")
    elsewhere = cluster.submit("-t 10 -o /dev/null --wrap='sleep 100'", cwd=work)
    cluster.wait_state(elsewhere, "RUNNING")
    assert cluster.field(elsewhere, "N") == second

    refused = cluster.run(f"scontrol delete reservationname={USER}_1", user="root")
    assert refused.rc == 1
    assert refused.err == f"delete_reservation reservationname={USER}_1: Requested reservation is in use\n"
    cluster.ok(f"scancel {inside}")
    cluster.wait_end(inside)
    admin(cluster, f"delete reservationname={USER}_1")
    cluster.wait_end(outside)
    assert cluster.ok("sinfo -T") == "No reservations in the system\n"


def test_maintenance_keeps_long_jobs_waiting_and_survives_a_killed_controller(cluster, work):
    admin(cluster, "create reservation reservationname=maint users=root starttime=now+1hour duration=60 nodes=ALL "
                   "flags=maint")
    long_ = cluster.submit("-t 120 -o /dev/null --wrap=true", cwd=work)
    cluster.wait_reason(long_, "ReqNodeNotAvail, Reserved for maintenance")
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    assert "ReservationName=maint" in cluster.ok("scontrol show reservation")
    short = cluster.submit("-t 30 -o /dev/null --wrap=true", cwd=work)
    cluster.wait_end(short)
    cluster.wait_reason(long_, "ReqNodeNotAvail, Reserved for maintenance")
    ends = cluster.ok("scontrol show reservation maint | grep -o 'EndTime=[^ ]*'").strip().split("=")[1]
    wait_until(lambda: cluster.field(long_, "S") == ends, what="the expected start at the end of the maintenance")
    tested = cluster.run("sbatch --test-only -t 120 --wrap=true")
    assert f"to start at {ends[:10]}" in tested.err
    admin(cluster, "delete reservationname=maint")
    cluster.wait_end(long_)


def test_what_is_wrong_with_a_request_is_said_in_the_classic_words(cluster):
    node = cluster.node_names()[0]
    for words, text in {
        "starttime=now duration=60 nodes=ALL": "scontrol: error: Either Users/Groups, AllowedPartitions, QOS and/or "
                                               "Accounts must be specified.  No reservation created.\n",
        f"users={USER} duration=60 nodes=ALL": "scontrol: error: A start time must be given.  No reservation created.\n",
        f"users={USER} starttime=now duration=60 nodes=nope": "Error creating the reservation: Invalid node name "
                                                               "specified\n",
        f"users={USER} starttime=2020-01-01 duration=60 nodes={node}": "Error creating the reservation: Invalid time "
                                                                        "specified\n",
        f"users=nobodyhere starttime=now duration=60 nodes={node}": "Error creating the reservation: Invalid user id\n",
        f"u=nobodyhere starttime=now duration=60 nodes={node}": "Error creating the reservation: Invalid user id\n",
        f"g=nobodyhere starttime=now duration=60 nodes={node}": "Error creating the reservation: Invalid group id\n",
    }.items():
        refused = cluster.run("scontrol create reservation " + words, user="root")
        assert refused.rc == 1 and refused.out == "" and refused.err.startswith(text)
    refused = cluster.run(f"scontrol create reservation users={USER} starttime=now duration=60 nodes={node}")
    assert refused.rc == 1 and refused.err.startswith("Error creating the reservation: Invalid user id\n")


def test_pending_jobs_of_a_reservation_that_has_ended_are_held(cluster, work):
    admin(cluster, f"create reservation reservationname=brief users={USER} starttime=now duration=60 nodes=ALL")
    long_ = cluster.submit("--reservation=brief -t 120 -o /dev/null --wrap=true", cwd=work)
    cluster.wait_reason(long_, "Reservation")
    admin(cluster, "update reservationname=brief endtime=now+2seconds")
    wait_until(lambda: "Reservation brief not found" in cluster.run("scontrol show reservation brief").out,
               what="the end of the reservation")
    cluster.wait_reason(long_, "ReservationDeleted")
    cluster.ok(f"scontrol release {long_}", user="root")
    cluster.wait_end(long_)
