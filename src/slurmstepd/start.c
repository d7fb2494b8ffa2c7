/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a step: everything between the order and the first instruction of the user. Batch
 * scripts and tasks of srun differ in where their streams go and in their environment, and share
 * the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/conf.h"
#include "slurmstepd/gpu_bind.h"
#include "slurmstepd/job_env.h"
#include "slurmstepd/stepd.h"

#define FALLBACK_DIR "/tmp"

/* ---- identity, directory ---- */

static int set_identity(struct stepd *stepd, struct error *err) {
    const struct step_order *order = &stepd->order;

    if (geteuid() != 0) {
        if (order->uid == geteuid())
            return 0;
        return error_set(err, ERR_USER_ID,
                         "slurmd runs as uid %u and can start jobs of this user only, not of uid "
                         "%u: run slurmd as root.",
                         (unsigned) geteuid(), order->uid);
    }
    stepd->identity_storage = (struct spawn_identity) {.uid = order->uid,
                                                       .gid = order->gid,
                                                       .groups = order->groups.items,
                                                       .n_groups = order->groups.n};
    stepd->identity = &stepd->identity_storage;
    return 0;
}

static void enter_directory(struct stepd *stepd) {
    int failure = 0;

    identity_enter(stepd->identity);
    if (chdir(stepd->work_dir) < 0)
        failure = errno;
    identity_leave();
    if (!failure)
        return;
    stepd_complain(stepd, "couldn't chdir to `%s': %s: going to " FALLBACK_DIR " instead",
                   stepd->work_dir, strerror(failure));
    if (chdir(FALLBACK_DIR) < 0)
        (void) !chdir("/");
}

static void check_tmpdir(struct stepd *stepd) {
    const char *dir = env_get(&stepd->env, "TMPDIR");
    int failure = 0;

    if (!dir || str_equal(dir, "/tmp"))
        return;
    identity_enter(stepd->identity);
    if (mkdir(dir, 0700) < 0 &&
        (errno != EEXIST || faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) < 0))
        failure = errno;
    identity_leave();
    if (!failure)
        return;
    stepd_complain(stepd, "Unable to create TMPDIR [%s]: %s", dir, strerror(failure));
    stepd_complain(stepd, "Setting TMPDIR to /tmp");
    env_set(&stepd->env, "TMPDIR", "/tmp");
}

/* ---- one task ---- */

static void task_failed(struct stepd *stepd, struct task *task, int status) {
    task->has_exited = true;
    task->status = status << 8;
    stepd->n_running--;
}

/* The binding of a task, in its plan. head and tail live as long as that. */
static void plan_binding(const struct stepd *stepd, const struct task *task,
                         struct spawn_plan *plan, struct str *head, struct str *tail) {
    const struct bind *bind = &stepd->bind;

    if (task->local_id < bind->n && bind->masks) {
        plan->cpus = bind->masks[task->local_id].words;
        plan->cpus_size = bits_words(bind->masks[task->local_id].n) * sizeof(uint64_t);
    }
    if (task->local_id < bind->n && bind->verbose) {
        bind_line(bind, stepd->order.node_name, task->rank, task->local_id, head, tail);
        plan->bind_head = head->data;
        plan->bind_tail = tail->data;
    }
}

/* The same for its memory. */
static void plan_memory(const struct stepd *stepd, const struct task *task, struct spawn_plan *plan,
                        struct str *head, struct str *tail) {
    const struct mem_bind *bind = &stepd->mem_bind;

    if (task->local_id >= bind->n)
        return;
    plan->has_mem_policy = bind->policy >= 0;
    plan->mem_policy = bind->policy;
    if (bind->nodes) {
        plan->mem_nodes = bind->nodes[task->local_id].words;
        plan->mem_nodes_bits = bind->nodes[task->local_id].n;
    }
    if (bind->verbose) {
        mem_bind_line(bind, stepd->order.node_name, task->rank, task->local_id, head, tail);
        plan->mem_head = head->data;
        plan->mem_tail = tail->data;
    }
}

/* PropagatePrioProcess: the nice value of whoever submitted it, but none that is better than ours
 * (1; root's jobs may), or not even one as good (2). */
