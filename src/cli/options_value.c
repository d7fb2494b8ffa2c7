/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per kind of option value: from its text to the members of struct options. The
 * complaints are those that users and scripts know.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "cli/options_parse.h"
#include "model/usage.h"
#include "text/duration.h"
#include "text/size.h"
#include "text/timestamp.h"
#include "text/tres.h"

#define NICE_LIMIT 2147483645
#define NICE_DEFAULT 100
#define COUNT_MAX 2147483647u
#define PRIORITY_LIMIT 4294967294u
#define SIGNAL_SECONDS_DEFAULT 60
#define SIGNAL_SECONDS_MAX 65535

char **option_text(struct options *options, const struct option_row *row) {
    return (char **) ((char *) options + row->target);
}
static uint32_t *option_u32(struct options *options, const struct option_row *row) {
    return (uint32_t *) ((char *) options + row->target);
}

/* What variables of options with an optional value hold when they just switch it on. */
static bool is_plain_yes(const char *value) {
    return strcasecmp(value, "yes") == 0 || strcmp(value, "1") == 0;
}

/* ---- plain kinds ---- */

int option_parse_string(struct options *options, const struct option_row *row, const char *value) {
    string_set(option_text(options, row), value ? value : "");
    return 0;
}

int option_parse_acctg_freq(struct options *options, const struct option_row *row,
                            const char *value) {
    uint32_t seconds = 0;
    if (acctg_freq_parse(value, &seconds, NULL) < 0)
        return option_bad(options, 255, "Invalid --%s specification: %s", row->name, value);
    return option_parse_string(options, row, value);
}

int option_parse_flag(struct options *options, const struct option_row *row, const char *value) {
    *(bool *) ((char *) options + row->target) = true;
    return 0;
}

int option_bad_number(struct options *options, const struct option_row *row, const char *value) {
    return option_bad(options, 1, "Invalid numeric value \"%s\" for --%s.", value, row->name);
}

/* Decimal digits only. What is too large to count is a slip of the keyboard, and no number. */
bool option_count(const char *value, uint32_t *ret) {
    uint64_t number;
    if (!str_to_u64(value, &number) || number > COUNT_MAX)
        return false;
    *ret = (uint32_t) number;
    return true;
}

int option_parse_count(struct options *options, const struct option_row *row, const char *value) {
    uint32_t number;
    if (!option_count(value, &number) || number == 0)
        return option_bad_number(options, row, value);
    *option_u32(options, row) = number;
    return 0;
}

int option_parse_count0(struct options *options, const struct option_row *row, const char *value) {
    uint32_t number;
    if (!option_count(value, &number))
        return option_bad_number(options, row, value);
    *option_u32(options, row) = number;
    return 0;
}

int option_parse_zero_one(struct options *options, const struct option_row *row,
                          const char *value) {
    uint32_t number = 1;
    if (value && !option_count(value, &number))
        return option_bad_number(options, row, value);
    if (number > 1)
        return option_bad_value(options, row);
    *option_u32(options, row) = number;
    return 0;
}

int option_parse_yes_no(struct options *options, const struct option_row *row, const char *value) {
    if (strcasecmp(value, "yes") == 0)
        *option_u32(options, row) = TRI_YES;
    else if (strcasecmp(value, "no") == 0)
        *option_u32(options, row) = TRI_NO;
    else
        return option_bad_value(options, row);
    return 0;
}

int option_parse_mem(struct options *options, const struct option_row *row, const char *value) {
    uint64_t mib;
    if (mem_parse(value, &mib, NULL) < 0)
        return option_bad_value(options, row);
    *(uint64_t *) ((char *) options + row->target) = mib;
    uint32_t bare = row->id == OPT_mem           ? ADVICE_BARE_MEM
                    : row->id == OPT_mem_per_cpu ? ADVICE_BARE_MEM_PER_CPU
                    : row->id == OPT_mem_per_gpu ? ADVICE_BARE_MEM_PER_GPU
                                                 : 0;
    if (value[strspn(value, "0123456789")] == '\0')
        options->bare_memory |= bare;
    else
        options->bare_memory &= ~bare;
    return 0;
}

/* ---- time ---- */

int option_parse_minutes(struct options *options, const struct option_row *row, const char *value) {
    uint32_t minutes;
    if (minutes_parse(value, &minutes, NULL) < 0)
        return option_bad_value(options, row);
    *option_u32(options, row) = minutes;
    return 0;
}

