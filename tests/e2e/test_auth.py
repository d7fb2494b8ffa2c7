# SPDX-License-Identifier: Apache-2.0
"""Who may speak to whom [A10-A13]: another key, no munged, a skewed clock."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import time

import pytest
from harness import BASE, process_is_alive, wait_until


@pytest.fixture
def other_munged():
    """A munged with a key of its own; yields the path of its socket."""
    base = os.path.join(BASE, f"munge-{os.getpid()}")
    os.makedirs(base, exist_ok=True)
    account = pwd.getpwnam("munge")
    key = os.path.join(base, "key")
    with open(key, "wb") as file:
        file.write(os.urandom(1024))
    os.chmod(key, 0o600)
    os.chmod(base, 0o755)
    for path in (base, key):
        os.chown(path, account.pw_uid, account.pw_gid)
    subprocess.run(["munged", "-S", f"{base}/socket", f"--key-file={key}", f"--pid-file={base}/pid",
                    f"--seed-file={base}/seed", f"--log-file={base}/log"], check=True, user=account.pw_uid,
                   group=account.pw_gid, extra_groups=[])
    with open(f"{base}/pid") as file:
        pid = int(file.read())
    yield f"{base}/socket"
    os.kill(pid, 15)
    wait_until(lambda: not process_is_alive(pid))
    subprocess.run(["rm", "-rf", base], check=True)


def conf_with_socket(cluster, path):
    with open(cluster.env["SLURM_CONF"]) as file:
        lines = [line for line in file if not line.lower().startswith("authinfo")]
    changed = os.path.join(os.path.dirname(cluster.env["SLURM_CONF"]), "other-auth.conf")
    with open(changed, "w") as file:
        file.writelines(lines + [f"AuthInfo=socket={path}\n"])
    return changed


def test_a_client_with_another_key_is_refused_and_told_why(cluster, other_munged):                  # A11, A13
    conf = conf_with_socket(cluster, other_munged)
    result = cluster.run("sinfo", env={"SLURM_CONF": conf})
    os.unlink(conf)
    assert result.rc == 1 and result.out == "" and "key" in result.err.lower(), str(result)
    wait_until(lambda: "Munge decode failed" in cluster.log(), 5)
    assert cluster.ok("sinfo -h")


def test_a_node_with_another_key_is_refused_and_named(make_cluster, other_munged):                  # A11, A13
    cluster = make_cluster(nodes=2)
    node = cluster.node_names()[0]
    conf = conf_with_socket(cluster, other_munged)
    cluster.kill(f"slurmd-{node}", 15)
    daemon = cluster.start(f"exec slurmd -D -N {node} -f {conf}", user="root", env={"SLURM_CONF": conf})
    wait_until(lambda: "Munge decode failed" in cluster.log(), 10)
    wait_until(lambda: cluster.ok(f"sinfo -h -n {node} -o %t").strip() != "idle", 10)
    refusal = next(line for line in cluster.log().splitlines() if "Munge decode failed" in line)
    assert "127.0.0." in refusal and "munge.key" in refusal, "the peer's name and the cure: " + refusal
    daemon.signal(15)
    said = daemon.wait()
    told = said.err + cluster.log(f"slurmd-{node}")
    assert "Munge decode failed" in told and "munge.key" in told and f":{cluster.ports()[0]}" in told, told[-2000:]
    os.unlink(conf)


def munged_of(cluster):
    with open(os.path.join(cluster.dir, "munge", "pid")) as file:
        return int(file.read())


@pytest.mark.parametrize("sig, patience", [(signal.SIGKILL, 2.5), (signal.SIGSTOP, 2.5)])
def test_without_munged_commands_say_so_and_jobs_run_on(make_cluster, work, sig, patience):             # A10
    cluster = make_cluster(nodes=1)
    job = cluster.submit("-o out --wrap='while ! test -e go; do sleep 0.05; done; echo end'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    munged = munged_of(cluster)
    os.kill(munged, sig)
    if sig == signal.SIGKILL:
        wait_until(lambda: not process_is_alive(munged))
    for command in ("sinfo -h", "sbatch -o /dev/null --wrap=true", "scontrol show config"):
        began = time.monotonic()
        result = cluster.run(command, cwd=work)
        assert result.rc != 0 and "munged does not answer" in result.err and "systemctl" in result.err, result
        assert time.monotonic() - began < patience, str(result)
    open(os.path.join(work, "go"), "w").close()
    if sig == signal.SIGSTOP:
        os.kill(munged, signal.SIGCONT)
    cluster.up()
    assert cluster.wait_end(job) == "COMPLETED"
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "end\n"
    assert cluster.submit("-W -o /dev/null --wrap=true", cwd=work)


def test_no_munged_is_told_apart(cluster):
    conf = conf_with_socket(cluster, "/nonexistent/munge.socket")
    result = cluster.run("sinfo", env={"SLURM_CONF": conf})
    os.unlink(conf)
    assert result.rc == 1 and "/nonexistent/munge.socket" in result.err and "munge" in result.err.lower()


def test_a_user_cannot_pretend_to_be_another(cluster, work):
    job = cluster.submit("-W -o out --uid=sluicet2 -D /tmp --wrap='id -un' 2>/dev/null || sbatch -W -o out "
                         "--wrap='id -un'", cwd=work)
    with open(os.path.join(work, "out")) as file:
        assert file.read() == "sluicet1\n", job


def test_root_of_the_cluster_may_submit_for_others(cluster):
    job = cluster.submit("--uid=sluicet2 -D /tmp -o /dev/null --wrap='sleep 60'", user="root")
    assert cluster.field(job, "u") == "sluicet2"


SHIFTED_CLOCK = """
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
time_t time(time_t *out) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    now.tv_sec += SHIFT;
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
"""


@pytest.mark.parametrize("shift", [-3600, 3600])
def test_a_skewed_clock_is_named_with_both_times(cluster, work, shift):                             # A12
    """A munged with the cluster's own key and a clock of its own stands for another host."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler to shift a clock with")
    base = os.path.join(BASE, f"skew-{os.getpid()}-{shift}")
    os.makedirs(base)
    shutil.copy(os.path.join(cluster.dir, "munge", "key"), f"{base}/key")
    os.chmod(f"{base}/key", 0o600)
    with open(f"{base}/clock.c", "w") as file:
        file.write(SHIFTED_CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", f"-DSHIFT={shift}", "-o", f"{base}/clock.so", f"{base}/clock.c"], check=True)
    subprocess.run(["munged", "--force", "-S", f"{base}/socket", f"--key-file={base}/key", f"--pid-file={base}/pid",
                    f"--seed-file={base}/seed", f"--log-file={base}/log"], check=True,
                   env={"PATH": os.environ["PATH"] + ":/usr/sbin", "LD_PRELOAD": f"{base}/clock.so"})
    with open(f"{base}/pid") as file:
        pid = int(file.read())
    conf = conf_with_socket(cluster, f"{base}/socket")
    try:
        result = cluster.run("sinfo", env={"SLURM_CONF": conf})
        assert result.rc == 1 and "Munge decode failed" in result.err and "clock" in result.err, str(result)
        seconds = [int(text) for text in re.findall(r"(\d+) s (?:ahead|ago)", result.err)]
        assert seconds and abs(seconds[0] - 3600) < 30, str(result)
        assert len(re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", result.err)) == 2, "both clocks are shown"
        before = cluster.log()
        wait_until(lambda: re.search(r"Munge decode failed.* 3[56]\d\d s (ahead|ago)", cluster.log()), 5, 0.1,
                   "slurmctld's log has it, too: " + before[-1000:])
    finally:
        os.unlink(conf)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not process_is_alive(pid))
        shutil.rmtree(base)
