/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sattach: the streams of a step that runs, beside its srun. The controller tells where the step
 * is; its slurmstepds tell the rest. What srun does with streams is done by srun's own parts
 * (cli/srun.h), on a struct srun that has no job.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/list.h"
#include "cli/list_options.h"
#include "cli/srun.h"
#include "os/userdb.h"

struct settings {
    const char *input_text, *output_text, *error_text;
    bool label, layout, pty, quiet;
    int verbose;
};

struct sattach {
    struct srun srun;
    struct settings settings;
    const char *job; /* "12", "12_3" */
    uint32_t step_id, job_id;
    uint32_t filters[3]; /* rank by stream, UNSET32 = all */
    int status;
    struct arena arena; /* nodes of the step */
};

/* ---- options ---- */

#define AT(member) offsetof(struct settings, member)

static void set_verbose(void *member, const char *value) {
    (*(int *) member)++;
}

/* clang-format off */
static const struct list_option attach_rows[] = {
    {"input-filter", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "taskid",
        "send stdin to this task only", AT(input_text)},
    {"output-filter", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "taskid",
        "print stdout of this task only", AT(output_text)},
    {"error-filter", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "taskid",
        "print stderr of this task only", AT(error_text)},
    {"label", 'l', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "put the task number in front of each line", AT(label)},
    {"layout", 0, LIST_ARG_NONE, NULL, list_set_true, NULL,
        "print which tasks run on which nodes, and leave", AT(layout)},
    {"pty", 0, LIST_ARG_NONE, NULL, list_set_true, NULL,
        "lend this terminal to the step, as srun --pty does", AT(pty)},
    {"quiet", 'Q', LIST_ARG_NONE, NULL, list_set_true, NULL, "say nothing but errors", AT(quiet)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, set_verbose, NULL, "say more", AT(verbose)},
};
/* clang-format on */
static const struct list_options options = {attach_rows, countof(attach_rows),
                                            "sattach [options] <jobid.stepid>"};

static void read_filter(const struct sattach *sattach, const char *text, const char *name,
                        uint32_t *ret) {
    uint64_t value;

    *ret = UNSET32;
    if (!text)
        return;
    if (!str_to_u64(text, &value) || value >= UNSET32) {
        cli_error(&sattach->srun.cli, "Invalid numeric value \"%s\" for %s.", text, name);
        exit(1);
    }
    *ret = (uint32_t) value;
}

_Noreturn static void usage_fail(const struct sattach *sattach, const char *text) {
    cli_error(&sattach->srun.cli, "%s", text);
    printf("Usage: %s\n", options.usage);
    exit(1);
}

static void read_step(struct sattach *sattach, char *word) {
    char *dot = strrchr(word, '.');

    if (!dot)
        usage_fail(sattach, "Failed to parse stepid from command line options");
    *dot = '\0';
    sattach->job = word;
    if (!step_id_parse(dot + 1, &sattach->step_id)) {
        cli_fatal(&sattach->srun.cli, "Bad step specified: %s", word);
        exit(1);
    }
}

static void read_words(struct sattach *sattach, int argc, char **argv) {
    struct settings *settings = &sattach->settings;
    int first = list_options_parse(&options, argc, argv, settings);

    sattach->srun.cli.quiet = settings->quiet;
    sattach->srun.cli.verbose = settings->verbose;
    read_filter(sattach, settings->input_text, "input-filter", &sattach->filters[0]);
    read_filter(sattach, settings->output_text, "output-filter", &sattach->filters[1]);
    read_filter(sattach, settings->error_text, "error-filter", &sattach->filters[2]);
    if (argc - first != 1)
        usage_fail(sattach, "too many parameters");
    read_step(sattach, argv[first]);
}

/* ---- where the step is ---- */

static int no_step(const struct sattach *sattach, int code) {
    cli_error(&sattach->srun.cli, "Could not get job step info: %s", error_text(code));
    return 1;
}

/* Which steps could be looked at instead. */
static void tell_steps(const struct sattach *sattach, const struct rows *rows) {
    struct str steps cleanup_str = STR_INIT, text cleanup_str = STR_INIT;

    for (size_t i = 0; i < rows->n; i++) {
        const struct step *step = rows->items[i];
        if (step->step_id == STEP_BATCH || step->step_id == STEP_EXTERN ||
            job_state_is_final(step->state))
            continue;
        str_printf(&steps, "%s%s.", steps.length ? ", " : "", sattach->job);
        step_id_print(step->step_id, &steps);
    }
    if (steps.length)
        str_printf(&text, "steps of srun that job %s runs: %s", sattach->job, steps.data);
    else
        str_printf(&text, "job %s runs no step of srun", sattach->job);
    list_note(str_cstr(&text));
}

