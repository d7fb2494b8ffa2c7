/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmd/health.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/log.h"
#include "os/program.h"
#include "slurmd/checks.h"
#include "slurmd/slurmd.h"

#define SEC_USEC 1000000ull
/* A file system that says nothing for so long has a problem. Less than a resuming administrator is
 * kept waiting by the controller. */
#define SLOW_USEC (4 * SEC_USEC)

/* One look at the file systems; handed to a thread and back. */
struct look {
    struct slurmd *slurmd;
    struct checks checks;
    struct str problem;
};

struct health {
    struct loop_timer *interval, *patience;
    struct look *look; /* under way, or NULL */
    bool look_again;   /* the result is to be of now, and the look that is under way is older */
    bool looked;       /* at least once */
    bool is_slow;      /* the look takes too long: `slow` is the finding */
    bool asked;        /* the controller waits for the result */
    bool starting;     /* HealthCheckProgram runs before the first registration */
    bool program_runs, reboot_runs;
    char *slow, *slow_problem; /* of file systems: none answers; what was found last */
    char *told;                /* the controller, in the last status */
    int64_t clock_offset;      /* seconds from boot time to wall time, when taken as right */
};

/* ---- the built-in checks ---- */

static int64_t clock_offset(void) {
    struct timespec wall, boot;

    (void) clock_gettime(CLOCK_REALTIME, &wall);
    (void) clock_gettime(CLOCK_BOOTTIME, &boot);
    return (wall.tv_sec - boot.tv_sec);
}

static bool has_gone(const struct gres_device *device) {
    struct stat stat_;

    vec_each (&device->files, file)
        if (file->is_there && stat(file->path, &stat_) < 0)
            return true;
    return false;
}

/* What was found at the start, without the devices whose files have vanished since. */
static void count_devices(const struct slurmd *slurmd, struct gres_list *ret) {
    const struct gres_list *known = &slurmd->gres.counts;

    ret->items = xcalloc(known->n + 1, sizeof(*ret->items));
    for (; ret->n < known->n; ret->n++) {
        const struct gres_item *item = &known->items[ret->n];
        ret->items[ret->n] = (struct gres_item) {
            .name = xstrdup(item->name), .type = xstrdup_null(item->type), .count = item->count};
    }
    ret->capacity = ret->n;
    vec_each (&slurmd->gres.devices, device) {
        if (!device->is_there || !has_gone(device))
            continue;
        for (size_t i = 0; i < ret->n; i++) {
            struct gres_item *item = &ret->items[i];
            if (item->count > 0 && str_equal_nocase(item->name, device->name) &&
                str_equal(item->type, device->type)) {
                item->count--;
                break;
            }
        }
    }
}

/* Memory and processors may go while the machine runs; what they are made up of does not change. */
static void look_at_machine(const struct slurmd *slurmd, struct conf_registration *ret) {
    const struct machine *machine = &slurmd->machine;
    long online = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    uint64_t memory = (uint64_t) pages * (uint64_t) sysconf(_SC_PAGESIZE) >> 20;
    uint32_t cpus = online > 0 ? (uint32_t) online : machine->cpus;

    *ret = (struct conf_registration) {
        .cpus = min_of(cpus, machine->cpus),
        .sockets = machine->sockets,
        .cores_per_socket = machine->cores,
        .threads_per_core = machine->threads,
        .real_memory = pages > 0 ? min_of(memory, machine->memory) : machine->memory,
        .tmp_disk = machine->tmp_disk,
    };
}

void health_problem(const struct slurmd *slurmd, struct str *out) {
    const struct health *health = slurmd->health;
    const struct conf *conf = slurmd->conf;
    struct gres_list devices cleanup_gres_list = GRES_LIST_INIT;
    struct checks checks = {
        .node = slurmd->node,
        .overrides = conf->slurmd.config_overrides,
        .memory_percent = conf->slurmctld.node_reg_mem_percent,
        .clock_jump = conf->slurmd.clock_jump,
        .clock_jumped = clock_offset() - health->clock_offset,
        .skip = (char *) (uintptr_t) conf->slurmd.skip_checks,
    };

    count_devices(slurmd, &devices);
    look_at_machine(slurmd, &checks.found);
    checks.found.gres = &devices;
    checks_run_fast(&checks, out);
    if (slurmd->gpu_problem && out->length > 0 && strstr(out->data, "gres/gpu"))
        str_join(out, "; ", slurmd->gpu_problem); /* why they are missing */
    steps_stuck(slurmd, out);
    sweeps_stuck(slurmd, out);
    if (health->slow_problem)
        str_join(out, "; ", health->slow_problem);
    if (health->is_slow && health->slow)
        str_join(out, "; ", health->slow);
}

/* ---- file systems, in a thread ---- */

static void add_path(struct checks *checks, const char *path) {
    vec_each (&checks->paths, known)
        if (str_equal(*known, path))
            return;
    vec_push(&checks->paths, xstrdup(path));
}

static struct look *look_new(struct slurmd *slurmd) {
    const struct conf_slurmd_options *options = &slurmd->conf->slurmd;
    struct look *look = zalloc(struct look);
    struct checks *checks = &look->checks;
    struct str tmp cleanup_str = STR_INIT;
    cleanup_free char *watched = xstrdup_null(options->watch);
    char *cursor = watched, *path;

