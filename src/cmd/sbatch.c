/* SPDX-License-Identifier: Apache-2.0 */
/* sbatch: hands a batch script to the controller and prints the number of the job. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/components.h"
#include "cli/connect.h"
#include "cli/filter.h"
#include "cli/main.h"
#include "cli/request.h"
#include "cli/script.h"

#define BUSY_TRIES 15
#define RECONNECT_SEC 1 /* between tries to find a controller again while --wait */

struct sbatch {
    struct cli cli;
    struct components components; /* of the command line and the script */
    struct options *all;          /* of each component */
    size_t n;
    struct options *options; /* of the first */
    struct str script;
    char *script_path; /* NULL: --wrap or standard input */
};

static const char *line_value(const struct sbatch *sbatch, enum option_id id) {
    const char *value = NULL;
    for (size_t g = 0; g < sbatch->components.n; g++) {
        vec_each (&sbatch->components.groups[g].options, use) {
            if (use->row->id == id)
                value = use->value;
        }
    }
    return value;
}

static struct option_uses *rest(struct sbatch *sbatch) {
    return components_last(&sbatch->components);
}

static bool asks_for_text(const struct option_use *use) {
    bool explains = use->row->id == OPT_hint || use->row->id == OPT_gres;
    return use->row->parse == option_parse_info ||
           (explains && use->value && str_equal_nocase(use->value, "help"));
}

/* --help, --gres=help and the like on the command line come before everything else. */
static int show_early(struct sbatch *sbatch) {
    for (size_t g = 0; g < sbatch->components.n; g++) {
        vec_each (&sbatch->components.groups[g].options, use) {
            if (!asks_for_text(use))
                continue;
            sbatch->options->info = use->row->id;
            return cli_show(&sbatch->cli, sbatch->options);
        }
    }
    return CLI_GO_ON;
}

/* ---- the script ---- */

static int read_script(struct sbatch *sbatch) {
    const char *wrap = line_value(sbatch, OPT_wrap);
    if (wrap && rest(sbatch)->rest.n) {
        cli_error(&sbatch->cli, "Script arguments not permitted with --wrap option");
        return sbatch->cli.error_status;
    }
    if (wrap) {
        script_wrap(wrap, &sbatch->script);
        return CLI_GO_ON;
    }
    cleanup_free char *directory = request_directory(&sbatch->cli, line_value(sbatch, OPT_chdir));
    if (!directory)
        return sbatch->cli.error_status;
    const char *name = rest(sbatch)->rest.n ? rest(sbatch)->rest.items[0] : NULL;
    return request_script(&sbatch->cli, name, directory, &sbatch->script, &sbatch->script_path);
}

static int read_directives(struct sbatch *sbatch, struct script_words *words) {
    struct bytes script = {(const uint8_t *) sbatch->script.data, sbatch->script.length};
    struct error err = ERROR_INIT;
    if (script_check(script, &err) < 0) {
        cli_error(&sbatch->cli, "%s", err.text);
        return sbatch->cli.error_status;
    }
    const char *name = rest(sbatch)->rest.n ? rest(sbatch)->rest.items[0] : "stdin";
    if (script_scan(script, name, words, &err) < 0) {
        cli_fatal(&sbatch->cli, "%s", err.text);
        return sbatch->cli.error_status;
    }
    if (words->obsolete)
        cli_warning(&sbatch->cli, "#SLURM lines are an old spelling; write #SBATCH");
    if (words->packjob)
        cli_raw("sbatch: Warning: the \"packjob\" component separator is being deprecated. Please, "
                "use \"hetjob\" instead.\n");
    struct option_set set = option_set_of(OPTION_SBATCH, sbatch->cli.name);
    return components_scan_script(&sbatch->cli, &set, words, &sbatch->components);
}

/* ---- the request ---- */

/* The options of the first are there from the beginning. */
static void make_components(struct sbatch *sbatch) {
    size_t n = components_count(&sbatch->components);
    struct options *all = xcalloc(n, sizeof(*all));
    all[0] = *sbatch->options;
    free(sbatch->all);
    for (size_t i = 1; i < n; i++)
        options_init(&all[i], OPTION_SBATCH);
    sbatch->all = sbatch->options = all;
    sbatch->n = n;
}

static int read_options(struct sbatch *sbatch) {
    struct script_words words = {0};
    sbatch->options->now = time(NULL);
    int status = read_script(sbatch);
    if (status == CLI_GO_ON)
        status = read_directives(sbatch, &words);
    if (status == CLI_GO_ON)
        make_components(sbatch);
    for (size_t i = 0; i < sbatch->n && status == CLI_GO_ON; i++)
        status = components_read(&sbatch->cli, &sbatch->components, i, &sbatch->all[i]);
    script_words_done(&words);
    return status;
}

