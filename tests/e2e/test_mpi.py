# SPDX-License-Identifier: Apache-2.0
"""Parallel programs of Debian's MPICH and Open MPI under srun and under their own mpirun."""

import os
import re
import shutil
import subprocess

import pytest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi", "program.c")
COMPILERS = {"mpich": "mpicc.mpich", "openmpi": "mpicc.openmpi"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """{"mpich": path} of the test program by each MPI that is installed."""
    base = tmp_path_factory.mktemp("mpi")
    for path in (base, base.parent, base.parent.parent):
        os.chmod(path, 0o755)
    made = {}
    for name, compiler in COMPILERS.items():
        if shutil.which(compiler):
            made[name] = str(base / name)
            subprocess.run([compiler, "-o", made[name], SOURCE], check=True, capture_output=True)
    return made


def program(programs, name):
    if name not in programs:
        pytest.skip(f"{COMPILERS[name]} is not installed")
    return programs[name]


def check_hello(result, size, nodes):
    found = re.findall(r"^rank (\d+) of (\d+) on (\S+)$", result.out, re.M)
    assert result.rc == 0, str(result)
    assert sorted(int(rank) for rank, _, _ in found) == list(range(size)), str(result)
    assert {int(n) for _, n, _ in found} == {size} and len({node for _, _, node in found}) == nodes


def test_types_are_listed_and_unknown_ones_refused(cluster):
    assert cluster.ok("srun --mpi=list").startswith("MPI plugin types are...\n\tnone\n\tpmi2\n")
    result = cluster.run("srun --mpi=xx true")
    assert result.rc == 1 and "Cannot create context for mpi/xx" in result.err
    assert "Invalid MPI type 'xx', --mpi=list for acceptable types" in result.err


@pytest.mark.parametrize("shape, size, nodes", [("-n 1", 1, 1), ("-n 5", 5, 1), ("-N 3 -n 7 -m cyclic", 7, 3)])
def test_mpich_by_pmi2(cluster, work, programs, shape, size, nodes):
    check_hello(cluster.run(f"srun --mpi=pmi2 {shape} {program(programs, 'mpich')} big", cwd=work), size, nodes)


def test_two_steps_of_mpich_beside_each_other_and_one_after_another(cluster, work, programs):
    run = f"srun --mpi=pmi2 --exact -N 2 -n 4 {program(programs, 'mpich')}"
    job = cluster.submit(f"-N 2 -n 8 -o out --wrap='{run} & {run} & wait; {run}'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    text = open(os.path.join(work, "out")).read()
    assert len(re.findall(r"^rank \d of 4", text, re.M)) == 12, text


def test_an_abort_ends_the_program_on_all_nodes(cluster, work, programs):
    result = cluster.run(f"srun --mpi=pmi2 -N 2 -n 4 {program(programs, 'mpich')} abort", cwd=work)
    assert result.rc != 0 and "task 1 called abort with exit code 3" in result.err


def test_the_site_s_default_counts_where_nothing_is_asked(make_cluster, work, programs):
    cluster = make_cluster(nodes=2, cpus=2, conf="MpiDefault=pmi2")
    check_hello(cluster.run(f"srun -N 2 -n 4 {program(programs, 'mpich')}", cwd=work), 4, 2)


def needs_pmix(cluster):
    if "pmix" not in cluster.ok("srun --mpi=list"):
        pytest.skip("built without the PMIx library")


@pytest.mark.parametrize("shape, size, nodes", [("-n 1", 1, 1), ("-n 4", 4, 1), ("-N 3 -n 7 -m cyclic", 7, 3)])
def test_open_mpi_by_pmix(cluster, work, programs, shape, size, nodes):
    needs_pmix(cluster)
    check_hello(cluster.run(f"srun --mpi=pmix {shape} {program(programs, 'openmpi')} big", cwd=work), size, nodes)
    for node in cluster.node_names():
        left = os.listdir(os.path.join(cluster.dir, "spool", node))
        assert not [name for name in left if name.startswith("pmix")], left


def test_open_mpi_asks_other_nodes_when_data_is_wanted(cluster, work, programs):
    needs_pmix(cluster)
    lazy = {"OMPI_MCA_pmix_base_async_modex": "1", "OMPI_MCA_pmix_base_collect_data": "0"}
    check_hello(cluster.run(f"srun --mpi=pmix -N 2 -n 4 {program(programs, 'openmpi')}", cwd=work, env=lazy), 4, 2)


def test_an_abort_of_open_mpi_ends_the_program_on_all_nodes(cluster, work, programs):
    needs_pmix(cluster)
    result = cluster.run(f"srun --mpi=pmix -N 2 -n 4 {program(programs, 'openmpi')} abort", cwd=work)
    assert result.rc != 0 and "task 1 called abort with exit code 3" in result.err


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_mpirun_in_an_allocation(cluster, work, programs, mpi):
    check_hello(cluster.run(f"salloc -Q -N 2 -n 4 mpirun.{mpi} {program(programs, mpi)}", cwd=work, timeout=60), 4, 2)
    job = cluster.submit(f"-N 2 -n 4 -o out --wrap='mpirun.{mpi} {program(programs, mpi)}'", cwd=work)
    assert cluster.wait_end(job) == "COMPLETED"
    text = open(os.path.join(work, "out")).read()
    assert len(re.findall(r"^rank \d of 4", text, re.M)) == 4, text
