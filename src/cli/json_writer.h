/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON or, from the same calls, YAML into a buffer: nothing is built in memory but the text
 * itself, which the caller may flush between records. Keys are literals of ours and need no
 * escaping; texts are escaped (a '/' too, as clients have always seen it).
 */
#ifndef SLUICE_CLI_JSON_WRITER_H
#define SLUICE_CLI_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define JSON_DEPTH_MAX 32

enum json_style { JSON_PRETTY, JSON_COMPACT, JSON_YAML };

struct json {
    struct str *out;
    enum json_style style;
    int depth;
    bool empty[JSON_DEPTH_MAX]; /* nothing written yet at this depth */
    bool array[JSON_DEPTH_MAX];
    bool dash; /* YAML: the next key stands behind "- " */
    /* The fixed text of a wrapped number at `number_depth`, since a job has sixty of them. */
    int number_depth;
    size_t number_lengths[3];
    char number_texts[3][256], number_tail[80];
};

void json_init(struct json *json, enum json_style style, struct str *out);
/* Ends the document with a newline. */
void json_finish(struct json *json);

/* key NULL inside arrays and at the top. */
void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
void json_end(struct json *json);
void json_text(struct json *json, const char *key, const char *value); /* NULL is "" */
/* In JSON: a text under a name that is not ours, as a variable's, and is escaped, too. */
void json_foreign(struct json *json, const char *name, const char *value);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
void json_double(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

/* {"set", "infinite", "number"} */
void json_number(struct json *json, const char *key, bool set, bool infinite, uint64_t number);
/* UNSET32 is unset, UNSET32 - 1 infinite; likewise 64. */
void json_number32(struct json *json, const char *key, uint32_t value);
void json_number64(struct json *json, const char *key, uint64_t value);
/* [] */
void json_none(struct json *json, const char *key);
/* The words of a comma list as an array of texts. */
void json_words(struct json *json, const char *key, const char *list);

#endif
