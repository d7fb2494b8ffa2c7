# SPDX-License-Identifier: Apache-2.0
"""sbcast and srun --bcast: a file to all nodes of a job."""

import ctypes
import hashlib
import os
import pwd
import select
import struct

import pytest
from harness import OTHER, USER, pids_of, wait_until


class Arrivals:
    """Counts the copies that begin in a directory, which the nodes of a test share."""

    def __init__(self, directory):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init()
        assert libc.inotify_add_watch(self.fd, directory.encode(), 0x100) >= 0    # IN_CREATE

    def names(self):
        found = []
        while select.select([self.fd], [], [], 0)[0]:
            data = os.read(self.fd, 65536)
            while data:
                size = struct.unpack_from("iIII", data)[3]
                found.append(data[16:16 + size].rstrip(b"\0").decode())
                data = data[16 + size:]
        os.close(self.fd)
        return found


@pytest.fixture
def job(cluster, work):
    number = cluster.submit("-N 4 -o /dev/null --wrap 'sleep 300'", cwd=work)
    cluster.wait_state(number, "RUNNING")
    return number


@pytest.fixture
def place(work):
    """A directory for the copies."""
    path = f"{work}/there"
    os.mkdir(path)
    account = pwd.getpwnam(USER)
    os.chown(path, account.pw_uid, account.pw_gid)
    return path


def make_file(work, size, name="data"):
    data = os.urandom(min(size, 1 << 20)) * max(1, size >> 20)
    with open(f"{work}/{name}", "wb") as file:
        file.write(data)
    os.chmod(f"{work}/{name}", 0o755)
    return hashlib.md5(data).hexdigest()


def md5(path):
    with open(path, "rb") as file:
        return hashlib.md5(file.read()).hexdigest()


@pytest.mark.parametrize("options", ["", "-F 1", "-F 2 -C", "-s 3k --compress=zlib", "-F 64"])
def test_every_node_writes_the_whole_file(cluster, work, job, place, options):
    want = make_file(work, 300000 if "3k" in options else 8 << 20)
    arrivals = Arrivals(place)
    cluster.ok(f"sbcast -f {options} -j {job} data {place}/copy", cwd=work)
    assert [name[:12] for name in arrivals.names()] == ["copy.sbcast-"] * 4
    assert md5(f"{place}/copy") == want and os.listdir(place) == ["copy"]
    stat = os.stat(f"{place}/copy")
    assert stat.st_uid == pwd.getpwnam(USER).pw_uid and stat.st_mode & 0o7777 == 0o755


def test_inside_of_a_job_it_knows_the_job(cluster, work, place):
    make_file(work, 1000)
    number = cluster.submit(f"-N 2 -o out --wrap 'sbcast -f data {place}/copy; echo $?; cmp data {place}/copy && echo same'",
                            cwd=work)
    cluster.wait_end(number)
    assert open(f"{work}/out").read() == "0\nsame\n"


def test_an_empty_file_and_its_times_and_modes(cluster, work, job, place):
    make_file(work, 1)
    with open(f"{work}/data", "wb"):
        pass
    os.chmod(f"{work}/data", 0o2640)
    os.utime(f"{work}/data", (1000000000, 1100000000))
    os.chown(f"{work}/data", pwd.getpwnam(USER).pw_uid, pwd.getpwnam(USER).pw_gid)
    os.chmod(f"{work}/data", 0o2640)
    cluster.ok(f"sbcast -f -p -j {job} data {place}/copy", cwd=work)
    stat = os.stat(f"{place}/copy")
    assert (stat.st_size, stat.st_mode & 0o7777, stat.st_mtime, stat.st_atime) == (0, 0o2640, 1100000000, 1000000000)


def test_what_is_there_stays_unless_forced(cluster, work, job, place):
    make_file(work, 1000)
    with open(f"{place}/copy", "w") as file:
        file.write("mine")
    result = cluster.run(f"sbcast -j {job} data {place}/copy", cwd=work)
    assert result.rc == 17 and result.err.count("File exists") == 4
    assert open(f"{place}/copy").read() == "mine" and os.listdir(place) == ["copy"]


