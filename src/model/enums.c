/* SPDX-License-Identifier: Apache-2.0 */
/* Name tables of enums.h and the display rules for job and node states. */
#include "model/enums.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define NAMES_DEFINE(id) const struct names names_##id = {rows_##id, countof(rows_##id)}

static const struct name_row rows_job_state[] = {
#define X(name, value, compact) {value, #name, compact},
    JOB_STATE_TABLE(X)
#undef X
};
NAMES_DEFINE(job_state);

static const struct name_row rows_job_flag[] = {
#define X(name, bit, compact) {1u << (bit), #name, compact},
    JOB_FLAG_TABLE(X)
#undef X
};
NAMES_DEFINE(job_flag);

static const struct name_row rows_job_reason[] = {
#define X(name, value, text) {value, text, NULL},
    JOB_REASON_TABLE(X)
#undef X
};
NAMES_DEFINE(job_reason);

static const struct name_row rows_node_state[] = {
#define X(name, value, compact) {value, #name, compact},
    NODE_STATE_TABLE(X)
#undef X
};
NAMES_DEFINE(node_state);

static const struct name_row rows_node_flag[] = {
#define X(name, bit) {1u << (bit), #name, NULL},
    NODE_FLAG_TABLE(X)
#undef X
};
NAMES_DEFINE(node_flag);

static const struct name_row rows_tristate[] = {
    {TRI_UNSET, "unset", NULL}, {TRI_NO, "no", NULL}, {TRI_YES, "yes", NULL}};
NAMES_DEFINE(tristate);

static const struct name_row rows_exclusive[] = {{EXCLUSIVE_NO, "NO", NULL},
                                                 {EXCLUSIVE_NODE, "NODE", NULL},
                                                 {EXCLUSIVE_USER, "USER", NULL},
                                                 {EXCLUSIVE_MCS, "MCS", NULL},
                                                 {EXCLUSIVE_TOPO, "TOPO", NULL}};
NAMES_DEFINE(exclusive);

static const struct name_row rows_open_mode[] = {{OPEN_DEFAULT, "default", NULL},
                                                 {OPEN_TRUNCATE, "truncate", "t"},
                                                 {OPEN_APPEND, "append", "a"}};
NAMES_DEFINE(open_mode);

static const struct name_row rows_oversubscribe[] = {
    {OVERSUB_DEFAULT, "OK", NULL}, {OVERSUB_NO, "NO", NULL}, {OVERSUB_YES, "YES", NULL}};
NAMES_DEFINE(oversubscribe);

static const struct name_row rows_job_kind[] = {{JOB_KIND_BATCH, "batch", NULL},
                                                {JOB_KIND_SALLOC, "salloc", NULL},
                                                {JOB_KIND_SRUN, "srun", NULL}};
NAMES_DEFINE(job_kind);

static const struct name_row rows_preempt_mode[] = {{PREEMPT_CLUSTER, "cluster", NULL},
                                                    {PREEMPT_OFF, "OFF", NULL},
                                                    {PREEMPT_CANCEL, "CANCEL", NULL},
                                                    {PREEMPT_REQUEUE, "REQUEUE", NULL},
                                                    {PREEMPT_SUSPEND, "SUSPEND", NULL}};
NAMES_DEFINE(preempt_mode);

static const struct name_row rows_task_dist[] = {{DIST_DEFAULT, "default", NULL},
                                                 {DIST_BLOCK, "block", NULL},
                                                 {DIST_CYCLIC, "cyclic", NULL},
                                                 {DIST_PLANE, "plane", NULL},
                                                 {DIST_ARBITRARY, "arbitrary", NULL}};
NAMES_DEFINE(task_dist);

/* In the order in which scontrol lists them. */
static const struct name_row rows_mail_type[] = {{MAIL_INVALID_DEPEND, "INVALID_DEPEND", NULL},
                                                 {MAIL_BEGIN, "BEGIN", NULL},
                                                 {MAIL_END, "END", NULL},
                                                 {MAIL_FAIL, "FAIL", NULL},
                                                 {MAIL_REQUEUE, "REQUEUE", NULL},
                                                 {MAIL_STAGE_OUT, "STAGE_OUT", NULL},
                                                 {MAIL_TIME_50, "TIME_LIMIT_50", NULL},
                                                 {MAIL_TIME_80, "TIME_LIMIT_80", NULL},
                                                 {MAIL_TIME_90, "TIME_LIMIT_90", NULL},
                                                 {MAIL_TIME_LIMIT, "TIME_LIMIT", NULL},
                                                 {MAIL_ARRAY_TASKS, "ARRAY_TASKS", NULL}};
NAMES_DEFINE(mail_type);

