# SPDX-License-Identifier: Apache-2.0
"""A slurmdbd beside clusters, and what is asked of it."""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest
from harness import BIN_ROOT, USER, find_bin_dirs, process_is_alive, wait_until


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Dbd:
    """A slurmdbd beside a cluster: it uses that one's munged and directory."""

    def __init__(self, storage="StorageType=accounting_storage/sqlite", extra=""):
        self.port = free_port()
        self.storage, self.extra = storage, extra
        self.process = None

    def conf(self, more=""):
        """Lines of slurm.conf for a cluster that reports here."""
        return (f"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
                f"AccountingStoragePort={self.port}\nMinJobAge=2\nKillWait=1\n{more}")

    def attach(self, cluster):
        self.dir = cluster.dir
        self.path = os.path.join(cluster.dir, "etc", "slurmdbd.conf")
        storage = self.storage
        if "StorageLoc" not in storage:
            storage += f"\nStorageLoc={cluster.dir}/slurmdbd.sqlite"
        self.write(f"DbdHost=localhost\nDbdPort={self.port}\nSlurmUser=root\nAuthInfo=socket={cluster.dir}/munge/socket\n"
                   f"LogFile={cluster.dir}/log/slurmdbd.log\nPidFile={cluster.dir}/run/slurmdbd.pid\n{storage}\n{self.extra}\n")
        return self

    def write(self, text, mode=0o600):
        with open(self.path, "w") as file:
            file.write(text)
        os.chmod(self.path, mode)

    def run(self, *argv):
        program = os.path.join(find_bin_dirs(BIN_ROOT, ["slurmdbd"])[0], "slurmdbd")
        return subprocess.run([program, "-f", self.path, *argv], capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL, cwd="/")

    def start(self):
        done = self.run()
        assert done.returncode == 0, done.stderr
        with open(os.path.join(self.dir, "run", "slurmdbd.pid")) as file:
            self.process = int(file.read())
        return self

    def stop(self, sig=signal.SIGTERM):
        if self.process:
            os.kill(self.process, sig)
            wait_until(lambda: not process_is_alive(self.process), what="end of slurmdbd")
        self.process = None

    def log(self):
        with open(os.path.join(self.dir, "log", "slurmdbd.log")) as file:
            return file.read()


@pytest.fixture
def make_dbd():
    made = []

    def make(*args, **options):
        made.append(Dbd(*args, **options))
        return made[-1]
    yield make
    for dbd in made:
        if dbd.process and process_is_alive(dbd.process):
            dbd.stop(signal.SIGKILL)


def waiting(cluster):
    """How many records wait for slurmdbd, by sdiag."""
    out = cluster.ok("sdiag", user="root")
    return int(next(line for line in out.splitlines() if "DBD Agent queue size" in line).split(":")[1])


def wait_delivered(cluster):
    wait_until(lambda: waiting(cluster) == 0, what="delivery")


def rows(cluster, words="-X -S now-1hour", fields="jobid,state,cluster", user="root", rc=0):
    done = cluster.run(f"sacct -a -n -P {words} -o {fields}", user=user)
    assert done.rc == rc, str(done)
    return done.out.splitlines()


def run_jobs(cluster, n, user=USER):
    return [cluster.submit("-o /dev/null --wrap 'sleep 0.1'", user=user, cwd="/tmp") for _ in range(n)]


def wait_ended(cluster):
    wait_until(lambda: not cluster.ok("squeue -h -o %i", user="root"), what="all jobs have ended")


def wait_forgotten(cluster):
    """Until the controller knows no job any more, and slurmdbd has them all."""
    wait_until(lambda: not cluster.ok("squeue -h -t all -o %i", user="root"), 60, 0.2, "the controller has forgotten all")
    wait_delivered(cluster)


