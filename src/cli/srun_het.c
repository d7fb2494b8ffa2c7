/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps in a heterogeneous job: which of its components a step is in, and what makes one step of a
 * step in each of several. Each such part has an srun of its own as far as options, environment and
 * the step's creation go; then the first one takes them all over, with one layout in which the
 * tasks are numbered through.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/environ.h"
#include "cli/srun.h"
#include "model/het_env.h"
#include "text/hostlist.h"
#include "text/idset.h"

/* Of these a component that has not asked for it has none, whatever the first one asked for. Those
 * that salloc has of all components together stand first. */
#define N_SUMS 2
static const char *const own_names[] = {
    "SLURM_NTASKS",        "SLURM_NPROCS",           "SLURM_NTASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK", "SLURM_NTASKS_PER_CORE",  "SLURM_NTASKS_PER_SOCKET",
    "SLURM_MEM_PER_NODE",  "SLURM_MEM_PER_CPU",      "SLURM_MEM_PER_GPU",
    "SLURM_GPUS",          "SLURM_GPUS_PER_NODE",    "SLURM_GPUS_PER_TASK",
    "SLURM_GRES",          "SLURM_THREADS_PER_CORE", "SLURM_DISTRIBUTION",
};
/* Those by which a component is known. */
static const char *const shape_names[] = {
    "SLURM_JOB_ID",         "SLURM_JOB_NAME",
    "SLURM_JOB_NODELIST",   "SLURM_JOB_PARTITION",
    "SLURM_JOB_ACCOUNT",    "SLURM_JOB_QOS",
    "SLURM_JOB_NUM_NODES",  "SLURM_JOB_RESERVATION",
    "SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE",
};

/* Components of the job whose variables we have, 0 = it is none such. */
static uint32_t known_size(void) {
    const char *text = getenv("SLURM_HET_SIZE");
    uint64_t n;
    return text && str_to_u64(text, &n) && n <= HET_COMPONENTS_MAX ? (uint32_t) n : 0;
}

static const char *of_group(const char *name, uint32_t group) {
    cleanup_free char *full = xasprintf("%s_HET_GROUP_%u", name, group);
    return getenv(full);
}

/* Our own environment becomes that of a job which is this component alone. */
void srun_het_enter(uint32_t group) {
    static char *first[countof(own_names)]; /* what was there before: the first component's */
    static bool known;
    for (size_t i = 0; !known && i < countof(own_names); i++)
        first[i] = xstrdup_null(getenv(own_names[i]));
    known = true;
    for (size_t i = 0; i < countof(own_names); i++) {
        const char *value = of_group(own_names[i], group);
        if (!value && group == 0 && i >= N_SUMS)
            value = first[i];
        if (value)
            setenv(own_names[i], value, 1);
        else
            unsetenv(own_names[i]);
    }
    for (size_t i = 0; i < countof(shape_names); i++) {
        const char *value = of_group(shape_names[i], group);
        if (value)
            setenv(shape_names[i], value, 1);
    }
    const char *id = of_group("SLURM_JOB_ID", group),
               *nodes = of_group("SLURM_JOB_NODELIST", group);
    const char *n_nodes = of_group("SLURM_JOB_NUM_NODES", group);
    if (id)
        setenv("SLURM_JOBID", id, 1);
    if (nodes)
        setenv("SLURM_NODELIST", nodes, 1);
    if (n_nodes)
        setenv("SLURM_NNODES", n_nodes, 1);
}

void srun_het_choose(struct srun *part, uint32_t group) {
    const char *id = of_group("SLURM_JOB_ID", group);
    uint64_t number;
    if (id && str_to_u64(id, &number) && part->options.jobid_text &&
        !strpbrk(part->options.jobid_text, "_+"))
        part->options.jobid = (uint32_t) number;
}

/* ---- which components ---- */

static int read_groups(const struct cli *cli, const char *text, uint32_t size, struct idset *ret) {
    struct error err = ERROR_INIT;
    if (idset_parse(ret, text, UINT32_MAX - 2, NULL, &err) < 0 || idset_count(ret) == 0) {
        cli_error(cli, "Invalid --het-group value: %s", text);
        return cli->error_status;
    }
    uint32_t last = idset_max(ret);
    if (last < size)
        return CLI_GO_ON;
    cli_error(cli, "Requested het-group offset exceeds highest hetjob index (%u > %u)", last,
              max_of(size, 1u) - 1);
    return cli->error_status;
}

static const char *asked(enum option_id id, char **words, size_t n) {
    struct option_set set = option_set_of(OPTION_SRUN, "srun");
    struct option_uses uses = {0};
    cleanup_str struct str complaint = STR_INIT;
    const char *value = NULL;
    if (option_scan(&set, words, n, OPTION_STOP, &uses, &complaint)) {
        vec_each (&uses.options, use)
            value = use->row->id == id ? use->value : value;
    }
    option_uses_done(&uses);
    return value;
}

