# SPDX-License-Identifier: Apache-2.0
"""sluice whatif: a cluster's own history under another configuration."""

import json
import os
import re


def whatif(cluster, arguments):
    return cluster.run(f"sluice whatif {arguments}")


def changed_conf(cluster, work, change):
    """A copy of the cluster's slurm.conf that `change` has edited, with gres.conf beside it."""
    folder = os.path.dirname(cluster.ok("echo $SLURM_CONF").strip())
    for name in ("slurm.conf", "gres.conf"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path) as file:
                text = file.read()
            with open(os.path.join(work, name), "w") as file:
                file.write(change(text) if name == "slurm.conf" else text)
    return os.path.join(work, "slurm.conf")


def test_without_history_it_says_so(make_cluster):
    cluster = make_cluster(nodes=1)
    result = whatif(cluster, "--nodes=+1*n1")
    assert result.rc == 1 and "there is no history to replay" in result.err, result


def test_who_gains_by_more_nodes_and_who_loses_by_fewer(make_cluster, work):
    cluster = make_cluster(nodes=2, cpus=2)
    # Four jobs of a whole node each: two wait for the others to end.
    jobs = [cluster.submit("-N1 -n2 --mem=100 -t 5 -o /dev/null --wrap='sleep 3'", cwd=work) for _ in range(4)]
    for job in jobs:
        cluster.wait_end(job)
    more = json.loads(cluster.ok("sluice whatif --nodes=+2*n1 --json"))
    assert more["before"]["started"] == more["after"]["started"] == 4
    assert more["after"]["mean_wait"] == 0 < more["before"]["mean_wait"]
    assert [group["jobs"] for group in more["users"]] == [4]
    assert len(more["jobs"]) == 2 and {str(job["id"]) for job in more["jobs"]} == set(jobs[2:])
    fewer = whatif(cluster, "--nodes=-n2")
    assert fewer.rc == 0, fewer
    assert re.search(r"mean wait .* \+00:00:0", fewer.out), fewer
    same = whatif(cluster, "--nodes=-n2 --nodes=+1*n1")
    assert same.rc == 0 and "No job starts at another time." in same.out, same


def test_a_configuration_in_which_jobs_can_never_run_names_them(make_cluster, work):
    cluster = make_cluster(nodes=1, cpus=4)
    job = cluster.submit("-W -n4 --mem=100 -t 50 -o /dev/null --wrap=true", cwd=work)
    small = changed_conf(cluster, work, lambda text: text.replace("CPUs=4", "CPUs=2"))
    result = whatif(cluster, f"--conf {small}")
    assert result.rc == 0 and f"refused: 1 job ({job} of " in result.err, result
    assert "1 never start" in result.out, result


def test_a_configuration_with_an_error_is_refused_with_the_line(make_cluster, work):
    cluster = make_cluster(nodes=1)
    wrong = changed_conf(cluster, work, lambda text: "SelectTyp=select/linear\n" + text)
    result = whatif(cluster, f"--conf {wrong}")
    assert result.rc == 1 and f"{wrong}:1: error: " in result.err, result
    assert result.err.count(f"{wrong}:1: error: ") == 1, result
    assert whatif(cluster, "").rc == 1
    assert "there is no node n9" in whatif(cluster, "--nodes=-n9").err
    assert "is not before" in whatif(cluster, "--nodes=-n1 --from=now --to=now-1hour").err