bool mail_types_parse(const char *text, uint32_t *ret) {
    uint32_t types = 0;
    bool known = false;
    words_each (text, ",", word) {
        uint32_t type;
        if (str_equal_nocase(word, "NONE"))
            types = 0;
        else if (str_equal_nocase(word, "ALL"))
            types |= MAIL_BEGIN | MAIL_END | MAIL_FAIL | MAIL_INVALID_DEPEND | MAIL_REQUEUE |
                     MAIL_STAGE_OUT;
        else if (names_value(&names_mail_type, word, &type))
            types |= type;
        else
            continue; /* one known word is enough, others are passed over in silence */
        known = true;
    }
    if (known)
        *ret = types;
    return known;
}

static const struct name_row *flag_row(uint32_t flags) {
    for (size_t i = 0; i < countof(rows_job_flag); i++) {
        if (flags & rows_job_flag[i].value)
            return &rows_job_flag[i];
    }
    return NULL;
}

const char *job_state_text(uint32_t state, uint32_t flags) {
    const struct name_row *row = flag_row(flags);
    const char *text = row != NULL ? row->name : names_text(&names_job_state, state);
    return text != NULL ? text : "?";
}

const char *job_state_compact(uint32_t state, uint32_t flags) {
    const struct name_row *row = flag_row(flags);
    const char *text = row != NULL ? row->compact : names_compact(&names_job_state, state);
    return text != NULL ? text : "?";
}

/* One suffix only; the first that applies. `$` marks a node of a maintenance reservation whose
 * word does not say so. */
static char node_suffix(uint32_t flags) {
    static const struct {
        uint32_t flag;
        char suffix;
    } rows[] = {
        {NODE_FLAG_MAINTENANCE, '$'},      {NODE_FLAG_REBOOT_ISSUED, '^'},
        {NODE_FLAG_REBOOT_REQUESTED, '@'}, {NODE_FLAG_POWERING_UP, '#'},
        {NODE_FLAG_POWERING_DOWN, '%'},    {NODE_FLAG_POWERED_DOWN, '~'},
        {NODE_FLAG_POWER_DOWN, '!'},       {NODE_FLAG_NOT_RESPONDING, '*'},
        {NODE_FLAG_PLANNED, '-'},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        if (flags & rows[i].flag)
            return rows[i].suffix;
    }
    return '\0';
}

struct state_words {
    const char *compact, *full;
    bool suffix;
};

static struct state_words reboot_words(uint32_t flags) {
    if (flags & NODE_FLAG_REBOOT_ISSUED)
        return (struct state_words) {"boot^", "reboot^", false};
    if (flags & NODE_FLAG_NOT_RESPONDING)
        return (struct state_words) {"boot*", "reboot*", false};
    return (struct state_words) {"boot", "reboot", false};
}

/* The display rules in order: the first that applies gives the word. */
static struct state_words node_words(uint32_t state, uint32_t flags) {
    bool busy = state == NODE_ALLOCATED || state == NODE_MIXED || (flags & NODE_FLAG_COMPLETING);
    bool reboot = flags & (NODE_FLAG_REBOOT_ISSUED | NODE_FLAG_REBOOT_REQUESTED);
    if (flags & NODE_FLAG_INVALID_REG)
        return (struct state_words) {"inval", "inval", true};
    if ((flags & NODE_FLAG_MAINTENANCE) && !(flags & NODE_FLAG_DRAIN) && !busy &&
        state != NODE_DOWN)
        return (struct state_words) {"maint", "maint", false};
    if (reboot && !busy) /* drained or not; `@` is for those that still work */
        return reboot_words(flags);
    if (flags & NODE_FLAG_DRAIN)
        return busy ? (struct state_words) {"drng", "draining", true}
                    : (struct state_words) {"drain", "drained", true};
    if (flags & NODE_FLAG_FAIL)
        return busy ? (struct state_words) {"failg", "failing", true}
                    : (struct state_words) {"fail", "fail", true};
    if (state == NODE_DOWN)
        return (struct state_words) {"down", "down", true};
    if (state == NODE_ALLOCATED)
        return (struct state_words) {flags & NODE_FLAG_COMPLETING ? "alloc+" : "alloc",
                                     flags & NODE_FLAG_COMPLETING ? "allocated+" : "allocated",
                                     !(flags & NODE_FLAG_COMPLETING)};
    if ((flags & NODE_FLAG_COMPLETING) && state != NODE_MIXED)
        return (struct state_words) {"comp", "completing", true};
    if (state == NODE_IDLE && (flags & NODE_FLAG_PLANNED))
        return (struct state_words) {"plnd", "planned", false};
    if (state == NODE_IDLE && (flags & NODE_FLAG_RESERVED))
        return (struct state_words) {"resv", "reserved", false};
    if (state == NODE_IDLE)
        return (struct state_words) {"idle", "idle", true};
    if (state == NODE_MIXED)
        return (struct state_words) {"mix", "mixed", true};
    if (state == NODE_FUTURE)
        return (struct state_words) {"futr", "future", true};
    if (state == NODE_ERROR)
        return (struct state_words) {"err", "error", true};
    return (struct state_words) {"unk", "unknown", true};
}

