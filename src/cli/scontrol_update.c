/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol update, create, delete: key=value words become a request; what a key means and who may
 * change it is the controller's business. Here are the classic words for what it answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/list_jobs.h"
#include "cli/scontrol.h"
#include "text/duration.h"

/* The key that picks what is updated: the first of these in the command. `least` letters tell. */
struct entity_key {
    const char *key;
    size_t least;
    const char *entity;
};
static const struct entity_key entity_keys[] = {
    {"NodeName", 3, "node"}, {"PartitionName", 3, "partition"},
    {"JobId", 3, "job"},     {"JobName", 4, "job"},
    {"StepId", 4, "step"},   {"SlurmctldDebug", 6, "debug"},
};

void scontrol_changes_push(struct scontrol_changes *changes, char *key, char *value) {
    changes->items = xreallocarray(changes->items, changes->n + 1, sizeof(*changes->items));
    changes->items[changes->n++] = (struct key_value) {.key = key, .value = value};
}

void scontrol_changes_done(struct scontrol_changes *changes) {
    for (uint32_t i = 0; i < changes->n; i++) {
        free(changes->items[i].key);
        free(changes->items[i].value);
    }
    free(changes->items);
}

void scontrol_update_fill(struct update *update, const char *entity, const char *target,
                          const struct scontrol_changes *changes, enum scontrol_change what) {
    record_init(&record_update, update);
    update->entity = (char *) (uintptr_t) entity;
    update->target = (char *) (uintptr_t) target;
    update->changes.items = changes->items;
    update->changes.n = changes->n;
    update->create = what == SCONTROL_CREATE;
    update->remove = what == SCONTROL_DELETE;
}

static const struct entity_key *entity_key_find(const char *key) {
    size_t length = strlen(key);
    for (size_t i = 0; i < countof(entity_keys); i++) {
        if (length >= entity_keys[i].least && str_starts_nocase(entity_keys[i].key, key))
            return &entity_keys[i];
    }
    return NULL;
}

static bool is_time_limit(const char *key, size_t length) {
    return str_abbreviates(key, length, "TimeLimit", 5);
}

/* Of jobs, nodes and steps a limit alone is added to; a comment, say, would become "+text". */
static bool signs_are_taken(int argc, char **argv, const struct entity_key *key) {
    for (int i = 0; i < argc && !str_equal(key->entity, "partition"); i++) {
        const char *equals = strchr(argv[i], '=');
        if (!equals || equals - argv[i] < 2 || (equals[-1] != '+' && equals[-1] != '-') ||
            is_time_limit(argv[i], (size_t) (equals - argv[i]) - 1))
            continue;
        list_error("Option %s does not accept [+|-]= syntax", argv[i]);
        return false;
    }
    return true;
}

/* `key=value`, or `key value`; `key+=value` and `key-=value` put the sign before the value; Nice
 * needs no value. Returns how many words that were, 0 where it is none of this. */
static int change_parse(int argc, char **argv, struct key_value *ret) {
    const char *word = argv[0], *equals = strchr(word, '=');
    if (!equals && (argc > 1 || str_equal_nocase(word, "Nice"))) {
        ret->key = xstrdup(word);
        ret->value = xstrdup(argc > 1 ? argv[1] : "");
        return argc > 1 ? 2 : 1;
    }
    if (!equals || equals == word)
        return 0;
    size_t length = (size_t) (equals - word);
    char sign = word[length - 1];
    bool is_signed = length > 1 && (sign == '+' || sign == '-');
    ret->key = xstrndup(word, length - is_signed);
    ret->value = is_signed ? xasprintf("%c%s", sign, equals + 1) : xstrdup(equals + 1);
    return 1;
}

/* Parses all words; the entity's own goes to *ret_target. 0, or 1 after a complaint. */
static int changes_parse(int argc, char **argv, struct scontrol_changes *changes,
                         const struct entity_key **ret_key, char **ret_target) {
    *ret_key = NULL;
    *ret_target = NULL;
    for (int i = 0, words; i < argc; i += words) {
        struct key_value change;
        words = change_parse(argc - i, argv + i, &change);
        if (words == 0) {
            fprintf(stderr, "Invalid input: %s\nRequest aborted\n", argv[i]);
            return 1;
        }
        const struct entity_key *key = *ret_key ? NULL : entity_key_find(change.key);
        if (key) {
            *ret_key = key;
            *ret_target = change.value;
            free(change.key);
            continue;
        }
        scontrol_changes_push(changes, change.key, change.value);
    }
    return 0;
}

/* ---- answers ---- */
static const char *value_of(const struct scontrol_changes *changes, const char *key) {
    for (uint32_t i = 0; i < changes->n; i++) {
        if (str_equal_nocase(changes->items[i].key, key))
            return changes->items[i].value;
    }
    return "";
}