    look->slurmd = slurmd;
    conf_path_expand(slurmd->conf->tmp_fs, slurmd->machine.hostname, slurmd->node_name, &tmp);
    add_path(checks, slurmd->spool_dir);
    add_path(checks, str_cstr(&tmp));
    while (cursor && (path = str_next_word(&cursor, ":")))
        add_path(checks, path);
    checks->spool = xstrdup(slurmd->spool_dir);
    checks->disk_full = options->disk_full;
    checks->inodes_full = options->inodes_full;
    checks->skip = xstrdup_null(options->skip_checks);
    checks->statvfs = statvfs;
    return look;
}

static void look_free(struct look *look) {
    checks_done(&look->checks);
    str_done(&look->problem);
    free(look);
}

static void start_look(struct slurmd *slurmd);

/* To the log when it has changed, to the controller then, too, or when it has asked. */
static void tell(struct slurmd *slurmd) {
    struct health *health = slurmd->health;
    cleanup_str struct str problem = STR_INIT;

    health_problem(slurmd, &problem);
    const char *now = problem.length > 0 ? problem.data : NULL;
    bool changed = !str_equal(now, health->told);
    if (changed && now)
        log_error("this node drains, because its checks find: %s", now);
    else if (changed)
        log_info("what drained this node is mended: %s", health->told);
    free(health->told);
    health->told = xstrdup_null(now);
    if (changed || health->asked)
        controller_send_status(slurmd, health->asked);
    health->asked = false;
}

static void first_look_over(struct slurmd *slurmd) {
    struct health *health = slurmd->health;
    bool first = !health->looked;

    health->looked = true;
    if (first)
        controller_register(slurmd);
}

static void look_done(void *context) {
    struct look *look = context;
    struct slurmd *slurmd = look->slurmd;
    struct health *health = slurmd->health;

    health->look = NULL;
    health->is_slow = false;
    loop_timer_set(health->patience, 0);
    free(health->slow_problem);
    health->slow_problem = look->problem.length > 0 ? str_take(&look->problem) : NULL;
    look_free(look);
    if (health->look_again) {
        start_look(slurmd);
        return;
    }
    tell(slurmd);
    first_look_over(slurmd);
}

static void *look_thread(void *context) {
    struct look *look = context;

    checks_run_slow(&look->checks, &look->problem);
    loop_post(look->slurmd->loop, look_done, look);
    return NULL;
}

/* The thread hangs in the kernel; it is left there, and no other is started. */
static void on_patience(void *context) {
    struct slurmd *slurmd = context;
    struct health *health = slurmd->health;
    const char *at = health->look ? health->look->checks.at : NULL;

    if (!health->look)
        return;
    free(health->slow);
    health->slow = xasprintf("answer: %s does not answer", at ? at : "a file system");
    health->is_slow = true;
    tell(slurmd);
    first_look_over(slurmd);
}

static void start_look(struct slurmd *slurmd) {
    struct health *health = slurmd->health;
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;

    health->look_again = false;
    health->look = look_new(slurmd);
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(&thread, &attr, look_thread, health->look);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (errnum != 0) {
        log_error("cannot look at the file systems: %s", strerror(errnum));
        look_free(take(health->look));
        tell(slurmd);
        first_look_over(slurmd);
        return;
    }
    loop_timer_set(health->patience, loop_monotonic_usec() + SLOW_USEC);
}

static void set_interval(struct slurmd *slurmd) {
    uint32_t seconds = slurmd->conf->slurmd.check_interval;

    loop_timer_set(slurmd->health->interval,
                   seconds ? loop_monotonic_usec() + seconds * SEC_USEC : 0);
}

static void on_interval(void *context) {
    struct slurmd *slurmd = context;

    if (!slurmd->health->look)
        start_look(slurmd);
    set_interval(slurmd);
}

/* ---- programs ---- */

static int start_program(struct slurmd *slurmd, const char *path, const struct step_key *key,
                         struct program *program, struct error *err) {
    cleanup_free char *conf = xasprintf("SLURM_CONF=%s", slurmd->conf_path);
    cleanup_free char *name = xasprintf("SLURMD_NODENAME=%s", slurmd->node_name);
    cleanup_str struct str job = STR_INIT, step = STR_INIT;
    char *argv[] = {(char *) (uintptr_t) path, NULL}, *envp[] = {name, conf, NULL, NULL, NULL};

    if (key) {
        str_printf(&job, "SLURM_JOB_ID=%u", key->job_id);
        str_append(&step, "SLURM_STEP_ID=");
        step_id_print(key->step_id, &step);
        envp[2] = job.data;
        envp[3] = step.data;
    }

    program->argv = argv;
    program->envp = envp;
    program->directory = slurmd->spool_dir;
    return program_start(slurmd->loop, program, err);
}

