# SPDX-License-Identifier: Apache-2.0
"""slurm.conf: what is understood, what is refused, how it is changed while running
[B11-B15, B24, B26, B27, B32, A50, A52]."""

import os
import re

from harness import wait_until


def check_file(cluster, text, name="candidate.conf"):
    """slurmctld -t on a variant of the cluster's configuration."""
    path = os.path.join(cluster.dir, name)
    with open(cluster.env["SLURM_CONF"]) as file:
        base = file.read()
    with open(path, "w") as file:
        file.write(text(base) if callable(text) else base + text)
    try:
        return cluster.run(f"slurmctld -t -f {path}", user="root")
    finally:
        os.unlink(path)


def test_its_own_configuration_is_good(cluster):
    assert check_file(cluster, "").rc == 0


def test_every_mistake_is_told_with_line_and_nearest_name(cluster):
    result = check_file(cluster, "SchedulerTyp=sched/backfill\nMinJobAge=soon\n"
                                 "SchedulerParameters=bf_intervall=3\nPartitionName=x Nodes=vmx\n")
    assert result.rc != 0
    text = result.out + result.err
    for word in ("SchedulerTyp", "SchedulerType", "MinJobAge", "soon", "bf_intervall", "bf_interval", "vmx"):
        assert word in text, word
    assert len(re.findall(r"candidate\.conf:\d+", text)) >= 4 or len(re.findall(r"line \d+", text)) >= 4


def test_a_user_that_does_not_exist_is_found_before_the_start(cluster):
    for key in ("SlurmUser", "SlurmdUser"):
        result = check_file(cluster, lambda base: re.sub(rf"(?m)^{key}=.*\n", "", base) + f"{key}=nobody-here\n")
        assert result.rc != 0 and f"{key}=nobody-here: " in result.err, str(result)
        assert "is valid" not in result.out


def test_spaces_continuations_case_and_includes(cluster):
    extra = os.path.join(cluster.dir, "more.conf")
    with open(extra, "w") as file:
        file.write("KILLWAIT = 7\n")
    try:
        result = check_file(cluster, "minjobage = 99  # comment\nSchedulerParameters=bf_continue,\\\nbf_interval=60\n"
                                     f"Include {extra}\n")
        assert result.rc == 0, str(result)
    finally:
        os.unlink(extra)


def test_partition_line_of_the_book(cluster):                                                            # B32
    result = check_file(cluster, "NodeName=c[01-10] CPUs=4 State=UNKNOWN\n"
                                 "PartitionName=comp_sci Nodes=c[01-10] Default=NO MaxTime=INFINITE State=UP\n")
    assert result.rc == 0, str(result)


def test_limits_written_as_people_remember_them(cluster):                                           # B12 - B15
    result = check_file(cluster, "AccountingStorageEnforce = limits\nGrpCPUMins = 10000\nGrpCPUs = 100\nGrpJobs = 10\n")
    assert result.rc == 0, str(result)
    assert "GrpTRESMins" in result.out + result.err


def test_priority_and_preemption_keys(cluster):                                                # B24, B26, B27
    assert check_file(cluster, "PriorityType=priority/multifactor\nPriorityWeightFairshare=100000\n"
                               "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n").rc == 0


def test_reconfigure_takes_changes_and_keeps_jobs(make_cluster, work):
    cluster = make_cluster(nodes=2)
    job = cluster.submit("-o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    cluster.edit_conf(lambda text: text + "MinJobAge=77\nPartitionName=second Nodes=ALL State=UP\n")
    cluster.ok("scontrol reconfigure", user="root")
    assert "second" in cluster.ok("sinfo -h -o %R").split()
    assert re.search(r"MinJobAge\s+= 77 sec", cluster.ok("scontrol show config"))
    assert cluster.state(job) == {"RUNNING"}


def test_a_bad_file_at_reconfigure_changes_nothing(make_cluster, work):
    cluster = make_cluster(nodes=1)
    pid = cluster.pid("slurmctld")
    old = cluster.edit_conf(lambda text: text + "MinJobAge=never\nPartitionName=second Nodes=nosuch State=UP\n")
    result = cluster.run("scontrol reconfigure", user="root")
    assert result.rc == 1 and "MinJobAge" in result.err, str(result)
    assert cluster.pid("slurmctld") == pid and "second" not in cluster.ok("sinfo -h -o %R").split()
    cluster.edit_conf(lambda text: old)
    cluster.ok("scontrol reconfigure", user="root")


def test_a_client_does_not_die_of_a_servers_key(make_cluster):
    cluster = make_cluster(nodes=1)
    old = cluster.edit_conf(lambda text: text + "KeyOfTheFuture=1\n")
    assert cluster.run("sinfo -h").rc == 0
    cluster.edit_conf(lambda text: old)


def test_no_configuration_at_all(cluster):
    result = cluster.run("timeout 10 sinfo", env={"SLURM_CONF": "/nonexistent/slurm.conf"})
    assert result.rc == 1 and "/nonexistent/slurm.conf" in result.err


def test_a_node_smaller_than_configured_drains_itself(make_cluster):                                # A50, A52
    """config_overrides is taken away and the node claims more memory than any machine has."""
    cluster = make_cluster(nodes=1)
    node = cluster.node_names()[0]

    def smaller(text):
        text = re.sub(r"(?im)^SlurmdParameters=.*$", "", text)
        return re.sub(r"RealMemory=\d+", "RealMemory=999999999", text)
    old = cluster.edit_conf(smaller)
    cluster.kill("slurmctld", 15)
    cluster.kill(f"slurmd-{node}", 15)
    cluster.up(check=False)
    wait_until(lambda: cluster.ok(f"sinfo -h -n {node} -o %t").split()[0] in ("inval", "drain"), 20, 0.1)
    assert "Low RealMemory" in cluster.ok(f"scontrol show node {node}")
    cluster.edit_conf(lambda text: old)
    cluster.kill("slurmctld", 15)
    cluster.kill(f"slurmd-{node}", 15)
    cluster.up()
    wait_until(lambda: "inval" not in cluster.ok(f"sinfo -h -n {node} -o %t"), 20, 0.1)
    assert cluster.ok(f"sinfo -h -n {node} -o %t").split()[0] == "drain", "it must not come back by itself"
    cluster.ok(f"scontrol update nodename={node} state=resume", user="root")
    wait_until(cluster.idle, 10)
