# SPDX-License-Identifier: Apache-2.0
"""GPUs: which devices a job gets, what AutoDetect finds, what the cards do. The vendor's library is a stub."""

import json
import os
import re

import pytest
from harness import wait_until

A100 = "NVIDIA A100-SXM4-80GB"


def cards(*extra, n=2, name=A100):
    """State of the stub: n cards, 80 GiB each, that do nothing; and more lines."""
    lines = [f"{i} {line}" for i in range(n)
             for line in (f"name {name}", f"minor {i}", f"uuid GPU-{i}", "total 81920", "used 0", "use 0")]
    return "\n".join([*extra, *lines]) + "\n"


def write_gres(cluster, text):
    cluster.write_conf("gres.conf", text.replace("@", os.path.join(cluster.dir, "dev")))


@pytest.fixture
def nvml_cluster(make_cluster):
    """One node with two a100 by AutoDetect; more(conf) makes it with more configuration."""
    def more(conf="", nodes=1, state=None, gpus="a100:2"):
        cluster = make_cluster(nodes=nodes, gpus=gpus, nvml=True, conf=conf, before=lambda made: made.nvml_set(
            state or cards()))
        write_gres(cluster, "AutoDetect=nvml\n")
        cluster.ok("scontrol reconfigure", user="root")
        return cluster
    yield more


def visible(cluster, work, options, command="echo $CUDA_VISIBLE_DEVICES"):
    job = cluster.submit(f"-W -o out-%j {options} --wrap='{command}'", cwd=work)
    with open(os.path.join(work, f"out-{job}")) as file:
        return file.read().strip()


def test_a_type_is_the_device_of_that_type_however_lines_are_ordered(make_cluster, work):          # A28, A30
    """Numbers follow Gres of the node: gres.conf, and other nodes, may name the types in any order."""
    cluster = make_cluster(nodes=1, gpus="3")
    first = "NodeName=first CPUs=2 NodeAddr=127.0.0.1 Port=1 Gres=gpu:v100:1 State=FUTURE\nNodeName="
    cluster.edit_conf(lambda text: text.replace("Gres=gpu:3", "Gres=gpu:a100:1,gpu:v100:2")
                      .replace("NodeName=", first, 1))
    write_gres(cluster, "Name=gpu Type=v100 File=@/gpu0\nName=gpu Type=a100 File=@/gpu1\n"
                        "Name=gpu Type=v100 File=@/gpu2\n")
    cluster.ok("scontrol reconfigure", user="root")
    wait_until(lambda: cluster.show("node n1").get("Gres") == "gpu:a100:1,gpu:v100:2", what="the new Gres")
    show = "echo $CUDA_VISIBLE_DEVICES $SLURM_JOB_GPUS"
    fenced = re.search(r"ConstrainDevices *= yes", cluster.ok("scontrol show config"))
    assert visible(cluster, work, "--gres=gpu:a100:1", show) == ("0 0" if fenced else "1 0")
    assert visible(cluster, work, "--gres=gpu:v100:2", show) == ("0,1 1,2" if fenced else "0,2 1,2")


def test_autodetect_finds_the_cards_and_a_part_of_their_name_is_a_type(nvml_cluster, work):         # A23
    cluster = nvml_cluster()
    node = cluster.node_names()[0]
    wait_until(lambda: cluster.show(f"node {node}")["State"] == "IDLE", what="the node is as configured")
    assert visible(cluster, work, "--nodes=1 --ntasks=1 --cpus-per-task=2 --mem=1G --gres=gpu:a100:2") == "0,1"
    env = visible(cluster, work, "-G 1", "env")
    assert "CUDA_VISIBLE_DEVICES=0" in env and "ROCR_VISIBLE_DEVICES" not in env


def test_a_library_that_does_not_work_drains_the_node_and_says_why(nvml_cluster):
    cluster = nvml_cluster(state="fail init 9\n")
    node = cluster.node_names()[0]
    wait_until(lambda: "Reason" in cluster.show(f"node {node}"), what="a reason")
    reason = cluster.ok(f"scontrol show node {node}")
    assert "gres/gpu count reported lower than configured (0 < 2)" in reason and "Driver Not Loaded" in reason


