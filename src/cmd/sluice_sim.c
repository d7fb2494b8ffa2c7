/* SPDX-License-Identifier: Apache-2.0 */
/* sluice sim: replays a workload trace under a policy, or under a slurm.conf. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/json_writer.h"
#include "cli/main.h"
#include "cmd/sluice.h"
#include "cmd/sluice_replay.h"
#include "sim/plot.h"
#include "sim/policy.h"
#include "sim/replay.h"
#include "sim/report.h"

enum sim_option {
    SIM_OPTION_candidates,
    SIM_OPTION_conf,
    SIM_OPTION_events,
    SIM_OPTION_format,
    SIM_OPTION_help,
    SIM_OPTION_json,
    SIM_OPTION_order,
    SIM_OPTION_perfect,
    SIM_OPTION_plan,
    SIM_OPTION_plot,
    SIM_OPTION_policy,
    SIM_OPTION_procs,
    SIM_OPTION_quiet,
    SIM_OPTION_starts,
    SIM_OPTION_users,
    SIM_OPTION_version,
    SIM_OPTION_write,
};

#define NO OPTION_NO
#define REQUIRED OPTION_REQUIRED
#define ROW(id_, letter_, argument_, metavar_, help_)                                              \
    {                                                                                              \
        .id = SIM_OPTION_##id_, .name = #id_, .letter = letter_, .argument = argument_,            \
        .commands = 1, .metavar = metavar_, .help = help_                                          \
    }
static const struct option_row rows[] = {
    ROW(procs, 'P', REQUIRED, "N", "processors of the machine (as the trace says)"),
    ROW(policy, 'p', REQUIRED, "NAME", "fcfs, easy, cons, replan[:K], slurm (easy)"),
    ROW(conf, 'c', REQUIRED, "FILE", "nodes and policy of this slurm.conf, by the real scheduler"),
    ROW(order, 'o', REQUIRED, "NAME", "of the queue: fcfs, sjf, saf, wfp3, unicef, f1 (fcfs)"),
    ROW(candidates, 0, REQUIRED, "NAME",
        "of easy's candidates: same (as the queue), shortest, predicted"),
    ROW(plan, 0, REQUIRED, "NAME", "what the plan goes by: limits, predictions (limits)"),
    ROW(events, 0, REQUIRED, "NAME", "of one instant: batch, pyss (batch); see the manual"),
    ROW(perfect, 0, NO, "", "replace the limits by the real run times"),
    ROW(format, 0, REQUIRED, "NAME", "of the trace: swf, events, sacct (what it looks like)"),
    ROW(starts, 0, REQUIRED, "FILE", "write a line \"id start\" for each job, by id"),
    ROW(plot, 0, REQUIRED, "FILE", "draw use and queue over time (SVG)"),
    ROW(write, 0, REQUIRED, "FILE", "write the trace in the Standard Workload Format"),
    ROW(users, 'u', NO, "", "print a table of users"),
    ROW(json, 0, NO, "", "print JSON"),
    ROW(quiet, 'Q', NO, "", "say nothing but results and errors"),
    ROW(help, 'h', NO, "", "this text"),
    ROW(version, 'V', NO, "", "print the version"),
};
static const struct option_set option_set = {"sluice sim", rows, countof(rows), NULL, 0, 1};

static const struct name_row format_rows[] = {
    {TRACE_SWF, "swf"}, {TRACE_EVENTS, "events"}, {TRACE_SACCT, "sacct"}};
static const struct names names_format = {format_rows, countof(format_rows)};
static const struct name_row plan_rows[] = {{0, "limits"}, {1, "predictions"}};
static const struct names names_plan = {plan_rows, countof(plan_rows)};

struct command {
    struct cli *cli;
    const char *path;                   /* of the trace */
    const char *conf;                   /* slurm.conf in place of a policy; NULL */
    const struct option_row *by_policy; /* an option given that only a policy has */
    const char *starts, *plot, *write;  /* files */
    uint32_t procs, format;
    bool users, json;
    struct sim_policy policy;
};

