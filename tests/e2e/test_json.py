# SPDX-License-Identifier: Apache-2.0
"""--json of the listing commands."""

import json


def test_squeue_json_holds_every_job(cluster, work):
    jobs = [int(cluster.submit("-H -J 'näme \"x\"' --wrap=true", cwd=work)) for _ in range(3)]
    data = json.loads(cluster.ok("squeue --json"))
    assert sorted(job["job_id"] for job in data["jobs"]) == sorted(jobs)
    assert data["jobs"][0]["name"] == 'näme "x"' and data["jobs"][0]["job_state"] == ["PENDING"]
    assert data["errors"] == [] and data["meta"]["slurm"]["release"].startswith("26.05")


def test_sinfo_and_scontrol_json(cluster):
    rows = json.loads(cluster.ok("sinfo --json"))["sinfo"]
    assert [(row["partition"]["name"], row["nodes"]["total"], row["node"]["state"]) for row in rows] == \
        [("main", 4, ["IDLE"])]
    nodes = json.loads(cluster.ok("scontrol show node --json"))["nodes"]
    assert len(nodes) == 4 and nodes[0]["cpus"] == 8
