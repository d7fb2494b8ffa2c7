/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of sacctmgr show: CONDITION=VALUE, or a word alone. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "assoc/keys.h"
#include "cli/acctmgr.h"
#include "text/hostlist.h"
#include "text/timestamp.h"

static void push_lower(struct strs *list, const char *text) {
    words_each (text, ",", word) {
        for (char *c = word; *c != '\0'; c++)
            *c = (char) (*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
        strs_push(list, word);
    }
}

static int push_nodes(struct strs *list, const char *text, struct error *err) {
    struct hostlist nodes cleanup_hostlist = HOSTLIST_INIT;
    int r = hostlist_parse(&nodes, text, err);
    for (size_t i = 0; r == 0 && i < nodes.n; i++)
        strs_push(list, nodes.names[i]);
    return r;
}

static int put(const struct acctmgr_condition *row, const char *value, struct error *err) {
    switch (row->kind) {
    case WHERE_WORDS:
        strs_split(row->target, value);
        return 0;
    case WHERE_LOWER_WORDS:
        push_lower(row->target, value);
        return 0;
    case WHERE_NODES:
        return push_nodes(row->target, value, err);
    case WHERE_TIME:
        return timestamp_parse(value, time(NULL), true, row->target, err);
    case WHERE_TEXT:
        *(const char **) row->target = value;
        return 0;
    case WHERE_FLAG:
        *(bool *) row->target = true;
        return 0;
    case WHERE_ALL_TIME:
        *(int64_t *) row->target = 0;
        return 0;
    case WHERE_NOTHING:
        return 0;
    }
    return 0;
}

static bool stands_alone(const struct acctmgr_condition *row) {
    return row->kind >= WHERE_FLAG;
}

/* The row of a word; of a word alone that is none, what such words are. */
static const struct acctmgr_condition *find(const struct acctmgr_condition *rows, size_t n,
                                            const char *word, size_t length, bool alone) {
    for (size_t i = 0; i < n; i++) {
        if (rows[i].name == NULL ? alone
                                 : stands_alone(&rows[i]) == alone &&
                                       condition_is(word, length, rows[i].name, rows[i].least))
            return &rows[i];
    }
    return NULL;
}

int acctmgr_where(const struct acctmgr_condition *rows, size_t n, const char *names, int argc,
                  char **argv) {
    struct error err = ERROR_INIT;
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t length = equals != NULL ? (size_t) (equals - argv[i]) : strlen(argv[i]);
        if (strcasecmp(argv[i], "where") == 0)
            continue;
        const struct acctmgr_condition *row = find(rows, n, argv[i], length, equals == NULL);
        if (row == NULL) {
            fprintf(stderr, " Unknown condition: %s\n Conditions are %s; and format=FIELDS\n",
                    argv[i], names);
            return 1;
        }
        if (put(row, equals != NULL ? equals + 1 : argv[i], &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
    }
    return 0;
}
