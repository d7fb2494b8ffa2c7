# SPDX-License-Identifier: Apache-2.0
"""scrontab: recurring jobs."""

import os
import re

import pytest
from harness import OTHER, USER, cluster_of_its_own, wait_until


@pytest.fixture(scope="module")
def own(request):
    with cluster_of_its_own("cron", nodes=1, cpus=4, mem=2000,
                            conf="KillWait=1\nScronParameters=enable\n") as cluster:
        # For the last test: its minute passes while the others run.
        cluster.ok("printf 'A=1\\n#SCRON -o /dev/null -D /tmp\\n* * * * * echo run $SLURM_RESTART_COUNT $A $PWD >> "
                   f"ran-$SLURM_CLUSTER_NAME-{os.getpid()}\\n'"
                   " | scrontab", user=OTHER)
        yield cluster


@pytest.fixture
def table(own, work):
    """Sets the crontab of the ordinary user from a text."""
    def set_to(text, user=USER, rc=0):
        path = os.path.join(work, "crontab")
        with open(path, "w") as file:
            file.write(text)
        result = own.run(f"scrontab {path}", user=user)
        assert result.rc == rc, str(result)
        return result
    yield set_to
    own.run("scrontab -r")
    own.run("scancel --me")


def job_of(cluster):
    return cluster.ok("squeue --me -h -O JobID:20,CronJob:8 | awk '$2==\"Yes\" {print $1}'").split()


def test_a_crontab_is_set_shown_and_removed(own, table):
    text = "# mine\nWHO=\"the user\"\n#SCRON -J often -t 5\n#SCRON -o /dev/null\n*/5 * * * * echo $WHO\n@daily true\n"
    table(text)
    assert own.ok("scrontab -l") == text
    jobs = job_of(own)
    assert len(jobs) == 2
    shown = own.ok(f"scontrol show job {jobs[0]}") + own.ok(f"scontrol show job {jobs[1]}")
    assert 'CronJob=Yes CrontabSpec="*/5 * * * *"' in shown and "JobName=often" in shown and "TimeLimit=00:05:00" in shown
    assert "Reason=BeginTime" in shown
    table(text + "@hourly false\n")
    assert set(jobs) < set(job_of(own)) and len(job_of(own)) == 3         # those that stay keep their jobs
    assert own.ok("scrontab -l", user=OTHER) != own.ok("scrontab -l")
    assert own.run(f"scrontab -l -u {USER}", user=OTHER).rc == 1
    assert own.ok(f"scrontab -l -u {USER}", user="root") == text + "@hourly false\n"
    own.ok("scrontab -r")
    assert job_of(own) == [] and "no crontab for" in own.run("scrontab -l").err


def test_what_is_wrong_is_named_with_its_line_and_nothing_changes(own, table):
    table("@daily true\n")
    before = job_of(own)
    for text, says in (("@daily true\n70 * * * * true\n", 'line 2: minute "70"'),
                       ("#SCRON --nosuch\n@daily true\n", "line 1: the options above"),
                       ("#SCRON -t 5\n#SCRON -p nosuch\n@daily true\n", "lines 1-3: partition nosuch"),
                       ("#SCRON --array=1-3\n@daily true\n", "cannot be an array")):
        refused = table(text, rc=1)
        assert says in refused.err and "not changed" in refused.err, str(refused)
    assert own.ok("scrontab -l") == "@daily true\n" and job_of(own) == before


def test_a_cancelled_job_leaves_a_comment(own, table):
    table("@daily true\n@hourly true\n")
    job = job_of(own)[0]
    refused = own.run(f"scontrol update jobid={job} timelimit=5")
    assert refused.rc == 1 and "Cannot modify scrontab jobs through scontrol" in refused.err
    own.ok(f"scancel {job}")
    assert sorted(own.ok("scrontab -l").splitlines())[0].startswith("#DISABLED: @")
    assert len(job_of(own)) == 1


def test_an_editor_may_be_used(own, table, work):
    editor = os.path.join(work, "edit.sh")
    with open(editor, "w") as file:
        file.write("#!/bin/sh\necho '@weekly true' >> $1\n")
    os.chmod(editor, 0o755)
    own.ok("scrontab -e", env={"EDITOR": editor})
    assert own.ok("scrontab -l") == "@weekly true\n"
    own.ok("printf '@yearly true\\n' | scrontab -")
    assert own.ok("scrontab -l") == "@yearly true\n"


def test_where_it_is_not_enabled_it_says_so(cluster):
    refused = cluster.run("echo '@daily true' | scrontab")
    assert refused.rc == 1 and "ScronParameters=enable" in refused.err


def test_a_job_runs_at_its_time_and_comes_again_over_a_restart(own):
    text = own.ok("scrontab -l", user=OTHER)
    job, = own.ok(f"squeue -h -u {OTHER} -o %i").split()
    name = own.ok("scontrol show config | sed -n 's/^ClusterName *= *//p'").strip()
    ran = f"/tmp/ran-{name}-{os.getpid()}"
    wait_until(lambda: os.path.exists(ran), 70, 0.2, "its first run")
    wait_until(lambda: own.field(job, "T") == "PENDING", what="it waits again")
    with open(ran) as file:
        assert re.match(r"run( \d)? 1 /tmp\n", file.read())
    os.unlink(ran)
    assert re.search(r"StartTime=\S+:00 ", own.ok(f"scontrol show job {job}"))
    own.kill("slurmctld")
    own.up()
    assert own.ok(f"squeue -h -u {OTHER} -o %i").split() == [job] and own.ok("scrontab -l", user=OTHER) == text
    own.ok("scrontab -r", user=OTHER)


def test_entries_pass_the_filter_of_the_site(make_cluster):
    cluster = make_cluster(nodes=1, conf="ScronParameters=enable\nJobSubmitPlugins=lua\n")
    cluster.write_conf("job_submit.lua", """
function slurm_job_submit(job_desc, part_list, submit_uid)
  if job_desc.name == "bad" then return slurm.ERROR end
  job_desc.comment = "seen " .. job_desc.name
  return slurm.SUCCESS
end
function slurm_job_modify() return slurm.SUCCESS end
return slurm.SUCCESS
""")
    cluster.ok("printf '@daily good\\n@hourly better\\n' | scrontab")
    assert sorted(cluster.ok("squeue -h -O Comment:30").split("\n")[:2])[0].strip() == "seen better"
    refused = cluster.run("printf '@daily good\\n@hourly bad\\n' | scrontab")
    assert refused.rc == 1 and cluster.ok("scrontab -l") == "@daily good\n@hourly better\n"
