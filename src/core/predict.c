/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a job is likely to run: the mean of the last two run times of its user under its name,
 * or of its user (Tsafrir et al. 2007). Good enough to decide who is tried first, and used for
 * nothing else. The table has a fixed size; whose jobs ended longest ago is forgotten. It is not
 * stored: after a restart it knows the jobs that the controller still remembers.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

#define WAYS 4
#define SETS 8192
#define UNKNOWN UINT32_MAX

struct past {
    uint64_t key;          /* of user and name; 0 = free */
    uint64_t used;         /* higher: later */
    uint32_t last, before; /* seconds */
};
struct predictor {
    uint64_t clock;
    struct past past[SETS][WAYS];
};

static bool predicts(const struct core *core) {
    return core->conf && core->conf->scheduler.candidates == CONF_SCHED_CANDIDATES_PREDICTED;
}

static uint64_t key_of(uint32_t uid, const char *name) {
    uint64_t key = hash_bytes(&uid, sizeof(uid), name ? 1 : 2);

    if (name)
        key = hash_bytes(name, strlen(name), key);
    return key ? key : 1;
}

static struct past *past_find(struct predictor *p, uint64_t key) {
    struct past *set = p->past[key % SETS];

    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i];
    }
    return NULL;
}

static void past_note(struct predictor *p, uint64_t key, uint32_t seconds) {
    struct past *past = past_find(p, key);

    if (!past) {
        past = p->past[key % SETS];
        for (struct past *other = past + 1; other < p->past[key % SETS] + WAYS; other++) {
            if (other->used < past->used)
                past = other;
        }
        *past = (struct past) {.key = key, .last = UNKNOWN, .before = UNKNOWN};
    }
    past->before = past->last;
    past->last = seconds;
    past->used = ++p->clock;
}

/* Says something about the next run of the same. */
static bool is_telling(uint32_t state) {
    return state == JOB_COMPLETED || state == JOB_FAILED || state == JOB_TIMEOUT ||
           state == JOB_CANCELLED || state == JOB_OUT_OF_MEMORY;
}

void predict_learn(struct core *core, const struct job *job) {
    int64_t since = job->suspend_time > 0 ? job->suspend_time : job->start_time;
    int64_t seconds = job->pre_suspend_seconds + job->end_time - since;

    if (!predicts(core) || !is_telling(job->state) || job->start_time == 0 ||
        job->allocation.n == 0 || seconds < 0)
        return;
    if (!core->predictor)
        core->predictor = zalloc(struct predictor);
    uint32_t kept = (uint32_t) min_of(seconds, (int64_t) UNKNOWN - 1);
    past_note(core->predictor, key_of(job->uid, NULL), kept);
    if (job->name)
        past_note(core->predictor, key_of(job->uid, job->name), kept);
}

static int64_t past_mean(struct predictor *p, uint64_t key) {
    const struct past *past = past_find(p, key);

    if (!past || past->before == UNKNOWN)
        return 0;
    return max_of(((int64_t) past->last + past->before) / 2, (int64_t) 1);
}

int64_t predict_seconds(const struct core *core, const struct job *job) {
    int64_t mean = 0;

    if (!predicts(core) || !core->predictor)
        return 0;
    if (job->name)
        mean = past_mean(core->predictor, key_of(job->uid, job->name));
    return mean ? mean : past_mean(core->predictor, key_of(job->uid, NULL));
}

static int by_end(const void *a, const void *b) {
    const struct job *x = &(*(struct core_job *const *) a)->rec;
    const struct job *y = &(*(struct core_job *const *) b)->rec;

    if (x->end_time != y->end_time)
        return x->end_time < y->end_time ? -1 : 1;
    return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

void predict_restored(struct core *core) {
    job_ptrs ended = {0};

    if (!predicts(core))
        return;
    jobs_each (core, job) {
        if (is_telling(job->rec.state))
            vec_push(&ended, job);
    }
    if (ended.n > 1)
        qsort(ended.items, ended.n, sizeof(struct core_job *), by_end);
    vec_each (&ended, job) {
        predict_learn(core, &(*job)->rec);
    }
    vec_done(&ended);
}