/* Where a limit of time is given it has to be one: "30", "+10", "-1:00:00". */
static bool time_limits_are_valid(const struct scontrol_changes *changes) {
    uint32_t minutes;
    for (uint32_t i = 0; i < changes->n; i++) {
        const struct key_value *change = &changes->items[i];
        const char *value = change->value;
        if (!is_time_limit(change->key, strlen(change->key)))
            continue;
        if (*value == '+' || (*value == '-' && strcmp(value, "-1")))
            value++;
        if (minutes_parse(value, &minutes, NULL) < 0)
            return false;
    }
    return true;
}

static int unsupported_key(const struct scontrol_changes *changes, const char *key) {
    fprintf(stderr, "%s: %s=%s\nRequest aborted\n", error_text(ERR_UPDATE_KEY), key ? key : "",
            value_of(changes, key ? key : ""));
    return 1;
}

/* One complaint for each job; an id of an array's tasks stands before the reason. The cure stands
 * before all of them, once where it is the same for many jobs. */
static int job_answer(struct scontrol *scontrol, const struct job_results *results,
                      const struct scontrol_changes *changes) {
    const char *told = NULL;
    for (uint32_t i = 0; i < results->items.n; i++) {
        const struct job_result *result = &results->items.items[i];
        if (result->code == ERR_UPDATE_KEY)
            return unsupported_key(changes, result->detail);
        if (result->code == 0 || !result->detail || str_equal(result->detail, told))
            continue;
        list_note(result->detail);
        told = result->detail;
    }
    int status = scontrol_job_results(results, NULL, false);
    return status == 0 ? scontrol_resize_scripts(scontrol, results, changes) : status;
}

/* Done, and this is to be known about it. */
static void nodes_answer(const struct nodes_updated *updated) {
    for (uint32_t i = 0; i < updated->infos.n; i++)
        list_note(updated->infos.items[i]);
}

/* What the controller says of a value that it cannot read is a whole sentence already. */
static int failed(const char *what, const struct error *err,
                  const struct scontrol_changes *changes) {
    if (err->code == -ERR_UPDATE_KEY)
        return unsupported_key(changes, err->text);
    if (err->code == -ERR_INVALID && err->text[0]) {
        fprintf(stderr, "%s\n", err->text);
        return 1;
    }
    list_why_note(err);
    fprintf(stderr, "%s: %s\n", what, error_text(err->code));
    return 1;
}

static int update_send(struct scontrol *scontrol, const char *entity, const char *target,
                       const struct scontrol_changes *changes, enum scontrol_change change,
                       const char *what) {
    struct update update;
    struct error err = ERROR_INIT;
    const void *reply;
    bool jobs = !strcmp(entity, "job");
    if ((jobs || !strcmp(entity, "step")) && !time_limits_are_valid(changes)) {
        list_error("Invalid TimeLimit value");
        return 1;
    }
    scontrol_update_fill(&update, entity, target, changes, change);
    uint16_t answer = jobs                        ? MSG_JOB_RESULTS
                      : str_equal(entity, "node") ? MSG_NODES_UPDATED
                                                  : MSG_OK;
    if (list_ask(&scontrol->session, MSG_UPDATE, &update, answer, &reply, &err) < 0) {
        if (jobs) {
            list_why_note(&err);
            fprintf(stderr, "%s for job %s\n", error_text(err.code), target);
            return 1;
        }
        return failed(what, &err, changes);
    }
    if (answer == MSG_NODES_UPDATED)
        nodes_answer(reply);
    return jobs ? job_answer(scontrol, reply, changes) : 0;
}

/* ---- update ---- */

/* The ids of the owner's jobs of that name; UNSET32: one's own, or where there are none others',
 * and root's are everybody's. NULL after a complaint. */
static char *jobs_by_name(struct scontrol *scontrol, const char *name, uint32_t owner) {
    struct job_query query = {.states = {.active = true}, .all = true};
    struct list_request request;
    struct field_mask mask = {{0}};
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    struct str ids cleanup_str = STR_INIT, others cleanup_str = STR_INIT;
    strs_push(&query.names, name);
    job_query_fields(&mask);
    job_query_request(&query, &mask, &request);
    if (list_jobs(&scontrol->session, &request, &rows, &err) < 0) {
        list_load_error("slurm_load_jobs error", &err);
    } else {
        job_query_choose(&query, NULL, &rows);
        for (size_t i = 0; i < rows.n; i++) {
            const struct job *job = rows.items[i];
            bool wanted = owner != UNSET32 ? job->uid == owner : !getuid() || job->uid == getuid();
            struct str *list = wanted ? &ids : &others;
            str_printf(list, "%s%u", list->length ? "," : "", job->job_id);
        }
        if (ids.length == 0 && owner == UNSET32)
            str_append(&ids, str_cstr(&others)); /* the controller says whether one may */
        if (ids.length == 0)
            fprintf(stderr, "%s for job %s\n", error_text(ERR_INVALID_JOB_ID), name);
    }
    rows_done(&rows);
    job_query_done(&query);
    return ids.length ? str_take(&ids) : NULL;
}