static int task_nice(const struct stepd *stepd, const char *submitted) {
    int own = getpriority(PRIO_PROCESS, 0), least = own + (stepd->order.propagate_prio == 2);
    int64_t value;

    if (!submitted || !str_to_i64(submitted, &value) || value < -20 || value > 19)
        return own;
    if (stepd->order.propagate_prio == 1 && stepd->order.uid == 0)
        return (int) value;
    return max_of((int) value, least);
}

static void task_start(struct stepd *stepd, struct task *task, char **argv, const int fds[3]) {
    const struct rlimit_value *rlimits =
        stepd->launch ? stepd->launch->job->rlimits.items : stepd->step->rlimits.items;
    size_t n_rlimits = stepd->launch ? stepd->launch->job->rlimits.n : stepd->step->rlimits.n;
    if (!hooks_before(stepd, task, task->outputs[0].fd >= 0 ? -1 : fds[1])) {
        task_failed(stepd, task, 1);
        return;
    }
    /* written by the child, which alone knows it before it runs */
    env_set(&stepd->env, "SLURM_TASK_PID", "0000000000");
    struct confine_entry entry cleanup_confine_entry = CONFINE_ENTRY_INIT;
    struct spawn_plan plan = {
        .program = argv[0],
        .argv = argv,
        .fds = {fds[0], fds[1], fds[2]},
        .identity = stepd->identity,
        .umask = stepd->launch ? stepd->launch->job->umask : stepd->step->umask,
        .rlimits = rlimits,
        .n_rlimits = n_rlimits,
        .entry = &entry,
        .has_nice = stepd->order.propagate_prio != 0,
        .nice = task_nice(stepd, env_get(&stepd->env, "SLURM_PRIO_PROCESS")),
        .controlling_tty = !stepd->launch && stepd->step->pty && task->rank == 0,
    };
    struct error err = ERROR_INIT;
    struct str head cleanup_str = STR_INIT, tail cleanup_str = STR_INIT;
    struct str mem_head cleanup_str = STR_INIT, mem_tail cleanup_str = STR_INIT;
    pid_t pid = 0;
    int errnum = EAGAIN, bind_errno = 0, mem_errno = 0;

    plan.ret_bind_errno = &bind_errno;
    plan.ret_mem_errno = &mem_errno;
    plan_binding(stepd, task, &plan, &head, &tail);
    plan_memory(stepd, task, &plan, &mem_head, &mem_tail);
    int r = mpi_task(stepd, task, &plan, &err);
    cleanup_fd __attribute__((__unused__)) int extra_fd = plan.extra_fd > 0 ? plan.extra_fd : -1;
    plan.envp = env_array(&stepd->env);
    plan.pid_digits = (char *) (uintptr_t) env_get(&stepd->env, "SLURM_TASK_PID");
    if (r < 0 || confine_task(&stepd->confine, task->local_id, &entry, &err) < 0 ||
        spawn_start(&plan, &pid, &errnum, &err) < 0) {
        stepd_complain(stepd, "%s", err.text);
        if (pid == 0) {
            task_failed(stepd, task, errnum);
            return;
        } /* else it is a child that has exited with errnum */
    }
    if (bind_errno && !stepd->bind.verbose)
        stepd_complain(stepd, "task %u is not bound to its CPUs: sched_setaffinity(): %s",
                       task->rank, strerror(bind_errno));
    if (mem_errno && !stepd->mem_bind.verbose)
        stepd_complain(stepd,
                       "the memory of task %u is not bound to NUMA nodes: set_mempolicy(): %s",
                       task->rank, strerror(mem_errno));
    task->pid = pid;
    sampler_started(&stepd->sampler, task->local_id, pid);
}

static void tasks_make(struct stepd *stepd, size_t n) {
    stepd->tasks = xcalloc(n, sizeof(*stepd->tasks));
    stepd->n_tasks = stepd->n_running = n;
    sampler_init(&stepd->sampler, n,
                 stepd->order.gather_params & CONF_GATHER_USE_PSS     ? SAMPLE_PSS
                 : stepd->order.gather_params & CONF_GATHER_NO_SHARED ? SAMPLE_NO_SHARED
                                                                      : SAMPLE_RSS);
    for (size_t i = 0; i < n; i++) {
        struct task *task = &stepd->tasks[i];
        task->stepd = stepd;
        task->local_id = (uint32_t) i;
        task->rank = stepd->node ? stepd->node->ranks.items[i] : 0;
        task->in_fd = -1;
        for (uint32_t j = 0; j < 2; j++)
            task->outputs[j] = (struct task_output) {.task = task, .stream = j + 1, .fd = -1};
    }
}

