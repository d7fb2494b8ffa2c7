/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol create, update and delete of reservations: one table of keys; a request changes all that
 * it names or nothing. What the command itself says of a request that makes no sense are sentences
 * of ERR_INVALID; other codes have their classic words.
 */
#include "core/reservation.h"

#include <string.h>

#include "model/conf.h"
#include "text/timestamp.h"

#define YEAR_SECONDS ((int64_t) 365 * 86400)
#define PURGE_DEFAULT 300

/* One request under way. */
struct change {
    struct core *core;
    struct reservation *next;
    const struct key_value *given;
    const char *value;
    char sign; /* '=', '+', '-' */
    bool create, start_set, end_set;
    int64_t duration; /* 0 = not given */
    int64_t lasted;   /* before the change */
    bool place_set;   /* nodes or their number */
    struct error *err;
};

/* ---- lists ---- */

static bool list_has(const char *list, const char *word) {
    return str_has_word_nocase(list, word, ",");
}

void list_without(char **list, const char *unwanted, bool nocase) {
    struct str rest cleanup_str = STR_INIT;
    words_each (*list, ",", word) {
        if (nocase ? !list_has(unwanted, word) : !str_has_word(unwanted, word, ","))
            str_join(&rest, ",", word);
    }
    string_set(list, rest.length > 0 ? rest.data : NULL);
}

static void list_with(char **list, const char *added) {
    struct str all cleanup_str = STR_INIT;
    if (*list != NULL)
        str_append(&all, *list);
    words_each (added, ",", word) {
        if (!list_has(all.data, word))
            str_join(&all, ",", word);
    }
    string_set(list, all.length > 0 ? all.data : NULL);
}

static int set_list(struct change *c, char **list) {
    if (c->sign == '=')
        string_set(list, NULL);
    if (c->sign == '-')
        list_without(list, c->value, true);
    else
        list_with(list, c->value);
    size_t excluded = 0, n = 0;
    words_each (*list, ",", word) {
        n++;
        excluded += word[0] == '-';
    }
    if (excluded > 0 && excluded < n)
        return error_set(c->err, ERR_INVALID,
                         "%s=%s names both who may and who may not use it: \"a,b\" or \"-a,-b\".",
                         c->given->key, *list);
    return 0;
}

static int set_users(struct change *c) {
    return set_list(c, &c->next->users);
}
static int set_accounts(struct change *c) {
    words_each (c->value, ",", word) {
        const char *name = word + (word[0] == '-');
        if (c->sign != '-' && account_find(&c->core->book, name) == NULL)
            return error_set(c->err, ERR_INVALID_ACCOUNT,
                             "account %s does not exist (see `sacctmgr show account`)", name);
    }
    return set_list(c, &c->next->accounts);
}
static int set_groups(struct change *c) {
    return set_list(c, &c->next->groups);
}

/* ---- times ---- */

static int set_time(struct change *c, const char *what, int64_t *ret) {
    struct error why = ERROR_INIT;
    if (timestamp_parse(c->value, c->core->now, false, ret, &why) < 0)
        return error_set(c->err, ERR_INVALID, "%s\nInvalid %s time %s=%s.", why.text, what,
                         c->given->key, c->value);
    if (*ret <= 0 || *ret > TIME_LATEST - 2 * YEAR_SECONDS)
        return error_set(c->err, ERR_INVALID_TIME, "%s=%s is out of range", c->given->key,
                         c->value);
    return 0;
}

static int set_start(struct change *c) {
    c->start_set = true;
    return set_time(c, "start", &c->next->start_time);
}

static int set_end(struct change *c) {
    c->end_set = true;
    return set_time(c, "end", &c->next->end_time);
}

static int set_duration(struct change *c) {
    uint32_t minutes;
    if (minutes_parse(c->value, &minutes, NULL) < 0 || minutes == 0 || minutes == MINUTES_UNSET)
        return error_set(c->err, ERR_INVALID, "Invalid duration %s=%s.", c->given->key, c->value);
    c->duration = minutes == MINUTES_INFINITE ? YEAR_SECONDS
                                              : min_of((int64_t) minutes * 60, YEAR_SECONDS * 100);
    return 0;
}

/* ---- what is reserved ---- */

