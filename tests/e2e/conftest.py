# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests.

cluster        the shared cluster of the session: four nodes of 8 CPUs, 8000 MB; quiet again after every test
gpu_cluster    the same with two fake a100 a node
make_cluster   a factory for a test that needs a cluster of its own: make_cluster(nodes=2, conf="KillWait=1")
work           an empty directory that belongs to the ordinary user
"""

import os
import pwd
import re
import shutil
import signal
from collections import Counter

import pytest
from harness import BASE, USER, Cluster, cluster_of_its_own, ensure_users, stop_and_check

SHARED_CONF = "KillWait=1\nDefMemPerCPU=100\n"


def stop_as_by_interrupt(*_):
    """The fixtures end their clusters; `timeout` sends its signal twice."""
    signal.signal(signal.SIGTERM, lambda *_: None)
    raise KeyboardInterrupt


def pytest_configure(config):
    if os.geteuid() != 0:
        pytest.exit("the end-to-end tests run as root: they submit as several users", 2)
    signal.signal(signal.SIGTERM, stop_as_by_interrupt)
    ensure_users()
    os.makedirs(BASE, exist_ok=True)
    os.chmod(BASE, 0o755)


class Claims:
    """Which test files are ours when several runs share the work: whoever comes first to a file makes its claim.

    SLUICE_TEST_CLAIMS names an empty directory that the runs have in common (tests/e2e/run makes it).
    """

    def __init__(self, directory):
        self.directory = directory
        self.ours = {}

    def take(self, path):
        if path not in self.ours:
            try:
                os.close(os.open(os.path.join(self.directory, os.path.basename(path)), os.O_CREAT | os.O_EXCL))
                self.ours[path] = True
            except FileExistsError:
                self.ours[path] = False
        return self.ours[path]


MINUTE = 60     # as many tests as one that is marked slow takes time


def by_size_of_file(items):
    """Files that take long first, so that the runs end at about the same time."""
    size = Counter()
    for item in items:
        size[item.path] += MINUTE if item.get_closest_marker("slow") else 1
    return sorted(items, key=lambda item: (-size[item.path], item.path))     # stable: the order within a file stays


def pytest_runtestloop(session):
    directory = os.environ.get("SLUICE_TEST_CLAIMS")
    if not directory or session.config.option.collectonly:
        return None     # pytest's own loop
    claims = Claims(directory)
    ours = (item for item in by_size_of_file(session.items) if claims.take(str(item.path)))
    item = next(ours, None)
    while item:
        following = next(ours, None)     # claimed before the last test of this file ends: fixtures need to know
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following
    return True


@pytest.fixture(scope="session")
def shared_cluster():
    with cluster_of_its_own("shared", nodes=4, cpus=8, mem=8000, conf=SHARED_CONF) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def shared_gpu_cluster():
    with cluster_of_its_own("gpu", nodes=2, cpus=8, mem=8000, gpus="a100:2", conf=SHARED_CONF) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster):
    yield shared_cluster
    shared_cluster.reset()


@pytest.fixture
def gpu_cluster(shared_gpu_cluster):
    yield shared_gpu_cluster
    shared_gpu_cluster.reset()


@pytest.fixture
def make_cluster(request):
    made = []

    def make(before=lambda cluster: None, **options):
        name = re.sub(r"\W+", "-", request.node.name)[:24] + f"-{os.getpid()}-{len(made)}"
        made.append(Cluster(name, **options))
        before(made[-1])
        return made[-1].up()
    try:
        yield make
    finally:
        stop_and_check(*made)


@pytest.fixture
def work(request):
    path = os.path.join(BASE, "work-" + re.sub(r"\W+", "-", request.node.name)[:60])
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    owner = pwd.getpwnam(USER)
    os.chown(path, owner.pw_uid, owner.pw_gid)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def script(work):
    """script("name.sh", "body") writes a batch script with an interpreter line and returns its path."""
    def write(name, body, interpreter="#!/bin/bash\n"):
        path = os.path.join(work, name)
        with open(path, "w") as file:
            file.write(interpreter + body)
        owner = pwd.getpwnam(USER)
        os.chown(path, owner.pw_uid, owner.pw_gid)
        return path
    return write
