# SPDX-License-Identifier: Apache-2.0
"""strigger: programs that the controller runs when something comes about."""

import os
import re

import pytest
from harness import USER, cluster_of_its_own, wait_until


@pytest.fixture(scope="module")
def own(request):
    with cluster_of_its_own("triggers", nodes=2, cpus=4, mem=2000, conf="KillWait=1\n") as cluster:
        yield cluster


@pytest.fixture
def told(own, tmp_path):
    """A program that writes down what it is called with."""
    program, file = tmp_path / "told.sh", tmp_path / "told"
    program.write_text(f"#!/bin/sh\necho \"$* uid=$(id -u) $SLURM_CLUSTER_NAME\" >> {file}\n")
    os.chmod(program, 0o755)
    for directory in (tmp_path, *list(tmp_path.parents)[:2]):
        os.chmod(directory, 0o755)
    yield str(program), lambda: file.read_text() if file.exists() else ""
    own.run("strigger --clear --user=root", user="root")


def test_events_of_nodes_and_jobs_run_a_program(own, told):
    program, text = told
    node, other = own.node_names()
    job = own.submit("-o /dev/null --wrap 'sleep 1000'", cwd="/tmp")
    own.wait_state(job, "RUNNING")
    own.ok(f"strigger --set -j {job} --fini -p '{program} fini'", user="root")
    own.ok(f"strigger --set --node={other} --down -p '{program} down'", user="root")
    own.ok(f"strigger --set --node --up --flags=PERM -p '{program} up'", user="root")
    shown = own.ok("strigger --get")
    assert re.search(rf"\d+ job +{job} fini +0 root +{program} fini", shown)
    assert re.search(rf"\d+ node +\* up +0 root +PERM +{program} up", shown)
    own.ok(f"scontrol update nodename={other} state=down reason=test", user="root")
    own.ok(f"scancel {job}")
    wait_until(lambda: "down" in text() and "fini" in text(), 20, what="both programs")
    own.ok(f"scontrol update nodename={other} state=resume", user="root")
    wait_until(lambda: "up" in text(), 20, what="the third")
    cluster_name = own.ok("scontrol show config | sed -n 's/^ClusterName *= *//p'").strip()
    assert sorted(text().splitlines()) == sorted(
        [f"fini {job} uid=0 {cluster_name}", f"down {other} uid=0 {cluster_name}", f"up {other} uid=0 {cluster_name}"])
    assert [line.split()[3] for line in own.ok("strigger -N --get").splitlines()] == ["up"]


def test_triggers_are_kept_over_a_crash_which_is_an_event(own, told):
    program, text = told
    own.ok(f"strigger --set --primary_slurmctld_resumed_operation -p {program}", user="root")
    own.ok(f"strigger --set --node --fail --offset=5 -p {program}", user="root")
    before = own.ok("strigger --get").splitlines()
    own.kill("slurmctld")
    own.up()
    wait_until(lambda: "resumed_operation" in text(), 20, what="the program")
    assert own.ok("strigger --get").splitlines() == [before[0]] + [line for line in before if " fail " in line]


def test_what_cannot_be_run_is_logged(own, tmp_path):
    program = tmp_path / "gone.sh"
    program.write_text("#!/bin/sh\nexit 3\n")
    os.chmod(program, 0o755)
    own.ok(f"strigger --set --reconfig -p {program}", user="root")
    own.ok("scontrol reconfigure", user="root")
    wait_until(lambda: f"{program}: exit status 3" in own.log(), 20, what="the line")
    own.ok(f"strigger --set --reconfig -p {program}", user="root")
    os.unlink(program)
    own.ok("scontrol reconfigure", user="root")
    other = rf"{re.escape(str(program))}: (?!exit status 3)"
    wait_until(lambda: re.search(other, own.log()), 20, what="the line")


def test_users_may_look_but_not_set(own, told):
    program, _ = told
    refused = own.run(f"strigger --set --node --down -p {program}", user=USER)
    assert refused.rc == 1 and "slurm_set_trigger: Access/permission denied" in refused.err
    assert own.run("strigger --get", user=USER).rc == 0
