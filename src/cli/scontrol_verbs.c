/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol's verbs: hold, release, requeue, suspend and their kin; messages to jobs and daemons. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/list_jobs.h"
#include "cli/scontrol.h"
#include "text/idset.h"

/* "12_[1-3%2]", "12_4": the array's id and its tasks. False for other jobs. */
static bool task_result(const struct job_result *result, uint32_t *ret_id, struct idset *ret) {
    char *end;
    uint32_t limit;
    unsigned long id = strtoul(result->id ? result->id : "", &end, 10);
    if (*end != '_' || id == 0 || id > UINT32_MAX ||
        idset_parse(ret, end + 1, UINT32_MAX - 2, &limit, NULL) < 0)
        return false;
    *ret_id = (uint32_t) id;
    return true;
}

/* What is wrong with tasks of an array is said once for all of them: "12_1-5: text". Returns the
 * first result after them; `at` when that is no task. */
static uint32_t tasks_complain(const struct job_results *results, uint32_t at) {
    struct idset all cleanup_idset = IDSET_INIT;
    struct str text cleanup_str = STR_INIT;
    uint32_t array = 0, code = results->items.items[at].code, next = at;
    for (; next < results->items.n && results->items.items[next].code == code; next++) {
        struct idset tasks cleanup_idset = IDSET_INIT;
        uint32_t id, task = 0;
        if (!task_result(&results->items.items[next], &id, &tasks) || (array && id != array))
            break;
        array = id;
        if (!all.n)
            idset_copy(&all, &tasks);
        for (bool more = idset_next(&tasks, 0, &task); more;
             more = idset_next(&tasks, task + 1, &task))
            idset_add(&all, task);
    }
    if (next > at) {
        idset_print(&all, &text, 0);
        fprintf(stderr, "%u_%s: %s\n", array, str_cstr(&text), error_text((int) code));
    }
    return next;
}

int scontrol_job_results(const struct job_results *results, const char *what, bool reasons) {
    int status = 0;
    uint32_t said = 0;
    for (uint32_t i = 0; i < results->items.n; i++) {
        const struct job_result *result = &results->items.items[i];
        /* Something to know about what was done, or why it was not. */
        if (result->detail != NULL && (result->code == 0 || reasons))
            fprintf(stderr, "job %s: %s\n", result->id ? result->id : "", result->detail);
        if (result->code == 0 || i < said)
            continue;
        status = 1;
        said = tasks_complain(results, i);
        if (said > i)
            continue;
        const char *text = error_text((int) result->code);
        fprintf(stderr, "%s for job %s\n", text, result->id ? result->id : "");
        if (what)
            fprintf(stderr, "%s error: %s\n", what, text);
    }
    return status;
}

/* ---- verbs on jobs ---- */
struct verb {
    enum job_verb verb;
    const char *keyword;
    const char *what; /* second line of a complaint, or NULL */
};

static int results_ask(struct scontrol *scontrol, const struct job_verb_request *request,
                       const char *what, const char *subject) {
    const struct job_results *results;
    struct error err = ERROR_INIT;
    if (list_ask(&scontrol->session, MSG_JOB_VERB, request, MSG_JOB_RESULTS,
                 (const void **) &results, &err) < 0) {
        const char *text = error_text(err.code);
        fprintf(stderr, "%s for job %s\n", text, subject);
        if (what)
            fprintf(stderr, "%s error: %s\n", what, text);
        return 1;
    }
    return scontrol_job_results(results, what, true);
}

/* "name=x" and "jobname=x" choose one's own jobs of that name. */
static const char *name_choice(const char *word) {
    static const char *const keys[] = {"name=", "jobname="};
    for (size_t i = 0; i < countof(keys); i++) {
        if (str_starts_nocase(word, keys[i]))
            return word + strlen(keys[i]);
    }
    return NULL;
}

/* "jobid=12" is 12. */
static const char *id_value(const char *word) {
    static const char *const keys[] = {"jobid=", "job="};
    for (size_t i = 0; i < countof(keys); i++) {
        if (str_starts_nocase(word, keys[i]))
            return word + strlen(keys[i]);
    }
    return word;
}

static int verb_by_name(struct scontrol *scontrol, const struct verb *verb, const char *name,
                        const char *options) {
    struct job_verb_request request;
    struct job_select select;
    record_init(&record_job_verb_request, &request);
    record_init(&record_job_select, &select);
    select.name = (char *) (uintptr_t) name;
    if (getuid())
        select.uid = getuid();
    request.verb = verb->verb;
    request.select = &select;
    request.options = (char *) (uintptr_t) options;
    return results_ask(scontrol, &request, verb->what, name);
}