void node_state_print(uint32_t state, uint32_t flags, bool compact, struct str *out) {
    struct state_words words = node_words(state, flags);
    str_append(out, compact ? words.compact : words.full);
    char suffix = node_suffix(flags);
    if (words.suffix && suffix != '\0')
        str_append_char(out, suffix);
}

void node_state_print_complete(uint32_t state, uint32_t flags, struct str *out) {
    const char *base = names_text(&names_node_state, state);
    str_append(out, base != NULL ? base : "UNKNOWN");
    /* Alphabetical, which is how users know "IDLE+CLOUD+POWERED_DOWN". */
    static const uint32_t order[] = {
        NODE_FLAG_CLOUD,          NODE_FLAG_COMPLETING,    NODE_FLAG_DRAIN,
        NODE_FLAG_FAIL,           NODE_FLAG_INVALID_REG,   NODE_FLAG_MAINTENANCE,
        NODE_FLAG_NOT_RESPONDING, NODE_FLAG_PLANNED,       NODE_FLAG_POWER_DOWN,
        NODE_FLAG_POWER_UP,       NODE_FLAG_POWERED_DOWN,  NODE_FLAG_POWERING_DOWN,
        NODE_FLAG_POWERING_UP,    NODE_FLAG_REBOOT_ISSUED, NODE_FLAG_REBOOT_REQUESTED,
        NODE_FLAG_RESERVED,
    };
    for (size_t i = 0; i < countof(order); i++) {
        if (flags & order[i])
            str_printf(out, "+%s", names_text(&names_node_flag, order[i]));
    }
}

static const struct name_row rows_step_id[] = {{STEP_BATCH, "batch", NULL},
                                               {STEP_EXTERN, "extern", NULL},
                                               {STEP_INTERACTIVE, "interactive", NULL},
                                               {STEP_PENDING, "TBD", NULL}};
static const struct names names_step_id = {rows_step_id, countof(rows_step_id)};

void step_id_print(uint32_t step_id, struct str *out) {
    const char *name = names_text(&names_step_id, step_id);
    if (name != NULL)
        str_append(out, name);
    else
        str_append_u64(out, step_id);
}

bool step_id_parse(const char *text, uint32_t *ret_step_id) {
    uint32_t special;
    uint64_t number;
    if (names_value(&names_step_id, text, &special) && special != STEP_PENDING)
        *ret_step_id = special;
    else if (str_to_u64(text, &number) && number < STEP_INTERACTIVE)
        *ret_step_id = (uint32_t) number;
    else
        return false;
    return true;
}

/* Linux numbers (signal(7), x86 and ARM). */
static const struct name_row rows_signal[] = {
    {1, "HUP", NULL},   {2, "INT", NULL},     {3, "QUIT", NULL},  {4, "ILL", NULL},
    {5, "TRAP", NULL},  {6, "ABRT", NULL},    {7, "BUS", NULL},   {8, "FPE", NULL},
    {9, "KILL", NULL},  {10, "USR1", NULL},   {11, "SEGV", NULL}, {12, "USR2", NULL},
    {13, "PIPE", NULL}, {14, "ALRM", NULL},   {15, "TERM", NULL}, {16, "STKFLT", NULL},
    {17, "CHLD", NULL}, {18, "CONT", NULL},   {19, "STOP", NULL}, {20, "TSTP", NULL},
    {21, "TTIN", NULL}, {22, "TTOU", NULL},   {23, "URG", NULL},  {24, "XCPU", NULL},
    {25, "XFSZ", NULL}, {26, "VTALRM", NULL}, {27, "PROF", NULL}, {28, "WINCH", NULL},
    {29, "IO", NULL},   {30, "PWR", NULL},    {31, "SYS", NULL},
};
static const struct names names_signal = {rows_signal, countof(rows_signal)};

#define SIGNAL_MAX 64

bool signal_number(const char *text, int *ret_signal) {
    uint64_t number;
    if (str_to_u64(text, &number)) {
        if (number == 0 || number > SIGNAL_MAX)
            return false;
        *ret_signal = (int) number;
        return true;
    }
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    uint32_t value;
    if (!names_value(&names_signal, text, &value))
        return false;
    *ret_signal = (int) value;
    return true;
}

const char *signal_name(int signal) {
    return signal > 0 ? names_text(&names_signal, (uint32_t) signal) : NULL;
}

static const struct name_row rows_admin_level[] = {{ADMIN_NONE, "None", NULL},
                                                   {ADMIN_OPERATOR, "Operator", NULL},
                                                   {ADMIN_ADMINISTRATOR, "Administrator", NULL}};
NAMES_DEFINE(admin_level);

static const struct name_row rows_qos_flag[] = {
#define X(name, bit, text) {1u << (bit), text, NULL},
    QOS_FLAG_TABLE(X)
#undef X
};
NAMES_DEFINE(qos_flag);
