# SPDX-License-Identifier: Apache-2.0
"""Jobs that attack: their node, their fences, their neighbours. After each, nothing of it is left, the other user's job
beside it goes on unharmed, and the record says what happened.
"""

import os
import pwd

import pytest
from harness import OTHER, cluster_of_its_own, process_is_alive, wait_until

CPUS = os.cpu_count() or 1      # two more give room to a neighbour and a bystander; then cores are not held

# Away from everything that could hold it: two generations, sessions, no descriptors, deaf, without environment.
HIDE = r"""
import os, signal, sys, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for turn in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 4096)
            os.chdir("/")
            os.execve("/bin/sleep", ["[kworker/0:1]", "1000"], {})
        os._exit(0)
open("ready", "w").close()
time.sleep(float(sys.argv[1]))
"""

# Children that take memory, each deaf, and new ones for those that are killed.
EAT = r"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
open("ready", "w").close()
while True:
    if os.fork() == 0:
        os.setsid()
        block = b""
        while True:
            block += b"x" * (4 << 20)
    time.sleep(0.02)
"""

# Forks until it is refused, tells how many it got, and holds on to them.
BOMB = r"""
import errno, os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("ready", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)
count = 0
while True:
    try:
        if os.fork() == 0:
            while True:
                time.sleep(1000)
        count += 1
    except OSError as why:
        assert why.errno == errno.EAGAIN
        break
with open("count.new", "w") as file:
    file.write(str(count))
os.rename("count.new", "count")
time.sleep(1000)
"""

# Tries to get at what is not its own; prints what worked.
REACH = r"""
import os, resource, signal, subprocess, sys
pids = [int(word) for word in sys.argv[1:]]
def attempt(name, fn):
    try:
        fn()
        print("worked:", name)
    except (OSError, ValueError, subprocess.CalledProcessError):
        pass