/* 0 while there is such a job and it has not ended. */
static int check_job(struct list_session *session, const char *job) {
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    char *ids[] = {(char *) (uintptr_t) job};

    record_init(&record_list_request, &request);
    request.all = true;
    request.job_ids = (struct strs) {ids, 1};
    int r = list_jobs(session, &request, &rows, &err);
    if (r == 0 && rows.n != 1)
        r = -ERR_INVALID_JOB_ID;
    else if (r == 0 && job_state_is_final(((const struct job *) rows.items[0])->state))
        r = -ERR_ALREADY_DONE;
    rows_done(&rows);
    return r;
}

static int find_step(struct sattach *sattach, struct list_session *session,
                     const struct step **ret) {
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    char *ids[] = {(char *) (uintptr_t) sattach->job};

    record_init(&record_list_request, &request);
    request.job_ids = (struct strs) {ids, 1};
    if (list_steps(session, &request, &rows, &err) < 0)
        return no_step(sattach, err.code);
    for (size_t i = 0; i < rows.n; i++) {
        const struct step *step = rows.items[i];
        if (step->step_id == sattach->step_id && !job_state_is_final(step->state))
            *ret = step;
    }
    int r = *ret ? 0 : check_job(session, sattach->job);
    if (!*ret && r == 0) {
        tell_steps(sattach, &rows);
        r = -ERR_INVALID_JOB_ID;
    }
    rows_done(&rows);
    return r == 0 ? CLI_GO_ON : no_step(sattach, r);
}

/* What srun's parts need to know of the step. */
static int take_nodes(struct sattach *sattach, struct list_session *session,
                      const struct step *step) {
    struct step_layout *layout = arena_alloc(&sattach->arena, sizeof(*layout));
    cleanup_hostlist struct hostlist names = HOSTLIST_INIT;
    struct list_request request;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;

    record_init(&record_list_request, &request);
    request.all = true;
    request.nodelist = step->nodes;
    if (!step->nodes || hostlist_parse(&names, step->nodes, &err) < 0 ||
        list_nodes(session, &request, &rows, &err) < 0)
        return no_step(sattach, err.code);
    record_init(&record_step_layout, layout);
    layout->job_id = sattach->job_id = step->job_id;
    layout->step_id = step->step_id;
    layout->ntasks = step->ntasks;
    layout->nodelist = arena_strdup(&sattach->arena, step->nodes);
    layout->nodes.items = arena_alloc(&sattach->arena, names.n * sizeof(struct step_node));
    for (size_t i = 0; i < names.n; i++) {
        const struct node *row = rows_find_node(&rows, names.names[i]);
        struct step_node *node = &layout->nodes.items[i];
        if (!row)
            continue;
        const char *address = row->address ? row->address : row->name;
        record_init(&record_step_node, node);
        node->name = arena_strdup(&sattach->arena, row->name);
        node->address = arena_strdup(&sattach->arena, address);
        node->port = row->port;
        layout->nodes.n++;
    }
    rows_done(&rows);
    sattach->srun.layout = layout;
    return layout->nodes.n == names.n ? CLI_GO_ON : no_step(sattach, -ERR_INVALID_NODE);
}

static int ask(struct sattach *sattach) {
    struct list_session session;
    const struct step *step = NULL;

    list_session_init(&session, "sattach");
    (void) list_session_conf(&session);
    int status = find_step(sattach, &session, &step);
    if (status == CLI_GO_ON)
        status = take_nodes(sattach, &session, step);
    list_session_close(&session);
    for (int i = 0; i < 3 && status == CLI_GO_ON; i++) {
        if (sattach->filters[i] != UNSET32 && sattach->filters[i] >= sattach->srun.layout->ntasks) {
            cli_error(&sattach->srun.cli, "There is no task %u: the step has tasks 0 to %u",
                      sattach->filters[i], sattach->srun.layout->ntasks - 1);
            status = 1;
        }
    }
    return status;
}

/* ---- what nodes tell ---- */

