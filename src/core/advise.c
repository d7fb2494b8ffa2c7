/* SPDX-License-Identifier: Apache-2.0 */
/* What a submitter is told about a request that has been accepted. */
#include <string.h>

#include "core/forecast.h"
#include "core/habit.h"
#include "core/submit_phrases.h"
#include "text/duration.h"

/* A user is told of a limit once in so many seconds under each name, which bounds the work, too. */
#define AGAIN_SECONDS 600
/* Candidates for each of two forecasts; some milliseconds. */
#define ADVICE_WORK (FORECAST_WORK / 4)
/* A start that is sooner by less is not told. */
#define SOONER_SECONDS 60
/* A number above it without a unit is taken for one of megabytes that was meant so. */
#define BARE_MIB_MOST 256

static const char *const phrases[SUBMIT_PHRASES][LANGUAGES] = {
#define X(name, english, korean) [SUBMIT_PHRASE_##name] = {english, korean},
    SUBMIT_PHRASE_TABLE(X)
#undef X
};

const char *submit_phrase(enum language language, enum submit_phrase id) {
    return phrases[id][language];
}

enum language submit_language(const struct submit *submit) {
    return submit->advice & ADVICE_KOREAN ? LANGUAGE_KOREAN : LANGUAGE_ENGLISH;
}

void submit_tell(struct core *core, struct submit_reply *reply, const char *text) {
    struct arena *memory = &core->out->memory;
    uint32_t n = reply->infos.n;
    char **lines = arena_alloc(memory, (n + 1) * sizeof(char *));
    for (uint32_t i = 0; i < n; i++)
        lines[i] = reply->infos.items[i];
    lines[n] = arena_strdup(memory, text);
    reply->infos = (struct strs) {lines, n + 1};
}

/* ---- --time=auto ---- */

static uint32_t partition_most(struct core *core, const struct job *job) {
    uint32_t most = 0;
    words_each (job->partition, ",", name) {
        const struct core_partition *part = partition_find(core, name, NULL);
        if (part != NULL)
            most = max_of(most, part->rec.max_time);
    }
    return most;
}

void advise_time_auto(struct core *core, struct job *job, enum language language,
                      struct submit_reply *reply) {
    const struct habit *habit = habit_find(core, job->uid, job->name);
    uint32_t minutes = habit ? habit_minutes(habit) : 0;
    const char *name = job->name ? job->name : "";
    cleanup_free char *text = NULL;
    struct str limit cleanup_str = STR_INIT;
    job->time_limit = MINUTES_UNSET;
    job_take_partition(core, job);
    if (minutes == 0) {
        text = xasprintf(submit_phrase(language, SUBMIT_PHRASE_TIME_AUTO_UNKNOWN),
                         habit ? habit->seconds.n : 0, name, HABIT_ENOUGH);
        submit_tell(core, reply, text);
        return;
    }
    uint32_t most = partition_most(core, job);
    job->time_limit = most > 0 ? min_of(minutes, most) : minutes;
    minutes_print_long(job->time_limit, "", &limit);
    bool capped = job->time_limit < minutes;
    text = xasprintf(submit_phrase(language, SUBMIT_PHRASE_TIME_AUTO), str_cstr(&limit),
                     habit->seconds.n, name,
                     capped ? submit_phrase(language, SUBMIT_PHRASE_TIME_AUTO_CAPPED) : "");
    submit_tell(core, reply, text);
}

/* ---- memory in megabytes ---- */

/* Would as many gigabytes fit into some node? */
static bool gigabytes_fit(const struct core *core, uint64_t gib) {
    for (size_t i = 0; i < core->n_nodes; i++) {
        if (core->nodes[i].rec.memory >= gib * 1024)
            return true;
    }
    return false;
}

static void advise_memory(struct core *core, const struct job *job, const struct submit *submit,
                          struct submit_reply *reply) {
    const struct {
        uint32_t flag;
        uint64_t mib;
        const char *option, *of;
    } sizes[] = {
        {ADVICE_BARE_MEM, job->mem_per_node, "--mem", "node"},
        {ADVICE_BARE_MEM_PER_CPU, job->mem_per_cpu, "--mem-per-cpu", "CPU"},
        {ADVICE_BARE_MEM_PER_GPU, job->mem_per_gpu, "--mem-per-gpu", "GPU"},
    };
    for (size_t i = 0; i < countof(sizes); i++) {
        uint64_t mib = sizes[i].mib;
        if (!(submit->advice & sizes[i].flag) || mib == 0 || mib > BARE_MIB_MOST ||
            !gigabytes_fit(core, mib))
            continue;
        cleanup_free char *text =
            xasprintf(submit_phrase(submit_language(submit), SUBMIT_PHRASE_BARE_MEMORY),
                      sizes[i].option, (unsigned long long) mib, (unsigned long long) mib,
                      sizes[i].of, sizes[i].option, (unsigned long long) mib);
        submit_tell(core, reply, text);
    }
}

