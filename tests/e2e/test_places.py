# SPDX-License-Identifier: Apache-2.0
"""Private directories of jobs (NamespaceType=namespace/tmpfs).  /tmp itself cannot be private here, because the
cluster lies in it."""

import os
import signal

import pytest
from harness import stepds, wait_until


@pytest.fixture
def places(make_cluster, tmp_path):
    """A factory: a cluster whose jobs have their own /var/tmp and /dev/shm below cluster.places."""
    def make(lines="", nodes=1):
        cluster = make_cluster(nodes=nodes, conf="KillWait=1\nDefMemPerCPU=100\n")
        cluster.places = os.path.join(cluster.dir, "places")
        cluster.write_conf("job_container.conf",
                           f"AutoBasePath=true\nBasePath={cluster.places}_%n\nDirs=/var/tmp,/dev/shm\n{lines}")
        cluster.edit_conf(lambda text: text + "\nNamespaceType=namespace/tmpfs\n")
        for name in ["slurmctld", *(f"slurmd-{node}" for node in cluster.node_names())]:
            cluster.kill(name, signal.SIGTERM)
        cluster.up()
        wait_until(cluster.idle, what="nodes back")
        return cluster
    return make


def left(cluster):
    found = []
    for node in cluster.node_names():
        base = f"{cluster.places}_{node}"
        found += os.listdir(base)
        with open("/proc/self/mounts") as file:
            found += [line for line in file if base + "/" in line]
    return found


def test_a_job_has_its_own_directories_and_its_steps_share_them(places, work):
    cluster = places()
    mark = f"mark-{os.getpid()}"
    job = cluster.submit("-o out --wrap '"
                         f"echo first > /var/tmp/{mark}; echo shm > /dev/shm/{mark}; stat -c \"%a %U\" /var/tmp; "
                         f"srun cat /var/tmp/{mark} /dev/shm/{mark}; ls /dev/shm | wc -l; "
                         f"srun sh -c \"pwd; echo \\$PWD\"; touch go; while [ ! -e stop ]; do sleep 0.1; done'", cwd=work)
    wait_until(lambda: os.path.exists(os.path.join(work, "go")), what="the first job")
    other = cluster.run(f"srun --overlap ls /var/tmp/{mark} /dev/shm/{mark}", cwd=work)
    assert other.rc != 0 and other.err.count("No such file") == 2, str(other)
    assert not os.path.exists(f"/var/tmp/{mark}") and not os.path.exists(f"/dev/shm/{mark}")
    with open(os.path.join(work, "stop"), "w"):
        pass
    assert cluster.wait_end(job) == "COMPLETED"
    assert open(os.path.join(work, "out")).read() == f"700 sluicet1\nfirst\nshm\n1\n{work}\n{work}\n"
    wait_until(lambda: not left(cluster), what="nothing left")


def test_sbcast_writes_where_the_job_sees_it(places, work):
    cluster = places(nodes=2)
    mark = f"bcast-{os.getpid()}"
    with open(os.path.join(work, "data"), "w") as file:
        file.write("for the job\n")
    os.chmod(os.path.join(work, "data"), 0o644)
    job = cluster.submit(f"-N 2 -o out --wrap 'sbcast data /var/tmp/{mark}; srun -N 2 cat /var/tmp/{mark}'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    assert open(os.path.join(work, "out")).read() == "for the job\n" * 2
    assert not os.path.exists(f"/var/tmp/{mark}")


def test_nothing_is_left_of_them_whatever_is_killed(places, work):
    cluster = places()
    node = cluster.node_names()[0]
    job = cluster.submit("-o out --no-requeue --wrap 'cd /var/tmp; for i in $(seq 100); do mkdir d; cd d; done; "
                         "touch deep; ln -s / root; cd ..; chmod 0 d; srun touch ~/ready; sleep 1000'", cwd=work)
    ready = os.path.expanduser("~sluicet1/ready")
    wait_until(lambda: os.path.exists(ready), what="the job runs")
    os.unlink(ready)
    wait_until(lambda: left(cluster), what="the private directories")
    supervisors = stepds(cluster, job)
    assert len(supervisors) >= 2
    cluster.kill(f"slurmd-{node}")
    for pid in supervisors:
        os.kill(pid, signal.SIGKILL)
    cluster.up()
    cluster.wait_end(job)
    wait_until(lambda: not left(cluster), what="nothing left")
    assert os.path.isdir("/var/tmp") and os.path.exists("/etc/passwd")


def test_the_programs_of_the_site_run_around_them(places, work, tmp_path):
    os.chmod(tmp_path, 0o755)
    log = tmp_path / "log"
    for name, text in (("init", f"echo init $SLURM_JOB_ID >> {log}"),
                       ("inside", f"touch /var/tmp/from-site; echo inside $(ls /var/tmp) >> {log}"),
                       ("after", f"echo after $(ls /var/tmp | sort | tr '\\n' ' ') >> {log}")):
        (tmp_path / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n")
        os.chmod(tmp_path / name, 0o755)
    cluster = places(f"InitScript={tmp_path}/init\nCloneNSScript={tmp_path}/inside\nCloneNSEpilog={tmp_path}/after\n")
    job = cluster.submit("-o out --wrap 'touch /var/tmp/own'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    wait_until(lambda: not left(cluster), what="nothing left")
    assert log.read_text() == f"init {job}\ninside from-site\nafter from-site own\n"
    (tmp_path / "init").write_text("#!/bin/sh\nexit 1\n")
    job = cluster.submit("-o out --wrap true", cwd=work)
    cluster.wait_reason(job, "launch failed requeued held")
    node = cluster.node_names()[0]
    wait_until(lambda: cluster.show(f"node {node}").get("Reason", "").startswith("Prolog error"), what="drained")
    assert "InitScript" in cluster.log() and "ended with exit status 1" in cluster.log()
    wait_until(lambda: not left(cluster), what="nothing left")