static void print_layout(const struct sattach *sattach) {
    const struct step_layout *layout = sattach->srun.layout;

    printf("Job step layout:\n\t%u tasks, %u nodes (%s)\n\n", layout->ntasks, layout->nodes.n,
           layout->nodelist);
    for (uint32_t i = 0; i < layout->nodes.n; i++) {
        const struct step_node *node = &layout->nodes.items[i];
        printf("\tNode %u (%s), %u task(s): ", i, node->name, node->ranks.n);
        for (uint32_t k = 0; k < node->ranks.n; k++)
            printf("%u ", node->ranks.items[k]);
        printf("\n");
    }
}

/* Every node has answered, in one way or the other. */
static void maybe_begin(struct sattach *sattach) {
    struct srun *srun = &sattach->srun;

    if (srun->has_begun || srun->n_started + srun->n_finished < srun->n_nodes)
        return;
    srun->has_begun = true;
    if (sattach->settings.layout) {
        if (srun->n_started == srun->n_nodes)
            print_layout(sattach);
        loop_stop(srun->loop, 0);
        return;
    }
    if (srun->pty)
        srun_terminal_raw(srun);
    srun_input_start(srun);
}

static void on_started(struct sattach *sattach, struct srun_node *node,
                       const struct step_tasks *tasks) {
    struct srun *srun = node->srun;
    struct step_node *layout = &srun->layout->nodes.items[node - srun->nodes];

    if (node->has_started)
        return;
    node->has_started = true;
    layout->ranks.items = arena_alloc(&sattach->arena, tasks->ranks.n * sizeof(uint32_t));
    for (uint32_t i = 0; i < tasks->ranks.n; i++) {
        layout->ranks.items[layout->ranks.n++] = tasks->ranks.items[i];
        if (tasks->ranks.items[i] < srun->n_tasks)
            srun->tasks[tasks->ranks.items[i]].node = (uint16_t) (node - srun->nodes);
    }
    srun->n_started++;
    maybe_begin(sattach);
}

static void on_exited(struct sattach *sattach, const struct step_tasks *tasks) {
    struct srun *srun = &sattach->srun;

    for (uint32_t i = 0; i < tasks->ranks.n && i < tasks->exit_status.n; i++) {
        int status = (int) tasks->exit_status.items[i];
        uint32_t rank = tasks->ranks.items[i];
        int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (rank >= srun->n_tasks || srun->tasks[rank].state == TASK_EXITED)
            continue;
        srun->tasks[rank].state = TASK_EXITED;
        sattach->status = max_of(sattach->status, code);
        if (WIFSIGNALED(status))
            cli_error(&srun->cli, "task %u: %s", rank, strsignal(WTERMSIG(status)));
        else if (code)
            cli_error(&srun->cli, "task %u exited with exit code %d", rank, code);
    }
}

static void node_over(struct srun_node *node) {
    struct srun *srun = node->srun;

    if (node->has_finished)
        return;
    node->has_finished = true;
    if (node->conn)
        rpc_conn_close(node->conn);
    if (++srun->n_finished == srun->n_nodes)
        loop_stop(srun->loop, 0);
    else
        maybe_begin((struct sattach *) srun);
}

static void on_io(struct sattach *sattach, struct srun_node *node, const struct step_io *io) {
    uint32_t filter = io->stream < 3 ? sattach->filters[io->stream] : UNSET32;

    if (sattach->settings.layout)
        return;
    if (io->stream == 0)
        srun_input_taken(node, io->taken);
    else if (filter == UNSET32 || io->rank == UNSET32 || io->rank == filter)
        srun_output_data(node->srun, io);
}

static void on_refusal(struct sattach *sattach, struct srun_node *node,
                       const struct reply_error *reply) {
    cli_error(&sattach->srun.cli, "%s: %s", node->layout->name,
              reply->detail ? reply->detail : error_text((int) reply->code));
    sattach->status = 1;
    node_over(node);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct srun_node *node = context;
    struct sattach *sattach = (struct sattach *) node->srun; /* its first member */
    const struct record *record = message_record(message->type);
    struct arena arena;
    void *body;

    if (!record || node->has_finished)
        return;
    arena_init(&arena, (1u << 20) + message->body.size * 4);
    body = arena_alloc(&arena, record->size);
    if (wire_decode(record, message->body, &arena, body, NULL) == 0) {
        if (message->type == MSG_STEP_STARTED)
            on_started(sattach, node, body);
        else if (message->type == MSG_STEP_EXITED)
            on_exited(sattach, body);
        else if (message->type == MSG_STEP_IO)
            on_io(sattach, node, body);
        else if (message->type == MSG_STEP_FINISHED)
            node_over(node);
        else if (message->type == MSG_ERROR)
            on_refusal(sattach, node, body);
    }
    arena_done(&arena);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct srun_node *node = context;
    struct sattach *sattach = (struct sattach *) node->srun;

    node->conn = NULL;
    if (node->has_finished)
        return;
    cli_error(&sattach->srun.cli, "%s: %s", node->layout->name, why->text);
    sattach->status = 1;
    node_over(node);
}

