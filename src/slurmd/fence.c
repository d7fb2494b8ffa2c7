/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmd/fence.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/log.h"
#include "slurmd/slurmd.h"

#define PID_MAX_DEFAULT 32768u

static const struct {
    const char *name;
    enum cgroup_part part;
} kinds[FENCE_KINDS] = {
    {"cores", CGROUP_CPUSET},    {"memory", CGROUP_MEMORY}, {"swap", CGROUP_MEMORY},
    {"devices", CGROUP_DEVICES}, {"pids", CGROUP_PIDS},
};

const char *fence_name(enum fence_kind kind) {
    return kinds[__builtin_ctz(kind)].name;
}

enum cgroup_part fence_part(enum fence_kind kind) {
    return kinds[__builtin_ctz(kind)].part;
}

/* ---- what is wanted ---- */

static uint32_t wanted_kinds(const struct conf_cgroup *conf) {
    return (conf->constrain_cores ? FENCE_CORES : 0u) |
           (conf->constrain_ram_space ? FENCE_MEMORY : 0u) |
           (conf->constrain_swap_space ? FENCE_SWAP : 0u) |
           (conf->constrain_devices ? FENCE_DEVICES : 0u) |
           (conf->constrain_pids ? FENCE_PIDS : 0u);
}

static void not_enforced(struct fences *fences, enum fence_kind kind, const char *why) {
    fences->enforced &= ~(uint32_t) kind;
    str_join(&fences->why_not, "; ", fence_name(kind));
    str_printf(&fences->why_not, ": %s", why);
}

static bool machine_swaps(void) {
    struct sysinfo info;

    return sysinfo(&info) == 0 && info.totalswap > 0;
}

/* Why something that the kernel does cannot be done for this node as it is configured. */
static void check_possible(struct slurmd *slurmd) {
    struct fences *fences = &slurmd->fences;
    cleanup_str struct str why = STR_INIT;

    if (fences->enforced & FENCE_CORES && slurmd->cpu_map.pus.n == 0) {
        str_printf(&why, "slurm.conf gives this node %u CPUs, the machine has %u",
                   slurmd->node->cpus, slurmd->machine.cpus);
        not_enforced(fences, FENCE_CORES, why.data);
    }
    if (fences->enforced & FENCE_SWAP && !(fences->enforced & FENCE_MEMORY))
        not_enforced(fences, FENCE_SWAP, "only together with ConstrainRAMSpace");
    else if (fences->enforced & FENCE_SWAP && !fences->counts_swap && machine_swaps())
        not_enforced(fences, FENCE_SWAP, "the kernel does not count it (boot it with swapaccount)");
}

/* ---- what is told ---- */

static const char *version_text(const struct cgroup_tree *tree) {
    switch (cgroup_tree_mode(tree)) {
    case CGROUP_V1:
        return "v1";
    case CGROUP_V2:
        return "v2";
    case CGROUP_HYBRID:
        return "v1 and v2";
    case CGROUP_NONE:
        break;
    }
    return "none";
}

static void tell(struct fences *fences) {
    cleanup_str struct str text = STR_INIT;

    for (unsigned i = 0; i < FENCE_KINDS; i++)
        if (fences->enforced & (1u << i))
            str_join(&text, ",", kinds[i].name);
    if (text.length == 0)
        str_append(&text, "none");
    if (fences->tree)
        str_printf(&text, " (%s)", version_text(fences->tree));
    if (fences->why_not.length > 0)
        str_printf(&text, ", not %s", fences->why_not.data);
    free(fences->told);
    fences->told = str_take(&text);
}

/* No groups at all. */
static void none(struct fences *fences, const char *why) {
    cgroup_tree_free(fences->tree);
    fences->tree = NULL;
    fences->parts = fences->tested = fences->enforced = 0;
    free(fences->told);
    fences->told = xasprintf("none: %s", why);
}

/* ---- devices ---- */

static void list_devices(struct slurmd *slurmd) {
    struct fences *fences = &slurmd->fences;

    vec_reset(&fences->devices);
    vec_each (&slurmd->gres.devices, device) {
        vec_each (&device->files, file) {
            struct fence_device item = {
                .name = device->name,
                .index = device->index,
                .number = {file->is_block, major(file->device), minor(file->device)}};
            if (file->device != 0)
                vec_push(&fences->devices, item);
        }
    }
}

/* ---- starting ---- */

