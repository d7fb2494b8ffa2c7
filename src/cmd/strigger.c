/* SPDX-License-Identifier: Apache-2.0 */
/* strigger: sets, shows and clears what the controller runs when something comes about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "cli/connect.h"
#include "cli/list.h"
#include "cli/main.h"
#include "model/trigger.h"

enum {
    OPT_CLEAR = 1, /* 0 is no verb */
    OPT_GET,
    OPT_SET,
    OPT_CLUSTERS,
    OPT_FLAGS,
    OPT_FRONT_END,
    OPT_ID,
    OPT_JOB,
    OPT_NODE,
    OPT_NO_HEADER,
    OPT_OFFSET,
    OPT_PROGRAM,
    OPT_QUIET,
    OPT_USER,
    OPT_VERBOSE,
    OPT_VERSION,
    OPT_HELP,
    OPT_USAGE,
    OPT_EVENT, /* + the event's number */
};

struct strigger {
    struct cli cli;
    int verb; /* OPT_SET, OPT_GET, OPT_CLEAR; 0 = none */
    unsigned n_verbs;
    bool no_header, has_offset, any_node, front_end;
    const char *job, *id, *nodes, *user, *program, *flags, *offset;
    uint32_t event; /* 0 = none */
    struct trigger trigger;
};

#define ROW(id_, letter_, argument_, name_, metavar_, help_)                                       \
    {                                                                                              \
        .id = id_, .letter = letter_, .argument = argument_, .name = name_, .metavar = metavar_,   \
        .help = help_, .commands = 1                                                               \
    }
static const struct option_row others[] = {
    ROW(OPT_CLEAR, 0, OPTION_NO, "clear", "",
        "clear the triggers that --id, --jobid or --user name"),
    ROW(OPT_GET, 0, OPTION_NO, "get", "", "show triggers"),
    ROW(OPT_SET, 0, OPTION_NO, "set", "", "set a trigger"),
    ROW(OPT_CLUSTERS, 'M', OPTION_REQUIRED, "clusters", "name", "the cluster: this one"),
    ROW(OPT_FLAGS, 0, OPTION_REQUIRED, "flags", "PERM", "PERM: it stays when its event has come"),
    ROW(OPT_FRONT_END, 0, OPTION_NO, "front_end", "",
        "of front-end nodes, which there are none of"),
    ROW(OPT_ID, 'i', OPTION_REQUIRED, "id", "id", "a trigger by its number"),
    ROW(OPT_JOB, 'j', OPTION_REQUIRED, "jobid", "id", "the job that it is about"),
    ROW(OPT_NODE, 'n', OPTION_OPTIONAL, "node", "host",
        "the nodes that it is about, all without a name"),
    ROW(OPT_NO_HEADER, 'N', OPTION_NO, "noheader", "", "show no headings"),
    ROW(OPT_OFFSET, 'o', OPTION_REQUIRED, "offset", "seconds",
        "run the program so long after the event, before it where negative"),
    ROW(OPT_PROGRAM, 'p', OPTION_REQUIRED, "program", "path",
        "what is run, with arguments behind blanks"),
    ROW(OPT_QUIET, 'Q', OPTION_NO, "quiet", "", "say nothing of triggers that are not there"),
    ROW(OPT_USER, 0, OPTION_REQUIRED, "user", "name", "triggers that this user has set"),
    ROW(OPT_VERBOSE, 'v', OPTION_NO, "verbose", "", "say more"),
    ROW(OPT_VERSION, 'V', OPTION_NO, "version", "", "print the version"),
    ROW(OPT_HELP, 0, OPTION_NO, "help", "", "print this list"),
    ROW(OPT_USAGE, 0, OPTION_NO, "usage", "", "print how it is used in short"),
};

/* ---- options ---- */

typedef vec(struct option_row) option_row_list;

/* The events, then the others. */
static struct option_set options_make(option_row_list *ret) {
    for (size_t i = 0; i < n_trigger_rows; i++) {
        const struct trigger_row *row = &trigger_rows[i];
        struct option_row option = ROW((uint16_t) (OPT_EVENT + row->event), row->letter, OPTION_NO,
                                       row->option, "", row->help);
        option.effect = row->comes ? OPTION_HONOURED : OPTION_NOT_YET;
        vec_push(ret, option);
    }
    for (size_t i = 0; i < countof(others); i++)
        vec_push(ret, others[i]);
    return (struct option_set) {"strigger", ret->items, ret->n, NULL, 0, 1};
}

