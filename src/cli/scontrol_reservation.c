/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol create, update and delete of reservations, and how they are shown. The controller knows
 * the keys; here are the classic words around what it answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/json_dump.h"
#include "cli/scontrol.h"

/* "reservation", or "ReservationName=NAME"; at least "res". */
static bool is_entity_word(const char *word) {
    return str_abbreviates(word, strcspn(word, "="), "ReservationName", 3);
}

bool scontrol_is_reservation(int argc, char **argv) {
    static const char *const others[] = {"job", "nodename", "step"};
    for (int i = 0; i < argc; i++) {
        if (is_entity_word(argv[i]))
            return true;
        for (size_t k = 0; k < countof(others); k++) {
            if (str_starts_nocase(argv[i], others[k]))
                return false; /* a job has a reservation, too */
        }
    }
    return false;
}

/* KEY=VALUE, KEY+=VALUE and KEY-=VALUE: the sign stays with the key. NULL, or the word that is
 * wrong. */
static const char *words_parse(int argc, char **argv, struct scontrol_changes *changes,
                               const char **ret_target) {
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        if (is_entity_word(argv[i])) {
            *ret_target = equals ? equals + 1 : *ret_target;
            continue;
        }
        bool skip = strcasecmp(argv[i], "skip") == 0;
        if ((!equals || equals == argv[i]) && !skip)
            return argv[i];
        if (skip)
            scontrol_changes_push(changes, xstrdup("Skip"), xstrdup("yes"));
        else
            scontrol_changes_push(changes, xstrndup(argv[i], (size_t) (equals - argv[i])),
                                  xstrdup(equals + 1));
    }
    return NULL;
}

/* A sentence of the controller about the request itself; lines before its last stand alone. */
static void complain(const char *text, const char *end) {
    const char *last = strrchr(text, '\n');
    if (last)
        fprintf(stderr, "%.*s\n", (int) (last - text), text);
    list_error("%s  %s", last ? last + 1 : text, end);
}

/* The classic words, then, where it is known, what would work. */
static int change_failed(struct scontrol *scontrol, const struct error *err, bool create) {
    const char *text = error_text(err->code);
    if (err->code == -ERR_INVALID && err->text[0]) {
        complain(err->text, create ? "No reservation created." : "No reservation update.");
        return 1;
    }
    fprintf(stderr, "Error %s the reservation: %s\n", create ? "creating" : "updating", text);
    if (!create)
        fprintf(stderr, "slurm_update error: %s\n", text);
    else if (err->code == -ERR_NODES_BUSY)
        str_append(&scontrol->out,
                   "Note, unless nodes are directly requested a reservation must exist in a single "
                   "partition.\nIf no partition is requested the default partition is assumed.\n");
    if (err->text[0])
        list_error("%s", err->text);
    return 1;
}

static int delete_failed(const struct error *err, const char *word) {
    fprintf(stderr, "delete_reservation %s: %s\n", word, error_text(err->code));
    return 1;
}

static int send(struct scontrol *scontrol, const struct update *update, const char *first) {
    struct error err = ERROR_INIT;
    const void *reply;
    if (list_ask(&scontrol->session, MSG_UPDATE, update,
                 update->create ? MSG_RESERVATION_LIST : MSG_OK, &reply, &err) < 0)
        return update->remove ? delete_failed(&err, first)
                              : change_failed(scontrol, &err, update->create);
    const struct reservation_list *made = reply;
    if (update->create && made->items.n > 0)
        str_printf(&scontrol->out, "Reservation created: %s\n", made->items.items[0].name);
    else if (!update->create && !update->remove)
        str_append(&scontrol->out, "Reservation updated.\n");
    return 0;
}

int scontrol_reservation(struct scontrol *scontrol, int argc, char **argv,
                         enum scontrol_change what) {
    struct scontrol_changes changes = {NULL, 0};
    struct update update;
    const char *target = NULL, *wrong = words_parse(argc, argv, &changes, &target);
    int status = 1;
    scontrol_update_fill(&update, "reservation", target, &changes, what);
    if (wrong)
        list_error("Misformatted parameter '%s', most options have a parameter after '='.  No "
                   "reservation %s.",
                   wrong, update.create ? "created" : "update");
    else
        status = send(scontrol, &update, argv[0]);
    scontrol_changes_done(&changes);
    return status;
}

/* ---- show ---- */

int scontrol_show_reservations(struct scontrol *scontrol, const char *id) {
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    int status = 0;
    record_init(&record_list_request, &request);
    char *name = (char *) (uintptr_t) id;
    if (id)
        request.names = (struct strs) {&name, 1};
    if (list_reservations(&scontrol->session, &request, &rows, &err) < 0) {
        rows_done(&rows);
        if (!scontrol->quiet)
            list_load_error("slurm_load_reservations error", &err);
        return 1;
    }
    if (scontrol->json)
        json_dump_reservations(&rows, scontrol->json, scontrol->argc, scontrol->argv,
                               &scontrol->env, &scontrol->out);
    for (size_t i = 0; !scontrol->json && i < rows.n; i++)
        show_reservation(rows.items[i], &scontrol->show, &scontrol->out);
    if (rows.n == 0 && id) {
        str_printf(&scontrol->out, "Reservation %s not found\n", id);
        status = 1;
    } else if (rows.n == 0 && !scontrol->json && !scontrol->quiet) {
        str_append(&scontrol->out, "No reservations in the system\n");
    }
    rows_done(&rows);
    return status;
}