static int print_help(const struct command *command) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out,
               "Usage: sluice sim [OPTIONS...] TRACE\n\n"
               "Replays a recorded workload and says how long its jobs would have waited.\n"
               "TRACE is a file in the Standard Workload Format, a file of Slurm-style events\n"
               "or the output of sacct -P; packed by gzip or xz if you like; - reads\n"
               "standard input.\n\n"
               "Options:\n");
    option_set_print(&option_set, 26, &out);
    str_append(&out,
               "\nExamples:\n"
               "  sluice sim KTH-SP2.swf.gz\n"
               "  sluice sim KTH-SP2.swf.gz --order wfp3 --candidates predicted\n"
               "  sluice sim KTH-SP2.swf.gz --policy cons --starts cons.starts --plot cons.svg\n"
               "  sluice sim week.events.xz --conf /etc/slurm/slurm.conf\n"
               "  sluice sim generate:jobs=5000,load=0.9 --policy replan:4\n"
               "  sacct -a -X -P -S now-30days -o JobIDRaw,User,Submit,Start,End,ElapsedRaw,"
               "Timelimit,ReqTRES \\\n    | sluice sim - --procs 512 --json\n");
    return cli_print_text(command->cli, &out);
}

/* ---- option values ---- */

static int set_name(const struct command *command, const struct option_use *use,
                    const struct names *names, uint32_t *ret) {
    if (names_value(names, use->value, ret))
        return CLI_GO_ON;
    cleanup_str struct str known = STR_INIT;
    names_list(names, ", ", &known);
    return cli_failed(command->cli, "--%s=%s: one of %s is wanted", use->row->name, use->value,
                      known.data);
}

static bool is_of_policies(uint32_t option) {
    static const uint8_t of_policies[] = {
        SIM_OPTION_candidates, SIM_OPTION_events, SIM_OPTION_order, SIM_OPTION_perfect,
        SIM_OPTION_plan,       SIM_OPTION_policy, SIM_OPTION_procs,
    };
    return memchr(of_policies, (int) option, sizeof(of_policies)) != NULL;
}

static int set_option(struct command *command, const struct option_use *use) {
    struct error err = ERROR_INIT;
    uint64_t number;
    uint32_t value;
    int status;
    if (is_of_policies(use->row->id))
        command->by_policy = use->row;
    switch ((enum sim_option) use->row->id) {
    case SIM_OPTION_candidates:
        return set_name(command, use, &names_sim_candidates, &command->policy.candidates);
    case SIM_OPTION_conf:
        command->conf = use->value;
        return CLI_GO_ON;
    case SIM_OPTION_events:
        return set_name(command, use, &names_sim_events, &command->policy.events);
    case SIM_OPTION_format:
        return set_name(command, use, &names_format, &command->format);
    case SIM_OPTION_order:
        return set_name(command, use, &names_sim_order, &command->policy.order);
    case SIM_OPTION_plan:
        status = set_name(command, use, &names_plan, &value);
        if (status == CLI_GO_ON)
            command->policy.plan_predicted = value;
        return status;
    case SIM_OPTION_policy:
        if (sim_policy_parse(use->value, &command->policy, &err) < 0)
            return cli_failed(command->cli, "--policy: %s", err.text);
        return CLI_GO_ON;
    case SIM_OPTION_procs:
        if (!str_to_u64(use->value, &number) || number == 0 || number > UINT32_MAX)
            return cli_failed(command->cli, "--procs=%s: a number of processors is wanted",
                              use->value);
        command->procs = (uint32_t) number;
        return CLI_GO_ON;
    case SIM_OPTION_starts:
        command->starts = use->value;
        return CLI_GO_ON;
    case SIM_OPTION_plot:
        command->plot = use->value;
        return CLI_GO_ON;
    case SIM_OPTION_write:
        command->write = use->value;
        return CLI_GO_ON;
    case SIM_OPTION_perfect:
        command->policy.perfect = true;
        return CLI_GO_ON;
    case SIM_OPTION_users:
        command->users = true;
        return CLI_GO_ON;
    case SIM_OPTION_json:
        command->json = true;
        return CLI_GO_ON;
    case SIM_OPTION_quiet:
        command->cli->quiet = true;
        return CLI_GO_ON;
    case SIM_OPTION_help:
        return print_help(command);
    case SIM_OPTION_version:
        return cli_print(command->cli, "sluice %s\nspeaks slurm %s\n", SLUICE_VERSION,
                         SLUICE_COMPAT_VERSION);
    }
    return CLI_GO_ON;
}

