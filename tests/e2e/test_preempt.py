# SPDX-License-Identifier: Apache-2.0
"""Higher tiers take the place of lower ones [B25-B29]."""

import os
import signal

import pytest
from harness import wait_until

COMMON = """KillWait=2
DefMemPerCPU=10
PreemptType=preempt/partition_prio
{settings}
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 State=UP
PartitionName=grace Nodes=ALL PriorityTier=1 GraceTime=20 State=UP
PartitionName=short Nodes=ALL PriorityTier=1 GraceTime=2 State=UP
PartitionName=safe Nodes=ALL PriorityTier=1 PreemptMode=OFF State=UP
PartitionName=high Nodes=ALL PriorityTier=10 State=UP
"""


@pytest.fixture
def tiers(make_cluster):
    def make(settings):
        return make_cluster(nodes=1, cpus=4, mem=4000, conf=COMMON.format(settings=settings))
    return make


def sleeper(cluster, work, partition, output="/dev/null", more=""):
    job = cluster.submit(f"-p {partition} -n 4 -o {output} {more} --wrap='echo began; sleep 300'", cwd=work)
    return job


def test_a_lower_job_is_cancelled_and_told_why(tiers, work):                                         # B25, B27
    cluster = tiers("PreemptMode=CANCEL")
    low = sleeper(cluster, work, "low", "low.out")
    cluster.wait_state(low, "RUNNING")
    wait_until(lambda: os.path.exists(f"{work}/low.out") and "began" in open(f"{work}/low.out").read(), 10)
    high = sleeper(cluster, work, "high")
    cluster.wait_state(high, "RUNNING")
    assert cluster.wait_end(low) == "PREEMPTED"
    wait_until(lambda: "DUE TO PREEMPTION ***" in open(f"{work}/low.out").read(), 10)
    text = cluster.ok(f"scontrol show job {low}")
    assert "JobState=PREEMPTED" in text and "ExitCode=0:0" in text and "PreemptTime=2" in text
    assert f"SystemComment=preempted by job {high} under partition tiers" in text
    assert cluster.sacct(low)[0] == [low, "PREEMPTED", "0:0"]
    assert cluster.ok(f"squeue -h -t all -j {low} -O PreemptTime").strip() != "N/A"


def test_who_is_protected_stays(tiers, work):
    cluster = tiers("PreemptMode=CANCEL")
    safe = sleeper(cluster, work, "safe")
    cluster.wait_state(safe, "RUNNING")
    high = sleeper(cluster, work, "high")
    cluster.wait_reason(high, "Resources")
    assert cluster.state(safe) == {"RUNNING"}


def test_a_requeued_job_comes_before_the_others_again(tiers, work):                                       # B28
    cluster = tiers("PreemptMode=REQUEUE\nPreemptParameters=requeue_head")
    low = sleeper(cluster, work, "low")
    cluster.wait_state(low, "RUNNING")
    other = sleeper(cluster, work, "low")
    high = sleeper(cluster, work, "high")
    cluster.wait_state(high, "RUNNING")
    cluster.wait_state(low, "PENDING")
    assert "Restarts=1" in cluster.ok(f"scontrol show job {low}")
    cluster.ok(f"scancel {high}")
    cluster.wait_state(low, "RUNNING")
    assert cluster.state(other) == {"PENDING"}
    wait_until(lambda: "PREEMPTED" in cluster.ok(f"sacct -n -D -X -P -j {low} -o State"), 10)


def test_grace_survives_a_crash_of_the_controller(tiers, work):
    cluster = tiers("PreemptMode=CANCEL")
    low = cluster.submit("-p short -n 4 -o low.out --wrap='srun -n 1 bash -c "
                         "\"trap echo\\ hint TERM; echo began; while :; do sleep 0.1; done\"'", cwd=work)
    wait_until(lambda: os.path.exists(f"{work}/low.out") and "began" in open(f"{work}/low.out").read(), 10)
    high = sleeper(cluster, work, "high")
    wait_until(lambda: "hint" in open(f"{work}/low.out").read(), 10)
    cluster.wait_reason(high, "Resources")
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    assert cluster.wait_end(low) == "PREEMPTED"
    cluster.wait_state(high, "RUNNING")


def test_whoever_need_not_go_after_all_runs_on(tiers, work):
    cluster = tiers("PreemptMode=CANCEL")
    low = sleeper(cluster, work, "grace", more="-t 10")
    cluster.wait_state(low, "RUNNING")
    end = cluster.field(low, "e")
    high = sleeper(cluster, work, "high")
    wait_until(lambda: cluster.field(low, "e") != end, 10)
    cluster.ok(f"scancel {high}")
    wait_until(lambda: cluster.field(low, "e") == end, 10)
    assert cluster.state(low) == {"RUNNING"}


def state_letters(pid):
    """Of a process and its children, from /proc."""
    letters = ""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if entry == str(pid) or fields[1] == str(pid):
                letters += fields[0]
    return letters


def test_a_suspended_job_stands_still_and_goes_on(tiers, work):                                           # B29
    cluster = tiers("PreemptMode=SUSPEND,GANG\nPreemptParameters=suspend_grace_time=1")
    low = cluster.submit("-p low -n 4 -o low.out --wrap='echo $$; sleep 300'", cwd=work)
    wait_until(lambda: os.path.exists(f"{work}/low.out") and open(f"{work}/low.out").read().strip(), 10)
    pid = int(open(f"{work}/low.out").read().split()[0])
    high = sleeper(cluster, work, "high")
    cluster.wait_state(low, "SUSPENDED")
    cluster.wait_state(high, "RUNNING")
    wait_until(lambda: set(state_letters(pid)) == {"T"}, 10)
    refused = cluster.run(f"scontrol resume {low}", user="root")
    assert refused.rc != 0 and "make room for others" in refused.err
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    assert cluster.state(low) == {"SUSPENDED"}
    cluster.ok(f"scancel {high}")
    cluster.wait_state(low, "RUNNING")
    wait_until(lambda: "T" not in state_letters(pid), 10)


def test_two_jobs_take_turns(make_cluster, work):                                                        # B29
    cluster = make_cluster(nodes=1, cpus=4, mem=4000, conf="""KillWait=2
PreemptMode=GANG
SchedulerTimeSlice=5
PreemptParameters=suspend_grace_time=0
PartitionName=turns Nodes=ALL OverSubscribe=FORCE:2 Default=YES DefMemPerCPU=10 State=UP
""")
    first, second = sleeper(cluster, work, "turns"), sleeper(cluster, work, "turns")
    for runs, stands in ((first, None), (second, first), (first, second)):
        cluster.wait_state(runs, "RUNNING")
        if stands:
            assert cluster.state(stands) == {"SUSPENDED"}
    cluster.ok(f"scancel {first}")
    cluster.wait_state(second, "RUNNING")