/* ---- limits ---- */

/* When it would start with this limit, seconds from now; -1: nobody knows. */
static int64_t start_with(struct core *core, const struct core_job *job, uint32_t minutes) {
    const struct forecast_options options = {.work = ADVICE_WORK};
    struct job_spec spec cleanup(job_spec_done);
    struct forecast_start start = {0};
    struct job rec = job->rec; /* borrows all but the limit */
    rec.time_limit = minutes;
    if (job_spec_build(core, &rec, &spec, NULL) < 0)
        return -1;
    struct forecast *forecast = forecast_new(core, &options);
    forecast_add(forecast, &spec.sched, job);
    forecast_run(forecast, job->rec.job_id, &core->out->memory, &start);
    forecast_free(forecast);
    return start.known ? max_of(start.time - core->now, (int64_t) 0) : -1;
}

/* " it could start in 00:10:00 instead of in 03:00:00, and" */
static void print_gain(struct core *core, const struct core_job *job, uint32_t enough,
                       enum language language, struct str *out) {
    struct str in cleanup_str = STR_INIT, instead cleanup_str = STR_INIT;
    if (job->rec.hold || job->n_depends > 0)
        return;
    int64_t as_asked = start_with(core, job, job->rec.time_limit);
    if (as_asked == 0)
        return;
    int64_t shorter = start_with(core, job, enough);
    if (shorter < 0 || (as_asked > 0 && as_asked - shorter < SOONER_SECONDS))
        return;
    duration_print_long(shorter, &in);
    duration_print_long(max_of(as_asked, (int64_t) 0), &instead);
    if (shorter > 0 && as_asked > 0)
        str_printf(out, submit_phrase(language, SUBMIT_PHRASE_STARTS_IN_INSTEAD), str_cstr(&in),
                   str_cstr(&instead));
    else if (shorter > 0)
        str_printf(out, submit_phrase(language, SUBMIT_PHRASE_STARTS_IN), str_cstr(&in));
    else if (as_asked > 0)
        str_printf(out, submit_phrase(language, SUBMIT_PHRASE_STARTS_NOW_INSTEAD),
                   str_cstr(&instead));
    else
        str_append(out, submit_phrase(language, SUBMIT_PHRASE_STARTS_NOW));
}

static void advise_limit(struct core *core, const struct core_job *job, enum language language,
                         struct submit_reply *reply) {
    const struct job *rec = &job->rec;
    const struct habit *habit = habit_find(core, rec->uid, rec->name);
    uint32_t enough = habit ? habit_minutes(habit) : 0;
    if (rec->time_auto || !advice_time_is_far(rec->time_limit, enough) ||
        !habit_may_advise(core, rec->uid, rec->name, AGAIN_SECONDS))
        return;
    struct str longest cleanup_str = STR_INIT, limit cleanup_str = STR_INIT;
    struct str shorter cleanup_str = STR_INIT, gain cleanup_str = STR_INIT;
    duration_print_long(habit_longest(habit), &longest);
    minutes_print_long(rec->time_limit, "", &limit);
    minutes_print_long(enough, "", &shorter);
    print_gain(core, job, enough, language, &gain);
    cleanup_free char *text =
        xasprintf(submit_phrase(language, SUBMIT_PHRASE_LIMIT_IS_FAR), habit->seconds.n, rec->name,
                  str_cstr(&longest), str_cstr(&limit), str_cstr(&shorter), str_cstr(&gain));
    submit_tell(core, reply, text);
}

void advise_submission(struct core *core, const struct core_job *job, const struct submit *submit,
                       struct submit_reply *reply) {
    if (!(submit->advice & ADVICE_WANTED) || core->settings.no_advice)
        return;
    advise_memory(core, &job->rec, submit, reply);
    advise_limit(core, job, submit_language(submit), reply);
}