int option_parse_time_limit(struct options *options, const struct option_row *row,
                            const char *value) {
    options->job.time_auto = strcasecmp(value, "auto") == 0;
    if (options->job.time_auto) {
        *option_u32(options, row) = MINUTES_UNSET;
        return 0;
    }
    int r = option_parse_minutes(options, row, value);
    if (r == 0 && *option_u32(options, row) == 0) /* a limit of 0 asks for none */
        *option_u32(options, row) = MINUTES_INFINITE;
    return r;
}

int option_parse_when(struct options *options, const struct option_row *row, const char *value) {
    struct error err = ERROR_INIT;
    if (!*value)
        return option_bad_value(options, row);
    int64_t *target = (int64_t *) ((char *) options + row->target);
    if (timestamp_parse(value, options->now, false, target, &err) < 0) {
        str_printf(&options->problem.raw, "%s\n", err.text);
        return option_bad_value(options, row);
    }
    return 0;
}

int option_parse_immediate(struct options *options, const struct option_row *row,
                           const char *value) {
    uint32_t seconds = 1;
    if (value && !option_count(value, &seconds))
        return option_bad(options, 1, "Invalid numeric value \"%s\" for immediate.", value);
    options->job.immediate = seconds;
    return 0;
}

/* ---- identity, queue ---- */

int option_parse_mail_type(struct options *options, const struct option_row *row,
                           const char *value) {
    uint32_t types;
    if (!mail_types_parse(value, &types))
        return option_bad_value(options, row);
    options->job.mail_type |= types; /* a line for BEGIN and a line for END mean both */
    return 0;
}

int option_parse_nice(struct options *options, const struct option_row *row, const char *value) {
    /* Text that is no number counts as 0, as it always has. */
    long long nice = value ? strtoll(value, NULL, 10) : NICE_DEFAULT;
    if (nice > NICE_LIMIT || nice < -NICE_LIMIT)
        return option_bad(options, 255, "Invalid --nice value, out of range (+/- %d)", NICE_LIMIT);
    options->job.nice = (int32_t) nice;
    return 0;
}

int option_parse_priority(struct options *options, const struct option_row *row,
                          const char *value) {
    if (strcasecmp(value, "TOP") == 0) {
        options->job.requested_priority = PRIORITY_LIMIT - 1;
        return 0;
    }
    uint64_t priority;
    if (!*value || strspn(value, "0123456789") != strlen(value))
        return option_bad_value(options, row);
    if (!str_to_u64(value, &priority) || priority >= PRIORITY_LIMIT)
        return option_bad(options, 255, "Priority must be < %u", PRIORITY_LIMIT);
    options->job.requested_priority = (uint32_t) priority;
    return 0;
}

int option_parse_requeue(struct options *options, const struct option_row *row, const char *value) {
    options->job.requeue = TRI_YES;
    return 0;
}

int option_parse_no_requeue(struct options *options, const struct option_row *row,
                            const char *value) {
    options->job.requeue = TRI_NO;
    return 0;
}

/* `[B|R|RB:]SIGNAL[@SECONDS]` */
int option_parse_signal(struct options *options, const struct option_row *row, const char *value) {
    uint32_t flags = 0, seconds = SIGNAL_SECONDS_DEFAULT;
    cleanup_free char *copy = xstrdup(value);
    char *name = copy, *colon = strchr(copy, ':');
    if (colon) {
        for (const char *p = copy; p < colon; p++) {
            if (*p == 'B' || *p == 'b')
                flags |= WARN_BATCH_ONLY;
            else if (*p == 'R' || *p == 'r')
                flags |= WARN_RESERVATION;
            else
                return option_bad_value(options, row);
        }
        name = colon + 1;
    }
    char *at = strchr(name, '@');
    if (at) {
        *at = '\0';
        if (!option_count(at + 1, &seconds) || seconds > SIGNAL_SECONDS_MAX)
            return option_bad_value(options, row);
    }
    int number;
    if (!signal_number(name, &number) || number <= 0)
        return option_bad_value(options, row);
    options->job.signal = (uint32_t) number;
    options->job.signal_seconds = seconds;
    options->job.signal_flags = flags;
    return 0;
}

/* ---- sizes ---- */

static bool parse_node_count(const char *text, size_t length, uint32_t *ret) {
    cleanup_free char *copy = xstrndup(text, length);
    uint64_t factor = 1;
    if (length && strchr("kK", copy[length - 1]))
        factor = 1024;
    else if (length && strchr("mM", copy[length - 1]))
        factor = 1024 * 1024;
    if (factor > 1)
        copy[length - 1] = '\0';
    uint32_t number;
    if (!option_count(copy, &number))
        return false;
    *ret = (uint32_t) min_of(number * factor, (uint64_t) COUNT_MAX);
    return true;
}

