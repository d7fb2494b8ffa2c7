# SPDX-License-Identifier: Apache-2.0
"""The rows of the benchmark: what is done on a cluster, and what is measured.

A row is a function of a System (one cluster of one of the two sides) and the sizes; it returns a dictionary of named
measures.  MEASURES tells how each is compared: whether more is better, and the ratio to reach.
"""

import datetime
import os
import re
import signal
import statistics
import subprocess
import time

from cluster import FIRST_JOB_ID, pid_of, stop_pid, wait_for

SBATCH = "sbatch -Q -o /dev/null --wrap=true"


class Row:
    """`alone`: needs no cluster, only Sluice's build directory, which takes the System's place."""

    def __init__(self, name, title, run, measures, sets=("default",), slow=False, alone=False):
        self.name, self.title, self.run, self.measures, self.sets, self.slow = name, title, run, measures, sets, slow
        self.alone = alone


class Measure:
    """unit, whether more is better, and the target: so many times better than the other's, or a limit of our own."""

    def __init__(self, unit, more_is_better, factor=None, limit=None):
        self.unit, self.more_is_better, self.factor, self.limit = unit, more_is_better, factor, limit

    def target(self):
        if self.limit is not None:
            return f"at most {self.limit:g}"
        return "-" if self.factor is None else f"{self.factor:g}x"

    def reached(self, theirs, ours):
        """Whether the target is met; None when there is none or it cannot be told."""
        if ours is None:
            return None
        if self.limit is not None:
            return ours <= self.limit
        if self.factor is None or theirs is None:
            return None
        return self.ratio(theirs, ours) >= self.factor

    def ratio(self, theirs, ours):
        if self.more_is_better:
            return ours / theirs if theirs else float("inf")
        return theirs / ours if ours else float("inf")


# -- submission --------------------------------------------------------------------------------------------------