static int set_nodes(struct change *c) {
    struct reservation *next = c->next;
    uint32_t *nodes;
    size_t n;
    c->place_set = true;
    if (c->sign != '=' && next->nodes != NULL) {
        struct hostlist have cleanup_hostlist = HOSTLIST_INIT,
                             other cleanup_hostlist = HOSTLIST_INIT;
        struct hostlist kept cleanup_hostlist = HOSTLIST_INIT;
        struct str text cleanup_str = STR_INIT;
        if (hostlist_parse(&have, next->nodes, NULL) < 0 ||
            hostlist_parse(&other, c->value, NULL) < 0)
            return error_set(c->err, ERR_INVALID_NODE, "%s", c->value);
        for (size_t i = 0; i < have.n; i++) {
            bool named = false;
            for (size_t k = 0; k < other.n && c->sign == '-'; k++)
                named |= str_equal(have.names[i], other.names[k]);
            if (!named)
                hostlist_push(&kept, have.names[i]);
        }
        for (size_t k = 0; k < other.n && c->sign == '+'; k++)
            hostlist_push(&kept, other.names[k]);
        hostlist_unique(&kept);
        hostlist_fold(&kept, &text);
        string_set(&next->nodes, str_cstr(&text));
    } else {
        string_set(&next->nodes, c->value);
    }
    next->flags |= RESERVATION_SPEC_NODES;
    next->flags &= ~(uint32_t) RESERVATION_ALL_NODES;
    if (str_equal_nocase(c->value, "ALL"))
        next->flags |= RESERVATION_ALL_NODES;
    next->asked_nodes = 0;
    int r = nodes_resolve(c->core, next->nodes, &c->core->out->memory, &nodes, &n, c->err);
    if (r == 0 && n == 0)
        return error_set(c->err, ERR_INVALID_NODE, "a reservation needs a node");
    return r;
}

static int count_of(struct change *c, uint32_t *ret) {
    uint64_t count;
    if (c->sign != '=' || count_parse(c->value, &count, NULL) < 0 || count == 0 ||
        count > COUNT_LARGEST)
        return error_set(c->err, ERR_INVALID, "Invalid %s=%s: it takes one number.", c->given->key,
                         c->value);
    *ret = (uint32_t) count;
    return 0;
}

static int set_node_cnt(struct change *c) {
    c->place_set = true;
    c->next->flags &= ~(uint32_t) RESERVATION_ALL_NODES;
    return count_of(c, &c->next->asked_nodes);
}

static int set_core_cnt(struct change *c) {
    c->place_set = true;
    return count_of(c, &c->next->asked_cores);
}

/* Cuts "NAME=COUNT" behind the name; false: it is none. */
static bool tres_split(char *word, uint64_t *ret_count) {
    char *equals = strchr(word, '=');
    if (equals == NULL || !str_to_u64(equals + 1, ret_count) || *ret_count == 0 ||
        *ret_count > COUNT_LARGEST)
        return false;
    *equals = '\0';
    return true;
}

static void tres_add(char **list, const char *name, uint64_t count) {
    cleanup_free char *item = xasprintf("%s:%llu", name, (unsigned long long) count);
    list_with(list, item);
}

/* node=4,cpu=8,gres/gpu=2,license/x=1 */
static int tres_word(struct change *c, char *word) {
    struct reservation *next = c->next;
    uint64_t count;
    if (!tres_split(word, &count))
        return error_set(c->err, ERR_INVALID, "Invalid %s=%s: \"%s\" is not NAME=COUNT.",
                         c->given->key, c->value, word);
    if (str_equal_nocase(word, "node")) {
        next->asked_nodes = (uint32_t) count;
        next->flags &= ~(uint32_t) RESERVATION_ALL_NODES;
    } else if (str_equal_nocase(word, "cpu")) {
        uint32_t threads = c->core->n_nodes > 0 ? max_of(c->core->nodes[0].cpus_per_core, 1u) : 1;
        next->asked_cores = (uint32_t) ((count + threads - 1) / threads);
    } else if (str_starts_nocase(word, "gres/")) {
        tres_add(&next->asked_gres, word + strlen("gres/"), count);
    } else if (str_starts_nocase(word, "license/")) {
        tres_add(&next->licenses, word + strlen("license/"), count);
    } else {
        return error_set(c->err, ERR_INVALID,
                         "Invalid %s=%s: \"%s\" cannot be reserved; node, cpu, gres/NAME and "
                         "license/NAME can.",
                         c->given->key, c->value, word);
    }
    return 0;
}