static uint64_t read_pid_max(void) {
    unsigned long long value = 0;
    FILE *file = fopen("/proc/sys/kernel/pid_max", "re");

    if (file && fscanf(file, "%llu", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value > 0 ? value : PID_MAX_DEFAULT;
}

static uint32_t kinds_of(const struct cgroup_tree *tree) {
    uint32_t parts = cgroup_tree_parts(tree), result = 0;

    for (unsigned i = 0; i < FENCE_KINDS; i++)
        if (parts & kinds[i].part)
            result |= 1u << i;
    return result;
}

/* NULL = there may be groups. */
static const char *why_none(const struct slurmd *slurmd) {
    if (geteuid() != 0)
        return "only root makes control groups, and slurmd runs as another user";
    if (slurmd->conf->cgroup.plugin == CONF_CGROUP_DISABLED)
        return "CgroupPlugin is disabled in cgroup.conf";
    if (slurmd->conf->proctrack_type != CONF_PROCTRACK_CGROUP)
        return "ProctrackType is not proctrack/cgroup";
    return NULL;
}

/* One base for each node, so that several slurmds of several clusters can run on one machine; tools
 * that look for Slurm's groups find those of a machine's only slurmd. */
static char *scope_name(const struct slurmd *slurmd) {
    return !slurmd->options.node_name
               ? xstrdup("slurmstepd.scope")
               : xasprintf("%s_%u_slurmstepd.scope", slurmd->node_name, slurmd->node->port);
}

static char *v1_name(const struct slurmd *slurmd) {
    return !slurmd->options.node_name
               ? xstrdup("slurm")
               : xasprintf("slurm_%s_%u", slurmd->node_name, slurmd->node->port);
}

/* "a-b.slice" lies in "a.slice/". */
static void print_slice_path(const char *slice, struct str *out) {
    const char *end = strstr(slice, ".slice");
    size_t length = end ? (size_t) (end - slice) : strlen(slice);

    for (size_t i = 1; i <= length; i++) {
        if (slice[i] != '-' && i < length)
            continue;
        str_append_bytes(out, slice, i);
        str_append(out, ".slice/");
    }
}

static const char *slice_name(const struct slurmd *slurmd) {
    return slurmd->conf->cgroup.slice ? slurmd->conf->cgroup.slice : "system.slice";
}

static void open_tree(struct slurmd *slurmd) {
    const struct conf_cgroup *conf = &slurmd->conf->cgroup;
    struct fences *fences = &slurmd->fences;
    cleanup_str struct str base = STR_INIT;
    struct cgroup_choice choice = {
        .base = "",
        .mountpoint = conf->mountpoint,
        .no_v1 = conf->plugin == CONF_CGROUP_V2,
        .no_v2 = conf->plugin == CONF_CGROUP_V1,
    };
    struct cgroup_tree *look = cgroup_tree_new(&choice);
    bool is_v2 = cgroup_tree_mode(look) == CGROUP_V2;
    cleanup_free char *name = is_v2 ? scope_name(slurmd) : v1_name(slurmd);

    cgroup_tree_free(look);
    if (is_v2)
        print_slice_path(slice_name(slurmd), &base);
    str_append(&base, name);
    choice.base = base.data;
    fences->tree = cgroup_tree_new(&choice);
}

/* On v2 alone, systemd's tree is systemd's. */
static int ask_systemd(struct slurmd *slurmd, struct error *err) {
    const struct conf_cgroup *conf = &slurmd->conf->cgroup;
    cleanup_free char *unit = scope_name(slurmd);
    struct error why = ERROR_INIT;

    if (cgroup_tree_mode(slurmd->fences.tree) != CGROUP_V2 || conf->ignore_systemd ||
        !fence_systemd_runs())
        return 0;
    int r = fence_scope_open(slurmd, unit, slice_name(slurmd), &why);
    if (r == 0)
        return 0;
    if (conf->ignore_systemd_on_failure) {
        log_error("%s; making control groups without systemd (IgnoreSystemdOnFailure)", why.text);
        return 0;
    }
    *err = why;
    return r;
}

static int make_base(struct fences *fences, struct error *err) {
    struct cgroup *group;
    uint32_t parts = cgroup_tree_parts(fences->tree) & ~(uint32_t) CGROUP_CPU;
    int r = cgroup_make(fences->tree, "", parts, &group, err);

    if (r < 0)
        return r;
    fences->counts_swap = cgroup_counts_swap(group);
    cgroup_free(group);
    return 0;
}

void fences_start(struct slurmd *slurmd) {
    struct fences *fences = &slurmd->fences;
    const char *why = why_none(slurmd);
    struct error err = ERROR_INIT;

    fences->stepds_fd = -1;
    fences->pid_max = read_pid_max();
    if (why) {
        none(fences, why);
        log_info("Confinement=%s: jobs are tracked by their parents and held to nothing",
                 fences->told);
        return;
    }
    open_tree(slurmd);
    int r = cgroup_tree_mode(fences->tree) != CGROUP_NONE
                ? ask_systemd(slurmd, &err)
                : error_set(&err, ERR_NOT_SUPPORTED, "%s", cgroup_tree_describe(fences->tree));
    if (r == 0)
        r = make_base(fences, &err);
    if (r < 0) {
        none(fences, err.text);
        log_error("Confinement=%s: jobs are held to nothing", fences->told);
        return;
    }
    str_reset(&fences->untested);
    fences->tested = fences_try(fences->tree, kinds_of(fences->tree), &fences->untested);
    log_info("%s", cgroup_tree_describe(fences->tree));
    fences_configure(slurmd);
}

static void explain_missing(struct fences *fences, uint32_t missing) {
    uint32_t supported = kinds_of(fences->tree);

    for (unsigned i = 0; i < FENCE_KINDS; i++) {
        if (!(missing & (1u << i)))
            continue;
        if (!(supported & (1u << i)))
            not_enforced(fences, 1u << i, "its controller is not mounted, or not for us");
    }
    if (missing & supported)
        str_join(&fences->why_not, "; ", str_cstr(&fences->untested));
}

void fences_configure(struct slurmd *slurmd) {
    struct fences *fences = &slurmd->fences;
    uint32_t wanted = wanted_kinds(&slurmd->conf->cgroup);

    list_devices(slurmd);
    if (!fences->tree)
        return;
    str_reset(&fences->why_not);
    fences->enforced = wanted & fences->tested;
    explain_missing(fences, wanted & ~fences->tested);
    check_possible(slurmd);
    fences->parts = CGROUP_TRACK;
    if (fences->tested & FENCE_MEMORY)
        fences->parts |= CGROUP_MEMORY; /* it counts, too */
    for (unsigned i = 0; i < FENCE_KINDS; i++)
        if (fences->enforced & (1u << i))
            fences->parts |= kinds[i].part;
    if (fences->devices.n == 0)
        fences->parts &= ~(uint32_t) CGROUP_DEVICES;
    tell(fences);
    if (fences->why_not.length > 0)
        log_error("this node does not enforce all that cgroup.conf asks for: Confinement=%s",
                  fences->told);
    else
        log_info("Confinement=%s", fences->told);
}

void fences_stop(struct slurmd *slurmd) {
    struct fences *fences = &slurmd->fences;

    if (fences->tree && fences->stepds_fd >= 0) {
        fence_scope_close(fences);
    } else if (fences->tree) {
        struct cgroup *base = cgroup_handle(fences->tree, "", cgroup_tree_parts(fences->tree));
        cgroup_remove_if_empty(base);
        cgroup_free(base);
    }
    cgroup_tree_free(fences->tree);
    str_done(&fences->why_not);
    str_done(&fences->untested);
    free(fences->told);
    vec_done(&fences->devices);
    *fences = (struct fences) {0};
}

/* ---- for one job or step ---- */

static bool has_gpu_files(const struct fences *fences) {
    vec_each (&fences->devices, device) {
        if (str_equal_nocase(device->name, "gpu"))
            return true;
    }
    return false;
}

/* "job_12/step_0", below the base. */
static void step_path(uint32_t job_id, uint32_t step_id, struct str *out) {
    str_printf(out, "job_%u/step_", job_id);
    step_id_print(step_id, out);
}

void fences_order(const struct slurmd *slurmd, const struct fence_share *job,
                  const struct fence_share *step, struct arena *arena, struct step_order *order) {
    const struct fences *fences = &slurmd->fences;
    struct fence_rules rules = {
        .conf = &slurmd->conf->cgroup,
        .enforced = fences->enforced,
        .cpu_map = &slurmd->cpu_map,
        .machine_mem = slurmd->machine.memory,
        .node_cpus = slurmd->node->cpus,
        .pid_max = fences->pid_max,
        .devices = fences->devices.items,
        .n_devices = fences->devices.n,
    };
    cleanup_str struct str text = STR_INIT;

    order->signal_children = slurmd->conf->cgroup.signal_children_processes;
    if (!fences->tree)
        return;
    rules.has_swappiness = !(cgroup_tree_v2_parts(fences->tree) & CGROUP_MEMORY);
    cgroup_tree_print(fences->tree, &text);
    order->use_cgroup = true;
    order->cgroup_tree = arena_strndup(arena, text.data, text.length);
    order->cgroup_parts = fences->parts;
    str_reset(&text);
    step_path(order->job_id, order->step_id, &text);
    order->cgroup = arena_strndup(arena, text.data, text.length);
    order->job_fence = fence_new(&rules, job, arena);
    order->step_fence = fence_new(&rules, step, arena);
    order->step_fence->pids = UNSET64; /* the job's steps share its numbers as they like */
    order->devices_fenced = fences->enforced & FENCE_DEVICES && has_gpu_files(fences);
}

bool fences_sweep(const struct slurmd *slurmd, uint32_t job_id, uint32_t step_id) {
    const struct fences *fences = &slurmd->fences;
    cleanup_str struct str path = STR_INIT;

    step_path(job_id, step_id, &path);
    struct cgroup *step = cgroup_handle(fences->tree, path.data, cgroup_tree_parts(fences->tree));
    bool is_gone = cgroup_remove(step, NULL) == 0;
    if (!is_gone)
        (void) !cgroup_signal(step, SIGKILL, NULL);
    cgroup_free(step);
    if (is_gone) {
        *strchr(path.data, '/') = '\0';
        struct cgroup *job =
            cgroup_handle(fences->tree, path.data, cgroup_tree_parts(fences->tree));
        cgroup_remove_if_empty(job);
        cgroup_free(job);
    }
    return is_gone;
}
