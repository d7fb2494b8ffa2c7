/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scancel: ends or signals jobs and steps. Ids are checked here; which jobs filters choose and what
 * happens to each is the controller's work. One request, however many jobs.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/connect.h"
#include "cli/list.h"
#include "cli/main.h"

#define KILL_WAIT_USEC 600000000u /* for the answer: a hundred thousand jobs take their time */

/* X(id, "long-name", letter, ARGUMENT, "environment", "METAVAR", "what it does") */
#define SCANCEL_OPTIONS(X)                                                                         \
    X(account, HONOURED, "account", 'A', REQUIRED, "SCANCEL_ACCOUNT", "NAME",                      \
      "only jobs of this account")                                                                 \
    X(batch, HONOURED, "batch", 'b', NO, "SCANCEL_BATCH", "", "signal the batch shell only")       \
    X(clusters, HONOURED, "clusters", 'M', REQUIRED, "SLURM_CLUSTERS", "NAME",                     \
      "jobs of this cluster")                                                                      \
    X(cron, HONOURED, "cron", 'c', NO, "SCANCEL_CRON", "", "also end jobs of scrontab")            \
    X(ctld, HONOURED, "ctld", 0, NO, "SCANCEL_CTLD", "",                                           \
      "the controller chooses the jobs; it always does")                                           \
    X(full, HONOURED, "full", 'f', NO, "SCANCEL_FULL", "", "signal the batch shell and all steps") \
    X(hurry, HONOURED, "hurry", 'H', NO, "SCANCEL_HURRY", "",                                      \
      "stage no data out; there is never any to stage")                                            \
    X(interactive, HONOURED, "interactive", 'i', NO, "SCANCEL_INTERACTIVE", "",                    \
      "ask for each job")                                                                          \
    X(me, HONOURED, "me", 0, NO, "", "", "only my own jobs")                                       \
    X(name, HONOURED, "name", 'n', REQUIRED, "SCANCEL_NAME", "NAME", "only jobs of this name")     \
    X(nodelist, HONOURED, "nodelist", 'w', REQUIRED, "", "HOSTS",                                  \
      "only jobs on any of these nodes")                                                           \
    X(partition, HONOURED, "partition", 'p', REQUIRED, "SCANCEL_PARTITION", "NAME",                \
      "only jobs in this partition")                                                               \
    X(qos, HONOURED, "qos", 'q', REQUIRED, "SCANCEL_QOS", "NAME",                                  \
      "only jobs of this quality of service")                                                      \
    X(reservation, HONOURED, "reservation", 'R', REQUIRED, "", "NAME",                             \
      "only jobs of this reservation")                                                             \
    X(sibling, HONOURED, "sibling", 0, REQUIRED, "", "CLUSTER", "a federated job's copy there")    \
    X(signal, HONOURED, "signal", 's', REQUIRED, "", "SIGNAL",                                     \
      "send this signal instead of ending the job; a name or a number")                            \
    X(state, HONOURED, "state", 't', REQUIRED, "SCANCEL_STATE", "STATE",                           \
      "only jobs in this state: PENDING, RUNNING, SUSPENDED")                                      \
    X(user, HONOURED, "user", 'u', REQUIRED, "SCANCEL_USER", "USER", "only jobs of this user")     \
    X(wckey, HONOURED, "wckey", 0, REQUIRED, "SCANCEL_WCKEY", "KEY", "only jobs of this key")      \
    X(quiet, HONOURED, "quiet", 'Q', NO, "", "", "say nothing about jobs that are gone")           \
    X(verbose, HONOURED, "verbose", 'v', NO, "SCANCEL_VERBOSE", "", "say what is done")            \
    X(help, HONOURED, "help", 'h', NO, "", "", "this list")                                        \
    X(usage, HONOURED, "usage", 0, NO, "", "", "a short summary")                                  \
    X(version, HONOURED, "version", 'V', NO, "", "", "print the version")

enum scancel_option {
#define X(id, ...) KILL_##id,
    SCANCEL_OPTIONS(X)
#undef X
};

static const struct option_row rows[] = {
#define X(id_, effect_, name_, letter_, argument_, environment_, metavar_, help_)                  \
    {.id = KILL_##id_,                                                                             \
     .letter = letter_,                                                                            \
     .argument = OPTION_##argument_,                                                               \
     .commands = 1,                                                                                \
     .effect = OPTION_##effect_,                                                                   \
     .name = name_,                                                                                \
     .environment = environment_,                                                                  \
     .metavar = metavar_,                                                                          \
     .help = help_},
    SCANCEL_OPTIONS(X)
#undef X
};
static const struct option_alias aliases[] = {
    {"cluster", KILL_clusters, 1}, {"jobname", KILL_name, 1}, {"states", KILL_state, 1}};
