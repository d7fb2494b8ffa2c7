# SPDX-License-Identifier: Apache-2.0
"""srun --pty: a terminal on the node [B40]."""

import fcntl
import os
import pty
import pwd
import select
import struct
import termios
import time

import pytest
from harness import USER, wait_until


class Terminal:
    """A command on a pseudo-terminal, as a user."""

    def __init__(self, cluster, command, cwd, rows=24, columns=80):
        account = pwd.getpwnam(USER)
        env = {"HOME": account.pw_dir, "USER": USER, "SHELL": "/bin/bash", "TERM": "vt100", "PS1": "$ ", **cluster.env}
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            os.chdir(cwd)
            os.execvpe("/bin/sh", ["sh", "-c", command], env)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, text, timeout=20):
        end = time.monotonic() + timeout
        while text not in self.seen:
            left = end - time.monotonic()
            assert left > 0, f"no {text!r} in {self.seen!r}"
            if select.select([self.fd], [], [], left)[0]:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    data = b""
                assert data or text in self.seen, f"ended without {text!r}: {self.seen!r}"
                self.seen += data.decode(errors="replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def wait(self):
        """The exit status; reads what still comes so that the other side does not block."""
        def ended():
            while select.select([self.fd], [], [], 0)[0]:
                try:
                    if not os.read(self.fd, 65536):
                        break
                except OSError:
                    break
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return (os.waitstatus_to_exitcode(status),) if pid else None
        code = wait_until(ended, 20)[0]
        os.close(self.fd)
        return code


@pytest.fixture
def terminal(cluster, work):
    made = []

    def make(command, **options):
        made.append(Terminal(cluster, command, work, **options))
        return made[-1]
    yield make
    for item in made:
        try:
            os.kill(item.pid, 9)
            os.waitpid(item.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def test_the_shell_has_a_terminal_of_the_same_size(terminal):
    term = terminal("exec srun --pty bash --norc", rows=33, columns=101)
    term.send("tty; stty size; echo id=$SLURM_JOB_ID\n")
    term.expect("/dev/pts/")
    term.expect("33 101")
    term.send("exit 5\n")
    assert term.wait() == 5


def test_a_resize_reaches_the_shell(terminal):
    term = terminal("exec srun --pty bash --norc")
    term.send("echo ready$((1+1))\n")
    term.expect("ready2")
    term.resize(50, 132)
    term.send("sleep 0.3; stty size\n")
    term.expect("50 132")
    term.send("exit\n")
    term.wait()


def test_control_c_interrupts_the_command_and_not_the_shell(terminal):
    term = terminal("exec srun --pty bash --norc")
    term.send("sleep 1000; echo status=$?\n")
    time.sleep(0.5)
    term.send("\x03")
    term.send("echo alive$((40+2))\n")
    term.expect("alive42")
    term.send("exit\n")
    term.wait()


def test_control_d_ends_the_shell(terminal):
    term = terminal("exec srun --pty bash --norc")
    term.send("echo up$((3*3))\n")
    term.expect("up9")
    term.expect("$ ")   # before it, the line discipline would swallow an end of file
    term.send("\x04")
    assert term.wait() == 0


def test_job_control_works(terminal):
    term = terminal("exec srun --pty bash --norc -i")
    term.send("sleep 1000 &\n")
    term.send("jobs; echo jobs$((2+2))\n")
    assert "sleep 1000" in term.expect("jobs4")
    term.send("kill %1; exit\n")
    term.wait()


def test_without_a_terminal_it_says_so_and_runs(cluster, work):
    result = cluster.run("srun --pty echo fine", cwd=work)
    assert result.out.strip() == "fine" and "pseudo-terminal" in result.err
