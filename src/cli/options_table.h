/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every option of sbatch, srun and salloc, one row each. Parsing, `--help`, `--usage`, the tables
 * of the manual pages and shell completion all come from these rows.
 *
 * X(id, "long-name", letter, ARGUMENT, COMMANDS, "environment", parser, target, tier, EFFECT,
 *   GROUP, "METAVAR", "what it does")
 *   ARGUMENT     NO, REQUIRED, OPTIONAL (getopt's meaning: optional ones only as --name=value)
 *   COMMANDS     who takes it: B sbatch, R srun, A salloc
 *   environment  words tried in order, the first variable that is set counts. `*X` stands for
 *                SBATCH_X, SLURM_X (srun) or SALLOC_X; a word may start with "r:", "b:", "a:",
 *                "ba:" … to hold for these commands only
 *   parser       option_parse_<parser> of options_value.c
 *   target       the member of struct options that a parser writes to (`self` where it needs none;
 *                unread_flag, unread_number, unread_text where nobody would read it)
 *   EFFECT       HONOURED, or NOT_YET: accepted with a notice that it has no effect yet
 *
 * Two rows may share a long name when the commands that take it differ.
 */
#ifndef SLUICE_CLI_OPTIONS_TABLE_H
#define SLUICE_CLI_OPTIONS_TABLE_H

/* clang-format off */
#define OPTION_TABLE(X) \
    /* ---- the job: identity, queue, time ---- */ \
    X(account, "account", 'A', REQUIRED, BRA, "*ACCOUNT", string, job.account, 1, HONOURED, JOB, "NAME", "charge the job to this account") \
    X(advice, "advice", 0, REQUIRED, BRA, "*ADVICE", yes_no, advice, 2, HONOURED, JOB, "yes|no", "tell what earlier jobs of this name have needed, and of memory that looks too small") \
    X(array, "array", 'a', REQUIRED, B, "*ARRAY_INX", string, job.array_spec, 1, HONOURED, JOB, "IDS[%LIMIT]", "submit one job for each index; at most LIMIT run at a time") \
    X(begin, "begin", 'b', REQUIRED, BR, "", when, job.begin_time, 1, HONOURED, JOB, "TIME", "do not start before this time") \
    X(begin_a, "begin", 0, REQUIRED, A, "", when, job.begin_time, 1, HONOURED, JOB, "TIME", "do not start before this time") \
    X(cluster_constraint, "cluster-constraint", 0, REQUIRED, BRA, "*CLUSTER_CONSTRAINT", string, unread_text, 3, NOT_YET, JOB, "[!]LIST", "clusters of a federation that may run the job") \
    X(clusters, "clusters", 'M', REQUIRED, BRA, "*CLUSTERS SLURM_CLUSTERS", string, job.clusters, 3, HONOURED, JOB, "NAMES", "send the job to one of these clusters") \
    X(comment, "comment", 0, REQUIRED, BRA, "", string, job.comment, 1, HONOURED, JOB, "TEXT", "a remark that is shown with the job") \
    X(deadline, "deadline", 0, REQUIRED, BRA, "", when, job.deadline, 2, HONOURED, JOB, "TIME", "remove the job when it cannot end before this time") \
    X(delay_boot, "delay-boot", 0, REQUIRED, BRA, "*DELAY_BOOT", minutes, unread_number, 3, NOT_YET, JOB, "MINUTES", "wait this long before a node is rebooted for its features") \
    X(dependency, "dependency", 'd', REQUIRED, BRA, "r:SLURM_DEPENDENCY", string, job.dependency, 1, HONOURED, JOB, "TYPE:ID[,...]", "wait for other jobs: after, afterany, afterok, afternotok, aftercorr, singleton") \
    X(extra, "extra", 0, REQUIRED, BRA, "", string, job.extra, 3, HONOURED, JOB, "TEXT", "free text kept with the job") \
    X(hold, "hold", 'H', NO, BRA, "", flag, job.hold, 1, HONOURED, JOB, "", "submit the job held; `scontrol release` lets it go") \
    X(ignore_pbs, "ignore-pbs", 0, NO, B, "*IGNORE_PBS", flag, unread_flag, 3, HONOURED, JOB, "", "leave #PBS and #BSUB lines of the script alone") \
    X(immediate, "immediate", 'I', OPTIONAL, RA, "*IMMEDIATE", immediate, job.immediate, 2, HONOURED, JOB, "SECONDS", "give up unless started within this time (1 s)") \
    X(job_name, "job-name", 'J', REQUIRED, BRA, "b:SBATCH_JOB_NAME r:SLURM_JOB_NAME", string, job.name, 1, HONOURED, JOB, "NAME", "name of the job") \
    X(kill_on_invalid_dep, "kill-on-invalid-dep", 0, REQUIRED, B, "", yes_no, job.kill_on_invalid_dep, 2, HONOURED, JOB, "yes|no", "remove the job when its dependency can never be met") \
    X(licenses, "licenses", 'L', REQUIRED, BRA, "", string, job.licenses, 2, HONOURED, JOB, "NAME[:N],...", "licences that the job needs") \
    X(mail_type, "mail-type", 0, REQUIRED, BRA, "", mail_type, job.mail_type, 1, HONOURED, JOB, "EVENTS", "send mail on BEGIN, END, FAIL, REQUEUE, TIME_LIMIT, ...; ALL, NONE") \
    X(mail_user, "mail-user", 0, REQUIRED, BRA, "", string, job.mail_user, 1, HONOURED, JOB, "ADDRESS", "where mail goes") \
    X(mcs_label, "mcs-label", 0, REQUIRED, BRA, "", string, job.mcs_label, 3, NOT_YET, JOB, "LABEL", "security label") \
    X(nice, "nice", 0, OPTIONAL, BRA, "", nice, job.nice, 1, HONOURED, JOB, "N", "lower the priority by N (100); only operators may raise it") \
    X(no_requeue, "no-requeue", 0, NO, B, "*NO_REQUEUE", no_requeue, job.requeue, 1, HONOURED, JOB, "", "do not start the job again after a node failure or preemption") \
    X(partition, "partition", 'p', REQUIRED, BRA, "*PARTITION", string, job.partition, 1, HONOURED, JOB, "NAME[,...]", "run in this partition; of several the one that starts first") \
    X(priority, "priority", 0, REQUIRED, BRA, "", priority, job.requested_priority, 2, HONOURED, JOB, "N|TOP", "set the priority (operators)") \
    X(qos, "qos", 'q', REQUIRED, BRA, "*QOS", string, job.qos, 1, HONOURED, JOB, "NAME", "quality of service") \
    X(reboot, "reboot", 0, NO, BRA, "", flag, job.reboot, 3, NOT_YET, JOB, "", "reboot the nodes before the job starts") \
    X(requeue, "requeue", 0, OPTIONAL, B, "*REQUEUE", requeue, job.requeue, 1, HONOURED, JOB, "", "start the job again after a node failure or preemption") \
    X(reservation, "reservation", 0, REQUIRED, BRA, "*RESERVATION", string, job.reservation, 1, HONOURED, JOB, "NAME,…", "start in this reservation, or in one of several") \
    X(signal, "signal", 0, REQUIRED, BRA, "*SIGNAL", signal, job.signal, 1, HONOURED, JOB, "[B:]SIGNAL[@SECONDS]", "send a signal this long before the time limit (60 s)") \
    X(time, "time", 't', REQUIRED, BRA, "*TIMELIMIT", time_limit, job.time_limit, 1, HONOURED, JOB, "TIME", "time limit: minutes, [[days-]hours:]minutes:seconds, days-hours; auto: by the last jobs of this name") \
    X(time_min, "time-min", 0, REQUIRED, BRA, "", minutes, job.time_min, 2, HONOURED, JOB, "TIME", "accept a time limit as low as this to start sooner") \
    X(wait_all_nodes, "wait-all-nodes", 0, REQUIRED, BA, "*WAIT_ALL_NODES", zero_one, job.wait_all_nodes, 3, HONOURED, JOB, "0|1", "start only when every node is ready") \
    X(wckey, "wckey", 0, REQUIRED, BRA, "*WCKEY", string, job.wckey, 3, HONOURED, JOB, "KEY", "workload characterisation key that the job counts for, one of the user's (TrackWCKey)") \
    /* ---- sizes ---- */ \
    X(core_spec, "core-spec", 'S', REQUIRED, BRA, "*CORE_SPEC", count0, job.core_spec, 3, NOT_YET, SIZE, "N", "cores of each node to keep for the system") \
    X(cpus_per_gpu, "cpus-per-gpu", 0, REQUIRED, BRA, "*CPUS_PER_GPU", count, job.cpus_per_gpu, 2, HONOURED, SIZE, "N", "CPUs for each GPU") \
    X(cpus_per_task, "cpus-per-task", 'c', REQUIRED, BRA, "r:SRUN_CPUS_PER_TASK r:SLURM_CPUS_PER_TASK", count, job.cpus_per_task, 1, HONOURED, SIZE, "N", "CPUs for each task") \
    X(exclusive, "exclusive", 0, OPTIONAL, BRA, "*EXCLUSIVE", exclusive, job.exclusive, 1, HONOURED, SIZE, "user|mcs|topo", "take whole nodes; share only with jobs of the same user") \
    X(gpu_bind, "gpu-bind", 0, REQUIRED, BRA, "*GPU_BIND", gpu_bind, job.tres_bind, 2, HONOURED, SIZE, "TYPE", "which GPUs a task sees: none, closest, per_task:N, single:N, map_gpu:LIST") \
    X(gpu_freq, "gpu-freq", 0, REQUIRED, BRA, "*GPU_FREQ", string, job.tres_freq, 3, NOT_YET, SIZE, "SPEC", "clock of the GPUs") \
    X(gpus, "gpus", 'G', REQUIRED, BRA, "*GPUS", gpus, gpus, 1, HONOURED, SIZE, "[TYPE:]N", "GPUs of the whole job") \
    X(gpus_per_node, "gpus-per-node", 0, REQUIRED, BRA, "*GPUS_PER_NODE", gpus, gpus_per_node, 1, HONOURED, SIZE, "[TYPE:]N", "GPUs on each node") \
    X(gpus_per_socket, "gpus-per-socket", 0, REQUIRED, BRA, "*GPUS_PER_SOCKET", gpus, gpus_per_socket, 3, HONOURED, SIZE, "[TYPE:]N", "GPUs for each socket") \
    X(gpus_per_task, "gpus-per-task", 0, REQUIRED, BRA, "*GPUS_PER_TASK", gpus, gpus_per_task, 1, HONOURED, SIZE, "[TYPE:]N", "GPUs for each task") \
    X(gres, "gres", 0, REQUIRED, BRA, "b:SBATCH_GRES a:SALLOC_GRES r:SLURM_STEP_GRES r:SLURM_GRES", gres, gres, 1, HONOURED, SIZE, "NAME[:TYPE][:N],...", "generic resources on each node, as gpu:a100:2") \
    X(gres_flags, "gres-flags", 0, REQUIRED, BRA, "*GRES_FLAGS", gres_flags, job.gres_flags, 2, HONOURED, SIZE, "FLAGS", "enforce-binding, disable-binding, one-task-per-sharing, multiple-tasks-per-sharing") \
    X(mem, "mem", 0, REQUIRED, BRA, "*MEM_PER_NODE", mem, job.mem_per_node, 1, HONOURED, SIZE, "SIZE[K|M|G|T]", "memory on each node (MiB); 0 is all of it") \
    X(mem_per_cpu, "mem-per-cpu", 0, REQUIRED, BRA, "*MEM_PER_CPU", mem, job.mem_per_cpu, 1, HONOURED, SIZE, "SIZE[K|M|G|T]", "memory for each CPU") \
    X(mem_per_gpu, "mem-per-gpu", 0, REQUIRED, BRA, "*MEM_PER_GPU", mem, job.mem_per_gpu, 2, HONOURED, SIZE, "SIZE[K|M|G|T]", "memory for each GPU") \
    X(mem_update, "mem-update", 0, REQUIRED, BRA, "", string, unread_text, 3, NOT_YET, SIZE, "PERCENT@DELAY", "lower the memory of the running job to what it uses") \
    X(mincpus, "mincpus", 0, REQUIRED, BRA, "", count, job.min_cpus_per_node, 2, HONOURED, SIZE, "N", "at least so many CPUs on each node") \
    X(nodes, "nodes", 'N', REQUIRED, BRA, "r:SLURM_JOB_NUM_NODES r:SLURM_NNODES", nodes, job.min_nodes, 1, HONOURED, SIZE, "MIN[-MAX]", "number of nodes") \
    X(ntasks, "ntasks", 'n', REQUIRED, BRA, "r:SLURM_NTASKS r:SLURM_NPROCS", count, job.ntasks, 1, HONOURED, SIZE, "N", "number of tasks (processes)") \
    X(ntasks_per_core, "ntasks-per-core", 0, REQUIRED, BRA, "r:SLURM_NTASKS_PER_CORE", count, job.ntasks_per_core, 2, HONOURED, SIZE, "N", "at most so many tasks on a core") \
    X(ntasks_per_gpu, "ntasks-per-gpu", 0, REQUIRED, BRA, "r:SLURM_NTASKS_PER_GPU", count, job.ntasks_per_gpu, 2, HONOURED, SIZE, "N", "so many tasks for each GPU") \
    X(ntasks_per_node, "ntasks-per-node", 0, REQUIRED, BRA, "r:SLURM_NTASKS_PER_NODE", count, job.ntasks_per_node, 1, HONOURED, SIZE, "N", "tasks on each node; with --ntasks at most so many") \
    X(ntasks_per_socket, "ntasks-per-socket", 0, REQUIRED, BRA, "", count, job.ntasks_per_socket, 2, HONOURED, SIZE, "N", "at most so many tasks on a socket") \
    X(overcommit, "overcommit", 'O', NO, BRA, "*OVERCOMMIT", flag, job.overcommit, 2, HONOURED, SIZE, "", "allow more tasks than CPUs") \
    X(oversubscribe, "oversubscribe", 's', NO, BRA, "", oversubscribe, job.oversubscribe, 2, HONOURED, SIZE, "", "share the nodes' CPUs with other jobs where the partition allows it") \
    X(resources, "resources", 0, REQUIRED, BRA, "", string, unread_text, 3, NOT_YET, SIZE, "LIST", "hierarchical resources") \
    X(thread_spec, "thread-spec", 0, REQUIRED, BRA, "*THREAD_SPEC", count0, job.thread_spec, 3, NOT_YET, SIZE, "N", "threads of each node to keep for the system") \
    X(tmp, "tmp", 0, REQUIRED, BRA, "", mem, job.tmp_disk, 2, HONOURED, SIZE, "SIZE[K|M|G|T]", "scratch disk on each node") \
    X(tres_bind, "tres-bind", 0, REQUIRED, BRA, "*TRES_BIND", tres_bind, job.tres_bind, 2, HONOURED, SIZE, "SPEC", "binding of tasks to resources, as gres/gpu:per_task:1") \
    X(tres_per_task, "tres-per-task", 0, REQUIRED, BRA, "*TRES_PER_TASK", string, tres_per_task, 2, HONOURED, SIZE, "LIST", "resources for each task, as cpu=4,gres/gpu=1") \
    /* ---- which nodes, and how tasks are laid out ---- */ \
    X(batch, "batch", 0, REQUIRED, B, "*BATCH", string, job.batch_features, 3, NOT_YET, PLACE, "FEATURES", "features that the node of the script must have") \
    X(consolidate_segments, "consolidate-segments", 0, NO, BRA, "*CONSOLIDATE_SEGMENTS", flag, unread_flag, 3, NOT_YET, PLACE, "", "put the segments close together") \
    X(constraint, "constraint", 'C', REQUIRED, BRA, "*CONSTRAINT", string, job.features, 1, HONOURED, PLACE, "EXPR", "features that the nodes must have: a, a&b, a|b, [a|b], a*2") \
    X(contiguous, "contiguous", 0, NO, BRA, "", flag, job.contiguous, 2, HONOURED, PLACE, "", "nodes must stand next to each other") \
    X(cores_per_socket, "cores-per-socket", 0, REQUIRED, BRA, "r:SLURM_NCORES_PER_SOCKET", count, job.cores_per_socket, 2, HONOURED, PLACE, "N", "at least so many cores a socket") \
    X(cpu_freq, "cpu-freq", 0, REQUIRED, BRA, "*CPU_FREQ_REQ", cpu_freq, job.cpu_freq, 3, NOT_YET, PLACE, "MIN[-MAX][:GOVERNOR]", "clock of the CPUs") \
    X(distribution, "distribution", 'm', REQUIRED, BRA, "b:SBATCH_DISTRIBUTION r:SLURM_DISTRIBUTION", distribution, job.distribution, 1, HONOURED, PLACE, "TYPE", "order of tasks over nodes: block, cyclic, plane=N, arbitrary, and [:sockets[:cores]]") \
    X(exclude, "exclude", 'x', REQUIRED, BRA, "", hosts, job.exc_nodes, 1, HONOURED, PLACE, "HOSTS|FILE", "do not use these nodes") \
    X(extra_node_info, "extra-node-info", 'B', REQUIRED, BRA, "", extra_node_info, job.sockets_per_node, 2, HONOURED, PLACE, "S[:C[:T]]", "at least so many sockets, cores and threads") \
    X(hint, "hint", 0, REQUIRED, BRA, "*HINT SLURM_HINT", hint, job.hint, 2, HONOURED, PLACE, "HINT", "compute_bound, memory_bound, multithread, nomultithread; help explains") \
    X(mem_bind, "mem-bind", 0, REQUIRED, BRA, "*MEM_BIND", mem_bind, job.mem_bind, 3, HONOURED, PLACE, "TYPE", "NUMA nodes of the memory of tasks: local, rank, map_mem:LIST, ...; help lists them") \
    X(nodefile, "nodefile", 'F', REQUIRED, BRA, "", nodefile, job.req_nodes, 2, HONOURED, PLACE, "FILE", "use the nodes named in this file") \
    X(nodelist, "nodelist", 'w', REQUIRED, BRA, "", nodelist, job.req_nodes, 1, HONOURED, PLACE, "HOSTS|FILE", "use at least these nodes") \
    X(prefer, "prefer", 0, REQUIRED, BRA, "", string, job.prefer, 2, NOT_YET, PLACE, "EXPR", "features that are wanted but not needed") \
    X(segment, "segment", 0, REQUIRED, BRA, "*SEGMENT_SIZE", count, unread_number, 3, NOT_YET, PLACE, "N", "nodes of a segment in a block topology") \
    X(sockets_per_node, "sockets-per-node", 0, REQUIRED, BRA, "r:SLURM_NSOCKETS_PER_NODE", count, job.sockets_per_node, 2, HONOURED, PLACE, "N", "at least so many sockets") \
    X(spread_job, "spread-job", 0, NO, BRA, "*SPREAD_JOB", flag, job.spread_job, 3, HONOURED, PLACE, "", "use as many nodes as the request allows") \
    X(spread_segments, "spread-segments", 0, NO, BRA, "*SPREAD_SEGMENTS", flag, unread_flag, 3, NOT_YET, PLACE, "", "put the segments apart") \
    X(stepmgr, "stepmgr", 0, NO, BRA, "*STEPMGR", flag, unread_flag, 3, NOT_YET, PLACE, "", "manage steps on the first node of the job") \
    X(switches, "switches", 0, REQUIRED, BRA, "*REQ_SWITCH", switches, job.switches, 3, HONOURED, PLACE, "N[@TIME]", "at most so many leaf switches, given up after TIME (also in the variable ..._WAIT4SWITCH)") \
    X(threads_per_core, "threads-per-core", 0, REQUIRED, BRA, "*THREADS_PER_CORE", count, job.threads_per_core, 2, HONOURED, PLACE, "N", "use so many threads of each core") \
    X(use_min_nodes, "use-min-nodes", 0, NO, BRA, "*USE_MIN_NODES", flag, job.use_min_nodes, 3, HONOURED, PLACE, "", "prefer the lowest number of nodes") \
    /* ---- files, environment, limits ---- */ \
    X(acctg_freq, "acctg-freq", 0, REQUIRED, BRA, "*ACCTG_FREQ", acctg_freq, job.acctg_freq, 3, HONOURED, IO, "SECONDS", "how often use is sampled while it runs: SECONDS or task=SECONDS, 0 = not") \
    X(bb, "bb", 0, REQUIRED, BRA, "*BURST_BUFFER", string, job.burst_buffer, 3, NOT_YET, IO, "SPEC", "burst buffer") \
    X(bbf, "bbf", 0, REQUIRED, BRA, "", readable_file, unread_text, 3, NOT_YET, IO, "FILE", "file that describes the burst buffer") \
    X(chdir, "chdir", 'D', REQUIRED, BRA, "r:SLURM_WORKING_DIR r:SLURM_REMOTE_CWD", string, job.work_dir, 1, HONOURED, IO, "DIR", "working directory") \
    X(container, "container", 0, REQUIRED, BRA, "*CONTAINER", string, job.container, 3, NOT_YET, IO, "BUNDLE", "run inside this OCI bundle") \
    X(container_id, "container-id", 0, REQUIRED, BRA, "*CONTAINER_ID", string, unread_text, 3, NOT_YET, IO, "ID", "name of the container") \
    X(context, "context", 0, REQUIRED, BRA, "", string, unread_text, 3, NOT_YET, IO, "CONTEXT", "SELinux context") \
    X(error, "error", 'e', REQUIRED, BR, "b:SBATCH_ERROR r:SRUN_ERROR r:SLURM_STDERRMODE", string, job.std_err, 1, HONOURED, IO, "PATTERN", "file for standard error (default: with standard output)") \
    X(export, "export", 0, REQUIRED, BR, "b:SBATCH_EXPORT r:SRUN_EXPORT_ENV r:SLURM_EXPORT_ENV", string, job.export_env, 1, HONOURED, IO, "ALL|NONE|NIL|LIST", "which variables the job gets") \
    X(export_file, "export-file", 0, REQUIRED, B, "", string, export_file, 3, HONOURED, IO, "FILE|FD", "read the variables from a file, NUL-separated") \
    X(get_user_env, "get-user-env", 0, OPTIONAL, B, "*GET_USER_ENV", get_user_env, job.get_user_env, 2, HONOURED, IO, "", "load the login environment on the node") \
    X(gid, "gid", 0, REQUIRED, B, "", gid, job.run_as_gid, 3, HONOURED, IO, "GROUP", "submit for this group (root)") \
    X(input, "input", 'i', REQUIRED, BR, "b:SBATCH_INPUT r:SRUN_INPUT r:SLURM_STDINMODE", string, job.std_in, 1, HONOURED, IO, "PATTERN", "file for standard input") \
    X(network, "network", 0, REQUIRED, BRA, "*NETWORK", string, job.network, 3, NOT_YET, IO, "SPEC", "network resources") \
    X(no_kill, "no-kill", 'k', OPTIONAL, BRA, "*NO_KILL", no_kill, job.no_kill, 2, HONOURED, IO, "off", "keep the job when one of its nodes fails") \
    X(oom_kill_step, "oom-kill-step", 0, OPTIONAL, BRA, "r:SLURM_OOM_KILL_STEP", zero_one, job.oom_kill_step, 3, HONOURED, IO, "0|1", "end the whole step when one task runs out of memory") \
    X(open_mode, "open-mode", 0, REQUIRED, BR, "*OPEN_MODE", open_mode, job.open_mode, 1, HONOURED, IO, "append|truncate", "what happens to output files that exist") \
    X(output, "output", 'o', REQUIRED, BR, "b:SBATCH_OUTPUT r:SRUN_OUTPUT r:SLURM_STDOUTMODE", string, job.std_out, 1, HONOURED, IO, "PATTERN", "file for standard output: %j job, %x name, %A_%a array, %N node, %t task") \
    X(power, "power", 0, REQUIRED, BRA, "*POWER", string, unread_text, 3, NOT_YET, IO, "FLAGS", "power management flags") \
    X(profile, "profile", 0, REQUIRED, BRA, "*PROFILE", profile, job.profile, 3, NOT_YET, IO, "all|none|TYPE", "detailed profile of the tasks") \
    X(propagate, "propagate", 0, OPTIONAL, BR, "b:SBATCH_PROPAGATE r:SLURM_PROPAGATE", propagate, propagate, 2, HONOURED, IO, "ALL|NONE|LIMITS", "resource limits that the job takes over from here") \
    X(uid, "uid", 0, REQUIRED, B, "", uid, job.run_as_uid, 3, HONOURED, IO, "USER", "submit for this user (root)") \
    X(wrap, "wrap", 0, REQUIRED, B, "", string, wrap, 1, HONOURED, IO, "COMMAND", "make a script of this shell command") \
    X(x11, "x11", 0, OPTIONAL, RA, "r:SLUICE_X11", x11, job.x11, 3, HONOURED, IO, "all|first|last|batch", "forward X11") \
    X(external, "external", 0, NO, B, "", flag, unread_flag, 3, NOT_YET, IO, "", "a job without a script") \
    /* ---- what sbatch and salloc themselves do ---- */ \
    X(parsable, "parsable", 0, NO, B, "", flag, parsable, 1, HONOURED, COMMAND, "", "print only the job id (and ;cluster)") \
    X(explain, "explain", 0, NO, B, "", flag, explain, 1, HONOURED, COMMAND, "", "tell what filters and defaults of the site have changed in the request, and to what; with --test-only nothing is submitted") \
    X(test_only, "test-only", 0, NO, BR, "", flag, test_only, 1, HONOURED, COMMAND, "", "check the request and tell when it would start; submit nothing") \
    X(wait_job, "wait", 'W', NO, B, "*WAIT", flag, wait, 1, HONOURED, COMMAND, "", "return when the job has ended, with its exit status") \
    X(bell, "bell", 0, NO, A, "*BELL", bell, bell, 2, HONOURED, COMMAND, "", "ring the terminal's bell when the allocation is there") \
    X(no_bell, "no-bell", 0, NO, A, "*NO_BELL", no_bell, bell, 2, HONOURED, COMMAND, "", "never ring") \
    X(kill_command, "kill-command", 'K', OPTIONAL, A, "*KILL_CMD", kill_command, kill_command, 2, HONOURED, COMMAND, "SIGNAL", "signal the command when the allocation ends (TERM)") \
    X(no_shell, "no-shell", 0, NO, A, "", flag, no_shell, 1, HONOURED, COMMAND, "", "allocate, print the job id and leave") \
    /* ---- steps (srun) ---- */ \
    X(async, "async", 0, NO, R, "", flag, unread_flag, 3, NOT_YET, STEP, "", "return as soon as the step has started") \
    X(bcast, "bcast", 0, OPTIONAL, R, "SLURM_BCAST", string, bcast, 3, HONOURED, STEP, "PATH", "copy the program to the nodes first") \
    X(bcast_exclude, "bcast-exclude", 0, REQUIRED, R, "SLURM_BCAST_EXCLUDE", string, unread_text, 3, NOT_YET, STEP, "PATHS", "libraries that are not copied") \
    X(compress, "compress", 0, OPTIONAL, R, "SLURM_COMPRESS", string, compress, 3, HONOURED, STEP, "TYPE", "compress the copy") \
    X(cpu_bind, "cpu-bind", 0, REQUIRED, R, "SLURM_CPU_BIND", cpu_bind, job.cpu_bind, 1, HONOURED, STEP, "[verbose,]TYPE", "bind tasks to CPUs: none, threads, cores, sockets, ldoms, rank, map_cpu:LIST, mask_cpu:LIST, ...; help explains") \
    X(accel_bind, "accel-bind", 0, REQUIRED, R, "", string, unread_text, 3, NOT_YET, STEP, "FLAGS", "binding of tasks to accelerators") \
    X(debugger_test, "debugger-test", 0, NO, R, "", flag, unread_flag, 3, NOT_YET, STEP, "", "for tests of debuggers") \
    X(disable_status, "disable-status", 'X', NO, R, "SLURM_DISABLE_STATUS", flag, disable_status, 2, HONOURED, STEP, "", "pass one Ctrl-C on to the tasks; no status lines") \
    X(epilog, "epilog", 0, REQUIRED, R, "SLURM_EPILOG", string, epilog, 2, HONOURED, STEP, "PROGRAM", "run after the step, here") \
    X(exact, "exact", 0, NO, R, "SLURM_EXACT", flag, exact, 1, HONOURED, STEP, "", "give the step only what it asks for") \
    X(external_launcher, "external-launcher", 0, NO, R, "", flag, unread_flag, 3, NOT_YET, STEP, "", "the step starts another launcher") \
    X(het_group, "het-group", 0, REQUIRED, R, "", string, het_group, 3, HONOURED, STEP, "LIST", "components of a heterogeneous job") \
    X(ignore_signals, "ignore-signals", 0, REQUIRED, R, "", string, unread_text, 3, NOT_YET, STEP, "SIGNALS", "signals that srun ignores") \
    X(interactive, "interactive", 0, NO, R, "", flag, interactive, 3, HONOURED, STEP, "", "the interactive step of an allocation") \
    X(jobid, "jobid", 0, REQUIRED, R, "SLURM_JOB_ID SLURM_JOBID", jobid, jobid, 1, HONOURED, STEP, "ID", "run as a step of this job") \
    X(kill_on_bad_exit, "kill-on-bad-exit", 'K', OPTIONAL, R, "SLURM_KILL_BAD_EXIT", zero_one, kill_on_bad_exit, 1, HONOURED, STEP, "0|1", "end the step when a task fails") \
    X(label, "label", 'l', NO, R, "SLURM_LABELIO", flag, label, 1, HONOURED, STEP, "", "put the task number in front of each line") \
    X(mpi, "mpi", 0, REQUIRED, R, "SLURM_MPI_TYPE", string, mpi, 1, HONOURED, STEP, "TYPE", "how MPI programs find each other; list shows what there is") \
    X(msg_timeout, "msg-timeout", 0, REQUIRED, R, "", count, unread_number, 3, NOT_YET, STEP, "SECONDS", "patience with messages") \
    X(multi_prog, "multi-prog", 0, NO, R, "SLURM_SRUN_MULTI", flag, multi_prog, 1, HONOURED, STEP, "", "the argument is a file: which tasks run which program") \
    X(no_allocate, "no-allocate", 'Z', NO, R, "", flag, unread_flag, 3, NOT_YET, STEP, "", "run without an allocation (root)") \
    X(overlap, "overlap", 0, OPTIONAL, R, "SLURM_OVERLAP", overlap, overlap, 1, HONOURED, STEP, "force", "share CPUs, memory and GPUs with other steps") \
    X(preserve_env, "preserve-env", 'E', NO, R, "", flag, preserve_env, 2, HONOURED, STEP, "", "keep SLURM_NNODES and SLURM_NTASKS as they are") \
    X(prolog, "prolog", 0, REQUIRED, R, "SLURM_PROLOG", string, prolog, 2, HONOURED, STEP, "PROGRAM", "run before the step, here") \
    X(pty, "pty", 0, OPTIONAL, R, "", flag, pty, 1, HONOURED, STEP, "", "give task 0 a terminal") \
    X(quit_on_interrupt, "quit-on-interrupt", 0, NO, R, "", flag, quit_on_interrupt, 2, HONOURED, STEP, "", "one Ctrl-C ends the step") \
    X(relative, "relative", 'r', REQUIRED, R, "", count0, relative, 1, HONOURED, STEP, "N", "start at the N-th node of the job") \
    X(resv_ports, "resv-ports", 0, OPTIONAL, R, "SLURM_RESV_PORTS", string, unread_text, 3, NOT_YET, STEP, "N", "reserve ports for MPI") \
    X(send_libs, "send-libs", 0, OPTIONAL, R, "SLURM_SEND_LIBS", string, unread_text, 3, NOT_YET, STEP, "yes|no", "copy the libraries with the program") \
    X(slurmd_debug, "slurmd-debug", 0, REQUIRED, R, "SLURMD_DEBUG", string, unread_text, 3, NOT_YET, STEP, "LEVEL", "verbosity on the nodes") \
    X(task_epilog, "task-epilog", 0, REQUIRED, R, "SLURM_TASK_EPILOG", string, task_epilog, 2, HONOURED, STEP, "PROGRAM", "run after each task") \
    X(task_prolog, "task-prolog", 0, REQUIRED, R, "SLURM_TASK_PROLOG", string, task_prolog, 2, HONOURED, STEP, "PROGRAM", "run before each task") \
    X(threads, "threads", 'T', REQUIRED, R, "SLURM_THREADS", count, unread_number, 3, NOT_YET, STEP, "N", "connections at a time") \
    X(treewidth, "treewidth", 0, REQUIRED, R, "", string, unread_text, 3, NOT_YET, STEP, "N", "fan-out of messages") \
    X(unbuffered, "unbuffered", 'u', NO, R, "SLURM_UNBUFFEREDIO", flag, unbuffered, 1, HONOURED, STEP, "", "do not gather output into lines") \
    X(wait_for_children, "wait-for-children", 0, NO, R, "", flag, unread_flag, 3, NOT_YET, STEP, "", "a task ends when all its children have") \
    X(wait_step, "wait", 'W', REQUIRED, R, "SLURM_WAIT", count0, wait_seconds, 1, HONOURED, STEP, "SECONDS", "end the step so long after the first task has ended; 0 is never") \
    X(whole, "whole", 0, NO, R, "SLURM_WHOLE", flag, unread_flag, 2, HONOURED, STEP, "", "give the step all CPUs of its nodes (default)") \
    /* ---- for all ---- */ \
    X(quiet, "quiet", 'Q', NO, BRA, "", flag, quiet, 1, HONOURED, GENERAL, "", "say nothing but errors") \
    X(verbose, "verbose", 'v', NO, BRA, "*DEBUG", verbose, self, 1, HONOURED, GENERAL, "", "say more; may be given several times") \
    X(help, "help", 'h', NO, BRA, "", info, self, 1, HONOURED, GENERAL, "", "this list") \
    X(usage, "usage", 0, NO, BRA, "", info, self, 1, HONOURED, GENERAL, "", "a short summary") \
    X(version, "version", 'V', NO, BRA, "", info, self, 1, HONOURED, GENERAL, "", "print the version") \
    X(autocomplete, "autocomplete", 0, OPTIONAL, BRA, "", info, self, 3, HONOURED, GENERAL, "SHELL", "print a completion script for bash")

/* Other names of a row: X("name", id, COMMANDS). */
#define OPTION_ALIASES(X) \
    X("tasks-per-node", ntasks_per_node, BRA) \
    X("cluster", clusters, BRA) \
    X("cpu_bind", cpu_bind, R) \
    X("mem_bind", mem_bind, BRA) \
    X("share", oversubscribe, BRA) \
    X("slurmd_debug", slurmd_debug, R)
/* clang-format on */

#endif