static const struct rpc_handlers node_handlers = {.message = on_message, .closed = on_closed};

/* ---- running ---- */

static void on_signal(int number, const void *siginfo, void *context) {
    struct sattach *sattach = context;
    struct srun *srun = &sattach->srun;

    if (number == SIGCONT) {
        if (srun->pty && srun->has_begun) {
            srun->cli.is_raw = false;
            srun_terminal_raw(srun);
        }
        srun_input_resume(srun);
        return;
    }
    loop_stop(srun->loop, 0); /* the step goes on without us */
}

static int open_signals(struct sattach *sattach, struct error *err) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT};
    int r = 0;

    (void) signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; r == 0 && i < countof(numbers); i++)
        r = loop_signal(sattach->srun.loop, numbers[i], on_signal, sattach, err);
    return r;
}

static int dial(struct sattach *sattach, struct srun_node *node, struct error *err) {
    struct srun *srun = node->srun;
    struct step_attach request = {.job_id = sattach->job_id, .step_id = sattach->step_id};
    int r = rpc_dial(srun->loop, &srun->auth, node->layout->address, (uint16_t) node->layout->port,
                     srun->slurmd_uid, &node_handlers, node, &node->conn, err);

    if (r < 0)
        return r;
    rpc_conn_limit_silence(node->conn, SRUN_SILENCE_SECONDS);
    rpc_conn_tell(node->conn, MSG_STEP_ATTACH, 0, 1, &request);
    return 0;
}

static int attach(struct sattach *sattach, struct error *err) {
    struct srun *srun = &sattach->srun;
    const struct conf *conf = cli_conf(&srun->cli);
    struct userdb_user user = {0};
    int r = loop_new(&srun->loop, err);

    srun->auth.munge_socket = conf->auth.socket;
    if (r == 0 && !cli_uid_is_plain(conf->slurmd_user, &srun->slurmd_uid)) {
        r = userdb_find(conf->slurmd_user, &user, err);
        srun->slurmd_uid = user.uid;
        userdb_user_done(&user);
    }
    if (r == 0)
        r = open_signals(sattach, err);
    srun->n_nodes = srun->layout->nodes.n;
    srun->n_tasks = srun->layout->ntasks;
    srun->nodes = xcalloc(srun->n_nodes + 1, sizeof(*srun->nodes));
    srun->tasks = xcalloc(srun->n_tasks + 1, sizeof(*srun->tasks));
    for (size_t i = 0; r == 0 && i < srun->n_nodes; i++) {
        srun->nodes[i].srun = srun;
        srun->nodes[i].layout = &srun->layout->nodes.items[i];
        r = dial(sattach, &srun->nodes[i], err);
    }
    return r == 0 ? loop_run(srun->loop, err) : r;
}

static int run(struct sattach *sattach) {
    struct srun *srun = &sattach->srun;
    struct error err = ERROR_INIT;
    cleanup_free char *input = NULL;
    int status = ask(sattach);

    if (status != CLI_GO_ON)
        return status;
    srun->only_looks = true;
    srun->options.label = sattach->settings.label;
    srun->options.pty = sattach->settings.pty;
    if (sattach->filters[0] != UNSET32)
        srun->options.job.std_in = input = xasprintf("%u", sattach->filters[0]);
    status = srun_terminal_check(srun);
    if (status == CLI_GO_ON)
        status = srun_output_open(srun);
    if (status == CLI_GO_ON)
        status = srun_input_open(srun);
    srun->options.job.std_in = NULL;
    if (status != CLI_GO_ON)
        return status;
    int r = attach(sattach, &err);
    if (srun->loop) {
        srun_input_close(srun);
        srun_output_flush(srun);
    }
    srun_terminal_restore(srun);
    if (r >= 0)
        return sattach->status;
    cli_error(&srun->cli, "%s", err.text);
    return 1;
}

int main(int argc, char **argv) {
    static struct sattach sattach; /* freed by the end of the process */

    cli_init(&sattach.srun.cli, "sattach");
    options_init(&sattach.srun.options, OPTION_SRUN);
    arena_init(&sattach.arena, 0);
    read_words(&sattach, argc, argv);
    return run(&sattach);
}