static int entity_update(struct scontrol *scontrol, const struct entity_key *key,
                         const char *target, const struct scontrol_changes *changes,
                         uint32_t owner) {
    if (!strcmp(key->key, "JobName")) {
        cleanup_free char *ids = jobs_by_name(scontrol, target, owner);
        return ids ? update_send(scontrol, "job", ids, changes, SCONTROL_UPDATE, "") : 1;
    }
    if (!strcmp(key->entity, "debug")) {
        fprintf(stderr, "slurm_update error: %s\n", error_text(ERR_NOT_SUPPORTED));
        return 1;
    }
    return update_send(scontrol, key->entity, target, changes, SCONTROL_UPDATE,
                       "slurm_update error");
}

/* UserID= says whose jobs are meant, and changes nothing: it is taken out. 0, or 1 after a
 * complaint. */
static int owner_take(struct scontrol_changes *changes, uint32_t *ret_owner) {
    uint32_t n = 0;
    int status = 0;
    for (uint32_t i = 0; i < changes->n; i++) {
        struct key_value *change = &changes->items[i];
        if (!str_equal_nocase(change->key, "UserID")) {
            changes->items[n++] = *change;
            continue;
        }
        if (!list_user_find(change->value, ret_owner)) {
            fprintf(stderr, "Invalid UserID: %s\nRequest aborted\n", change->value);
            status = 1;
        }
        free(change->key);
        free(change->value);
    }
    changes->n = n;
    return status;
}

int scontrol_update(struct scontrol *scontrol, int argc, char **argv) {
    const struct entity_key *key;
    uint32_t owner = UNSET32;
    struct scontrol_changes changes = {NULL, 0};
    char *target;
    if (argc < 1) {
        fputs("too few arguments for update keyword\n", stderr);
        return 1;
    }
    if (scontrol_is_reservation(argc, argv))
        return scontrol_reservation(scontrol, argc, argv, SCONTROL_UPDATE);
    int status = changes_parse(argc, argv, &changes, &key, &target);
    if (status == 0 && key && !strcmp(key->entity, "job"))
        status = owner_take(&changes, &owner);
    if (status == 0 && !key) {
        fputs("No valid entity in update command\n"
              "Input line must include \"NodeName\", \"PartitionName\", \"Reservation\", "
              "\"JobId\", or \"SlurmctldDebug\"\n",
              stderr);
        status = 1;
    } else if (status == 0 && !signs_are_taken(argc, argv, key)) {
        status = 1;
    } else if (status == 0 && changes.n == 0) {
        fputs("No changes specified\n", stderr);
        status = 1;
    } else if (status == 0) {
        status = entity_update(scontrol, key, target, &changes, owner);
    }
    free(target);
    scontrol_changes_done(&changes);
    return status;
}

/* ---- create, delete ---- */
static int create_or_delete(struct scontrol *scontrol, int argc, char **argv,
                            enum scontrol_change change) {
    bool create = change == SCONTROL_CREATE;
    const char *word = create ? "create" : "delete";
    const struct entity_key *key;
    struct scontrol_changes changes = {NULL, 0};
    char *target;
    if (argc < 1) {
        fprintf(stderr, "too few arguments for %s keyword\n", word);
        return 1;
    }
    if (scontrol_is_reservation(argc, argv))
        return scontrol_reservation(scontrol, argc, argv, change);
    int status = changes_parse(argc, argv, &changes, &key, &target);
    if (status == 0 && (!key || !strcmp(key->entity, "job") || !strcmp(key->entity, "step"))) {
        if (create)
            list_error("Invalid creation entity: %s", argv[0]);
        else
            fprintf(stderr, "Invalid deletion entity: %s\n", argv[0]);
        status = 1;
    } else if (status == 0) {
        cleanup_free char *what = create ? xasprintf("Error creating the %s", key->entity)
                                         : xasprintf("delete_%s %s", key->entity, argv[0]);
        status = update_send(scontrol, key->entity, target, &changes, change, what);
    }
    free(target);
    scontrol_changes_done(&changes);
    return status;
}

int scontrol_create(struct scontrol *scontrol, int argc, char **argv) {
    return create_or_delete(scontrol, argc, argv, SCONTROL_CREATE);
}

int scontrol_delete(struct scontrol *scontrol, int argc, char **argv) {
    return create_or_delete(scontrol, argc, argv, SCONTROL_DELETE);
}
