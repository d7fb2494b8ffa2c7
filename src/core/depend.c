/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependencies: `type:id[:id…]` joined by `,` (all) or `?` (any). A job with an open one is not in
 * the planner's view; every end, start and disappearance of a job looks at those that wait.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/state.h"

/* What one job may wait for; each is looked at with every end of a job. */
#define DEPENDS_MAX 10000

static const struct {
    const char *name;
    enum depend_kind kind;
} kinds[] = {
    {"after", DEPEND_AFTER},    {"afterany", DEPEND_ANY},
    {"afterok", DEPEND_OK},     {"afternotok", DEPEND_NOT_OK},
    {"aftercorr", DEPEND_CORR}, {"singleton", DEPEND_SINGLETON},
    {"expand", DEPEND_EXPAND},  {"afterburstbuffer", DEPEND_ANY},
};

static const char *kind_name(enum depend_kind kind) {
    for (size_t i = 0; i < countof(kinds); i++) {
        if (kinds[i].kind == kind)
            return kinds[i].name;
    }
    return "after";
}

static int problem(struct error *err, const char *word, const char *why) {
    return error_set(err, ERR_DEPENDENCY, "dependency %s: %s", word, why);
}

/* ---- the state of one dependency ---- */

static bool has_started(const struct core_job *job) {
    return job->rec.state != JOB_PENDING || job->rec.restarts > 0;
}

static bool has_ended(const struct core_job *job) {
    return job_state_is_final(job->rec.state) && !(job->rec.flags & JOB_FLAG_COMPLETING);
}

static enum depend_state job_verdict(const struct core *core, const struct depend *depend,
                                     const struct core_job *target) {
    bool ended = has_ended(target), ok = target->rec.state == JOB_COMPLETED;
    switch (depend->kind) {
    case DEPEND_AFTER:
        if (!has_started(target))
            return DEPEND_OPEN;
        return core->now >= target->rec.start_time + (int64_t) depend->minutes * 60 ? DEPEND_MET
                                                                                    : DEPEND_OPEN;
    case DEPEND_OK:
    case DEPEND_CORR:
        return !ended ? DEPEND_OPEN : ok ? DEPEND_MET : DEPEND_FAILED;
    case DEPEND_NOT_OK:
        return !ended ? DEPEND_OPEN : ok ? DEPEND_FAILED : DEPEND_MET;
    default:
        return ended ? DEPEND_MET : DEPEND_OPEN;
    }
}

/* All records of an array count: afternotok is met by one failure, the others need every task. */
static enum depend_state array_verdict(const struct core *core, const struct depend *depend,
                                       struct core_job *first) {
    bool any_open = false, any_failed = false, any_met = false;
    for (struct core_job *job = first; job != NULL; job = job->array_next) {
        enum depend_state state = job_verdict(core, depend, job);
        any_open |= state == DEPEND_OPEN;
        any_failed |= state == DEPEND_FAILED;
        any_met |= state == DEPEND_MET;
    }
    if (depend->kind == DEPEND_NOT_OK)
        return any_open ? DEPEND_OPEN : any_met ? DEPEND_MET : DEPEND_FAILED;
    return any_failed ? DEPEND_FAILED : any_open ? DEPEND_OPEN : DEPEND_MET;
}

static enum depend_state singleton_verdict(struct core *core, const struct core_job *job) {
    jobs_each (core, other) {
        if (other == job || has_ended(other) || other->rec.uid != job->rec.uid ||
            !str_equal(other->rec.name, job->rec.name))
            continue;
        if (job->rec.array_job_id != 0 && other->rec.array_job_id == job->rec.array_job_id)
            continue;
        if (other->rec.job_id < job->rec.job_id || job_has_nodes(other) ||
            (other->rec.flags & JOB_FLAG_COMPLETING))
            return DEPEND_OPEN;
    }
    return DEPEND_MET;
}

