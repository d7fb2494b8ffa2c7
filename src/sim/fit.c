/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration makes of the requests of a trace from elsewhere. */
#include "sim/fit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "text/constraint.h"
#include "text/duration.h"
#include "text/hostlist.h"

/* ---- notes ---- */

void sim_notes_done(struct sim_notes *notes) {
    vec_each (&notes->items, note) {
        free(note->what);
    }
    vec_done(&notes->items);
}

void sim_notes_add(struct sim_notes *notes, enum sim_note_kind kind, const struct trace_job *job,
                   const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    cleanup_free char *what = xvasprintf(fmt, args);
    va_end(args);
    struct sim_note *note = NULL;
    notes->n_refused += kind == SIM_NOTE_REFUSED;
    notes->n_waiting += kind == SIM_NOTE_WAITS;
    vec_each (&notes->items, at) {
        if (at->kind == kind && str_equal(at->what, what))
            note = at;
    }
    if (note == NULL) {
        note = vec_add(&notes->items);
        *note = (struct sim_note) {kind, take(what), 0, job->id, job->user, false};
    }
    note->n++;
    note->several_users |= !str_equal(note->user, job->user);
}

static int note_compare(const void *a, const void *b) {
    const struct sim_note *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind > y->kind ? -1 : 1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void notes_sort(struct sim_notes *notes) {
    if (notes->items.n > 1)
        qsort(notes->items.items, notes->items.n, sizeof(struct sim_note), note_compare);
}

static void note_print(const struct sim_note *note, struct str *out) {
    static const char *const heads[] = {
        [SIM_NOTE_CHANGED] = "changed", [SIM_NOTE_REFUSED] = "refused", [SIM_NOTE_WAITS] = "never"};
    str_printf(out, "%s: %llu job%s (%s%llu of %s%s): %s", heads[note->kind],
               (unsigned long long) note->n, note->n == 1 ? "" : "s", note->n == 1 ? "" : "first ",
               (unsigned long long) note->first, note->user,
               note->several_users ? " and others" : "", note->what);
}

void sim_notes_print(struct sim_notes *notes, struct str *out) {
    notes_sort(notes);
    vec_each (&notes->items, note) {
        note_print(note, out);
        str_append_char(out, '\n');
    }
}

void sim_notes_json(struct sim_notes *notes, const char *key, struct json *json) {
    notes_sort(notes);
    json_array(json, key);
    vec_each (&notes->items, note) {
        struct str text cleanup_str = STR_INIT;
        note_print(note, &text);
        json_text(json, NULL, text.data);
    }
    json_end(json);
}

/* ---- the configuration ---- */

uint32_t sim_conf_cpus(const struct conf *conf) {
    uint64_t cpus = 0;
    for (size_t i = 0; i < conf->n_nodes; i++) {
        bool used = false;
        for (size_t p = 0; p < conf->n_partitions && !used; p++)
            used = bits_test(&conf->partitions[p].nodes, i);
        cpus += used ? conf->nodes[i].cpus : 0;
    }
    return (uint32_t) min_of(cpus, (uint64_t) UINT32_MAX);
}

/* ---- names that exist ---- */

static void name_add(struct sim_fit *fit, struct smap *set, char *name) {
    text_lower(name);
    if (smap_get(set, name) != NULL) {
        free(name);
        return;
    }
    vec_push(&fit->texts, name);
    smap_put(set, name, name);
}

static bool name_known(const struct smap *set, const char *name) {
    cleanup_free char *lower = xstrdup(name);
    text_lower(lower);
    return smap_get(set, lower) != NULL;
}

static void node_names_add(struct sim_fit *fit, const struct conf_node *node) {
    cleanup_free char *features = xstrdup(node->features != NULL ? node->features : "");
    char *cursor = features;
    for (char *name = str_next_word(&cursor, ","); name != NULL; name = str_next_word(&cursor, ","))
        name_add(fit, &fit->features, xstrdup(name));
    for (size_t i = 0; node->gres != NULL && i < node->gres->n; i++) {
        const struct gres_item *item = &node->gres->items[i];
        name_add(fit, &fit->gres, xstrdup(item->name));
        if (item->type != NULL)
            name_add(fit, &fit->gres, xasprintf("%s:%s", item->name, item->type));
    }
}

void sim_fit_init(struct sim_fit *fit, const struct conf *conf, struct sim_notes *notes) {
    *fit = (struct sim_fit) {.conf = conf, .notes = notes};
    for (size_t i = 0; i < conf->n_nodes; i++)
        node_names_add(fit, &conf->nodes[i]);
    const struct conf_partition *first = conf_partition_default(conf);
    if (first == NULL && conf->n_partitions > 0)
        first = &conf->partitions[0];
    fit->partition = first != NULL ? first->name : NULL;
}

void sim_fit_done(struct sim_fit *fit) {
    smap_done(&fit->features);
    smap_done(&fit->gres);
    vec_each (&fit->texts, text) {
        free(*text);
    }
    vec_done(&fit->texts);
}

/* ---- one request ---- */

struct fitting {
    struct sim_fit *fit;
    const struct trace_job *job;
    struct job_request *request;
};

#define NOTE(f, ...) sim_notes_add((f)->fit->notes, SIM_NOTE_CHANGED, (f)->job, __VA_ARGS__)

static void drop_text(const struct fitting *f, char **text, const char *option) {
    if (*text == NULL)
        return;
    NOTE(f, "%s %s has no meaning in a replay and is left out", option, *text);
    string_set(text, NULL);
}

static void fit_partition(const struct fitting *f) {
    struct job_request *r = f->request;
    struct str known cleanup_str = STR_INIT;
    cleanup_free char *copy = xstrdup(r->partition != NULL ? r->partition : "");
    char *cursor = copy;
    for (char *name = str_next_word(&cursor, ","); name != NULL; name = str_next_word(&cursor, ","))
        if (conf_partition_find(f->fit->conf, name) != NULL)
            str_join(&known, ",", name);
    if (known.length == 0 && copy[0] != '\0')
        NOTE(f, "there is no partition %s: %s is taken", copy, f->fit->partition);
    string_set(&r->partition, known.length > 0 ? known.data : f->fit->partition);
}

/* A name that a partition does not let in becomes the first that it does. */
static void fit_word(const struct fitting *f, char **word, const char *what, const char *allowed,
                     const char *denied) {
    bool out = allowed != NULL && !str_has_word_nocase(allowed, *word, ",");
    bool shut = denied != NULL && str_has_word_nocase(denied, *word, ",");
    if (!out && !shut)
        return;
    cleanup_free char *first = xstrdup(allowed != NULL ? allowed : "");
    first[strcspn(first, ",")] = '\0';
    const char *taken = first[0] != '\0' ? first : shut ? NULL : *word;
    NOTE(f, "partition %s does not take %s %s: %s is taken", f->request->partition, what,
         *word != NULL ? *word : "(none)", taken != NULL ? taken : "none");
    string_set(word, taken);
}

static void fit_access(const struct fitting *f) {
    const struct conf_partition *part = conf_partition_find(
        f->fit->conf, str_equal(f->request->partition, NULL) ? "" : f->request->partition);
    if (part == NULL) /* several: what one of them refuses is a refusal */
        return;
    cleanup_free char *qos = xstrdup(f->request->qos != NULL ? f->request->qos : "normal");
    bool had_qos = f->request->qos != NULL;
    char *word = take(qos);
    if (had_qos || part->allow_qos != NULL || part->deny_qos != NULL) {
        fit_word(f, &word, "QOS", part->allow_qos, part->deny_qos);
        string_set(&f->request->qos, word);
    }
    free(word);
    if (part->allow_accounts != NULL || part->deny_accounts != NULL)
        fit_word(f, &f->request->account, "account", part->allow_accounts, part->deny_accounts);
}

struct feature_search {
    const struct sim_fit *fit;
    char *unknown;
};

static void feature_look(const char *name, void *context) {
    struct feature_search *search = context;
    if (search->unknown == NULL && smap_get(&search->fit->features, name) == NULL &&
        !name_known(&search->fit->features, name))
        search->unknown = xstrdup(name);
}

static void fit_features(const struct fitting *f, char **text, const char *option) {
    struct constraint *constraint = NULL;
    struct feature_search search = {f->fit, NULL};
    if (*text == NULL || constraint_parse(*text, &constraint, NULL) < 0)
        return;
    constraint_names(constraint, feature_look, &search);
    constraint_free(constraint);
    if (search.unknown == NULL)
        return;
    NOTE(f, "no node has the feature %s: %s=%s is left out", search.unknown, option, *text);
    free(search.unknown);
    string_set(text, NULL);
}

/* Nodes that are not here; of --exclude only those go, of --nodelist all do. */
static void fit_nodes(const struct fitting *f, char **text, const char *option, bool keep_rest) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct hostlist known cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT;
    if (*text == NULL || hostlist_parse(&names, *text, NULL) < 0)
        return;
    for (size_t i = 0; i < names.n; i++)
        if (conf_node_find(f->fit->conf, names.names[i]) != NULL)
            hostlist_push(&known, names.names[i]);
    if (known.n == names.n)
        return;
    NOTE(f, "%s=%s names nodes that are not here: left out", option, *text);
    hostlist_fold(&known, &folded);
    string_set(text, keep_rest && folded.length > 0 ? folded.data : NULL);
}