/* The next part: the words of a group of the command line for one component. */
static int part_add(const struct cli *cli, struct srun_parts *parts, char **argv, size_t first,
                    size_t n, uint32_t group) {
    for (size_t i = 0; i < parts->n; i++) {
        if (parts->items[i].group == group) {
            cli_fatal(cli, "Duplicate het groups in single srun not supported");
            return cli->error_status;
        }
    }
    if (parts->n == HET_COMPONENTS_MAX) {
        cli_error(cli, "a step may be in %u components at most", HET_COMPONENTS_MAX);
        return cli->error_status;
    }
    /* Tasks are numbered through the components in their order, however the groups are written. */
    size_t at = parts->n++;
    for (; at > 0 && parts->items[at - 1].group > group; at--)
        parts->items[at] = parts->items[at - 1];
    struct srun_part *part = &parts->items[at];
    part->group = group;
    part->argc = (int) n + 1;
    part->argv = xcalloc(n + 2, sizeof(char *));
    part->argv[0] = argv[0];
    memcpy(part->argv + 1, argv + first, n * sizeof(char *));
    return CLI_GO_ON;
}

static int group_read(const struct cli *cli, struct srun_parts *parts, char **argv, size_t first,
                      size_t n, uint32_t size, size_t index) {
    struct idset groups cleanup_idset = IDSET_INIT;
    const char *wanted = parts->own ? NULL : asked(OPT_het_group, argv + first, n);
    if (!wanted && !parts->own && index >= max_of(size, 1u)) {
        cli_error(cli,
                  "Attempt to run a job step with het group value of %zu, but the job allocation "
                  "has maximum value of %u",
                  index, max_of(size, 1u) - 1);
        return cli->error_status;
    }
    if (!wanted)
        return part_add(cli, parts, argv, first, n, (uint32_t) index);
    int status = size > 0 ? read_groups(cli, wanted, size, &groups) : CLI_GO_ON;
    if (status != CLI_GO_ON)
        return status;
    if (size == 0) /* no heterogeneous job: it has nothing to choose from */
        return part_add(cli, parts, argv, first, n, (uint32_t) index);
    uint32_t group = 0;
    for (bool more = idset_next(&groups, 0, &group); more && status == CLI_GO_ON;
         more = idset_next(&groups, group + 1, &group))
        status = part_add(cli, parts, argv, first, n, group);
    return status;
}

/* ---- the job around us ---- */

static void learn(void *context, const char *name, const char *value) {
    setenv(name, value, 1);
}

/* Of a job that we are not in by our environment, what it is made of. */
static int learn_components(const struct cli *cli, uint32_t job_id) {
    struct error err = ERROR_INIT;
    struct cli_link link = {0};
    struct cli_reply reply;
    struct alloc_end question = {.job_id = job_id};
    int rc = cli_ask(cli, MSG_ALLOC_ATTACH, &question, &link, &reply, &err);
    if (rc == 0 && reply.type == MSG_ALLOC_GRANTED) {
        const struct alloc_granted *granted = reply.body;
        if (granted->components.n > 0)
            het_env_each(granted->components.items, granted->components.n, true, learn, NULL);
    }
    cli_link_close(&link);
    if (rc == 0)
        return CLI_GO_ON;
    cleanup_free char *prefix = xasprintf("Unable to confirm allocation for job %u", job_id);
    return cli_failure(cli, prefix, &err);
}

/* Which job the words or the environment name; 0: none, it is ours to ask for. */
static uint32_t job_around(char **words, size_t n) {
    const char *text = asked(OPT_jobid, words, n);
    uint64_t id = 0;
    if (!text)
        text = getenv("SLURM_JOB_ID");
    if (!text)
        text = getenv("SLURM_JOBID");
    return text && str_to_u64(text, &id) && id <= UINT32_MAX ? (uint32_t) id : 0;
}

/* Do the variables that we have tell of this job? */
static bool is_known(uint32_t job_id) {
    const char *text = getenv("SLURM_JOB_ID_HET_GROUP_0");
    uint64_t id;
    return known_size() > 0 && text && str_to_u64(text, &id) && id == job_id;
}

/* How many components there are to choose from: *ret_size, and srun_het_enter() knows them. */
static int find_components(const struct cli *cli, size_t argc, char **argv,
                           struct srun_parts *parts, uint32_t *ret_size) {
    bool several = false;
    for (size_t i = 1; i < argc; i++)
        several = several || str_equal(argv[i], ":");
    uint32_t job_id = job_around(argv + 1, argc - 1);
    bool named = asked(OPT_jobid, argv + 1, argc - 1) != NULL;
    parts->own = several && job_id == 0 && !named;
    *ret_size = 0;
    if (parts->own)
        return CLI_GO_ON;
    bool chooses = several || asked(OPT_het_group, argv + 1, argc - 1) != NULL;
    int status = CLI_GO_ON;
    if (job_id != 0 && !is_known(job_id) && chooses && (named || known_size() == 0)) {
        unsetenv("SLURM_HET_SIZE");
        status = learn_components(cli, job_id);
    }
    *ret_size = named && !is_known(job_id) ? 0 : known_size();
    return status;
}

