# SPDX-License-Identifier: Apache-2.0
"""Scenario files: what they say, how they are run on a cluster, and how their answers become comparable text.

A scenario is a list of shell commands, one a line, run as an ordinary user in an empty directory.  Every command's
stdout, stderr and exit status is the answer.  There are no expectations in the file: the referee's recorded answer
(golden/NAME.txt) is the expectation.  README.md lists the words that are not shell commands.
"""

import os
import pwd
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field

import cluster as clusters

DEFAULT_USER = "sluicet1"
ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE",
         "BOOT_FAIL"}
COMMAND_TIMEOUT = 150.0
# Clusters of tests number their jobs from 70001; a padded pattern may put zeros before the id.
JOB_ID = re.compile(r"(?<!\d)(0*)(7[01]\d{3})(?!\d)")

TASK_END = re.compile(r"srun: error: (\S+): tasks? ([-,\d]+): (.+)\n")


def ranks_of(text):
    return [rank for part in text.split(",")
            for rank in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]


def join_ends(lines):
    """srun tells ends that come close together in one line, between what tasks still write: chance.  Here they are told
    where the last is, a line for each node and word, in the order of the tasks."""
    ends, last, others = {}, 0, []
    for line in lines:
        match = TASK_END.fullmatch(line)
        if match:
            ends.setdefault((match[1], match[3]), []).extend(ranks_of(match[2]))
            last = len(others)
        else:
            others.append(line)
    told = []
    for (node, word), ranks in sorted(ends.items(), key=lambda item: min(item[1])):
        ranks.sort()
        parts = [[ranks[0], ranks[0]]]
        for rank in ranks[1:]:
            if rank == parts[-1][1] + 1:
                parts[-1][1] = rank
            else:
                parts.append([rank, rank])
        text = ",".join(f"{first}-{end}" if end > first else str(first) for first, end in parts)
        told.append(f"srun: error: {node}: task{'s' if len(ranks) > 1 else ''} {text}: {word}\n")
    return others[:last] + told + others[last:]


class ScenarioError(Exception):
    """The scenario could not be carried out: a wait that never ended, a command that hung, a bad line."""


@dataclass
class Scenario:
    name: str
    path: str
    group: str = "plain"
    lines: list = field(default_factory=list)      # (line number, text, body of a here-document or None)


def load(path):
    """Reads a scenario file; joins continued lines and collects the here-documents of `file`."""
    scenario = Scenario(os.path.basename(path).removesuffix(".scenario"), path)
    with open(path) as file:
        lines = file.read().split("\n")
    number = 0
    while number < len(lines):
        start, text = number + 1, lines[number]
        number += 1
        if not text.strip() or text.startswith("#"):
            continue
        while text.endswith("\\") and number < len(lines):
            text = text[:-1] + lines[number].lstrip()
            number += 1
        body = None
        if text.startswith("file "):
            head, _, end = text.partition("<<")
            end = end.strip()
            try:
                last = lines.index(end, number)
            except ValueError:
                raise ScenarioError(f"{path}:{start}: no line '{end}' ends this file") from None
            body = "".join(line + "\n" for line in lines[number:last])
            text, number = head.strip(), last + 1
        if text.startswith("group "):
            scenario.group = text.split()[1]
            continue
        scenario.lines.append((start, text, body))
    return scenario


