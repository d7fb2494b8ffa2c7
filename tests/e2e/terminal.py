# SPDX-License-Identifier: Apache-2.0
"""Commands on a pseudo-terminal, for tests of what people do by hand; and a network that is cut."""

import ctypes
import fcntl
import os
import pty
import pwd
import select
import signal
import socket
import struct
import termios
import time

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

    def hang_up(self):
        """The window is closed."""
        os.close(self.fd)
        wait_until(lambda: os.waitpid(self.pid, os.WNOHANG)[0], 20, what="end of the command without a terminal")

    def end(self):
        try:
            os.close(self.fd)
        except OSError:
            pass
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def cut_connections(pid):
    """Every packet to the TCP sockets of a process is dropped from now on, as if a cable had been pulled; keepalive
    asks every second, so that the test does not take minutes. Returns how many there were."""
    libc = ctypes.CDLL(None, use_errno=True)
    drop = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))      # BPF: return 0 bytes of it
    program = struct.pack("HxxxxxxP", 1, ctypes.addressof(drop))
    pidfd = os.pidfd_open(pid)
    count = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        fd = libc.syscall(438, pidfd, int(name), 0)     # pidfd_getfd
        if fd < 0:
            continue
        try:
            sock = socket.socket(fileno=fd)
        except OSError:
            os.close(fd)
            continue
        if sock.family in (socket.AF_INET, socket.AF_INET6) and sock.type == socket.SOCK_STREAM:
            try:
                sock.getpeername()
            except OSError:
                continue
            for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1), (socket.TCP_KEEPCNT, 2)):
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
            sock.setsockopt(socket.SOL_SOCKET, 26, program)     # SO_ATTACH_FILTER
            count += 1
        sock.close()
    os.close(pidfd)
    return count
