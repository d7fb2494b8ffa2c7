/* SPDX-License-Identifier: Apache-2.0 */
/* The rows themselves, and applying them to a struct options in order of precedence. */
#include "cli/options.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define ARGUMENT_NO OPTION_NO
#define ARGUMENT_REQUIRED OPTION_REQUIRED
#define ARGUMENT_OPTIONAL OPTION_OPTIONAL
#define COMMANDS_B OPTION_SBATCH
#define COMMANDS_R OPTION_SRUN
#define COMMANDS_A OPTION_SALLOC
#define COMMANDS_BR (OPTION_SBATCH | OPTION_SRUN)
#define COMMANDS_RA (OPTION_SRUN | OPTION_SALLOC)
#define COMMANDS_BA (OPTION_SBATCH | OPTION_SALLOC)
#define COMMANDS_BRA (OPTION_SBATCH | OPTION_SRUN | OPTION_SALLOC)

const struct option_row option_rows[OPT_COUNT] = {
#define X(id_, name_, letter_, argument_, commands_, environment_, parser_, target_, tier_,        \
          effect_, group_, metavar_, help_)                                                        \
    [OPT_##id_] = {                                                                                \
        .id = OPT_##id_,                                                                           \
        .target = offsetof(struct options, target_),                                               \
        .letter = letter_,                                                                         \
        .argument = ARGUMENT_##argument_,                                                          \
        .commands = COMMANDS_##commands_,                                                          \
        .tier = tier_,                                                                             \
        .effect = OPTION_##effect_,                                                                \
        .group = OPTION_GROUP_##group_,                                                            \
        .name = name_,                                                                             \
        .environment = environment_,                                                               \
        .metavar = metavar_,                                                                       \
        .help = help_,                                                                             \
        .parse = option_parse_##parser_,                                                           \
    },
    OPTION_TABLE(X)
#undef X
};

static const struct option_alias option_aliases[] = {
#define X(name, id, commands) {name, OPT_##id, COMMANDS_##commands},
    OPTION_ALIASES(X)
#undef X
};

struct option_set option_set_of(enum option_command command, const char *program) {
    return (struct option_set) {
        .program = program,
        .rows = option_rows,
        .n_rows = OPT_COUNT,
        .aliases = option_aliases,
        .n_aliases = countof(option_aliases),
        .command = (uint8_t) command,
    };
}

/* What each command says about itself. */
static const struct command {
    enum option_command command;
    char letter; /* in the environment's column */
    const char *name, *environment, *failure, *synopsis;
} commands[] = {
    {OPTION_SBATCH, 'b', "sbatch", "SBATCH_", "Batch job submission failed",
     "sbatch [OPTIONS...] [: OPTIONS...]... [SCRIPT [ARGUMENTS...]]"},
    {OPTION_SRUN, 'r', "srun", "SLURM_", "Unable to allocate resources",
     "srun [OPTIONS...] PROGRAM [ARGUMENTS...] [: [OPTIONS...] PROGRAM [ARGUMENTS...]]..."},
    {OPTION_SALLOC, 'a', "salloc", "SALLOC_", "Job submit/allocate failed",
     "salloc [OPTIONS...] [PROGRAM [ARGUMENTS...]]"},
};

static const struct command *command_of(enum option_command command) {
    for (size_t i = 0; i < countof(commands); i++)
        if (commands[i].command == command)
            return &commands[i];
    assert(!"unknown command");
    return NULL;
}

const char *option_command_name(enum option_command command) {
    return command_of(command)->name;
}

const char *option_command_synopsis(enum option_command command) {
    return command_of(command)->synopsis;
}

const char *option_failure_prefix(enum option_command command) {
    return command_of(command)->failure;
}

void options_init(struct options *options, enum option_command command) {
    memset(options, 0, sizeof(*options));
    options->command = command;
    record_init(&record_job_request, &options->job);
    options->kill_command = UNSET32;
    options->relative = options->kill_on_bad_exit = options->wait_seconds = UNSET32;
}

void options_done(struct options *options) {
    record_done(&record_job_request, &options->job);
    char **texts[] = {
        &options->gres,
        &options->gpus,
        &options->gpus_per_node,
        &options->gpus_per_task,
        &options->gpus_per_socket,
        &options->tres_per_task,
        &options->propagate,
        &options->export_file,
        &options->wrap,
        &options->jobid_text,
        &options->mpi,
        &options->prolog,
        &options->epilog,
        &options->task_epilog,
        &options->task_prolog,
        &options->het_group,
        &options->unread_text,
    };
    for (size_t i = 0; i < countof(texts); i++)
        free(take(*texts[i]));
    for (size_t i = 0; i < OPT_COUNT; i++)
        free(take(options->given[i]));
    str_done(&options->problem.raw);
    str_done(&options->problem.text);
    str_done(&options->warnings);
}

int option_bad(struct options *options, int status, const char *fmt, ...) {
    struct option_problem *problem = &options->problem;
    problem->status = status;
    if (problem->text.length)
        str_append_char(&problem->text, '\n');
    va_list args;
    va_start(args, fmt);
    str_vprintf(&problem->text, fmt, args);
    va_end(args);
    return -ERR_INVALID;
}

int option_bad_value(struct options *options, const struct option_row *row) {
    return option_bad(options, 255, "Invalid --%s specification", row->name);
}

int options_set(struct options *options, const struct option_row *row, const char *value,
                enum option_origin origin) {
    int rc = row->parse(options, row, value);
    if (rc < 0)
        return rc;
    options->origin[row->id] = (uint8_t) origin;
    string_set(&options->given[row->id], value);
    return 0;
}

