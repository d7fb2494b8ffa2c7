# SPDX-License-Identifier: Apache-2.0
"""job_submit.lua: what a site's filter sees and changes, and what a broken one can do to the controller."""

import os

import pytest
from harness import OTHER, USER, processes_of, wait_until

CONF = """KillWait=1
DefMemPerCPU=10
JobSubmitPlugins=lua
SlurmctldParameters=sluice_job_submit_timeout={timeout},sluice_job_submit_memory=16{settings}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL DefaultTime=10 MaxTime=60 State=UP
"""

SCRIPT = """
calls = 0
function slurm_job_submit(job_desc, part_list, submit_uid)
  calls = calls + 1
  %s
  return slurm.SUCCESS
end
function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  %s
  return slurm.SUCCESS
end
return slurm.SUCCESS
"""


class Filter:
    def __init__(self, cluster):
        self.cluster = cluster
        self.count = 0

    def text(self, text):
        self.count += 1
        self.cluster.write_conf("job_submit.lua", text + f"\n-- {'x' * self.count}\n")

    def submit(self, body, modify=""):
        self.text(SCRIPT % (body, modify))


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(nodes=1, cpus=2, mem=1000, conf=CONF.format(timeout=1, settings=""))
    return cluster, Filter(cluster)


@pytest.fixture
def patient_site(make_cluster):
    """Its filters have time enough for a test to do something meanwhile."""
    cluster = make_cluster(nodes=1, cpus=2, mem=1000, conf=CONF.format(timeout=4, settings=""))
    return cluster, Filter(cluster)


def sbatch(cluster, arguments="", **options):
    return cluster.run(f"sbatch -H -o /dev/null {arguments} --wrap='sleep 60'", cwd="/tmp", **options)


def test_the_filter_changes_a_request_and_the_core_checks_the_result(site, work):
    cluster, filter = site
    filter.submit("""
      if job_desc.time_limit == slurm.NO_VAL then job_desc.time_limit = 30 end
      if job_desc.partition == nil then job_desc.partition = "short" end
      job_desc.comment = job_desc.user_name .. " " .. submit_uid .. " " .. #job_desc.script
      job_desc.environment.SITE = "yes"
      job_desc.min_mem_per_cpu = 20
      slurm.log_user("%s goes to %s", job_desc.name, job_desc.partition)
    """)
    said = sbatch(cluster, "-J one")
    assert said.rc == 0 and said.err == "sbatch: one goes to short\n", str(said)
    shown = cluster.ok("scontrol show job 1")
    for words in ("Partition=short", "TimeLimit=00:30:00", f"Comment={USER} ", "MinMemoryCPU=20M"):
        assert words in shown, shown
    job = cluster.submit("-o out --wrap='echo $SITE'", cwd=work)
    cluster.wait_end(job)
    with open(f"{work}/out", encoding="utf-8") as file:
        assert file.read() == "yes\n"
    filter.submit('job_desc.partition = "nowhere"')
    refused = sbatch(cluster)
    assert refused.rc == 1 and "Invalid partition name specified" in refused.err
    salloc = cluster.run("salloc -J two true")
    assert salloc.rc == 1 and "Invalid partition name specified" in salloc.err


def test_explain_says_who_changed_what(site):
    cluster, filter = site
    filter.submit('job_desc.time_limit = 90; job_desc.partition = "short"')
    said = sbatch(cluster, "--explain -p main")
    assert "sbatch: explain: --time: not given -> 01:30:00 (job_submit.lua)" in said.err, said.err
    assert "sbatch: explain: --partition: main -> short (job_submit.lua)" in said.err
    assert "sbatch: explain: --mem-per-cpu: not given -> 10 (the controller)" in said.err
    assert "explain" not in sbatch(cluster).err


def test_a_refusal_says_why_and_its_code_is_told(site):
    cluster, filter = site
    filter.submit('slurm.log_user("not\\ntoday"); if job_desc.name == "l" then return slurm.ESLURM_INVALID_LICENSES end '
                  "do return slurm.ERROR end")
    said = sbatch(cluster)
    assert said.err == ("sbatch: error: not\nsbatch: error: today\n"
                        "sbatch: error: Batch job submission failed: Unspecified error\n"), said.err
    said = sbatch(cluster, "-J l")
    assert "failed: Invalid license specification" in said.err
    assert sbatch(cluster, "--test-only").rc == 1
    assert cluster.run("squeue -h").out == ""


