# SPDX-License-Identifier: Apache-2.0
"""Who may speak to whom [A10-A13]: another key, no munged, a skewed clock."""

import os
import pwd
import subprocess

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
    daemon.signal(15)
    daemon.wait()
    os.unlink(conf)


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
