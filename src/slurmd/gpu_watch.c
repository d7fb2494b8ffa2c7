/* SPDX-License-Identifier: Apache-2.0 */
/* See the header. A thread reads the library and /proc into the cards; the rest is the loop's,
 * which leaves the cards alone meanwhile. */
#include "slurmd/gpu_watch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "os/log.h"
#include "os/proc.h"
#include "os/userdb.h"
#include "slurmd/gpu_track.h"
#include "slurmd/slurmd.h"

#define STRAYS_MAX 8 /* of one card; more are not told */

typedef vec(struct gpu_stray) stray_list;

struct card {
    struct gpu_sample sample;
    struct error failure; /* of the sample; code 0 = none */
    stray_list found;     /* strays in the sample */
    stray_list strays;    /* those told to the controller; texts are owned by both lists */
    struct gpu_track track;
    uint64_t memory_used; /* MiB, of the last sample */
    char *problem;        /* the last critical error */
    bool is_broken;       /* and the card cannot be used any more */
};

struct gpu_watch {
    struct slurmd *slurmd;
    struct loop_timer *timer;
    bool is_busy;
    bool knows_jobs; /* processes of jobs are in control groups, so that the others can be told */
    struct gpu_library *library; /* of the look under way */
    struct card cards[GPU_CARDS_MAX];
    size_t n;
    struct gpu_status statuses[GPU_CARDS_MAX];
};

/* Critical errors after which a card does no work until somebody has seen to it, by NVIDIA's list
 * of Xid errors; the others are mostly a program's fault and are logged. */
static const uint64_t fatal_xids[] = {48, 64, 79, 95, 119, 120};

/* ---- the thread ---- */

/* Is it in the control group of a job, whatever hierarchy that is in ("…/job_12/…")? */
static bool has_job(pid_t pid) {
    char line[4096];
    cleanup_free char *path = xasprintf("/proc/%d/cgroup", (int) pid);
    FILE *file = fopen(path, "re");
    bool found = !file; /* it has ended meanwhile */

    while (file && !found && fgets(line, sizeof(line), file)) {
        for (const char *at = line; !found && (at = strstr(at, "/job_")) != NULL; at++)
            found = isdigit((unsigned char) at[5]);
    }
    if (file)
        fclose(file);
    return found;
}

static void strays_clear(stray_list *list) {
    vec_each (list, stray) {
        free(stray->user);
        free(stray->command);
    }
    vec_reset(list);
}

static void find_strays(struct card *card) {
    strays_clear(&card->found);
    for (size_t i = 0; i < card->sample.n_processes && card->found.n < STRAYS_MAX; i++) {
        const struct gpu_process *process = &card->sample.processes[i];
        cleanup_free char *path = xasprintf("/proc/%d", (int) process->pid);
        struct userdb_user user = {0};
        struct stat stat_;
        struct proc_stat facts;
        if (stat(path, &stat_) < 0 || !proc_stat_read(process->pid, &facts) ||
            has_job(process->pid))
            continue;
        if (str_starts(facts.name, "nvidia-cuda-mps")) /* works for jobs */
            continue;
        struct gpu_stray *stray = vec_add(&card->found);
        stray->pid = (uint32_t) process->pid;
        stray->uid = stat_.st_uid;
        stray->memory = process->memory;
        stray->command = xstrdup(facts.name);
        stray->user = userdb_find_uid(stat_.st_uid, &user, NULL) == 0
                          ? xstrdup(user.name)
                          : xasprintf("%u", (unsigned) stat_.st_uid);
        userdb_user_done(&user);
    }
}

static void look(void *context) {
    struct gpu_watch *watch = context;

    for (size_t i = 0; i < watch->n; i++) {
        struct card *card = &watch->cards[i];
        card->failure = (struct error) ERROR_INIT;
        if (gpu_sample(watch->library, i, &card->sample, &card->failure) == 0 && watch->knows_jobs)
            find_strays(card);
        else
            strays_clear(&card->found);
    }
}

/* ---- the loop ---- */

static const struct gres_device *device_of(const struct slurmd *slurmd, size_t card) {
    vec_each (&slurmd->gres.devices, device) {
        if (device->card == card)
            return device;
    }
    return NULL;
}

static bool has_pid(const stray_list *list, uint32_t pid) {
    vec_each (list, stray) {
        if (stray->pid == pid)
            return true;
    }
    return false;
}

static bool take_strays(struct card *card, const char *file) {
    bool changed = card->found.n != card->strays.n;

    vec_each (&card->found, stray) {
        if (has_pid(&card->strays, stray->pid))
            continue;
        changed = true;
        log_error("process %u (%s) of %s is on %s and belongs to no job", stray->pid,
                  stray->command, stray->user, file);
    }
    stray_list old = card->strays;
    card->strays = card->found;
    card->found = old;
    return changed;
}