static const char *default_name(const struct sbatch *sbatch) {
    if (line_value(sbatch, OPT_wrap))
        return "wrap";
    if (!sbatch->script_path)
        return "sbatch";
    const char *slash = strrchr(sbatch->script_path, '/');
    return slash ? slash + 1 : sbatch->script_path;
}

static int build_component(struct sbatch *sbatch, struct options *options, int argc, char **argv) {
    struct job_request *job = &options->job;
    const struct conf *conf = cli_conf(&sbatch->cli);
    if (!conf)
        return sbatch->cli.error_status;
    int status = job->clusters ? cli_check_clusters(&sbatch->cli, job->clusters) : CLI_GO_ON;
    if (status == CLI_GO_ON)
        status = request_fill(&sbatch->cli, options, conf, argc, argv);
    if (status != CLI_GO_ON)
        return status;
    job->kind = JOB_KIND_BATCH;
    if (!job->name)
        string_set(&job->name, default_name(sbatch));
    string_set(&job->command, sbatch->script_path);
    if (rest(sbatch)->rest.n > 1) {
        struct str command cleanup_str = STR_INIT;
        str_append(&command, job->command ? job->command : rest(sbatch)->rest.items[0]);
        for (size_t i = 1; i < rest(sbatch)->rest.n; i++)
            str_printf(&command, " %s", rest(sbatch)->rest.items[i]);
        string_set(&job->command, str_cstr(&command));
        job->argv.n = (uint32_t) rest(sbatch)->rest.n - 1;
        job->argv.items = xcalloc(job->argv.n, sizeof(char *));
        for (uint32_t i = 0; i < job->argv.n; i++)
            job->argv.items[i] = xstrdup(rest(sbatch)->rest.items[i + 1]);
    }
    return CLI_GO_ON;
}

/* Script and environment are the first one's. */
static int build_request(struct sbatch *sbatch, int argc, char **argv) {
    int status = CLI_GO_ON;
    for (size_t i = 0; i < sbatch->n && status == CLI_GO_ON; i++) {
        struct blob *environment = &sbatch->all[i].job.environment;
        status = build_component(sbatch, &sbatch->all[i], argc, argv);
        if (i > 0) {
            free(environment->data);
            *environment = (struct blob) {NULL, 0};
        }
    }
    struct job_request *first = &sbatch->options->job;
    first->script.size = sbatch->script.length;
    first->script.data = (uint8_t *) str_take(&sbatch->script);
    return status;
}

/* ---- the answer ---- */

/* "--time" for time_limit; the field's name where no option sets it. */
static void print_option(const char *name, struct str *out) {
    const struct field *field = record_field(&record_job_request, name);
    size_t target = field ? offsetof(struct options, job) + field->offset : SIZE_MAX;
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (row->target == target && (row->commands & OPTION_SBATCH)) {
            str_printf(out, "--%s", row->name);
            return;
        }
    }
    str_append(out, name);
}

static void print_changes(const struct sbatch *sbatch, const struct submit_reply *reply) {
    for (uint32_t i = 0; i < reply->changes.n; i++) {
        const struct request_change *change = &reply->changes.items[i];
        struct str line cleanup_str = STR_INIT;
        print_option(change->field, &line);
        str_printf(&line, ": %s -> %s (%s)", change->before ? change->before : "not given",
                   change->after ? change->after : "not given", change->by);
        cli_info(&sbatch->cli, "explain: %s", line.data);
    }
    if (sbatch->options->explain && !reply->changes.n)
        cli_info(&sbatch->cli, "explain: nothing has been changed");
}

static int print_job(const struct sbatch *sbatch, const struct submit_reply *reply) {
    const char *cluster = sbatch->options->job.clusters ? reply->cluster : NULL;
    if (sbatch->options->parsable)
        return cli_print(&sbatch->cli, "%u%s%s\n", reply->job_id, cluster ? ";" : "",
                         cluster ? cluster : "");
    if (sbatch->cli.quiet)
        return 0;
    return cli_print(&sbatch->cli, "Submitted batch job %u%s%s\n", reply->job_id,
                     cluster ? " on cluster " : "", cluster ? cluster : "");
}

static int refused(const struct sbatch *sbatch, const struct error *err) {
    if (sbatch->options->test_only) {
        cleanup_str struct str line = STR_INIT;
        if (err->text[0])
            cli_info(&sbatch->cli, "note: %s", err->text);
        str_printf(&line, "allocation failure: %s\n", error_text(err->code));
        cli_raw(line.data);
        return sbatch->cli.error_status;
    }
    return cli_failure(&sbatch->cli, cli_refusal_prefix(OPTION_SBATCH, err), err);
}

/* ---- --wait ---- */

static int job_status(const struct sbatch *sbatch, const struct job_end *end) {
    int status = (int) end->exit_status;
    if (!WIFEXITED(status))
        return sbatch->cli.error_status;
    if (WEXITSTATUS(status) == 0 && end->state != JOB_COMPLETED)
        return sbatch->cli.error_status; /* cancelled, out of time: whoever waits must not go on */
    return WEXITSTATUS(status);
}

