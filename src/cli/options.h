/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the submitting commands: from words, `#SBATCH` lines and the environment into a
 * struct options. The rows stand in options_table.h.
 *
 *     struct options options;
 *     options_init(&options, OPTION_SBATCH);
 *     option_scan(…words…) → option_uses          syntax, as getopt_long has it
 *     options_apply_environment(…)                values; later calls win, so: script,
 *     options_apply(…uses…)                       environment, command line
 *     options_finish(…)                           what needs all options at once
 *
 * A failing call fills options.problem: the lines to print and the exit status. Nothing here
 * prints, exits or reads the environment by itself; files are read for -w FILE, -F and --bbf.
 */
#ifndef SLUICE_CLI_OPTIONS_H
#define SLUICE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/options_table.h"
#include "model/job.h"
#include "model/messages.h"

enum option_command {
    OPTION_SBATCH = 1,
    OPTION_SRUN = 2,
    OPTION_SALLOC = 4,
};

enum option_id {
#define X(id, ...) OPT_##id,
    OPTION_TABLE(X)
#undef X
        OPT_COUNT
};

enum option_argument { OPTION_NO, OPTION_REQUIRED, OPTION_OPTIONAL };
enum option_effect { OPTION_HONOURED, OPTION_NOT_YET };
enum option_group {
    OPTION_GROUP_JOB,
    OPTION_GROUP_SIZE,
    OPTION_GROUP_PLACE,
    OPTION_GROUP_IO,
    OPTION_GROUP_COMMAND,
    OPTION_GROUP_STEP,
    OPTION_GROUP_GENERAL,
    OPTION_GROUPS
};
/* Who set an option last. */
enum option_origin {
    OPTION_UNSET,
    OPTION_FILTER, /* cli_filter.lua, see cli/filter.h */
    OPTION_SCRIPT,
    OPTION_ENVIRONMENT,
    OPTION_LINE,
};

struct options;
struct option_row {
    uint16_t id;
    uint16_t target; /* offset in struct options */
    char letter;
    uint8_t argument, commands, tier, effect, group;
    const char *name, *environment, *metavar, *help;
    /* value is NULL when none was given. Returns 0, or -ERR_INVALID with options->problem set. */
    int (*parse)(struct options *options, const struct option_row *row, const char *value);
};
extern const struct option_row option_rows[OPT_COUNT];

/* What is wrong with the words or values given. */
struct option_problem {
    int status;      /* exit status */
    bool fatal;      /* "fatal:" instead of "error:" */
    struct str raw;  /* printed as it is, before */
    struct str text; /* each line is printed with the command's name in front */
};

struct options {
    enum option_command command;
    struct job_request job; /* members owned by malloc */

    /* ---- texts that options_finish() turns into members of job ---- */
    char *gres, *gpus, *gpus_per_node, *gpus_per_task, *gpus_per_socket, *tres_per_task;
    char *propagate; /* NULL: not given, "" = all */
    char *export_file;

    /* ---- what the command itself does ---- */
    char *wrap;
    bool parsable, test_only, wait, no_shell, explain;
    uint32_t advice;       /* enum tristate */
    uint32_t bare_memory;  /* ADVICE_BARE_…: sizes that were given without a unit */
    uint32_t bell;         /* enum option_bell */
    uint32_t kill_command; /* signal; UNSET32: not asked */
    int verbose;           /* -v counts up */
    bool quiet;
    uint16_t info; /* OPT_help, OPT_usage, OPT_version, OPT_autocomplete, OPT_hint (=help); or 0 */

    /* ---- steps: srun ---- */
    uint32_t jobid;   /* --jobid or SLURM_JOB_ID; 0 = none */
    char *jobid_text; /* as given: "12", "12_3" */
    bool label, unbuffered, multi_prog, exact, overlap, overlap_force, disable_status;
    bool quit_on_interrupt, interactive, pty, preserve_env;
    uint32_t relative;         /* UNSET32 */
    uint32_t kill_on_bad_exit; /* UNSET32: as the configuration says */
    uint32_t wait_seconds;     /* UNSET32: as the configuration says */
    char *prolog, *epilog;     /* of srun itself */
    char *mpi, *task_epilog, *task_prolog;
    char *het_group;        /* "0,2-3" */
    char *bcast, *compress; /* "" or NULL: no value given, see options_given() */

