# SPDX-License-Identifier: Apache-2.0
"""Throwaway clusters for the end-to-end tests, started with `sluice up`, and what one does with them.

Rules for tests: no sleeps of a fixed length where a condition can be awaited; never kill by name; every cluster is
stopped by the harness, and what it leaves behind (process, mount, cgroup, file) fails the test that used it.
"""

import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peer"))
from cluster import USERS, ensure_users, find_bin_dirs, kill_session  # noqa: E402,F401

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BIN_ROOT = os.environ.get("SLUICE_BIN", os.path.join(ROOT, "build", "release"))
BASE = os.environ.get("SLUICE_TEST_DIR") or "/tmp/sluice-e2e"
USER = "sluicet1"
OTHER = "sluicet2"
FINAL = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE",
         "BOOT_FAIL"}
TIMEOUT = 30.0      # generous, because the machine may be busy; nothing passes by waiting


def wait_until(condition, timeout=TIMEOUT, every=0.01, what=None):
    """Polls until condition() is true and returns its value; fails with the last value seen."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout:g} s: {what or condition.__name__} (last: {value!r})")
        time.sleep(every)


def process_is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children_of(pid):
    """All living descendants of a process."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parents.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except OSError:
                continue
    found, todo = [], [pid]
    while todo:
        for child in parents.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


@dataclass
class Result:
    command: str
    rc: int
    out: str
    err: str

    def __str__(self):
        return f"$ {self.command}\n{self.out}{self.err}= {self.rc}"

    @property
    def lines(self):
        return self.out.splitlines()


class Running:
    """A command that runs beside the test."""

    def __init__(self, command, process):
        self.command = command
        self.process = process

    def wait(self, timeout=TIMEOUT, stdin=None):
        try:
            out, err = self.process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {timeout:g} s: {self.command}") from None
        return Result(self.command, self.process.returncode, out.decode("utf-8", "backslashreplace"),
                      err.decode("utf-8", "backslashreplace"))

    def signal(self, sig):
        self.process.send_signal(sig)

    def kill(self):
        """Ends the command and everything it started."""
        kill_session(self.process.pid)
        self.process.communicate()


