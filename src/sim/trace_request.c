/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a recorded submission, read by the table that sbatch itself reads them with. What
 * would look at files or users of this machine is not understood.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "sim/trace_reader.h"
#include "text/duration.h"

static bool names_a_file(const struct option_use *use) {
    switch (use->row->id) {
    case OPT_nodefile:
    case OPT_bbf:
    case OPT_gid:
        return true;
    case OPT_nodelist:
    case OPT_exclude:
        return strchr(use->value, '/') != NULL;
    }
    return false;
}

/* --uid names the trace's user, who need not be one of this machine. */
static bool take_uses(struct trace_reader *reader, struct option_uses *uses, struct trace_job *job,
                      struct str *why) {
    size_t kept = 0;
    vec_each (&uses->options, use) {
        if (names_a_file(use)) {
            str_printf(why, "--%s needs files or groups of another machine", use->row->name);
            return false;
        }
        if (use->row->id == OPT_uid)
            job->user = trace_user(reader, use->value);
        else
            uses->options.items[kept++] = *use;
    }
    uses->options.n = kept;
    return true;
}

static uint32_t request_procs(const struct job_request *request) {
    uint64_t nodes = max_of(request->min_nodes, 1u);
    uint64_t tasks = max_of((uint64_t) request->ntasks, nodes);
    uint64_t procs = tasks * max_of(request->cpus_per_task, 1u);
    procs = max_of(procs, nodes * request->min_cpus_per_node);
    return (uint32_t) min_of(procs, (uint64_t) UINT32_MAX);
}

/* The last line of what an option complains of. */
static bool complaint(const struct options *options, struct str *why) {
    const char *text = str_cstr(&options->problem.text);
    str_append_bytes(why, text, strcspn(text, "\n"));
    return false;
}

static bool read_options(struct trace_reader *reader, struct options *options,
                         const struct option_uses *uses, struct trace_job *job, struct str *why) {
    if (options_apply(options, uses, OPTION_LINE) < 0 || options_finish(options) < 0)
        return complaint(options, why);
    if (options->info) {
        str_append(why, "it only asks for a text, as --help does");
        return false;
    }
    options->job.kind = JOB_KIND_BATCH;
    job->procs = request_procs(&options->job);
    job->est = TRACE_NO_LIMIT;
    if (options->job.time_limit == UNSET32 || options->job.time_limit == MINUTES_INFINITE)
        trace_fault(reader, FAULT_LIMIT_GUESSED, NULL);
    else
        job->est = (int64_t) options->job.time_limit * 60;
    job->request = trace_keep_request(reader->trace, &options->job);
    if (!job->request)
        str_append(why, "the memory for requests is full");
    return job->request != NULL;
}

bool trace_request(struct trace_reader *reader, char *const *words, size_t n_words,
                   struct trace_job *job, struct str *why) {
    struct option_set set = option_set_of(OPTION_SBATCH, "sbatch");
    struct option_uses uses = {0};
    struct options options;
    options_init(&options, OPTION_SBATCH);
    options.now = job->submit;
    bool good = option_scan(&set, words, n_words, OPTION_STOP, &uses, why) &&
                take_uses(reader, &uses, job, why) &&
                read_options(reader, &options, &uses, job, why);
    option_uses_done(&uses);
    options_done(&options);
    return good;
}
