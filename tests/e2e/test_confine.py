# SPDX-License-Identifier: Apache-2.0
"""Nothing but what was asked for: cores, memory, devices and process numbers of jobs and steps, as control groups hold
them. Runs on v1, v2 and both at once, whatever the machine has; tests/vm runs it on v2 alone.
"""

import os
import signal
import subprocess

import pytest
from harness import USER, cgroups, cluster_of_its_own, wait_until

CPUS = os.cpu_count() or 1
needs_two = pytest.mark.skipif(CPUS < 2, reason="needs two CPUs")

# Tries to open every device and prints those that let it.
OPEN = r"""
import os, sys
for path in sys.argv[1:]:
    try:
        os.close(os.open(path, os.O_RDONLY))
        print(os.path.basename(path), end=" ")
    except PermissionError:
        pass
    except OSError:
        print(os.path.basename(path), end=" ")      # let in, and there is no such device
print()
"""

# The value of a file of the group of this process in the hierarchy of a controller, or of the groups above it.
LIMIT = r"""
import os, sys
controller, name, above = sys.argv[1], sys.argv[2], int(sys.argv[3])
mounts = [line.split() for line in open("/proc/self/mounts")]
for line in open("/proc/self/cgroup"):
    _, controllers, path = line.strip().split(":", 2)
    for mount in mounts:
        v1 = mount[2] == "cgroup" and controller in controllers.split(",") and controller in mount[3].split(",")
        v2 = mount[2] == "cgroup2" and controllers == ""
        if not v1 and not v2:
            continue
        parts = path.split("/")
        job = [i for i, part in enumerate(parts) if part.startswith("job_")][0]
        file = mount[1] + "/".join(parts[:job + above + 1]) + "/" + name
        if os.path.exists(file):
            print(open(file).read().strip())
"""


@pytest.fixture
def tool(work):
    """tool("name.py", text) is the command that runs it."""
    def write(name, text):
        path = os.path.join(work, name)
        with open(path, "w") as file:
            file.write(text)
        return f"/usr/bin/python3 {path}"
    return write


@pytest.fixture(scope="module")
def small():
    """One node as large as this machine, with three stand-ins for GPUs."""
    with cluster_of_its_own("confine", nodes=1, cpus=CPUS, mem=3000, gpus="a100:3", conf="KillWait=1\n") as cluster:
        yield cluster


@pytest.fixture
def node(small):
    yield small
    small.reset()


def confinement(cluster):
    """What the node says of itself, without the version of control groups."""
    def told():
        return cluster.show("node n1").get("Confinement", "").strip()
    return wait_until(told)


def reachable_cpus(cluster, options):
    """How many CPUs a task gets at, when it asks for each by itself: its binding does not hold it, its group does."""
    body = "\n".join(["import os", f"for cpu in range({CPUS}):", "  try: os.sched_setaffinity(0, {cpu}); print(cpu)",
                      "  except OSError: pass"])
    return len(cluster.ok(f"srun {options} /usr/bin/python3 -c '{body}'").split())


@pytest.mark.v2
def test_a_node_says_what_it_enforces(node):
    told = confinement(node)
    assert told.split(" ")[0] == "cores,memory,swap,devices,pids", told
    assert "not" not in told
    assert "Confinement=cores,memory,swap,devices,pids" in node.log("slurmd")


@pytest.mark.v2
@needs_two
def test_a_job_runs_on_its_own_cpus_only(node):
    assert node.ok("srun -n1 -c1 nproc").strip() == "1"
    assert node.ok("srun -n1 -c2 nproc").strip() == "2"
    assert reachable_cpus(node, "-n1 -c1") == 1
    assert reachable_cpus(node, "-n1 -c2") == 2


