# SPDX-License-Identifier: Apache-2.0
"""CPUs of tasks: what a task may use is what its step asked for [A26], and --cpu-bind, -m, --hint.

The machine of the first tests is this one, as a node of its own size; that of the others is one that hwloc makes up, of
2 sockets with 4 cores with 2 threads, so their masks are told and cannot be set.
"""

import os
import re

import pytest
from harness import cluster_of_its_own

CPUS = os.cpu_count()


@pytest.fixture(scope="module")
def real():
    with cluster_of_its_own("real", nodes=1, cpus=CPUS, mem=4000) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def made_up():
    def synthetic(cluster):
        cluster.daemon_env["HWLOC_SYNTHETIC"] = "package:2 core:4 pu:2"
    with cluster_of_its_own("made_up", before=synthetic, nodes=1, cpus=16, mem=4000) as cluster:
        cluster.edit_conf(lambda text: text.replace("CPUs=16", "CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"))
        cluster.write_conf("cgroup.conf", "ConstrainCores=no\n")
        cluster.ok("scontrol reconfigure", user="root")
        yield cluster


def masks(result):
    """{rank: (kind, mask)} of the lines that --cpu-bind=verbose prints."""
    found = re.findall(r"^(?:\d+: )?cpu-bind=(\w+) +- n1, task +(\d+) +\d+ \[\d+\]: mask (0x[0-9a-f]+)", result.err, re.M)
    return {int(rank): (kind, mask) for kind, rank, mask in found}


@pytest.mark.skipif(CPUS < 2, reason="needs two CPUs")
def test_a_task_sees_as_many_cpus_as_it_asked_for(real, work):                                             # A26
    job = real.submit(f"-n 1 -c {CPUS} -o out --wrap='nproc; srun nproc; "
                      "srun python3 -c \"import os; print(len(os.sched_getaffinity(0)))\"'", cwd=work)
    assert real.wait_end(job) == "COMPLETED"
    assert open(os.path.join(work, "out")).read().split() == [str(CPUS)] * 3
    assert real.run("srun -n 1 -c 1 nproc", cwd=work).out == "1\n"


@pytest.mark.skipif(CPUS < 2, reason="needs two CPUs")
def test_tasks_are_bound_to_cpus_of_their_own(real, work):
    result = real.run("srun -n 2 -l --cpu-bind=verbose,threads grep Cpus_allowed_list /proc/self/status", cwd=work)
    assert result.rc == 0 and masks(result) == {0: ("MASK", "0x1"), 1: ("MASK", "0x2")}
    assert sorted(line.split()[-1] for line in result.lines) == ["0", "1"]
    result = real.run("srun -n 2 -l --cpu-bind=v,map_cpu:1,0 grep Cpus_allowed_list /proc/self/status", cwd=work)
    assert masks(result) == {0: ("MAP", "0x2"), 1: ("MAP", "0x1")} and "0: Cpus_allowed_list:\t1\n" in result.out
    result = real.run("srun -n 1 --cpu-bind=verbose,none true", cwd=work)
    assert masks(result) == {0: ("NONE", "0x0")}


def test_a_cpu_that_the_step_has_not_is_refused(real, work):
    result = real.run("srun -n 1 --cpu-bind=map_cpu:400 true", cwd=work)
    assert result.rc == 1 and "CPU binding outside of job step allocation" in result.err
    assert "failed on node n1: Unable to satisfy cpu bind request" in result.err


def test_tasks_read_their_binding_and_do_not_hand_it_on(real, work):
    out = real.ok("srun -n 1 --cpu-bind=map_cpu:0 env", cwd=work)
    assert "SLURM_CPU_BIND=quiet,map_cpu:0\n" in out and "SLURM_CPU_BIND_TYPE=map_cpu:\n" in out
    out = real.ok("srun -n 1 --cpu-bind=map_cpu:0 srun --overlap --cpu-bind=cores env", cwd=work)
    assert "SLURM_CPU_BIND_TYPE=mask_cpu:\n" in out
    out = real.ok("srun -n 1 --cpu-bind=map_cpu:0 srun --overlap env", cwd=work)
    assert "SLURM_CPU_BIND_TYPE=mask_cpu:\n" in out
    assert "SLURM_CPU_BIND=verbose,none\n" in real.ok("SLURM_CPU_BIND=verbose,none srun -n 1 env", cwd=work)


@pytest.mark.parametrize("options, wanted", [
    ("-n 4 --cpu-bind=verbose,cores", "0x3 0x300 0xc 0xc00"),
    ("-n 4 --cpu-bind=verbose,cores -m block:block", "0x3 0xc 0x30 0xc0"),
    ("-n 2 --cpu-bind=verbose", "0xff 0xff00"),
    ("-n 8 --cpu-bind=verbose,threads -m *:block", "0x1 0x2 0x4 0x8 0x10 0x20 0x40 0x80"),
    ("-n 4 --cpu-bind=verbose --hint=nomultithread", "0x1 0x100 0x4 0x400"),
    ("-n 3 --cpu-bind=verbose", "0xffff 0xffff 0xffff"),
    ("-n 4 -c 3 --cpu-bind=verbose,cores", "0xf 0xf00 0xf0 0xf000"),
])
def test_layouts_on_sockets_cores_and_threads(made_up, work, options, wanted):
    result = made_up.run(f"salloc -Q -n 16 srun {options} true", cwd=work)
    assert [mask for _, (_, mask) in sorted(masks(result).items())] == wanted.split(), str(result)


def test_a_mask_that_cannot_be_set_is_told(made_up, work):
    result = made_up.run("salloc -Q -n 16 srun -n 2 --cpu-bind=map_cpu:15,0 true", cwd=work)
    assert result.rc == 0 and "task 0 is not bound to its CPUs: sched_setaffinity(): Invalid argument" in result.err


def test_what_there_is_to_bind_to_is_listed(real, work):
    result = real.run("srun --cpu-bind=help", cwd=work)
    assert result.rc == 0 and "mask_cpu:" in result.out


def test_the_memory_of_tasks_lies_where_it_is_bound_to(real, work):
    """This machine may have one NUMA node only; the kernel tells the policy of each mapping."""
    policy = "sh -c 'sleep 0; grep -m1 -o \"heap\\|bind[^ ]*\\|prefer[^ ]*\\|local\\|default\" /proc/self/numa_maps'"
    for option, expected in (("map_mem:0", "bind:0"), ("rank", "bind:0"), ("mask_mem:0x1", "bind:0"),
                             ("local", "local"), ("none", "default")):
        assert real.run(f"srun -n 1 --mem-bind={option} {policy}", cwd=work).out == f"{expected}\n", option
    result = real.run(f"srun -n 1 --mem-bind=verbose,map_mem:0 {policy}", cwd=work)
    assert re.search(r"^mem-bind=MAP +- n1, task +0 +0 \[\d+\]: mask 0x1 set$", result.err, re.M), str(result)
    result = real.run("srun -n 1 --mem-bind=map_mem:900 true", cwd=work)
    assert result.rc != 0 and "NUMA nodes that are not there (900), this node has: 0" in result.err, str(result)
    assert "map_mem:" in real.ok("srun --mem-bind=help")
    job = real.submit("-n 1 --mem-bind=prefer,map_mem:0 -o out --wrap='echo $SBATCH_MEM_BIND; srun env | grep ^SLURM_MEM_BIND='",
                      cwd=work)
    assert real.wait_end(job) == "COMPLETED"
    assert open(os.path.join(work, "out")).read().split() == ["quiet,prefer,map_mem:0", "SLURM_MEM_BIND=quiet,prefer,map_mem:0"]