/* `1,5,9` or `1-15:4`: a set of acceptable counts, kept as text. Its bounds are min and max. */
static int parse_node_set(struct options *options, const char *value) {
    uint32_t lowest = UINT32_MAX, highest = 0;
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    for (char *part; (part = str_next_word(&cursor, ",")) != NULL;) {
        char *colon = strchr(part, ':');
        uint32_t step = 1;
        if (colon && (!option_count(colon + 1, &step) || step == 0))
            return option_bad(options, 255, "\"%s\" is not a valid node count", value);
        if (colon)
            *colon = '\0';
        char *dash = strchr(part, '-');
        uint32_t low, high;
        bool ok = parse_node_count(part, dash ? (size_t) (dash - part) : strlen(part), &low);
        high = low;
        if (ok && dash)
            ok = parse_node_count(dash + 1, strlen(dash + 1), &high);
        if (!ok || low == 0)
            return option_bad(options, 255, "\"%s\" is not a valid node count", value);
        if (high < low)
            return option_bad(options, 255,
                              "Maximum node count %u is less than minimum node count %u", high,
                              low);
        lowest = min_of(lowest, low);
        highest = max_of(highest, low + (high - low) / step * step);
    }
    if (highest == 0)
        return option_bad(options, 255, "\"%s\" is not a valid node count", value);
    options->job.min_nodes = lowest;
    options->job.max_nodes = highest;
    string_set(&options->job.node_counts, value);
    return 0;
}

int option_parse_nodes(struct options *options, const struct option_row *row, const char *value) {
    if (strpbrk(value, ",:"))
        return parse_node_set(options, value);
    const char *dash = strchr(value, '-');
    size_t length = dash ? (size_t) (dash - value) : strlen(value);
    uint32_t low, high;
    if (!parse_node_count(value, length, &low))
        return option_bad(options, 255, "\"%s\" is not a valid node count", value);
    high = low;
    if (dash && !parse_node_count(dash + 1, strlen(dash + 1), &high))
        return option_bad(options, 255, "\"%s\" is not a valid node count",
                          dash[1] ? dash + 1 : value);
    if (high < low)
        return option_bad(options, 255, "Maximum node count %u is less than minimum node count %u",
                          high, low);
    if (low == 0)
        return option_bad(options, 1, "%s: %s", option_failure_prefix(options->command),
                          error_text(ERR_NODE_COUNT));
    options->job.min_nodes = low;
    options->job.max_nodes = high;
    string_set(&options->job.node_counts, NULL);
    return 0;
}

/* --exclusive and --oversubscribe undo each other: the later one counts. */
int option_parse_exclusive(struct options *options, const struct option_row *row,
                           const char *value) {
    uint32_t kind = EXCLUSIVE_NODE;
    if (value && is_plain_yes(value))
        value = NULL;
    if (value && strcasecmp(value, "user") == 0)
        kind = EXCLUSIVE_USER;
    else if (value && strcasecmp(value, "mcs") == 0)
        kind = EXCLUSIVE_MCS;
    else if (value && strcasecmp(value, "topo") == 0)
        kind = EXCLUSIVE_TOPO;
    else if (value && !(strcasecmp(value, "allocation") == 0 && options->command == OPTION_SRUN))
        return option_bad_value(options, row);
    options->job.exclusive = kind;
    options->job.oversubscribe = OVERSUB_DEFAULT;
    if (options->command == OPTION_SRUN && !value)
        options->exact = true;
    return 0;
}

int option_parse_oversubscribe(struct options *options, const struct option_row *row,
                               const char *value) {
    options->job.oversubscribe = OVERSUB_YES;
    options->job.exclusive = EXCLUSIVE_NO;
    return 0;
}

static int bad_gres(struct options *options) {
    return option_bad(options, 1, "%s", error_text(ERR_INVALID_GRES));
}

int option_parse_gres(struct options *options, const struct option_row *row, const char *value) {
    if (strcasecmp(value, "help") == 0) {
        options->info = OPT_gres;
        return 0;
    }
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
    struct error err = ERROR_INIT;
    if (gres_parse(value, &list, &err) < 0)
        return bad_gres(options);
    string_set(option_text(options, row), value);
    return 0;
}

