# SPDX-License-Identifier: Apache-2.0
"""salloc: allocations with a command, without a shell, waiting, revoked."""

import os
import signal

import pytest
from harness import wait_until


def test_messages_and_status(cluster, work):
    result = cluster.run("salloc -n 2 sh -c 'echo inside; exit 3'", cwd=work)
    assert result.rc == 3 and result.out == "inside\n"
    assert "salloc: Granted job allocation " in result.err and "salloc: Relinquishing job allocation " in result.err


def test_the_command_gets_the_shape_and_srun_uses_it(cluster, work):
    out = cluster.ok("salloc -Q -N 2 -n 3 sh -c 'echo $SLURM_JOB_NUM_NODES $SLURM_NTASKS; srun sh -c \"echo x\"'", cwd=work)
    assert out == "2 3\nx\nx\nx\n"


def test_no_shell_leaves_the_allocation(cluster, work):
    result = cluster.run("salloc --no-shell -J stays", cwd=work)
    job = result.err.split("allocation ")[1].split()[0]
    assert result.rc == 0 and cluster.state(job) == {"RUNNING"}
    assert cluster.ok(f"srun --jobid={job} echo step", cwd=work) == "step\n"
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"


def test_an_unknown_command_releases_the_allocation(cluster, work):
    result = cluster.run("salloc -J nocmd /nonexistent/x", cwd=work)
    assert result.rc == 1 and 'Unable to find command "/nonexistent/x"' in result.err
    wait_until(lambda: cluster.ok("squeue -h -n nocmd", user="root") == "", 10)


def test_waiting_is_told_and_can_be_interrupted(cluster, work):
    first = cluster.submit("-N 4 --exclusive -o /dev/null --wrap='sleep 1000'", cwd=work)
    cluster.wait_state(first, "RUNNING")
    running = cluster.start("exec salloc -J waits true", cwd=work)
    wait_until(lambda: "PENDING" in cluster.ok("squeue -h -n waits -o %T", user="root"))
    running.signal(signal.SIGINT)
    result = running.wait()
    assert result.rc == 1 and "salloc: Pending job allocation" in result.err
    wait_until(lambda: cluster.ok("squeue -h -n waits", user="root") == "", 10)


def test_cancelling_ends_the_command(cluster, work):
    running = cluster.start("exec salloc -K -J revoked sleep 1000", cwd=work)
    wait_until(lambda: "RUNNING" in cluster.ok("squeue -h -n revoked -o %T", user="root"))
    cluster.ok("scancel -n revoked")
    result = running.wait()
    assert "has been revoked" in result.err


@pytest.mark.slow
def test_killing_salloc_or_srun_frees_the_nodes(cluster, work):
    """What they run may go on, their allocations may not: they are given a minute to come back."""
    allocating = cluster.start("exec salloc -J killed sleep 1000", cwd=work)
    running = cluster.start("exec srun -J killed sh -c 'touch up; sleep 1000'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "up")))
    wait_until(lambda: cluster.ok("squeue -h -n killed -o %T", user="root").split() == ["RUNNING"] * 2)
    allocating.process.kill()
    running.process.kill()
    wait_until(lambda: cluster.ok("squeue -h -n killed", user="root") == "", 80, 0.2)