static int set_tres(struct change *c) {
    c->place_set = true;
    string_set(&c->next->asked_gres, NULL);
    words_each (c->value, ",", word) {
        int r = tres_word(c, word);
        if (r < 0)
            return r;
    }
    return 0;
}

static int set_tres_per_node(struct change *c) {
    c->place_set = true;
    string_set(&c->next->asked_per_node, NULL);
    words_each (c->value, ",", word) {
        uint64_t count;
        if (!str_starts_nocase(word, "gres/") || !tres_split(word, &count))
            return error_set(c->err, ERR_INVALID, "Invalid %s=%s: it takes gres/NAME=COUNT.",
                             c->given->key, c->value);
        tres_add(&c->next->asked_per_node, word + strlen("gres/"), count);
    }
    return 0;
}

static int set_partition(struct change *c) {
    if (c->value[0] != '\0' && partition_find(c->core, c->value, NULL) == NULL)
        return error_set(c->err, ERR_INVALID_PARTITION, "partition %s does not exist", c->value);
    c->place_set = true;
    string_set(&c->next->partition, c->value[0] != '\0' ? c->value : NULL);
    return 0;
}

static int set_features(struct change *c) {
    if (!c->create)
        return error_set(c->err, ERR_NOT_SUPPORTED,
                         "the features of a reservation are given when it is made");
    int r = features_check(c->core, c->value, c->err);
    if (r == 0)
        string_set(&c->next->features, c->value[0] != '\0' ? c->value : NULL);
    return r;
}

static int set_licenses(struct change *c) {
    if (c->sign == '=')
        string_set(&c->next->licenses, NULL);
    if (licenses_check(c->core, c->value, false, c->err) < 0)
        return -ERR_INVALID_LICENSE;
    if (c->sign == '-')
        list_without(&c->next->licenses, c->value, true);
    else
        list_with(&c->next->licenses, c->value);
    return 0;
}

/* ---- flags ---- */

static const struct {
    const char *word;
    uint32_t flag;
} other_words[] = {
    {"IGNORE_RUNNING", RESERVATION_IGNORE_JOBS},
    {"LICENSE_ONLY", RESERVATION_ANY_NODES},
    {"STATIC_ALLOC", RESERVATION_STATIC},
    {"NO_REPLACE", RESERVATION_STATIC},
    {"NO_HOLD_JOBS_AFTER", RESERVATION_NO_HOLD_JOBS},
};

/* 0 = none. Output-only flags cannot be asked for. */
static uint32_t flag_of(const char *word) {
    const struct names *names = &names_reservation_flag;
    uint32_t value, shown = RESERVATION_SPEC_NODES | RESERVATION_ALL_NODES;
    size_t length = strlen(word);
    if (names_value(names, word, &value))
        return value & ~shown;
    for (size_t i = 0; i < countof(other_words); i++) {
        if (str_equal_nocase(other_words[i].word, word))
            return other_words[i].flag;
    }
    for (size_t i = 0; i < names->n; i++) { /* cut short: "ignore" */
        if (length >= 4 && str_starts_nocase(names->rows[i].name, word))
            return names->rows[i].value & ~shown;
    }
    return 0;
}

static int flag_word(struct change *c, char *word, bool remove) {
    static const char *const lacking[] = {"TIME_FLOAT", "REPLACE", "FIRST_CORES"};
    struct reservation *next = c->next;
    char *equals = strchr(word, '=');
    uint64_t seconds = PURGE_DEFAULT;
    if (equals != NULL)
        *equals = '\0';
    uint32_t flag = flag_of(word);
    for (size_t i = 0; i < countof(lacking); i++) {
        if (str_equal_nocase(word, lacking[i]))
            return error_set(c->err, ERR_NOT_SUPPORTED, "flag %s is not supported", word);
    }
    if (flag == 0)
        return error_set(c->err, ERR_INVALID, "Error parsing flags %s.", c->value);
    if (equals != NULL &&
        (flag != RESERVATION_PURGE_COMP || duration_parse(equals + 1, &seconds, NULL) < 0 ||
         seconds > (uint64_t) YEAR_SECONDS))
        return error_set(c->err, ERR_INVALID, "Error parsing flags %s.", c->value);
    if (flag == RESERVATION_PURGE_COMP)
        next->purge_after = (int64_t) seconds;
    if (flag & RESERVATION_RECURRING)
        next->flags &= ~(uint32_t) RESERVATION_RECURRING; /* one rhythm */
    if (remove)
        next->flags &= ~flag;
    else
        next->flags |= flag;
    return 0;
}