int option_parse_gpus(struct options *options, const struct option_row *row, const char *value) {
    cleanup_gres_list struct gres_list list = GRES_LIST_INIT;
    struct error err = ERROR_INIT;
    if (gpus_parse(value, &list, &err) < 0)
        return bad_gres(options);
    string_set(option_text(options, row), value);
    return 0;
}

/* True if every comma-separated word of value is one of words or, before a ':', one that takes a
 * value ("per_task:"). */
bool option_words_known(const char *value, const char *const *words, size_t n_words) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    bool any = false;
    for (char *word; (word = str_next_word(&cursor, ",")) != NULL; any = true) {
        bool known = false;
        for (size_t i = 0; i < n_words && !known; i++) {
            size_t length = strlen(words[i]);
            known = words[i][length - 1] == ':' ? strncasecmp(word, words[i], length) == 0
                                                : strcasecmp(word, words[i]) == 0;
        }
        if (!known)
            return false;
    }
    return any;
}

static bool gpu_bind_known(const char *value) {
    static const char *const plain[] = {"none", "closest"};
    static const char *const valued[] = {
        "single:", "per_task:", "map_gpu:", "mask_gpu:", "map:", "mask:"};
    const char *kind = value;
    if (strncasecmp(kind, "verbose,", 8) == 0 || strncasecmp(kind, "quiet,", 6) == 0)
        kind = strchr(kind, ',') + 1;
    bool known = option_words_known(kind, plain, countof(plain));
    for (size_t i = 0; i < countof(valued); i++)
        known |= str_starts_nocase(kind, valued[i]);
    return known;
}

int option_parse_gpu_bind(struct options *options, const struct option_row *row,
                          const char *value) {
    if (!gpu_bind_known(value))
        return option_bad(options, 255, "Invalid --gpu-bind argument: gpu:%s", value);
    cleanup_free char *text = xasprintf("gres/gpu:%s", value);
    string_set(&options->job.tres_bind, text);
    return 0;
}

/* "gres/gpu:per_task:1+gres/shard:…" */
int option_parse_tres_bind(struct options *options, const struct option_row *row,
                           const char *value) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    bool known = *value != '\0';
    for (char *part; (part = str_next_word(&cursor, "+")) != NULL;) {
        known &= str_starts_nocase(part, "gres/") && strchr(part, ':') != NULL;
        if (str_starts_nocase(part, "gres/gpu:"))
            known &= gpu_bind_known(part + strlen("gres/gpu:"));
    }
    if (!known)
        return option_bad(options, 255, "Invalid --tres-bind argument: %s", value);
    string_set(&options->job.tres_bind, value);
    return 0;
}

int option_parse_gres_flags(struct options *options, const struct option_row *row,
                            const char *value) {
    static const char *const words[] = {"enforce-binding", "disable-binding",
                                        "one-task-per-sharing", "multiple-tasks-per-sharing",
                                        "allow-task-sharing"};
    if (!option_words_known(value, words, countof(words)))
        return option_bad_value(options, row);
    string_set(&options->job.gres_flags, value);
    words_each (value, ",", word) {
        if (strcasecmp(word, "enforce-binding") == 0)
            str_append(&options->warnings, "--gres-flags=enforce-binding: cores near the devices "
                                           "are preferred, not insisted on\n");
        else if (strcasecmp(word, "disable-binding") != 0)
            str_printf(&options->warnings,
                       "accepted, but without effect in this release: --gres-flags=%s\n", word);
    }
    return 0;
}

/* ---- files, environment, limits ---- */

int option_parse_readable_file(struct options *options, const struct option_row *row,
                               const char *value) {
    if (access(value, R_OK) < 0)
        return option_bad(options, 1, "Invalid --%s specification", row->name);
    return option_parse_string(options, row, value);
}

int option_parse_x11(struct options *options, const struct option_row *row, const char *value) {
    if (!value || !*value)
        value = "all";
    if (!str_has_word_nocase("all,first,last,batch", value, ",") || strchr(value, ','))
        return option_bad_value(options, row);
    return option_parse_string(options, row, value);
}

/* Old releases took a timeout and a mode: `60`, `L`, `60L`. They are read and have no effect. */
int option_parse_get_user_env(struct options *options, const struct option_row *row,
                              const char *value) {
    if (value) {
        const char *p = value + strspn(value, "0123456789");
        if (*p == 'S' || *p == 's' || *p == 'L' || *p == 'l')
            p++;
        p += strspn(p, "0123456789");
        if (*p)
            return option_bad_value(options, row);
    }
    options->job.get_user_env = true;
    return 0;
}

