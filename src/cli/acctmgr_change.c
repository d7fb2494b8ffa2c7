/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr add, modify, delete. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/acctmgr.h"

#define SECONDS_TO_DECIDE 30

enum acctmgr_verb acctmgr_verb_find(const char *word) {
    static const struct {
        const char *name;
        size_t least;
        enum acctmgr_verb verb;
    } rows[] = {
        {"add", 3, ACCTMGR_ADD},           {"create", 3, ACCTMGR_ADD},
        {"modify", 1, ACCTMGR_MODIFY},     {"delete", 3, ACCTMGR_DELETE},
        {"remove", 3, ACCTMGR_DELETE},     {"show", 3, ACCTMGR_SHOW},
        {"list", 3, ACCTMGR_SHOW},         {"help", 2, ACCTMGR_HELP},
        {"version", 4, ACCTMGR_VERSION},   {"quit", 1, ACCTMGR_QUIT},
        {"exit", 2, ACCTMGR_QUIT},         {"dump", 2, ACCTMGR_DUMP},
        {"load", 2, ACCTMGR_LOAD},         {"ping", 2, ACCTMGR_PING},
        {"shutdown", 4, ACCTMGR_SHUTDOWN}, {"reconfigure", 4, ACCTMGR_RECONFIGURE},
        {"clear", 2, ACCTMGR_CLEAR},       {"archive", 3, ACCTMGR_ARCHIVE},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        if (str_abbreviates(word, strlen(word), rows[i].name, rows[i].least))
            return rows[i].verb;
    }
    return ACCTMGR_NONE;
}

enum acctmgr_thing acctmgr_thing_find(const char *word) {
    static const struct {
        const char *name;
        size_t least;
        enum acctmgr_thing thing;
    } rows[] = {
        {"accounts", 2, THING_ACCOUNT},
        {"associations", 2, THING_ASSOC},
        {"clusters", 2, THING_CLUSTER},
        {"coordinators", 2, THING_COORDINATOR},
        {"qos", 1, THING_QOS},
        {"tres", 2, THING_TRES},
        {"users", 1, THING_USER},
        {"transactions", 1, THING_CHANGE},
        {"events", 1, THING_EVENT},
        {"problems", 1, THING_PROBLEM},
        {"runawayjobs", 2, THING_RUNAWAY},
        {"configuration", 2, THING_CONFIGURATION},
        {"stats", 1, THING_STATS},
        {"wckeys", 1, THING_WCKEY},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        if (str_abbreviates(word, strlen(word), rows[i].name, rows[i].least))
            return rows[i].thing;
    }
    return THING_NONE;
}

/* ---- words ---- */

static void push_word(struct key_value *items, uint32_t *n, const char *word, struct arena *arena) {
    const char *equals = strchr(word, '=');
    struct key_value *item = &items[(*n)++];
    size_t length = equals != NULL ? (size_t) (equals - word) : 0;
    item->key = (char *) (uintptr_t) arena_strndup(arena, word, length);
    item->value = (char *) (uintptr_t) (equals != NULL ? equals + 1 : word);
}

int acctmgr_words(struct assoc_change *change, int argc, char **argv, struct arena *arena) {
    size_t room = ((size_t) argc + 1) * sizeof(struct key_value);
    bool sets = change->verb == ASSOC_VERB_ADD;
    change->where.items = arena_alloc(arena, room);
    change->set.items = arena_alloc(arena, room);
    for (int i = 0; i < argc; i++) {
        if (strcasecmp(argv[i], "where") == 0)
            sets = change->verb == ASSOC_VERB_ADD;
        else if (strcasecmp(argv[i], "set") == 0 && change->verb == ASSOC_VERB_MODIFY)
            sets = true;
        else if (strcasecmp(argv[i], "set") == 0 && change->verb == ASSOC_VERB_DELETE) {
            fprintf(stderr, " What is deleted is not set.\n");
            return 1;
        } else if (sets)
            push_word(change->set.items, &change->set.n, argv[i], arena);
        else
            push_word(change->where.items, &change->where.n, argv[i], arena);
    }
    return 0;
}

/* ---- asking ---- */

