# SPDX-License-Identifier: Apache-2.0
"""Life of a job as the tables show it [A31-A36, A42, A43, A51, B03, B04, B08, B33-B35]."""

import os
import time

from harness import OTHER, USER, process_is_alive, processes_of, wait_until


def test_the_queue_as_people_print_it(cluster, work):                                               # A31, A32
    running = cluster.submit("-J a-very-long-name-of-a-job -o /dev/null --wrap='sleep 60'", cwd=work)
    held = cluster.submit("-H -J short --wrap=true", cwd=work)
    cluster.wait_state(running, "RUNNING")
    lines = cluster.ok("squeue -S i -u $USER -o '%.10i %.9P %.20j %.8T %.10M %R'").splitlines()
    assert lines[0] == "     JOBID PARTITION                 NAME    STATE       TIME NODELIST(REASON)"
    assert lines[1].startswith(f"{running:>10}") and " a-very-long-name-of-  RUNNING " in lines[1]
    assert lines[2].startswith(f"{held:>10}") and lines[2].endswith(" (JobHeldUser)")


def test_the_default_table_has_its_eight_columns(cluster):                                               # B08
    assert cluster.ok("squeue") == \
        "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


def test_the_partition_table(cluster):                                                                   # B03
    lines = cluster.ok("sinfo").splitlines()
    assert lines[0].split() == ["PARTITION", "AVAIL", "TIMELIMIT", "NODES", "STATE", "NODELIST"]
    assert lines[1].split()[0].endswith("*") and lines[1].split()[3:5] == ["4", "idle"]


def test_the_lines_that_people_grep(cluster, work):                                                      # A33
    job = cluster.submit("-H --wrap=true", cwd=work)
    text = cluster.ok(f"scontrol show job {job}")
    assert "\n   JobState=PENDING Reason=JobHeldUser Dependency=(null)\n" in text
    assert "\n   ReqNodeList=(null) ExcNodeList=(null)\n" in text and "\n   NodeList=" in text


def test_who_waits_for_resources_and_who_for_priority(cluster, work):                               # A34, A35
    first = cluster.submit("-N 4 --exclusive -o /dev/null --wrap='sleep 60'", cwd=work)
    cluster.wait_state(first, "RUNNING")
    head = cluster.submit("-N 4 -o /dev/null --wrap=true", cwd=work)
    behind = cluster.submit("-N 4 -o /dev/null --wrap=true", cwd=work)
    cluster.wait_reason(head, "Resources")
    cluster.wait_reason(behind, "Priority")
    cluster.ok(f"scancel {first}")
    assert cluster.wait_end(head) == "COMPLETED" and cluster.wait_end(behind) == "COMPLETED"


def test_a_drained_node_tells_why_and_since_when(cluster):                                     # A42, A43, A51
    node = cluster.node_names()[1]
    cluster.ok(f"scontrol update NodeName={node} State=DRAIN Reason='GPU error'", user="root")
    try:
        lines = cluster.ok("sinfo -R").splitlines()
        assert lines[0].split() == ["REASON", "USER", "TIMESTAMP", "NODELIST"]
        assert lines[1].startswith("GPU error            root") and lines[1].endswith(node)
        text = cluster.ok(f"scontrol show node {node}")
        assert "State=IDLE+DRAIN " in text and "Reason=GPU error [root@" in text
    finally:
        cluster.ok(f"scontrol update nodename={node} state=resume", user="root")
    wait_until(cluster.idle, 10)
    assert "Reason=" not in cluster.ok(f"scontrol show node {node}")