static const struct option_set option_set = {"scancel",        rows, countof(rows), aliases,
                                             countof(aliases), 1};

struct scancel {
    struct cli cli;
    struct job_kill kill;
    struct job_select select;
    vec(char *) ids;
    bool filtered;      /* filters choose the jobs, or restrict the ids */
    bool interactive;   /* ask for each */
    bool detailed;      /* every id that is not there is a failure */
    struct str filters; /* "user_name=root ", for the message that nothing matches */
    struct str idle;    /* "--hurry": options that were given and have no effect yet */
};

/* ---- options ---- */

static int print_help(const struct scancel *scancel, bool full) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out, "Usage: scancel [OPTIONS...] [JOB[_TASK][.STEP]...]\n");
    if (full)
        option_set_print(&option_set, 30, &out);
    return cli_print_text(&scancel->cli, &out);
}

static int set_filter(struct scancel *scancel, const char *word, char **member, const char *value) {
    string_set(member, value);
    scancel->filtered = true;
    str_printf(&scancel->filters, "%s=%s ", word, value);
    return CLI_GO_ON;
}

static int set_signal(struct scancel *scancel, const char *value) {
    int number;
    if (!signal_number(value, &number) || number <= 0) {
        cleanup_free char *line = xasprintf("Unknown job signal: %s\n", value);
        cli_raw(line);
        return 1;
    }
    scancel->kill.signal = (uint32_t) number;
    scancel->detailed = true;
    return CLI_GO_ON;
}

static int refuse_states(const char *value, bool variable) {
    cleanup_free char *line = xasprintf(
        "%s%s\nValid job states are PENDING, RUNNING, and SUSPENDED\n",
        variable ? "Unrecognized SCANCEL_STATE value: " : "Invalid job state specified: ", value);
    cli_raw(line);
    return 1;
}

/* A state or a comma list of states. None at all would be every one: that is no filter. */
static int set_states(struct scancel *scancel, const char *value, bool variable) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    uint64_t states = 0;
    for (char *word; (word = str_next_word(&cursor, ",")) != NULL;) {
        uint32_t state;
        if (names_value(&names_job_state, word, &state))
            states |= (uint64_t) 1 << state;
        else if (!names_value(&names_job_flag, word, &state))
            return refuse_states(value, variable);
        else /* who is completing has ended */
            states |= (uint64_t) 1 << JOB_COMPLETED;
    }
    if (states == 0)
        return refuse_states(value, variable);
    scancel->select.states |= states;
    scancel->filtered = true;
    str_printf(&scancel->filters, "state=%s ", value);
    return CLI_GO_ON;
}

static int set_user(struct scancel *scancel, const char *value) {
    if (!list_user_find(value, &scancel->select.uid)) {
        cli_error(&scancel->cli, "Invalid user name: %s", value);
        return 1;
    }
    scancel->filtered = true;
    str_printf(&scancel->filters, "user_name=%s ", value);
    return CLI_GO_ON;
}

static int set_option(struct scancel *scancel, const struct option_row *row, const char *value,
                      bool variable) {
    struct job_select *select = &scancel->select;
    if (row->effect == OPTION_NOT_YET) {
        str_append(&scancel->idle, scancel->idle.length ? ", --" : "--");
        str_append(&scancel->idle, row->name);
    }
    switch ((enum scancel_option) row->id) {
    case KILL_account:
        return set_filter(scancel, "account", &select->account, value);
    case KILL_name:
        return set_filter(scancel, "job_name", &select->name, value);
    case KILL_nodelist:
        return set_filter(scancel, "nodelist", &select->nodelist, value);
    case KILL_partition:
        return set_filter(scancel, "partition", &select->partition, value);
    case KILL_qos:
        return set_filter(scancel, "qos", &select->qos, value);
    case KILL_reservation:
        return set_filter(scancel, "reservation", &select->reservation, value);
    case KILL_wckey:
        return set_filter(scancel, "wckey", &select->wckey, value);
    case KILL_user:
        return set_user(scancel, value);
    case KILL_me:
        select->uid = getuid();
        scancel->filtered = true;
        str_append(&scancel->filters, "me ");
        return CLI_GO_ON;
    case KILL_state:
        return set_states(scancel, value, variable);
    case KILL_signal:
        return set_signal(scancel, value);
    case KILL_clusters:
        return cli_check_clusters(&scancel->cli, value);
    case KILL_sibling:
        cli_error(&scancel->cli, "--sibling: this cluster is in no federation");
        return 1;
    case KILL_batch:
        scancel->kill.batch_only = scancel->detailed = true;
        return CLI_GO_ON;
    case KILL_full:
        scancel->kill.full = true;
        return CLI_GO_ON;
    case KILL_interactive:
        scancel->interactive = scancel->detailed = true;
        return CLI_GO_ON;
    case KILL_cron:
        scancel->kill.cron = true;
        return CLI_GO_ON;
    case KILL_ctld:
    case KILL_hurry:
        return CLI_GO_ON;
    case KILL_quiet:
        scancel->cli.quiet = true;
        return CLI_GO_ON;
    case KILL_verbose:
        scancel->cli.verbose++;
        return CLI_GO_ON;
    case KILL_help:
        return print_help(scancel, true);
    case KILL_usage:
        return print_help(scancel, false);
    case KILL_version:
        return cli_print_version(&scancel->cli);
    }
    return CLI_GO_ON;
}

