# SPDX-License-Identifier: Apache-2.0
"""Dependencies on jobs that have left the controller: answered from its history, or from slurmdbd's."""

import re

import pytest
from dbd import make_dbd, wait_delivered  # noqa: F401
from harness import USER, cluster_of_its_own, wait_until


def run_and_forget(cluster):
    """A job that succeeds, one that fails, and an array whose second task fails; all have left."""
    submit = [cluster.submit(f"-o /dev/null {words}", cwd="/tmp", user=USER) for words in (
        "-J good --wrap true", "-J bad --wrap 'exit 3'", "-J many -a 1-3 --wrap 'exit $((SLURM_ARRAY_TASK_ID == 2))'")]
    wait_until(lambda: not cluster.ok("squeue -h -t all -o %i", user="root"), 60, 0.2, "the controller has forgotten all")
    return submit


@pytest.fixture(scope="module")
def own(request):
    with cluster_of_its_own("bygone", nodes=1, cpus=8, mem=4000, conf="MinJobAge=1\nKillWait=1\n") as cluster:
        yield cluster


def check(cluster, good, bad, many):
    for words in (f"afterok:{good}", f"afternotok:{bad}", f"afterany:{many}", f"afterok:{many}_3", f"after:{bad}"):
        result = cluster.run(f"sbatch -W -o /dev/null -d {words} --wrap true", cwd="/tmp", timeout=30)
        assert result.rc == 0, (words, str(result))
    never = {f"afterok:{bad}": f"job {bad} (bad) ended FAILED, exit code 3:0",
             f"afterok:{many}": f"job {many}_2 (many) ended FAILED, exit code 1:0"}
    for words, cause in never.items():
        job = cluster.submit(f"-d {words} -o /dev/null --wrap true", cwd="/tmp")
        assert cluster.field(job, "r") == "DependencyNeverSatisfied"
        assert re.search(r"Dependency=afterok:[\d_*]+\(failed\)", cluster.ok(f"scontrol show job {job}"))
        assert cause in cluster.ok(f"sluice why {job}")
        cluster.ok(f"scancel {job}")
    held = cluster.submit("-H -o /dev/null --wrap true", cwd="/tmp")
    cluster.ok(f"scontrol update jobid={held} dependency=afterok:{bad}")
    assert f"Dependency=afterok:{bad}(failed)" in cluster.ok(f"scontrol show job {held}")
    cluster.ok(f"scontrol update jobid={held} dependency=afterok:{good}")
    cluster.ok(f"scontrol release {held}")
    assert cluster.run(f"srun -d afterok:{good} true", timeout=30).rc == 0
    refused = cluster.run("sbatch -d afterok:99999 --wrap true", cwd="/tmp")
    assert refused.rc == 1 and "Job dependency problem" in refused.err and "99999" in refused.err, str(refused)
    return refused


def test_jobs_that_are_gone_are_looked_up_in_the_history(own):
    check(own, *run_and_forget(own))


def test_many_requests_may_ask_at_once(own):
    good, bad, _ = run_and_forget(own)
    lines = "\n".join(f"sbatch -H -d afterok:{good if i % 2 else bad} -o /dev/null --wrap true &" for i in range(20))
    own.ok(f"{lines}\nwait", cwd="/tmp")
    shown = own.ok("squeue -h -o %E")
    assert len(re.findall(r"\(failed\)", shown)) == 10, shown
    own.ok(f"scancel -u {USER}")


def test_jobs_that_only_slurmdbd_knows_are_asked_for_there(make_cluster, make_dbd):  # noqa: F811
    dbd = make_dbd()
    cluster = make_cluster(nodes=1, cpus=8, mem=4000, conf=dbd.conf())
    dbd.attach(cluster).start()
    jobs = run_and_forget(cluster)
    wait_delivered(cluster)
    check(cluster, *jobs)
    dbd.stop()
    refused = cluster.run(f"sbatch -d afterok:{jobs[0]} --wrap true", cwd="/tmp")
    assert refused.rc == 1 and "slurmdbd" in refused.err, str(refused)
    assert cluster.run(f"sbatch -d afterany:{jobs[0]} -o /dev/null --wrap true", cwd="/tmp").rc == 0