static enum depend_state verdict(struct core *core, const struct core_job *job,
                                 const struct depend *depend) {
    if (depend->kind == DEPEND_SINGLETON)
        return singleton_verdict(core, job);
    struct core_job *first = map_get(&core->arrays, depend->job_id);
    uint32_t task = depend->task;
    if (depend->kind == DEPEND_CORR && job->rec.array_task_id != UNSET32)
        task = job->rec.array_task_id;
    if (first != NULL && task == UNSET32)
        return array_verdict(core, depend, first);
    for (struct core_job *other = first; other != NULL; other = other->array_next) {
        if (other->rec.array_task_id == task)
            return job_verdict(core, depend, other);
        if (other->rec.array_task_id == UNSET32 && idset_contains(&other->tasks, task))
            return DEPEND_OPEN;
    }
    const struct core_job *target = job_find(core, depend->job_id);
    return target != NULL ? job_verdict(core, depend, target) : DEPEND_MET;
}

/* ---- text ---- */

void depend_print(const struct depend *depend, struct str *out) {
    str_append(out, kind_name(depend->kind));
    if (depend->kind == DEPEND_SINGLETON)
        return;
    str_printf(out, ":%u", depend->job_id);
    if (depend->whole_array)
        str_append(out, "_*");
    else if (depend->task != UNSET32)
        str_printf(out, "_%u", depend->task);
    if (depend->minutes > 0)
        str_printf(out, "+%u", depend->minutes);
}

static void print(const struct core_job *job, struct str *out) {
    for (size_t i = 0; i < job->n_depends; i++) {
        const struct depend *depend = &job->depends[i];
        if (depend->state == DEPEND_MET)
            continue;
        if (out->length > 0)
            str_append_char(out, job->depends_any ? '?' : ',');
        depend_print(depend, out);
        str_append(out, depend->state == DEPEND_FAILED ? "(failed)" : "(unfulfilled)");
    }
}

/* What a held job waits for besides, in the form that listings know. */
void depend_show(struct core_job *job) {
    struct str text cleanup_str = STR_INIT;
    if (job->n_depends == 0)
        return;
    print(job, &text);
    string_set(&job->rec.dependency, str_cstr(&text));
}

static bool depend_is_never(const struct core_job *job) {
    size_t failed = 0;
    for (size_t i = 0; i < job->n_depends; i++)
        failed += job->depends[i].state == DEPEND_FAILED;
    return job->depends_any ? failed > 0 && failed == job->n_depends : failed > 0;
}

static bool is_met(const struct core_job *job) {
    size_t met = 0;
    for (size_t i = 0; i < job->n_depends; i++)
        met += job->depends[i].state == DEPEND_MET;
    return job->depends_any ? met > 0 || job->n_depends == 0 : met == job->n_depends;
}

static void forget(struct core_job *job) {
    free(job->depends);
    job->depends = NULL;
    job->n_depends = 0;
    job->depends_due = 0;
    list_remove(&job->depending);
    string_set(&job->rec.dependency, NULL);
}

/* "after:ID+minutes" becomes true by the clock alone: the job's timer looks again. */
static int64_t clock_due(struct core *core, const struct depend *depend) {
    const struct core_job *target = job_find(core, depend->job_id);
    if (depend->minutes == 0 || depend->state != DEPEND_OPEN || target == NULL)
        return 0;
    int64_t due = target->rec.start_time + (int64_t) depend->minutes * 60;
    return has_started(target) && due > core->now ? due : 0;
}

static void set_due(struct core *core, struct core_job *job) {
    int64_t due = 0;
    for (size_t i = 0; i < job->n_depends; i++) {
        int64_t one = clock_due(core, &job->depends[i]);
        if (one > 0 && (due == 0 || one < due))
            due = one;
    }
    if (due == job->depends_due)
        return;
    job->depends_due = due;
    job_arm(core, job);
}

bool depend_check(struct core *core, struct core_job *job) {
    if (job->n_depends == 0)
        return true;
    for (size_t i = 0; i < job->n_depends; i++) {
        if (job->depends[i].state == DEPEND_OPEN)
            job->depends[i].state = verdict(core, job, &job->depends[i]);
    }
    set_due(core, job);
    if (is_met(job)) {
        forget(job);
        job->rec.reason = REASON_NONE;
        if (job->rec.accrue_time == 0)
            job->rec.eligible_time = max_of(core->now, job->rec.begin_time);
        job_touch(core, job);
        return true;
    }
    struct str text cleanup_str = STR_INIT;
    print(job, &text);
    uint32_t reason = depend_is_never(job) ? REASON_DEPENDENCY_NEVER : REASON_DEPENDENCY;
    if (!str_equal(job->rec.dependency, text.data) ||
        (job->rec.reason != reason && job->rec.priority > 0)) {
        string_set(&job->rec.dependency, text.data);
        if (job->rec.priority > 0)
            job->rec.reason = reason;
        job_touch(core, job);
    }
    return false;
}