class Cluster:
    """A cluster in a directory of its own, made by `sluice up`."""

    def __init__(self, name, nodes=2, cpus=4, mem=4000, gpus=None, conf="", user="root", nvml=False, dbd=False):
        """nvml: the daemons get tests/stub/nvml.c as GPU library; its state is nvml_set()'s."""
        self.dir = os.path.join(BASE, name)
        self.nodes, self.cpus, self.mem, self.gpus, self.conf, self.user = nodes, cpus, mem, gpus, conf, user
        self.env = {}
        self.daemon_env = {}
        if nvml:
            self.daemon_env = {"SLUICE_NVML_LIBRARY": os.path.join(BIN_ROOT, "tests/stub/libnvml_stub.so"),
                               "SLUICE_NVML_STATE": self.dir + ".nvml",
                               "SLUICE_NVML_DEVICES": os.path.join(self.dir, "dev", "gpu")}
        self.running = []
        self.before = None
        self.dbd = dbd

    def nvml_set(self, text):
        """What the stub library says from now on."""
        path = self.daemon_env["SLUICE_NVML_STATE"]
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)

    # -- life --------------------------------------------------------------------------------------------------

    @staticmethod
    def sluice(*argv, user="root", check=True, timeout=60, extra=None):
        """Runs the `sluice` command of the build under test."""
        program = os.path.join(find_bin_dirs(BIN_ROOT, ["sluice"])[0], "sluice")
        account = pwd.getpwnam(user)
        env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": account.pw_dir, "USER": user, "LANG": "C",
               **(extra or {})}
        done = subprocess.run([program, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, user=account.pw_uid, group=account.pw_gid, extra_groups=[], env=env,
                              cwd="/")
        result = Result("sluice " + shlex.join(argv), done.returncode, done.stdout, done.stderr)
        if check:
            assert done.returncode == 0, str(result)
        return result

    def up(self, check=True):
        """Starts the cluster, or whatever of it does not run."""
        argv = ["up", "--dir", self.dir, "--nodes", str(self.nodes), "--cpus", str(self.cpus), "--mem", str(self.mem)]
        if self.gpus:
            argv += ["--gpus", self.gpus]
        if self.dbd:
            argv.append("--dbd")
        if self.before is None:
            shutil.rmtree(self.dir, ignore_errors=True)
            self.before = mounts()
            if self.conf:
                argv += ["--conf", self.conf]
        self.sluice(*argv, user=self.user, check=check, extra=self.daemon_env)
        text = self.sluice("env", "--dir", self.dir, user=self.user).out
        shown = subprocess.run(["bash", "-c", text + "\nenv -0"], capture_output=True, check=True,
                               env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}, text=True).stdout
        pairs = dict(item.split("=", 1) for item in shown.split("\0") if "=" in item)
        self.env = {key: pairs[key] for key in ("PATH", "SLURM_CONF") if key in pairs}
        assert "SLURM_CONF" in self.env, f"sluice env sets no SLURM_CONF: {text}"
        return self

    def write_conf(self, name, text):
        """A file beside slurm.conf, which daemons read at their next start or reconfiguration."""
        with open(os.path.join(self.dir, "etc", name), "w") as file:
            file.write(text)

    def edit_conf(self, change):
        """Rewrites slurm.conf by change(text) -> text; returns what it was."""
        with open(self.env["SLURM_CONF"]) as file:
            old = file.read()
        with open(self.env["SLURM_CONF"], "w") as file:
            file.write(change(old))
        return old

    def down(self):
        """Stops the cluster and returns what it left behind, as a list of sentences."""
        for running in self.running:
            running.kill()
        self.running = []
        if self.before is None:
            return []
        ports = self.ports()
        self.sluice("down", "--dir", self.dir, user=self.user)
        left = []
        def nothing_left():
            left[:] = leftovers(self.dir, self.before, ports)
            return not left
        try:
            wait_until(nothing_left, 5)
        except AssertionError:
            pass
        self.before = None
        return left

    def ports(self):
        """The port of slurmctld and those of the nodes: what tells this cluster's cgroups from others'."""
        try:
            with open(os.path.join(self.dir, "cluster")) as file:
                first = int(dict(line.split(None, 1) for line in file)["port"])
        except (OSError, KeyError, ValueError):
            return range(0)
        return range(first, first + self.nodes + 1)

    # -- commands ----------------------------------------------------------------------------------------------

    def start(self, command, user=USER, cwd=None, env=None, stdin=subprocess.DEVNULL):
        """Starts a shell command as a user with the cluster's environment and does not wait."""
        account = pwd.getpwnam(user)
        full = {"HOME": account.pw_dir, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "LANG": "C",
                "TZ": "UTC", **self.env, **(env or {})}
        process = subprocess.Popen(["bash", "-c", command], cwd=cwd or account.pw_dir, env=full, stdin=stdin,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=account.pw_uid,
                                   group=account.pw_gid, extra_groups=[], umask=0o022, start_new_session=True)
        running = Running(command, process)
        self.running.append(running)
        return running

    def run(self, command, user=USER, cwd=None, env=None, stdin=None, timeout=TIMEOUT):
        pipe = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        running = self.start(command, user, cwd, env, pipe)
        result = running.wait(timeout, stdin.encode() if isinstance(stdin, str) else stdin)
        self.running.remove(running)
        return result

    def ok(self, command, **options):
        """Runs a command that must succeed and returns its stdout."""
        result = self.run(command, **options)
        assert result.rc == 0, str(result)
        return result.out

    def submit(self, arguments, **options):
        """sbatch ARGUMENTS; returns the job id as text."""
        result = self.run("sbatch " + arguments, **options)
        found = re.fullmatch(r"Submitted batch job (\d+)\n", result.out)
        assert result.rc == 0 and found, str(result)
        return found.group(1)

    # -- jobs --------------------------------------------------------------------------------------------------

    def state(self, job):
        """The states of a job (or of all tasks of an array) as squeue shows them."""
        return set(self.run(f"squeue -h -r -t all -j {job} -o %T", user="root").out.split())

    def wait_state(self, job, *states, timeout=TIMEOUT):
        def reached():
            now = self.state(job)
            return now if now and now <= set(states) else None
        return wait_until(reached, timeout, 0.02, f"job {job} in {'/'.join(states)}, now {self.state(job)}")

    def wait_end(self, job, timeout=TIMEOUT):
        """Waits for any final state and returns it (one job) or all of them."""
        states = self.wait_state(job, *FINAL, timeout=timeout)
        return states.pop() if len(states) == 1 else states

    def field(self, job, letter):
        return self.ok(f"squeue -h -t all -j {job} -o '%{letter}'", user="root").strip()

    def wait_reason(self, job, reason, timeout=TIMEOUT):
        wait_until(lambda: self.field(job, "r") == reason, timeout, 0.02, f"reason {reason} of job {job}")

    def show(self, what, user=USER):
        """scontrol show WHAT as a dictionary of its key=value words."""
        text = self.ok(f"scontrol -o show {what}", user=user)
        return dict(re.findall(r"(\S+?)=((?:(?! \S+=).)*)", text.replace("\n", " ")))

    def sacct(self, job, fields="JobID,State,ExitCode"):
        out = self.ok(f"sacct -n -P -j {job} -o {fields}", user="root")
        return [line.split("|") for line in out.splitlines()]

    # -- daemons -----------------------------------------------------------------------------------------------

    def pid_file(self, name):
        return os.path.join(self.dir, "run", name + ".pid")

    def pid(self, name):
        """Process id of slurmctld or of slurmd-NODE; None when it does not run."""
        try:
            with open(self.pid_file(name)) as file:
                pid = int(file.read())
        except (OSError, ValueError):
            return None
        return pid if process_is_alive(pid) else None

    def kill(self, name, sig=signal.SIGKILL):
        """Signals a daemon and waits for its end."""
        pid = self.pid(name)
        assert pid, f"{name} does not run"
        os.kill(pid, sig)
        wait_until(lambda: not process_is_alive(pid), what=f"end of {name}")

    def node_names(self):
        return self.ok("sinfo -h -N -o %N", user="root").split()

    def node_state(self, node):
        """The short form: idle, drain, boot^."""
        return self.ok(f"sinfo -h -n {node} -o %t").split()[0]

    def node_reason(self, node):
        """Why it is down or drained; "none"."""
        return self.ok(f"sinfo -h -n {node} -o %E", user="root").strip()

    def idle(self):
        rows = self.run("sinfo -h -N -o '%N %t'", user="root").out.splitlines()
        return bool(rows) and all(row.split()[1:] == ["idle"] for row in rows)

    def reset(self):
        """Ends all jobs and waits until every node is idle, for the next test."""
        for running in self.running:
            running.kill()
        self.running = []
        def is_quiet():
            jobs = self.run("squeue -h -r -o %A", user="root").out.split()
            if jobs:
                self.run("scancel -s KILL " + " ".join(jobs) + "; scancel " + " ".join(jobs), user="root")
            return not jobs and self.idle()
        wait_until(is_quiet, 20, 0.05, "cluster idle again")

    def log(self, name="slurmctld"):
        """The text of a daemon's log file, wherever `sluice up` put it under the directory."""
        texts = []
        for top, _, files in os.walk(self.dir):
            for file in files:
                if file.startswith(name) and file.endswith(".log"):
                    with open(os.path.join(top, file), errors="replace") as log:
                        texts.append(log.read())
        return "\n".join(texts)