static void fit_gres(const struct fitting *f, char **text) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    struct str out cleanup_str = STR_INIT;
    bool changed = false;
    if (*text == NULL || gres_parse(*text, &list, NULL) < 0)
        return;
    for (size_t i = 0; i < list.n; i++) {
        struct gres_item *item = &list.items[i];
        cleanup_free char *full =
            xasprintf("%s:%s", item->name, item->type != NULL ? item->type : "");
        bool cpu = str_equal_nocase(item->name, "cpu");
        bool known = cpu || name_known(&f->fit->gres, item->name);
        bool typed = item->type != NULL;
        bool type_known = !typed || name_known(&f->fit->gres, full);
        /* A part of a type's name stands for it, as it does for the controller. */
        for (size_t k = 0; typed && !type_known && k < f->fit->texts.n; k++) {
            const char *have = f->fit->texts.items[k];
            size_t n = strlen(item->name);
            type_known = strncasecmp(have, item->name, n) == 0 && have[n] == ':' &&
                         strcasestr(have + n + 1, item->type) != NULL;
        }
        if (!known)
            NOTE(f, "no node has %s: %s is left out", item->name, *text);
        else if (!type_known)
            NOTE(f, "no node has %s: any %s is taken", full, item->name);
        changed |= !known || !type_known;
        if (known)
            str_printf(&out, "%sgres/%s%s%s:%llu", out.length > 0 ? "," : "", item->name,
                       typed && type_known ? ":" : "", typed && type_known ? item->type : "",
                       (unsigned long long) item->count);
    }
    if (changed)
        string_set(text, out.length > 0 ? out.data : NULL);
}