static void kill_if_never(struct core *core, struct core_job *job) {
    bool kill = job->rec.kill_on_invalid_dep == TRI_YES ||
                (job->rec.kill_on_invalid_dep == TRI_UNSET && core->settings.kill_invalid_depend);
    if (kill && depend_is_never(job)) {
        mail_event(core, job, MAIL_INVALID_DEPEND);
        job_finish(core, job, JOB_CANCELLED, REASON_DEPENDENCY_NEVER, 0, NULL);
    }
}

void depend_check_kill(struct core *core, struct core_job *job) {
    if (job_is_pending(job) && !list_is_empty(&job->depending))
        kill_if_never(core, job);
}

/* One look at everybody that waits. Ends and starts that follow from it are seen by the next. */
static void look_at_all(struct core *core) {
    job_ptrs waiting = {0};
    list_each (&core->depending, at)
        vec_push(&waiting, list_entry(at, struct core_job, depending));
    vec_each (&waiting, at) {
        struct core_job *job = *at;
        if (!job_is_pending(job) || list_is_empty(&job->depending))
            continue;
        if (job->rec.priority > 0)
            sched_sync(core, job);
        else
            (void) depend_check(core, job);
        depend_check_kill(core, job);
    }
    vec_done(&waiting);
}

void depend_job_changed(struct core *core) {
    core->depends_changed = true;
    if (core->depends_walking) /* whoever walks will walk again */
        return;
    core->depends_walking = true;
    while (core->depends_changed) {
        core->depends_changed = false;
        look_at_all(core);
    }
    core->depends_walking = false;
}

/* ---- parsing ---- */

static bool parse_target(const char *text, struct depend *depend) {
    char *end;
    unsigned long id = strtoul(text, &end, 10);
    if (!isdigit((unsigned char) text[0]) || id == 0 || id > UINT32_MAX - 1)
        return false;
    depend->job_id = (uint32_t) id;
    depend->task = UNSET32;
    if (*end == '_' && end[1] == '*') {
        depend->whole_array = true;
        end += 2;
    } else if (*end == '_' && isdigit((unsigned char) end[1])) {
        depend->task = (uint32_t) strtoul(end + 1, &end, 10);
    }
    if (*end == '+' && depend->kind == DEPEND_AFTER && isdigit((unsigned char) end[1]))
        depend->minutes = (uint32_t) strtoul(end + 1, &end, 10);
    /* The form that is shown may be given back. */
    return *end == '\0' || strcmp(end, "(unfulfilled)") == 0 || strcmp(end, "(failed)") == 0;
}

static int check_target(struct core *core, struct core_job *job, struct depend *depend,
                        const char *word, struct error *err) {
    struct core_job *first = map_get(&core->arrays, depend->job_id);
    struct core_job *target = job_find(core, depend->job_id);
    if (depend->job_id == job->rec.job_id)
        return problem(err, word, "a job cannot wait for itself");
    if (depend->task != UNSET32 && first == NULL && target != NULL)
        return problem(err, word, "that job is not an array");
    if (first == NULL && target == NULL &&
        (depend->kind == DEPEND_OK || depend->kind == DEPEND_NOT_OK))
        return problem(err, word, "no job of that id is known any more");
    if (first != NULL && depend->task == UNSET32 && target != NULL &&
        target->rec.array_job_id == depend->job_id)
        depend->whole_array = true;
    return 0;
}

/* `stored`: as written by ourselves. What has failed stays so, though its job has left, and nothing
 * needs to be checked any more. */
struct depend_list {
    vec(struct depend) all;
    bool stored;
};

