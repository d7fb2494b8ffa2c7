# SPDX-License-Identifier: Apache-2.0
"""X11 forwarding through a step's own connection: with a pretended X server, and with a real one where there is
Xvfb (package xvfb, with x11-utils)."""

import os
import pwd
import shutil
import socket
import struct
import subprocess
import threading

import pytest
from harness import USER, cluster_of_its_own, pids_of, wait_until

COOKIE = bytes(range(16))
NAME = b"MIT-MAGIC-COOKIE-1"


def authority(path, number, cookie, family=256, address=None):
    """A file as xauth writes it."""
    fields = [(address or socket.gethostname()).encode(), str(number).encode(), NAME, cookie]
    with open(path, "wb") as file:
        file.write(struct.pack(">H", family) + b"".join(struct.pack(">H", len(f)) + f for f in fields))
    os.chmod(path, 0o600)
    account = pwd.getpwnam(USER)
    os.chown(path, account.pw_uid, account.pw_gid)


class Server:
    """Takes connections that show the cookie, and answers each block with itself in capitals."""

    def __init__(self, number):
        os.makedirs("/tmp/.X11-unix", exist_ok=True)
        self.path = f"/tmp/.X11-unix/X{number}"
        self.number, self.greetings, self.open = number, [], 0
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        os.chmod(self.path, 0o777)
        self.socket.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        self.open += 1
        greeting = connection.recv(48, socket.MSG_WAITALL)
        self.greetings.append(greeting)
        while data := connection.recv(65536):
            connection.sendall(data.upper())
        connection.close()
        self.open -= 1

    def end(self):
        self.socket.close()
        os.unlink(self.path)


# Reads DISPLAY and XAUTHORITY as an X program does and talks to the server.
CLIENT = r"""
import os, socket, struct, sys
host, _, rest = os.environ["DISPLAY"].partition(":")
number = int(rest.split(".")[0])
data = open(os.environ["XAUTHORITY"], "rb").read()
fields, at = [], 2
for _ in range(4):
    size, = struct.unpack_from(">H", data, at)
    fields.append(data[at + 2:at + 2 + size]); at += 2 + size
assert int(fields[1]) == number and host == "localhost"
cookie = bytes(16) if "wrong" in sys.argv else fields[3]
size = int(sys.argv[1])
s = socket.create_connection((host, 6000 + number))
order = "<" if size % 2 else ">"
s.sendall((b"l" if size % 2 else b"B") + b"\0" + struct.pack(order + "HHHHH", 11, 0, 18, 16, 0))
s.sendall(fields[2] + b"\0\0" + cookie)
text = b"x" * size
got = b""
import threading
threading.Thread(target=s.sendall, args=(text,), daemon=True).start()
while len(got) < size:
    more = s.recv(65536)
    if not more: sys.exit("closed")
    got += more
print("answer", len(got), got == text.upper(), os.environ["SLURM_PROCID"])
"""


@pytest.fixture(scope="module")
def x11_cluster():
    with cluster_of_its_own("x11", nodes=3, cpus=4, mem=4000, conf="KillWait=1\nPrologFlags=X11\n") as cluster:
        yield cluster


@pytest.fixture
def server(work):
    number = 1000 + os.getpid() % 50000
    made = Server(number)
    authority(f"{work}/authority", number, COOKIE)
    with open(f"{work}/client.py", "w") as file:
        file.write(CLIENT)
    os.chmod(f"{work}/client.py", 0o644)
    yield made
    made.end()


def run(cluster, server, work, command, **options):
    return cluster.run(command, cwd=work, env={"DISPLAY": f":{server.number}.0", "XAUTHORITY": f"{work}/authority"},
                       **options)


def test_a_program_on_the_node_reaches_the_display_with_the_true_cookie(x11_cluster, server, work):
    for size in (10, 11, 5000000):
        result = run(x11_cluster, server, work, f"srun --x11 python3 client.py {size}")
        assert result.out == f"answer {size} True 0\n", str(result)
    assert len(server.greetings) == 3
    assert all(greeting[12:30] == NAME and greeting[32:48] == COOKIE for greeting in server.greetings)
    wait_until(lambda: server.open == 0, what="closed connections")


