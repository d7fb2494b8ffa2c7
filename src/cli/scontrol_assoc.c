/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scontrol_assoc.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assoc/assoc.h"
#include "base/alloc.h"
#include "base/map.h"
#include "cli/scontrol.h"

/* ---- filters ---- */

static const struct {
    const char *name;
    size_t at;
} filters[] = {{"users", offsetof(struct assoc_filter, users)},
               {"accounts", offsetof(struct assoc_filter, accounts)},
               {"qos", offsetof(struct assoc_filter, qos)}};

static const struct {
    const char *name;
    uint32_t section;
} sections[] = {
    {"users", ASSOC_SECTION_USERS}, {"assoc", ASSOC_SECTION_ASSOCS}, {"qos", ASSOC_SECTION_QOS}};

void assoc_filter_done(struct assoc_filter *filter) {
    strs_done(&filter->users);
    strs_done(&filter->accounts);
    strs_done(&filter->qos);
}

static int flags_add(struct assoc_filter *filter, const char *names, struct error *err) {
    words_each (names, ",", name) {
        uint32_t section = 0;
        for (size_t i = 0; i < countof(sections); i++)
            section |= str_starts_nocase(sections[i].name, name) ? sections[i].section : 0;
        if (section == 0)
            return error_set(err, ERR_INVALID,
                             "invalid flag '%s', valid options are 'Assoc, QOS, and/or Users'",
                             name);
        filter->sections |= section;
    }
    return 0;
}

int assoc_filter_add(struct assoc_filter *filter, const char *word, struct error *err) {
    const char *equals = strchr(word, '=');
    if (equals == NULL || equals == word)
        return -ERR_NOT_FOUND;
    cleanup_free char *key = xstrndup(word, (size_t) (equals - word));
    if (str_starts_nocase("flags", key))
        return flags_add(filter, equals + 1, err);
    for (size_t i = 0; i < countof(filters); i++) {
        if (!str_starts_nocase(filters[i].name, key))
            continue;
        words_each (equals + 1, ",", name)
            strs_push((struct strs *) ((char *) filter + filters[i].at), name);
        return 0;
    }
    return -ERR_NOT_FOUND;
}

static bool chooses(const struct strs *names, const char *name) {
    return names->n == 0 || strs_has_nocase(names, name);
}

/* ---- the book, made ready ---- */

struct printing {
    const struct assoc_state *state;
    const struct assoc_filter *filter;
    struct str *out;
    bool oneline;
    /* Of each association: the place of the account's above it (UINT32_MAX: none is seen), how many
     * are above, and the sum of shares of those right below it. */
    uint32_t *above, *depth, *shares_below;
    struct map counts; /* kind << 32 | id -> struct limit_count of the whole */
    struct map shares; /* id -> struct share */
    struct smap users; /* name -> struct acct_user */
};

static uint64_t count_key(uint32_t kind, uint32_t id) {
    return (uint64_t) kind << 32 | id;
}

static uint32_t shares_of(const struct assoc *assoc) {
    return assoc->shares == UNSET32 ? 1 : assoc->shares == SHARES_PARENT ? 0 : assoc->shares;
}

/* Accounts come before what is below them. */
static void tree_make(struct printing *p) {
    const struct assoc_list *book = p->state->book;
    struct smap accounts = SMAP_INIT;
    p->above = xcalloc(book->assocs.n + 1, sizeof(*p->above));
    p->depth = xcalloc(book->assocs.n + 1, sizeof(*p->depth));
    p->shares_below = xcalloc(book->assocs.n + 1, sizeof(*p->shares_below));
    for (uint32_t i = 0; i < book->assocs.n; i++) {
        const struct assoc *assoc = &book->assocs.items[i];
        const char *account = assoc->user != NULL ? assoc->account : assoc->parent;
        uintptr_t place = account != NULL ? (uintptr_t) smap_get(&accounts, account) : 0;
        p->above[i] = (uint32_t) place - 1;
        p->depth[i] = place > 0 ? p->depth[place - 1] + 1 : 0;
        if (place > 0)
            p->shares_below[place - 1] += shares_of(assoc);
        if (assoc->user == NULL)
            smap_put(&accounts, assoc->account, (void *) (uintptr_t) (i + 1));
    }
    smap_done(&accounts);
}

