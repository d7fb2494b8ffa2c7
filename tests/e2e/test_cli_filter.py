# SPDX-License-Identifier: Apache-2.0
"""cli_filter.lua: what a site's script sees and changes of the options of sbatch, srun and salloc."""

import json
import time

import pytest

CONF = """KillWait=1
DefMemPerCPU=10
CliFilterPlugins=lua
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=ALL State=UP
"""

SCRIPT = """
function slurm_cli_setup_defaults(options, early) %s return slurm.SUCCESS end
function slurm_cli_pre_submit(options, offset) %s return slurm.SUCCESS end
function slurm_cli_post_submit(offset, job_id, step_id) %s return slurm.SUCCESS end
"""


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(nodes=1, cpus=2, mem=1000, conf=CONF)

    def script(defaults="", pre="", post=""):
        cluster.write_conf("cli_filter.lua", SCRIPT % (defaults, pre, post))
    script()
    return cluster, script


def sbatch(cluster, arguments="", **options):
    return cluster.run(f"sbatch -H -o /dev/null {arguments} --wrap='sleep 60'", cwd="/tmp", **options)


def test_defaults_come_before_what_the_user_says(site):
    cluster, script = site
    script(defaults='options["time"] = "7"; options["comment"] = "site"')
    sbatch(cluster, "--comment=mine")
    shown = cluster.ok("scontrol show job 1")
    assert "TimeLimit=00:07:00" in shown and "Comment=mine" in shown, shown
    sbatch(cluster, env={"SBATCH_TIMELIMIT": "9"})
    shown = cluster.ok("scontrol show job 2")
    assert "TimeLimit=00:09:00" in shown and "Comment=site" in shown, shown


def test_before_the_submission_all_options_are_there_and_can_be_set(site):
    cluster, script = site
    script(pre='slurm.log_info("%s %s %s %s %s", options.type, tostring(options.time), options.hold, options.exclusive or "-", '
               'tostring(options["mem"])); options["partition"] = "other"; options["comment"] = "by " .. #options.argv')
    said = sbatch(cluster, "-t 5")
    assert said.err == "sbatch: lua: sbatch 00:05:00 set - nil\n", said.err
    shown = cluster.ok("scontrol show job 1")
    assert "Partition=other" in shown and "Comment=by " in shown, shown
    assert sbatch(cluster, "-Q").err == ""


def test_a_refusal_ends_the_command(site):
    cluster, script = site
    script(pre='slurm.log_error("say --time"); do return slurm.ERROR end')
    for command in ("sbatch -H --wrap=true", "salloc true", "srun true"):
        said = cluster.run(command, cwd="/tmp")
        name = command.split()[0]
        assert said.rc == 1 and said.err == (f"{name}: error: lua: say --time\n"
                                             f"{name}: error: cli_filter plugin terminated with error\n"), str(said)
    assert cluster.run("squeue -h").out == ""


def test_a_name_that_is_help_is_filtered_as_any(site):
    cluster, script = site
    script(pre='do return slurm.ERROR end')
    for command in ("srun -J help true", "salloc --comment=help true"):
        assert cluster.run(command, cwd="/tmp").rc == 1, command
    assert cluster.run("srun --hint=help").rc == 0


def test_after_the_submission_the_numbers_are_told(site):
    cluster, script = site
    script(post='print(offset, job_id, step_id)')
    assert sbatch(cluster).out == "0\t1\t4294967294\nSubmitted batch job 1\n"
    assert cluster.run("srun true", cwd="/tmp").out == "0\t2\t0\n"
    assert cluster.run("salloc true", cwd="/tmp").out == "0\t3\t4294967294\n"


BROKEN = {
    "error": ('error("boom")', "cli_filter.lua:3: boom"),
    "nil": ("local x = options.nothing.more", "attempt to index a nil value"),
    "unset": ('options["comment"] = nil', "string expected, got nil"),
    "taken": ('options["hold"] = "unset"', "cannot be taken back"),
    "value": ('options["time"] = "soon"', "Invalid --time specification"),
    "unknown": ('options["tyme"] = "1"', "no option --tyme"),
    "code": ("do return 'x' end", "no number"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_script_says_so_and_the_command_goes_on(site, name):
    cluster, script = site
    body, words = BROKEN[name]
    script(pre=body)
    said = sbatch(cluster)
    assert said.rc == 0 and words in said.err, str(said)


def test_no_script_and_one_that_cannot_be_read_end_the_command(site):
    cluster, _ = site
    for text, words in (("nonsense", "cli_filter.lua:1"), ("return 0", "no function slurm_cli_setup_defaults")):
        cluster.write_conf("cli_filter.lua", text)
        said = sbatch(cluster)
        assert said.rc == 1 and words in said.err and "terminated with error" in said.err, str(said)
    cluster.ok(f"rm {cluster.env['SLURM_CONF'].replace('slurm.conf', 'cli_filter.lua')}", user="root")
    assert sbatch(cluster).rc == 1
    assert cluster.run("sbatch --help").rc == 0


@pytest.mark.parametrize("body", ["while true do end", "local t = {} while true do t[#t + 1] = {} end"])
def test_a_script_without_end_is_ended(site, body):
    cluster, script = site
    script(pre=body)
    begin = time.monotonic()
    said = cluster.run("sbatch -H --wrap=true", cwd="/tmp", timeout=60)
    assert said.rc == 1 and "terminated with error" in said.err, str(said)
    assert time.monotonic() - begin < 30


def test_options_as_json(site):
    cluster, script = site
    script(pre='print(slurm.json_cli_options(options)) print(slurm.json_env())')
    said = sbatch(cluster, "--comment='a\"ä'", env={"MARK": 'x"y'})
    options, environment = said.out.split("\n")[:2]
    assert json.loads(options)["comment"] == 'a"ä' and json.loads(options)["hold"] == "set"
    assert json.loads(environment)["MARK"] == 'x"y'