static int read_environment(struct scancel *scancel) {
    for (size_t i = 0; i < countof(rows); i++) {
        const char *value = *rows[i].environment ? getenv(rows[i].environment) : NULL;
        if (!value || (rows[i].argument == OPTION_NO && !option_variable_is_on(value)))
            continue;
        int status = set_option(scancel, &rows[i], value, true);
        if (status != CLI_GO_ON)
            return status;
    }
    return CLI_GO_ON;
}

/* ---- ids ---- */

static const char *skip_number(const char *p, bool positive) {
    const char *start = p;
    bool zero = true;
    for (; isdigit((unsigned char) *p); p++)
        zero &= *p == '0';
    return p == start || (positive && zero) || p - start > 10 ? NULL : p;
}

/* `N`, `N_T`, `N_[set]`, `N+K`, each with `.STEP` or `.batch`, `.extern`, `.interactive`. */
static bool id_is_valid(const char *id) {
    const char *p = skip_number(id, true);
    if (!p)
        return false;
    if (*p == '_' && p[1] == '[') {
        const char *end = strchr(p, ']');
        if (!end || strspn(p + 2, "0123456789,-:%") != (size_t) (end - p - 2))
            return false;
        p = end + 1;
    } else if (*p == '_' || *p == '+') {
        p++;
        if (*p && *p != '.') {
            p = skip_number(p, false);
            if (!p)
                return false;
        }
    }
    if (*p != '.')
        return *p == '\0';
    p++;
    if (str_equal(p, "batch") || str_equal(p, "extern") || str_equal(p, "interactive"))
        return true;
    p = skip_number(p, false);
    return p && *p == '\0';
}

/* A word may hold several ids, with commas between them. */
static bool take_ids(struct scancel *scancel, char *word) {
    int depth = 0;
    for (char *start = word;; word++) {
        depth += *word == '[';
        depth -= *word == ']';
        if (*word && (*word != ',' || depth > 0))
            continue;
        bool last = !*word;
        *word = '\0';
        if (!id_is_valid(start)) {
            cli_error(&scancel->cli, "Invalid job id %s", start);
            return false;
        }
        vec_push(&scancel->ids, start);
        if (strchr(start, '.'))
            scancel->detailed = true;
        if (last || !word[1])
            return true;
        start = word + 1;
    }
}

/* ---- the work ---- */

static void say_target(const struct scancel *scancel, const char *id) {
    if (strchr(id, '.')) {
        if (scancel->kill.signal)
            cli_verbose(&scancel->cli, "Signal %u to step %s", scancel->kill.signal, id);
        else
            cli_verbose(&scancel->cli, "Terminating step %s", id);
    } else if (scancel->kill.signal) {
        cli_verbose(&scancel->cli, "Signal %u to %sjob %s", scancel->kill.signal,
                    scancel->kill.batch_only ? "batch "
                    : scancel->kill.full     ? "full "
                                             : "",
                    id);
    } else {
        cli_verbose(&scancel->cli, "Terminating job %s", id);
    }
}

/* Exit status of a job that could not be signalled, as users have always seen it. */
static int failure_status(const struct scancel *scancel, uint32_t code) {
    switch (code) {
    case ERR_ACCESS_DENIED:
        return 210;
    case ERR_HET_COMPONENT:
        return 60;
    case ERR_CONNECT:
        return 8;
    case ERR_INVALID_JOB_ID:
    case ERR_STEP_NOT_FOUND:
        return scancel->detailed || scancel->filtered ? 1 : 0;
    case ERR_ALREADY_DONE:
    case ERR_JOB_FINISHED:
        return 0;
    default:
        return 1;
    }
}