static int print_help(const struct strigger *strigger, const struct option_set *set, bool full) {
    struct str out cleanup_str = STR_INIT;
    str_append(&out, "Usage: strigger [--set | --get | --clear | --version] "
                     "[-aAbBcCdDefFgGhHiIjnNopQrtuv]\n");
    if (full)
        option_set_print(set, 48, &out);
    return cli_print_text(&strigger->cli, &out);
}

static int take_option(struct strigger *strigger, const struct option_set *set,
                       const struct option_use *use) {
    switch (use->row->id) {
    case OPT_CLEAR:
    case OPT_GET:
    case OPT_SET:
        strigger->verb = use->row->id;
        strigger->n_verbs++;
        return CLI_GO_ON;
    case OPT_CLUSTERS:
        return cli_check_clusters(&strigger->cli, use->value);
    case OPT_FLAGS:
        strigger->flags = use->value;
        return CLI_GO_ON;
    case OPT_FRONT_END:
        strigger->front_end = true;
        return CLI_GO_ON;
    case OPT_ID:
        strigger->id = use->value;
        return CLI_GO_ON;
    case OPT_JOB:
        strigger->job = use->value;
        return CLI_GO_ON;
    case OPT_NODE:
        strigger->nodes = use->value;
        strigger->any_node = true;
        return CLI_GO_ON;
    case OPT_NO_HEADER:
        strigger->no_header = true;
        return CLI_GO_ON;
    case OPT_OFFSET:
        strigger->offset = use->value;
        return CLI_GO_ON;
    case OPT_PROGRAM:
        strigger->program = use->value;
        return CLI_GO_ON;
    case OPT_QUIET:
        strigger->cli.quiet = true;
        return CLI_GO_ON;
    case OPT_USER:
        strigger->user = use->value;
        return CLI_GO_ON;
    case OPT_VERBOSE:
        strigger->cli.verbose++;
        return CLI_GO_ON;
    case OPT_VERSION:
        return cli_print_version(&strigger->cli);
    case OPT_HELP:
    case OPT_USAGE:
        return print_help(strigger, set, use->row->id == OPT_HELP);
    default:
        strigger->event = (uint32_t) (use->row->id - OPT_EVENT);
        return CLI_GO_ON;
    }
}

static int read_options(struct strigger *strigger, int argc, char **argv) {
    option_row_list rows = {0};
    struct option_set set = options_make(&rows);
    struct option_uses uses = {0};
    int status = cli_scan(&strigger->cli, &set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    status = status == CLI_GO_ON ? CLI_GO_ON : 1; /* as users know it, not the 255 of sbatch */
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++)
        status = take_option(strigger, &set, &uses.options.items[i]);
    option_uses_done(&uses);
    vec_done(&rows);
    return status;
}

/* ---- values ---- */

static int read_number(const struct strigger *strigger, const char *text, const char *what,
                       uint32_t *ret) {
    uint64_t number;
    if (str_to_u64(text, &number) && number > 0 && number < UINT32_MAX - 1) {
        *ret = (uint32_t) number;
        return CLI_GO_ON;
    }
    cli_error(&strigger->cli, "Invalid %s %s", what, text);
    return 1;
}

static int read_user(struct strigger *strigger) {
    if (list_user_find(strigger->user, &strigger->trigger.uid))
        return CLI_GO_ON;
    cli_error(&strigger->cli, "Invalid user %s", strigger->user);
    return 1;
}

static int read_offset(struct strigger *strigger) {
    int64_t seconds;
    if (!str_to_i64(strigger->offset, &seconds)) {
        cli_error(&strigger->cli, "Invalid --offset %s: it takes seconds", strigger->offset);
        return 1;
    }
    if (seconds > TRIGGER_OFFSET_MAX || seconds < -TRIGGER_OFFSET_MAX) {
        cli_error(&strigger->cli, "The --offset parameter must be between +/-%d",
                  TRIGGER_OFFSET_MAX);
        return 1;
    }
    strigger->trigger.offset = (int32_t) seconds;
    return CLI_GO_ON;
}