/* Ids that are none are told from those that are, as the controller would have it. */
static int ids_check(struct strs *ids, const char *what) {
    int status = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ids->n; i++) {
        if (job_id_is_valid(ids->items[i])) {
            ids->items[n++] = ids->items[i];
            continue;
        }
        const char *text = error_text(ERR_INVALID_JOB_ID);
        fprintf(stderr, "%s for job %s\n", text, ids->items[i]);
        if (what)
            fprintf(stderr, "%s error: %s\n", what, text);
        free(ids->items[i]);
        status = 1;
    }
    ids->n = n;
    return status;
}

static int verb_run(struct scontrol *scontrol, const struct verb *verb, int argc, char **argv,
                    const char *options) {
    struct strs ids = {NULL, 0};
    int status = 0;
    if (argc < 1) {
        fprintf(stderr, "too few arguments for keyword:%s\n", verb->keyword);
        return 1;
    }
    for (int i = 0; i < argc; i++) {
        const char *name = name_choice(argv[i]);
        if (name)
            status |= verb_by_name(scontrol, verb, name, options);
        else
            strs_split(&ids, id_value(argv[i]));
    }
    status |= ids_check(&ids, verb->what);
    if (ids.n) {
        struct job_verb_request request;
        struct job_select select;
        record_init(&record_job_verb_request, &request);
        record_init(&record_job_select, &select);
        select.ids = ids;
        request.verb = verb->verb;
        request.select = &select;
        request.options = (char *) (uintptr_t) options;
        status |= results_ask(scontrol, &request, verb->what, ids.items[0]);
    }
    strs_done(&ids);
    return status;
}

#define SUSPEND_ERROR "slurm_suspend"
int scontrol_hold(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_HOLD, "hold", SUSPEND_ERROR};
    return verb_run(scontrol, &verb, argc, argv, NULL);
}
int scontrol_uhold(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_UHOLD, "uhold", SUSPEND_ERROR};
    return verb_run(scontrol, &verb, argc, argv, NULL);
}
int scontrol_release(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_RELEASE, "release", SUSPEND_ERROR};
    return verb_run(scontrol, &verb, argc, argv, NULL);
}
int scontrol_suspend(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_SUSPEND, "suspend", NULL};
    return verb_run(scontrol, &verb, argc, argv, NULL);
}
int scontrol_resume(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_RESUME, "resume", NULL};
    return verb_run(scontrol, &verb, argc, argv, NULL);
}
int scontrol_top(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_TOP, "top", NULL};
    return verb_run(scontrol, &verb, argc, argv, NULL);
}

/* "Incomplete" and "State=SpecialExit" may stand before the jobs. */
static int requeue_run(struct scontrol *scontrol, const struct verb *verb, int argc, char **argv) {
    struct str options cleanup_str = STR_INIT;
    while (argc > 0) {
        if (!strcasecmp(argv[0], "incomplete"))
            str_join(&options, ",", "incomplete");
        else if (str_starts_nocase(argv[0], "state="))
            str_join(&options, ",", "specialexit");
        else
            break;
        argc--;
        argv++;
    }
    return verb_run(scontrol, verb, argc, argv, options.length ? str_cstr(&options) : NULL);
}
int scontrol_requeue(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_REQUEUE, "requeue", NULL};
    return requeue_run(scontrol, &verb, argc, argv);
}
int scontrol_requeue_hold(struct scontrol *scontrol, int argc, char **argv) {
    static const struct verb verb = {VERB_REQUEUE_HOLD, "requeuehold", NULL};
    return requeue_run(scontrol, &verb, argc, argv);
}

/* ---- notify ---- */
int scontrol_notify(struct scontrol *scontrol, int argc, char **argv) {
    struct job_verb_request request;
    struct job_select select;
    struct str text cleanup_str = STR_INIT;
    const struct job_results *results;
    struct error err = ERROR_INIT;
    if (argc < 2) {
        fputs("too few arguments for keyword:notify\n", stderr);
        return 1;
    }
    for (int i = 1; i < argc; i++)
        str_join(&text, " ", argv[i]);
    record_init(&record_job_verb_request, &request);
    record_init(&record_job_select, &select);
    char *id = (char *) (uintptr_t) id_value(argv[0]);
    select.ids = (struct strs) {&id, 1};
    request.verb = VERB_NOTIFY;
    request.select = &select;
    request.text = text.data;
    int result = list_ask(&scontrol->session, MSG_JOB_VERB, &request, MSG_JOB_RESULTS,
                          (const void **) &results, &err);
    int code = result < 0 ? err.code : 0;
    for (uint32_t i = 0; result == 0 && i < results->items.n; i++) {
        if (results->items.items[i].code)
            code = (int) results->items.items[i].code;
    }
    if (code)
        fprintf(stderr, "job notify failure: %s\n", error_text(code));
    return code != 0;
}