static int report_failure(const struct scancel *scancel, const char *id, uint32_t code,
                          const char *detail) {
    /* To a signal, a job that has ended is one that does not exist. */
    if (scancel->kill.signal && (code == ERR_ALREADY_DONE || code == ERR_JOB_FINISHED))
        code = ERR_INVALID_JOB_ID;
    int status = failure_status(scancel, code);
    /* That a job is gone is what was wanted: worth a word only to those who ask. */
    if (status || scancel->cli.verbose) {
        cli_error(&scancel->cli, "Kill job error on job %sid %s: %s",
                  strchr(id, '.') ? "step " : "", id, error_text((int) code));
        if (detail && *detail)
            cli_info(&scancel->cli, "note: %s", detail);
    }
    return status;
}

static int report_results(const struct scancel *scancel, const struct job_results *results) {
    int status = 0;
    for (uint32_t i = 0; i < results->items.n; i++) {
        const struct job_result *result = &results->items.items[i];
        const char *id = result->id ? result->id : "";
        say_target(scancel, id);
        if (!result->code)
            continue;
        int each = report_failure(scancel, id, result->code, result->detail);
        status = max_of(status, each);
    }
    return status;
}

/* What the filters and the ids choose; borrowed. */
static struct job_select selection(const struct scancel *scancel) {
    struct job_select select = scancel->select;
    select.ids.items = scancel->ids.items;
    select.ids.n = (uint32_t) scancel->ids.n;
    return select;
}

/* The whole request failed. */
static int failed(const struct scancel *scancel, const struct error *err) {
    return scancel->ids.n
               ? report_failure(scancel, scancel->ids.items[0], (uint32_t) -err->code, err->text)
               : cli_failure(&scancel->cli, "Kill job error", err);
}

static int send_kill(struct scancel *scancel, struct cli_link *link) {
    struct error err = ERROR_INIT;
    struct cli_reply reply = {0};
    struct job_kill kill = scancel->kill;
    struct job_select select = selection(scancel);
    kill.select = &select;
    int status = 0;
    uint32_t n_matched = 0;
    int rc = cli_send(link, MSG_JOB_KILL, &kill, &err);
    while (rc == 0 && !reply.last) {
        rc = cli_receive(link, KILL_WAIT_USEC, &reply, &err);
        if (rc < 0 || reply.type != MSG_JOB_RESULTS)
            break;
        const struct job_results *results = reply.body;
        n_matched += results->n_matched + results->items.n;
        int each = report_results(scancel, results);
        status = max_of(status, each);
        arena_reset(&link->arena);
    }
    if (rc < 0)
        return failed(scancel, &err);
    if (n_matched == 0 && scancel->filtered && scancel->cli.verbose)
        cli_error(&scancel->cli, "No active jobs match ALL job filters, including: %s",
                  str_cstr(&scancel->filters));
    return status;
}

/* ---- -i: one question a job ---- */