static int read_flags(struct strigger *strigger) {
    words_each (strigger->flags, ",", word) {
        if (!str_equal_nocase(word, "PERM")) {
            cli_error(&strigger->cli, "Invalid flags %s", strigger->flags);
            return 1;
        }
    }
    strigger->trigger.permanent = true;
    return CLI_GO_ON;
}

static int read_values(struct strigger *strigger) {
    int status = CLI_GO_ON;
    if (strigger->flags)
        status = read_flags(strigger);
    if (status == CLI_GO_ON && strigger->job)
        status = read_number(strigger, strigger->job, "jobid", &strigger->trigger.job_id);
    if (status == CLI_GO_ON && strigger->id)
        status = read_number(strigger, strigger->id, "id", &strigger->trigger.id);
    if (status == CLI_GO_ON && strigger->user)
        status = read_user(strigger);
    if (status == CLI_GO_ON && strigger->offset)
        status = read_offset(strigger);
    return status;
}

static const char needs_event[] =
    "You must specify a trigger (--down, --up, --reconfig, --time, --fini, --burst_buffer,\n"
    "--primary_slurmctld_failure,\n--primary_slurmctld_resumed_operation,\n"
    "--primary_slurmctld_resumed_control,\n--primary_slurmctld_acct_buffer_full,\n"
    "--backup_slurmctld_failure,\n--backup_slurmctld_resumed_operation,\n"
    "--backup_slurmctld_as_ctrl,\n--primary_slurmdbd_failure,\n"
    "--primary_slurmdbd_resumed_operation,\n--primary_database_failure, or \n"
    "--primary_database_resumed_operation)\n";

static int check_set(struct strigger *strigger) {
    struct stat st;
    if (!strigger->event) {
        cli_error(&strigger->cli, needs_event);
        return 1;
    }
    if (!strigger->program) {
        cli_error(&strigger->cli, "You must specify a --program value");
        return 1;
    }
    if (strigger->program[0] != '/') {
        cli_error(&strigger->cli, "The --program value must start with \"/\"");
        return 1;
    }
    cleanup_free char *path = xstrndup(strigger->program, strcspn(strigger->program, " \t"));
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
        cli_error(&strigger->cli, "Invalid --program value, file not found");
        return 1;
    }
    if (access(path, X_OK) < 0) {
        cli_error(&strigger->cli, "Invalid --program value, %s is not executable", path);
        return 1;
    }
    return CLI_GO_ON;
}

static int check(struct strigger *strigger) {
    const struct trigger_row *row = trigger_row_find(strigger->event);
    if (strigger->n_verbs != 1) {
        cli_error(&strigger->cli, "You must use exactly one of the following options: --set, --get "
                                  "or --clear");
        return 1;
    }
    if (strigger->verb == OPT_CLEAR && !strigger->id && !strigger->job && !strigger->user) {
        cli_error(&strigger->cli, "You must specify a --id, --jobid, or --user to clear");
        return 1;
    }
    if (row != NULL && row->object == TRIGGER_OBJECT_JOB && !strigger->job) {
        cli_error(&strigger->cli, "You must specify a --jobid value");
        return 1;
    }
    return strigger->verb == OPT_SET ? check_set(strigger) : CLI_GO_ON;
}

/* ---- the work ---- */

static int failure(const struct strigger *strigger, const char *call, const struct error *err) {
    if (err->text[0])
        cli_info(&strigger->cli, "note: %s", err->text);
    cleanup_free char *line = xasprintf("%s: %s\n", call, error_text(err->code));
    cli_raw(line);
    return 1;
}

static int set_trigger(struct strigger *strigger) {
    struct trigger *trigger = &strigger->trigger;
    const struct trigger_row *row = trigger_row_find(strigger->event);
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    trigger->event = strigger->event;
    trigger->object = strigger->front_end ? TRIGGER_OBJECT_FRONT_END : (uint32_t) row->object;
    if (strigger->job && row->object == TRIGGER_OBJECT_NODE && row->event != TRIGGER_RECONFIG)
        trigger->object = TRIGGER_OBJECT_JOB;
    trigger->program = (char *) (uintptr_t) strigger->program; /* only encoded */
    trigger->nodes =
        trigger->object == TRIGGER_OBJECT_NODE ? (char *) (uintptr_t) strigger->nodes : NULL;
    if (cli_ask(&strigger->cli, MSG_TRIGGER_SET, trigger, &link, &reply, &err) < 0)
        return failure(strigger, "slurm_set_trigger", &err);
    cli_link_close(&link);
    if (!row->comes || strigger->front_end)
        cli_info(&strigger->cli, "note: the trigger is kept, but there is nothing here that could "
                                 "bring its event about");
    return 0;
}