class Server:
    """A database server of a test's own: "mariadb" or "postgresql", on 127.0.0.1."""

    def __init__(self, kind, directory):
        self.kind, self.port = kind, free_port()
        self.user = "mysql" if kind == "mariadb" else "postgres"
        self.dir = os.path.join(directory, kind)
        self.data = os.path.join(self.dir, "data")
        self.bin = "/usr/sbin" if kind == "mariadb" else max(glob.glob("/usr/lib/postgresql/*/bin"), default="")
        self.process = None

    @staticmethod
    def is_installed(kind):
        return os.path.exists("/usr/sbin/mariadbd") if kind == "mariadb" else bool(glob.glob("/usr/lib/postgresql/*/bin/postgres"))

    def storage(self):
        """Lines of slurmdbd.conf."""
        kind = "mysql" if self.kind == "mariadb" else "postgresql"
        return (f"StorageType=accounting_storage/{kind}\nStorageHost=127.0.0.1\nStoragePort={self.port}\n"
                "StorageUser=slurm\nStoragePass=secret\nStorageLoc=acct")

    def as_user(self, *argv, **options):
        account = pwd.getpwnam(self.user)
        return dict(args=argv, user=account.pw_uid, group=account.pw_gid, extra_groups=[], cwd=self.dir,
                    stdin=subprocess.DEVNULL, **options)

    def make(self):
        os.makedirs(self.data, 0o700)
        for path in (self.dir, self.data):
            shutil.chown(path, self.user, self.user)
        os.chmod(self.dir, 0o755)
        if self.kind == "mariadb":
            argv = ["mariadb-install-db", "--no-defaults", f"--datadir={self.data}", "--auth-root-authentication-method=normal"]
        else:
            argv = [f"{self.bin}/initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync"]
        subprocess.run(**self.as_user(*argv, check=True, capture_output=True, timeout=120))
        self.start()
        if self.kind == "mariadb":
            self.sql("create database acct; create user slurm@localhost identified by 'secret'; "
                     "grant all on acct.* to slurm@localhost; create user slurm@'127.0.0.1' identified by 'secret'; "
                     "grant all on acct.* to slurm@'127.0.0.1'")
        else:
            self.sql("create user slurm password 'secret'")
            self.sql("create database acct owner slurm")
        return self

    def client(self, statement):
        if self.kind == "mariadb":
            return ["mariadb", "--no-defaults", "-u", "root", "-S", f"{self.dir}/socket", "-e", statement]
        return [f"{self.bin}/psql", "-q", "-h", self.dir, "-p", str(self.port), "-U", "postgres", "-d", "postgres", "-c", statement]

    def sql(self, statement):
        subprocess.run(**self.as_user(*self.client(statement), check=True, capture_output=True, timeout=60))

    def start(self):
        if self.kind == "mariadb":
            argv = [f"{self.bin}/mariadbd", "--no-defaults", f"--datadir={self.data}", f"--socket={self.dir}/socket",
                    f"--port={self.port}", "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=64M"]
        else:
            argv = [f"{self.bin}/postgres", "-D", self.data, "-p", str(self.port), "-h", "127.0.0.1", "-k", self.dir]
        log = open(os.path.join(self.dir, "log"), "a")
        self.process = subprocess.Popen(**self.as_user(*argv, stdout=log, stderr=log, start_new_session=True))
        wait_until(lambda: subprocess.run(**self.as_user(*self.client("select 1"), capture_output=True)).returncode == 0,
                   60, 0.1, f"{self.kind} answers")

    def kill(self):
        """kill -9, of all its processes."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


@pytest.fixture
def make_server():
    made = []

    def make(kind):
        made.append(Server(kind, tempfile.mkdtemp(prefix="sluice-db-")))
        os.chmod(os.path.dirname(made[-1].dir), 0o755)
        return made[-1].make()
    yield make
    for server in made:
        if server.process:
            server.kill()
        shutil.rmtree(os.path.dirname(server.dir), ignore_errors=True)
