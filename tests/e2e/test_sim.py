# SPDX-License-Identifier: Apache-2.0
"""sluice sim as a command: what it prints, writes and refuses. No cluster is needed for most of it."""

import gzip
import json
import os
import re
import subprocess

import pytest
from harness import BIN_ROOT, find_bin_dirs

JOBS = ("; MaxProcs: 4\n"
        "1 0 -1 100 3 -1 -1 3 100 -1 1 7 -1 -1 -1 -1 -1 -1\n"
        "2 1 -1 50 4 -1 -1 4 50 -1 1 8 -1 -1 -1 -1 -1 -1\n"
        "3 2 -1 90 1 -1 -1 1 90 -1 1 8 -1 -1 -1 -1 -1 -1\n"
        "4 3 -1 0 1 -1 -1 1 90 -1 1 8 -1 -1 -1 -1 -1 -1\n")


def sluice_path():
    return os.path.join(find_bin_dirs(BIN_ROOT, ["sluice"])[0], "sluice")


def sim(*words, stdin=""):
    return subprocess.run([sluice_path(), "sim", *words], input=stdin, capture_output=True, text=True, timeout=60)


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.swf"
    path.write_text(JOBS)
    return str(path)


def test_figures_and_notes_of_a_trace(trace):
    result = sim(trace)
    assert result.returncode == 0
    assert f"{trace}: 3 jobs on 4 processors under easy\n" in result.stdout
    assert re.search(r"^  mean wait +33\.0 s$", result.stdout, re.MULTILINE)
    assert re.search(r"^  max wait +99   s$", result.stdout, re.MULTILINE)
    assert result.stderr == "sluice: note: 1 job that never ran, line 5\n"
    assert sim(trace, "-Q").stderr == ""


def test_starts_plot_json_and_users(trace, tmp_path):
    starts, plot = tmp_path / "starts", tmp_path / "plot.svg"
    result = sim(trace, "--policy", "fcfs", "--starts", str(starts), "--plot", str(plot), "--users", "--json")
    assert result.returncode == 0
    assert starts.read_text() == "1 0\n2 100\n3 150\n"
    assert plot.read_text().startswith("<svg ") and plot.read_text().endswith("</svg>\n")
    answer = json.loads(result.stdout)
    assert (answer["policy"], answer["procs"], answer["jobs"], answer["jobs_left_out"]) == ("fcfs", 4, 3, 1)
    assert answer["makespan"] == 240 and answer["max_wait"] == 148
    assert [user["user"] for user in answer["users"]] == ["7", "8"]
    assert answer["notes"] == ["1 job that never ran, line 5"]
    table = sim(trace, "--users", "-Q").stdout
    assert re.search(r"^7 +1 +0\.1 ", table, re.MULTILINE)


def test_standard_input_and_a_generated_trace_written_out(tmp_path):
    assert "3 jobs on 4 processors" in sim("-", stdin=JOBS).stdout
    written = tmp_path / "made.swf"
    made = sim("generate:jobs=200,procs=16", "-Q", "--write", str(written))
    again = sim(str(written), "-Q")
    assert made.returncode == again.returncode == 0
    assert made.stdout.splitlines()[1:] == again.stdout.splitlines()[1:]


@pytest.mark.parametrize("words, sentence", [
    ([], "a trace is wanted; see `sluice sim --help`"),
    (["a", "b"], "one trace at a time; see `sluice sim --help`"),
    (["/nonexistent.swf"], "cannot open /nonexistent.swf: No such file or directory"),
    (["TRACE", "--policy", "magic"], '--policy: there is no policy "magic"; there are fcfs, easy, cons, replan, slurm'),
    (["TRACE", "--order", "x"], "--order=x: one of fcfs, sjf, saf, wfp3, unicef, f1 is wanted"),
    (["TRACE", "--procs", "0"], "--procs=0: a number of processors is wanted"),
    (["TRACE", "--policy", "cons", "--candidates", "shortest"],
     "candidates have an order of their own only under easy; cons looks at all jobs in the queue's order"),
    (["TRACE", "--starts", "/nonexistent/file"], "cannot write /nonexistent/file: No such file or directory"),
    (["generate:jobs=x"], "generate: jobs=x: a number from 1 to 10000000 is wanted"),
    (["generate:jobs=5", "--procs", "3"],
     "a generated trace has its size from procs= and no format: leave out --procs and --format"),
])
def test_what_makes_no_sense_is_said_in_one_sentence(trace, words, sentence):
    result = sim("-Q", *[trace if word == "TRACE" else word for word in words])
    assert result.returncode == 1
    assert result.stderr == f"sluice: error: {sentence}\n"
    assert result.stdout == ""