static int parse_word(struct core *core, struct core_job *job, char *word, struct depend_list *list,
                      struct error *err) {
    cleanup_free char *whole = xstrdup(word);
    char *colon = strchr(word, ':');
    struct depend depend = {.kind = DEPEND_ANY, .task = UNSET32};
    char *targets = word;
    if (!isdigit((unsigned char) word[0])) {
        if (colon != NULL)
            *colon = '\0';
        size_t i = 0, name_length = strcspn(word, "(");
        while (i < countof(kinds) && !(strlen(kinds[i].name) == name_length &&
                                       strncasecmp(kinds[i].name, word, name_length) == 0))
            i++;
        if (i == countof(kinds))
            return problem(err, whole,
                           "the type must be after, afterany, afterok, afternotok, "
                           "aftercorr or singleton");
        depend.kind = kinds[i].kind;
        targets = colon != NULL ? colon + 1 : NULL;
    }
    if (depend.kind == DEPEND_SINGLETON) {
        if (targets != NULL)
            return problem(err, whole, "singleton takes no job id");
        vec_push(&list->all, depend);
        return 0;
    }
    if (targets == NULL || *targets == '\0')
        return problem(err, whole, "a job id is missing");
    words_each (targets, ":", id) {
        struct depend one = depend;
        if (!parse_target(id, &one))
            return problem(err, whole, "not a job id");
        int r = list->stored ? 0 : check_target(core, job, &one, whole, err);
        if (r < 0)
            return r;
        if (list->stored && strstr(id, "(failed)") != NULL)
            one.state = DEPEND_FAILED;
        vec_push(&list->all, one);
        if (list->all.n > DEPENDS_MAX)
            return error_set(err, ERR_DEPENDENCY, "more than %d jobs to wait for", DEPENDS_MAX);
    }
    return 0;
}

/* Would `job` be waited for by what it waits for? Walks the open dependencies, each job once. */
static bool closes_cycle(struct core *core, const struct core_job *job,
                         const struct depend_list *list) {
    struct map seen = MAP_INIT;
    vec(uint32_t) todo = {0};
    bool found = false;
    for (size_t i = 0; i < list->all.n; i++)
        vec_push(&todo, list->all.items[i].job_id);
    while (todo.n > 0 && !found) {
        uint32_t id = todo.items[--todo.n];
        if (id == job->rec.job_id || (job->rec.array_job_id != 0 && id == job->rec.array_job_id)) {
            found = true;
            break;
        }
        struct core_job *other = job_find(core, id);
        if (other == NULL || map_put(&seen, id, other) != NULL)
            continue;
        for (size_t i = 0; i < other->n_depends; i++) {
            if (other->depends[i].kind != DEPEND_SINGLETON)
                vec_push(&todo, other->depends[i].job_id);
        }
    }
    map_done(&seen);
    vec_done(&todo);
    return found;
}

static int depend_take(struct core *core, struct core_job *job, const char *text, bool stored,
                       struct error *err) {
    struct depend_list list = {.stored = stored};
    int r = 0;
    bool any = strchr(text, '?') != NULL;
    if (any && strchr(text, ',') != NULL)
        return problem(err, text, "use either , (all) or ? (any), not both");
    words_each (text, ",?", word) {
        if (r == 0) /* a bare id: afterany, whatever precedes */
            r = parse_word(core, job, word, &list, err);
    }
    if (r == 0 && !stored && closes_cycle(core, job, &list))
        r = problem(err, text, "the jobs would wait for each other");
    if (r < 0) {
        vec_done(&list.all);
        return r;
    }
    free(job->depends);
    list_remove(&job->depending);
    job->depends = list.all.items;
    job->n_depends = list.all.n;
    job->depends_any = any;
    if (list.all.n > 0)
        list_append(&core->depending, &job->depending);
    else
        string_set(&job->rec.dependency, NULL);
    return 0;
}

int depend_parse(struct core *core, struct core_job *job, const char *text, struct error *err) {
    return depend_take(core, job, text, false, err);
}

void depend_restore(struct core *core, struct core_job *job) {
    if (job->rec.dependency != NULL && depend_take(core, job, job->rec.dependency, true, NULL) < 0)
        string_set(&job->rec.dependency, NULL);
}