int option_parse_uid(struct options *options, const struct option_row *row, const char *value) {
    uint32_t number;
    if (getuid() != 0)
        return option_bad(options, 255, "--uid only permitted by root user");
    const struct passwd *user =
        option_count(value, &number) ? getpwuid((uid_t) number) : getpwnam(value);
    if (!user)
        return option_bad_value(options, row);
    options->job.run_as_uid = user->pw_uid;
    if (options->job.run_as_gid == UNSET32)
        options->job.run_as_gid = user->pw_gid;
    return 0;
}

int option_parse_gid(struct options *options, const struct option_row *row, const char *value) {
    uint32_t number;
    if (getuid() != 0)
        return option_bad(options, 255, "--gid only permitted by root user");
    const struct group *group =
        option_count(value, &number) ? getgrgid((gid_t) number) : getgrnam(value);
    if (!group)
        return option_bad_value(options, row);
    options->job.run_as_gid = group->gr_gid;
    return 0;
}

int option_parse_no_kill(struct options *options, const struct option_row *row, const char *value) {
    if (value && strcasecmp(value, "off") == 0)
        options->job.no_kill = false;
    else if (!value || is_plain_yes(value))
        options->job.no_kill = true;
    else
        return option_bad_value(options, row);
    return 0;
}

/* The first letter decides, as it always has. */
int option_parse_open_mode(struct options *options, const struct option_row *row,
                           const char *value) {
    if (*value == 'a' || *value == 'A')
        options->job.open_mode = OPEN_APPEND;
    else if (*value == 't' || *value == 'T')
        options->job.open_mode = OPEN_TRUNCATE;
    else
        return option_bad_value(options, row);
    return 0;
}

int option_parse_profile(struct options *options, const struct option_row *row, const char *value) {
    static const char *const words[] = {"none",       "all",    "energy", "task",
                                        "filesystem", "lustre", "network"};
    if (!option_words_known(value, words, countof(words)))
        return option_bad(options, 255, "invalid --profile=%s option", value);
    string_set(&options->job.profile, value);
    return 0;
}

int option_parse_propagate(struct options *options, const struct option_row *row,
                           const char *value) {
    static const char *const words[] = {"ALL",   "NONE",    "AS",     "CORE",  "CPU", "DATA",
                                        "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"};
    if (value && !option_words_known(value, words, countof(words))) {
        cleanup_free char *copy = xstrdup(value);
        char *cursor = copy;
        const char *bad = "";
        for (char *word; (word = str_next_word(&cursor, ",")) != NULL;)
            if (!option_words_known(word, words, countof(words))) {
                bad = word;
                break;
            }
        option_bad(options, 1, "Bad rlimit name: %s", bad);
        return option_bad(options, 1, "--propagate=%s is not valid.", value);
    }
    string_set(&options->propagate, value ? value : "ALL");
    return 0;
}

/* ---- the command itself ---- */

int option_parse_bell(struct options *options, const struct option_row *row, const char *value) {
    options->bell = BELL_ALWAYS;
    return 0;
}

int option_parse_no_bell(struct options *options, const struct option_row *row, const char *value) {
    options->bell = BELL_NEVER;
    return 0;
}

int option_parse_kill_command(struct options *options, const struct option_row *row,
                              const char *value) {
    int number = 15;
    if (value && (!signal_number(value, &number) || number <= 0))
        return option_bad_value(options, row);
    options->kill_command = (uint32_t) number;
    return 0;
}

/* `12`, `12_3`, `12+0`: the number in front. */
int option_parse_jobid(struct options *options, const struct option_row *row, const char *value) {
    cleanup_free char *copy = xstrdup(value);
    copy[strcspn(copy, "_+")] = '\0';
    uint32_t number;
    if (!option_count(copy, &number) || number == 0)
        return option_bad_number(options, row, value);
    options->jobid = number;
    string_set(&options->jobid_text, value);
    return 0;
}

int option_parse_overlap(struct options *options, const struct option_row *row, const char *value) {
    options->overlap = true;
    options->overlap_force = value && strcasecmp(value, "force") == 0;
    return 0;
}

int option_parse_verbose(struct options *options, const struct option_row *row, const char *value) {
    uint32_t level;
    if (value && option_count(value, &level))
        options->verbose = (int) min_of(level, 9u);
    else
        options->verbose++;
    return 0;
}

int option_parse_info(struct options *options, const struct option_row *row, const char *value) {
    options->info = row->id;
    return 0;
}
