# SPDX-License-Identifier: Apache-2.0
"""Why each job waits and when it is expected to start [A34-A39, B37]."""

import re

import pytest
from harness import wait_until

CONF = """KillWait=1
DefMemPerCPU=10
Licenses=matlab:2
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=long Nodes=ALL MaxTime=10 MaxNodes=1 State=UP
PartitionName=shut Nodes=ALL State=DOWN
PartitionName=idle Nodes=ALL State=INACTIVE
"""


def start_times(cluster, *arguments):
    """Job id -> expected start as squeue --start shows it, in its order."""
    lines = cluster.ok("squeue --start -h -o '%i %S' " + " ".join(arguments), user="root").splitlines()
    return dict(line.split() for line in lines)



@pytest.fixture
def waiting(make_cluster):
    return make_cluster(nodes=2, cpus=4, mem=4000, conf=CONF)


def test_every_reason_by_its_exact_name(waiting, work):                              # A34, A35, A38, A39, B37
    nodes = waiting.node_names()

    def submit(arguments):
        return waiting.submit(f"-o /dev/null {arguments}", cwd=work)

    def expect(reasons):
        for job, reason in reasons.items():
            waiting.wait_reason(job, reason)

    running = submit("-t 5 -N 2 --exclusive -L matlab:2 --wrap='sleep 300'")
    waiting.wait_state(running, "RUNNING")
    head = submit("-t 5 -N 2 --exclusive --wrap=true")
    behind = submit("-t 5 -N 2 --exclusive --wrap=true")
    expect({
        head: "Resources",
        behind: "Priority",
        submit("-H --wrap=true"): "JobHeldUser",
        submit(f"-d afterok:{running} --wrap=true"): "Dependency",
        submit("--begin=now+1hour --wrap=true"): "BeginTime",
        submit("-p shut --wrap=true"): "PartitionDown",
        submit("-p long -t 20 --wrap=true"): "PartitionTimeLimit",
        submit("-p long -t 5 -N 2 --wrap=true"): "PartitionNodeLimit",
        submit("-t 5 -L matlab:1 --wrap=true"): "Licenses",
    })
    by_admin = submit("-H --wrap=true")
    waiting.ok(f"scontrol release {by_admin}; scontrol hold {by_admin}", user="root")
    waiting.wait_reason(by_admin, "JobHeldAdmin")
    waiting.ok(f"scancel {running}")
    waiting.ok(f"scontrol update nodename={nodes[0]} state=drain reason=x", user="root")
    named = submit(f"-t 5 -w {nodes[0]} --wrap=true")
    waiting.wait_reason(named, f"ReqNodeNotAvail, UnavailableNodes:{nodes[0]}")
    both = submit("-t 5 -N 2 --wrap=true")
    waiting.wait_reason(both, "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority "
                              "partitions")
    waiting.ok(f"scontrol update nodename={nodes[0]} state=resume", user="root")
    array = submit("-t 5 -a 1-4%1 --wrap='sleep 300'")
    wait_until(lambda: "JobArrayTaskLimit" in waiting.run(f"squeue -h -j {array} -o %r", user="root").out,
               what="the limit of the array")


def test_jobs_without_a_known_start_say_so_and_come_last(waiting, work):
    running = waiting.submit("-t 5 -N 2 --exclusive -o /dev/null --wrap='sleep 300'", cwd=work)
    waiting.wait_state(running, "RUNNING")
    held = waiting.submit("-H -o /dev/null --wrap=true", cwd=work)
    open_ = waiting.submit(f"-d afterok:{running} -o /dev/null --wrap=true", cwd=work)
    later = waiting.submit("--begin=now+10hours -o /dev/null --wrap=true", cwd=work)
    head = waiting.submit("-t 5 -N 2 --exclusive -o /dev/null --wrap=true", cwd=work)
    waiting.wait_reason(head, "Resources")
    starts = start_times(waiting)
    assert list(starts)[:2] == [head, later] and set(list(starts)[2:]) == {held, open_}
    assert starts[held] == starts[open_] == "N/A"
    end = waiting.show(f"job {running}")["EndTime"]
    assert starts[head] == end == waiting.show(f"job {head}")["StartTime"]
    assert waiting.field(head, "Y") == waiting.show(f"job {head}")["SchedNodeList"] != "(null)"
    header, first = waiting.ok("squeue --start", user="root").splitlines()[:2]
    assert header == ("             JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES  "
                      "         NODELIST(REASON)")
    assert first.split()[0] == head and running not in start_times(waiting)
    assert list(start_times(waiting, "-j", f"{held},{head}")) == [head, held]
    assert start_times(waiting, "-p", "long") == {}
    assert start_times(waiting, "-u", "root") == {}


def test_thousands_of_jobs_and_arrays_have_a_reason_and_a_start(waiting, work, script):
    running = waiting.submit("-t 5 -N 2 --exclusive -o /dev/null --wrap='sleep 300'", cwd=work)
    waiting.wait_state(running, "RUNNING")
    batch = script("j.sh", "true\n")
    waiting.ok(f"for i in $(seq 4); do sbatch -t 5 -n $i -a 1-1000 -o /dev/null {batch}; "
               f"sbatch -t $((i + 1)) -p long -n $i -a 1-500%7 -o /dev/null {batch}; done; "
               f"for i in $(seq 60); do sbatch -t 3 -c $((i % 4 + 1)) -o /dev/null {batch} & done; wait", cwd=work,
               timeout=120)
    last = waiting.submit(f"-t 5 -n 3 -o /dev/null {batch}", cwd=work)
    lines = wait_until(lambda: [line.split() for line in
                                waiting.ok("squeue -r -h --start -o '%i %S %r'", user="root").splitlines()],
                       what="the queue")
    assert len(lines) == 4 * 1500 + 61
    assert not [line for line in lines if line[1] == "N/A" or line[2] not in ("Resources", "Priority")]
    assert [line[1] for line in lines] == sorted(line[1] for line in lines)
    assert waiting.show(f"job {last}")["StartTime"] == dict(line[:2] for line in lines)[last]
    assert re.match(r"\d{4}-", waiting.field(last, "S"))