static int clear_trigger(struct strigger *strigger) {
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    if (cli_ask(&strigger->cli, MSG_TRIGGER_CLEAR, &strigger->trigger, &link, &reply, &err) < 0) {
        if (strigger->cli.quiet && err.code == ERR_TRIGGER_UNKNOWN)
            return 0;
        return failure(strigger, "slurm_clear_trigger", &err);
    }
    cli_link_close(&link);
    return 0;
}

static bool is_shown(const struct strigger *strigger, const struct trigger *trigger) {
    const struct trigger *asked = &strigger->trigger;
    bool of_job = trigger->object == TRIGGER_OBJECT_JOB;
    bool of_node = trigger->object == TRIGGER_OBJECT_NODE;
    if (asked->id && asked->id != trigger->id)
        return false;
    if (asked->job_id && (!of_job || asked->job_id != trigger->job_id))
        return false;
    if (asked->uid != UNSET32 && asked->uid != trigger->uid)
        return false;
    if (strigger->event && strigger->event != trigger->event)
        return false;
    if (!strigger->any_node)
        return true;
    return of_node &&
           (!strigger->nodes || !trigger->nodes || str_equal(strigger->nodes, trigger->nodes) ||
            str_has_word(trigger->nodes, strigger->nodes, ","));
}

static void print_trigger(const struct trigger *trigger, struct str *out) {
    char job[16];
    const char *resource = "*";
    const struct trigger_row *row = trigger_row_find(trigger->event);
    const char *object = names_text(&names_trigger_object, trigger->object);
    snprintf(job, sizeof(job), "%u", trigger->job_id);
    if (trigger->object == TRIGGER_OBJECT_JOB)
        resource = job;
    else if (trigger->object == TRIGGER_OBJECT_OTHER || trigger->object == TRIGGER_OBJECT_FRONT_END)
        resource = "(null)";
    else if (trigger->nodes)
        resource = trigger->nodes;
    str_printf(out, "%7u %-9s %7s %-35s %6d %-8s %-5s %s\n", trigger->id, object ? object : "?",
               resource, row ? row->name : "?", trigger->offset,
               trigger->user ? trigger->user : "?", trigger->permanent ? "PERM" : "",
               trigger->program);
}

static int get_triggers(struct strigger *strigger) {
    struct cli_link link;
    struct cli_reply reply;
    struct error err = ERROR_INIT;
    struct str out cleanup_str = STR_INIT;
    struct empty nothing = {false};
    size_t n = 0;
    if (cli_ask(&strigger->cli, MSG_TRIGGER_GET, &nothing, &link, &reply, &err) < 0)
        return failure(strigger, "slurm_get_triggers", &err);
    const struct trigger_list *list = reply.body;
    cli_verbose(&strigger->cli, "Read %u trigger records", list->items.n);
    for (uint32_t i = 0; i < list->items.n; i++) {
        if (!is_shown(strigger, &list->items.items[i]))
            continue;
        if (n++ == 0 && !strigger->no_header)
            str_append(&out, "TRIG_ID RES_TYPE   RES_ID TYPE                                "
                             "OFFSET USER     FLAGS PROGRAM\n");
        print_trigger(&list->items.items[i], &out);
    }
    cli_link_close(&link);
    return cli_print_text(&strigger->cli, &out);
}

static int run(struct strigger *strigger, int argc, char **argv) {
    int status = read_options(strigger, argc, argv);
    if (status == CLI_GO_ON)
        status = read_values(strigger);
    if (status == CLI_GO_ON)
        status = check(strigger);
    if (status != CLI_GO_ON)
        return status;
    if (strigger->verb == OPT_SET)
        return set_trigger(strigger);
    return strigger->verb == OPT_CLEAR ? clear_trigger(strigger) : get_triggers(strigger);
}

int main(int argc, char **argv) {
    struct strigger strigger = {0};
    cli_init(&strigger.cli, "strigger");
    record_init(&record_trigger, &strigger.trigger);
    return run(&strigger, argc, argv);
}
