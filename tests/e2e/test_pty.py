# SPDX-License-Identifier: Apache-2.0
"""srun --pty: a terminal on the node [B40]."""

import os
import signal
import time

import pytest
from harness import pids_of, stepds, wait_until
from terminal import Terminal, cut_connections


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


@pytest.fixture
def terminal(cluster, work):
    made = []

    def make(command, on=cluster, **options):
        made.append(Terminal(on, command, work, **options))
        return made[-1]
    yield make
    for item in made:
        item.end()


def test_the_shell_has_a_terminal_of_the_same_size(terminal):
    term = terminal("exec srun --pty bash --norc", rows=33, columns=101)
    term.send("tty; stty size; echo id=$SLURM_JOB_ID\n")
    term.expect("/dev/pts/")
    term.expect("33 101")
    term.send("exit 5\n")
    assert term.wait() == 5


def test_a_resize_reaches_the_shell(terminal):
    term = terminal("exec srun --pty bash --norc")
    term.send("echo ready$((1+1))\n")
    term.expect("ready2")
    term.resize(50, 132)
    term.send("sleep 0.3; stty size\n")
    term.expect("50 132")
    term.send("exit\n")
    term.wait()


def test_control_c_interrupts_the_command_and_not_the_shell(terminal, cluster):
    term = terminal("exec srun --pty bash --norc")
    term.send("sleep 1000; echo status=$?\n")
    wait_until(lambda: pids_of(cluster, "sleep 1000"), what="sleep")
    term.send("\x03")
    term.send("echo alive$((40+2))\n")
    term.expect("alive42")
    term.send("exit\n")
    term.wait()


def test_control_d_ends_the_shell(terminal):
    term = terminal("exec srun --pty bash --norc")
    term.send("echo up$((3*3))\n")
    term.expect("up9")
    term.expect("$ ")   # before it, the line discipline would swallow an end of file
    term.send("\x04")
    assert term.wait() == 0


def test_job_control_works(terminal):
    term = terminal("exec srun --pty bash --norc -i")
    term.send("sleep 1000 &\n")
    term.send("jobs; echo jobs$((2+2))\n")
    assert "sleep 1000" in term.expect("jobs4")
    term.send("kill %1; exit\n")
    term.wait()


def test_without_a_terminal_it_says_so_and_runs(cluster, work):
    result = cluster.run("srun --pty echo fine", cwd=work)
    assert result.out.strip() == "fine" and "pseudo-terminal" in result.err


def test_control_z_stops_what_runs_inside_and_fg_brings_it_back(terminal, cluster):
    term = terminal("exec srun --pty bash --norc -i")
    term.send("sleep 1000\n")
    [sleep] = wait_until(lambda: pids_of(cluster, "sleep 1000"), what="sleep")
    term.send("\x1a")
    term.expect("Stopped")
    term.send("fg; echo fg$((50+5))\n")
    wait_until(lambda: state_of(sleep) == "S", what="sleep goes on")
    term.send("\x03")
    term.send("echo back$((7*7))\n")
    term.expect("back49")
    term.send("exit\n")
    assert term.wait() == 0


def test_srun_itself_can_be_stopped_and_continued(terminal, cluster):
    term = terminal("exec bash --norc -i")
    term.send("srun --pty bash --norc\n")
    term.send("echo in$((1+1))\n")
    term.expect("in2")
    [srun] = pids_of(cluster, "srun --pty")
    os.kill(srun, signal.SIGTSTP)
    term.expect("Stopped")
    term.send("stty -a | grep -o -e '[-]*icanon'; echo outer$((2+2))\n")
    assert "-icanon" not in term.expect("outer4").replace("[-]*icanon", "")
    term.send("fg\n")
    term.expect("fg")
    time.sleep(0.2)
    term.send("echo again$((30+3)); exit 3\n")
    term.expect("again33")
    term.expect("$ ")
    term.send("echo status=$?\n")
    term.expect("status=3")
    term.send("exit\n")
    term.wait()


MODES = "stty -g >before; %s; code=$?; stty -g >after; cmp before after && echo same modes $((code))"


def test_the_terminal_is_as_before_after_an_exit(terminal):
    term = terminal(MODES % "srun --pty bash --norc -c 'exit 4'")
    term.expect("same modes 4")
    term.wait()


def test_the_terminal_is_as_before_after_a_cancel(terminal, cluster):
    term = terminal(MODES % "srun -J victim --pty bash --norc")
    term.send("echo up$((3*3))\n")
    term.expect("up9")
    cluster.ok("scancel -n victim")
    term.expect("same modes")
    term.wait()