def test_it_writes_with_the_rights_of_the_user_only(cluster, work, job):
    make_file(work, 1000)
    result = cluster.run(f"sbcast -f -j {job} data /root/copy", cwd=work)
    assert result.rc == 13 and "Permission denied" in result.err and not os.path.exists("/root/copy")
    result = cluster.run(f"sbcast -f -j {job} data {work}/copy", cwd=work, user=OTHER)
    assert result.rc == 255 and "lookup error" in result.err
    result = cluster.run(f"sbcast -f -j {job} /etc/shadow {work}/copy", cwd=work)
    assert result.rc == 13 and not os.path.exists(f"{work}/copy")


def test_a_copy_that_is_broken_off_leaves_nothing(cluster, work, job, place):
    with open(f"{work}/big", "wb") as file:
        file.truncate(8 << 30)
    os.chmod(f"{work}/big", 0o644)
    for sig in (15, 9):
        running = cluster.start(f"exec sbcast -f -F 1 -j {job} big {place}/copy", cwd=work)
        wait_until(lambda: sum(os.path.getsize(f"{place}/{name}") > 0 for name in os.listdir(place)) == 4,
                   what="four parts")
        running.signal(sig)
        running.process.wait(20)
        wait_until(lambda: os.listdir(place) == [], what="nothing left")


def test_the_end_of_the_job_ends_the_copy(cluster, work, job, place):
    with open(f"{work}/big", "wb") as file:
        file.truncate(8 << 30)
    os.chmod(f"{work}/big", 0o644)
    running = cluster.start(f"exec sbcast -f -j {job} big {place}/copy", cwd=work)
    wait_until(lambda: len(os.listdir(place)) == 4, what="four parts")
    cluster.ok(f"scancel {job}")
    assert running.wait().rc != 0
    wait_until(lambda: os.listdir(place) == [] and not pids_of(cluster, "slurmstepd: ["), what="nothing left")


def test_a_node_that_is_away_is_named_and_nothing_is_copied(make_cluster, work, place):
    own = make_cluster(nodes=3)
    make_file(work, 1000)
    number = own.submit("-N 3 -o /dev/null --wrap 'sleep 300'", cwd=work)
    own.wait_state(number, "RUNNING")
    own.kill(sorted(name[:-4] for name in os.listdir(own.dir + "/run") if name.startswith("slurmd-"))[1])
    for options in ("", "-F 1"):
        result = own.run(f"sbcast -f {options} -j {number} data {place}/copy", cwd=work)
        assert result.rc != 0 and "REQUEST_FILE_BCAST(n2)" in result.err, str(result)
        wait_until(lambda: os.listdir(place) == [], what="nothing left")


def test_a_program_goes_to_the_nodes_before_it_runs(cluster, work, place):
    with open(f"{work}/prog", "w") as file:
        file.write("#!/bin/sh\necho $0 $1\n")
    os.chmod(f"{work}/prog", 0o755)
    arrivals = Arrivals(place)
    out = cluster.ok(f"srun -N 4 --bcast={place}/copy --compress ./prog arg", cwd=work)
    assert out == f"{place}/copy arg\n" * 4
    assert [name[:12] for name in arrivals.names()] == ["copy.sbcast-"] * 4
    assert cluster.ok(f"srun -N 1 --bcast={place}/ ./prog", cwd=work) == f"{place}/prog\n"
    out = cluster.ok("srun -N 1 --bcast ./prog", cwd=work)
    assert out.startswith(f"{work}/slurm_bcast_")


def test_a_program_that_cannot_be_copied_gives_the_job_back(cluster, work):
    result = cluster.run("srun -N 2 --bcast=/nonexistent/copy /bin/true", cwd=work)
    assert result.rc == 1 and "No such file or directory" in result.err
    wait_until(cluster.idle, what="idle")