def test_changes_of_a_job_go_through_the_filter(site):
    cluster, filter = site
    filter.submit("", """
      if job_desc.comment == "no" then slurm.log_user("never"); return slurm.ERROR end
      if job_desc.time_limit ~= slurm.NO_VAL and job_desc.time_limit > 60 then job_desc.time_limit = 60 end
      job_desc.extra = job_rec.user_name .. modify_uid
    """)
    sbatch(cluster)
    refused = cluster.run("scontrol update JobId=1 Comment=no")
    assert refused.rc == 1 and "never" in refused.err, str(refused)
    cluster.ok("scontrol update JobId=1 Comment=yes TimeLimit=5:00:00")
    shown = cluster.ok("scontrol show job 1")
    assert "Comment=yes" in shown and "TimeLimit=01:00:00" in shown and f"Extra={USER}" in shown, shown


def test_a_change_of_several_jobs_is_looked_at_for_each_of_them(site):
    cluster, filter = site
    filter.submit("", 'if job_rec.name == "kept" then return slurm.ERROR end')
    for arguments in ("-J free", "-J kept", "-J kept -a 1-2"):
        assert sbatch(cluster, arguments).rc == 0
    for jobs in ("2", "1,2", "2,1", ",2", "1,3_2", "1,3_[1-2]"):
        assert cluster.run(f"scontrol update JobId={jobs} Comment=x").rc == 1, jobs
    assert "Comment=x" not in cluster.ok("scontrol show job")
    cluster.ok("scontrol update JobId=1,1 Comment=x")
    assert "Comment=x" in cluster.ok("scontrol show job 1")
    filter.submit("", "job_desc.extra = job_rec.name")
    refused = cluster.run("scontrol update JobId=1,2 Comment=y")
    assert refused.rc == 1 and "one by one" in refused.err, str(refused)
    cluster.ok("scontrol update JobId=2,3 Comment=y")
    assert cluster.ok("scontrol show job 3").count("Extra=kept") == 1


def test_why_a_change_was_not_let_through_is_told(site):
    cluster, filter = site
    filter.submit("", "while true do end")
    sbatch(cluster)
    refused = cluster.run("scontrol update JobId=1 Comment=x")
    assert refused.rc == 1 and "ended after" in refused.err, str(refused)


