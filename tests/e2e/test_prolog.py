# SPDX-License-Identifier: Apache-2.0
"""Programs of the site around a job: Prolog and Epilog on nodes, PrologSlurmctld and EpilogSlurmctld, and what their
failures do."""

import os
import signal

import pytest
from harness import wait_until

KINDS = ("prolog", "epilog", "cprolog", "cepilog")


class Scripts:
    """The four programs of a cluster: each notes what it sees, waits while a file BLOCK.kind is there, and fails
    while there is a file FAIL.kind."""

    def __init__(self, directory):
        self.dir = str(directory)
        os.chmod(self.dir, 0o777)
        for kind in KINDS:
            self.write(kind, f"""
                echo "$SLURM_JOB_ID ${{SLURMD_NODENAME:-controller}}" >> {self.dir}/began.{kind}
                /usr/bin/env > {self.dir}/env.{kind}.$SLURM_JOB_ID.${{SLURMD_NODENAME:-controller}}
                while [ -e {self.dir}/BLOCK.{kind} ]; do /bin/sleep 0.05; done
                echo "$SLURM_JOB_ID ${{SLURMD_NODENAME:-controller}}" >> {self.dir}/ended.{kind}
                [ ! -e {self.dir}/FAIL.{kind} ]""")

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write("#!/bin/bash\n" + text + "\n")
        os.chmod(self.path(name), 0o755)

    def conf(self, **more):
        lines = [f"Prolog={self.path('prolog')}", f"Epilog={self.path('epilog')}",
                 f"PrologSlurmctld={self.path('cprolog')}", f"EpilogSlurmctld={self.path('cepilog')}", "KillWait=1"]
        return "\n".join(lines + [f"{key}={value}" for key, value in more.items()]) + "\n"

    def touch(self, name):
        with open(self.path(name), "w"):
            pass

    def remove(self, name):
        os.unlink(self.path(name))

    def lines(self, name):
        try:
            with open(self.path(name)) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def env(self, kind, job, node="controller"):
        return dict(line.split("=", 1) for line in self.lines(f"env.{kind}.{job}.{node}") if "=" in line)


@pytest.fixture
def scripts(tmp_path):
    for parent in (tmp_path, *tmp_path.parents):
        if str(parent).startswith("/tmp/"):
            os.chmod(parent, os.stat(parent).st_mode | 0o055)
    return Scripts(tmp_path)


def drained(cluster, node, reason):
    return wait_until(lambda: cluster.show(f"node {node}").get("Reason", "").startswith(reason),
                      what=f"{node} drained: {reason}")


def test_they_run_once_in_order_and_know_the_job(make_cluster, scripts, work):
    cluster = make_cluster(nodes=2, conf=scripts.conf())
    scripts.touch("BLOCK.cprolog")
    job = cluster.submit("-N2 --comment=hello -J named -o out --wrap 'srun -N1 true; srun -N2 true; exit 3'", cwd=work)
    wait_until(lambda: scripts.lines("began.cprolog") == [f"{job} controller"], what="PrologSlurmctld")
    cluster.wait_state(job, "CONFIGURING")
    assert cluster.field(job, "r") == "Prolog"
    assert scripts.lines("began.prolog") == []
    scripts.touch("BLOCK.prolog")
    scripts.remove("BLOCK.cprolog")
    wait_until(lambda: scripts.lines("began.prolog"), what="Prolog")
    cluster.wait_state(job, "CONFIGURING")
    assert not os.path.exists(os.path.join(work, "out"))
    scripts.remove("BLOCK.prolog")
    wait_until(lambda: scripts.lines("ended.prolog"), what="the end of Prolog")
    scripts.touch("BLOCK.epilog")
    wait_until(lambda: len(scripts.lines("began.epilog")) == 2, what="Epilog on both nodes")
    cluster.wait_state(job, "COMPLETING")
    scripts.remove("BLOCK.epilog")
    assert cluster.wait_end(job) == "FAILED"
    nodes = cluster.node_names()
    assert sorted(scripts.lines("ended.prolog")) == [f"{job} {node}" for node in nodes]
    assert sorted(scripts.lines("ended.epilog")) == [f"{job} {node}" for node in nodes]
    wait_until(lambda: scripts.lines("ended.cepilog") == [f"{job} controller"], what="EpilogSlurmctld")
    for kind, context in (("prolog", "prolog_slurmd"), ("epilog", "epilog_slurmd")):
        env = scripts.env(kind, job, nodes[0])
        assert env["SLURM_SCRIPT_CONTEXT"] == context
        assert env["SLURM_JOB_ID"] == env["SLURM_JOBID"] == job
        assert env["SLURM_JOB_UID"] == env["SLURM_UID"] == "7101" and env["SLURM_JOB_USER"] == "sluicet1"
        assert env["SLURMD_NODENAME"] == nodes[0] and env["SLURM_JOB_COMMENT"] == "hello"
        assert env["SLURM_JOB_CPUS_PER_NODE"] == "1(x2)" and env["SLURM_JOB_NUM_NODES"] == "2"
        assert env["SLURM_JOB_WORK_DIR"] == work and env["SLURM_JOB_STDOUT"] == f"{work}/out"
        assert env["SLURM_CONF"] == cluster.env["SLURM_CONF"]
        assert "SLURM_JOB_NAME" not in env
    assert "SLURM_JOB_EXIT_CODE" not in scripts.env("prolog", job, nodes[0])
    assert scripts.env("epilog", job, nodes[0])["SLURM_JOB_EXIT_CODE"] == "768"
    env = scripts.env("cepilog", job)
    assert env["SLURM_JOB_EXIT_CODE2"] == "3:0" and env["SLURM_JOB_NAME"] == "named"
    assert env["SLURM_JOB_GROUP"] == "sluicet1" and "SLURMD_NODENAME" not in env