static int set_flags(struct change *c) {
    if (c->sign == '=')
        c->next->flags &= RESERVATION_SPEC_NODES | RESERVATION_ALL_NODES;
    words_each (c->value, ",", word) {
        int r = flag_word(c, word, c->sign == '-');
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- the rest ---- */

static int set_comment(struct change *c) {
    string_set(&c->next->comment, c->value[0] != '\0' ? c->value : NULL);
    return 0;
}

static int set_skip(struct change *c) {
    struct reservation *next = c->next;
    if (c->create || !(next->flags & RESERVATION_RECURRING) ||
        reservation_is_active(next, c->core->now))
        return error_set(c->err, ERR_INVALID,
                         "Skip leaves out the next occurrence of a recurring reservation that is "
                         "not active.");
    reservation_next(next);
    return 0;
}

static int set_unsupported(struct change *c) {
    return error_set(c->err, ERR_NOT_SUPPORTED, "%s cannot be kept by a reservation here",
                     c->given->key);
}

static const struct key {
    const char *name;
    size_t least; /* letters that tell it from the others */
    int (*set)(struct change *c);
} keys[] = {
    {"Accounts", 1, set_accounts},
    {"AllowedPartitions", 3, set_unsupported},
    {"BurstBuffer", 1, set_unsupported},
    {"Comment", 3, set_comment},
    {"CoreCnt", 3, set_core_cnt},
    {"Duration", 1, set_duration},
    {"EndTime", 1, set_end},
    {"Features", 2, set_features},
    {"Flags", 2, set_flags},
    {"Groups", 1, set_groups},
    {"Licenses", 1, set_licenses},
    {"MaxStartDelay", 1, set_unsupported},
    {"NodeCnt", 5, set_node_cnt},
    {"Nodes", 5, set_nodes},
    {"PartitionName", 1, set_partition},
    {"QOS", 1, set_unsupported},
    {"Skip", 2, set_skip},
    {"StartTime", 1, set_start},
    {"TRES", 1, set_tres},
    {"TRESPerNode", 5, set_tres_per_node},
    {"Users", 1, set_users},
    {"Watts", 1, set_unsupported},
};

/* The row of a key, or NULL. "Users+" adds, "Users-" takes away. */
static const struct key *key_find(const char *text, char *ret_sign) {
    size_t length = strlen(text);
    char sign = '=';
    if (length > 1 && (text[length - 1] == '+' || text[length - 1] == '-'))
        sign = text[--length];
    *ret_sign = sign;
    for (size_t i = 0; i < countof(keys); i++) {
        if (str_abbreviates(text, length, keys[i].name, keys[i].least))
            return &keys[i];
    }
    return NULL;
}

const char *core_reservation_key(const char *text) {
    char sign;
    const struct key *key = key_find(text, &sign);
    return key != NULL ? key->name : NULL;
}

static int key_apply(struct change *c, const struct key_value *given) {
    const struct key *key = key_find(given->key, &c->sign);
    c->given = given;
    c->value = given->value != NULL ? given->value : "";
    return key != NULL
               ? key->set(c)
               : error_set(c->err, ERR_INVALID, "Unknown parameter %s=%s.", given->key, c->value);
}

/* ---- the whole ---- */

static int times_settle(struct change *c) {
    struct reservation *next = c->next;
    if (c->create && !c->start_set)
        return error_set(c->err, ERR_INVALID, "A start time must be given.");
    if (c->create && !c->end_set && c->duration == 0)
        return error_set(c->err, ERR_INVALID, "An end time or duration must be given.");
    if (!c->create && c->start_set && !c->end_set && c->duration == 0) /* it is moved */
        next->end_time = next->start_time + c->lasted;
    if (c->duration > 0)
        next->end_time = next->start_time + c->duration;
    if (next->start_time >= next->end_time)
        return error_set(c->err, ERR_INVALID, "Start time cannot be after end time.");
    if (next->end_time > next->start_time + 100 * YEAR_SECONDS)
        return error_set(c->err, ERR_INVALID_TIME, "it would last more than a hundred years");
    bool again = (next->flags & RESERVATION_RECURRING) && (next->flags & RESERVATION_FORCE_START);
    if (c->start_set && next->start_time < c->core->now && !again)
        return error_set(c->err, ERR_INVALID_TIME,
                         "the start has passed; FORCE_START takes it as the first of a recurring "
                         "reservation");
    if (next->end_time <= c->core->now && !again)
        return error_set(c->err, ERR_INVALID_TIME, "the end has passed");
    while (next->end_time <= c->core->now)
        reservation_next(next);
    return 0;
}

static int wishes_settle(struct change *c) {
    struct reservation *next = c->next;
    bool place = next->nodes != NULL || next->asked_nodes > 0 || next->asked_cores > 0 ||
                 next->asked_gres != NULL || next->licenses != NULL;
    if (!place)
        return error_set(c->err, ERR_INVALID,
                         "Nodes, NodeCnt, CoreCnt, TRES or Licenses must be specified.");
    if (next->users == NULL && next->accounts == NULL && next->groups == NULL)
        return c->create
                   ? error_set(c->err, ERR_INVALID,
                               "Either Users/Groups, AllowedPartitions, QOS and/or Accounts must "
                               "be specified.")
                   : error_set(c->err, ERR_RESERVATION_EMPTY, "nobody could use it");
    if ((next->flags & RESERVATION_PART_NODES) &&
        (next->partition == NULL || !(next->flags & RESERVATION_SPEC_NODES)))
        return error_set(c->err, ERR_INVALID,
                         "PART_NODES takes all nodes of a partition: Nodes=ALL PartitionName=…");
    if (next->flags & RESERVATION_PART_NODES)
        next->flags &= ~(uint32_t) RESERVATION_ALL_NODES; /* of the partition, that is */
    if ((next->flags & RESERVATION_MAGNETIC) && next->groups != NULL)
        return error_set(c->err, ERR_NOT_SUPPORTED,
                         "a MAGNETIC reservation names its Users or Accounts, not Groups");
    if ((next->flags & RESERVATION_ANY_NODES) && next->licenses == NULL)
        return error_set(c->err, ERR_INVALID, "ANY_NODES is for reservations of Licenses.");
    if (next->licenses != NULL && next->nodes == NULL && next->asked_nodes == 0 &&
        next->asked_cores == 0 && next->asked_gres == NULL)
        next->flags |= RESERVATION_ANY_NODES;
    return 0;
}

static int request_apply(struct change *c, const struct update *request,
                         const struct core_reservation *self) {
    int r = 0;
    for (uint32_t i = 0; i < request->changes.n; i++) {
        if (request->changes.items[i].key == NULL || request->changes.items[i].key[0] == '\0')
            return error_set(c->err, ERR_INVALID, "A parameter has no name.");
    }
    /* Flags first: what others mean depends on them. */
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; r == 0 && i < request->changes.n; i++) {
            bool is_flags = str_starts_nocase(request->changes.items[i].key, "Fl");
            if (is_flags == (pass == 0))
                r = key_apply(c, &request->changes.items[i]);
        }
    }
    if (r == 0)
        r = times_settle(c);
    if (r == 0)
        r = wishes_settle(c);
    if (r == 0 && (c->create || c->place_set))
        r = reservation_choose(c->core, c->next, self, c->err);
    return r == 0 ? reservation_check(c->core, c->next, self, c->err) : r;
}