bool acctmgr_user_agrees(void) {
    cleanup_free char *answer = NULL;
    size_t size = 0;
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    printf("Would you like to commit changes? (You have %d seconds to decide)\n(N/y): ",
           SECONDS_TO_DECIDE);
    fflush(stdout);
    while (poll(&wait, 1, SECONDS_TO_DECIDE * 1000) > 0 && getline(&answer, &size, stdin) > 0) {
        if (answer[0] == 'y' || answer[0] == 'Y') {
            printf("\n");
            return true;
        }
        if (answer[0] == 'n' || answer[0] == 'N' || answer[0] == '\n')
            break;
        printf("\nY or N please\n(N/y): ");
        fflush(stdout);
    }
    printf("\n Changes Discarded\n");
    return false;
}

static const char *nothing(enum acctmgr_verb verb) {
    switch (verb) {
    case ACCTMGR_ADD:
        return " Nothing new added.";
    case ACCTMGR_MODIFY:
        return " Nothing modified";
    default:
        return " Nothing deleted";
    }
}

int acctmgr_complain(const struct error *err) {
    if (err->code == -ERR_CONNECT || err->code == -ERR_AUTH)
        list_load_error("sacctmgr: error", err);
    else if (err->code == -ERR_ACCESS_DENIED)
        fprintf(stderr, " Error with request: %s: %s\n", error_text(err->code), err->text);
    else
        fprintf(stderr, "%s\n", err->text[0] != '\0' ? err->text : error_text(err->code));
    return 1;
}

static int ask(struct list_session *session, const struct assoc_change *change,
               const struct assoc_changed **ret) {
    struct error err = ERROR_INIT;
    return list_ask_book(session, MSG_ASSOC_CHANGE, change, MSG_ASSOC_CHANGED, (const void **) ret,
                         &err) < 0
               ? acctmgr_complain(&err)
               : 0;
}

static bool thing_is_changed(enum acctmgr_thing thing, uint32_t *ret_entity) {
    static const uint32_t entities[] = {
        [THING_ACCOUNT] = ASSOC_ENTITY_ACCOUNT,
        [THING_CLUSTER] = ASSOC_ENTITY_CLUSTER,
        [THING_COORDINATOR] = ASSOC_ENTITY_COORDINATOR,
        [THING_QOS] = ASSOC_ENTITY_QOS,
        [THING_USER] = ASSOC_ENTITY_USER,
    };
    *ret_entity = thing < countof(entities) ? entities[thing] : 0;
    return *ret_entity != 0;
}

int acctmgr_change(struct list_session *session, const struct acctmgr_settings *settings,
                   enum acctmgr_verb verb, enum acctmgr_thing thing, int argc, char **argv) {
    static const uint32_t verbs[] = {[ACCTMGR_ADD] = ASSOC_VERB_ADD,
                                     [ACCTMGR_MODIFY] = ASSOC_VERB_MODIFY,
                                     [ACCTMGR_DELETE] = ASSOC_VERB_DELETE};
    struct assoc_change change = {.verb = verbs[verb]};
    const struct assoc_changed *reply;
    if (!thing_is_changed(thing, &change.entity)) {
        fprintf(stderr,
                "No valid entity in %s command\nInput line must include \"Account\", "
                "\"Cluster\", \"Coordinator\", \"QOS\", or \"User\"\n",
                verb == ACCTMGR_ADD      ? "add"
                : verb == ACCTMGR_MODIFY ? "modify"
                                         : "delete");
        if (thing == THING_WCKEY)
            list_note("wckeys are given to users, and taken from them: \"sacctmgr add user NAME "
                      "wckeys=KEY\", \"sacctmgr delete user NAME wckeys=KEY\"");
        return 1;
    }
    if (settings->read_only) {
        fprintf(stderr, "Can't run this command in readonly mode.\n");
        return 1;
    }
    struct arena arena;
    arena_init(&arena, 0);
    int status = acctmgr_words(&change, argc, argv, &arena);
    change.commit = settings->immediate;
    if (status == 0)
        status = ask(session, &change, &reply);
    if (status == 0 && (reply->text == NULL || reply->text[0] == '\0')) {
        for (uint32_t i = 0; i < reply->notes.n; i++)
            list_note(reply->notes.items[i]);
        printf("%s\n", nothing(verb));
        status = 1;
    } else if (status == 0) {
        fputs(reply->text, stdout);
        for (uint32_t i = 0; i < reply->notes.n; i++)
            list_note(reply->notes.items[i]);
        if (!settings->immediate && acctmgr_user_agrees()) {
            change.commit = true;
            status = ask(session, &change, &reply);
        }
    }
    arena_done(&arena);
    return status;
}