@needs_two
def test_two_jobs_have_different_cpus(node, work):
    wait = "; while [ ! -e go ]; do sleep 0.05; done"
    jobs = [node.submit(f"-c1 -D {work} -o %j.out --wrap 'grep Cpus_allowed_list /proc/self/status{wait}'")
            for _ in range(2)]
    for job in jobs:
        node.wait_state(job, "RUNNING")
    def cpus():
        lines = []
        for job in jobs:
            with open(os.path.join(work, job + ".out")) as file:
                lines.append(file.read().split())
        return {line[1] for line in lines} if all(lines) else None
    seen = wait_until(cpus)
    assert len(seen) == 2 and all(cpu.isdigit() for cpu in seen), seen
    open(os.path.join(work, "go"), "w").close()
    assert {node.wait_end(job) for job in jobs} == {"COMPLETED"}


@needs_two
def test_steps_are_held_to_their_part_of_the_job(node, tool):
    limit = tool("limit.py", LIMIT)
    read = f"bash -c \"{limit} cpuset cpuset.cpus 0; {limit} cpuset cpuset.cpus 1\""
    job, step = node.ok(f"salloc -n2 -c1 srun -n1 -c1 --exact {read}").split()
    assert job in ("0-1", "0,1") and step in ("0", "1"), (job, step)


@pytest.mark.v2
def test_a_job_over_its_memory_is_killed_and_its_neighbour_is_not(node, work):
    neighbour = node.submit(f"-n1 --mem=100 -D {work} --wrap 'while [ ! -e go ]; do sleep 0.1; done'")
    eater = node.submit(f"-n1 --mem=60 -D {work} -o eater.out --wrap 'head -c 200m /dev/zero | tail; echo survived'")
    assert node.wait_end(eater) in ("OUT_OF_MEMORY", "FAILED")
    assert node.state(neighbour) == {"RUNNING"}
    open(os.path.join(work, "go"), "w").close()
    assert node.wait_end(neighbour) == "COMPLETED"
    rows = dict((row[0], row[1]) for row in node.sacct(eater, "JobID,State"))
    assert rows[eater + ".batch"] == "OUT_OF_MEMORY", rows


@pytest.mark.v2
def test_memory_limits_stand_at_job_and_step(node, tool):
    limit = tool("limit.py", LIMIT)
    names = "memory.max memory.limit_in_bytes"
    for above, mem in ((0, 300), (1, 200)):
        lines = node.ok("salloc -n1 --mem=300 bash -c 'srun -n1 --mem=200 bash -c \"" +
                        "; ".join(f"{limit} memory {name} {above}" for name in names.split()) + "\"'").split()
        assert lines == [str(mem << 20)], (above, lines)


def test_a_small_job_still_gets_thirty_mib(node, tool):
    limit = tool("limit.py", LIMIT)
    out = node.ok(f"srun -n1 --mem=1 bash -c '{limit} memory memory.max 0; {limit} memory memory.limit_in_bytes 0'")
    assert out.split() == [str(30 << 20)]


@pytest.mark.v2
def test_a_job_opens_its_own_devices_only(node, tool):
    devices = " ".join(os.path.join(node.dir, "dev", f"gpu{i}") for i in range(3))
    tries = tool("open.py", OPEN)
    node.ok(f"chmod 666 {devices}", user="root")
    assert node.ok(f"{tries} {devices}").split() == ["gpu0", "gpu1", "gpu2"]
    assert node.ok(f"srun -n1 {tries} {devices}").split() == []
    assert node.ok(f"srun -n1 --gres=gpu:1 {tries} {devices}").split() == ["gpu0"]
    assert node.ok(f"srun -n1 --gres=gpu:a100:2 {tries} {devices}").split() == ["gpu0", "gpu1"]
    out = node.ok(f"salloc -n1 --gres=gpu:2 bash -c 'srun -n1 --gres=gpu:1 {tries} {devices}; "
                  f"srun -n1 --gres=none {tries} {devices}; srun -n1 {tries} {devices}'").splitlines()
    assert [line.split() for line in out] == [["gpu0"], [], ["gpu0", "gpu1"]]


@pytest.mark.v2
def test_root_is_fenced_from_devices_too(node, tool):
    device = os.path.join(node.dir, "dev", "gpu0")
    tries = tool("open.py", OPEN)
    assert node.ok(f"srun -n1 {tries} {device} /dev/null /dev/zero", user="root").split() == ["null", "zero"]