def test_a_trace_that_is_cut_off_names_the_line(tmp_path):
    path = tmp_path / "cut.swf.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d 0 -1 1 1 -1 -1 1 1 -1 1 1\n" % i for i in range(9999)))[:-3000])
    result = sim(str(path), "--procs", "4")
    assert result.returncode == 1
    assert re.fullmatch(rf"sluice: error: {path}: the gzip data behind line \d+ is cut off\n", result.stderr)


def test_a_machine_of_unknown_size_is_asked_for(trace):
    result = sim("-", stdin=JOBS.replace("; MaxProcs: 4\n", ""))
    assert result.returncode == 1
    assert result.stderr.endswith("sluice: error: - does not say how many processors the machine has: --procs=N\n")


def test_help_names_every_option_of_the_manual():
    page = open(os.path.join(os.path.dirname(__file__), "..", "..", "doc", "man", "sluice-sim.1.scd")).read()
    text = sim("--help").stdout
    options = set(re.findall(r"^  (?:-\w, |    )--([a-z]+)", text, re.MULTILINE))
    assert options and options == set(re.findall(r"^(?:.*\*-\w\*, )?\*--([a-z]+)\*", page, re.MULTILINE)) | {
        "quiet", "help", "version"}


def test_what_our_sacct_prints_can_be_replayed(cluster, work):
    job = cluster.submit("-n 2 -t 10 -o /dev/null --wrap='sleep 1.1'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    columns = "JobIDRaw,JobName,User,Submit,Start,End,ElapsedRaw,Timelimit,ReqTRES,ReqNodes,Partition,QOS,Account"
    rows = cluster.ok(f"sacct -P -j {job} -o {columns}")
    result = sim("-", "--procs", "32", "--json", stdin=rows)
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["jobs"] == 1 and answer["notes"] == [] and answer["mean_wait"] == 0


CONF = ("ClusterName=c\nAuthType=auth/none\nSlurmctldHost=there\nSchedulerType=sched/{scheduler}\n"
        "NodeName=n1 NodeAddr=192.0.2.1 CPUs=4 RealMemory=100\nPartitionName=all Nodes=n1 Default=YES MaxTime=5\n")


def test_a_slurm_conf_is_the_policy(tmp_path):
    trace = tmp_path / "jobs.swf"
    trace.write_text(JOBS.replace("90 1 -1 -1 1 90", "60 1 -1 -1 1 60"))  # whole minutes
    conf = tmp_path / "slurm.conf"
    starts = tmp_path / "starts"
    for scheduler, expected in (("backfill", "1 0\n2 100\n3 2\n"), ("builtin", "1 0\n2 100\n3 150\n")):
        conf.write_text(CONF.format(scheduler=scheduler))
        result = sim(str(trace), "--conf", str(conf), "--starts", str(starts))
        assert result.returncode == 0 and f"3 jobs on 4 processors under {conf}\n" in result.stdout, result
        assert starts.read_text() == expected


def test_what_a_slurm_conf_refuses_is_told(trace, tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text(CONF.format(scheduler="backfill").replace("CPUs=4", "CPUs=3"))
    result = sim(trace, "--conf", str(conf), "--json")
    assert "refused: 1 job (2 of 8): " in result.stderr, result
    assert json.loads(result.stdout)["jobs_refused"] == 1
    assert "--order has no meaning beside --conf" in sim(trace, "--conf", str(conf), "--order", "sjf").stderr
    conf.write_text("PartitionNam=x\n")
    result = sim(trace, "--conf", str(conf))
    assert result.returncode == 1 and f"{conf}:1: error: " in result.stderr, result
    assert result.stderr.count(f"{conf}:1: error: ") == 1, result


def test_a_line_of_slurm_conf_that_is_passed_over_is_named(trace, tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text(CONF.format(scheduler="backfill") + "MailProgg=/usr/bin/mail\n")
    result = sim(trace, "--conf", str(conf))
    assert result.returncode == 0, result
    assert f"{conf}:7: notice: not valid here and without meaning in a replay: passed over\n" in result.stderr, result
    assert sim(trace, "-Q", "--conf", str(conf)).stderr == ""