BROKEN = {
    "error": ('error("boom")', "job_submit.lua:5: boom"),
    "table": ("error({})", "an error that is a table"),
    "nil": ("local x = job_desc.nothing.more", "attempt to index a nil value"),
    "type": ('job_desc.time_limit = "soon"', "number expected, got string"),
    "range": ("job_desc.num_tasks = -3", "job_desc.num_tasks: a whole number"),
    "format": ('slurm.log_user("%d", "x")', "number expected, got string"),
    "exit": ("os.exit(0)", "os.exit"),
    "child": ('os.execute("sleep 3 &") os.exit(0)', "os.exit"),
    "kept": ("if kept then return kept.name end kept = job_desc error('keep')", "keep"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_error_lets_pass_and_stands_in_the_log(site, name):
    cluster, filter = site
    body, words = BROKEN[name]
    filter.submit(body)
    assert sbatch(cluster).rc == 0
    wait_until(lambda: words in cluster.log(), what=f"{words} in {cluster.log()}")


def test_an_error_refuses_where_the_site_says_so(make_cluster):
    cluster = make_cluster(nodes=1, cpus=2, mem=1000, conf=CONF.format(timeout=1, settings=",sluice_job_submit_refuse"))
    Filter(cluster).submit('job_desc.time_limit = 3 error("boom")')
    said = sbatch(cluster)
    assert said.rc == 1 and "job_submit.lua:5: boom" in said.err, str(said)


LIMITS = {
    "loop": "while true do end",
    "caught": "while true do pcall(function() while true do end end) end",
    "coroutine": "local c = coroutine.wrap(function() while true do end end) c()",
    "sleep": 'os.execute("sleep 30")',
    "pattern": 'string.find(string.rep("a", 40), string.rep("a?", 40) .. string.rep("a", 40) .. "b")',
    "hookless": "debug.sethook() while true do end",
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_filter_without_end_holds_up_only_who_submits(patient_site, name):
    cluster, filter = patient_site
    begun = os.path.join(cluster.dir, "begun")
    filter.submit(f'if job_desc.name == "slow" then io.open("{begun}", "w"):close() {LIMITS[name]} end')
    slow = cluster.start("sbatch -H -J slow -o /dev/null --wrap=true", cwd="/tmp")
    wait_until(lambda: os.path.exists(begun), what="the filter looks at it")
    assert cluster.run("squeue").rc == 0
    assert slow.process.poll() is None, "squeue is answered while it waits"
    quick = cluster.start("sbatch -H -J quick -o /dev/null --wrap=true", user=OTHER, cwd="/tmp")
    said = slow.wait()
    assert said.rc == 1 and "ended" in said.err, str(said)
    assert quick.wait().rc == 0
    assert cluster.run("squeue -h -o %j").out == "quick\n"


MEMORY = {
    "rep": 'local s = string.rep("x", 1 << 30)',
    "table": "local t = {} while true do t[#t + 1] = {} end",
    "double": 'local s = "x" while true do s = s .. s end',
}


@pytest.mark.parametrize("name", MEMORY)
def test_a_filter_that_takes_too_much_memory_is_ended(site, name):
    cluster, filter = site
    filter.submit(MEMORY[name])
    said = sbatch(cluster)
    assert said.rc == 1 and ("memory" in said.err or "ended after" in said.err), str(said)
    filter.submit("")
    assert sbatch(cluster).rc == 0


def test_it_is_read_again_when_it_has_changed_and_a_broken_one_is_not_taken(site):
    cluster, filter = site
    said = sbatch(cluster)
    assert said.rc == 1 and "job_submit.lua" in said.err and "No such file" in said.err, str(said)
    filter.submit('slurm.log_user("first " .. calls)')
    assert "first 1" in sbatch(cluster).err and "first 2" in sbatch(cluster).err
    filter.text("this is no Lua")
    assert "first 3" in sbatch(cluster).err
    assert "stays at work" in cluster.log() and "job_submit.lua:1" in cluster.log()
    filter.text("function slurm_job_submit() return 0 end")
    assert "first 4" in sbatch(cluster).err and "no function slurm_job_modify" in cluster.log()
    filter.submit('slurm.log_user("second")')
    assert "second" in sbatch(cluster).err


def test_it_sees_jobs_and_partitions(site):
    cluster, filter = site
    sbatch(cluster)
    filter.submit("""
      local n, seen = 0, {}
      for id, job in pairs(slurm.jobs) do n = n + 1; seen[id] = job.name end
      slurm.log_user("%d jobs, 1 is %s, 7 is %s", n, tostring(slurm.jobs[1] and slurm.jobs[1].name), tostring(slurm.jobs[7]))
      local names = {}
      for name, part in pairs(part_list) do names[#names + 1] = name .. "=" .. part.max_time .. "/" .. part.flag_default end
      table.sort(names)
      slurm.log_user(table.concat(names, " "))
      for name, value in pairs(job_desc.environment) do if name == "MARK" then slurm.log_user(value) end end
    """)
    said = sbatch(cluster, "-J größe", env={"MARK": "한국어"})
    assert said.err == ("sbatch: 0 jobs, 1 is nil, 7 is nil\n"
                        "sbatch: main=4294967295/1 short=60/0\nsbatch: 한국어\n"), str(said)
    assert "1 jobs, 1 is größe, 7 is nil" in sbatch(cluster).err


def test_many_who_submit_at_once_all_get_their_answer(site):
    cluster, filter = site
    filter.submit("job_desc.comment = tostring(calls)")
    running = [cluster.start("sbatch -H -o /dev/null --wrap=true", cwd="/tmp") for _ in range(30)]
    assert all(one.wait().rc == 0 for one in running)
    comments = sorted(int(word) for word in cluster.run("squeue -h -O Comment").out.split())
    assert comments == list(range(1, 31))


def test_a_controller_that_dies_takes_its_filter_along(patient_site):
    cluster, filter = patient_site
    begun = os.path.join(cluster.dir, "begun")
    filter.submit(f'if job_desc.name == "slow" then io.open("{begun}", "w"):close() os.execute("sleep 3") end '
                  'slurm.log_user("seen")')
    assert sbatch(cluster).err == "sbatch: seen\n"
    waiting = cluster.start("sbatch -H -J slow -o /dev/null --wrap=true", cwd="/tmp")
    wait_until(lambda: os.path.exists(begun), what="the filter looks at it")
    cluster.kill("slurmctld")
    assert waiting.wait().rc != 0
    cluster.up()
    assert cluster.run("squeue -h -o %j").out == "wrap\n"
    assert sbatch(cluster).err == "sbatch: seen\n"
    wait_until(lambda: sum("--filter" in line for _, line in processes_of(cluster.dir)) == 1)