    /* ---- where values go that are checked and read by nobody: all that counts of such an option
     * is that it was given (`origin`) ---- */
    bool unread_flag;
    uint32_t unread_number;
    char *unread_text;

    uint32_t n_required_hosts; /* distinct names of --nodelist, 0 when not readable */
    int64_t now;               /* for --begin and --deadline; set by the caller after init */
    char self;                 /* the target of rows that have none */
    uint8_t origin[OPT_COUNT]; /* enum option_origin */
    char *given[OPT_COUNT];    /* the value as it was written last, NULL: none */
    struct option_problem problem;
    struct str warnings; /* lines for "<cmd>: warning: ", each ended by \n */
};
enum option_bell { BELL_WHEN_LATE, BELL_ALWAYS, BELL_NEVER };

void options_init(struct options *options, enum option_command command);
void options_done(struct options *options);
static inline bool options_given(const struct options *options, enum option_id id) {
    return options->origin[id] != OPTION_UNSET;
}

/* ---- words → uses ---- */
struct option_use {
    const struct option_row *row;
    const char *value; /* borrowed from the words */
};
struct option_uses {
    vec(struct option_use) options;
    vec(char *) rest; /* non-option words, borrowed */
};
void option_uses_done(struct option_uses *uses);
enum option_order {
    OPTION_STOP,    /* the first non-option ends the options: commands that run something */
    OPTION_PERMUTE, /* options may stand anywhere */
};
/* Rows and aliases that a scan chooses from. */
struct option_alias {
    const char *name;
    uint16_t id;
    uint8_t commands;
};
struct option_set {
    const char *program;
    const struct option_row *rows; /* rows[i].id == i is not needed */
    size_t n_rows;
    const struct option_alias *aliases;
    size_t n_aliases;
    uint8_t command; /* only rows with this bit */
};
struct option_set option_set_of(enum option_command command, const char *program);
/* Appends what `words` say. False with the getopt-like complaint ("sbatch: unrecognized option
 * '--foo'", without newline) in `complaint`. */
bool option_scan(const struct option_set *set, char *const *words, size_t n_words,
                 enum option_order order, struct option_uses *uses, struct str *complaint);

/* ---- uses → values ---- */
must_check int options_apply(struct options *options, const struct option_uses *uses,
                             enum option_origin origin);
/* The same but for what a component of a heterogeneous job does not take over from those before it
 * (option_is_own). */
must_check int options_apply_inherited(struct options *options, const struct option_uses *uses,
                                       enum option_origin origin);
/* Sizes and places are a component's own. */
bool option_is_own(const struct option_row *row);
/* One option; value NULL: none. */
must_check int options_set(struct options *options, const struct option_row *row, const char *value,
                           enum option_origin origin);
/* Looks at envp ("NAME=value", NULL-terminated). */
must_check int options_apply_environment(struct options *options, char *const *envp);
/* The next variable that a row reads for this command, in the order in which they are tried; false
 * after the last one. *cursor begins at row->environment. */
bool option_variable_next(enum option_command command, const char **cursor, struct str *ret_name);
/* Does a variable of this value switch a flag on? Empty, "yes" and numbers but 0 do. */
bool option_variable_is_on(const char *value);
/* Checks and fills what depends on several options. */
must_check int options_finish(struct options *options);
/* The step that srun's options ask for. job_id, srun_host, srun_pid, submit_line are the caller's.
 * `step` is initialised and owned by malloc. */
void options_step(const struct options *options, struct step_request *step);
/* Which of the step's GPUs a task sees, as --gpu-bind writes it ("per_task:1"): what was asked for,
 * else what --gpus-per-task or --ntasks-per-gpu imply. NULL = all; malloc. */