def gpus(cluster, user=None):
    return json.loads(cluster.ok("sluice gpus --json", **({"user": user} if user else {})))


def test_every_card_is_listed_with_its_job_its_use_and_since_when_it_is_idle(nvml_cluster, work):  # B01, B02
    cluster = nvml_cluster("JobAcctGatherFrequency=task=1", state=cards("0 use 80", "0 used 40960"))
    job = cluster.submit("--gres=gpu:1 -o /dev/null --wrap='sleep 300'", cwd=work)
    waiting = cluster.submit("--array=0-2 --gres=gpu:2 -o /dev/null --wrap='sleep 300'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    cluster.wait_reason(waiting, "Resources")
    wait_until(lambda: all(gpu["watched"] and gpu["use_now_percent"]["set"] for gpu in gpus(cluster)["gpus"]),
               what="what the cards do")
    first, second = gpus(cluster)["gpus"]
    assert (first["job"], first["user"], second["job"]) == (job, "sluicet1", "")
    assert first["use_now_percent"]["number"] == 80 and first["idle_since"] == 0
    assert first["memory_used_mib"]["number"] == 40960 and first["memory_total_mib"] == 81920
    assert second["idle_since"] > 0 and second["product"] == "nvidia_a100-sxm4-80gb"
    assert gpus(cluster)["waiting"] == {"jobs": 3, "gpus": 6}
    text = cluster.ok("sluice gpus")
    assert "1 of 2 GPUs are held by jobs; 1 free; 3 jobs wait for 6." in text and "40.0/80.0G" in text
    cluster.nvml_set(cards())
    wait_until(lambda: gpus(cluster)["gpus"][0]["idle_since"] > 0, what="card 0 is idle now")
    assert gpus(cluster)["gpus"][0]["use_15_minutes_percent"]["number"] > 0, "the mean remembers"
    nowhere = cluster.run("sluice gpus n9")
    assert nowhere.rc == 1 and "sluice: note: node n9 is not in this cluster" in nowhere.err, str(nowhere)
    assert "n1" in cluster.ok("sluice gpus --idle") and len(cluster.ok("sluice gpus -i").splitlines()) == 3


def test_a_process_on_a_gpu_that_belongs_to_no_job_is_named(nvml_cluster, work):                     # A02
    cluster = nvml_cluster("JobAcctGatherFrequency=task=1")
    node = cluster.node_names()[0]
    job = cluster.submit("--gres=gpu:1 -o out --wrap='echo $$; exec sleep 300'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    own = wait_until(lambda: open(os.path.join(work, "out")).read().strip()
                     if os.path.exists(os.path.join(work, "out")) else None, what="the job's pid")
    rogue = cluster.start("exec sleep 300", user="sluicet2")
    cluster.nvml_set(cards(f"0 process {own} 1000", f"1 process {rogue.process.pid} 2000"))
    shown = wait_until(lambda: cluster.show(f"node {node}").get("GpuStrays"), what="a stray process")
    assert shown.strip() == f"pid {rogue.process.pid} (sleep, sluicet2) on gpu 1"
    listed = gpus(cluster)["gpus"]
    assert not listed[0]["processes_of_no_job"]
    assert listed[1]["processes_of_no_job"][0]["pid"] == rogue.process.pid
    assert f"process {rogue.process.pid} (sleep) of sluicet2 belongs to no job" in cluster.ok("sluice gpus")
    for log in (cluster.log(), cluster.log(f"slurmd-{node}")):
        assert str(rogue.process.pid) in log
    rogue.kill()
    wait_until(lambda: "GpuStrays" not in cluster.show(f"node {node}"), what="the stray process has gone")


def test_a_card_that_has_failed_drains_its_node_and_is_named(nvml_cluster):
    cluster = nvml_cluster("JobAcctGatherFrequency=task=1")
    node = cluster.node_names()[0]
    wait_until(cluster.idle, what="idle")
    cluster.nvml_set(cards("1 xid 31"))
    wait_until(lambda: "Xid 31" in cluster.ok("sluice gpus"), what="a program's fault is told")
    assert cluster.idle(), "and is no reason to lose the node"
    cluster.nvml_set(cards("1 lost 1"))
    wait_until(lambda: "DRAIN" in cluster.show(f"node {node}")["State"], what="the node is drained")
    assert "fallen off the bus" in cluster.show(f"node {node}")["Reason"]
    assert "fallen off the bus" in cluster.ok("sluice gpus")


IDLE_CONF = ("JobAcctGatherFrequency=task=1\nPartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP "
             "GpuIdleWarn=1 GpuIdleTime=3 GpuIdleAction=CANCEL")


def output(work, job):
    try:
        with open(os.path.join(work, f"out-{job}")) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def test_a_job_that_leaves_its_gpus_idle_is_warned_and_loses_them(nvml_cluster, work):               # A05
    cluster = nvml_cluster(IDLE_CONF)
    job = cluster.submit("--gres=gpu:2 -o out-%j --wrap='sleep 300'", cwd=work)
    assert cluster.wait_end(job) == "CANCELLED"
    text = wait_until(lambda: "DUE TO IDLE GPUS" in output(work, job) and output(work, job), what="the last line")
    assert f"warning: job {job}: 2 of its 2 GPUs do nothing" in text and f"sluice keep {job}" in text


def test_work_or_the_owners_word_keeps_a_job(nvml_cluster, work):                                    # A05
    cluster = nvml_cluster(IDLE_CONF, state=cards("0 use 50"))
    works = cluster.submit("--gres=gpu:1 -o out-%j --wrap='sleep 300'", cwd=work)
    cluster.wait_state(works, "RUNNING")
    kept = cluster.submit("--gres=gpu:1 -o out-%j --wrap='sleep 300'", cwd=work)
    cluster.wait_state(kept, "RUNNING")
    assert cluster.run(f"sluice keep {kept} 1:00:00", user="sluicet2").rc == 1, "it is not theirs"
    assert "do not count for 1:00:00" in cluster.ok(f"sluice keep {kept} 1:00:00")
    assert cluster.run(f"sluice keep {kept} soon").rc == 1
    until = cluster.show(f"job {kept}")["GpuKeepUntil"]
    cluster.kill("slurmctld")
    cluster.up()
    assert cluster.show(f"job {kept}")["GpuKeepUntil"] == until
    free = cluster.submit("--gres=gpu:2 -o out-%j --wrap='sleep 300'", cwd=work)
    cluster.ok(f"sluice keep {kept} 0")
    assert cluster.wait_end(kept) == "CANCELLED", "taken back"
    assert cluster.state(works) == {"RUNNING"} and cluster.state(free) == {"PENDING"}
    assert "warning" not in output(work, works)


def test_a_notice_reaches_the_output_of_a_batch_job(gpu_cluster, work):
    job = gpu_cluster.submit("-o out-%j --wrap='sleep 300'", cwd=work)
    gpu_cluster.wait_state(job, "RUNNING")
    gpu_cluster.ok(f"scontrol notify {job} maintenance at noon")
    wait_until(lambda: output(work, job) == "slurmstepd: error: maintenance at noon\n", what="the notice")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two processors are to be told apart")
def test_closest_gpus_are_those_near_the_processors_of_a_task(make_cluster, work):
    cluster = make_cluster(nodes=1, cpus=2, mem=500, gpus="2")
    write_gres(cluster, "Name=gpu File=@/gpu0 Cores=1\nName=gpu File=@/gpu1 Cores=0\n")
    cluster.ok("scontrol reconfigure", user="root")
    show = "sh -c 'echo $SLURM_LOCALID $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS'"
    def near():
        out = cluster.ok(f"srun -n 2 --gres=gpu:2 --cpu-bind=map_cpu:0,1 --gpu-bind=closest {show}", cwd=work)
        return sorted(out.splitlines()) == ["0 1 1", "1 0 0"]
    wait_until(near, what="the new Cores are known")
    out = cluster.ok(f"srun -n 2 --gres=gpu:2 --cpu-bind=none --gpu-bind=closest {show}", cwd=work)
    assert sorted(out.splitlines()) == ["0 0,1 0,1", "1 0,1 0,1"], "a task on all processors is near to all"


def test_cards_that_are_linked_go_together(nvml_cluster, work):
    """By what the library says; gres.conf has no word on it."""
    lines = [f"{i} pci 0000:0{i}:00.0" for i in range(4)]
    lines += [f"{a} link 0000:0{b}:00.0" for a, b in ((0, 2), (2, 0), (1, 3), (3, 1))]
    cluster = nvml_cluster(state=cards(*lines, n=4), gpus="a100:4")
    wait_until(cluster.idle, what="idle")
    assert visible(cluster, work, "--gres=gpu:2", "echo $SLURM_JOB_GPUS") == "0,2"


def test_fifty_at_once_never_share_the_only_gpu(make_cluster, work):                                 # A02
    cluster = make_cluster(nodes=1, cpus=8, mem=8000, gpus="1")
    script = f"mkdir {work}/card || echo shared; rmdir {work}/card"
    cluster.ok(f"for i in $(seq 50); do sbatch -Q -o {work}/%j --mem=10 --gres=gpu:1 --wrap='{script}' & done; wait",
               cwd=work, timeout=120)
    wait_until(lambda: cluster.run("squeue -h").out == "", 120, 0.1, what="all have run")
    outputs = [name for name in os.listdir(work) if name.isdigit()]
    assert len(outputs) == 50
    assert not [name for name in outputs if os.path.getsize(os.path.join(work, name))], "nobody met another"


def test_shares_of_a_card_and_whole_cards_exclude_each_other(make_cluster, work):
    """Two shares are of one card, which the job sees and no other; the whole one has to be another."""
    cluster = make_cluster(nodes=1, cpus=8, mem=8000, gpus="2")
    cluster.edit_conf(lambda text: text.replace("Gres=gpu:2", "Gres=gpu:2,shard:4")
                      .replace("GresTypes=gpu", "GresTypes=gpu,shard"))
    write_gres(cluster, "Name=gpu File=@/gpu0\nName=gpu File=@/gpu1\nName=shard Count=4\n")
    cluster.ok("scontrol reconfigure", user="root")
    wait_until(lambda: cluster.show("node n1").get("Gres") == "gpu:2,shard:4", what="the new Gres")
    dev = os.path.join(cluster.dir, "dev")
    look = (f"echo $SLURM_SHARDS_ON_NODE $CUDA_VISIBLE_DEVICES; for d in 0 1; do head -c0 {dev}/gpu$d && echo opens $d; "
            "done 2>/dev/null; sleep 300")
    shared = [cluster.submit(f"-o out-%j --mem=100 --gres=shard:1 --wrap='{look}'", cwd=work) for _ in range(2)]
    for job in shared:
        cluster.wait_state(job, "RUNNING")
    whole = cluster.submit("-o out-%j --mem=100 --gres=gpu:1 --wrap='sleep 300'", cwd=work)
    cluster.wait_state(whole, "RUNNING")
    both = cluster.submit("-o out-%j --mem=100 --gres=gpu:2 --wrap='sleep 300'", cwd=work)
    more = cluster.submit("-o out-%j --mem=100 --gres=shard:2 --wrap='sleep 300'", cwd=work)
    cluster.wait_reason(both, "Resources")
    assert cluster.state(more) == {"PENDING"}, "no card has two shares left"
    assert "GresUsed=gpu:1(IDX:1),shard:2(2/2,0/2)" in cluster.ok("scontrol -d show node n1")
    assert "GRES=shard:1(IDX:0)" in cluster.ok(f"scontrol -d show job {shared[0]}")
    fenced = re.search(r"ConstrainDevices *= yes", cluster.ok("scontrol show config"))
    seen = ["1 0", "opens 0"] if fenced else ["1 0", "opens 0", "opens 1"]
    for job in shared:
        wait_until(lambda job=job: output(work, job).splitlines() == seen, what="its card")
    refused = cluster.run("sbatch --gres=gpu:1,shard:1 --wrap=true", cwd=work)
    assert refused.rc == 1 and "not both" in refused.err, str(refused)
    refused = cluster.run("sbatch --gres=shard:3 --wrap=true", cwd=work)
    assert refused.rc == 1 and "shard:2" in refused.err, str(refused)
    cluster.ok(f"scancel {whole} {shared[0]} {shared[1]}")
    cluster.wait_state(both, "RUNNING")
