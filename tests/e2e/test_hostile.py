# SPDX-License-Identifier: Apache-2.0
"""Strangers at the daemons' ports: random bytes, false lengths, connections that say nothing.

Whatever they send, slurmctld and slurmd go on answering, do not grow, and do not flood their logs.
"""

import contextlib
import os
import random
import resource
import socket
import struct

import pytest
from harness import wait_until

GROWTH_KIB = 6 * 1024       # of resident memory; a leak of one frame a connection is far above


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(next(line.split()[1] for line in file if line.startswith("VmRSS:")))


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Target:
    """A daemon with its address and a way to see that it answers."""

    def __init__(self, cluster, name):
        node = cluster.node_names()[0]
        self.cluster, self.name = cluster, name
        if name == "slurmctld":
            self.pid, self.address = cluster.pid(name), ("127.0.0.1", cluster.ports()[0])
        else:
            shown = cluster.show(f"node {node}")
            self.pid, self.address = cluster.pid(f"slurmd-{node}"), (shown["NodeAddr"].strip(), cluster.ports()[1])

    def answers(self):
        command = "sinfo -h" if self.name == "slurmctld" else "srun -w $(sinfo -h -N -o %N | head -1) true"
        return self.cluster.run("timeout 8 " + command, user="root", cwd="/").rc == 0

    def dial(self):
        return socket.create_connection(self.address, timeout=5)

    def send(self, data, wait=True):
        """Sends what the daemon takes of data and returns what it answers until it closes."""
        answer = b""
        with self.dial() as connection:
            try:
                connection.sendall(data)
                connection.settimeout(3 if wait else 0.01)
                while piece := connection.recv(65536):
                    answer += piece
            except OSError:
                pass
        return answer


@pytest.fixture(params=["slurmctld", "slurmd"])
def target(request, cluster):
    found = Target(cluster, request.param)
    assert found.answers()
    return found


@contextlib.contextmanager
def unharmed(target):
    """Same process, about the same size, no descriptors left open, answers, and a log of bounded growth."""
    memory, files, log = resident_kib(target.pid), open_files(target.pid), len(target.cluster.log(target.name))
    yield
    assert target.answers()
    wait_until(lambda: open_files(target.pid) <= files + 4, 15, 0.1, "the connections are closed")
    assert resident_kib(target.pid) - memory < GROWTH_KIB, "it has grown"
    assert len(target.cluster.log(target.name)) - log < 60000, "it floods its log"


def frame(body):
    return struct.pack("<I", len(body)) + body


def test_random_bytes(target):
    noise = random.Random(1)
    with unharmed(target):
        for _ in range(150):
            target.send(noise.randbytes(noise.choice([1, 3, 4, 5, 12, 100, 5000])), wait=False)
        target.send(b"GET / HTTP/1.0\r\n\r\n", wait=False)
        target.send(b"SSH-2.0-OpenSSH_9.2\r\n", wait=False)
        target.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise.randbytes(500), wait=False)


def test_frames_with_a_right_length_and_a_random_body(target):
    noise = random.Random(2)
    with unharmed(target):
        for size in [0, 1, 7, 8, 9, 40, 300, 4000] * 10:
            target.send(frame(noise.randbytes(size)), wait=False)
            target.send(struct.pack(">I", size) + noise.randbytes(size), wait=False)
            target.send(frame((b"SLUICE\x01" + bytes([noise.randrange(3)]) + noise.randbytes(size))[:max(size, 8)]),
                        wait=False)


def test_lengths_beyond_reason(target):
    with unharmed(target):
        for length in (0xffffffff, 0x7fffffff, 0x80000000, 64 << 20, 1 << 20, 100000):
            for order in "<>":
                with target.dial() as connection:
                    connection.sendall(struct.pack(order + "I", length) + b"x" * 1000)
                    connection.settimeout(0.05)
                    with contextlib.suppress(OSError):
                        connection.recv(100000)


def test_a_long_stream_of_noise_is_cut_off(target):
    with unharmed(target):
        block, sent = random.Random(3).randbytes(1 << 16), 0
        with target.dial() as connection:
            with contextlib.suppress(OSError):
                while sent < 50 << 20:
                    connection.sendall(block)
                    sent += len(block)
        assert sent < 20 << 20, "it reads on and on"


def test_half_closed_and_reset_connections(target):
    with unharmed(target):
        for turn in range(200):
            connection = target.dial()
            if turn % 4 == 0:
                connection.shutdown(socket.SHUT_WR)
            elif turn % 4 == 1:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif turn % 4 == 2:
                connection.sendall(b"\x10")
            connection.close()


def test_a_thousand_connections_that_say_nothing(target):
    """Nobody waits for them; they are turned away after a while, and more than there is room for are, at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4096), hard), hard))
    connections = []
    try:
        memory = resident_kib(target.pid)
        for _ in range(1500):
            connections.append(target.dial())
        for _ in range(3):
            assert target.answers(), "silent connections keep others out"
        assert resident_kib(target.pid) - memory < 4 * GROWTH_KIB
        files = open_files(target.pid)
        wait_until(lambda: open_files(target.pid) < min(files, 100), 20, 0.2, "silent connections are closed")
    finally:
        for connection in connections:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert target.answers()


def test_a_replayed_handshake_is_refused(cluster):
    """What a user's command once sent opens no second connection."""
    recorded = []
    listener = socket.create_server(("127.0.0.1", 0))
    conf = os.path.join(cluster.dir, "replay.conf")
    with open(cluster.env["SLURM_CONF"]) as file:
        text = file.read()
    text = "\n".join(line for line in text.splitlines() if not line.lower().startswith("slurmctldport"))
    with open(conf, "w") as file:
        file.write(text + f"\nSlurmctldPort={listener.getsockname()[1]}\n")
    try:
        running = cluster.start("timeout 10 sinfo -h", env={"SLURM_CONF": conf})
        peer, _ = listener.accept()
        with socket.create_connection(("127.0.0.1", cluster.ports()[0])) as real:
            peer.settimeout(3)
            real.settimeout(3)
            hello = peer.recv(65536)
            recorded.append(hello)
            real.sendall(hello)
            real.recv(65536)
            peer.close()
        running.wait()
        answer = b""
        with socket.create_connection(("127.0.0.1", cluster.ports()[0])) as real:
            real.settimeout(3)
            real.sendall(recorded[0])
            with contextlib.suppress(OSError):
                while piece := real.recv(65536):
                    answer += piece
        assert b"Replayed credential" in answer, answer[-300:]
    finally:
        listener.close()
        os.unlink(conf)