/* ---- write batch_script ---- */
static int script_write(struct scontrol *scontrol, const struct job_script *script,
                        const char *path) {
    if (!strcmp(path, "-")) {
        str_append_bytes(&scontrol->out, script->script.data, script->script.size);
        return 0;
    }
    /* 0700 as the script may hold secrets; it is made to be run again. */
    cleanup_fd int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
    size_t done = 0;
    while (fd >= 0 && done < script->script.size) {
        ssize_t n = write(fd, script->script.data + done, script->script.size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        done += (size_t) n;
    }
    if (fd < 0 || done < script->script.size) {
        fprintf(stderr, "failed to open/write to file %s: %s\n", path, strerror(errno));
        return 1;
    }
    return 0;
}

static int write_script(struct scontrol *scontrol, int argc, char **argv) {
    struct job_script request;
    const struct job_script *script;
    struct error err = ERROR_INIT;
    uint64_t job_id;
    if (argc < 1) {
        fputs("too few arguments for keyword:write\n", stderr);
        return 1;
    }
    const char *id = id_value(argv[0]);
    record_init(&record_job_script, &request);
    if (!str_to_u64(id, &job_id) || job_id == 0 || job_id >= UINT32_MAX) {
        fprintf(stderr, "invalid job_id: %s\n", id);
        return 1;
    }
    request.job_id = (uint32_t) job_id;
    if (list_ask(&scontrol->session, MSG_GET_SCRIPT, &request, MSG_JOB_SCRIPT,
                 (const void **) &script, &err) < 0) {
        fprintf(stderr, "job script retrieval failed: %s\n", error_text(err.code));
        return 1;
    }
    cleanup_free char *path =
        argc > 1 ? xstrdup(argv[1]) : xasprintf("slurm-%u.sh", request.job_id);
    int status = script_write(scontrol, script, path);
    if (status == 0 && strcmp(path, "-") != 0 && !scontrol->quiet)
        str_printf(&scontrol->out, "batch script for job %u written to %s\n", request.job_id, path);
    return status;
}

int scontrol_write(struct scontrol *scontrol, int argc, char **argv) {
    if (argc < 1) {
        fputs("too few arguments for keyword:write\n", stderr);
        return 1;
    }
    if (!strcasecmp(argv[0], "batch_script"))
        return write_script(scontrol, argc - 1, argv + 1);
    fprintf(stderr, "invalid write argument:%s\n", argv[0]);
    return 1;
}

/* ---- wait_job ---- */
#define WAIT_POLL_USEC 250000

int scontrol_wait_job(struct scontrol *scontrol, int argc, char **argv) {
    if (argc < 1) {
        fputs("too few arguments for keyword:wait_job\n", stderr);
        return 1;
    }
    char *id = (char *) (uintptr_t) id_value(argv[0]);
    for (;;) {
        struct list_request request;
        struct rows rows = {NULL, 0, 0};
        struct error err = ERROR_INIT;
        record_init(&record_list_request, &request);
        request.job_ids = (struct strs) {&id, 1};
        request.all = true;
        int result = list_jobs(&scontrol->session, &request, &rows, &err);
        const struct job *job = result == 0 && rows.n ? rows.items[0] : NULL;
        bool failed = !job || job_state_is_final(job->state);
        bool ready = job && job->state == JOB_RUNNING && !(job->flags & JOB_FLAG_CONFIGURING);
        rows_done(&rows);
        list_session_close(&scontrol->session);
        if (failed || ready) {
            fprintf(stderr,
                    failed ? "scontrol: Problem running job %s\n"
                           : "scontrol: Nodes are ready for job %s\n",
                    id);
            return failed;
        }
        usleep(WAIT_POLL_USEC);
    }
}

/* ---- daemons ---- */
static int daemon_ask(struct scontrol *scontrol, uint16_t type, const char *what) {
    struct empty empty = {false};
    struct error err = ERROR_INIT;
    if (list_ask(&scontrol->session, type, &empty, MSG_OK, NULL, &err) == 0)
        return 0;
    /* A configuration with errors comes with one line for each. */
    if (!str_equal(err.text, error_text(err.code))) {
        char *cursor = err.text, *line;
        while ((line = str_next_word(&cursor, "\n")))
            fprintf(stderr, "scontrol: note: %s\n", line);
    }
    fprintf(stderr, "%s error: %s\n", what, error_text(err.code));
    return 1;
}

int scontrol_reconfigure(struct scontrol *scontrol, int argc, char **argv) {
    return daemon_ask(scontrol, MSG_RECONFIGURE, "slurm_reconfigure");
}

int scontrol_shutdown(struct scontrol *scontrol, int argc, char **argv) {
    return daemon_ask(scontrol, MSG_SHUTDOWN, "slurm_shutdown");
}