def test_a_failed_prolog_drains_its_node_and_holds_the_job(make_cluster, scripts, work):
    cluster = make_cluster(nodes=3, conf=scripts.conf())
    scripts.touch("FAIL.prolog")
    first, second, third = cluster.node_names()
    job = cluster.submit(f"-w {first} -o /dev/null --wrap true", cwd=work)
    cluster.wait_reason(job, "launch failed requeued held")
    assert cluster.show(f"job {job}")["Priority"] == "0"
    drained(cluster, first, "Prolog error")
    final = cluster.submit(f"--no-requeue -w {second} -o /dev/null --wrap true", cwd=work)
    assert cluster.wait_end(final) == "CANCELLED"
    drained(cluster, second, "Prolog error")
    result = cluster.run(f"srun -w {third} true", cwd=work)
    assert result.rc != 0 and "Job prolog failed" in result.err and third in result.err, str(result)
    drained(cluster, third, "Prolog error")
    # the Epilog ran on each of them, and the held job runs once all is well again
    wait_until(lambda: len(scripts.lines("ended.epilog")) == 3, what="Epilog")
    scripts.remove("FAIL.prolog")
    cluster.ok(f"scontrol update nodename={first},{second},{third} state=resume", user="root")
    cluster.ok(f"scontrol release {job}", user="root")
    assert cluster.wait_end(job) == "COMPLETED"