static void fit_licenses(const struct fitting *f) {
    struct gres_list have cleanup_gres_list = GRES_LIST_INIT;
    struct gres_list want cleanup_gres_list = GRES_LIST_INIT;
    char **text = &f->request->licenses;
    if (*text == NULL || licenses_parse(*text, &want, NULL) < 0)
        return;
    if (f->fit->conf->licenses != NULL && licenses_parse(f->fit->conf->licenses, &have, NULL) < 0)
        return;
    for (size_t i = 0; i < want.n; i++) {
        bool known = false;
        for (size_t k = 0; k < have.n; k++)
            known |= str_equal(have.items[k].name, want.items[i].name);
        if (known)
            continue;
        NOTE(f, "there is no license %s: --licenses=%s is left out", want.items[i].name, *text);
        string_set(text, NULL);
        return;
    }
}

/* "afterok:12:13,afterany:14" with the ids of this run. A word without any known job goes. */
static void fit_dependency(const struct fitting *f, const struct map *ids) {
    char **text = &f->request->dependency;
    struct str out cleanup_str = STR_INIT;
    if (*text == NULL)
        return;
    cleanup_free char *copy = xstrdup(*text);
    char separator = strchr(copy, '?') != NULL ? '?' : ',';
    char *cursor = copy;
    bool lost = false;
    for (char *word = str_next_word(&cursor, ",?"); word != NULL;
         word = str_next_word(&cursor, ",?")) {
        struct str one cleanup_str = STR_INIT;
        char *parts = word, *kind = str_next_word(&parts, ":");
        bool any = str_equal_nocase(kind, "singleton");
        str_append(&one, kind);
        for (char *id = str_next_word(&parts, ":"); id != NULL; id = str_next_word(&parts, ":")) {
            uint64_t number = strtoull(id, NULL, 10);
            uintptr_t here = (uintptr_t) map_get(ids, number);
            const char *minutes = strchr(id, '+');
            lost |= here == 0;
            any |= here != 0;
            if (here != 0)
                str_printf(&one, ":%lu%s", (unsigned long) here, minutes != NULL ? minutes : "");
        }
        if (any)
            str_printf(&out, "%.*s%s", out.length > 0, &separator, str_cstr(&one));
    }
    if (lost)
        NOTE(f, "a dependency on a job that is not in the trace before it is left out");
    string_set(text, out.length > 0 ? out.data : NULL);
}