static int confine(struct stepd *stepd, struct error *err) {
    int r = confine_open(&stepd->confine, &stepd->order, err);

    stepd->track.group = stepd->confine.tasks;
    if (r == 0)
        oom_start(stepd);
    return r;
}

static void close_fds(int fds[3]) {
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

/* ---- batch ---- */

static int script_write(struct stepd *stepd, struct error *err) {
    const struct job *job = stepd->launch->job;
    cleanup_fd int fd = -1;

    stepd->script_dir = xasprintf("%s/job%05u", stepd->order.spool_dir, job->job_id);
    stepd->script = xasprintf("%s/slurm_script", stepd->script_dir);
    if (mkdir(stepd->script_dir, 0700) < 0 && errno != EEXIST)
        return error_errno(err, errno, "Cannot make %s for the script", stepd->script_dir);
    (void) unlink(stepd->script);
    fd = open(stepd->script, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0)
        return error_errno(err, errno, "Cannot make %s", stepd->script);
    for (size_t at = 0; at < job->script.size;) {
        ssize_t n = write(fd, job->script.data + at, job->script.size - at);
        if (n < 0)
            return error_errno(err, errno, "Cannot write %s", stepd->script);
        at += (size_t) n;
    }
    if (stepd->identity && stepd->identity->uid != 0 &&
        (fchown(fd, stepd->identity->uid, stepd->identity->gid) < 0 ||
         chown(stepd->script_dir, stepd->identity->uid, stepd->identity->gid) < 0))
        return error_errno(err, errno, "Cannot give %s to its user", stepd->script);
    return 0;
}

static int batch_files(struct stepd *stepd, int fds[3], struct error *err) {
    const struct job *job = stepd->launch->job;
    const char *out = job->std_out;
    int r;

    if (!out || !*out)
        out = job->array_job_id ? "slurm-%A_%a.out" : "slurm-%j.out";
    r = stepd_open_output(stepd, out, 0, &fds[1], err);
    if (r == 0 && job->std_err && *job->std_err && !str_equal(job->std_err, out))
        r = stepd_open_output(stepd, job->std_err, 0, &fds[2], err);
    else if (r == 0)
        fds[2] = fcntl(fds[1], F_DUPFD_CLOEXEC, 3);
    if (r == 0)
        r = stepd_open_input(stepd, job->std_in, 0, &fds[0], err);
    if (r < 0)
        stepd->done.output_failed = true;
    else
        stepd->message_fd = fcntl(fds[2], F_DUPFD_CLOEXEC, 3);
    return r;
}

static char **batch_argv(struct stepd *stepd) {
    const struct job *job = stepd->launch->job;
    char **argv = arena_alloc(&stepd->arena, (job->argv.n + 2) * sizeof(*argv));

    argv[0] = stepd->script;
    for (uint32_t i = 0; i < job->argv.n; i++)
        argv[i + 1] = job->argv.items[i];
    return argv;
}

static const struct job_node *job_node_here(const struct stepd *stepd) {
    const struct job *job = stepd->launch->job;

    for (uint32_t i = 0; i < job->allocation.n; i++) {
        if (str_equal(job->allocation.items[i].name, stepd->order.node_name))
            return &job->allocation.items[i];
    }
    return NULL;
}

/* A script runs on the CPUs of its job here. Where those are fenced that is so anyway. */
static int bind_batch(struct stepd *stepd, struct error *err) {
    const struct bind_input input = {.map = stepd->order.cpus,
                                     .cores = stepd->job_node ? stepd->job_node->cores : NULL,
                                     .n_tasks = 1};

    return bind_make(&input, &stepd->bind, err);
}

/* For the steps of the script: srun reads it, and says what is wrong with it. */
static void tell_mem_bind(struct stepd *stepd, const struct job *job) {
    struct mem_bind bind;

    if (!job->mem_bind || mem_bind_make(job->mem_bind, NULL, 0, &bind, NULL) < 0)
        return;
    mem_bind_env(&bind, "SBATCH", &stepd->env);
    mem_bind_env(&bind, "SLURM", &stepd->env);
    mem_bind_done(&bind);
}

static int start_batch(struct stepd *stepd, struct error *err) {
    const struct job *job = stepd->launch->job;
    int fds[3] = {-1, -1, -1};
    int r;

    stepd->job_node = job_node_here(stepd);
    stepd->node_index = stepd->launch->node_index;
    stepd->work_dir = job->work_dir ? job->work_dir : "/";
    tasks_make(stepd, 1);
    env_load(&stepd->env, job->environment);
    r = confine(stepd, err);
    if (r == 0)
        r = bind_batch(stepd, err);
    if (r == 0)
        r = script_write(stepd, err);
    if (r == 0)
        r = batch_files(stepd, fds, err);
    if (r == 0) {
        if (job->get_user_env)
            login_env_load(stepd);
        job_env_batch(&stepd->env, &stepd->order, stepd->launch, stepd->job_node);
        tell_mem_bind(stepd, job);
        check_tmpdir(stepd);
        enter_directory(stepd);
        task_start(stepd, &stepd->tasks[0], batch_argv(stepd), fds);
    }
    close_fds(fds);
    return r;
}

/* ---- steps of srun ---- */

/* As it is in the whole step, of which the credential's may be a part. */
static const struct step_node *node_in_all(struct stepd *stepd, const struct step_node *node) {
    struct step_node *all = arena_alloc(&stepd->arena, sizeof(*all));

    if (stepd->step->first_rank == 0)
        return node;
    *all = *node;
    all->ranks.items = arena_alloc(&stepd->arena, (node->ranks.n + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < node->ranks.n; i++)
        all->ranks.items[i] = node->ranks.items[i] + stepd->step->first_rank;
    return all;
}

static int node_here(struct stepd *stepd, struct error *err) {
    const struct step_credential *credential = stepd->order.credential;

    for (uint32_t i = 0; i < credential->nodes.n; i++) {
        if (str_equal(credential->nodes.items[i].name, stepd->order.node_name)) {
            stepd->node = node_in_all(stepd, &credential->nodes.items[i]);
            stepd->node_index = i + stepd->step->first_node;
            return 0;
        }
    }
    return error_set(err, ERR_INVALID_NODE, "The step's credential is not for node %s.",
                     stepd->order.node_name);
}

static int bind_step(struct stepd *stepd, struct error *err) {
    const struct step_launch *step = stepd->step;
    bool interactive = stepd->order.step_id == STEP_INTERACTIVE;
    const char *const by_conf[] = {stepd->order.cpu_bind, step->layout->cpu_bind,
                                   stepd->order.node_cpu_bind};
    struct str fallback cleanup_str = STR_INIT;

    for (size_t i = 0; i < countof(by_conf); i++) {
        if (by_conf[i])
            str_join(&fallback, ",", by_conf[i]);
    }
    const struct bind_input input = {
        .map = stepd->order.cpus,
        .cores = stepd->node->cores,
        .n_tasks = (uint32_t) stepd->n_tasks,
        .cpus_per_task = step->layout->cpus_per_task,
        .cpu_bind = interactive ? "none" : step->cpu_bind,
        .fallback = str_cstr(&fallback),
        .autobind = stepd->order.autobind,
        .distribution = step->distribution,
        .hint = step->hint,
        .threads_per_core = step->threads_per_core,
        .ntasks_per_core = step->ntasks_per_core,
        .ntasks_per_socket = step->ntasks_per_socket,
    };
    int r = bind_make(&input, &stepd->bind, err);

    if (r == 0 && stepd->bind.is_impossible)
        stepd_complain(stepd,
                       "--cpu-bind=%s has no effect on %s: slurm.conf gives this node more CPUs "
                       "than the machine has",
                       step->cpu_bind, stepd->order.node_name);
    /* The shell of an allocation must not hand its binding on to the steps that it starts. */
    if (r == 0 && !interactive)
        bind_env(&stepd->bind, &stepd->env);
    if (r == 0 && step->mem_bind && !interactive)
        r = mem_bind_make(step->mem_bind, stepd->order.cpus, (uint32_t) stepd->n_tasks,
                          &stepd->mem_bind, err);
    if (r == 0 && step->mem_bind && !interactive)
        mem_bind_env(&stepd->mem_bind, "SLURM", &stepd->env);
    return r;
}

/* Opens what every task needs before the first one runs: all or nothing. */
static int prepare_all(struct stepd *stepd, int (*fds)[3], struct error *err) {
    for (size_t i = 0; i < stepd->n_tasks; i++)
        fds[i][0] = fds[i][1] = fds[i][2] = -1;
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        int r = stream_prepare(stepd, &stepd->tasks[i], fds[i], err);
        if (r < 0) {
            stepd->done.output_failed = true;
            return r;
        }
    }
    return 0;
}

/* --gpu-bind=closest: to those near the processors of the task, where it is bound to some. */
static char *closest_gpus(const struct stepd *stepd, uint32_t local_id) {
    if (!gpu_bind_is_closest(stepd->step->gpu_bind) || stepd->bind.kind == BIND_NONE ||
        local_id >= stepd->bind.n)
        return NULL;
    return gpu_bind_closest(&stepd->order, stepd->node->gres, &stepd->bind.masks[local_id]);
}

static void start_step_task(struct stepd *stepd, struct task *task, const struct env *shared,
                            const int fds[3]) {
    const struct step_launch *step = stepd->step;
    struct error err = ERROR_INIT;
    char **argv = step->argv.items; /* NULL-terminated below */

    if (step->multi_prog.size > 0 &&
        multi_prog_command((const char *) step->multi_prog.data, step->multi_prog.size, task->rank,
                           &stepd->arena, &argv, &err) < 0) {
        stepd_complain(stepd, "%s", err.text);
        task_failed(stepd, task, ENOENT);
        return;
    }
    env_copy(&stepd->env, shared);
    cleanup_free char *closest = closest_gpus(stepd, task->local_id);
    job_env_task(&stepd->env, closest ? closest : step->gpu_bind, task->rank, task->local_id);
    task_start(stepd, task, argv, fds);
    env_done(&stepd->env);
}

static void start_all(struct stepd *stepd, int (*fds)[3]) {
    struct step_launch *step = stepd->step;
    struct env shared = stepd->env;
    char **argv = arena_alloc(&stepd->arena, (step->argv.n + 1) * sizeof(*argv));

    if (step->argv.n > 0)
        memcpy(argv, step->argv.items, step->argv.n * sizeof(*argv));
    step->argv.items = argv;
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        start_step_task(stepd, &stepd->tasks[i], &shared, fds[i]);
        close_fds(fds[i]);
    }
    stepd->env = shared;
}

