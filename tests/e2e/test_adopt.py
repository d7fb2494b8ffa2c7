# SPDX-License-Identifier: Apache-2.0
"""Logins become part of their user's job (sluice adopt), or are refused."""

import os
import pwd
import shutil
import subprocess

import pytest
from harness import BIN_ROOT, OTHER, USER, processes, wait_until, words_of


@pytest.fixture
def contained(make_cluster):
    return make_cluster(nodes=1, conf="KillWait=1\nDefMemPerCPU=100\nPrologFlags=Contain\n")


def start_job(cluster, work):
    job = cluster.submit("-o /dev/null --wrap 'sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    return job


def groups_of(pid):
    with open(f"/proc/{pid}/cgroup") as file:
        return file.read()


def test_a_process_becomes_part_of_its_owners_job(contained, work):
    job = start_job(contained, work)
    account = pwd.getpwnam(USER)
    login = subprocess.Popen(["sh", "-c", "sleep 1000 & wait"], user=account.pw_uid, group=account.pw_gid,
                             extra_groups=[])
    try:
        contained.ok(f"sluice adopt -u {USER} --pid {login.pid}", user="root")
        assert f"job_{job}/step_extern" in groups_of(login.pid)
        # what it starts is part of the job, too, and all of it ends with the job
        contained.ok(f"scancel {job}")
        assert contained.wait_end(job) == "CANCELLED"
        assert login.wait(10) != 0
    finally:
        login.kill()
        login.wait()


def test_who_has_no_job_here_is_refused(contained, work):
    start_job(contained, work)
    result = contained.run(f"PAM_USER={OTHER} sluice adopt", user="root")
    assert result.rc == 1 and f"Access denied: {OTHER} has no running job on this node" in result.err, str(result)
    assert contained.run("PAM_USER=root sluice adopt", user="root").rc == 0
    assert contained.run(f"PAM_USER={OTHER} sluice adopt --exempt=nobody,{OTHER}", user="root").rc == 0
    assert contained.run(f"PAM_USER={OTHER} sluice adopt --exempt=@{OTHER}", user="root").rc == 0
    result = contained.run(f"sluice adopt -u {USER}")
    assert result.rc == 1 and "only root" in result.err, str(result)
    result = contained.run("sluice adopt -u nosuchuser", user="root")
    assert result.rc == 1 and "there is no user nosuchuser" in result.err, str(result)


def test_of_several_jobs_it_is_the_last_or_the_one_that_is_named(contained, work):
    first, second = start_job(contained, work), start_job(contained, work)
    command = "-- sh -c 'id -un; echo $SLURM_JOB_ID $HOME; cat /proc/self/cgroup'"
    home = pwd.getpwnam(USER).pw_dir
    out = contained.ok(f"sluice adopt -u {USER} {command}", user="root")
    assert out.startswith(f"{USER}\n{second} {home}\n") and f"job_{second}/step_extern" in out, out
    out = contained.ok(f"sluice adopt -u {USER} --job {first} {command}", user="root")
    assert out.startswith(f"{USER}\n{first} {home}\n") and f"job_{first}/step_extern" in out, out
    result = contained.run(f"sluice adopt -u {USER} --job {int(second) + 7} true", user="root")
    assert result.rc == 1 and "of that number" in result.err, str(result)


def test_pam_asks_it_at_a_login(contained, work, tmp_path):
    """A real PAM stack: su in a mount namespace where its service file is ours."""
    service = tmp_path / "su"
    program = contained.ok("command -v sluice", user="root").strip()
    service.write_text("auth sufficient pam_rootok.so\n"
                       f"account required pam_exec.so quiet {program} adopt --conf={contained.env['SLURM_CONF']}\n"
                       "account required pam_permit.so\nsession required pam_permit.so\n")
    su = f"unshare -m sh -c 'mount --bind {service} /etc/pam.d/su && exec su \"$0\" -s /bin/sh -c \"$1\"'"
    job = start_job(contained, work)
    out = contained.ok(f"{su} {USER} 'cat /proc/self/cgroup'", user="root")
    assert f"job_{job}/step_extern" in out, out
    result = contained.run(f"{su} {OTHER} 'echo inside'", user="root")
    assert result.rc != 0 and "inside" not in result.out, str(result)
    contained.ok(f"scancel {job}")
    contained.wait_end(job)
    wait_until(contained.idle, what="nothing left")


def with_places(make_cluster, work):
    """A cluster with private directories, and a job that has left a file in its own."""
    cluster = make_cluster(nodes=1, conf="KillWait=1\nDefMemPerCPU=100\n")
    cluster.write_conf("job_container.conf", f"AutoBasePath=true\nBasePath={cluster.dir}/places\nDirs=/var/tmp\n")
    cluster.edit_conf(lambda text: text + "\nNamespaceType=namespace/tmpfs\n")
    for name in ("slurmctld", "slurmd-" + cluster.node_names()[0]):
        cluster.kill(name, 15)
    cluster.up()
    wait_until(cluster.idle, what="the node is back")
    job = cluster.submit("-o /dev/null --wrap 'touch /var/tmp/of-the-job; touch ready; sleep 1000'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "ready")), what="the job runs")
    return cluster, job


def test_a_login_sees_the_private_directories_of_the_job(make_cluster, work):
    cluster, job = with_places(make_cluster, work)
    assert cluster.ok(f"sluice adopt -u {USER} ls /var/tmp", user="root") == "of-the-job\n"
    cluster.ok(f"scancel {job}")
    cluster.wait_end(job)


MODULE = os.path.join(BIN_ROOT, "src", "pam", "pam_sluice.so")
CLIENT = os.path.join(os.path.dirname(__file__), "pam_login.py")
needs_module = pytest.mark.skipif(not os.path.exists(MODULE), reason="libpam0g-dev is missing: no PAM module was built")


def login(tmp_path, cluster, user, command="true", options=""):
    """A command by which the user logs in through a stack with the module."""
    service = tmp_path / "login"
    service.write_text(f"account required {MODULE} conf={cluster.env['SLURM_CONF']} {options}\n"
                       "account required pam_permit.so\n")
    return f"/usr/bin/python3 {CLIENT} {tmp_path} login {user} '{command}'"


@needs_module
def test_the_pam_module_turns_away_who_has_no_job(contained, work, tmp_path):
    def attempt(user, options=""):
        return contained.run(login(tmp_path, contained, user, options=options), user="root")
    start_job(contained, work)
    assert attempt(USER).rc == 0
    assert attempt("root").rc == 0
    result = attempt(OTHER)
    assert result.rc == 111 and result.err == "Access denied by pam_sluice: you have no active jobs on this node\n", \
        str(result)
    for options in (f"exempt=nobody,{OTHER}", f"exempt=@{OTHER}", "action_no_jobs=ignore"):
        assert attempt(OTHER, options).rc == 0, options
    assert attempt(OTHER, "exempt=nobody nosuchoption=1 action_no_jobs=perhaps").rc == 111
    result = attempt(USER, "conf=/nowhere/slurm.conf")
    assert result.rc == 111 and "/nowhere/slurm.conf" in result.err, str(result)


@needs_module
def test_the_pam_module_puts_a_session_into_the_job_and_its_private_directories(make_cluster, work, tmp_path):
    cluster, job = with_places(make_cluster, work)
    look = "ls /var/tmp; cat /proc/self/cgroup"
    out = cluster.ok(login(tmp_path, cluster, USER, look), user="root")
    assert out.startswith("of-the-job\n") and f"job_{job}/step_extern" in out, out
    out = cluster.ok(login(tmp_path, cluster, USER, look, "join_container=false"), user="root")
    assert "of-the-job" not in out and f"job_{job}/step_extern" in out, out
    session = cluster.start(login(tmp_path, cluster, USER, "setsid sleep 48611 & wait"), user="root")
    wait_until(lambda: [pid for pid in sleepers(48611) if f"job_{job}/step_extern" in groups_of(pid)],
               what="a session in the job")
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"
    wait_until(lambda: session.process.poll() is not None, what="the session ends with the job")
    assert not sleepers(48611), "what it has daemonised, too"


@needs_module
def test_who_calls_a_setuid_program_does_not_choose_its_configuration(contained, work):
    """su asks the module with its caller's environment: a slurm.conf of the caller's would name the job to enter."""
    with open(os.path.join(work, "login"), "w") as service:
        service.write(f"account required {MODULE}\n")
    program = os.path.join(work, "su")
    shutil.copyfile("/usr/bin/python3", program)
    os.chown(program, 0, pwd.getpwnam(OTHER).pw_gid)
    os.chmod(program, 0o4750)
    result = contained.run(f"{program} -c 'import os; print(os.geteuid())'", user=OTHER)
    if result.out != "0\n":
        pytest.skip(f"no setuid programs here: {result}")
    result = contained.run(f"{program} {CLIENT} {work} login {OTHER} true", user=OTHER, cwd="/",
                           env={"SLURM_CONF": "/nowhere/slurm.conf"})
    assert result.rc != 0 and "Access denied by pam_sluice" in result.err, str(result)
    assert "/nowhere" not in result.err, str(result)


def sleepers(seconds):
    """The commands that sleep for so long."""
    return [pid for pid, line, _ in processes() if words_of(line) == f"sleep {seconds}"]
