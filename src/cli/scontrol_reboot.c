/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol reboot and cancel_reboot. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/scontrol.h"

static const char *after(const char *word, const char *prefix) {
    return str_starts_nocase(word, prefix) ? word + strlen(prefix) : NULL;
}

/* 0, or 1 after a complaint. */
static int parse(struct reboot *reboot, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        const char *value;
        if (str_equal_nocase(argv[i], "ASAP")) {
            reboot->asap = true;
        } else if ((value = after(argv[i], "nextstate=")) != NULL) {
            reboot->next_state = str_equal_nocase(value, "RESUME") ? NODE_IDLE
                                 : str_equal_nocase(value, "DOWN") ? NODE_DOWN
                                                                   : NODE_UNKNOWN;
            if (reboot->next_state == NODE_UNKNOWN) {
                fprintf(stderr, "Invalid state: %s\nValid states: DOWN, RESUME\n", value);
                return 1;
            }
        } else if ((value = after(argv[i], "reason=")) != NULL) {
            reboot->reason = (char *) (uintptr_t) value;
        } else if (strchr(argv[i], '=') != NULL || reboot->nodes != NULL) {
            fprintf(stderr, "too many arguments for keyword:reboot\n");
            return 1;
        } else {
            reboot->nodes = argv[i];
        }
    }
    if (reboot->nodes == NULL) {
        fprintf(stderr, "Missing node list. Specify ALL|<NodeList>\n");
        return 1;
    }
    return 0;
}

int scontrol_reboot(struct scontrol *scontrol, int argc, char **argv) {
    struct error err = ERROR_INIT;
    struct reboot reboot;
    record_init(&record_reboot, &reboot);
    if (parse(&reboot, argc, argv) != 0)
        return 1;
    if (list_ask(&scontrol->session, MSG_REBOOT, &reboot, MSG_OK, NULL, &err) == 0)
        return 0;
    list_why_note(&err);
    fprintf(stderr, "scontrol_reboot_nodes error: %s\n",
            err.code == -ERR_ACCESS_DENIED ? "Permission denied" : error_text(err.code));
    return 1;
}

int scontrol_cancel_reboot(struct scontrol *scontrol, int argc, char **argv) {
    struct key_value change = {(char *) (uintptr_t) "State", (char *) (uintptr_t) "CANCEL_REBOOT"};
    const struct scontrol_changes changes = {&change, 1};
    struct error err = ERROR_INIT;
    struct update update;
    if (argc != 1) {
        fprintf(stderr, "%s for keyword:cancel_reboot\n",
                argc < 1 ? "missing argument" : "too many arguments");
        return 1;
    }
    scontrol_update_fill(&update, "node", argv[0], &changes, SCONTROL_UPDATE);
    if (list_ask(&scontrol->session, MSG_UPDATE, &update, MSG_NODES_UPDATED, NULL, &err) == 0)
        return 0;
    list_why_note(&err);
    fprintf(stderr, "slurm_update error: %s\n", error_text(err.code));
    return 1;
}