static bool ask(const struct job *job) {
    cleanup_str struct str id = STR_INIT;
    job_id_print(job, 0, &id);
    printf("Cancel job_id=%s name=%s partition=%s [y/n]? ", id.data, job->name ? job->name : "",
           job->partition ? job->partition : "");
    fflush(stdout);
    char answer[64];
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool ask_step(const char *id) {
    char answer[64];
    printf("Cancel step_id=%s [y/n]? ", id);
    fflush(stdout);
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Takes the ids of steps out of the selection. */
static void choose_steps(struct scancel *scancel, struct str *chosen) {
    size_t kept = 0;
    for (size_t i = 0; i < scancel->ids.n; i++) {
        char *id = scancel->ids.items[i];
        if (!strchr(id, '.'))
            scancel->ids.items[kept++] = id;
        else if (ask_step(id))
            str_append_bytes(chosen, id, strlen(id) + 1);
    }
    scancel->ids.n = kept;
}

/* To a question, a job that is named and has ended is one that does not exist. */
static int report_ended(const struct scancel *scancel, const struct job *job) {
    cleanup_str struct str id = STR_INIT;
    if (!scancel->ids.n)
        return 0;
    job_id_print(job, 0, &id);
    return report_failure(scancel, id.data, ERR_INVALID_JOB_ID, NULL);
}

/* Asks about the jobs that one id names, or about all that the filters let pass where it is NULL.
 */
static int choose_of(struct scancel *scancel, struct cli_link *link, char *id, struct str *chosen,
                     int *ret_status) {
    struct error err = ERROR_INIT;
    struct cli_reply reply = {0};
    struct job_select select = selection(scancel);
    struct list_request list;
    uint32_t n = 0;
    record_init(&record_list_request, &list);
    select.ids.items = &id;
    select.ids.n = id != NULL;
    list.select = &select;
    list.all = true; /* hidden partitions too */
    int rc = cli_send(link, MSG_LIST_JOBS, &list, &err);
    while (rc == 0 && !reply.last) {
        rc = cli_receive(link, KILL_WAIT_USEC, &reply, &err);
        if (rc < 0 || reply.type != MSG_JOB_LIST)
            break;
        const struct job_list *jobs = reply.body;
        n += jobs->items.n;
        for (uint32_t i = 0; i < jobs->items.n; i++) {
            const struct job *job = &jobs->items.items[i];
            if (job_state_is_final(job->state)) {
                int each = report_ended(scancel, job);
                *ret_status = max_of(*ret_status, each);
                continue;
            }
            if (!ask(job))
                continue;
            job_id_print(job, 0, chosen);
            str_append_char(chosen, '\0');
        }
    }
    if (rc < 0)
        return failed(scancel, &err);
    if (n == 0 && id != NULL && !scancel->filtered)
        *ret_status = max_of(*ret_status, report_failure(scancel, id, ERR_INVALID_JOB_ID, NULL));
    return CLI_GO_ON;
}

static int choose(struct scancel *scancel, struct cli_link *link, struct str *chosen,
                  int *ret_status) {
    int status = CLI_GO_ON;
    for (size_t i = 0; i < scancel->ids.n && status == CLI_GO_ON; i++)
        status = choose_of(scancel, link, scancel->ids.items[i], chosen, ret_status);
    return scancel->ids.n > 0 ? status : choose_of(scancel, link, NULL, chosen, ret_status);
}

static int run_interactive(struct scancel *scancel, struct cli_link *link) {
    cleanup_str struct str chosen = STR_INIT;
    int ended = 0, status = CLI_GO_ON;
    bool named = scancel->ids.n > 0;
    choose_steps(scancel, &chosen);
    if (!named || scancel->ids.n > 0)
        status = choose(scancel, link, &chosen, &ended);
    if (status != CLI_GO_ON)
        return status;
    vec_reset(&scancel->ids);
    for (size_t at = 0; at < chosen.length; at += strlen(chosen.data + at) + 1)
        vec_push(&scancel->ids, chosen.data + at);
    record_done(&record_job_select, &scancel->select);
    scancel->filtered = false;
    status = scancel->ids.n ? send_kill(scancel, link) : 0;
    return max_of(status, ended);
}

static int cancel(struct scancel *scancel) {
    struct error err = ERROR_INIT;
    struct cli_link link;
    if (cli_link_open(&scancel->cli, false, &link, &err) < 0) {
        if (-err.code == ERR_CONFIG || !scancel->ids.n)
            return cli_failure(&scancel->cli, "Kill job error", &err);
        int status = 0;
        for (size_t i = 0; i < scancel->ids.n; i++)
            status = report_failure(scancel, scancel->ids.items[i], (uint32_t) -err.code,
                                    i + 1 == scancel->ids.n ? err.text : NULL);
        return status;
    }
    int status = scancel->interactive ? run_interactive(scancel, &link) : send_kill(scancel, &link);
    cli_link_close(&link);
    return status;
}

static int run(struct scancel *scancel, int argc, char **argv) {
    struct option_uses uses = {0};
    int status =
        cli_scan(&scancel->cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    if (status == 255)
        status = 1;
    if (status == CLI_GO_ON)
        status = read_environment(scancel);
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++)
        status = set_option(scancel, uses.options.items[i].row, uses.options.items[i].value, false);
    for (size_t i = 0; i < uses.rest.n && status == CLI_GO_ON; i++)
        if (!take_ids(scancel, uses.rest.items[i]))
            status = 1;
    option_uses_done(&uses);
    if (status != CLI_GO_ON)
        return status;
    cli_without_effect(&scancel->cli, &scancel->idle);
    if (!scancel->ids.n && !scancel->filtered) {
        cli_error(&scancel->cli, "No job identification provided");
        return 1;
    }
    return cancel(scancel);
}

int main(int argc, char **argv) {
    struct scancel scancel = {0};
    cli_init(&scancel.cli, "scancel");
    record_init(&record_job_select, &scancel.select);
    record_init(&record_job_kill, &scancel.kill);
    int status = argc < 1 ? 1 : run(&scancel, argc, argv);
    record_done(&record_job_select, &scancel.select);
    vec_done(&scancel.ids);
    str_done(&scancel.filters);
    str_done(&scancel.idle);
    return status;
}