static void printing_init(struct printing *p) {
    const struct limit_counts *counts = p->state->counts;
    const struct share_list *shares = p->state->shares;
    tree_make(p);
    for (uint32_t i = 0; i < p->state->book->users.n; i++)
        smap_put(&p->users, p->state->book->users.items[i].name, &p->state->book->users.items[i]);
    for (uint32_t i = 0; i < counts->items.n; i++) {
        struct limit_count *count = &counts->items.items[i];
        if (count->user == NULL && count->account == NULL)
            map_put(&p->counts, count_key(count->kind, count->id), count);
    }
    for (uint32_t i = 0; i < shares->items.n; i++)
        map_put(&p->shares, shares->items.items[i].assoc_id, &shares->items.items[i]);
}

static void printing_done(struct printing *p) {
    free(p->above);
    free(p->depth);
    free(p->shares_below);
    map_done(&p->counts);
    map_done(&p->shares);
    smap_done(&p->users);
}

/* What a change between the questions has brought has nothing yet. */
static const struct limit_count *count_of(const struct printing *p, uint32_t kind, uint32_t id) {
    static const struct limit_count none = {.kind = 0};
    const struct limit_count *count = map_get(&p->counts, count_key(kind, id));
    return count != NULL ? count : &none;
}

/* ---- values ---- */

static void line(const struct printing *p, unsigned indent) {
    if (!p->oneline)
        str_append_char(p->out, '\n');
    str_append_fill(p->out, ' ', p->oneline ? 1 : indent);
}

/* "GrpJobs=3(1)", "GrpJobs=N(1)" */
static void group_print(const struct printing *p, const char *name, uint32_t limit,
                        uint64_t count) {
    str_printf(p->out, "%s=", name);
    if (limit == UNSET32)
        str_append_char(p->out, 'N');
    else
        str_append_u64(p->out, limit);
    str_printf(p->out, "(%llu)", (unsigned long long) count);
}

static void wall_print(const struct printing *p, uint32_t limit, double seconds) {
    str_append(p->out, "GrpWall=");
    if (limit == UNSET32)
        str_append_char(p->out, 'N');
    else
        str_append_u64(p->out, limit);
    str_printf(p->out, "(%.2f)", seconds / 60);
}

/* Of each job, or set for somebody below: nothing where there is none. */
static void value_print(const struct printing *p, const char *name, uint32_t limit) {
    str_printf(p->out, "%s=", name);
    if (limit != UNSET32)
        str_append_u64(p->out, limit);
}

static void value_count_print(const struct printing *p, const char *name, uint32_t limit,
                              uint64_t count) {
    value_print(p, name, limit);
    if (limit != UNSET32)
        str_printf(p->out, "(%llu)", (unsigned long long) count);
}

static void text_line(const struct printing *p, const char *name, const char *text) {
    line(p, 4);
    str_printf(p->out, "%s=%s", name, text != NULL ? text : "");
}

/* The amount of `name` in "cpu=3,mem=5"; NULL. The caller frees. */
static char *tres_amount(const char *list, const char *name) {
    size_t length = strlen(name);
    words_each (list, ",", item) {
        if (strncasecmp(item, name, length) == 0 && item[length] == '=')
            return xstrdup(item + length + 1);
    }
    return NULL;
}