char *options_gpu_bind(const struct options *options);
/* "--network, --exclusive=mcs" of what was given and has no effect yet; false when there is none.
 */
bool options_without_effect(const struct options *options, struct str *out);
const char *option_command_name(enum option_command command);
const char *option_command_synopsis(enum option_command command);
/* "Batch job submission failed" and its kin: what stands before a refusal's reason. */
const char *option_failure_prefix(enum option_command command);

/* ---- derived texts ---- */
/* "  -d, --dir=DIR   what it does": a line a row of a set; the text begins in a column of its own,
 * `width` characters from the left or behind a longer name. */
void option_set_print(const struct option_set *set, size_t width, struct str *out);
void options_print_help(enum option_command command, struct str *out);
void options_print_usage(enum option_command command, struct str *out);
/* The OPTIONS and ENVIRONMENT sections of the manual page, in scdoc's language. */
void options_print_manual(enum option_command command, struct str *out);
void options_print_completion(enum option_command command, struct str *out);
void options_print_hints(struct str *out);
void options_print_mem_binds(struct str *out);
void options_print_cpu_binds(struct str *out); /* --hint=help */

/* ---- for parsers ---- */
/* --ntasks-per-gpu gives the number of tasks from that of the GPUs, or the other way round. */
void options_tasks_of_gpus(struct options *options);
/* GPUs of job, nodes, tasks and sockets: fills in what follows from two of them. */
must_check int options_check_gpus(struct options *options);
int option_bad(struct options *options, int status, const char *fmt, ...) printf_like(3, 4);
/* The first `count` different names of a host list, folded; a new text. */
char *options_first_hosts(const char *list, size_t count);
/* "Invalid --name specification", exit status 255. */
int option_bad_value(struct options *options, const struct option_row *row);
#define OPTION_PARSERS(X)                                                                          \
    X(string)                                                                                      \
    X(acctg_freq)                                                                                  \
    X(flag)                                                                                        \
    X(when)                                                                                        \
    X(minutes)                                                                                     \
    X(time_limit)                                                                                  \
    X(immediate)                                                                                   \
    X(yes_no)                                                                                      \
    X(mail_type)                                                                                   \
    X(nice)                                                                                        \
    X(no_requeue)                                                                                  \
    X(priority)                                                                                    \
    X(requeue)                                                                                     \
    X(signal)                                                                                      \
    X(zero_one)                                                                                    \
    X(count)                                                                                       \
    X(count0)                                                                                      \
    X(exclusive)                                                                                   \
    X(gpu_bind)                                                                                    \
    X(tres_bind)                                                                                   \
    X(cpu_bind)                                                                                    \
    X(gpus)                                                                                        \
    X(gres)                                                                                        \
    X(gres_flags)                                                                                  \
    X(mem)                                                                                         \
    X(nodes)                                                                                       \
    X(oversubscribe)                                                                               \
    X(cpu_freq)                                                                                    \
    X(distribution)                                                                                \
    X(hosts)                                                                                       \
    X(extra_node_info)                                                                             \
    X(hint)                                                                                        \
    X(mem_bind)                                                                                    \
    X(nodefile)                                                                                    \
    X(nodelist)                                                                                    \
    X(switches)                                                                                    \
    X(readable_file)                                                                               \
    X(get_user_env)                                                                                \
    X(gid)                                                                                         \
    X(x11)                                                                                         \
    X(no_kill)                                                                                     \
    X(open_mode)                                                                                   \
    X(profile)                                                                                     \
    X(propagate)                                                                                   \
    X(uid)                                                                                         \
    X(bell)                                                                                        \
    X(no_bell)                                                                                     \
    X(kill_command)                                                                                \
    X(jobid)                                                                                       \
    X(overlap)                                                                                     \
    X(verbose)                                                                                     \
    X(info)
#define X(name)                                                                                    \
    int option_parse_##name(struct options *options, const struct option_row *row,                 \
                            const char *value);
OPTION_PARSERS(X)
#undef X

#endif