for pid in pids:
    attempt(f"kill {pid}", lambda: os.kill(pid, signal.SIGKILL))
    attempt(f"stop {pid}", lambda: os.kill(pid, signal.SIGSTOP))
    attempt(f"prlimit {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)))
    attempt(f"memory of {pid}", lambda: open(f"/proc/{pid}/mem", "rb").close())
    attempt(f"oom_score of {pid}", lambda: open(f"/proc/{pid}/oom_score_adj", "w").write("1000"))
def groups():
    mounts = [line.split() for line in open("/proc/self/mounts")]
    for line in open("/proc/self/cgroup"):
        _, controllers, path = line.strip().split(":", 2)
        for mount in mounts:
            if mount[2] == "cgroup2" and not controllers or \
               mount[2] == "cgroup" and controllers and controllers in mount[3].split(","):
                yield mount[1], path
def move(directory):
    with open(directory + "/cgroup.procs", "w") as file:
        file.write("0")
def put(path, text):
    with open(path, "w") as file:
        file.write(text)
for mount, path in groups():
    attempt(f"move to {mount}", lambda: move(mount))
    up = path
    while up not in ("/", ""):
        if up != path:
            attempt(f"move to {mount}{up}", lambda: move(mount + up))
        attempt(f"group below {mount}{up}", lambda: os.mkdir(mount + up + "/mine"))
        for name, text in (("memory.max", "max"), ("memory.limit_in_bytes", "-1"), ("pids.max", "max"),
                           ("cpuset.cpus", "0-999"), ("devices.allow", "a"), ("cgroup.kill", "1"),
                           ("cgroup.freeze", "1"), ("freezer.state", "FROZEN")):
            if os.path.exists(mount + up + "/" + name):
                attempt(f"{name} of {mount}{up}", lambda: put(mount + up + "/" + name, text))
        up = os.path.dirname(up)
for mount, path in groups():
    attempt(f"{mount} as root of a user namespace", lambda: subprocess.run(
        ["unshare", "-Ur", "sh", "-c", f"echo 0 > {mount}/cgroup.procs"], check=True, stderr=subprocess.DEVNULL))
own = [mount + path for mount, path in groups() if "/job_" in path and os.path.isdir(mount + path)]
print("done" if own else "saw no group of its own")
"""


@pytest.fixture(scope="module")
def fort():
    with cluster_of_its_own("attack", nodes=1, cpus=CPUS + 2, mem=3000, gpus="2", conf="KillWait=1\n") as cluster:
        yield cluster


class Neighbour:
    """The other user's job: a process that counts, every tenth of a second."""

    def __init__(self, cluster, directory):
        self.cluster, self.path = cluster, os.path.join(directory, "beats")
        body = f"echo $$ > {self.path}.pid; while :; do echo >> {self.path}; sleep 0.1; done"
        self.job = cluster.submit(f"-n1 -c1 --mem=50 --gres=gpu:1 -o /dev/null --wrap '{body}'", user=OTHER)
        cluster.wait_state(self.job, "RUNNING")
        wait_until(self.beats)
        with open(self.path + ".pid") as file:
            self.pid = int(file.read())

    def beats(self):
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def is_well(self):
        before = self.beats()
        wait_until(lambda: self.beats() > before + 1, what="the neighbour goes on")
        assert self.cluster.state(self.job) == {"RUNNING"}


@pytest.fixture
def attack(fort, work):
    """attack(name, text) writes a program of the attacker; the neighbour runs meanwhile, and is well afterwards."""
    directory = work + "-neighbour"
    os.makedirs(directory, exist_ok=True)
    account = pwd.getpwnam(OTHER)
    os.chown(directory, account.pw_uid, account.pw_gid)
    neighbour = Neighbour(fort, directory)

    class Attack:
        cluster, pid_of_neighbour = fort, neighbour.pid

        @staticmethod
        def program(text):
            path = os.path.join(work, "attack.py")
            with open(path, "w") as file:
                file.write(text)
            return f"/usr/bin/python3 {path}"

        @staticmethod
        def path(name):
            return os.path.join(work, name)

        @staticmethod
        def submit(options, command):
            return fort.submit(f"{options} -n1 -c1 -D {work} -o out.%j --wrap '{command}'")

    yield Attack
    neighbour.is_well()
    fort.ok(f"scancel {neighbour.job}", user=OTHER)
    assert fort.wait_end(neighbour.job) == "CANCELLED"
    fort.reset()
    wait_until(lambda: not job_groups(fort), what="no group of a job is left")
    for name in os.listdir(directory):
        os.unlink(os.path.join(directory, name))
    os.rmdir(directory)


def job_groups(cluster, job=None):
    """Directories of groups of a job, or of all of this cluster's."""
    from harness import cgroups
    found = [path for base in cgroups(cluster.ports()) for path, _, _ in os.walk(base)]
    return [path for path in found if (f"/job_{job}" if job else "/job_") in path]


def processes(cluster, job):
    found = set()
    for path in job_groups(cluster, job):
        with open(os.path.join(path, "cgroup.procs")) as file:
            found |= {int(line) for line in file.read().split()}
    return found


def assert_nothing_left(cluster, job, pids):
    wait_until(lambda: not [pid for pid in pids if process_is_alive(pid)], what="its processes are gone")
    wait_until(lambda: not job_groups(cluster, job), what="its groups are gone")


def record(cluster, job, field):
    return dict((row[0], row[1]) for row in cluster.sacct(job, "JobID," + field))


@pytest.mark.parametrize("how", ["it exits", pytest.param("scancel", marks=pytest.mark.v2), "time limit"])
def test_hidden_processes_end_with_their_job(attack, how):
    cluster = attack.cluster
    job = attack.submit("-t 1" if how == "time limit" else "",
                        attack.program(HIDE) + (" 0.5" if how == "it exits" else " 1000"))
    wait_until(lambda: os.path.exists(attack.path("ready")))
    pids = wait_until(lambda: (found := processes(cluster, job)) and len(found) >= 6 and found)
    if how == "scancel":
        cluster.ok(f"scancel {job}")
    elif how == "time limit":
        cluster.ok(f"scontrol update jobid={job} endtime=now", user="root")
    state = {"it exits": "COMPLETED", "scancel": "CANCELLED", "time limit": "TIMEOUT"}[how]
    assert cluster.wait_end(job) == state
    assert_nothing_left(cluster, job, pids)
    assert record(cluster, job, "State")[job].split()[0] == state


@pytest.mark.v2
def test_memory_without_end_is_its_own_end(attack):
    cluster = attack.cluster
    job = attack.submit("--mem=150", attack.program(EAT))
    wait_until(lambda: os.path.exists(attack.path("ready")))
    wait_until(lambda: cluster.state(job) & {"OUT_OF_MEMORY"} or oom_kills(cluster, job), what="a process is killed")
    pids = processes(cluster, job)
    if cluster.state(job) == {"RUNNING"}:       # its first process lives and makes new ones
        cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) in ("OUT_OF_MEMORY", "CANCELLED")
    assert_nothing_left(cluster, job, pids)
    assert record(cluster, job, "State")[job + ".batch"] == "OUT_OF_MEMORY"


