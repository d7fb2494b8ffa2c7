/* SPDX-License-Identifier: Apache-2.0 */
/* --export: from the submitter's environment to the job's. */
#include "cli/environ.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"

/* ---- the block ---- */

/* Offset of NAME's entry in the block, or block->length. */
static size_t entry_find(const struct str *block, const char *name, size_t length) {
    for (size_t at = 0; at < block->length; at += strlen(block->data + at) + 1)
        if (strncmp(block->data + at, name, length) == 0 && block->data[at + length] == '=')
            return at;
    return block->length;
}

static void entry_remove(struct str *block, const char *name, size_t length) {
    size_t at = entry_find(block, name, length);
    if (at == block->length)
        return;
    size_t size = strlen(block->data + at) + 1;
    memmove(block->data + at, block->data + at + size, block->length - at - size);
    block->length -= size;
    block->data[block->length] = '\0';
}

static void entry_append(struct str *block, const char *name, size_t length, const char *value) {
    str_append_bytes(block, name, length);
    str_append_char(block, '=');
    str_append_bytes(block, value, strlen(value) + 1);
}

void environ_set(struct str *block, const char *name, const char *value) {
    entry_remove(block, name, strlen(name));
    entry_append(block, name, strlen(name), value);
}

void environ_unset(struct str *block, const char *name) {
    entry_remove(block, name, strlen(name));
}

const char *environ_get(const struct str *block, const char *name) {
    size_t length = strlen(name), at = entry_find(block, name, length);
    return at == block->length ? NULL : block->data + at + length + 1;
}

void environ_from_file(struct bytes text, struct str *out) {
    for (size_t at = 0; at < text.size;) {
        const char *entry = (const char *) text.data + at;
        size_t length = strnlen(entry, text.size - at);
        const char *equals = memchr(entry, '=', length);
        at += length + 1;
        if (!equals || equals == entry)
            continue;
        str_append_bytes(out, entry, length);
        str_append_char(out, '\0');
    }
}

/* ---- which variables ---- */

static bool is_slurm_name(const char *entry) {
    return strncmp(entry, "SLURM", 5) == 0 || strncmp(entry, "SPANK_", 6) == 0 ||
           strncmp(entry, "_SLURM_SPANK_", 13) == 0;
}

/* Settings for commands, which stay what they are inside a job. */
static bool is_setting(const char *entry, size_t length) {
    static const char *const names[] = {"SLURM_CONF",
                                        "SLURM_CLUSTERS",
                                        "SLURM_TIME_FORMAT",
                                        "SLURM_EXIT_ERROR",
                                        "SLURM_EXIT_IMMEDIATE",
                                        "SLURM_DEBUG_FLAGS",
                                        "SLURM_JSON",
                                        "SLURM_YAML",
                                        "SLURM_BITSTR_LEN",
                                        "SLURM_DEBUG",
                                        "SLURM_ENABLE_CONFIGLESS"};
    for (size_t i = 0; i < countof(names); i++)
        if (strlen(names[i]) == length && strncmp(entry, names[i], length) == 0)
            return true;
    return false;
}

struct capture {
    char *const *envp;
    bool inside; /* envp belongs to a job */
    struct str *out;
};

/* Tokens never leave the machine where they were made. Inside a job, everything that describes it
 * or its step stays behind; the new job gets its own. */
static bool is_left_behind(const struct capture *capture, const char *entry, size_t length) {
    static const char *const prefixes[] = {"SLURM_", "SLURMD_", "PMI_", "PMI2_", "PMIX_"};
    if (length == 9 && strncmp(entry, "SLURM_JWT", 9) == 0)
        return true;
    if (!capture->inside || is_setting(entry, length))
        return false;
    for (size_t i = 0; i < countof(prefixes); i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void capture_entry(const struct capture *capture, const char *entry) {
    const char *equals = strchr(entry, '=');
    if (!equals || equals == entry)
        return;
    if (!is_left_behind(capture, entry, (size_t) (equals - entry)))
        str_append_bytes(capture->out, entry, strlen(entry) + 1);
}

static void capture_all(const struct capture *capture, bool slurm_only) {
    for (char *const *entry = capture->envp; *entry; entry++)
        if (!slurm_only || is_slurm_name(*entry))
            capture_entry(capture, *entry);
}

/* `NAME` copies, `NAME=value` sets. */
static void capture_token(const struct capture *capture, const char *token) {
    const char *equals = strchr(token, '=');
    if (equals == token)
        return;
    if (equals) {
        entry_remove(capture->out, token, (size_t) (equals - token));
        entry_append(capture->out, token, (size_t) (equals - token), equals + 1);
        return;
    }
    size_t length = strlen(token);
    for (char *const *entry = capture->envp; *entry; entry++)
        if (strncmp(*entry, token, length) == 0 && (*entry)[length] == '=') {
            entry_remove(capture->out, token, length);
            capture_entry(capture, *entry);
            return;
        }
}

/* Next token of the list; commas inside quotes do not separate, and the quotes stay. */
static char *next_token(char **cursor) {
    char *start = *cursor;
    if (!start)
        return NULL;
    char quote = 0;
    for (char *p = start; *p; p++) {
        if (quote) {
            if (*p == quote)
                quote = 0;
        } else if (*p == '\'' || *p == '"') {
            quote = *p;
        } else if (*p == ',') {
            *p = '\0';
            *cursor = p + 1;
            return start;
        }
    }
    *cursor = NULL;
    return start;
}

static bool list_has_all(const char *export) {
    cleanup_free char *copy = xstrdup(export);
    char *cursor = copy;
    for (char *token; (token = next_token(&cursor)) != NULL;)
        if (strcasecmp(token, "ALL") == 0)
            return true;
    return false;
}

bool environ_wants_login(const char *export) {
    return export && *export && strcasecmp(export, "NIL") != 0 && !list_has_all(export);
}

void environ_capture(char *const *envp, const char *export, struct str *out) {
    struct capture capture = {.envp = envp, .out = out};
    for (char *const *entry = envp; *entry; entry++)
        capture.inside |= strncmp(*entry, "SLURM_JOB_ID=", 13) == 0;
    if (!export || strcasecmp(export, "ALL") == 0) {
        capture_all(&capture, false);
        return;
    }
    capture_all(&capture, true);
    if (strcasecmp(export, "NONE") == 0 || strcasecmp(export, "NIL") == 0)
        return;
    cleanup_free char *copy = xstrdup(export);
    char *cursor = copy;
    for (char *token; (token = next_token(&cursor)) != NULL;) {
        if (strcasecmp(token, "ALL") != 0) {
            capture_token(&capture, token);
            continue;
        }
        /* ALL replaces what stood before it: later wins. */
        str_reset(out);
        capture_all(&capture, false);
    }
}