def submit(system, loops, count):
    """`loops` shells submit `count` jobs together while the partition is down; returns (seconds, CPU seconds)."""
    system.partition("down")
    each = max(1, count // loops)
    with system.cpu_time() as cpu:
        start = time.monotonic()
        system.together([f"for i in $(seq {each}); do {SBATCH} || echo failed; done"] * loops)
        seconds = time.monotonic() - start
    return seconds, cpu.seconds, each * loops


def row_sbatch(loops):
    def run(system, sizes):
        system.empty()
        seconds, cpu, count = submit(system, loops, sizes.submit)
        assert system.pending() >= count, f"{system.pending()} of {count} jobs arrived"
        system.empty()
        return {"rate": count / seconds, "cpu": cpu / count * 1000}
    return run


def row_polled(system, sizes):
    """Eight submitting loops while 20 clients ask for the whole queue or a user's part of it, one after another."""
    system.fill(sizes.pending)
    stop = os.path.join(system.work, "stop")
    polls = [system.start(f"while ! test -e {stop}; do squeue {'-u nobody' if i % 2 else ''} > /dev/null; done")
             for i in range(20)]
    time.sleep(2)
    count = 0
    start = time.monotonic()
    try:
        # A fixed time rather than a fixed number: the other side may need minutes for a few hundred.
        text = (f"end=$((SECONDS + {sizes.polled_seconds})); n=0; while test $SECONDS -lt $end; do "
                f"{SBATCH} && n=$((n + 1)); done; echo $n")
        count = sum(int(out) for out in system.together([text] * 8))
        seconds = time.monotonic() - start
    finally:
        open(stop, "w").close()
        for poll in polls:
            poll.wait()
        os.unlink(stop)
    return {"rate": count / seconds}


# -- jobs and steps ------------------------------------------------------------------------------------------------

def row_end_to_end(system, sizes):
    system.empty()
    submit(system, 8, sizes.jobs)
    with system.cpu_time() as cpu:
        start = time.monotonic()
        system.partition("up")
        wait_for("the queue to drain", lambda: not system.out("squeue -h -r").strip(), 600, 0.2)
        seconds = time.monotonic() - start
    return {"rate": sizes.jobs / seconds, "cpu": cpu.seconds / sizes.jobs * 1000}


def row_srun(arguments, count):
    def run(system, sizes):
        system.ready()
        return {"time": system.median_of(f"srun {arguments} true", count)}
    return run


def row_steps(system, sizes):
    system.ready()
    start = time.monotonic()
    system.out(f"salloc -Q -N 4 sh -c 'for i in $(seq {sizes.steps}); do srun -N 1 -n 1 true; done' 2>/dev/null")
    return {"rate": sizes.steps / (time.monotonic() - start)}


def row_wait(system, sizes):
    system.ready()
    return {"time": system.median_of("sbatch -Q -W -o /dev/null --wrap=true", 3)}


# -- the node, jobs confined ---------------------------------------------------------------------------------------

# How each side's controller logs that a job has been given to a node, and that its end has arrived.
LOGGED = {"debian": (r"(?:Allocate|Started) JobId=(\d+)", r"_job_complete: JobId=(\d+) done"),
          "sluice": (r"job (\d+) of uid \d+ starts", r"job (\d+) ends:")}


def logged_times(text, pattern):
    """Seconds by job id, of the lines that match."""
    return {match[2]: datetime.datetime.fromisoformat(match[1]).timestamp()
            for match in re.finditer(r"^\[(\S+?)\] .*?" + pattern, text, re.M)}


def row_batch(system, sizes):
    """Batch jobs of `true`, one after the other on idle nodes: from the controller's launch to the job's end."""
    system.ready()
    starts, ends = LOGGED[system.flavour]
    spans = []
    for _ in range(15):
        job = system.out("sbatch --parsable -o /dev/null --wrap=true").strip()
        wait_for(f"the end of job {job}", lambda: job in logged_times(system.controller_log(), ends), 60, 0.02)
        text = system.controller_log()
        spans.append(logged_times(text, ends)[job] - logged_times(text, starts)[job])
    return {"time": statistics.median(spans)}


def row_step_loop(system, sizes):
    system.ready()
    start = time.monotonic()
    system.out("salloc -Q -N 1 sh -c 'for i in $(seq 100); do srun -n 1 true; done' 2>/dev/null")
    return {"time": time.monotonic() - start}


def step_daemons():
    """pids of all slurmstepds on this machine."""
    pids = set()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/comm") as file:
                if file.read().strip() == "slurmstepd":
                    pids.add(int(entry))
        except OSError:
            continue
    return pids


def row_step_memory(system, sizes):
    """What the slurmstepd of a batch job holds: its own pages, and its share of those that several have mapped."""
    system.ready()
    before = step_daemons()
    job = system.out("sbatch --parsable -o /dev/null --wrap='sleep 60'").strip()
    wait_for("a slurmstepd", lambda: step_daemons() - before, 30)
    time.sleep(2)
    totals = {"rss": 0, "pss": 0}
    for pid in step_daemons() - before:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            text = file.read()
        for key in totals:
            totals[key] += int(re.search(rf"^{key}:\s+(\d+)", text, re.M | re.I)[1])
    system.out(f"scancel {job}")
    return totals


def cpu_ticks(pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
        total += int(words[11]) + int(words[12])
    return total


def row_sampling(system, sizes):
    """A step of 1,000 tasks that sleep, sampled each second: the CPU time of its slurmstepd, in percent of a core."""
    system.ready()
    before = step_daemons()
    step = system.start("srun -N 1 -n 1000 -O --mem=2000 --acctg-freq=task=1 sleep 600")
    try:
        wait_for("1,000 tasks", lambda: system.tasks_of("sleep", "600") >= 1000, 120, 0.5)
        time.sleep(3)
        pids = step_daemons() - before
        first = cpu_ticks(pids)
        time.sleep(10)
        used = (cpu_ticks(pids) - first) / os.sysconf("SC_CLK_TCK")
    finally:
        system.out("scancel -p main")
        step.wait()
    return {"share": used / 10 * 100}


# -- the queue -----------------------------------------------------------------------------------------------------

def row_squeue(size):
    def run(system, sizes):
        system.fill(getattr(sizes, size))
        return {"time": system.median_of("squeue > /dev/null", 5)}
    return run


def row_json(system, sizes):
    system.fill(sizes.pending)
    if "job_id" not in system.out("squeue --json 2>/dev/null | head -c 3000", check=False):
        return {}
    return {"time": system.median_of("squeue --json > /dev/null", 3)}


def row_scancel(system, sizes):
    system.fill(sizes.pending)
    start = time.monotonic()
    system.out("scancel -p main --state=PENDING")
    wait_for("the queue to be empty", lambda: not system.out("squeue -h").strip(), 300, 0.1)
    return {"time": time.monotonic() - start}


def timed(system, command, cpu=None):
    """Seconds of a command, without those of the shell that starts it; `cpu` gets its side's CPU milliseconds."""
    usage = system.meter.path
    out = system.out(f"read -r -a before < {usage}; start=$EPOCHREALTIME; {command} || exit; end=$EPOCHREALTIME; "
                     f"read -r -a after < {usage}; echo $start $end ${{before[-1]}} ${{after[-1]}}")
    start, end, before, after = out.split()[-4:]
    if cpu is not None:
        cpu.append(system.meter.seconds_of(int(after) - int(before)) * 1000)
    return float(end) - float(start)


def row_array(system, sizes):
    """A held array of 10,000 tasks: submitted, listed task by task, cancelled; medians of five."""
    values = {key: [] for key in ARRAY_MEASURES}
    rows = os.path.join(system.work, "rows")
    for _ in range(5):
        system.empty()
        for key, command in (("submit", "sbatch -Q -H -a 1-10000 -o /dev/null --wrap=true"),
                             ("list", f"squeue -h -r > {rows}"), ("cancel", "scancel -p main")):
            values[key].append(timed(system, command, values[key + " CPU"]))
        with open(rows) as file:
            assert sum(1 for _ in file) >= 10000
    return {key: statistics.median(each) for key, each in values.items()}


def row_release(system, sizes):
    """The pending jobs, held and released by their name; the partition is down, so that nothing starts."""
    system.fill(sizes.pending)
    system.out("scontrol hold jobname=wrap")
    return {"time": timed(system, "scontrol release jobname=wrap")}


def row_dependents(system, sizes):
    """As row_end_to_end, but each job waits for one that is held until all are there."""
    system.empty()
    system.partition("up")
    first = system.out("sbatch --parsable -H -o /dev/null --wrap=true").strip()
    each = (sizes.jobs + 7) // 8
    system.together([f"for i in $(seq {each}); do {SBATCH} -d afterok:{first} || echo failed; done"] * 8)
    start = time.monotonic()
    system.out(f"scontrol release {first}")
    wait_for("the queue to drain", lambda: not system.out("squeue -h -r").strip(), 600, 0.2)
    return {"rate": 8 * each / (time.monotonic() - start)}


def row_restart(system, sizes):
    """Orderly stop, start, until squeue and scontrol answer; then memory and files."""
    system.fill(sizes.large)
    pid = system.cluster.controller_pid()
    stop_pid(pid, 120)
    start = time.monotonic()
    system.cluster.start_controller()
    wait_for("squeue and scontrol", lambda: system.answers("squeue -h -j 1; scontrol ping"), 120, 0.01)
    seconds = time.monotonic() - start
    assert system.pending() >= sizes.large, "jobs are missing after the restart"
    return {"time": seconds, "memory": system.controller_rss() / 1024, "files": count_files(system.cluster.dir)}


def count_files(directory):
    return sum(len(files) for _, _, files in os.walk(os.path.join(directory, "state")))


# -- failures ------------------------------------------------------------------------------------------------------

def row_node_down(system, sizes):
    """kill -9 of a slurmd; how long until sinfo shows the node with a star."""
    system.ready()
    path = system.cluster.file("run", "slurmd-n4.pid")
    with open(path) as file:
        os.kill(int(file.read()), signal.SIGKILL)
    start = time.monotonic()
    wait_for("n4*", lambda: "*" in system.out("sinfo -h -n n4 -o %t"), 500, 0.1)
    seconds = time.monotonic() - start
    system.cluster.must_run("slurmd", "-N", "n4")
    wait_for("n4 idle", lambda: system.out("sinfo -h -n n4 -o %t").strip() == "idle", 60, 0.2)
    return {"time": seconds}


def row_lost(system, sizes):
    """kill -9 of slurmctld under four submitting loops; acknowledged jobs that are gone, ids given out again."""
    system.empty()
    system.partition("down")
    acknowledged, lost, seen, reused = 0, 0, set(), 0
    for _ in range(sizes.kills):
        stop = os.path.join(system.work, "stop")
        loop = f"while ! test -e {stop}; do sbatch --parsable -o /dev/null --wrap=true 2>/dev/null || break; done"
        running = [system.start(loop) for _ in range(4)]
        time.sleep(1.5)
        os.kill(system.cluster.controller_pid(), signal.SIGKILL)
        system.kill_helpers()
        open(stop, "w").close()
        ids = [int(line) for process in running for line in process.communicate()[0].split() if line.isdigit()]
        os.unlink(stop)
        system.cluster.start_controller()
        wait_for("squeue", lambda: system.answers("squeue -h -j 1"), 60, 0.1)
        system.partition("down")
        left = set(map(int, system.out("squeue -h -r -o %A").split()))
        acknowledged += len(ids)
        lost += len(set(ids) - left)
        reused += len(set(ids) & seen)
        seen |= set(ids)
    return {"acknowledged": acknowledged, "lost": lost, "reused": reused}


# -- history -------------------------------------------------------------------------------------------------------

HISTORY_DAYS = 100
HISTORY_FIRST_JOB = 1000000
INGEST_LARGE = 100000


def copy_row(sql, table, others, changes):
    """INSERT … SELECT of the one row of a table that Slurm itself has written, with changed columns."""
    columns = sql(f"select column_name from information_schema.columns where table_schema='peer' and table_name='{table}'")
    names = [name for name in columns.split() if name not in others]
    values = [changes.get(name, f"t.`{name}`") for name in names]
    return f"insert into {table} ({', '.join(f'`{n}`' for n in names)}) select {', '.join(values)} "


def fill_debian(system, count):
    """The rows of a job that has run, with other ids, users and times: what slurmdbd would have stored."""
    socket = system.cluster.file("mysql", "socket")

    def sql(text):
        done = subprocess.run(["mariadb", "--no-defaults", "-N", "-S", socket, "peer", "-e", text], check=True,
                              stdout=subprocess.PIPE, text=True)
        return done.stdout
    step = HISTORY_DAYS * 86400 / count
    end = f"unix_timestamp() - {HISTORY_DAYS * 86400} + floor((s.seq - 1) * {step})"
    times = {"time_end": end, "time_start": f"{end} - 600", "time_eligible": f"{end} - 700", "time_submit": f"{end} - 700"}
    changes = dict(times, id_job=f"{HISTORY_FIRST_JOB} + s.seq - 1", id_user="10000 + (s.seq - 1) % 1000")
    sql("create table job_model as select * from peer_job_table where time_end > 0 limit 1; "
        "create table step_model as select * from peer_step_table limit 1")
    sql(copy_row(sql, "peer_job_table", ("job_db_inx",), changes) + f"from seq_1_to_{count} s, job_model t")
    sql(copy_row(sql, "peer_step_table", (), {"job_db_inx": "j.job_db_inx", "time_start": "j.time_start", "time_end": "j.time_end"}) +
        f"from peer_job_table j, step_model t where j.id_job >= {HISTORY_FIRST_JOB}")
    sql("drop table job_model, step_model; analyze table peer_job_table, peer_step_table")


def fill_sluice(system, count, build):
    stop_pid(system.cluster.controller_pid())
    subprocess.run([os.path.join(build, "tests", "bench", "history_fill"), system.cluster.file("state", "slurmctld.sqlite"),
                    str(count), str(HISTORY_DAYS)], check=True)
    system.cluster.start_controller()


def row_history(system, sizes):
    """sacct of one job, and of all jobs of a day, among many."""
    count = sizes.history
    if not getattr(system, "history_filled", False):
        if system.flavour == "debian":
            fill_debian(system, count)
        else:
            fill_sluice(system, count, sizes.bin)
        system.history_filled = True
    found = {"one": [], "day": []}
    for turn in range(5):
        job = HISTORY_FIRST_JOB + count // 7 * (turn + 1)
        found["one"].append(timed(system, f"test $(sacct -X -n -P -j {job} -o jobid,state) = '{job}|COMPLETED'"))
        day = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=10 + 15 * turn)
        text = f"-S {day:%FT%T} -E {day + datetime.timedelta(days=1):%FT%T}"
        rows = os.path.join(system.work, "rows")
        found["day"].append(timed(system, f"sacct -a -X -n -P {text} -o jobid,user,account,state,elapsed,alloctres > {rows}"))
        with open(rows) as file:
            lines = sum(1 for _ in file)
        expected = count / HISTORY_DAYS
        assert 0.99 * expected <= lines <= 1.03 * expected + 3, f"{lines} jobs of a day instead of {expected}"
    return {key: statistics.median(values) for key, values in found.items()}


class Database:
    """One question after the other to the MariaDB of a cluster, without a process for each."""

    def __init__(self, system, prepare="select 1"):
        subprocess.run(["mariadb", "--no-defaults", "-S", system.cluster.file("mysql", "socket"), "peer", "-e", prepare],
                       check=True, stdout=subprocess.DEVNULL)
        self.client = subprocess.Popen(["mariadb", "--no-defaults", "-N", "-n", "-S", system.cluster.file("mysql", "socket"), "peer"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def number(self, sql):
        self.client.stdin.write(sql + ";\n")
        self.client.stdin.flush()
        return int(self.client.stdout.readline())

    def close(self):
        self.client.stdin.close()
        self.client.wait()


# The jobs whose end is stored, with that of their batch step.
ENDED = {"debian": "select count(*) from peer_job_table where time_end > 0 and not exists "
                   "(select 1 from peer_step_table s where s.job_db_inx = peer_job_table.job_db_inx and s.time_end = 0)",
         "sluice": "select count(*) from job where end_time between 1 and unix_timestamp()"}


def connected(port):
    """Whether anything holds a connection to a port of this machine."""
    with open("/proc/net/tcp") as file:
        lines = [line.split() for line in file.readlines()[1:]]
    return any(line[3] == "01" and int(line[2].split(":")[1], 16) == port for line in lines)


def stored_rate(system, count, prepare="select 1"):
    """slurmdbd comes back: jobs a second from its controller's connection to the last of `count`, CPU of a job in ms."""
    database = Database(system, prepare)
    wanted = database.number(ENDED[system.flavour]) + count
    with system.cpu_time() as cpu:
        system.cluster.run_dbd()
        wait_for("the controller at slurmdbd", lambda: connected(system.cluster.port + 1), 120, 0.001)
        start = time.monotonic()
        wait_for("all jobs in the database", lambda: database.number(ENDED[system.flavour]) >= wanted, 1800, 0.02)
        seconds = time.monotonic() - start
    database.close()
    return count / seconds, cpu.seconds / count * 1000


def row_ingest(system, sizes):
    """Jobs have ended while slurmdbd was away, and it comes back: how fast it has them from the controller."""
    system.ready()
    stop_pid(pid_of(system.cluster.file("run", "slurmdbd.pid")))
    _, _, count = submit(system, 8, sizes.backlog)
    system.partition("up")
    wait_for("the queue to drain", lambda: not system.out("squeue -h -r").strip(), 600, 0.2)
    time.sleep(6)  # MinJobAge
    rate, cpu = stored_rate(system, count)
    found = {"rate": rate, "cpu": cpu}
    if system.flavour == "sluice":
        stop_pid(pid_of(system.cluster.file("run", "slurmdbd.pid")))
        fill_sluice(system, INGEST_LARGE, sizes.bin)
        gone = f"delete from job where job_id >= {HISTORY_FIRST_JOB}"  # those of the measurement before
        found["large"], _ = stored_rate(system, INGEST_LARGE, gone)
    return found


# -- the planner, without daemons ----------------------------------------------------------------------------------

def row_tool(tool, *arguments):
    """A program of this folder that prints "ROW MEASURE VALUE UNIT" lines."""
    def run(build, sizes):
        lines = subprocess.run([os.path.join(build, "tests", "bench", tool), *arguments], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.splitlines()
        return {words[1]: float(words[2]) for words in map(str.split, lines)}
    return run


PLANNER = {"full_pass": ("ms", 50), "submission_mean": ("ms", None), "submission_worst": ("ms", 1), "end_mean": ("ms", None),
           "end_worst": ("ms", 1), "estimates": ("ms", 1000), "memory": ("B a queued job", 500)}
WHOLE = dict(PLANNER, full_pass=("ms", 5))
TURNS = {f"{what}_{which}": ("ms", 20 if which == "worst" else None)
         for what in ("submission", "end", "ageing", "partition") for which in ("mean", "worst")}


def alone(name, title, run, measures):
    return Row(name, title, run, {key: Measure(f"{key}, {unit}", LESS, limit=limit)
                                  for key, (unit, limit) in measures.items()}, slow=True, alone=True)


RATE, LESS = True, False
ARRAY_MEASURES = {f"{key}{suffix}": Measure(f"{key}, {unit}", LESS, factor)
                  for key in ("submit", "list", "cancel") for suffix, unit, factor in (("", "s", 4), (" CPU", "ms of CPU", None))}
CONFINED = ("confined",)
ROWS = [
    Row("sbatch1", "`sbatch` in a loop, 1 submitter", row_sbatch(1),
        {"rate": Measure("/s", RATE, 4), "cpu": Measure("ms CPU a job", LESS)}, ("default", "tuned")),
    Row("sbatch8", "`sbatch` in a loop, 8 submitters", row_sbatch(8),
        {"rate": Measure("/s", RATE, 4), "cpu": Measure("ms CPU a job", LESS)}, ("default", "tuned")),
    Row("jobs", "jobs of `true` end to end on 4 nodes, accounting on", row_end_to_end,
        {"rate": Measure("/s", RATE, 8), "cpu": Measure("ms CPU a job", LESS, limit=5)}, ("default", "tuned")),
    Row("srun", "`srun true`", row_srun("", 30), {"time": Measure("s", LESS, 4)}),
    Row("srun64", "`srun -N4 -n64 true`", row_srun("-N4 -n64", 7), {"time": Measure("s", LESS, 3)}),
    Row("steps", "steps in a loop within an allocation", row_steps, {"rate": Measure("/s", RATE, 5)}),
    Row("wait", "`sbatch --wait` of `true`", row_wait, {"time": Measure("s", LESS, 20)}),
    Row("batch_true", "batch job of `true`, confined: from its launch to its end", row_batch, {"time": Measure("s", LESS, 5)},
        CONFINED),
    Row("step64", "`srun -N1 -n64 true`, confined", row_srun("-N1 -n64 -O", 7), {"time": Measure("s", LESS, 2)}, CONFINED),
    Row("step_loop", "100 steps in a loop, confined", row_step_loop, {"time": Measure("s", LESS, 3)}, CONFINED),
    Row("step_memory", "the slurmstepd of a batch job, confined", row_step_memory,
        {"rss": Measure("KiB resident", LESS, 2), "pss": Measure("KiB, shared pages divided", LESS, 2)}, CONFINED),
    Row("sampling", "1,000 tasks sampled each second, confined", row_sampling, {"share": Measure("% of a core", LESS, limit=2)},
        CONFINED),
    Row("squeue", "`squeue` of the pending jobs", row_squeue("pending"), {"time": Measure("s", LESS, 5)}),
    Row("json", "`squeue --json` of the pending jobs", row_json, {"time": Measure("s", LESS, 50)}),
    Row("polled", "`sbatch`, 8 submitters, with 20 clients polling `squeue`", row_polled,
        {"rate": Measure("/s", RATE, 25)}, ("default", "tuned")),
    Row("scancel", "`scancel` of the pending jobs", row_scancel, {"time": Measure("s", LESS, 20)}),
    Row("array", "an array of 10,000 tasks: `sbatch`, `squeue -r`, `scancel`", row_array, ARRAY_MEASURES),
    Row("release", "`scontrol release` of the pending jobs by their name", row_release, {"time": Measure("s", LESS)}),
    Row("dependents", "jobs of `true` that wait for one that is released, until all have ended", row_dependents,
        {"rate": Measure("/s", RATE)}),
    Row("squeue_large", "`squeue` of the large queue", row_squeue("large"), {"time": Measure("s", LESS, 5)}),
    Row("restart", "restart with the large queue", row_restart,
        {"time": Measure("s", LESS, 1), "memory": Measure("MB", LESS, 4), "files": Measure("files", LESS)}),
    Row("lost", "`kill -9` of slurmctld under submission", row_lost,
        {"acknowledged": Measure("jobs", RATE), "lost": Measure("lost", LESS, limit=0),
         "reused": Measure("ids given out again", LESS, limit=0)}),
    Row("history", "`sacct` among many jobs that have ended, a hundredth of them in each of a hundred days", row_history,
        {"one": Measure("s, one job", LESS, 10), "day": Measure("s, a day's window", LESS, 4)}),
    Row("ingest", "jobs that have ended without slurmdbd, stored when it is back", row_ingest,
        {"rate": Measure("jobs/s", RATE, 5), "cpu": Measure("ms CPU a job", LESS), "large": Measure("jobs/s, of 100,000", RATE)},
        ("dbd",)),
    Row("nodedown", "a slurmd killed: shown as not responding", row_node_down, {"time": Measure("s", LESS, limit=5)},
        slow=True),
    alone("planner_shared", "planner: 10,000 shared nodes, 100,000 jobs, 2,000 shapes", row_tool("planner", "shared"), PLANNER),
    alone("planner_shared20k", "the same, 20,000 shapes", row_tool("planner", "shared20k"), PLANNER),
    alone("planner_limits20k", "the same, 10,000 associations with limits", row_tool("planner", "limits20k"), PLANNER),
    alone("planner_limits20ktight", "the same, most at their limit", row_tool("planner", "limits20ktight"), PLANNER),
    alone("planner_whole", "planner: 10,000 whole nodes, 100,000 jobs, 2,000 shapes", row_tool("planner", "whole"), WHOLE),
    alone("planner_whole20k", "the same, 20,000 shapes", row_tool("planner", "whole20k"), WHOLE),
    alone("planner_distinct", "planner: 10,000 jobs, all different", row_tool("planner", "distinct"), PLANNER),
    alone("planner_partitions", "planner: 1,000 partitions", row_tool("planner", "partitions"), PLANNER),
    alone("planner_array", "planner: an array of 1,000,000 tasks", row_tool("planner", "array"), PLANNER),
    alone("planner_widehead", "planner: the first job needs every node", row_tool("planner", "widehead"), PLANNER),
    alone("planner_k64", "planner: 64 plans", row_tool("planner", "k64"), PLANNER),
    alone("planner_k1000", "planner: 1,000 plans", row_tool("planner", "k1000"), PLANNER),
    alone("planner_turns", "controller core: a turn with 100,000 jobs waiting", row_tool("turns"), TURNS),
]
assert FIRST_JOB_ID > 1
assert all(re.fullmatch(r"\w+", row.name) for row in ROWS)