/* "alice_1" */
static void default_name(const struct core *core, struct reservation *next) {
    const char *list = next->users      ? next->users
                       : next->accounts ? next->accounts
                       : next->groups   ? next->groups
                                        : "resv";
    cleanup_free char *first = xstrdup(list + (list[0] == '-'));
    first[strcspn(first, ",")] = '\0';
    for (unsigned n = 1;; n++) {
        cleanup_free char *name = xasprintf("%s_%u", first, n);
        if (reservation_find(core, name) != NULL)
            continue;
        string_set(&next->name, name);
        return;
    }
}

/* None that there has been: jobs that run on after theirs are known by it. */
static uint32_t next_id(struct core *core) {
    vec_each (&core->reservations, resv) {
        core->meta.last_reservation_id = max_of(core->meta.last_reservation_id, (*resv)->rec.id);
    }
    core->meta_dirty = true;
    return ++core->meta.last_reservation_id;
}

static int reservation_create(struct core *core, const struct core_user *user,
                              const struct update *request, struct error *err,
                              const struct reservation **ret_made) {
    struct reservation next;
    struct change c = {.core = core, .next = &next, .create = true, .err = err};
    bool named = request->target != NULL && request->target[0] != '\0';
    if (named && reservation_find(core, request->target) != NULL)
        return error_set(err, ERR_RESERVATION_DUPLICATE, "reservation %s exists", request->target);
    if (named && strpbrk(request->target, ", \t\n=") != NULL)
        return error_set(err, ERR_INVALID, "\"%s\" is no name of a reservation.", request->target);
    record_init(&record_reservation, &next);
    next.purge_after = PURGE_DEFAULT;
    string_set(&next.name, named ? request->target : NULL);
    string_set(&next.creator, user->name);
    int r = request_apply(&c, request, NULL);
    if (r < 0) {
        record_done(&record_reservation, &next);
        return r;
    }
    if (!named)
        default_name(core, &next);
    next.id = next_id(core);
    struct core_reservation *resv = reservation_add(core, &next);
    reservation_touch(core, resv);
    reservations_tick(core);
    reservations_changed(core);
    *ret_made = &resv->rec;
    return 0;
}