int options_apply(struct options *options, const struct option_uses *uses,
                  enum option_origin origin) {
    for (size_t i = 0; i < uses->options.n; i++) {
        const struct option_use *use = &uses->options.items[i];
        int rc = options_set(options, use->row, use->value, origin);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- components ---- */

/* --mem, --hint and --exclude are not among them, as users know it. */
static const uint16_t own_options[] = {
    OPT_array,
    OPT_licenses,
    OPT_partition,
    OPT_core_spec,
    OPT_cpus_per_gpu,
    OPT_cpus_per_task,
    OPT_exclusive,
    OPT_gpu_bind,
    OPT_gpu_freq,
    OPT_gpus,
    OPT_gpus_per_node,
    OPT_gpus_per_socket,
    OPT_gpus_per_task,
    OPT_gres,
    OPT_gres_flags,
    OPT_mem_per_cpu,
    OPT_mem_per_gpu,
    OPT_mincpus,
    OPT_nodes,
    OPT_ntasks,
    OPT_ntasks_per_core,
    OPT_ntasks_per_gpu,
    OPT_ntasks_per_node,
    OPT_ntasks_per_socket,
    OPT_overcommit,
    OPT_oversubscribe,
    OPT_thread_spec,
    OPT_tmp,
    OPT_tres_bind,
    OPT_tres_per_task,
    OPT_constraint,
    OPT_contiguous,
    OPT_distribution,
    OPT_extra_node_info,
    OPT_cores_per_socket,
    OPT_nodefile,
    OPT_nodelist,
    OPT_prefer,
    OPT_sockets_per_node,
    OPT_spread_job,
    OPT_switches,
    OPT_threads_per_core,
    OPT_use_min_nodes,
};

bool option_is_own(const struct option_row *row) {
    for (size_t i = 0; i < countof(own_options); i++) {
        if (own_options[i] == row->id)
            return true;
    }
    return false;
}

int options_apply_inherited(struct options *options, const struct option_uses *uses,
                            enum option_origin origin) {
    for (size_t i = 0; i < uses->options.n; i++) {
        const struct option_use *use = &uses->options.items[i];
        int rc = option_is_own(use->row) ? 0 : options_set(options, use->row, use->value, origin);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- the environment ---- */

static const char *environment_get(char *const *envp, const char *name, size_t length) {
    for (; *envp; envp++)
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
            return *envp + length + 1;
    return NULL;
}

bool option_variable_next(enum option_command command, const char **cursor, struct str *ret_name) {
    const struct command *row = command_of(command);
    while (**cursor) {
        const char *word = *cursor, *end = word + strcspn(word, " ");
        const char *colon = memchr(word, ':', (size_t) (end - word));
        *cursor = end + strspn(end, " ");
        if (colon && !memchr(word, row->letter, (size_t) (colon - word)))
            continue;
        word = colon ? colon + 1 : word;
        str_reset(ret_name);
        if (*word == '*')
            str_append(ret_name, row->environment);
        word += *word == '*';
        str_append_bytes(ret_name, word, (size_t) (end - word));
        return true;
    }
    return false;
}

static const char *environment_value(const struct option_row *row, enum option_command command,
                                     char *const *envp, struct str *name) {
    for (const char *cursor = row->environment; option_variable_next(command, &cursor, name);) {
        const char *value = environment_get(envp, name->data, name->length);
        if (value)
            return value;
    }
    return NULL;
}

/* Empty, "yes" and numbers but 0 switch a flag on. */
bool option_variable_is_on(const char *value) {
    return !*value || strcasecmp(value, "yes") == 0 || atoi(value) != 0;
}

static int apply_variables(struct options *options, char *const *envp) {
    cleanup_str struct str name = STR_INIT;
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (!(row->commands & options->command) || !*row->environment)
            continue;
        const char *value = environment_value(row, options->command, envp, &name);
        if (!value || (row->argument == OPTION_NO && !option_variable_is_on(value)))
            continue;
        if (row->argument == OPTION_OPTIONAL && !*value)
            value = NULL;
        int rc = options_set(options, row, value, OPTION_ENVIRONMENT);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* One option, but two variables. */
static int apply_switch_wait(struct options *options, char *const *envp) {
    cleanup_str struct str name = STR_INIT, text = STR_INIT;
    str_printf(&name, "%sWAIT4SWITCH", command_of(options->command)->environment);
    const char *wait = environment_get(envp, name.data, name.length);
    const char *switches = options->job.switches;
    if (!wait || !switches || strchr(switches, '@'))
        return 0;
    str_printf(&text, "%s@%s", switches, wait);
    return options_set(options, &option_rows[OPT_switches], text.data, OPTION_ENVIRONMENT);
}

int options_apply_environment(struct options *options, char *const *envp) {
    vec(char *) ours = {0}; /* every name starts with S; the rest is not looked at 150 times */
    for (; *envp; envp++)
        if (**envp == 'S')
            vec_push(&ours, *envp);
    vec_push(&ours, NULL);
    int rc = apply_variables(options, ours.items);
    if (rc == 0)
        rc = apply_switch_wait(options, ours.items);
    vec_done(&ours);
    return rc;
}

bool options_without_effect(const struct options *options, struct str *out) {
    bool any = false;
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (row->effect != OPTION_NOT_YET || !options->origin[i])
            continue;
        if (any)
            str_append(out, ", ");
        str_printf(out, "--%s", row->name);
        any = true;
    }
    uint32_t exclusive = options->job.exclusive;
    if (exclusive == EXCLUSIVE_MCS || exclusive == EXCLUSIVE_TOPO) {
        str_printf(out, "%s--exclusive=%s", any ? ", " : "",
                   exclusive == EXCLUSIVE_MCS ? "mcs" : "topo");
        any = true;
    }
    return any;
}