def test_the_terminal_is_as_before_after_a_termination(terminal, cluster):
    term = terminal(MODES % "srun --pty bash --norc")
    term.send("echo up$((3*3))\n")
    term.expect("up9")
    [srun] = pids_of(cluster, "srun --pty")
    os.kill(srun, signal.SIGTERM)
    text = term.expect("same modes")
    assert "forcing job termination\r\n" in text
    term.wait()


def test_messages_in_between_do_not_run_down_the_screen_in_stairs(terminal, cluster):
    term = terminal("exec srun -J noted --pty bash --norc")
    term.send("echo up$((3*3))\n")
    term.expect("up9")
    job = cluster.ok("squeue -h -n noted -o %A").strip()
    cluster.ok(f"scontrol notify {job} hello there")
    term.expect("hello there\r")
    term.send("exit\n")
    term.wait()


def test_nothing_is_left_when_srun_is_killed(terminal, cluster):
    term = terminal("exec srun --pty bash --norc -i")
    term.send("sleep 1234 & sleep 1235\n")
    wait_until(lambda: pids_of(cluster, "sleep 1234") and pids_of(cluster, "sleep 1235"), what="sleeps")
    os.kill(term.pid, signal.SIGKILL)
    wait_until(lambda: not pids_of(cluster, "sleep 123") and cluster.idle(), what="nothing left")


def test_nothing_is_left_when_the_window_is_closed(terminal, cluster):
    term = terminal("exec srun --pty bash --norc -i")
    term.send("sleep 1236 & sleep 1237\n")
    wait_until(lambda: pids_of(cluster, "sleep 1236") and pids_of(cluster, "sleep 1237"), what="sleeps")
    term.hang_up()
    wait_until(lambda: not pids_of(cluster, "sleep 123") and cluster.idle(), what="nothing left")


def test_a_cut_network_ends_both_sides(terminal, cluster):
    term = terminal(MODES % "srun --pty bash --norc -i")
    term.send("sleep 1238\n")
    wait_until(lambda: pids_of(cluster, "sleep 1238"), what="sleep")
    [srun] = pids_of(cluster, "srun --pty")
    job = cluster.ok("squeue -h -o %A").strip()
    [stepd] = stepds(cluster, job, "0")
    assert cut_connections(stepd) == 1
    cut_connections(srun)
    term.expect("same modes")
    wait_until(lambda: not pids_of(cluster, "sleep 1238") and cluster.idle(), what="nothing left")
    term.wait()


def test_exported_functions_and_the_environment_are_there(terminal):                                        # B41
    term = terminal("""exec bash --norc -c 'module() { echo loaded $2; }; export -f module; export PLACE=here
                    srun --pty bash --norc -c "module load anaconda; echo \\$PLACE"' """)
    term.expect("loaded anaconda")
    term.expect("here")
    assert term.wait() == 0


def test_a_session_outlives_restarts_of_controller_and_slurmd(make_cluster, terminal):
    own = make_cluster(nodes=1, conf="KillWait=1\n")
    term = terminal(MODES % "srun --pty bash --norc", on=own)
    term.send("echo up$((3*3))\n")
    term.expect("up9")
    own.kill("slurmctld")
    [slurmd] = [name[:-4] for name in os.listdir(own.dir + "/run") if name.startswith("slurmd-")]
    own.kill(slurmd)
    term.send("echo still$((8*8))\n")
    term.expect("still64")
    own.up()
    term.send("exit 6\n")
    term.expect("same modes 6")
    term.wait()


def test_the_shell_of_salloc_runs_on_the_node(make_cluster, terminal):
    own = make_cluster(nodes=2, conf="KillWait=1\nLaunchParameters=use_interactive_step\n")
    term = terminal("SHELL=/bin/bash; export SHELL; exec salloc -n 6 -N 2", on=own)
    term.send("echo step=$SLURM_STEP_ID rank=$SLURM_PROCID ntasks=$SLURM_NTASKS nodes=$SLURM_NNODES "
              "$(tty | grep -c pts)\n")
    term.expect("step=4294967290 rank=0 ntasks=6 nodes=2 1")
    term.send("squeue -h -s -o %i; srun -l hostname | wc -l\n")
    term.expect(".interactive")
    term.expect("6")
    term.send("exit 5\n")
    term.expect("Relinquishing")
    assert term.wait() == 5


def test_the_options_of_that_shell_are_the_clusters(make_cluster, terminal):
    own = make_cluster(nodes=1, conf="LaunchParameters=use_interactive_step\n"
                       "InteractiveStepOptions=\"--interactive --preserve-env --pty bash --norc -c 'echo my $((6*7)) && exit 2'\"\n")
    term = terminal("exec salloc", on=own)
    term.expect("my 42")
    assert term.wait() == 2
