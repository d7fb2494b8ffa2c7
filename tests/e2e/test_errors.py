# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind: a clear error, nothing accepted, nothing crashed."""

import os
import random
import re
import socket

import pytest
from harness import wait_until

NUMERIC = ["ntasks", "cpus-per-task", "ntasks-per-node", "mincpus", "cpus-per-gpu", "ntasks-per-core",
           "ntasks-per-socket"]
BAD_NUMBERS = ["0", "-1", "x", "1x", "", " ", "1.5", "999999999999999999999", "\\xff", "0x10"]


@pytest.mark.parametrize("option", NUMERIC)
def test_numbers(cluster, work, option):
    for value in BAD_NUMBERS:
        result = cluster.run(f"sbatch -H --{option}=$'{value}' --wrap=true", cwd=work)
        assert result.rc in (1, 255) and result.out == "", f"--{option}={value!r}: {result}"
        assert result.err.startswith("sbatch: error:"), f"--{option}={value!r}: {result}"


@pytest.mark.parametrize("option, values", [
    ("time", ["", "x", "1:2:3:4", "-", "5m", "1-2-3", "\\xff"]),
    ("mem", ["", "x", "-5", "1.5G", "G", "1X", "\\xff"]),
    ("mem-per-cpu", ["", "x", "-5", "1X"]),
    ("nodes", ["x", "2-1", "1-2-3", "1-", "-", "\\xff"]),
    ("begin", ["", "x", "25:00", "2035-13-01", "now+x", "\\xff"]),
    ("dependency", ["x", "afterok:x", "foo:1", "afterok", "singleton:3"]),
    ("array", ["x", "5-1", "1-5:0", "1-", "100000000", "1-5:x"]),
    ("partition", ["nope", "nope,other", "\\xff"]),
    ("nodelist", ["nope", "n[1-", "n[2-1]", "\\xff"]),
    ("exclude", ["nope"]),
    ("constraint", ["nope", "a&&b", "[a|b"]),
    ("licenses", ["nope", "x:y:z"]),
    ("gres", ["nope", "gpu:9999", "gpu:a:b:c", "\\xff"]),
    ("signal", ["nope", "USR1@x", "99999", "USR1@99999999"]),
    ("distribution", ["nope"]), ("open-mode", ["nope"]), ("mail-type", ["nope"]), ("hint", ["nope"]),
    ("exclusive", ["nope"]), ("nice", ["99999999999", "-5"]), ("deadline", ["x"]), ("tmp", ["x", "-1"]),
    ("reservation", ["nope"]), ("export-file", ["/nonexistent"]),
])
def test_values(cluster, work, option, values):
    for value in values:
        result = cluster.run(f"sbatch --{option}=$'{value}' --wrap=true", cwd=work)
        assert result.rc in (1, 255) and result.out == "", f"--{option}={value!r}: {result}"
        assert "error" in result.err or "Invalid" in result.err, f"--{option}={value!r}: {result}"


def test_impossible_requests_are_refused_at_once(cluster, work):
    for options in ("--mem=99999G", "-c 9", "-N 1 -n 9", "--mem-per-cpu=9000", "--tmp=99T"):
        result = cluster.run(f"sbatch {options} --wrap=true", cwd=work)
        assert result.rc == 1 and "Requested node configuration is not available" in result.err, options
    assert cluster.ok("squeue -h", user="root") == ""


def test_scripts_that_are_none(cluster, work):
    cases = {"empty": b"", "blank": b"  \n\n", "nobang": b"echo x\n", "dos": b"#!/bin/sh\r\necho\r\n",
             "nul": b"#!/bin/sh\necho a\0b\n", "binary": bytes(range(256)) * 50,
             "elf": open("/bin/true", "rb").read(10000)}
    for name, data in cases.items():
        path = os.path.join(work, name)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o755)
        result = cluster.run(f"sbatch {path}", cwd=work)
        assert result.rc == 1 and result.out == "" and result.err.startswith("sbatch: error:"), f"{name}: {result}"


def test_unknown_job_ids_everywhere(cluster):
    for command, rc in (("squeue -j 999999", 1), ("scontrol show job 999999", 1), ("scontrol hold 999999", 1),
                        ("scontrol requeue 999999", 1), ("scontrol update jobid=999999 name=x", 1),
                        ("scancel 999999", 0), ("sacct -j 999999", 0), ("srun --jobid=999999 true", 1)):
        result = cluster.run(command)
        assert result.rc == rc, str(result)


def test_a_users_view_of_admin_commands(cluster):
    node = cluster.node_names()[0]
    for command in (f"scontrol update nodename={node} state=drain reason=x", "scontrol reconfigure",
                    "scontrol shutdown", f"scontrol update partitionname=$(sinfo -h -o %R | head -1) state=down"):
        result = cluster.run(command)
        assert result.rc == 1 and "Invalid user id" in result.err, str(result)
    assert cluster.idle()