def test_a_draining_node_finishes_its_job_and_takes_no_other(cluster, work):
    node = cluster.node_names()[0]
    job = cluster.submit(f"-w {node} -o /dev/null --wrap='while ! test -e go; do sleep 0.05; done'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    cluster.ok(f"scontrol update nodename={node} state=drain reason=x", user="root")
    try:
        assert cluster.ok(f"sinfo -h -n {node} -o %T").split()[0] == "draining"
        waiting = cluster.submit(f"-w {node} -o /dev/null --wrap=true", cwd=work)
        wait_until(lambda: cluster.field(waiting, "r").startswith("ReqNodeNotAvail"), 10)
        open(os.path.join(work, "go"), "w").close()
        assert cluster.wait_end(job) == "COMPLETED"
        wait_until(lambda: cluster.ok(f"sinfo -h -n {node} -o %T").split()[0] == "drained", 10)
        assert cluster.state(waiting) == {"PENDING"}
    finally:
        cluster.ok(f"scontrol update nodename={node} state=resume", user="root")
    assert cluster.wait_end(waiting) == "COMPLETED"


def test_the_whole_block_of_a_node(cluster):                                                             # B04
    text = cluster.ok(f"scontrol show node {cluster.node_names()[0]}")
    for word in ("NodeName=", "CPUAlloc=0", "CPUTot=8", "RealMemory=8000", "AllocMem=0", "State=IDLE", "Partitions=",
                 "CfgTRES=cpu=8,mem=8000M", "BootTime=", "SlurmdStartTime="):
        assert word in text, word


def test_requeue_keeps_the_id_and_counts(cluster, work):                                                 # B33
    """A requeued job may start again at once."""
    job = cluster.submit("-o log --open-mode=append --wrap='echo run ${SLURM_RESTART_COUNT-0}; sleep 60'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: "run 0" in open(os.path.join(work, "log")).read(), 10)
    cluster.ok(f"scontrol requeue {job}")
    wait_until(lambda: "run 1" in open(os.path.join(work, "log")).read(), 10)
    shown = cluster.show(f"job {job}")
    assert shown["Restarts"] == "1" and shown["JobState"] == "RUNNING"


def test_hold_and_release_of_a_waiting_job(cluster, work):                                          # B34, B35
    job = cluster.submit("--begin=now+1hour -o /dev/null --wrap=true", cwd=work)
    cluster.ok(f"scontrol hold {job}")
    assert cluster.field(job, "r") == "JobHeldUser" and cluster.show(f"job {job}")["Priority"] == "0"
    cluster.ok(f"scontrol release {job}")
    assert cluster.show(f"job {job}")["Priority"] != "0"
    cluster.ok(f"scontrol update jobid={job} starttime=now")
    assert cluster.wait_end(job) == "COMPLETED"


def test_holding_a_running_job_says_what_it_does(cluster, work):                                         # B34
    job = cluster.submit("-o /dev/null --wrap='sleep 60'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    result = cluster.run(f"scontrol hold {job}")
    assert result.rc == 0 and cluster.state(job) == {"RUNNING"}
    assert "running" in result.err.lower(), "silence would let the user believe that the job is paused"


def test_suspend_stops_and_resume_continues(cluster, work):
    job = cluster.submit("-o log --wrap='while true; do date +%s%N; sleep 0.05; done'", cwd=work)
    log = os.path.join(work, "log")
    wait_until(lambda: os.path.exists(log) and os.path.getsize(log) > 0)
    cluster.ok(f"scontrol suspend {job}", user="root")
    assert cluster.state(job) == {"SUSPENDED"}
    # SIGTSTP comes first, which a script may heed or not; SIGSTOP follows two seconds later.
    def stands_still():
        size = os.path.getsize(log)
        time.sleep(0.5)
        return os.path.getsize(log) == size
    wait_until(stands_still)
    size = os.path.getsize(log)
    cluster.ok(f"scontrol resume {job}", user="root")
    assert cluster.state(job) == {"RUNNING"}
    wait_until(lambda: os.path.getsize(log) > size + 200)


def test_an_owner_pauses_his_job_for_somebody_in_a_hurry(cluster, work):                                     # B36
    job = cluster.submit("-o /dev/null --wrap='sleep 600'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    refused = cluster.run(f"scontrol suspend {job}", user=OTHER)
    assert refused.rc == 1 and cluster.state(job) == {"RUNNING"}
    cluster.ok(f"scontrol suspend {job}")
    told = cluster.ok(f"sluice why {job}")
    assert f"by {USER}; scontrol resume {job} lets it go on" in told and "requeuehold" in told
    cluster.ok(f"scontrol resume {job}")
    assert cluster.state(job) == {"RUNNING"} and "suspended" not in cluster.ok(f"sluice why {job}")
    cluster.ok(f"scancel {job}")


def test_no_process_outlives_its_job(cluster, work):
    body = "setsid sh -c 'echo $$ > pid; trap \"\" TERM HUP; sleep 1000 & sleep 1000' & (sleep 1000 &) ; sleep 1000"
    with open(os.path.join(work, "tree.sh"), "w") as file:
        file.write("#!/bin/bash\n" + body + "\n")
    job = cluster.submit("-o /dev/null tree.sh", cwd=work)
    pid = int(wait_until(lambda: os.path.exists(os.path.join(work, "pid")) and
                         open(os.path.join(work, "pid")).read().strip()))
    assert process_is_alive(pid)
    cluster.ok(f"scancel {job}")
    cluster.wait_end(job)
    assert not process_is_alive(pid)
    assert not [line for _, line in processes_of(cluster.dir) if "sleep" in line]


def test_a_job_that_ends_leaves_no_daemonised_child(cluster, work):
    job = cluster.submit("-o /dev/null --wrap='setsid sleep 1000 & echo $! > pid; exit 0'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    pid = int(open(os.path.join(work, "pid")).read())
    wait_until(lambda: not process_is_alive(pid), 5)


def test_scancel_tries_politely_first(cluster, work, script):
    path = script("trap.sh", "trap 'echo asked; exit 7' TERM\ntouch ready\nwhile true; do sleep 0.05; done\n")
    job = cluster.submit(f"-o out {path}", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "ready")))
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"
    assert "asked" in open(os.path.join(work, "out")).read()


def test_jobs_of_others_can_be_seen_but_not_touched(cluster):
    job = cluster.submit("-D /tmp -H -J private --wrap='echo secret'", user=OTHER)
    assert cluster.field(job, "u") == OTHER
    for command in (f"scontrol hold {job}", f"scontrol release {job}", f"scontrol requeue {job}",
                    f"scontrol update jobid={job} name=x", f"scancel {job}"):
        result = cluster.run(command)
        assert result.rc != 0 and result.err, command
    assert "secret" not in cluster.run(f"scontrol write batch_script {job} -").out
    assert "secret" not in cluster.run(f"scontrol -d show job {job}").out
    assert cluster.state(job) == {"PENDING"}


def test_dependencies_are_kept_in_order(cluster, work):
    first = cluster.submit("-o /dev/null --wrap='while ! test -e go; do sleep 0.05; done; exit 1'", cwd=work)
    ok = cluster.submit(f"-d afterok:{first} -o /dev/null --wrap=true", cwd=work)
    notok = cluster.submit(f"-d afternotok:{first} -o /dev/null --wrap=true", cwd=work)
    anyway = cluster.submit(f"-d afterany:{first} -o /dev/null --wrap=true", cwd=work)
    cluster.wait_reason(ok, "Dependency")
    open(os.path.join(work, "go"), "w").close()
    assert cluster.wait_end(first) == "FAILED"
    assert cluster.wait_end(notok) == "COMPLETED" and cluster.wait_end(anyway) == "COMPLETED"
    cluster.wait_reason(ok, "DependencyNeverSatisfied")
