/* SPDX-License-Identifier: Apache-2.0 */
/* What the listing commands share. */
#include "cli/list.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

#define BITS_DEFAULT 64
#define BITS_MAX 4096

/* ---- output ---- */
void list_output_all(struct str *out) {
    size_t done = 0;
    while (done < out->length) {
        ssize_t n = write(STDOUT_FILENO, out->data + done, out->length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno != EPIPE)
                list_error("write to stdout: %s", strerror(errno));
            exit(1);
        }
        done += (size_t) n;
    }
    str_reset(out);
}

void list_output(struct str *out) {
    if (out->length >= LIST_OUTPUT_PIECE)
        list_output_all(out);
}

static void error_vprint(const char *fmt, va_list args) {
    cleanup_free char *text = xvasprintf(fmt, args);
    fprintf(stderr, "%s: error: %s\n", program_invocation_short_name, text);
}

void list_error(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vprint(fmt, args);
    va_end(args);
}

void list_fail(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    error_vprint(fmt, args);
    va_end(args);
    exit(1);
}

/* ---- environment ---- */
void list_env_init(struct column_env *env, const char *cluster) {
    *env = (struct column_env) {.now = time(NULL), .bits_max = BITS_DEFAULT, .cluster = cluster};
    env->time_format = getenv("SLURM_TIME_FORMAT");
    if (env->time_format && !*env->time_format)
        env->time_format = NULL;
    const char *bits = getenv("SLURM_BITSTR_LEN");
    uint64_t n;
    if (bits && str_to_u64(bits, &n))
        env->bits_max = n > BITS_MAX ? BITS_MAX : n;
}

void list_date_print(int64_t now, struct str *out) {
    time_t seconds = (time_t) now;
    struct tm tm;
    char text[64];
    localtime_r(&seconds, &tm);
    size_t n = strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y\n", &tm);
    str_append_bytes(out, text, n);
}

/* ---- lists ---- */
void rows_push(struct rows *rows, const void *row) {
    vec_push(rows, row);
}

void rows_done(struct rows *rows) {
    vec_done(rows);
}

void lines_print(const struct line_table *lines, struct str *out) {
    for (size_t i = 0; i < lines->lines.n; i++) {
        const struct kept_line *line = &lines->lines.items[i];
        str_append_bytes(out, lines->text.data + line->start, line->length);
        list_output(out);
    }
}

const struct node *rows_find_node(const struct rows *rows, const char *name) {
    for (size_t i = 0; i < rows->n; i++) {
        const struct node *node = rows->items[i];
        if (str_equal(node->name, name))
            return node;
    }
    return NULL;
}

void rows_print(const struct rows *rows, const struct format *format, struct column_env *env,
                struct str *out) {
    for (size_t i = 0; i < rows->n; i++) {
        format_row(format, rows->items[i], env, out);
        list_output(out);
    }
}

void strs_split(struct strs *list, const char *text) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *word;
    while ((word = str_next_id(&cursor, ","))) {
        word = str_trim(word);
        if (*word)
            strs_push(list, word);
    }
}

void u32s_push(struct u32s *list, uint32_t value) {
    list->items = xreallocarray(list->items, list->n + 1, sizeof(*list->items));
    list->items[list->n++] = value;
}

bool list_user_find(const char *text, uint32_t *ret_uid) {
    const struct passwd *user = getpwnam(text);
    uint64_t number;
    if (!user && !(str_to_u64(text, &number) && number < UINT32_MAX))
        return false;
    *ret_uid = user ? user->pw_uid : (uint32_t) number;
    return true;
}

bool list_nodes_match(const char *text, const struct hostlist *nodes) {
    struct hostlist own cleanup_hostlist = HOSTLIST_INIT;
    if (!text || hostlist_parse(&own, text, NULL) < 0)
        return false;
    for (size_t i = 0; i < own.n; i++) {
        for (size_t k = 0; k < nodes->n; k++) {
            if (!strcmp(own.names[i], nodes->names[k]))
                return true;
        }
    }
    return false;
}

#define GROUPS_MAX 1024

bool list_groups_allow(const char *allow_groups) {
    gid_t groups[GROUPS_MAX];
    if (!allow_groups || !*allow_groups || !strcasecmp(allow_groups, "ALL") || getuid() == 0)
        return true;
    cleanup_free char *copy = xstrdup(allow_groups);
    char *cursor = copy, *word;
    int n = getgroups(GROUPS_MAX, groups);
    while ((word = str_next_word(&cursor, ","))) {
        const struct group *group = getgrnam(word);
        if (group && group->gr_gid == getgid())
            return true;
        for (int i = 0; group && i < n; i++) {
            if (groups[i] == group->gr_gid)
                return true;
        }
    }
    return false;
}

/* ---- job states ---- */
void job_states_names(struct str *out) {
    names_list(&names_job_state, ",", out);
    /* The flags in the order of their names, as users have always been shown them. */
    static const uint32_t order[] = {
        JOB_FLAG_COMPLETING, JOB_FLAG_CONFIGURING,  JOB_FLAG_RESIZING,     JOB_FLAG_RESV_DEL_HOLD,
        JOB_FLAG_REQUEUED,   JOB_FLAG_REQUEUE_FED,  JOB_FLAG_REQUEUE_HOLD, JOB_FLAG_REVOKED,
        JOB_FLAG_SIGNALING,  JOB_FLAG_SPECIAL_EXIT, JOB_FLAG_STAGE_OUT,    JOB_FLAG_STOPPED,
    };
    for (size_t i = 0; i < countof(order); i++)
        str_join(out, ",", names_text(&names_job_flag, order[i]));
}

int job_states_parse(struct job_states *states, const char *text, struct error *err) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *word;
    while ((word = str_next_word(&cursor, ","))) {
        uint32_t value;
        word = str_trim(word);
        if (!strcasecmp(word, "all"))
            states->all = true;
        else if (names_value(&names_job_state, word, &value))
            states->states |= (uint64_t) 1 << value;
        else if (names_value(&names_job_flag, word, &value))
            states->flags |= value;
        else
            return error_set(err, ERR_INVALID, "Invalid job state specified: %s", word);
    }
    return 0;
}

bool job_states_match(const struct job_states *states, uint32_t state, uint32_t flags) {
    if (states->all)
        return true;
    if (states->active)
        return state <= JOB_SUSPENDED || (flags & (JOB_FLAG_COMPLETING | JOB_FLAG_STAGE_OUT));
    if (flags & states->flags)
        return true;
    return !flags && (states->states >> state) & 1;
}