def test_the_true_cookie_stays_at_home_and_another_is_turned_away(x11_cluster, server, work):
    result = run(x11_cluster, server, work, "srun --x11 sh -c 'stat -c %a:%U $XAUTHORITY; od -An -tx1 $XAUTHORITY; echo $XAUTHORITY'")
    mode, *dump, path = result.lines
    assert mode == f"600:{USER}" and COOKIE.hex(" ") not in " ".join(dump).replace("  ", " ")
    assert not os.path.exists(path)
    result = run(x11_cluster, server, work, "srun --x11 python3 client.py 10 wrong")
    assert result.rc == 1 and "closed" in result.err and server.greetings == []


def test_all_first_and_last_nodes(x11_cluster, server, work):
    show = "sh -c 'echo $SLURM_NODEID ${XAUTHORITY##*/}'"
    for word, nodes in (("", "012"), ("=all", "012"), ("=first", "0"), ("=last", "2"), ("=batch", "0")):
        out = run(x11_cluster, server, work, f"srun -N 3 --x11{word} {show}").out
        assert "".join(sorted(line[0] for line in out.splitlines() if "xauth." in line)) == nodes, word


def test_many_programs_at_once(x11_cluster, server, work):
    result = run(x11_cluster, server, work, "srun -n 6 -N 3 --x11 sh -c 'for i in 1 2 3; do python3 client.py 100000 & done; wait'",
                 timeout=60)
    assert result.out.count("answer 100000 True") == 18, str(result)


def test_the_steps_of_an_allocation_and_a_step_inside_of_a_step(x11_cluster, server, work):
    result = run(x11_cluster, server, work, "salloc -Q -N 2 --x11 sh -c 'srun -N 1 -n 1 python3 client.py 12; "
                 "srun -w n1 -N 1 -n 1 srun --overlap -w n2 -N 1 -n 1 python3 client.py 13'")
    assert result.out == "answer 12 True 0\nanswer 13 True 0\n", str(result)


def test_the_connection_of_a_killed_step_is_closed(x11_cluster, server, work):
    command = ("srun -J windows --x11 python3 -c 'import os, sys; sys.argv = [\"\", \"10\"]; exec(open(\"client.py\").read()); "
               "print(\"up\", flush=True); import time; time.sleep(1000)'")
    running = x11_cluster.start(command, cwd=work, env={"DISPLAY": f":{server.number}", "XAUTHORITY": f"{work}/authority"})
    assert running.process.stdout.readline().startswith(b"answer")
    assert server.open == 1
    x11_cluster.ok("scancel -n windows")
    wait_until(lambda: server.open == 0, what="closed connection")
    running.wait()


def test_what_it_says_when_there_is_none(x11_cluster, cluster, server, work):
    result = x11_cluster.run("srun --x11 true")
    assert result.rc == 255 and "No DISPLAY variable set" in result.err
    result = x11_cluster.run("srun --x11 true", env={"DISPLAY": f":{server.number}", "XAUTHORITY": "/nonexistent"})
    assert result.rc == 255 and "Could not retrieve magic cookie" in result.err
    assert x11_cluster.run("srun --x11=window true").rc == 255
    result = run(cluster, server, work, "srun --x11 true")
    assert result.rc == 1 and "PrologFlags in slurm.conf has no X11" in result.err
    wait_until(cluster.idle, what="idle")


@pytest.mark.skipif(not shutil.which("Xvfb") or not shutil.which("xdpyinfo") or not shutil.which("xauth"),
                    reason="needs Xvfb, xdpyinfo and xauth (packages xvfb, x11-utils, xauth)")
def test_a_real_server_and_a_real_program(x11_cluster, work):
    number = 60 + os.getpid() % 300
    path = f"{work}/real"
    subprocess.run(["xauth", "-f", path, "add", f"{socket.gethostname()}/unix:{number}", ".", COOKIE.hex()], check=True,
                   capture_output=True)
    account = pwd.getpwnam(USER)
    os.chown(path, account.pw_uid, account.pw_gid)
    server = subprocess.Popen(["Xvfb", f":{number}", "-auth", path, "-screen", "0", "640x480x8", "-nolisten", "tcp"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: os.path.exists(f"/tmp/.X11-unix/X{number}"), what="Xvfb")
        env = {"DISPLAY": f":{number}", "XAUTHORITY": path}
        out = x11_cluster.run("srun --x11 xdpyinfo", cwd=work, env=env).out
        assert "name of display:    localhost:" in out and "dimensions:    640x480 pixels" in out
    finally:
        server.terminate()
        server.wait()
    assert not pids_of(x11_cluster, "xdpyinfo")
