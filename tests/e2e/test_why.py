# SPDX-License-Identifier: Apache-2.0
"""sluice why and --test-only: the facts are those of the cluster, and the advice is true [A34-A41, B06, B38]."""

import datetime
import json
import re

import pytest
from harness import OTHER, USER, wait_until


def why(cluster, job, user=USER):
    return json.loads(cluster.ok(f"sluice why --json {job}", user=user))


def epoch(text):
    return int(datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc).timestamp())


@pytest.fixture
def busy(make_cluster, work):
    """Two nodes held by job 1 for an hour."""
    cluster = make_cluster(nodes=2, cpus=4, mem=4000, gpus="a100:2", conf="""KillWait=1
DefMemPerCPU=10
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=down Nodes=ALL State=DOWN
""")
    cluster.wait_state(cluster.submit("-t 60 -N 2 --exclusive -o /dev/null --wrap='sleep 3600'", cwd=work), "RUNNING")
    return cluster


def test_a_waiting_job_is_told_everything_it_needs_to_know(busy, work):                      # A34, A35, B06, B38
    head = busy.submit("-t 10 -N 2 --exclusive -o /dev/null --wrap=true", cwd=work)
    job = busy.submit("-J mine -t 10 -n 1 --gres=gpu:a100:1 -o /dev/null --wrap=true", cwd=work)
    busy.wait_reason(head, "Resources")
    end = epoch(busy.show("job 1")["EndTime"])
    facts = why(busy, job)
    assert facts["reason"] == "Priority" and facts["ahead_count"] == 1 and facts["ahead"][0]["job"] == head
    assert facts["start"] == {"expected": end + 600, "earliest": facts["start"]["earliest"], "latest": end + 600,
                              "exact": True, "nodes": "n1", "partition": "main"}
    assert facts["held_by"][0]["job"] == "1" and facts["held_by"][0]["time"] == end
    text = busy.ok(f"sluice why {job}")
    for words in ("reason Priority", "It needs 1 node and 1 CPU", "held by job 1 of sluicet1", "1 job is ahead of it",
                  "It is expected to start at", "StartTime=22:00"):
        assert words in text, text
    assert "Resources" in busy.ok(f"sluice why {head}")


def test_each_change_that_is_proposed_starts_the_job_when_it_said(busy, work):                        # A38, A40, A41
    busy.ok("scontrol update nodename=n2 state=drain reason='GPU error'", user="root")
    busy.ok("scontrol update jobid=1 timelimit=60", user="root")
    first = busy.submit("-t 20 -N 1 --exclusive -o /dev/null --wrap='sleep 3600'", cwd=work)
    busy.ok("scancel 1")
    busy.wait_state(first, "RUNNING")
    busy.ok("scontrol update nodename=n2 state=resume", user="root")
    wide = busy.submit("-t 10 -N 2 --exclusive -o /dev/null --wrap=true", cwd=work)
    long = busy.submit("-t 40 -c 2 -o /dev/null --wrap='sleep 60'", cwd=work)
    busy.wait_reason(wide, "Resources")
    facts = why(busy, long)
    assert facts["start"]["expected"] == why(busy, wide)["start"]["expected"] + 600
    best = facts["changes"][0]
    assert best["option"].startswith("--time=") and best["start"] <= facts["now"] + 1
    busy.ok(f"scontrol update jobid={long} {best['update']}")
    busy.wait_state(long, "RUNNING")
    named = busy.submit("-t 5 -w n1 -c 2 -o /dev/null --wrap='sleep 60'", cwd=work)
    best = why(busy, named)["changes"][0]
    assert best["option"] == "no --nodelist" and best["nodes"] == "n2"
    busy.ok(f"scontrol update jobid={named} {best['update']}")
    busy.wait_state(named, "RUNNING")
    assert "No node" not in busy.ok(f"sluice why {wide}")


def test_what_keeps_a_job_and_what_releases_it(busy, work):                                            # A39, A42
    held = busy.submit("-H -t 5 -o /dev/null --wrap=true", cwd=work)
    assert f"scontrol release {held}" in busy.ok(f"sluice why {held}")
    assert "If it were released now" in busy.ok(f"sluice why {held}")
    open_ = busy.submit("-d afterany:1 -t 5 -o /dev/null --wrap=true", cwd=work)
    facts = why(busy, open_)
    assert facts["depends"][0]["job"] == "afterany:1"
    assert facts["start"]["expected"] == epoch(busy.show("job 1")["EndTime"])
    down = busy.submit("-p down -t 5 -o /dev/null --wrap=true", cwd=work)
    text = busy.ok(f"sluice why {down}")
    assert "Its partition is DOWN" in text and "Nobody can say when" in text
    busy.ok("scontrol update nodename=n2 state=drain reason='GPU error'", user="root")
    named = busy.submit("-w n2 -t 5 -o /dev/null --wrap=true", cwd=work)
    text = busy.ok(f"sluice why {named}")
    assert "ReqNodeNotAvail, UnavailableNodes:n2" in text and '"GPU error" by root' in text
    assert "no --nodelist" in text