int srun_het_read(const struct cli *cli, int argc, char **argv, struct srun_parts *parts) {
    size_t first = 1, index = 0;
    int status = find_components(cli, (size_t) argc, argv, parts, &parts->size);
    for (size_t i = 1; i <= (size_t) argc && status == CLI_GO_ON; i++) {
        if (i < (size_t) argc && !str_equal(argv[i], ":"))
            continue;
        status = group_read(cli, parts, argv, first, i - first, parts->size, index++);
        first = i + 1;
    }
    return status;
}

/* ---- an allocation of our own ---- */

int srun_het_scan(const struct cli *cli, const struct srun_parts *parts,
                  struct components *ret_components) {
    struct option_set set = option_set_of(OPTION_SRUN, cli->name);
    int status = CLI_GO_ON;
    ret_components->n_script = 1;
    for (size_t i = 0; i < parts->n && status == CLI_GO_ON; i++) {
        const struct srun_part *part = &parts->items[i];
        status = cli_scan(cli, &set, part->argv + 1, (size_t) part->argc - 1, OPTION_STOP,
                          &ret_components->groups[ret_components->n++]);
    }
    return status;
}

void srun_het_share(struct srun *srun) {
    struct job_request *first = &srun->options.job;
    for (size_t p = 1; p < srun->n_parts; p++) {
        struct job_request *job = &srun->parts[p]->options.job;
        first->immediate = min_of(first->immediate, job->immediate);
        if (!options_given(&srun->parts[p]->options, OPT_job_name))
            string_set(&job->name, first->name);
    }
}

/* From now on each part asks for its step in the component that is its own. */
int srun_het_granted(struct srun *srun, const struct alloc_granted *granted) {
    cleanup_str struct str variables = STR_INIT;
    if (granted->components.n != srun->n_parts) {
        cli_error(&srun->cli, "%s: %s", option_failure_prefix(OPTION_SRUN),
                  error_text(ERR_PROTOCOL));
        return srun->cli.error_status;
    }
    het_env_print(granted->components.items, granted->components.n, false, &variables);
    for (size_t p = 0; p < srun->n_parts; p++) {
        struct srun *part = srun->parts[p];
        part->options.jobid = granted->components.items[p].job_id;
        str_append_bytes(&part->environment, variables.data, variables.length);
    }
    return CLI_GO_ON;
}

/* ---- one layout ---- */

static void ranks_copy(struct step_node *node, uint32_t first) {
    uint32_t *ranks = xcalloc(node->ranks.n + 1, sizeof(*ranks));
    for (uint32_t i = 0; i < node->ranks.n; i++)
        ranks[i] = node->ranks.items[i] + first;
    node->ranks.items = ranks; /* as long as srun lives */
}

static void merge_texts(struct srun *srun, struct step_layout *all) {
    struct hostlist nodes cleanup_hostlist = HOSTLIST_INIT, held cleanup_hostlist = HOSTLIST_INIT;
    struct str nodelist = STR_INIT, job_nodelist = STR_INIT, counts = STR_INIT;
    cleanup_free uint32_t *tasks = xcalloc(all->nodes.n + 1, sizeof(*tasks));
    for (uint32_t i = 0; i < all->nodes.n; i++) {
        hostlist_push(&nodes, all->nodes.items[i].name);
        tasks[i] = all->nodes.items[i].ranks.n;
    }
    for (size_t p = 0; p < srun->n_parts; p++)
        (void) !hostlist_parse(&held, srun->parts[p]->own_layout->job_nodelist, NULL);
    hostlist_unique(&held);
    hostlist_fold(&nodes, &nodelist);
    hostlist_fold(&held, &job_nodelist);
    counted_list_print(tasks, all->nodes.n, &counts);
    all->nodelist = str_take(&nodelist);
    all->job_nodelist = str_take(&job_nodelist);
    all->tasks_per_node = str_take(&counts);
    all->job_num_nodes = (uint32_t) held.n;
}

void srun_het_merge(struct srun *srun) {
    struct step_layout *all = zalloc(struct step_layout);
    uint32_t n_nodes = 0;
    for (size_t p = 0; p < srun->n_parts; p++) {
        struct srun *part = srun->parts[p];
        part->own_layout = part->layout;
        n_nodes += part->layout->nodes.n;
    }
    *all = *srun->layout;
    all->nodes.items = xcalloc(n_nodes + 1, sizeof(struct step_node));
    all->nodes.n = all->ntasks = 0;
    for (size_t p = 0; p < srun->n_parts; p++) {
        struct srun *part = srun->parts[p];
        const struct step_layout *own = part->own_layout;
        part->first_node = all->nodes.n;
        part->first_rank = all->ntasks;
        for (uint32_t i = 0; i < own->nodes.n; i++) {
            struct step_node *node = &all->nodes.items[all->nodes.n++];
            *node = own->nodes.items[i];
            ranks_copy(node, part->first_rank);
        }
        all->ntasks += own->ntasks;
    }
    merge_texts(srun, all);
    srun->layout = all;
}
