/* SPDX-License-Identifier: Apache-2.0 */
/* JSON and YAML text. */
#include "cli/json_writer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schema/schema.h"

void json_init(struct json *json, enum json_style style, struct str *out) {
    *json = (struct json) {.out = out, .style = style, .number_depth = -1};
    json->empty[0] = true;
    json->array[0] = true;
    if (style == JSON_YAML)
        str_append(out, "---\n");
}

void json_finish(struct json *json) {
    assert(json->depth == 0);
    if (json->style != JSON_YAML)
        str_append_char(json->out, '\n');
}

/* ---- places ---- */
static void indent(const struct json *json, int depth) {
    static const char blanks[] = "                                                                ";
    size_t n = 2 * (size_t) depth;
    str_append_bytes(json->out, blanks, n < sizeof(blanks) - 1 ? n : sizeof(blanks) - 1);
}

/* One reservation and plain copies: this runs for every value of every record. */
static void place_json(struct json *json, const char *key) {
    bool pretty = json->style == JSON_PRETTY;
    size_t key_length = key ? strlen(key) : 0;
    size_t blanks = pretty && json->depth > 0 ? 2 * (size_t) json->depth : 0;
    struct str *out = json->out;
    str_reserve(out, key_length + blanks + 8);
    char *to = out->data + out->length;
    if (!json->empty[json->depth])
        *to++ = ',';
    if (blanks) {
        *to++ = '\n';
        memset(to, ' ', blanks);
        to += blanks;
    }
    if (key) {
        *to++ = '"';
        memcpy(to, key, key_length);
        to += key_length;
        *to++ = '"';
        *to++ = ':';
        if (pretty)
            *to++ = ' ';
    }
    *to = '\0';
    out->length = (size_t) (to - out->data);
}

static void place_yaml(struct json *json, const char *key) {
    if (json->depth == 0)
        return;
    if (json->dash) {
        json->dash = false; /* first key of an array's object: on the dash's line */
    } else {
        if (json->empty[json->depth] && json->depth > 1)
            str_append_char(json->out, '\n');
        indent(json, json->depth - 1);
    }
    if (key) {
        str_append(json->out, key);
        str_append(json->out, ": ");
    } else {
        str_append(json->out, "- ");
    }
}

/* Whatever comes next stands here: separator, indentation, key. */
static void place(struct json *json, const char *key) {
    if (json->style == JSON_YAML)
        place_yaml(json, key);
    else
        place_json(json, key);
    json->empty[json->depth] = false;
}

static void line_end(struct json *json) {
    if (json->style == JSON_YAML)
        str_append_char(json->out, '\n');
}

static void open_container(struct json *json, const char *key, bool array) {
    assert(json->depth + 1 < JSON_DEPTH_MAX);
    place(json, key);
    if (json->style != JSON_YAML)
        str_append_char(json->out, array ? '[' : '{');
    else if (!key && json->depth > 0)
        json->dash = true;
    json->depth++;
    json->empty[json->depth] = true;
    json->array[json->depth] = array;
}

void json_object(struct json *json, const char *key) {
    open_container(json, key, false);
}

void json_array(struct json *json, const char *key) {
    open_container(json, key, true);
}

void json_end(struct json *json) {
    assert(json->depth > 0);
    bool array = json->array[json->depth], empty = json->empty[json->depth];
    json->depth--;
    if (json->style == JSON_YAML) {
        if (empty) {
            str_append(json->out, array ? "[]\n" : "{}\n");
            json->dash = false;
        }
        return;
    }
    if (json->style == JSON_PRETTY) {
        str_append_char(json->out, '\n');
        indent(json, json->depth);
    }
    str_append_char(json->out, array ? ']' : '}');
}

/* ---- values ---- */
static void escape(struct str *out, const char *text) {
    static const char hex[] = "0123456789abcdef";
    if (!*text) {
        str_append_bytes(out, "\"\"", 2);
        return;
    }
    str_append_char(out, '"');
    for (const char *at = text; *at;) {
        size_t plain = 0;
        while ((unsigned char) at[plain] >= 0x20 && at[plain] != '"' && at[plain] != '\\' &&
               at[plain] != '/')
            plain++;
        str_append_bytes(out, at, plain);
        at += plain;
        if (!*at)
            break;
        char c = *at++;
        str_append_char(out, '\\');
        switch (c) {
        case '\n':
            str_append_char(out, 'n');
            break;
        case '\t':
            str_append_char(out, 't');
            break;
        case '\r':
            str_append_char(out, 'r');
            break;
        case '"':
        case '\\':
        case '/':
            str_append_char(out, c);
            break;
        default:
            str_append(out, "u00");
            str_append_char(out, hex[(c >> 4) & 15]);
            str_append_char(out, hex[c & 15]);
        }
    }
    str_append_char(out, '"');
}