def test_running_and_ended_jobs_and_those_that_never_were(busy, work):                                # A46
    assert re.search(r"It has run since .*\nIt ends at the latest at .*, its limit\.", busy.ok("sluice why 1"))
    busy.ok("scancel 1")
    assert "It was cancelled by uid" in busy.ok("sluice why 1")
    failed = busy.submit("-o /dev/null --wrap='no-such-command'", cwd=work)
    busy.wait_end(failed)
    assert "127 (a command was not found" in busy.ok(f"sluice why {failed}")
    result = busy.run("sluice why 4711")
    assert result.rc == 1 and re.search(rf"job 4711 is not known here.*your jobs are {failed}", result.err)
    assert "you have no jobs here" in busy.run("sluice why 4711", user=OTHER).err
    assert busy.run("sluice why").rc == 1 and "one job is wanted" in busy.run("sluice why 1 2").err


def test_test_only_is_answered_from_the_whole_queue(busy, work):                                          # A40
    end = epoch(busy.show("job 1")["EndTime"])

    def ask(arguments, command="sbatch", tail="--wrap=true"):
        result = busy.run(f"{command} --test-only {arguments} {tail}", cwd=work)
        found = re.search(command + r": Job (\d+) to start at (\S+) using (\d+) processors on nodes (\S+) in "
                          r"partition main", result.err)
        assert result.rc == 0 and found, str(result)
        return epoch(found.group(2)) - end, found.group(3), found.group(4), result.err

    assert ask("-t 5 -N 2 --exclusive")[:3] == (0, "8", "n[1-2]")
    busy.submit("-t 10 -N 2 --exclusive -o /dev/null --wrap=true", cwd=work)
    busy.submit("-t 10 -N 2 --exclusive -o /dev/null --wrap=true", cwd=work)
    assert ask("-t 5 -n 1")[0] == 1200
    assert ask("-t 5 -n 1", "srun", "true")[0] == 1200
    assert ask("-t 5 -N 2 --exclusive")[0] == 1200
    later = ask("--begin=now+3hours -t 5 -n 1")
    assert later[0] >= 2 * 3600 - 5
    held = ask("-H -t 5 -n 1")
    assert held[0] == 1200 and "it would be held" in held[3]
    after = ask("-d afterany:2 -t 5 -n 1")
    assert after[0] >= 600 and "it would wait for its dependencies" in after[3]
    job = busy.submit("-t 5 -n 1 -o /dev/null --wrap=true", cwd=work)
    wait_until(lambda: why(busy, job)["start"]["expected"] == end + 1200, what="the same start")


def test_a_reservation_in_the_way_is_named_with_the_limit_that_fits(busy, work):                     # A38, A40
    busy.ok("scancel 1")
    busy.wait_end("1")
    busy.ok("scontrol create reservation reservationname=visit users=root starttime=now+1hour duration=60 nodes=ALL",
            user="root")
    job = busy.submit("-t 90 -n 1 -o /dev/null --wrap='sleep 300'", cwd=work)
    wait_until(lambda: why(busy, job)["reservation"], what="the reservation")
    text, facts = busy.ok(f"sluice why {job}"), why(busy, job)
    assert re.search(r"^Reservation visit holds what it needs from \S+ to \S+; a limit of at most \S+ would fit before "
                     r"it begins\.$", text, re.M), text
    assert facts["reservation"].startswith("reservation visit holds what it needs")
    assert facts["start"]["expected"] == epoch(busy.show("reservation visit")["EndTime"])
    busy.ok(f"scontrol update jobid={job} {facts['changes'][0]['update']}")
    busy.wait_state(job, "RUNNING")


def test_a_broken_promise_is_told_with_its_cause(busy, work):
    job = busy.submit("-t 10 -N 2 --exclusive -o /dev/null --wrap=true", cwd=work)
    busy.wait_reason(job, "Resources")
    end = epoch(busy.show("job 1")["EndTime"])
    wait_until(lambda: why(busy, job)["start"]["expected"] == end, what="a start")
    busy.ok("scontrol update nodename=n2 state=drain reason='GPU error'", user="root")
    wait_until(lambda: "delayed" in why(busy, job), what="the delay")
    facts, text = why(busy, job), busy.ok(f"sluice why {job}")
    assert facts["delayed"]["from"] == end and facts["delayed"]["cause"] == "node n2 was drained"
    assert re.search(r"^It had been expected at \S+, now an unknown time: node n2 was drained \(at \S+\)\.$", text, re.M), text


def test_who_goes_for_whom_is_told_to_both(make_cluster, work):                                           # B25
    cluster = make_cluster(nodes=1, cpus=4, mem=4000, conf="""KillWait=2
DefMemPerCPU=10
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 GraceTime=60 State=UP

PartitionName=high Nodes=ALL PriorityTier=10 State=UP
""")
    low = cluster.submit("-n 4 -t 30 -o /dev/null --wrap='trap : TERM; while :; do sleep 1; done'", cwd=work)
    cluster.wait_state(low, "RUNNING")
    high = cluster.submit("-p high -n 4 -t 30 -o /dev/null --wrap='sleep 300'", cwd=work)
    wait_until(lambda: why(cluster, high)["leaving"], what="a victim")
    facts = why(cluster, high)
    assert [row["job"] for row in facts["leaving"]] == [low] and facts["preemption"]
    assert f"job {low} of " in cluster.ok(f"sluice why {high}")
    text = cluster.ok(f"sluice why {low}")
    assert f"It was preempted by job {high} under partition tiers at" in text and "the end of its grace" in text
    assert why(cluster, low)["preempted"]["by"] == int(high)
    cluster.ok(f"scancel {low} -s KILL -b")
    cluster.wait_state(high, "RUNNING")
    assert f"It was preempted by job {high}" in cluster.ok(f"sluice why {low}")