/* A trace that says nothing of memory means that memory was no matter; where nothing is configured
 * either, sbatch's default would be whole nodes. */
static void fit_memory(const struct fitting *f) {
    struct job_request *r = f->request;
    const struct conf *conf = f->fit->conf;
    const struct conf_partition *part =
        r->partition != NULL ? conf_partition_find(conf, r->partition) : NULL;
    bool configured = conf->def_mem_per_cpu != CONF_UNSET || conf->def_mem_per_node != CONF_UNSET;
    if (part != NULL)
        configured |= part->def_mem_per_cpu != CONF_UNSET || part->def_mem_per_node != CONF_UNSET;
    if (!configured)
        r->mem_per_cpu = 1;
}

static struct job_request *request_of_sizes(const struct trace_job *job) {
    struct job_request *request = zalloc(struct job_request);
    record_init(&record_job_request, request);
    request->ntasks = job->procs;
    request->cpus_per_task = 1;
    request->time_limit = (uint32_t) min_of((job->est + 59) / 60, (int64_t) MINUTES_INFINITE - 1);
    return request;
}

/* What says how the job was submitted, not what it needs. */
static void fit_submission(const struct fitting *f, int64_t offset) {
    struct job_request *r = f->request;
    r->kind = JOB_KIND_BATCH;
    r->requested_priority = r->immediate = r->run_as_uid = r->run_as_gid = UNSET32;
    r->no_shell = r->hold = false;
    r->mail_type = 0;
    if (r->begin_time > 0)
        r->begin_time += offset;
    if (r->deadline > 0)
        r->deadline += offset;
    if (r->nice < 0) {
        NOTE(f, "a negative --nice is left out");
        r->nice = 0;
    }
    drop_text(f, &r->reservation, "reservation");
    drop_text(f, &r->container, "container");
    if (r->array_spec != NULL) {
        NOTE(f, "an array is replayed as one job: the trace has one run of it");
        string_set(&r->array_spec, NULL);
    }
}

struct job_request *sim_fit_request(struct sim_fit *fit, const struct trace_job *job,
                                    const struct map *ids, int64_t offset) {
    struct fitting f = {fit, job, NULL};
    f.request = job->request != NULL ? record_dup(&record_job_request, job->request)
                                     : request_of_sizes(job);
    fit_submission(&f, offset);
    fit_partition(&f);
    fit_access(&f);
    fit_features(&f, &f.request->features, "--constraint");
    fit_features(&f, &f.request->prefer, "--prefer");
    fit_nodes(&f, &f.request->req_nodes, "--nodelist", false);
    fit_nodes(&f, &f.request->exc_nodes, "--exclude", true);
    fit_gres(&f, &f.request->tres_per_node);
    fit_gres(&f, &f.request->tres_per_job);
    fit_gres(&f, &f.request->tres_per_task);
    fit_gres(&f, &f.request->tres_per_socket);
    fit_licenses(&f);
    fit_dependency(&f, ids);
    if (job->request == NULL)
        fit_memory(&f);
    return f.request;
}