static int reservation_change(struct core *core, struct core_reservation *resv,
                              const struct update *request, struct error *err) {
    struct reservation next;
    record_copy(&record_reservation, &next, &resv->rec);
    struct change c = {.core = core, .next = &next, .err = err};
    c.lasted = resv->rec.end_time - resv->rec.start_time;
    int r = request_apply(&c, request, resv);
    if (r < 0) {
        record_done(&record_reservation, &next);
        return r;
    }
    next.begun = next.begun && next.start_time <= core->now;
    record_done(&record_reservation, &resv->rec);
    resv->rec = next;
    reservation_touch(core, resv);
    jobs_each (core, job) { /* it may be for others now */
        if (job_is_pending(job) && job_in_reservation(job, resv->rec.name))
            sched_sync(core, job);
    }
    reservations_tick(core);
    reservations_changed(core);
    return 0;
}

static int reservation_delete(struct core *core, struct core_reservation *resv, struct error *err) {
    jobs_each (core, job) {
        if (!job_state_is_final(job->rec.state) && job_in_reservation(job, resv->rec.name))
            return error_set(err, ERR_RESERVATION_IN_USE,
                             "job %u waits or runs in it; squeue -R %s lists its jobs",
                             job->rec.job_id, resv->rec.name);
    }
    reservation_end(core, resv);
    reservations_changed(core);
    return 0;
}

/* Users delete what they may use, where its flag or the cluster's option allows it. */
static bool user_may_delete(const struct core *core, const struct core_user *user,
                            const struct reservation *rec) {
    bool allowed = (rec->flags & RESERVATION_USER_DELETE) || core->conf->slurmctld.user_resv_delete;
    return allowed && rec->users != NULL && rec->users[0] != '-' &&
           str_has_word_nocase(rec->users, user->name, ",");
}

int update_reservation(struct core *core, const struct core_user *user,
                       const struct update *request, struct error *err,
                       const struct reservation **ret_made) {
    const char *name = request->target != NULL ? request->target : "";
    struct core_reservation *resv = reservation_find(core, name);
    bool admin = core_is_admin(core, user->uid);
    *ret_made = NULL;
    if (!admin && !(request->remove && resv != NULL && user_may_delete(core, user, &resv->rec)))
        return error_set(err, ERR_USER_ID, "only administrators and operators may %s reservations",
                         request->create   ? "create"
                         : request->remove ? "delete"
                                           : "change");
    if (request->create)
        return reservation_create(core, user, request, err, ret_made);
    if (resv == NULL)
        return error_set(err, ERR_INVALID_RESERVATION,
                         "reservation %s does not exist; scontrol show reservation lists those "
                         "that do",
                         name);
    return request->remove ? reservation_delete(core, resv, err)
                           : reservation_change(core, resv, request, err);
}
