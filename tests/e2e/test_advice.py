# SPDX-License-Identifier: Apache-2.0
"""What submitters and owners of jobs are told about what jobs need: seff, advice, --time=auto [A21, A22]."""

import re
import signal

from harness import wait_until

CONF = "MinJobAge=2\n"


def ran(cluster, work, name, arguments="", count=3, program="true"):
    for _ in range(count):
        cluster.submit(f"-W -J {name} -t 1-0 --advice=no -o /dev/null {arguments} --wrap='{program}'", cwd=work)


def test_seff_tells_what_a_job_has_used(make_cluster, work):
    cluster = make_cluster(nodes=1, conf=CONF)
    job = cluster.submit("-W -n 2 --mem=2000 -t 10 -o /dev/null --wrap='srun -n 2 python3 -c \"x = bytearray(200000000); "
                         "sum(i * i for i in range(9000000))\"'", cwd=work)
    # From the store as well as from the controller.
    wait_until(lambda: cluster.run(f"squeue -h -j {job}").rc == 1, 20, 0.2, "squeue forgets the job")
    out = cluster.ok(f"seff {job}")
    lines = dict(line.split(": ", 1) for line in out.splitlines())
    assert lines["Job ID"] == job and lines["State"] == "COMPLETED (exit code 0)"
    assert lines["User/Group"] == "sluicet1/sluicet1" and lines["Cores per node"] == "2"
    assert re.fullmatch(r"\d+\.\d\d% of 00:00:\d\d core-walltime", lines["CPU Efficiency"]), out
    used = float(re.fullmatch(r"(\d+\.\d\d) MB \(estimated maximum\)", lines["Memory Utilized"])[1])
    assert 2 * 190 < used < 2 * 230, out
    assert lines["Memory Efficiency"].endswith("of 1.95 GB (1.95 GB/node)")
    assert lines["Advice"].startswith("less memory would do: --mem=")
    assert cluster.ok(f"seff -d {job}").startswith("Slurm data: JobID ")


def test_seff_of_arrays_waiting_and_missing_jobs(cluster, work):
    array = cluster.submit("-W -a 1-3 -o /dev/null --wrap=true", cwd=work)
    assert f"Array Job ID: {array} (3 tasks)\n" in cluster.ok(f"seff {array}")
    assert "State: 3 COMPLETED\n" in cluster.ok(f"seff {array}")
    assert f"Array Job ID: {array}_2\n" in cluster.ok(f"seff {array}_2")
    held = cluster.submit("-H -o /dev/null --wrap=true", cwd=work)
    assert "Efficiency not available for jobs in the PENDING state.\n" in cluster.ok(f"seff {held}")
    cluster.ok(f"scancel {held}")
    gone = cluster.run("seff 999999")
    assert gone.rc == 1 and "Job not found: 999999" in gone.err
    wrong = cluster.run("seff abc")
    assert wrong.rc == 1 and "Usage: seff" in wrong.err


def test_a_limit_far_above_the_need_is_told_once(make_cluster, work):                                    # A21
    cluster = make_cluster(nodes=1, conf=CONF)
    ran(cluster, work, "train")
    far = "sbatch -J train -t 1-0 -o /dev/null --wrap=true"
    told = cluster.run(far, cwd=work)
    assert re.search(r"note: your last 3 jobs named train ran for at most 00:00:0\d, and this one may for 1-00:00:00\. "
                     r"With --time=00:05:00 ", told.err), str(told)
    assert re.fullmatch(r"Submitted batch job \d+\n", told.out)
    assert cluster.run(far, cwd=work).err == "", "not again within minutes"


def test_advice_can_be_switched_off(make_cluster, work):
    cluster = make_cluster(nodes=1, conf=CONF)
    ran(cluster, work, "train")
    far = "sbatch -J train -t 1-0 -o /dev/null --wrap=true"
    assert cluster.run(far.replace("-J", "--advice=no -J"), cwd=work).err == ""
    assert cluster.run(far, cwd=work, env={"SBATCH_ADVICE": "no"}).err == ""
    assert cluster.run(far.replace("-J", "-Q -J"), cwd=work).err == ""
    assert "your last" in cluster.run(far, cwd=work).err
    cluster = make_cluster(nodes=1, conf=CONF + "SlurmctldParameters=sluice_no_advice\n")
    ran(cluster, work, "train")
    assert cluster.run(far, cwd=work).err == ""


def test_time_auto_follows_earlier_runs_also_after_a_crash(make_cluster, work):
    cluster = make_cluster(nodes=1, conf=CONF)
    first = cluster.run("sbatch -J auto -t auto -o /dev/null --wrap=true", cwd=work)
    assert "0 of your jobs named auto have ended so far and 3 are needed" in first.err
    ran(cluster, work, "auto")
    cluster.kill("slurmctld", signal.SIGKILL)
    cluster.up()
    with open(f"{work}/auto.sh", "w") as script:
        script.write("#!/bin/bash\n#SBATCH --time=auto -J auto -o /dev/null\nsleep 30\n")
    submitted = cluster.run("sbatch auto.sh", cwd=work)
    assert "note: --time=auto is --time=00:05:00: nine of ten of your last " in submitted.err
    job = submitted.out.split()[-1]
    assert cluster.show(f"job {job}")["TimeLimit"] == "00:05:00"
    # The command line counts more than the script.
    job = cluster.submit("-t 17 auto.sh", cwd=work)
    assert cluster.show(f"job {job}")["TimeLimit"] == "00:17:00"


def test_bare_memory_that_looks_like_gigabytes_is_told(make_cluster, work):
    cluster = make_cluster(nodes=1, mem=64000)
    told = cluster.run("sbatch --mem=32 -o /dev/null --wrap=true", cwd=work)
    assert told.err == "sbatch: note: --mem=32 is 32 MB for each node; if gigabytes are meant, write --mem=32G\n"
    assert cluster.run("sbatch --mem=32M -o /dev/null --wrap=true", cwd=work).err == ""
    assert cluster.run("sbatch --mem=2000 -o /dev/null --wrap=true", cwd=work).err == ""


def test_honest_limits_go_first_where_the_site_wants_it(make_cluster, work):                             # A22
    cluster = make_cluster(nodes=1, conf=CONF + "PriorityType=priority/multifactor\nPriorityWeightAccuracy=1000\n")
    for _ in range(3):
        cluster.submit("-W -t 1 -o /dev/null --wrap='sleep 3'", cwd=work)
        cluster.submit("-W -t 1-0 -D /tmp -o /dev/null --wrap='sleep 1'", user="sluicet2")
    blocker = cluster.submit("--exclusive -o /dev/null --wrap='sleep 600'", user="root", cwd="/tmp")
    cluster.wait_state(blocker, "RUNNING")
    padded = cluster.submit("--exclusive -D /tmp -o /dev/null --wrap='sleep 600'", user="sluicet2")
    honest = cluster.submit("--exclusive -o /dev/null --wrap='sleep 600'", cwd=work)
    assert cluster.ok("squeue -h -t PD -S -p -o %A", user="root").split() == [honest, padded]
    assert "ACCURACY" in cluster.ok("sprio", user="root")
    assert int(cluster.ok(f"sprio -h -j {honest} -o %H").split()[0]) > int(
        cluster.ok(f"sprio -h -j {padded} -o %H", user="root").split()[0])
    cluster.ok(f"scancel {blocker}", user="root")
    cluster.wait_state(honest, "RUNNING")
