# SPDX-License-Identifier: Apache-2.0
"""Start and stop a small cluster on this machine, of Debian's Slurm or of Sluice, from one and the same slurm.conf.

A Cluster owns its directory: configuration, keys, state, logs and pid files all lie in it, and stop() ends every
process that start() began, by pid.  Both flavours get the same configuration text; they differ in the directories of
their executables and in accounting (Debian's needs slurmdbd and MariaDB, Sluice keeps its own).
Root only: the commands of a scenario run as several users.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time

FIRST_JOB_ID = 70001          # five digits, so that an id is never mistaken for another number
USERS = {"sluicet1": 7101, "sluicet2": 7102}
NODE_COUNT = 4
PORTS_PER_CLUSTER = 16
# Character devices that open without harm; the minor tells them apart (full, random, kmsg, zero).
FAKE_GPU_DEVICES = [(1, 7), (1, 8), (1, 11), (1, 5)]

BASE_CONF = """\
ClusterName=peer
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket
SlurmctldPort={port}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/run/slurmctld.pid
SlurmdPidFile={dir}/run/slurmd-%n.pid
SlurmctldLogFile={dir}/log/slurmctld.log
SlurmdLogFile={dir}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SlurmdParameters=config_overrides
MailProg=/bin/true
FirstJobId={first_job_id}
MessageTimeout=60
"""


def ensure_users():
    """Creates the ordinary users that own the jobs of tests; their numbers are fixed, so that outputs compare."""
    for name, uid in USERS.items():
        try:
            if pwd.getpwnam(name).pw_uid != uid:
                raise SystemExit(f"user {name} exists with another uid than {uid}: remove it first")
        except KeyError:
            subprocess.run(["useradd", "-m", "-u", str(uid), "-U", "-s", "/bin/bash", name], check=True)


port_lock = threading.Lock()
ports_taken = set()


def free_port_base(low=26200, high=26992):
    """A run of PORTS_PER_CLUSTER ports that nothing listens on; where to look first differs from process to process."""
    bases = list(range(low, high - PORTS_PER_CLUSTER + 1, PORTS_PER_CLUSTER))
    start = os.getpid() % len(bases)
    for base in bases[start:] + bases[:start]:
        with port_lock:
            if base in ports_taken:
                continue
            ports_taken.add(base)
        try:
            for port in range(base, base + PORTS_PER_CLUSTER):
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
            return base
        except OSError:
            continue
    raise SystemExit(f"no {PORTS_PER_CLUSTER} free ports in a row between {low} and {high}")


def wait_for(what, condition, timeout=30.0, every=0.05):
    """Polls condition() until it is true and returns its value; raises TimeoutError naming `what`."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"timed out after {timeout:g} s: {what}")
        time.sleep(every)


def port_answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def pid_of(path):
    try:
        with open(path) as file:
            pid = int(file.read())
        os.kill(pid, 0)
        return pid
    except (OSError, ValueError):
        return None


def stop_pid(pid, timeout=15.0):
    """Ends a process politely, then by force.  Returns when it is gone."""
    def is_gone():
        try:
            with open(f"/proc/{pid}/stat") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
        except OSError:
            return True
    for sig in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, sig)
            wait_for(f"end of process {pid}", is_gone, timeout)
            return
        except ProcessLookupError:
            return
        except TimeoutError:
            continue