/* The answer may take days; a controller that restarts meanwhile is asked again. */
static int wait_for_end(const struct sbatch *sbatch, struct cli_link *link, uint32_t job_id) {
    struct error err = ERROR_INIT;
    while (true) {
        struct cli_reply reply;
        int rc = link->client ? cli_receive(link, UINT64_MAX, &reply, &err) : -ERR_CLOSED;
        if (rc == 0 && reply.type == MSG_JOB_END)
            return job_status(sbatch, reply.body);
        if (rc == 0)
            continue;
        if (-rc != ERR_CLOSED && -rc != ERR_CONNECT && -rc != ERR_SYSTEM && -rc != ERR_TIMEOUT)
            return cli_failure(&sbatch->cli, "Waiting for the job failed", &err);
        cli_link_close(link);
        sleep(RECONNECT_SEC);
        if (cli_link_open(&sbatch->cli, false, link, &err) < 0)
            continue;
        struct alloc_end wait = {.job_id = job_id};
        if (cli_send(link, MSG_JOB_WAIT, &wait, &err) < 0)
            cli_link_close(link);
    }
}

/* ---- submission ---- */

/* A controller that is busy is asked again, with growing pauses. */
static int send_request(const struct sbatch *sbatch, struct cli_link *link,
                        const struct submit *submit, struct cli_reply *reply, struct error *err) {
    for (unsigned try = 1;; try++) {
        int rc = cli_request(link, MSG_SUBMIT, submit, reply, err);
        if (-rc != ERR_BUSY || try == BUSY_TRIES)
            return rc;
        if (try == 1)
            cli_error(&sbatch->cli,
                      "Slurm temporarily unable to accept job, sleeping and retrying");
        sleep(try);
    }
}

static int submit_job(struct sbatch *sbatch) {
    struct error err = ERROR_INIT;
    struct cli_link link;
    struct cli_reply reply;
    struct job_request *components = xcalloc(sbatch->n, sizeof(*components));
    for (size_t i = 1; i < sbatch->n; i++)
        components[i - 1] = sbatch->all[i].job; /* only encoded */
    struct submit submit = {
        .job = &sbatch->options->job,
        .components = {components, (uint32_t) sbatch->n - 1},
        .test_only = sbatch->options->test_only,
        .wait = sbatch->options->wait && !sbatch->options->test_only,
        .advice = cli_advice_wanted(sbatch->options),
        .explain = sbatch->options->explain,
    };
    int rc = cli_link_open(&sbatch->cli, true, &link, &err);
    if (rc == 0)
        rc = send_request(sbatch, &link, &submit, &reply, &err);
    int status;
    if (rc < 0) {
        status = refused(sbatch, &err);
    } else if (reply.type != MSG_SUBMIT_REPLY) {
        cli_error(&sbatch->cli, "Batch job submission failed: %s", error_text(ERR_PROTOCOL));
        status = sbatch->cli.error_status;
    } else {
        const struct submit_reply *answer = reply.body;
        cli_print_lines(&sbatch->cli, &answer->infos, &answer->warnings);
        print_changes(sbatch, answer);
        status = 0;
        if (submit.test_only)
            cli_print_plan(&sbatch->cli, answer);
        else
            cli_filter_submitted(&sbatch->cli, answer->job_id, UNSET32);
        if (!submit.test_only)
            status = print_job(sbatch, answer);
        if (status == 0 && submit.wait)
            status = wait_for_end(sbatch, &link, answer->job_id);
    }
    cli_link_close(&link);
    free(components);
    return status;
}

static int run(struct sbatch *sbatch, int argc, char **argv) {
    struct option_set set = option_set_of(OPTION_SBATCH, sbatch->cli.name);
    int status =
        components_scan(&sbatch->cli, &set, argv + 1, (size_t) argc - 1, &sbatch->components);
    if (status == CLI_GO_ON)
        status = show_early(sbatch);
    if (status == CLI_GO_ON)
        status = read_options(sbatch);
    if (status == CLI_GO_ON)
        status = build_request(sbatch, argc, argv);
    if (status == CLI_GO_ON)
        status = submit_job(sbatch);
    return status;
}

int main(int argc, char **argv) {
    struct sbatch sbatch = {0};
    cli_init(&sbatch.cli, "sbatch");
    sbatch.all = sbatch.options = zalloc(struct options);
    sbatch.n = 1;
    options_init(sbatch.options, OPTION_SBATCH);
    int status = argc < 1 ? 1 : run(&sbatch, argc, argv);
    for (size_t i = 0; i < sbatch.n; i++)
        options_done(&sbatch.all[i]);
    free(sbatch.all);
    components_done(&sbatch.components);
    str_done(&sbatch.script);
    free(sbatch.script_path);
    return status;
}
