# SPDX-License-Identifier: Apache-2.0
"""What the tests themselves leave behind."""

import os
import signal
import subprocess
import sys

from harness import BASE, process_is_alive, processes_of, wait_until

WAITS = """
import time

def test_waits(make_cluster, tmp_path):
    cluster = make_cluster(nodes=1)
    cluster.start("exec sleep 1000")
    with open(f"{tmp_path}/up.new", "w") as file:
        file.write(cluster.dir)
    (tmp_path / "up.new").rename(r"@UP@")
    time.sleep(1000)
"""


def test_a_run_that_is_terminated_ends_its_clusters(tmp_path):
    up = str(tmp_path / "up")
    path = tmp_path / "test_waits.py"
    path.write_text(WAITS.replace("@UP@", up))
    run = subprocess.Popen([sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", str(path)],
                           env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}, cwd=tmp_path,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        wait_until(lambda: os.path.exists(up) or not process_is_alive(run.pid), what="a test that waits")
        directory = open(up).read()
        assert directory.startswith(BASE) and processes_of(directory)
        run.send_signal(signal.SIGTERM)
        run.send_signal(signal.SIGTERM)
        output, _ = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode != 0, output
    assert processes_of(directory) == [] and not os.path.exists(directory), output