class Normaliser:
    """Replaces what differs from run to run (ids, times, paths, numbers of processes) by names of the same width."""

    def __init__(self, work, cluster_dir):
        self.work = work
        self.cluster_dir = cluster_dir
        self.ids = {}
        self.host = socket.gethostname().split(".")[0]

    def job_name(self, number):
        return self.ids.setdefault(number, f"J{len(self.ids) + 1:04d}")

    def note_ids(self, text):
        for number in JOB_ID.findall(text):
            self.job_name(number[1])

    @staticmethod
    def time_token(match):
        try:
            stamp = time.mktime(time.strptime(match.group(0), "%Y-%m-%dT%H:%M:%S"))
        except (ValueError, OverflowError):
            return match.group(0)
        now = time.time()
        return "YYYY-MM-DDThh:mm:ss" if now - 3 * 86400 < stamp < now + 370 * 86400 else match.group(0)

    def apply(self, text):
        text = text.replace(self.work, "/WORK").replace(self.cluster_dir, "/CLUSTER")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", self.time_token, text)
        text = JOB_ID.sub(lambda m: m.group(1) + self.job_name(m.group(2)), text)
        text = re.sub(r"(?<![A-Za-z0-9.-])" + re.escape(self.host) + r"(?![A-Za-z0-9-])", "HOST", text)
        text = re.sub(r"(AllocNode:Sid)=\S+", r"\1=HOST:SID", text)
        text = re.sub(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "DATE", text)
        text = re.sub(r"(?<![\d.])1[789]\d{8}(?![\d.])", "EPOCHSECON", text)
        text = re.sub(r"(?<!\d)26[2-9]\d\d(?!\d)", "PORTN", text)
        text = re.sub(r"(?<![\d:-])0:0\d(?![\d:])", "0:0s", text)
        text = re.sub(r"(?<![\dT:-])00:00:[0-5]\d(?![\d:])", "00:00:ss", text)
        text = re.sub(r"\bScheduler=(Main|Backfill)", "Scheduler=S", text)
        text = re.sub(r"\bPriority=[1-9]\d*", "Priority=N", text)
        # Whether salloc still hears that its allocation ended after it gave it up is chance.
        text = re.sub(r"(Relinquishing job allocation (\w+)\n)(2> )?salloc: Job allocation \2 has been revoked\.\n",
                      r"\1", text)
        text = re.sub(r"(?<!\d)42949(?!6729)\d{5}(?!\d)", "PRIORITYNN", text)
        return text