static bool generates(const struct command *command) {
    return str_starts(command->path, TRACE_GENERATE);
}

static int read_words(struct command *command, const struct option_uses *uses) {
    struct error err = ERROR_INIT;
    int status = CLI_GO_ON;
    for (size_t i = 0; i < uses->options.n && status == CLI_GO_ON; i++)
        status = set_option(command, &uses->options.items[i]);
    if (status != CLI_GO_ON)
        return status;
    if (uses->rest.n != 1)
        return cli_failed(command->cli, uses->rest.n
                                            ? "one trace at a time; see `sluice sim --help`"
                                            : "a trace is wanted; see `sluice sim --help`");
    command->path = uses->rest.items[0];
    if (sim_policy_check(&command->policy, &err) < 0)
        return cli_failed(command->cli, "%s", err.text);
    if (command->conf && command->by_policy)
        return cli_failed(command->cli,
                          "--%s has no meaning beside --conf: the slurm.conf says what the "
                          "machine and the policy are",
                          command->by_policy->name);
    if (generates(command) && (command->procs || command->format != TRACE_GUESS))
        return cli_failed(command->cli,
                          "a generated trace has its size from procs= and no format: leave "
                          "out --procs and --format");
    return CLI_GO_ON;
}

/* ---- results ---- */

static int write_file(const struct command *command, const char *path, const struct str *text) {
    cleanup_fd int fd = str_equal(path, "-")
                            ? dup(STDOUT_FILENO)
                            : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    size_t written = 0;
    if (fd < 0)
        return cli_failed(command->cli, "cannot write %s: %s", path, strerror(errno));
    while (written < text->length) {
        ssize_t n = write(fd, text->data + written, text->length - written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cli_failed(command->cli, "cannot write %s: %s", path, strerror(errno));
        written += (size_t) n;
    }
    return CLI_GO_ON;
}

static void print_policy(const struct command *command, struct str *out) {
    if (command->conf)
        str_append(out, command->conf);
    else
        sim_policy_print(&command->policy, out);
}

static void print_json(const struct command *command, const struct trace *trace,
                       const struct sim_result *result, const struct sim_figures *figures,
                       struct str *out) {
    struct json json;
    cleanup_str struct str policy = STR_INIT;
    print_policy(command, &policy);
    json_init(&json, JSON_PRETTY, out);
    json_object(&json, NULL);
    json_text(&json, "trace", command->path);
    json_text(&json, "policy", policy.data);
    json_unsigned(&json, "procs", result->procs);
    json_unsigned(&json, "jobs_left_out", trace->n_dropped);
    json_unsigned(&json, "jobs_refused", result->n_refused);
    json_array(&json, "notes");
    vec_each (&trace->notes, note)
        json_text(&json, NULL, *note);
    json_end(&json);
    sim_figures_json(figures, &json);
    json_unsigned(&json, "passes", result->n_passes);
    json_text(&json, "sha256", figures->sha256);
    if (command->users) {
        struct sim_users users;
        sim_users(trace, result, &users);
        sim_users_json(&users, &json);
        sim_users_done(&users);
    }
    json_end(&json);
    json_finish(&json);
}

static void print_title(const struct command *command, const struct trace *trace,
                        const struct sim_result *result, struct str *out) {
    cleanup_str struct str policy = STR_INIT;
    print_policy(command, &policy);
    str_printf(out, "%s: %zu jobs on %u processors under %s", command->path, trace->jobs.n,
               result->procs, policy.data);
}

static void print_text(const struct command *command, const struct trace *trace,
                       const struct sim_result *result, const struct sim_figures *figures,
                       struct str *out) {
    print_title(command, trace, result, out);
    str_append_char(out, '\n');
    sim_figures_print(figures, out);
    if (command->users) {
        struct sim_users users;
        sim_users(trace, result, &users);
        sim_users_print(&users, out);
        sim_users_done(&users);
    }
}

static int write_files(const struct command *command, const struct trace *trace,
                       const struct sim_result *result) {
    cleanup_str struct str starts = STR_INIT, plot = STR_INIT, title = STR_INIT;
    int status = CLI_GO_ON;
    if (command->starts) {
        sim_print_starts(trace, result, &starts);
        status = write_file(command, command->starts, &starts);
    }
    if (status == CLI_GO_ON && command->plot) {
        print_title(command, trace, result, &title);
        sim_plot(trace, result, title.data, &plot);
        status = write_file(command, command->plot, &plot);
    }
    return status;
}

static int print_results(const struct command *command, const struct trace *trace,
                         const struct sim_result *result) {
    cleanup_str struct str out = STR_INIT;
    struct sim_figures figures;
    int status = write_files(command, trace, result);
    if (status != CLI_GO_ON)
        return status;
    sim_figures(trace, result, &figures);
    (command->json ? print_json : print_text)(command, trace, result, &figures, &out);
    return cli_print_text(command->cli, &out);
}

/* ---- a run ---- */

static int replay(struct command *command, const struct trace *trace) {
    struct replay_bar bar;
    struct sim_result result;
    if (!trace->max_procs)
        return cli_failed(command->cli,
                          "%s does not say how many processors the machine has: --procs=N",
                          command->path);
    sim_result_init(&result, trace);
    const struct sim_watch *watch = replay_bar_init(&bar, command->cli, "");
    sim_replay_policy(trace, &command->policy, trace->max_procs, watch, &result);
    replay_bar_clear(&bar);
    int status = print_results(command, trace, &result);
    sim_result_done(&result);
    return status;
}

static void tell_notes(const struct command *command, struct sim_notes *notes) {
    cleanup_str struct str text = STR_INIT;
    sim_notes_print(notes, &text);
    if (text.length > 0)
        cli_info(command->cli, "%s", text.data);
}

/* By the real scheduler. */
static int replay_conf(struct command *command, const struct trace *trace) {
    struct replay_bar bar;
    struct error err = ERROR_INIT;
    struct sim_notes notes = {0};
    struct sim_result result;
    struct conf *conf = NULL;
    int status = replay_conf_read(command->cli, command->conf, true, &conf);
    if (status != CLI_GO_ON)
        return status;
    sim_result_init(&result, trace);
    const struct sim_watch *watch = replay_bar_init(&bar, command->cli, "");
    if (sim_replay_conf(trace, conf, watch, &result, &notes, &err) < 0)
        status = cli_failed(command->cli, "%s: %s", command->conf, err.text);
    replay_bar_clear(&bar);
    if (status == CLI_GO_ON) {
        tell_notes(command, &notes);
        status = print_results(command, trace, &result);
    }
    sim_notes_done(&notes);
    sim_result_done(&result);
    conf_free(conf);
    return status;
}

static int read_trace(const struct command *command, struct trace *trace) {
    struct error err = ERROR_INIT;
    int r = generates(command)
                ? trace_generate(trace, command->path, &err)
                : trace_read(trace, command->path, command->format, command->procs, &err);
    if (r < 0)
        return cli_failed(command->cli, "%s", err.text);
    vec_each (&trace->notes, note)
        cli_info(command->cli, "note: %s", *note);
    if (!command->write)
        return CLI_GO_ON;
    cleanup_str struct str text = STR_INIT;
    trace_write_swf(trace, &text);
    return write_file(command, command->write, &text);
}

static int run(struct command *command) {
    struct trace trace;
    trace_init(&trace);
    int status = read_trace(command, &trace);
    if (status == CLI_GO_ON)
        status = (command->conf ? replay_conf : replay)(command, &trace);
    trace_done(&trace);
    return status;
}

int sluice_sim(struct cli *cli, int argc, char **argv) {
    struct command command = {.cli = cli, .policy = {.kind = SIM_EASY}};
    struct option_uses uses = {0};
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    if (status != CLI_GO_ON)
        status = 1;
    else
        status = read_words(&command, &uses);
    if (status == CLI_GO_ON)
        status = run(&command);
    option_uses_done(&uses);
    return status;
}