def kill_session(leader):
    """Ends every process of the session that `leader` began, also those in process groups of their own."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    if int(stat.read().rsplit(")", 1)[1].split()[3]) == leader:
                        os.kill(int(entry), signal.SIGKILL)
            except OSError:
                continue


def find_bin_dirs(root, names):
    """Directories under `root` (a prefix or a build directory) that hold the named executables.

    They are absolute: commands run elsewhere, where a relative one would name nothing and Debian's be found instead.
    """
    found = {}
    for top, dirs, files in os.walk(os.path.abspath(root)):
        dirs[:] = [d for d in dirs if not d.endswith(".p") and not d.startswith("meson-")]
        for name in names:
            if name in files and name not in found and os.access(os.path.join(top, name), os.X_OK):
                found[name] = top
    missing = sorted(set(names) - set(found))
    if missing:
        raise SystemExit(f"{root} holds no executable {', '.join(missing)}: build first, or give --bin")
    return list(dict.fromkeys(found.values()))


class Cluster:
    """One cluster in one directory.  `flavour` is "debian" or "sluice".

    `node_extra` has one string a node line: the numbers of its nodes, then what the line adds ("1-2 Feature=fast").
    `scripts`: files of programs/ that lie beside slurm.conf.
    `confined`: Debian's confines jobs by control groups, too, as Sluice does by default.
    `dbd`: Sluice has a slurmdbd, too, on "mariadb" or else on SQLite; Debian's always has one where there is accounting.
    `dbd_conf`: lines added to slurmdbd.conf.
    """

    def __init__(self, flavour, directory, conf, gpus=0, shards=0, bin_root=None, accounting=True, cpus=8, mem=24000,
                 nodes=NODE_COUNT, node_extra=(), topology=None, confined=False, scripts=(), dbd=False,
                 dbd_conf=""):
        self.flavour = flavour
        self.dir = os.path.abspath(directory)
        self.conf = conf
        self.gpus = gpus
        self.shards = shards      # of all GPUs of a node together
        self.cpus = cpus
        self.mem = mem
        self.nodes = nodes
        self.node_extra = node_extra or (f"1-{nodes}",)
        self.topology = topology  # the text of topology.conf
        self.scripts = scripts
        self.accounting = accounting
        self.confined = confined
        self.dbd = dbd if flavour == "sluice" else False
        self.dbd_conf = dbd_conf
        self.prefix = []          # put before every command: a wrapper that accounts for its CPU time, say
        self.port = 0
        if flavour == "debian":
            self.path = "/usr/bin:/usr/sbin:/bin:/sbin"
        else:
            wanted = ["slurmctld", "slurmd", "slurmstepd", "sbatch", "srun", "salloc", "squeue", "sinfo", "scancel",
                      "scontrol", "sacct", "slurmdbd"]
            self.path = ":".join(find_bin_dirs(bin_root, wanted)) + ":/usr/bin:/usr/sbin:/bin:/sbin"

    # -- files -------------------------------------------------------------------------------------------------

    def file(self, *parts):
        return os.path.join(self.dir, *parts)

    def env(self):
        return {"PATH": self.path, "SLURM_CONF": self.file("etc", "slurm.conf"), "LANG": "C", "TZ": "UTC"}

    def write_conf(self):
        text = BASE_CONF.format(dir=self.dir, port=self.port, first_job_id=FIRST_JOB_ID)
        if self.confined:
            text = text.replace("proctrack/linuxproc", "proctrack/cgroup").replace("task/none", "task/cgroup,task/affinity")
            with open(self.file("etc", "cgroup.conf"), "w") as file:
                file.write("ConstrainCores=yes\nConstrainRAMSpace=yes\nConstrainDevices=yes\n")
        if self.flavour == "debian" and self.accounting:
            text += ("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
                     f"AccountingStoragePort={self.port + 1}\nAccountingStoragePass={self.file('munge', 'socket')}\n"
                     f"JobAcctGatherType=jobacct_gather/{'cgroup' if self.confined else 'linux'}\n"
                     "JobAcctGatherFrequency=1\n")
        if self.dbd:
            text += ("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
                     f"AccountingStoragePort={self.port + 1}\n")
        gres = ""
        if self.gpus:
            text += f"GresTypes=gpu{',shard' if self.shards else ''}\n"
            gres = f"Gres=gpu:a100:{self.gpus}" + (f",shard:{self.shards}" if self.shards else "")
        host = socket.gethostname().split(".")[0]
        for line in self.node_extra:
            names, _, extra = line.partition(" ")
            first, _, last = names.partition("-")
            port = self.port + 3
            text += (f"NodeName=n[{names}] NodeHostname={host} NodeAddr=127.0.0.1 "
                     f"Port=[{port + int(first)}-{port + int(last or first)}] Sockets=1 CoresPerSocket={self.cpus} "
                     f"ThreadsPerCore=1 RealMemory={self.mem} {gres} {extra} State=UNKNOWN\n")
        programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
        text += self.conf.replace("@PROGRAMS@", programs)
        for name in self.scripts:
            shutil.copy(os.path.join(programs, name), self.file("etc", name))
        with open(self.file("etc", "slurm.conf"), "w") as file:
            file.write(text)
        if self.topology:
            with open(self.file("etc", "topology.conf"), "w") as file:
                file.write(self.topology)
        if self.gpus:
            with open(self.file("etc", "gres.conf"), "w") as file:
                file.write(f"Name=gpu Type=a100 File={self.file('dev')}/gpu[0-{self.gpus - 1}]\n")
                if self.shards:
                    file.write(f"Name=shard Count={self.shards}\n")

    # -- processes ---------------------------------------------------------------------------------------------

    def run(self, *argv, **options):
        env = dict(os.environ, **self.env())
        return subprocess.run([*self.prefix, *argv], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)

    def must_run(self, *argv):
        done = self.run(*argv, timeout=60)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(argv)}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def start(self):
        """Starts everything and returns when all nodes are idle."""
        ensure_users()
        shutil.rmtree(self.dir, ignore_errors=True)
        for sub in ("etc", "log", "state", "spool", "run", "munge", "dev"):
            os.makedirs(self.file(sub))
        os.chmod(self.dir, 0o755)
        self.port = free_port_base()
        for i in range(self.gpus):
            major, minor = FAKE_GPU_DEVICES[i]
            os.mknod(self.file("dev", f"gpu{i}"), 0o20666, os.makedev(major, minor))
        self.write_conf()
        self.start_munge()
        if self.flavour == "debian" and self.accounting:
            self.start_accounting()
        if self.dbd == "mariadb":
            self.start_dbd(self.start_mariadb())
        elif self.dbd:
            self.start_dbd(f"StorageType=accounting_storage/sqlite\nStorageLoc={self.file('state', 'slurmdbd.sqlite')}\n")
        self.start_daemons()
        if self.dbd:
            wait_for("the cluster in slurmdbd",
                     lambda: "peer" in self.run("sacctmgr", "-n", "show", "cluster", "format=cluster").stdout)

    def start_munge(self):
        user = pwd.getpwnam("munge")
        key = self.file("munge", "key")
        with open(key, "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(key, 0o600)
        for path in (key, self.file("munge")):
            os.chown(path, user.pw_uid, user.pw_gid)
        os.chmod(self.file("munge"), 0o755)
        self.must_run("setpriv", "--reuid", "munge", "--regid", "munge", "--clear-groups", "munged",
                      "-S", self.file("munge", "socket"), f"--key-file={key}",
                      f"--pid-file={self.file('munge', 'pid')}", f"--seed-file={self.file('munge', 'seed')}",
                      f"--log-file={self.file('munge', 'log')}")

    def start_accounting(self):
        self.start_dbd(self.start_mariadb())
        self.run("sacctmgr", "-n", "-i", "add", "cluster", "peer")

    def start_mariadb(self):
        """A server with a database for slurmdbd; returns what slurmdbd.conf says of it."""
        base = self.file("mysql")
        tmp = self.file("mysql-tmp")  # its own: a server that starts removes all temporary tables in it
        for path in (base, tmp):
            os.makedirs(path)
            shutil.chown(path, "mysql")
        self.must_run("mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={base}", f"--tmpdir={tmp}",
                      "--auth-root-authentication-method=normal")
        with open(self.file("log", "mariadb.log"), "w") as log:
            subprocess.Popen([*self.prefix, "mariadbd", "--no-defaults", "--user=mysql", f"--datadir={base}", f"--tmpdir={tmp}",
                              f"--socket={base}/socket", f"--pid-file={base}/pid", "--bind-address=127.0.0.1",
                              f"--port={self.port + 2}", "--innodb-buffer-pool-size=1G",
                              "--innodb-lock-wait-timeout=900"],
                             stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        def client(sql):
            return self.run("mariadb", "--no-defaults", "-S", f"{base}/socket", "-e", sql)
        wait_for("MariaDB", lambda: client("select 1").returncode == 0)
        client("create user 'slurm'@'127.0.0.1' identified by 'peer'; create user 'slurm'@'localhost' identified by "
               "'peer'; grant all on *.* to 'slurm'@'127.0.0.1'; grant all on *.* to 'slurm'@'localhost';")
        return ("StorageType=accounting_storage/mysql\n"
                f"StorageHost=127.0.0.1\nStoragePort={self.port + 2}\nStorageUser=slurm\nStoragePass=peer\n"
                "StorageLoc=peer\n")

    def start_dbd(self, storage):
        conf = self.file("etc", "slurmdbd.conf")
        with open(conf, "w") as file:
            file.write("AuthType=auth/munge\n"
                       f"AuthInfo=socket={self.file('munge', 'socket')}\nDbdHost=localhost\nDbdAddr=127.0.0.1\n"
                       f"DbdPort={self.port + 1}\nSlurmUser=root\nLogFile={self.file('log', 'slurmdbd.log')}\n"
                       f"PidFile={self.file('run', 'slurmdbd.pid')}\n{storage}{self.dbd_conf}")
        os.chmod(conf, 0o600)
        self.run_dbd()

    def run_dbd(self):
        self.must_run("slurmdbd")
        wait_for("slurmdbd", lambda: port_answers(self.port + 1))

    def start_daemons(self):
        self.start_controller()
        for i in range(1, self.nodes + 1):
            os.makedirs(self.file("spool", f"n{i}"), exist_ok=True)
            self.must_run("slurmd", "-N", f"n{i}")
        wait_for("all nodes idle", lambda: self.idle_nodes() == self.nodes, 60)
        if self.flavour == "debian" and self.accounting:
            self.warm_up_accounting()

    def warm_up_accounting(self):
        """The first records after a start reach slurmdbd seconds late and incomplete; sacrifice one job to them."""
        partition = self.must_run("sinfo", "-h", "-n", "n1", "-o", "%R").split()[0]
        job = self.must_run("sbatch", "--parsable", "-p", partition, "-w", "n1", "-o", "/dev/null", "--wrap", "sleep 0.2").strip()
        wait_for("the first record in slurmdbd",
                 lambda: "COMPLETED" in self.run("sacct", "-n", "-X", "-j", job, "-o", "state").stdout)

    def start_controller(self):
        self.must_run("slurmctld")
        wait_for("slurmctld", lambda: port_answers(self.port))

    def controller_pid(self):
        return pid_of(self.file("run", "slurmctld.pid"))

    def idle_nodes(self):
        out = self.run("sinfo", "-h", "-N", "-o", "%N %t").stdout
        return len({line for line in out.splitlines() if line.split()[1:] == ["idle"]})

    def stop(self):
        """Ends every process of this cluster; its files stay for a look until the next start."""
        files = [self.file("run", f"slurmd-n{i}.pid") for i in range(1, self.nodes + 1)]
        files += [self.file("run", "slurmctld.pid"), self.file("run", "slurmdbd.pid"), self.file("mysql", "pid"),
                  self.file("munge", "pid")]
        for path in files:
            pid = pid_of(path)
            if pid:
                stop_pid(pid)
        self.stop_leftovers()

    def stop_leftovers(self):
        """Step daemons and jobs survive their slurmd by design; those of this cluster carry its SLURM_CONF."""
        mark = f"SLURM_CONF={self.file('etc', 'slurm.conf')}".encode()
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        os.kill(int(entry), signal.SIGKILL)
            except OSError:
                continue