class Run:
    """One scenario being run on one cluster.  run() returns the normalised answer text."""

    def __init__(self, scenario, cluster, work_root):
        self.scenario = scenario
        self.cluster = cluster
        self.work = os.path.join(work_root, scenario.name)
        self.normaliser = Normaliser(self.work, cluster.dir)
        self.background = {}
        self.blocks = []

    # -- commands ----------------------------------------------------------------------------------------------

    def env(self, user):
        account = pwd.getpwnam(user)
        env = {"HOME": account.pw_dir, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", **self.cluster.env()}
        for number, name in self.normaliser.ids.items():
            env[name[0] + name[1:].lstrip("0")] = number
        env["JOBS"] = ",".join(self.normaliser.ids)
        return env

    def spawn(self, command, user, **options):
        account = pwd.getpwnam(user)
        return subprocess.Popen(["bash", "-c", command], cwd=self.work, env=self.env(user), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=account.pw_uid,
                                group=account.pw_gid, extra_groups=[], umask=0o022, **options)

    def finish(self, process, where):
        try:
            out, err = process.communicate(timeout=COMMAND_TIMEOUT)
        except subprocess.TimeoutExpired:
            clusters.kill_session(process.pid)
            process.communicate()
            raise ScenarioError(f"{where}: still running after {COMMAND_TIMEOUT:g} s") from None
        out, err = (text.decode("utf-8", "backslashreplace") for text in (out, err))
        self.normaliser.note_ids(out)
        self.normaliser.note_ids(err)
        return out, err, process.returncode

    def settle(self, command):
        """What a command has allocated is given back a moment after its end; the next one starts on an idle cluster."""
        if re.search(r"\b(srun|salloc)\b|\s(-W|--wait)\b", command):
            try:
                clusters.wait_for("no job completing", lambda: not self.cluster.run("squeue", "-h", "-t", "CG").stdout, 5)
            except TimeoutError:
                pass

    def record(self, command, out, err, status):
        # The step daemon's lines come over another connection than srun's own: their order is chance.
        err = "".join(join_ends(sorted(err.splitlines(True), key=lambda line: not line.startswith("slurmstepd"))))
        text = f"$ {command}\n{out}"
        if out and not out.endswith("\n"):
            text += "\n(no newline at the end)\n"
        text += "".join(f"2> {line}\n" for line in err.splitlines())
        self.blocks.append((command, text + f"= {status}\n"))

    def expand(self, text):
        known = {name[0] + name[1:].lstrip("0"): number for number, name in self.normaliser.ids.items()}
        def value(match):
            if match.group(1) not in known:
                raise ScenarioError(f"${match.group(1)} is not known yet in '{text}'")
            return known[match.group(1)]
        return re.sub(r"\$(J\d+)\b", value, text.replace("$JOBS", ",".join(self.normaliser.ids)))

    # -- the words of the language -----------------------------------------------------------------------------

    def do_line(self, number, text, body):
        where = f"{self.scenario.path}:{number}: {text}"
        word, _, rest = text.partition(" ")
        if word == "file":
            path = os.path.join(self.work, shlex.split(rest)[0])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(body)
            owner = pwd.getpwnam(DEFAULT_USER)
            os.chown(path, owner.pw_uid, owner.pw_gid)
            os.chmod(path, 0o755)
        elif word == "wait":
            self.do_wait(where, *rest.split())
        elif word == "until":
            self.do_until(where, rest)
        elif word == "join":
            command, process = self.background.pop(rest.strip())
            self.record(command, *self.finish(process, where))
        elif word == "signal":
            name, sig = rest.split()
            os.killpg(self.background[name][1].pid, getattr(signal, "SIG" + sig))
        else:
            self.do_command(where, text)

    def do_command(self, where, text):
        user, quiet, name, shown = DEFAULT_USER, False, None, text
        while True:
            word, _, rest = text.partition(" ")
            if word == "as":
                user, _, text = rest.partition(" ")
            elif word == "quiet":
                quiet, text, shown = True, rest, rest
            elif word == "bg":
                name, _, text = rest.partition(" ")
                shown = shown.partition(" ")[2].partition(" ")[2]
            else:
                break
        process = self.spawn(text, user, start_new_session=True)
        if name:
            self.background[name] = (shown, process)
            return
        answer = self.finish(process, where)
        self.settle(text)
        if not quiet:
            self.record(shown, *answer)
        elif answer[2] != 0:
            raise ScenarioError(f"{where}: exit {answer[2]}: {answer[1].strip()}")

    def do_wait(self, where, job, *states):
        """wait JOB STATE…: until squeue shows one of the states; `ended` for any final one, `accounted`."""
        job = self.expand(job)
        def job_states():
            out = self.cluster.run("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", "%T").stdout
            return set(out.split())
        def accounted():
            out = self.cluster.run("sacct", "-n", "-P", "-j", job, "-o", "State,End").stdout
            rows = [line.split("|") for line in out.splitlines()]
            return rows and all(row[0].split()[0] in ENDED and row[1] != "Unknown" for row in rows)
        def reached():
            now = job_states()
            return now and (now <= ENDED if "ended" in states else now <= set(states))
        try:
            if "accounted" in states:
                clusters.wait_for(where, accounted, 40, 0.2)
            else:
                clusters.wait_for(where, reached, 100 if "ended" in states else 40)
        except TimeoutError as error:
            raise ScenarioError(f"{error}; squeue says {sorted(job_states())}") from None

    def do_until(self, where, text):
        user = DEFAULT_USER
        if text.startswith("as "):
            _, user, text = text.split(" ", 2)
        def holds():
            process = self.spawn(text, user, start_new_session=True)
            return self.finish(process, where)[2] == 0
        try:
            clusters.wait_for(where, holds, 60, 0.1)
        except TimeoutError as error:
            raise ScenarioError(str(error)) from None

    # -- the whole ---------------------------------------------------------------------------------------------

    def run(self):
        """Runs every line; returns the list of (command, answer text), normalised."""
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        owner = pwd.getpwnam(DEFAULT_USER)
        os.chown(self.work, owner.pw_uid, owner.pw_gid)
        try:
            for number, text, body in self.scenario.lines:
                self.do_line(number, text, body)
            if self.background:
                raise ScenarioError(f"{self.scenario.path}: never joined: {', '.join(self.background)}")
        finally:
            for _, process in self.background.values():
                clusters.kill_session(process.pid)
                process.communicate()
            self.reset()
        return [(self.normaliser.apply(command), self.normaliser.apply(text)) for command, text in self.blocks]

    def reset(self):
        """Brings the cluster back to idle for the next scenario, or raises."""
        run = self.cluster.run
        def is_empty():
            out = run("squeue", "-h", "-o", "%i").stdout
            if out.strip():
                run("scancel", "-s", "KILL", *out.split())
                run("scancel", *out.split())
            return not out.strip() and self.cluster.idle_nodes() == self.cluster.nodes
        if run("squeue", "-h", "-o", "%i").stdout.strip():
            run("scancel", *run("squeue", "-h", "-o", "%A").stdout.split())
        try:
            clusters.wait_for("the cluster to become idle again", is_empty, 30, 0.1)
        except TimeoutError as error:
            raise ScenarioError(f"{error}: {run('sinfo', '-N').stdout} {run('squeue').stdout}") from None