def oom_kills(cluster, job):
    for path in job_groups(cluster, job):
        for name in ("memory.events", "memory.oom_control"):
            try:
                with open(os.path.join(path, name)) as file:
                    counts = dict(line.split() for line in file)
            except OSError:
                continue
            if int(counts.get("oom_kill", 0)):
                return True
    return False


@pytest.mark.v2
def test_a_fork_bomb_fills_its_own_numbers_only(attack):
    cluster = attack.cluster
    job = attack.submit("--mem=1000", attack.program(BOMB))
    wait_until(lambda: os.path.exists(attack.path("ready")))
    limits = [path + "/pids.max" for path in job_groups(cluster, job)
              if os.path.basename(path) == f"job_{job}" and os.path.exists(path + "/pids.max")]
    assert len(limits) == 1
    with open(limits[0], "r+") as file:         # the real one takes a while to fill
        assert int(file.read()) >= 4096
        file.write("200")
    open(attack.path("go"), "w").close()
    wait_until(lambda: os.path.exists(attack.path("count")))
    with open(attack.path("count")) as file:
        assert 150 < int(file.read()) < 200
    pids = processes(cluster, job)
    assert len(pids) > 150
    assert cluster.ok("true; (true); echo others fork").strip() == "others fork"
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"
    assert_nothing_left(cluster, job, pids)


@pytest.mark.v2
def test_nothing_of_others_can_be_reached(attack):
    cluster = attack.cluster
    daemon = cluster.pid("slurmd-n1")
    body = attack.program(REACH) + f" {daemon} {attack.pid_of_neighbour} $PPID"
    job = attack.submit("--mem=100", body)
    assert cluster.wait_end(job) == "COMPLETED"
    with open(attack.path(f"out.{job}")) as file:
        assert file.read().splitlines() == ["done"]
    assert process_is_alive(daemon) and process_is_alive(attack.pid_of_neighbour)


def test_devices_cannot_be_had_by_another_name(attack):
    """Not even by root, with a file of its own, in a mount namespace."""
    cluster = attack.cluster
    device = os.stat(os.path.join(cluster.dir, "dev", "gpu1")).st_rdev
    own = attack.path("mine")
    text = (f"import os, stat\nfor name, flags in (('{cluster.dir}/dev/gpu1', os.O_RDONLY), ('{own}', os.O_RDWR)):\n"
            f"  try:\n    if name == '{own}': os.mknod(name, stat.S_IFBLK | 0o666, {device})\n"
            f"    os.open(name, flags); print('open', name)\n  except PermissionError:\n    print('denied')\n")
    command = attack.program(text)
    assert cluster.ok(f"srun -n1 {command}", user="root").split() == ["denied", "denied"]
    out = cluster.ok(f"srun -n1 unshare -m {command}", user="root")
    assert out.split() == ["denied", "denied"]


def test_a_job_that_takes_away_its_own_limits_still_ends(attack):
    text = ("import os, resource, time\n"
            "for name in dir(resource):\n"
            "  if name.startswith('RLIMIT_') and name not in ('RLIMIT_CPU', 'RLIMIT_AS', 'RLIMIT_DATA', 'RLIMIT_STACK'):\n"
            "    try: resource.setrlimit(getattr(resource, name), (0, 0))\n"
            "    except (OSError, ValueError): pass\n"
            "os.closerange(0, 4096)\ntime.sleep(1000)\n")
    cluster = attack.cluster
    job = attack.submit("", "touch ready; exec " + attack.program(text))
    wait_until(lambda: os.path.exists(attack.path("ready")))
    pids = wait_until(lambda: processes(cluster, job))
    cluster.ok(f"scancel {job}")
    assert cluster.wait_end(job) == "CANCELLED"
    assert_nothing_left(cluster, job, pids)


def test_a_flood_of_output_drowns_nobody(attack):
    cluster = attack.cluster
    flood = cluster.start("srun -n1 -c1 --overlap head -c 1073741824 /dev/zero | wc -c")
    for _ in range(3):
        assert cluster.ok("srun -n1 -c1 --mem=10 echo beside", timeout=120) == "beside\n"
    result = flood.wait(180)
    cluster.running.remove(flood)
    assert result.out.strip() == "1073741824", str(result)


def test_who_kills_its_own_shell_and_supervisor_gains_nothing(attack):
    """slurmstepd is root's; the shell is the job's own, and its end is the job's."""
    cluster = attack.cluster
    job = attack.submit("", "setsid sleep 1000 & kill -9 $PPID; kill -9 $$")
    assert cluster.wait_end(job) == "FAILED"
    assert_nothing_left(cluster, job, [])
    assert record(cluster, job, "ExitCode")[job] == "0:9"