static void check_ended(int status, bool timed_out, void *context) {
    struct slurmd *slurmd = context;
    struct health *health = slurmd->health;
    cleanup_str struct str text = STR_INIT;

    program_status_print(status, timed_out, slurmd->conf->health_check_timeout, &text);
    if (timed_out || status != 0)
        log_error("HealthCheckProgram %s", str_cstr(&text));
    else
        log_debug("HealthCheckProgram: %s", str_cstr(&text));
    health->program_runs = false;
    if (health->starting) {
        health->starting = false;
        controller_register(slurmd);
    }
}

static void check_line(const char *text, void *context) {
    log_info("HealthCheckProgram: %s", text);
}

static void run_check(struct slurmd *slurmd) {
    struct health *health = slurmd->health;
    struct error err = ERROR_INIT;
    struct program program = {.timeout = slurmd->conf->health_check_timeout,
                              .line = check_line,
                              .ended = check_ended,
                              .context = slurmd};

    if (!slurmd->conf->health_check_program || health->program_runs)
        return;
    if (start_program(slurmd, slurmd->conf->health_check_program, NULL, &program, &err) < 0)
        log_error("HealthCheckProgram: %s", err.text);
    else
        health->program_runs = true;
}

static void reboot_ended(int status, bool timed_out, void *context) {
    struct slurmd *slurmd = context;
    cleanup_str struct str text = STR_INIT;

    slurmd->health->reboot_runs = false;
    program_status_print(status, timed_out, 0, &text);
    if (status != 0)
        log_error("RebootProgram %s: %s", slurmd->conf->reboot_program, text.data);
    else
        log_info("RebootProgram: %s", text.data);
}

void health_reboot(struct slurmd *slurmd) {
    struct error err = ERROR_INIT;
    struct program program = {.ended = reboot_ended, .context = slurmd};

    if (slurmd->health->reboot_runs)
        return;
    if (!slurmd->conf->reboot_program) {
        log_error("told to reboot, but this node's slurm.conf has no RebootProgram");
        return;
    }
    log_info("rebooting: %s", slurmd->conf->reboot_program);
    if (start_program(slurmd, slurmd->conf->reboot_program, NULL, &program, &err) < 0)
        log_error("RebootProgram: %s", err.text);
    else
        slurmd->health->reboot_runs = true;
}

static void unkillable_line(const char *text, void *context) {
    log_info("UnkillableStepProgram: %s", text);
}

static void unkillable_ended(int status, bool timed_out, void *context) {
    cleanup_str struct str text = STR_INIT;

    program_status_print(status, timed_out, 0, &text);
    log_info("UnkillableStepProgram: %s", text.data);
}

void health_unkillable(struct slurmd *slurmd, struct step_key key) {
    struct error err = ERROR_INIT;
    struct program program = {
        .line = unkillable_line, .ended = unkillable_ended, .context = slurmd};
    const char *path = slurmd->conf->unkillable_step_program;

    if (path && start_program(slurmd, path, &key, &program, &err) < 0)
        log_error("UnkillableStepProgram: %s", err.text);
    health_changed(slurmd);
}

/* ---- the node's side ---- */

void health_changed(struct slurmd *slurmd) {
    tell(slurmd);
}

bool health_may_register(const struct slurmd *slurmd) {
    return slurmd->health->looked && !slurmd->health->starting;
}

void health_asked(struct slurmd *slurmd, const struct node_check *order) {
    struct health *health = slurmd->health;

    if (order->program)
        run_check(slurmd);
    if (!order->now)
        return;
    health->asked = true;
    health->clock_offset = clock_offset();
    if (!health->look)
        start_look(slurmd);
    else if (health->is_slow)
        tell(slurmd); /* it will not get better */
    else
        health->look_again = true;
}

void health_reconfigure(struct slurmd *slurmd) {
    set_interval(slurmd);
    if (!slurmd->health->look)
        start_look(slurmd);
}

/* Has the machine booted since a slurmd last started here? Notes that this one has. */
static bool is_first_since_boot(const struct slurmd *slurmd) {
    cleanup_free char *path = xasprintf("%s/boot_id", slurmd->spool_dir);
    const char *id = slurmd->machine.boot_id ? slurmd->machine.boot_id : "";
    char before[128] = "";
    FILE *file = fopen(path, "re");

    if (file && !fgets(before, sizeof(before), file))
        before[0] = '\0';
    if (file)
        fclose(file);
    if (str_equal(before, id))
        return false;
    file = fopen(path, "we");
    if (!file || fputs(id, file) < 0)
        log_error("cannot note the boot in %s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return true;
}

void health_start(struct slurmd *slurmd) {
    struct health *health = slurmd->health = zalloc(struct health);
    bool is_new_boot = is_first_since_boot(slurmd);
    bool only_then = slurmd->conf->health_check_node_state & CONF_HEALTH_REBOOT_ONLY;

    health->interval = loop_timer_add(slurmd->loop, on_interval, slurmd);
    health->patience = loop_timer_add(slurmd->loop, on_patience, slurmd);
    health->clock_offset = clock_offset();
    if (slurmd->conf->health_check_interval > 0 && (is_new_boot || !only_then))
        run_check(slurmd);
    health->starting = health->program_runs;
    start_look(slurmd);
    set_interval(slurmd);
}