/* "GrpTRES=cpu=20(2),mem=N(200)": all that is accounted for; then limits on what is not. */
static void tres_print(const struct printing *p, const char *name, const char *limits,
                       const char *used) {
    const char *between = "";
    str_printf(p->out, "%s=", name);
    words_each (used, ",", item) {
        char *equals = strchr(item, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        cleanup_free char *limit = tres_amount(limits, item);
        str_printf(p->out, "%s%s=%s(%s)", between, item, limit != NULL ? limit : "N", equals + 1);
        between = ",";
    }
    words_each (limits, ",", item) {
        char *equals = strchr(item, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        cleanup_free char *shown = tres_amount(used, item);
        if (shown == NULL)
            str_printf(p->out, "%s%s=%s", between, item, equals + 1);
        between = ",";
    }
}

static void tres_line(const struct printing *p, const char *name, const char *limits,
                      const char *used) {
    line(p, 4);
    tres_print(p, name, limits, used);
}

/* ---- sections ---- */

static void title_print(const struct printing *p, const char *title) {
    str_printf(p->out, p->oneline ? "%s\n" : "\n%s\n\n", title);
}

/* Nothing of a section. */
static void none_print(const struct printing *p, const char *what) {
    str_printf(p->out,
               p->oneline ? "No %s currently cached in Slurm.\n"
                          : "\nNo %s currently cached in Slurm.\n\n",
               what);
}

static void user_print(const struct printing *p, const struct acct_user *user) {
    str_printf(p->out, "UserName=%s(%u) DefAccount=%s DefWckey=%s AdminLevel=%s\n", user->name,
               p->state->uid_of(user->name),
               user->default_account != NULL ? user->default_account : "(null)",
               user->default_wckey != NULL ? user->default_wckey : "(null)",
               user->admin_level == ADMIN_NONE ? "Not Set"
                                               : names_text(&names_admin_level, user->admin_level));
}

static void users_print(const struct printing *p) {
    const struct assoc_list *book = p->state->book;
    bool any = false;
    for (uint32_t i = 0; i < book->users.n; i++) {
        if (!chooses(&p->filter->users, book->users.items[i].name))
            continue;
        if (!any)
            title_print(p, "User Records");
        any = true;
        user_print(p, &book->users.items[i]);
    }
    if (!any)
        none_print(p, "users");
}

/* ---- associations ---- */

/* What counts where the association says nothing is what the accounts above say. */
#define INHERITED(p, at, member, unset)                                                            \
    ({                                                                                             \
        uint32_t place_ = (at);                                                                    \
        const struct assoc *items_ = (p)->state->book->assocs.items;                               \
        while (items_[place_].member == (unset) && (p)->above[place_] != UINT32_MAX)               \
            place_ = (p)->above[place_];                                                           \
        items_[place_].member;                                                                     \
    })

static bool is_default(const struct printing *p, const struct assoc *assoc) {
    const struct acct_user *user = assoc->user != NULL ? smap_get(&p->users, assoc->user) : NULL;
    return user != NULL && assoc->partition == NULL &&
           str_equal(user->default_account, assoc->account);
}

static void assoc_head(const struct printing *p, uint32_t at) {
    const struct assoc *assoc = &p->state->book->assocs.items[at];
    const struct share *share = map_get(&p->shares, assoc->id);
    const struct assoc *above =
        p->above[at] != UINT32_MAX ? &p->state->book->assocs.items[p->above[at]] : NULL;
    str_printf(p->out, "ClusterName=%s Account=%s UserName=", p->state->book->cluster,
               assoc->account);
    if (assoc->user != NULL)
        str_printf(p->out, "%s(%u)", assoc->user, p->state->uid_of(assoc->user));
    str_printf(p->out, " Partition=%s Priority=%u ID=%u",
               assoc->partition != NULL ? assoc->partition : "",
               assoc->priority != UNSET32 ? assoc->priority : 0, assoc->id);
    line(p, 4);
    str_append(p->out, "SharesRaw/Norm/Level/Factor=");
    if (assoc->shares == SHARES_PARENT)
        str_append(p->out, "parent");
    else
        str_append_u64(p->out, shares_of(assoc));
    str_printf(p->out, "/%.2f/%u/%.2f", share != NULL ? share->norm_shares : 0,
               above != NULL ? p->shares_below[p->above[at]] : shares_of(assoc),
               share != NULL ? share->factor : 0);
    line(p, 4);
    str_printf(p->out, "UsageRaw/Norm/Efctv=%.2f/%.2f/%.2f", share != NULL ? share->usage : 0,
               share != NULL ? share->norm_usage : 0, share != NULL ? share->effective_usage : 0);
    line(p, 4);
    str_append(p->out, "ParentAccount=");
    if (assoc->user == NULL && above != NULL)
        str_printf(p->out, "%s(%u)", above->account, above->id);
    /* Where it begins in the tree's order, with a number for each beginning and each end. */
    str_printf(p->out, " Lft=%u DefAssoc=%s", 2 * at - p->depth[at] + 1,
               is_default(p, assoc) ? "Yes" : "No");
}

static void assoc_limits(const struct printing *p, uint32_t at) {
    const struct assoc *assoc = &p->state->book->assocs.items[at];
    const struct limit_count *count = count_of(p, ASSOC_ASSOC, assoc->id);
    line(p, 4);
    group_print(p, "GrpJobs", assoc->grp_jobs, count->jobs);
    group_print(p, " GrpJobsAccrue", assoc->grp_jobs_accrue, count->accruing);
    line(p, 4);
    group_print(p, "GrpSubmitJobs", assoc->grp_submit_jobs, count->submitted);
    str_append_char(p->out, ' ');
    wall_print(p, assoc->grp_wall, count->wall_used);
    tres_line(p, "GrpTRES", assoc->grp_tres, count->tres);
    tres_line(p, "GrpTRESMins", assoc->grp_tres_mins, count->used_mins);
    tres_line(p, "GrpTRESRunMins", assoc->grp_tres_run_mins, count->ahead_mins);
    line(p, 4);
    value_count_print(p, "MaxJobs", INHERITED(p, at, max_jobs, UNSET32), count->jobs);
    value_count_print(p, " MaxJobsAccrue", INHERITED(p, at, max_jobs_accrue, UNSET32),
                      count->accruing);
    value_count_print(p, " MaxSubmitJobs", INHERITED(p, at, max_submit_jobs, UNSET32),
                      count->submitted);
    value_print(p, " MaxWallPJ", INHERITED(p, at, max_wall, UNSET32));
    text_line(p, "MaxTRESPJ", INHERITED(p, at, max_tres, NULL));
    text_line(p, "MaxTRESPN", INHERITED(p, at, max_tres_per_node, NULL));
    text_line(p, "MaxTRESMinsPJ", INHERITED(p, at, max_tres_mins, NULL));
    line(p, 4);
    value_print(p, "MinPrioThresh", INHERITED(p, at, min_prio_threshold, UNSET32));
    str_append_char(p->out, '\n');
}

static void assocs_print(const struct printing *p) {
    const struct assoc_list *book = p->state->book;
    bool any = false;
    for (uint32_t i = 0; i < book->assocs.n; i++) {
        const struct assoc *assoc = &book->assocs.items[i];
        if (!chooses(&p->filter->accounts, assoc->account) ||
            (assoc->user != NULL && !chooses(&p->filter->users, assoc->user)))
            continue;
        if (!any)
            title_print(p, "Association Records");
        any = true;
        assoc_head(p, i);
        assoc_limits(p, i);
    }
    if (!any)
        none_print(p, "associations");
}

/* ---- QOS ---- */

struct part_names {
    const char *title, *none;
    const char *jobs, *accruing, *submitted, *tres;
};

static void part_print(const struct printing *p, const struct qos *qos,
                       const struct limit_count *part, const struct part_names *names) {
    bool user = part->user != NULL;
    line(p, 6);
    if (user)
        str_append_u64(p->out, part->uid);
    else
        str_append(p->out, part->account);
    if (p->oneline)
        str_append(p->out, "={");
    else
        line(p, 8);
    group_print(p, names->jobs, user ? qos->max_jobs_pu : qos->max_jobs_pa, part->jobs);
    str_append_char(p->out, ' ');
    group_print(p, names->accruing, user ? qos->max_jobs_accrue_pu : qos->max_jobs_accrue_pa,
                part->accruing);
    str_append_char(p->out, ' ');
    group_print(p, names->submitted, user ? qos->max_submit_jobs_pu : qos->max_submit_jobs_pa,
                part->submitted);
    line(p, 8);
    tres_print(p, names->tres, user ? qos->max_tres_pu : qos->max_tres_pa, part->tres);
    str_append(p->out, p->oneline ? "}" : "");
}

static void parts_print(const struct printing *p, const struct qos *qos, bool of_users) {
    static const struct part_names accounts = {"Account Limits",  "No Accounts",     "MaxJobsPA",
                                               "MaxJobsAccruePA", "MaxSubmitJobsPA", "MaxTRESPA"};
    static const struct part_names users = {"User Limits",     "No Users",        "MaxJobsPU",
                                            "MaxJobsAccruePU", "MaxSubmitJobsPU", "MaxTRESPU"};
    const struct part_names *names = of_users ? &users : &accounts;
    const struct limit_counts *counts = p->state->counts;
    bool any = false;
    line(p, 4);
    str_printf(p->out, "%s%s", names->title, p->oneline ? "=" : "");
    for (uint32_t i = 0; i < counts->items.n; i++) {
        const struct limit_count *part = &counts->items.items[i];
        if (part->kind != ASSOC_QOS || part->id != qos->id ||
            (of_users ? part->user : part->account) == NULL)
            continue;
        any = true;
        part_print(p, qos, part, names);
    }
    if (!any) {
        line(p, 8);
        str_append(p->out, names->none);
    }
}

static void one_qos_print(const struct printing *p, const struct qos *qos) {
    const struct limit_count *count = count_of(p, ASSOC_QOS, qos->id);
    str_printf(p->out, "QOS=%s(%u)", qos->name, qos->id);
    line(p, 4);
    str_printf(p->out, "UsageRaw=%f", count->usage);
    line(p, 4);
    group_print(p, "GrpJobs", qos->grp_jobs, count->jobs);
    group_print(p, " GrpJobsAccrue", qos->grp_jobs_accrue, count->accruing);
    group_print(p, " GrpSubmitJobs", qos->grp_submit_jobs, count->submitted);
    str_append_char(p->out, ' ');
    wall_print(p, qos->grp_wall, count->wall_used);
    tres_line(p, "GrpTRES", qos->grp_tres, count->tres);
    tres_line(p, "GrpTRESMins", qos->grp_tres_mins, count->used_mins);
    tres_line(p, "GrpTRESRunMins", qos->grp_tres_run_mins, count->ahead_mins);
    line(p, 4);
    value_print(p, "MaxWallPJ", qos->max_wall);
    text_line(p, "MaxTRESPJ", qos->max_tres);
    text_line(p, "MaxTRESPN", qos->max_tres_per_node);
    text_line(p, "MaxTRESMinsPJ", qos->max_tres_mins);
    line(p, 4);
    value_print(p, "MinPrioThresh", qos->min_prio_threshold);
    str_append_char(p->out, ' '); /* as scripts know it */
    text_line(p, "MinTRESPJ", qos->min_tres);
    line(p, 4);
    str_append(p->out, "PreemptMode=");
    if (qos->preempt_mode == PREEMPT_CLUSTER && !qos->within)
        str_append(p->out, "OFF"); /* none of its own */
    else
        qos_mode_print(qos, true, p->out);
    line(p, 4);
    str_printf(p->out, "Priority=%u", qos->priority);
    parts_print(p, qos, false);
    parts_print(p, qos, true);
    str_append_char(p->out, '\n');
}

static void qos_print(const struct printing *p) {
    const struct assoc_list *book = p->state->book;
    bool any = false;
    for (uint32_t i = 0; i < book->qos.n; i++) {
        if (!chooses(&p->filter->qos, book->qos.items[i].name))
            continue;
        if (!any)
            title_print(p, "QOS Records");
        any = true;
        one_qos_print(p, &book->qos.items[i]);
    }
    if (!any)
        none_print(p, "QOS");
}

void assoc_state_print(const struct assoc_state *state, const struct assoc_filter *filter,
                       bool oneline, struct str *out) {
    struct printing p = {.state = state,
                         .filter = filter,
                         .oneline = oneline,
                         .out = out,
                         .counts = MAP_INIT,
                         .shares = MAP_INIT,
                         .users = SMAP_INIT};
    uint32_t wanted = filter->sections != 0 ? filter->sections : UINT32_MAX;
    printing_init(&p);
    str_append(out, "Current Association Manager state\n");
    if (wanted & ASSOC_SECTION_USERS)
        users_print(&p);
    if (wanted & ASSOC_SECTION_ASSOCS)
        assocs_print(&p);
    if (wanted & ASSOC_SECTION_QOS)
        qos_print(&p);
    printing_done(&p);
}

/* ---- the command ---- */

static uint32_t uid_of(const char *name) {
    const struct passwd *user = getpwnam(name);
    return user != NULL ? (uint32_t) user->pw_uid : UINT32_MAX - 1;
}

static int ask_and_print(struct scontrol *scontrol, const struct assoc_filter *filter) {
    struct assoc_state state = {.uid_of = uid_of};
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    /* What the controller goes by, also where slurmdbd keeps the book. */
    if (list_ask(&scontrol->session, MSG_LIST_ASSOC, &empty, MSG_ASSOC_LIST,
                 (const void **) &state.book, &err) < 0) {
        if (!scontrol->quiet)
            list_load_error("Couldn't get association manager state from controller", &err);
        return 1;
    }
    state.shares = list_shares(&scontrol->session);
    state.counts = state.shares != NULL ? list_limit_counts(&scontrol->session) : NULL;
    if (state.counts == NULL)
        return 1;
    assoc_state_print(&state, filter, scontrol->show.oneline, &scontrol->out);
    return 0;
}

int scontrol_show_assoc_mgr(struct scontrol *scontrol, int argc, char **argv) {
    struct assoc_filter filter = ASSOC_FILTER_INIT;
    struct error err = ERROR_INIT;
    int r = 0, status = 0;
    for (int i = 0; r == 0 && i < argc; i++) {
        r = assoc_filter_add(&filter, argv[i], &err);
        if (r == -ERR_NOT_FOUND)
            fprintf(stderr, "invalid entity: %s for keyword:show assoc_mgr\n", argv[i]);
        else if (r < 0)
            fprintf(stderr, "%s\n", err.text);
    }
    if (r == 0)
        status = ask_and_print(scontrol, &filter);
    else
        status = r == -ERR_NOT_FOUND; /* a flag that is none has never been a failure */
    assoc_filter_done(&filter);
    return status;
}