static bool take_problem(struct card *card, const char *file) {
    bool is_fatal = card->failure.code < 0;
    char *text = NULL;

    for (size_t i = 0; i < countof(fatal_xids); i++)
        is_fatal |= card->sample.xid != 0 && card->sample.xid == fatal_xids[i];
    if (card->failure.code < 0)
        text = xstrdup(card->failure.text);
    else if (card->sample.xid != 0)
        text = xasprintf("GPU %s: Xid %llu", file, (unsigned long long) card->sample.xid);
    if (!text || str_equal(text, card->problem)) {
        free(text);
        return false;
    }
    log_error("%s", text);
    free(card->problem);
    card->problem = text;
    card->is_broken |= is_fatal;
    return true;
}

static void looked(void *context) {
    struct gpu_watch *watch = context;
    struct slurmd *slurmd = watch->slurmd;
    uint64_t now = loop_monotonic_usec();
    bool changed = false;

    watch->is_busy = false;
    for (size_t i = 0; i < watch->n; i++) {
        struct card *card = &watch->cards[i];
        const struct gres_device *device = device_of(slurmd, i);
        const char *file = device ? device->files.items[0].path : "a GPU";
        bool was_idle = card->track.now == 0, is_first = card->track.since == 0;
        changed |= take_problem(card, file);
        changed |= take_strays(card, file);
        if (card->failure.code == 0)
            gpu_track_add(&card->track, now, card->sample.use);
        card->memory_used = card->sample.memory_used;
        changed |= is_first || was_idle != (card->track.now == 0);
    }
    if (watch->library != slurmd->gpus) { /* a reconfiguration wanted it closed */
        gpu_close(watch->library);
        watch->library = NULL;
    }
    if (changed)
        controller_send_status(slurmd, false);
}

static uint64_t pause_usec(const struct slurmd *slurmd) {
    uint32_t seconds = slurmd->conf->frequency.task;

    return (seconds > 0 ? seconds : 30) * 1000000ull;
}

static void on_timer(void *context) {
    struct gpu_watch *watch = context;
    struct slurmd *slurmd = watch->slurmd;

    loop_timer_set(watch->timer, loop_monotonic_usec() + pause_usec(slurmd));
    if (watch->is_busy || !slurmd->gpus)
        return;
    watch->library = slurmd->gpus;
    watch->knows_jobs = slurmd->fences.tree != NULL;
    (void) gpu_cards(watch->library, &watch->n);
    watch->is_busy = true;
    loop_work(slurmd->loop, look, looked, watch);
}

void gpu_watch_start(struct slurmd *slurmd) {
    struct gpu_watch *watch = zalloc(struct gpu_watch);

    watch->slurmd = slurmd;
    slurmd->gpu_watch = watch;
    watch->timer = loop_timer_add(slurmd->loop, on_timer, watch);
    loop_timer_set(watch->timer, loop_monotonic_usec());
}

bool gpu_watch_is_busy(const struct slurmd *slurmd) {
    return slurmd->gpu_watch && slurmd->gpu_watch->is_busy;
}

static void fill(const struct card *card, const struct gpu_card *facts, uint64_t now,
                 struct gpu_status *status) {
    const struct gpu_track *track = &card->track;

    record_init(&record_gpu_status, status);
    status->use = gpu_track_mean(track, now);
    if (track->since > 0) { /* it has been sampled */
        status->use_now = track->now;
        status->memory = card->memory_used;
        status->watched = (uint32_t) ((now - track->since) / 1000000);
        if (track->used > 0)
            status->idle = (uint32_t) ((now - track->used) / 1000000);
    }
    status->memory_total = facts->memory;
    status->product = facts->type;
    status->uuid = facts->uuid;
    status->problem = card->problem;
    status->strays.items = card->strays.items;
    status->strays.n = (uint32_t) card->strays.n;
}

void gpu_watch_fill(struct slurmd *slurmd, struct node_status *status) {
    struct gpu_watch *watch = slurmd->gpu_watch;
    uint64_t now = loop_monotonic_usec();
    size_t n_cards = 0;

    if (!watch || !slurmd->gpus)
        return;
    const struct gpu_card *cards = gpu_cards(slurmd->gpus, &n_cards);
    status->gpus.items = watch->statuses;
    for (size_t i = 0; i < n_cards; i++) {
        const struct gres_device *device = device_of(slurmd, i);
        if (!device || device->index == GRES_NO_INDEX)
            continue;
        struct gpu_status *gpu = &watch->statuses[status->gpus.n++];
        fill(&watch->cards[i], &cards[i], now, gpu);
        gpu->index = device->index;
        if (watch->cards[i].is_broken && !status->problem)
            status->problem = watch->cards[i].problem;
    }
}