def controller_port(cluster):
    return int(re.search(r"SlurmctldPort\s*=\s*(\d+)", cluster.ok("scontrol show config")).group(1))


def node_port(cluster):
    found = re.search(r"Port=(\d+)", cluster.ok(f"scontrol show node {cluster.node_names()[0]}"))
    return int(found.group(1))


@pytest.mark.parametrize("which", [controller_port, node_port])
def test_garbage_on_a_port(cluster, work, which):
    """Random bytes, huge lengths, half-open connections: the daemons go on serving."""
    port = which(cluster)
    generator = random.Random(7)
    pids = [cluster.pid("slurmctld")] + [cluster.pid(f"slurmd-{n}") for n in cluster.node_names()]
    half_open = []
    for round_number in range(150):
        link = socket.create_connection(("127.0.0.1", port), 5)
        kind = round_number % 5
        try:
            if kind == 0:
                link.sendall(generator.randbytes(generator.randrange(1, 5000)))
            elif kind == 1:
                link.sendall(b"\xff\xff\xff\xff" + generator.randbytes(100))
            elif kind == 2:
                link.sendall((100).to_bytes(4, "big") + generator.randbytes(100))
            elif kind == 3:
                half_open.append(link)
                continue
        except OSError:
            pass
        link.close()
    job = cluster.submit("-o /dev/null --wrap=true", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    for link in half_open:
        link.close()
    assert pids == [cluster.pid("slurmctld")] + [cluster.pid(f"slurmd-{n}") for n in cluster.node_names()]


def test_without_a_controller_commands_say_so_quickly(make_cluster, work):
    cluster = make_cluster(nodes=1)
    cluster.kill("slurmctld")
    for command in ("squeue", "sinfo", "sbatch --wrap=true", "srun true", "salloc true", "scontrol show job",
                    "scancel 1"):
        result = cluster.run("timeout 20 " + command, cwd=work)
        assert result.rc not in (0, 124), str(result)
        assert "Unable to contact slurm controller" in result.err, str(result)
    result = cluster.run("scontrol ping")
    assert result.rc == 1 and "is DOWN" in result.out


def test_an_output_file_that_cannot_be_written(cluster, work):
    job = cluster.submit("-o /proc/none/x --wrap='touch ran'", cwd=work)
    assert cluster.wait_end(job) == "FAILED"
    assert cluster.show(f"job {job}")["ExitCode"].strip() == "0:53"
    assert not os.path.exists(os.path.join(work, "ran"))


def test_a_working_directory_that_is_gone(cluster, work):
    job = cluster.submit(f"-D /nonexistent -o {work}/out --wrap=pwd", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    text = open(os.path.join(work, "out")).read()
    assert "going to /tmp instead" in text and text.endswith("/tmp\n")


def test_a_closed_stdout_is_an_error(cluster):
    result = cluster.run("squeue > /dev/full")
    assert result.rc != 0


def test_a_listing_cut_short_is_harmless(cluster, work):
    cluster.submit("-H --array=0-500 --wrap=true", cwd=work)
    assert len(cluster.ok("squeue -h -r | head -2").splitlines()) == 2
    wait_until(lambda: cluster.run("squeue -h").rc == 0)


def test_a_refused_update_names_the_key_and_the_cure(cluster):
    job = cluster.submit("-H -t 10 --wrap=true")
    for change, note, text in [
            ("switches=x", "Switches=x is not understood: it takes a number of switches", "Invalid argument"),
            ("features=nope", "no node has the feature nope", "Invalid feature specification"),
            ("timelimit=-11", "less than the whole limit", "Requested time limit is invalid"),
            ("timemin=20", "the minimum of 20 minutes is above --time=10", "Invalid time-min specification")]:
        refused = cluster.run(f"scontrol update jobid={job} {change}")
        assert refused.rc == 1 and len(refused.err.splitlines()) == 2, str(refused)
        first, second = refused.err.splitlines()
        assert first.startswith("scontrol: note: ") and note in first
        assert second.startswith(text) and second.endswith(f" for job {job}")
    told = cluster.run(f"scontrol update jobid={job} reboot=yes")
    assert told.rc == 0 and told.err == f"job {job}: Reboot=yes is kept, but without effect in this release\n"


def test_a_limit_above_the_partitions_is_told_by_test_only_too(cluster):
    name = cluster.ok("sinfo -h -o %R").split()[0]
    cluster.ok(f"scontrol update partitionname={name} maxtime=60", user="root")
    try:
        tested = cluster.run("sbatch --test-only -t 70 --wrap=true")
    finally:
        cluster.ok(f"scontrol update partitionname={name} maxtime=UNLIMITED", user="root")
    assert tested.rc == 1 and f"partition {name} allows at most --time=01:00:00" in tested.err
