# SPDX-License-Identifier: Apache-2.0
"""Logins become part of their user's job (sluice adopt), or are refused."""

import os
import pwd
import subprocess

import pytest
from harness import OTHER, USER, wait_until


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


def test_a_login_sees_the_private_directories_of_the_job(make_cluster, work):
    cluster = make_cluster(nodes=1, conf="KillWait=1\nDefMemPerCPU=100\n")
    cluster.write_conf("job_container.conf", f"AutoBasePath=true\nBasePath={cluster.dir}/places\nDirs=/var/tmp\n")
    with open(cluster.env["SLURM_CONF"], "a") as file:
        file.write("\nNamespaceType=namespace/tmpfs\n")
    for name in ("slurmctld", "slurmd-" + cluster.node_names()[0]):
        cluster.kill(name, 15)
    cluster.up()
    wait_until(cluster.idle, what="the node is back")
    job = cluster.submit("-o /dev/null --wrap 'touch /var/tmp/of-the-job; touch ready; sleep 1000'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "ready")), what="the job runs")
    assert cluster.ok(f"sluice adopt -u {USER} ls /var/tmp", user="root") == "of-the-job\n"
    cluster.ok(f"scancel {job}")
    cluster.wait_end(job)