def test_a_failed_epilog_drains_its_node_only(make_cluster, scripts, work):
    cluster = make_cluster(nodes=1, conf=scripts.conf())
    scripts.touch("FAIL.epilog")
    job = cluster.submit("-o /dev/null --wrap true", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    drained(cluster, cluster.node_names()[0], "Epilog error")


def test_a_script_that_hangs_is_killed(make_cluster, scripts, work):
    cluster = make_cluster(nodes=1, conf=scripts.conf(PrologTimeout=1, PrologEpilogTimeout=600,
                                                      SchedulerParameters="nohold_on_prolog_fail"))
    scripts.touch("BLOCK.prolog")
    job = cluster.submit("-o /dev/null --wrap true", cwd=work)
    node = cluster.node_names()[0]
    drained(cluster, node, "Prolog error")
    wait_until(lambda: "did not end within 1 s and was killed" in cluster.log(), what="the log")
    assert cluster.show(f"job {job}")["Priority"] != "0"
    scripts.remove("BLOCK.prolog")
    cluster.ok(f"scontrol update nodename={node} state=resume", user="root")
    assert cluster.wait_end(job) == "COMPLETED"


def test_a_restarted_slurmd_goes_on_where_it_was(make_cluster, scripts, work):
    cluster = make_cluster(nodes=1, conf=scripts.conf())
    daemon = "slurmd-" + cluster.node_names()[0]
    scripts.touch("BLOCK.prolog")
    scripts.touch("BLOCK.epilog")
    job = cluster.submit("-o out --wrap 'srun true; echo ran'", cwd=work)
    wait_until(lambda: scripts.lines("began.prolog"), what="Prolog")
    cluster.kill(daemon, signal.SIGKILL)
    cluster.up()
    scripts.remove("BLOCK.prolog")
    wait_until(lambda: scripts.lines("began.epilog"), what="Epilog")
    assert open(os.path.join(work, "out")).read() == "ran\n"
    cluster.kill(daemon, signal.SIGKILL)
    cluster.up()
    scripts.remove("BLOCK.epilog")
    assert cluster.wait_end(job) == "COMPLETED"
    assert len(scripts.lines("began.prolog")) == len(scripts.lines("began.epilog")) == 1
    left = os.path.join(cluster.dir, "spool")
    wait_until(lambda: not [file for top, _, files in os.walk(left) for file in files
                            if os.path.basename(top) == "script"], what="no record left")


def test_with_serial_a_restarted_slurmd_goes_on_one_by_one(make_cluster, scripts, work):
    scripts.write("prolog", f"""
        echo "began $SLURM_JOB_ID" >> {scripts.dir}/order
        while [ -e {scripts.dir}/BLOCK.prolog ]; do /bin/sleep 0.05; done
        /bin/sleep 0.5
        echo "ended $SLURM_JOB_ID" >> {scripts.dir}/order""")
    cluster = make_cluster(nodes=1, conf=scripts.conf(PrologFlags="Serial"))
    daemon = "slurmd-" + cluster.node_names()[0]
    records = os.path.join(cluster.dir, "spool")
    scripts.touch("BLOCK.prolog")
    jobs = [cluster.submit("-n1 --mem=10 --wrap true", cwd=work)]
    wait_until(lambda: scripts.lines("order"), what="Prolog")
    for restart in (True, False):  # one waits for its turn already, one comes later
        jobs.append(cluster.submit("-n1 --mem=10 --wrap true", cwd=work))
        wait_until(lambda: [file for _, _, files in os.walk(records) for file in files
                            if file.startswith(f"{jobs[-1]}.") and file.endswith(".job")], what="the next job")
        if restart:
            cluster.kill(daemon, signal.SIGKILL)
            cluster.up()
    scripts.remove("BLOCK.prolog")
    for job in jobs:
        assert cluster.wait_end(job) == "COMPLETED"
    assert scripts.lines("order") == [f"{what} {job}" for job in jobs for what in ("began", "ended")]


def test_with_alloc_the_owner_waits_until_all_nodes_are_ready(make_cluster, scripts, work):
    cluster = make_cluster(nodes=2, conf=scripts.conf(PrologFlags="Alloc,Serial"))
    scripts.touch("BLOCK.prolog")
    running = cluster.start("salloc -N2 -J owner sh -c 'echo inside; srun -l true'", cwd=work)
    wait_until(lambda: len(scripts.lines("began.prolog")) == 2, what="Prolog on both nodes")
    job = scripts.lines("began.prolog")[0].split()[0]
    cluster.wait_state(job, "CONFIGURING")
    # a controller that is restarted meanwhile asks the nodes again
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    scripts.remove("BLOCK.prolog")
    result = running.wait()
    assert result.rc == 0 and result.out == "inside\n", str(result)
    assert len(scripts.lines("ended.prolog")) == 2
    failing = cluster.node_names()[1]
    scripts.touch("FAIL.prolog")
    result = cluster.run(f"salloc -w {failing} echo inside", cwd=work)
    assert result.rc != 0 and "inside" not in result.out, str(result)
    drained(cluster, failing, "Prolog error")


def test_a_job_that_ends_during_its_prolog(make_cluster, scripts, work):
    cluster = make_cluster(nodes=1, conf=scripts.conf(PrologFlags="Alloc"))
    scripts.touch("BLOCK.prolog")
    job = cluster.submit("-o out --wrap 'echo ran'", cwd=work)
    wait_until(lambda: scripts.lines("began.prolog"), what="Prolog")
    cluster.ok(f"scancel {job}")
    cluster.wait_state(job, "COMPLETING")
    assert scripts.lines("began.epilog") == []
    scripts.remove("BLOCK.prolog")
    assert cluster.wait_end(job) == "CANCELLED"
    assert len(scripts.lines("ended.epilog")) == 1
    assert not os.path.exists(os.path.join(work, "out"))


def test_a_failed_prolog_of_the_controller_requeues(make_cluster, scripts, work):
    cluster = make_cluster(nodes=1, conf=scripts.conf(SchedulerParameters="requeue_delay=1"))
    scripts.touch("FAIL.cprolog")
    job = cluster.submit("-o /dev/null --wrap true", cwd=work)
    wait_until(lambda: int(cluster.show(f"job {job}")["Restarts"]) >= 1, what="requeued")
    result = cluster.run("salloc true", cwd=work)
    assert result.rc != 0 and "PrologSlurmctld failed, job killed" in result.err, str(result)
    assert cluster.show("node " + cluster.node_names()[0]).get("Reason") is None
    scripts.remove("FAIL.cprolog")
    assert cluster.wait_end(job) == "COMPLETED"


def test_a_restarted_controller_runs_its_programs_again(make_cluster, scripts, work):
    cluster = make_cluster(nodes=1, conf=scripts.conf())
    scripts.touch("BLOCK.cprolog")
    job = cluster.submit("-o /dev/null --wrap true", cwd=work)
    wait_until(lambda: scripts.lines("began.cprolog"), what="PrologSlurmctld")
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    wait_until(lambda: len(scripts.lines("began.cprolog")) == 2, what="PrologSlurmctld again")
    scripts.remove("BLOCK.cprolog")
    assert cluster.wait_end(job) == "COMPLETED"


def test_patterns_name_several_programs(make_cluster, scripts, work):
    os.mkdir(scripts.path("prolog.d"))
    for name in ("10-a", "20-b"):
        scripts.write(f"prolog.d/{name}", f"echo {name} >> {scripts.path('order')}")
    scripts.write("last", f"echo last >> {scripts.path('order')}")
    cluster = make_cluster(nodes=1, conf=f"Prolog={scripts.path('prolog.d')}/*\nProlog={scripts.path('last')}\n"
                                         "Epilog=/nonexistent.d/*\n")
    job = cluster.submit("-o /dev/null --wrap true", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    assert scripts.lines("order") == ["20-b", "10-a", "last"]


def test_with_contain_every_job_has_an_extern_step(make_cluster, scripts, work):
    cluster = make_cluster(nodes=2, conf=scripts.conf(PrologFlags="Contain"))
    job = cluster.submit("-N2 -o out --wrap 'srun true; sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: f"{job}.extern" in cluster.ok("squeue -h -s -o %i").split(), what="the extern step")
    # restarting the daemons leaves it alone
    first, second = cluster.node_names()
    cluster.kill(f"slurmd-{first}", signal.SIGKILL)
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    wait_until(lambda: cluster.idle() is False and cluster.state(job) == {"RUNNING"}, what="still running")
    assert len(scripts.lines("began.prolog")) == 2
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"
    rows = {row[0]: row[1:] for row in cluster.sacct(job, "JobID,JobName,State,ExitCode,NNodes")}
    assert rows[f"{job}.extern"] == ["extern", "COMPLETED", "0:0", "2"], rows
    result = cluster.run("srun -w " + second + " true", cwd=work)
    assert result.rc == 0, str(result)


def test_srun_runs_programs_here_around_its_step(make_cluster, scripts, work):
    for name in ("sprolog", "sepilog", "own"):
        scripts.write(name, f"echo \"{name} $SLURM_SCRIPT_CONTEXT $SLURM_STEP_NUM_TASKS $*\" >> {scripts.path('order')}\n"
                            f"[ ! -e {scripts.path('FAIL.' + name)} ]")
    scripts.touch("order")
    os.chmod(scripts.path("order"), 0o666)
    cluster = make_cluster(nodes=1, conf=f"SrunProlog={scripts.path('sprolog')}\nSrunEpilog={scripts.path('sepilog')}\n")
    command = f"srun -n2 sh -c 'echo task >> {scripts.path('order')}' arg"
    cluster.ok(command, cwd=work)
    assert scripts.lines("order") == [f"sprolog prolog_srun 2 sh -c echo task >> {scripts.path('order')} arg", "task",
                                      "task", f"sepilog epilog_srun 2 sh -c echo task >> {scripts.path('order')} arg"]
    cluster.ok(f"srun --prolog={scripts.path('own')} --epilog=none true", cwd=work)
    assert scripts.lines("order")[4:] == ["own prolog_srun 1 true"]
    scripts.touch("FAIL.own")
    result = cluster.run(f"srun --prolog={scripts.path('own')} echo ran", cwd=work)
    assert result.rc == 1 and result.out == "" and "ended with exit status 1" in result.err, str(result)
    scripts.touch("FAIL.sepilog")
    assert cluster.run("srun true", cwd=work).rc == 0


def test_prolog_and_epilog_are_told_the_gpus_of_the_job(make_cluster, scripts, work):
    cluster = make_cluster(nodes=1, gpus="a100:2", conf=scripts.conf())
    node = cluster.node_names()[0]
    first = cluster.submit("--gpus=1 -o /dev/null --wrap 'sleep 1000'", cwd=work)
    cluster.wait_state(first, "RUNNING")
    second = cluster.submit("--gpus=1 -o out --wrap 'echo $SLURM_JOB_GPUS'", cwd=work)
    assert cluster.wait_end(second) == "COMPLETED"
    assert open(os.path.join(work, "out")).read() == "1\n"
    assert scripts.env("prolog", first, node)["SLURM_JOB_GPUS"] == "0"
    for kind in ("prolog", "epilog"):
        wait_until(lambda name=kind: scripts.env(name, second, node), what=kind)
        env = scripts.env(kind, second, node)
        assert env["SLURM_JOB_GPUS"] == "1" and env["CUDA_VISIBLE_DEVICES"], env
    plain = cluster.submit("-o /dev/null --wrap true", cwd=work)
    assert cluster.wait_end(plain) == "COMPLETED"
    assert "SLURM_JOB_GPUS" not in scripts.env("prolog", plain, node)