void json_text(struct json *json, const char *key, const char *value) {
    place(json, key);
    escape(json->out, value ? value : "");
    line_end(json);
}

void json_foreign(struct json *json, const char *name, const char *value) {
    assert(json->style != JSON_YAML);
    place(json, NULL);
    escape(json->out, name);
    str_append_char(json->out, ':');
    escape(json->out, value);
}

void json_unsigned(struct json *json, const char *key, uint64_t value) {
    place(json, key);
    str_append_u64(json->out, value);
    line_end(json);
}

void json_signed(struct json *json, const char *key, int64_t value) {
    place(json, key);
    if (value < 0)
        str_append_char(json->out, '-');
    str_append_u64(json->out, value < 0 ? -(uint64_t) value : (uint64_t) value);
    line_end(json);
}

void json_double(struct json *json, const char *key, double value) {
    place(json, key);
    if (!isfinite(value))
        str_append(json->out, "0.0");
    else if (value > -1e15 && value < 1e15 && value == (double) (int64_t) value)
        str_printf(json->out, "%.1f", value);
    else
        str_printf(json->out, "%.15g", value);
    line_end(json);
}

void json_bool(struct json *json, const char *key, bool value) {
    place(json, key);
    str_append(json->out, value ? "true" : "false");
    line_end(json);
}

void json_null(struct json *json, const char *key) {
    place(json, key);
    str_append(json->out, "null");
    line_end(json);
}

/* Prepares the texts of {set, infinite, number} for the present depth: unset, set, infinite. */
static void number_texts_prepare(struct json *json) {
    static const char *const words[3][2] = {
        {"false", "false"}, {"true", "false"}, {"false", "true"}};
    int blanks = 2 * (json->depth + 1);
    for (int i = 0; i < 3; i++) {
        int n = snprintf(json->number_texts[i], sizeof(json->number_texts[i]),
                         "{\n%*s\"set\": %s,\n%*s\"infinite\": %s,\n%*s\"number\": ", blanks, "",
                         words[i][0], blanks, "", words[i][1], blanks, "");
        json->number_lengths[i] = (size_t) n;
    }
    snprintf(json->number_tail, sizeof(json->number_tail), "\n%*s}", blanks - 2, "");
    json->number_depth = json->depth;
}

void json_number(struct json *json, const char *key, bool set, bool infinite, uint64_t number) {
    if (json->style == JSON_PRETTY && json->depth < 16) {
        if (json->number_depth != json->depth)
            number_texts_prepare(json);
        int kind = infinite ? 2 : set;
        place(json, key);
        str_append_bytes(json->out, json->number_texts[kind], json->number_lengths[kind]);
        str_append_u64(json->out, set ? number : 0);
        str_append(json->out, json->number_tail);
        return;
    }
    json_object(json, key);
    json_bool(json, "set", set);
    json_bool(json, "infinite", infinite);
    json_unsigned(json, "number", set ? number : 0);
    json_end(json);
}

void json_number32(struct json *json, const char *key, uint32_t value) {
    json_number(json, key, value < UNSET32 - 1, value == UNSET32 - 1, value);
}

void json_number64(struct json *json, const char *key, uint64_t value) {
    json_number(json, key, value < UNSET64 - 1, value == UNSET64 - 1, value);
}

void json_none(struct json *json, const char *key) {
    json_array(json, key);
    json_end(json);
}

void json_words(struct json *json, const char *key, const char *list) {
    json_array(json, key);
    struct str word cleanup_str = STR_INIT;
    for (const char *at = list ? list : ""; *at;) {
        size_t length = strcspn(at, ",");
        if (length) {
            str_reset(&word);
            str_append_bytes(&word, at, length);
            json_text(json, NULL, str_cstr(&word));
        }
        at += length;
        at += *at == ',';
    }
    json_end(json);
}
