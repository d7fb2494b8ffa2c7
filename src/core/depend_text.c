/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies as text: what is written is read and checked, what is left of it is printed. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/state.h"

static const struct {
    const char *name;
    enum depend_kind kind;
} kinds[] = {
    {"after", DEPEND_AFTER},
    {"afterany", DEPEND_ANY},
    {"afterok", DEPEND_OK},
    {"afternotok", DEPEND_NOT_OK},
    {"aftercorr", DEPEND_CORR},
    {"singleton", DEPEND_SINGLETON},
    {"afterburstbuffer", DEPEND_BURST},
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

/* ---- printing ---- */

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

void depends_print(const struct core_job *job, struct str *out) {
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

/* The record that a failed one has failed by; NULL when it has left. */
static const struct core_job *culprit(struct core *core, const struct core_job *job,
                                      const struct depend *depend) {
    const struct core_array *array = array_find(core, depend->job_id);
    uint32_t task = depend->task;
    if (depend->kind == DEPEND_CORR && job->rec.array_task_id != UNSET32 && task == UNSET32)
        task = job->rec.array_task_id;
    if (array == NULL)
        return job_find(core, depend->job_id);
    if (task != UNSET32)
        return array_task(array, task);
    array_each(array, other) {
        if (depend_job_verdict(core, depend, other) == DEPEND_FAILED)
            return other;
    }
    return NULL;
}

void depend_print_cause(struct core *core, const struct core_job *job, const struct depend *depend,
                        struct str *out) {
    const struct core_job *target = culprit(core, job, depend);
    depend_print(depend, out);
    if (target == NULL && bygone_print_end(core, job, depend, out))
        return;
    if (target == NULL) {
        str_append(out, depend->task == UNSET32 && depend->whole_array
                            ? ": a task of the array did not end so"
                            : ": the job did not end so");
        return;
    }
    str_append(out, ": job ");
    job_id_print(&target->rec, 64, out);
    str_printf(out, " (%s) ended %s, exit code ", target->rec.name,
               names_text(&names_job_state, target->rec.state));
    exit_status_print(target->rec.exit_status, out);
}

/* ---- reading ---- */

static bool parse_target(const char *text, struct depend *depend) {
    char *end;
    text += strspn(text, " ");
    unsigned long id = strtoul(text, &end, 10);
    if (!isdigit((unsigned char) text[0]) || id == 0 || id > UINT32_MAX - 1)
        return false;
    depend->job_id = (uint32_t) id;
    depend->task = UNSET32;
    if (*end == '_' && end[1] == '*') {
        depend->whole_array = true;
        end += 2;
    } else if (*end == '_' && isdigit((unsigned char) end[1])) {
        unsigned long task = strtoul(end + 1, &end, 10);
        if (task > UINT32_MAX - 2)
            return false;
        depend->task = (uint32_t) task;
    }
    if (*end == '+' && depend->kind == DEPEND_AFTER && isdigit((unsigned char) end[1])) {
        unsigned long minutes = strtoul(end + 1, &end, 10);
        if (minutes > TIME_LATEST / 60)
            return false;
        depend->minutes = (uint32_t) min_of(minutes, (unsigned long) UINT32_MAX);
    }
    /* The form that is shown may be given back. */
    return *end == '\0' || strcmp(end, "(unfulfilled)") == 0 || strcmp(end, "(failed)") == 0;
}

/* Nobody here can tell what it has come to. */
static bool target_unknown(const struct core_array *array, const struct core_job *target,
                           const struct depend *depend) {
    if (array != NULL && depend->task != UNSET32)
        return array_task(array, depend->task) == NULL;
    return array == NULL && target == NULL;
}

static int take_bygone(struct depend *depend, const struct bygone_job *bygone, const char *word,
                       struct error *err) {
    if (depend->task != UNSET32 && !bygone->is_array)
        return problem(err, word, "that job is not an array");
    depend->whole_array = bygone->is_array && depend->task == UNSET32;
    depend->start = bygone->start;
    return 0;
}

static int refuse_unknown(const struct core *core, const char *word, bool of_task,
                          struct error *err) {
    const char *what = of_task ? "no task of that number is known any more"
                               : "no job of that id is known any more";
    if (core->bygone == NULL || core->bygone->problem == NULL)
        return problem(err, word, what);
    return error_set(err, ERR_DEPENDENCY, "dependency %s: %s here, and %s", word, what,
                     core->bygone->problem);
}

/* A task may wait for another of its array; a record of several for none of its own. */
static bool waits_for_itself(const struct core_job *job, const struct depend *depend) {
    if (job->rec.array_job_id == 0 || depend->job_id != job->rec.array_job_id)
        return depend->job_id == job->rec.job_id;
    return depend->task == UNSET32 || depend->task == job->rec.array_task_id ||
           idset_contains(&job->tasks, depend->task);
}

static int check_target(struct core *core, struct core_job *job, struct depend *depend,
                        const char *word, struct error *err) {
    const struct core_array *array = array_find(core, depend->job_id);
    struct core_job *target = job_find(core, depend->job_id);
    if (waits_for_itself(job, depend))
        return problem(err, word, "a job cannot wait for itself");
    if (depend->task != UNSET32 && array == NULL && target != NULL)
        return problem(err, word, "that job is not an array");
    depend->unknown = target_unknown(array, target, depend);
    const struct bygone_job *bygone = depend->unknown ? bygone_find(core, depend) : NULL;
    if (bygone != NULL)
        return take_bygone(depend, bygone, word, err);
    if (depend->unknown && (depend->kind == DEPEND_OK || depend->kind == DEPEND_NOT_OK))
        return refuse_unknown(core, word, depend->task != UNSET32 && array != NULL, err);
    if (array != NULL && depend->task == UNSET32 && target != NULL &&
        target->rec.array_job_id == depend->job_id)
        depend->whole_array = true;
    return 0;
}

/* Said before? Of many only the last are looked at. */
#define SAID_LOOKED_AT 64

/* `stored`: as written by ourselves. What has failed stays so, though its job has left, and nothing
 * needs to be checked any more. */
struct depend_list {
    vec(struct depend) all;
    bool stored;
};

static bool said_before(const struct depend_list *list, const struct depend *depend) {
    for (size_t i = list->all.n, n = 0; i > 0 && n < SAID_LOOKED_AT; i--, n++) {
        const struct depend *other = &list->all.items[i - 1];
        if (other->kind == depend->kind && other->job_id == depend->job_id &&
            other->task == depend->task && other->minutes == depend->minutes)
            return true;
    }
    return false;
}

static int parse_kind(const char *word, const char *whole, enum depend_kind *ret,
                      struct error *err) {
    size_t length = strcspn(word, "(");
    for (size_t i = 0; i < countof(kinds); i++) {
        if (strlen(kinds[i].name) == length && strncasecmp(kinds[i].name, word, length) == 0) {
            *ret = kinds[i].kind;
            return 0;
        }
    }
    if (str_equal_nocase(word, "expand"))
        return error_set(
            err, ERR_NOT_SUPPORTED,
            "dependency %s: a running job takes no nodes in; ask for what is needed in "
            "one job, and give back with scontrol update NumNodes= what is not needed "
            "any more",
            whole);
    return problem(err, whole,
                   "the type must be after, afterany, afterok, afternotok, aftercorr, "
                   "afterburstbuffer or singleton");
}

static int parse_targets(struct core *core, struct core_job *job, char *targets,
                         const struct depend *form, const char *whole, struct depend_list *list,
                         struct error *err) {
    words_each (targets, ":", id) {
        struct depend one = *form;
        if (!parse_target(id, &one))
            return problem(err, whole, "not a job id");
        int r = list->stored ? 0 : check_target(core, job, &one, whole, err);
        if (r < 0)
            return r;
        if (list->stored && strstr(id, "(failed)") != NULL)
            one.state = DEPEND_FAILED;
        if (list->stored)
            one.unknown =
                target_unknown(array_find(core, one.job_id), job_find(core, one.job_id), &one);
        if (said_before(list, &one))
            continue;
        vec_push(&list->all, one);
        if (list->all.n > DEPENDS_MAX)
            return error_set(err, ERR_DEPENDENCY, "more than %d jobs to wait for", DEPENDS_MAX);
    }
    return 0;
}

static int parse_word(struct core *core, struct core_job *job, char *word, struct depend_list *list,
                      struct error *err) {
    cleanup_free char *whole = xstrdup(word);
    char *colon = strchr(word, ':');
    struct depend depend = {.kind = DEPEND_ANY, .task = UNSET32};
    char *targets = word; /* a bare id: afterany, whatever precedes */
    if (!isdigit((unsigned char) word[0])) {
        if (colon != NULL)
            *colon = '\0';
        int r = parse_kind(word, whole, &depend.kind, err);
        if (r < 0)
            return r;
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
    return parse_targets(core, job, targets, &depend, whole, list, err);
}

/* ---- taking it ---- */

/* On an error the list is empty. */
static int depend_read(struct core *core, struct core_job *job, const char *text,
                       struct depend_list *list, struct error *err) {
    struct str circle cleanup_str = STR_INIT;
    int r = 0;
    bool any = strchr(text, '?') != NULL;
    if (any && strchr(text, ',') != NULL)
        return problem(err, text, "use either , (all) or ? (any), not both");
    size_t length = strlen(text);
    if (length > 0 && (strchr(",?", text[0]) != NULL || strchr(",?", text[length - 1]) != NULL ||
                       strstr(text, ",,") != NULL || strstr(text, "??") != NULL))
        return problem(err, text, "a word is missing beside a separator");
    words_each (text, ",?", word) {
        if (r == 0)
            r = parse_word(core, job, word, list, err);
    }
    bool known = job_find(core, job->rec.job_id) == job;
    if (r == 0 && !list->stored && known &&
        depend_circle(core, job, list->all.items, list->all.n, &circle))
        r = error_set(err, ERR_DEPENDENCY, "dependency %s: the jobs would wait for each other: %s",
                      text, str_cstr(&circle));
    if (r < 0)
        vec_done(&list->all);
    return r;
}

static int depend_take(struct core *core, struct core_job *job, const char *text, bool stored,
                       struct error *err) {
    struct depend_list list = {.stored = stored};
    int r = depend_read(core, job, text, &list, err);
    if (r < 0)
        return r;
    free(job->depends);
    list_remove(&job->depending);
    job->depends = list.all.items;
    job->n_depends = list.all.n;
    job->depends_any = strchr(text, '?') != NULL;
    job->corr_wanted = true;
    if (list.all.n == 0)
        string_set(&job->rec.dependency, NULL);
    if (!stored)
        string_set(&job->rec.depend_cause, NULL);
    if (core->bygone != NULL) /* what is known now decides, also where nobody else would look yet */
        depend_note_itself(core, job);
    return 0;
}

void depends_unknown(struct core *core, const char *text, bygone_ids *ret) {
    struct depend_list list = {.stored = true};
    int r = 0;
    words_each (text, ",?", word) {
        if (r == 0)
            r = parse_word(core, NULL, word, &list, NULL);
    }
    vec_each (&list.all, depend) {
        const struct core_array *array = array_find(core, depend->job_id);
        bool forgotten = depend->kind == DEPEND_CORR && array != NULL && array->past != 0;
        if (r == 0 && depend->kind != DEPEND_SINGLETON && (depend->unknown || forgotten) &&
            ret->n < BYGONE_JOBS_MAX)
            vec_push(ret, depend->job_id);
    }
    vec_done(&list.all);
}

int depend_parse(struct core *core, struct core_job *job, const char *text, struct error *err) {
    return depend_take(core, job, text, false, err);
}

int depend_validate(struct core *core, struct core_job *job, const char *text, struct error *err) {
    struct depend_list list = {.stored = false};
    int r = depend_read(core, job, text, &list, err);
    if (r == 0)
        vec_done(&list.all);
    return r;
}

static void restore_starts(struct core_job *job) {
    for (uint32_t i = 0; i < job->rec.depend_starts.n; i++) {
        const struct depend_start *known = &job->rec.depend_starts.items[i];
        for (size_t k = 0; k < job->n_depends; k++) {
            struct depend *depend = &job->depends[k];
            if (depend->kind == DEPEND_AFTER && depend->minutes > 0 &&
                depend->job_id == known->job_id && depend->task == known->task)
                depend->start = known->start;
        }
    }
}

void depend_restore(struct core *core, struct core_job *job) {
    if (job->rec.dependency != NULL && depend_take(core, job, job->rec.dependency, true, NULL) < 0)
        string_set(&job->rec.dependency, NULL);
    restore_starts(job);
    depends_index(core, job);
}