def stop_and_check(*clusters):
    """Stops all of them; what one leaves behind fails the test."""
    left = []
    for cluster in clusters:
        try:
            left += cluster.down()
        except (AssertionError, subprocess.TimeoutExpired) as why:      # the others are stopped all the same
            left.append(str(why))
    assert not left, "sluice down left behind: " + "; ".join(left)


@contextmanager
def cluster_of_its_own(name, before=lambda cluster: None, **options):
    """with cluster_of_its_own("memory", nodes=2) as cluster: for the fixtures of a module or of the session."""
    cluster = Cluster(f"{name}-{os.getpid()}", **options)
    before(cluster)
    try:
        yield cluster.up()
    finally:
        stop_and_check(cluster)


# -- what is left behind -----------------------------------------------------------------------------------------

def mounts():
    with open("/proc/self/mounts") as file:
        return {line.split()[1] for line in file}


def cgroups(ports):
    """Groups of the nodes with these ports, named slurm_NODE_PORT, on v2 alone NODE_PORT_slurmstepd.scope; other
    clusters may run beside."""
    found = set()
    for top, dirs, _ in os.walk("/sys/fs/cgroup"):
        for name in dirs:
            match = re.fullmatch(r"slurm_.*_(\d+)|.*_(\d+)_slurmstepd\.scope", name)
            if match and int(match.group(1) or match.group(2)) in ports:
                found.add(os.path.join(top, name))
    return found


def processes():
    """(pid, command line, environment) of everything that lives, as bytes with \\0 between the words."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                line = file.read()
            with open(f"/proc/{entry}/environ", "rb") as file:
                environ = file.read()
        except OSError:
            continue
        if process_is_alive(int(entry)):
            yield int(entry), line, environ


def words_of(line):
    return line.replace(b"\0", b" ").decode(errors="replace").strip()


def processes_of(directory):
    """Processes that carry the cluster's directory in their environment or command line."""
    mark = directory.encode() + b"/"
    return [(pid, words_of(line)) for pid, line, environ in processes()
            if pid not in (os.getpid(), os.getppid()) and (mark in line or b"SLURM_CONF=" + mark in environ)]


def pids_of(cluster, words):
    """Processes of this cluster whose command line begins with these words."""
    mark = cluster.dir.encode() + b"/"
    return [pid for pid, line, environ in processes() if mark in environ and words_of(line).startswith(words)]


def stepds(cluster, job, step=""):
    """slurmstepd of a step of the job, or of all."""
    return pids_of(cluster, f"slurmstepd: [{job}.{step}" + ("]" if step else ""))


def leftovers(directory, mounted_before, ports):
    left = [f"process {pid}: {line}" for pid, line in processes_of(directory)]
    left += [f"mount {path}" for path in mounts() - mounted_before if path.startswith(directory)]
    left += [f"cgroup {path}" for path in cgroups(ports)]
    if os.path.exists(directory):
        left.append(f"files in {directory}: {sorted(os.listdir(directory))}")
    return left
