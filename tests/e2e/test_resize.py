# SPDX-License-Identifier: Apache-2.0
"""A running job that gives nodes back: its steps, the nodes, the script for its environment, the accounting."""

import os

import pytest
from harness import cluster_of_its_own, wait_until


@pytest.fixture(scope="module")
def wide():
    with cluster_of_its_own("resize", nodes=3, cpus=2) as cluster:
        yield cluster


def script(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def test_a_script_shrinks_its_job_and_goes_on_with_what_is_left(wide, work):
    script(os.path.join(work, "job.sh"), """#!/bin/sh
srun -N3 -n3 -o /dev/null sh -c 'sleep 100 & wait' &
while ! squeue -h -s -j $SLURM_JOB_ID | grep -q "$SLURM_JOB_ID.0"; do sleep 0.05; done
scontrol update JobId=$SLURM_JOB_ID NumNodes=2 || exit 3
srun -N3 true 2> refused && exit 4
. ./slurm_job_${SLURM_JOB_ID}_resize.sh
srun --overlap sh -c 'echo $SLURM_JOB_NODELIST' > steps
touch shrunk
while ! test -e go; do sleep 0.05; done
srun --overlap hostname | wc -l > after
scancel $SLURM_JOB_ID.0
wait
exit 0
""")
    job = wide.submit("-N3 -o out job.sh", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "shrunk")), what="the job to give a node back")
    kept = wide.ok("scontrol show hostlist " + ",".join(wide.node_names()[:2])).strip()
    with open(os.path.join(work, "steps")) as file:
        assert set(file.read().split()) == {kept}
    with open(os.path.join(work, "refused")) as file:
        assert "resize.sh" in file.read()
    given_back = wide.node_names()[2]
    wait_until(lambda: wide.node_state(given_back) == "idle", what="the node to be clean")
    other = wide.submit(f"-w {given_back} -o /dev/null --wrap true", cwd=work)
    assert wide.wait_end(other) == "COMPLETED"
    wide.kill("slurmctld")
    wide.up()
    assert wide.state(job) == {"RUNNING"}
    open(os.path.join(work, "go"), "w").close()
    assert wide.wait_end(job) == "COMPLETED"
    with open(os.path.join(work, "after")) as file:
        assert file.read().strip() == "2"
    rows = wide.ok(f"sacct -X -n -P -j {job} -o state,nnodes").split()
    assert rows == ["RESIZING|3", "COMPLETED|2"]
    large, small = map(int, wide.ok(f"sacct -X -n -P -j {job} -o ncpus").split())
    assert large * 2 == small * 3