def test_fenced_devices_are_numbered_from_zero(node, work):
    first = node.submit(f"-n1 --gres=gpu:1 -D {work} --wrap 'while [ ! -e go ]; do sleep 0.1; done'")
    node.wait_state(first, "RUNNING")
    out = node.ok("srun -n1 --overlap --gres=gpu:1 bash -c 'echo $CUDA_VISIBLE_DEVICES $SLURM_JOB_GPUS'").split()
    assert out[0] == "0", out
    open(os.path.join(work, "go"), "w").close()
    node.wait_end(first)


@pytest.mark.v2
def test_process_numbers_are_shared_out_by_cpus(node, tool):
    limit = tool("limit.py", LIMIT)
    with open("/proc/sys/kernel/pid_max") as file:
        pid_max = int(file.read())
    out = node.ok(f"srun -n1 -c1 {limit} pids pids.max 0").split()
    assert out == [str(max(pid_max * 80 // 100 // CPUS, 4096))]


@pytest.mark.v2
def test_no_group_is_left_when_a_job_is_over(node):
    node.ok("srun -n1 true")
    job = node.submit("-n1 --wrap 'setsid sleep 1000 & srun -n1 true'")
    assert node.wait_end(job) == "COMPLETED"
    def none_left():
        return not [path for base in cgroups(node.ports()) for path, dirs, _ in os.walk(base)
                    if os.path.basename(path).startswith("job_")]
    wait_until(none_left)


@needs_two
def test_cgroup_conf_says_what_is_not_wanted(make_cluster, tool):
    cluster = make_cluster(nodes=1, cpus=CPUS, mem=3000, conf="KillWait=1\n")
    assert reachable_cpus(cluster, "-n1 -c1") == 1
    cluster.write_conf("cgroup.conf", "ConstrainCores=no\nConstrainRAMSpace=yes\nAllowedRAMSpace=150\nMaxRAMPercent=100\n")
    cluster.ok("scontrol reconfigure", user="root")
    wait_until(lambda: confinement(cluster).split(" ")[0] == "memory,swap,devices,pids", what="cores are free")
    assert reachable_cpus(cluster, "-n1 -c1") == CPUS
    limit = tool("limit.py", LIMIT)
    out = cluster.ok(f"srun -n1 --mem=100 bash -c '{limit} memory memory.max 1; "
                     f"{limit} memory memory.limit_in_bytes 1'").split()
    assert out == [str(150 << 20)]


def test_control_groups_can_be_switched_off(make_cluster):
    cluster = make_cluster(nodes=1, cpus=CPUS, mem=3000, conf="KillWait=1\n")
    cluster.write_conf("cgroup.conf", "CgroupPlugin=disabled\n")
    cluster.kill("slurmd-n1", signal.SIGTERM)
    cluster.up()
    wait_until(lambda: confinement(cluster) == "none: CgroupPlugin is disabled in cgroup.conf")
    assert reachable_cpus(cluster, "-n1 -c1") == CPUS
    assert "job_" not in cluster.ok("srun -n1 cat /proc/self/cgroup")


@pytest.mark.skipif(not os.path.isdir("/sys/fs/cgroup/freezer"), reason="control groups v1 are not mounted")
def test_v1_alone_does_all_of_it(make_cluster, tool):
    cluster = make_cluster(nodes=1, cpus=CPUS, mem=3000, gpus="1", conf="KillWait=1\n")
    cluster.write_conf("cgroup.conf", "CgroupPlugin=cgroup/v1\n")
    cluster.kill("slurmd-n1", signal.SIGTERM)
    cluster.up()
    wait_until(lambda: confinement(cluster) == "cores,memory,swap,devices,pids (v1)")
    assert reachable_cpus(cluster, "-n1 -c1") == 1
    device = os.path.join(cluster.dir, "dev", "gpu0")
    tries = tool("open.py", OPEN)
    assert cluster.ok(f"srun -n1 {tries} {device}").split() == []
    assert cluster.ok(f"srun -n1 --gres=gpu:1 {tries} {device}").split() == ["gpu0"]
    job = cluster.submit("-n1 --mem=50 --wrap 'setsid sleep 1000 & head -c 200m /dev/zero | tail'")
    assert cluster.wait_end(job) in ("OUT_OF_MEMORY", "FAILED")
    job = cluster.submit("-n1 --wrap 'setsid sleep 1000 & sleep 1000'")
    cluster.wait_state(job, "RUNNING")
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"


def test_a_node_that_claims_more_than_the_machine_has_says_that_cores_are_not_held(make_cluster):
    cluster = make_cluster(nodes=1, cpus=CPUS + 2, mem=3000)
    told = confinement(cluster)
    assert told.startswith("memory,swap,devices,pids "), told
    assert f"not cores: slurm.conf gives this node {CPUS + 2} CPUs, the machine has {CPUS}" in told
    assert "does not enforce all" in cluster.log("slurmd")


def test_a_group_that_cannot_be_made_is_told(make_cluster):
    cluster = make_cluster(nodes=1, cpus=CPUS, mem=3000)
    cluster.write_conf("cgroup.conf", "CgroupMountpoint=/nowhere\n")
    cluster.kill("slurmd-n1", signal.SIGTERM)
    cluster.up()
    wait_until(lambda: confinement(cluster).startswith("none: "))
    assert "held to nothing" in cluster.log("slurmd")
    assert cluster.ok(f"srun -n1 id -un").strip() == USER


@pytest.mark.systemd
@pytest.mark.skipif(not os.path.isdir("/run/systemd/system") or not os.path.exists("/sys/fs/cgroup/cgroup.controllers"),
                    reason="systemd is not process 1, or control groups v2 are not alone")
def test_steps_live_in_a_scope_that_systemd_has_handed_over(make_cluster):
    cluster = make_cluster(nodes=1, cpus=CPUS, mem=1500, conf="KillWait=1\n")
    scope = f"n1_{cluster.ports()[1]}_slurmstepd.scope"
    def scopes():
        return subprocess.run(["systemctl", "list-units", "--type=scope", "--no-legend", "--plain"],
                              capture_output=True, text=True, check=True).stdout
    assert confinement(cluster) == "cores,memory,swap,devices,pids (v2)"
    assert scope in scopes()
    job = cluster.submit("-n1 -c1 -o /dev/null --wrap 'sleep 1000'")
    cluster.wait_state(job, "RUNNING")
    base = "/sys/fs/cgroup/system.slice/" + scope
    def members(group):
        with open(os.path.join(base, group, "cgroup.procs")) as file:
            return file.read().split()
    wait_until(lambda: members(f"job_{job}/step_batch/user/task_0"))
    holders = members("system")                     # that of the scope, and the job's slurmstepd
    assert len(holders) == 2
    cluster.kill("slurmd-n1", signal.SIGTERM)       # its service restarts; systemd sorts its tree
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    cluster.up()
    wait_until(lambda: confinement(cluster) == "cores,memory,swap,devices,pids (v2)")
    assert members("system") == holders
    assert cluster.state(job) == {"RUNNING"}
    assert reachable_cpus(cluster, "-n1 -c1") == 1
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"
    cluster.kill("slurmd-n1", signal.SIGTERM)       # nothing is left: neither the scope
    wait_until(lambda: scope not in scopes())


@pytest.mark.systemd
@pytest.mark.skipif(not os.path.isdir("/run/systemd/system"), reason="systemd is not process 1")
def test_systemd_can_be_passed_over(make_cluster):
    cluster = make_cluster(nodes=1, cpus=CPUS, mem=1500, conf="KillWait=1\n")
    cluster.write_conf("cgroup.conf", "IgnoreSystemd=yes\nCgroupSlice=other.slice\n")
    cluster.kill("slurmd-n1", signal.SIGTERM)
    cluster.up()
    wait_until(lambda: confinement(cluster) == "cores,memory,swap,devices,pids (v2)")
    assert "/other.slice/" in cluster.ok("srun -n1 cat /proc/self/cgroup")