static int start_step(struct stepd *stepd, struct error *err) {
    struct step_launch *step = stepd->step;
    int r = node_here(stepd, err);

    if (r < 0)
        return r;
    if (!step->layout)
        return error_set(err, ERR_PROTOCOL, "srun sent no layout with its step.");
    if (step->argv.n == 0 && step->multi_prog.size == 0)
        return error_set(err, ERR_INVALID, "srun sent no command with its step.");
    stepd->work_dir = step->work_dir ? step->work_dir : "/";
    tasks_make(stepd, stepd->node->ranks.n);
    env_load(&stepd->env, step->environment);
    job_env_step(&stepd->env, &stepd->order, step, stepd->node, stepd->node_index);
    r = bind_step(stepd, err);
    if (r == 0)
        r = x11_open(stepd, err);
    if (r == 0)
        r = confine(stepd, err);
    if (r == 0)
        r = mpi_open(stepd, err);
    if (r < 0)
        return r;
    int(*fds)[3] = xcalloc(stepd->n_tasks + 1, sizeof(*fds));
    r = prepare_all(stepd, fds, err);
    if (r == 0) {
        check_tmpdir(stepd);
        enter_directory(stepd);
        start_all(stepd, fds);
    } else {
        for (size_t i = 0; i < stepd->n_tasks; i++)
            close_fds(fds[i]);
    }
    free(fds);
    return r;
}

int stepd_start(struct stepd *stepd, struct error *err) {
    int r = set_identity(stepd, err);

    if (r == 0)
        r = stepd->order.step_id == STEP_EXTERN ? extern_start(stepd, err)
            : stepd->launch                     ? start_batch(stepd, err)
                                                : start_step(stepd, err);
    stepd_close_files(stepd);
    (void) !chdir("/"); /* hold no directory of the user busy */
    if (r < 0)
        return r;
    stepd->state = STEPD_RUNNING;
    return 0;
}
