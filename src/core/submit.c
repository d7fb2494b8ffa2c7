/* SPDX-License-Identifier: Apache-2.0 */
/* Submission: what has passed the door becomes a record before anybody is told so. */
#include <string.h>

#include "core/forecast.h"
#include "core/habit.h"
#include "core/submit_phrases.h"
#include "model/conf.h"
#include "model/request_change.h"
#include "text/hostlist.h"

/* Names that do not parse stay as they are for the checks to complain about. */
static void fold_names(char **names) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT;
    if (*names == NULL || hostlist_parse(&list, *names, NULL) < 0)
        return;
    hostlist_sort(&list);
    hostlist_unique(&list);
    hostlist_fold(&list, &folded);
    string_set(names, folded.length > 0 ? folded.data : NULL);
}

static void take_request(struct core *core, struct core_job *job, const struct core_user *user,
                         const struct job_request *request) {
    struct job *rec = &job->rec;
    record_copy_common(&record_job, rec, &record_job_request, request);
    /* Kept apart: they are large and nobody lists them. */
    free(rec->environment.data);
    free(rec->script.data);
    rec->environment = (struct blob) {NULL, 0};
    rec->script = (struct blob) {NULL, 0};
    bool as_other = core_is_admin(core, user->uid) && request->run_as_uid != UNSET32;
    rec->uid = as_other ? request->run_as_uid : user->uid;
    rec->gid = as_other && request->run_as_gid != UNSET32 ? request->run_as_gid : user->gid;
    if (!as_other) {
        string_set(&rec->user_name, user->name);
        string_set(&rec->group_name, user->group);
    } else {
        string_set(&rec->user_name, user->as_name != NULL ? user->as_name : "?");
        string_set(&rec->group_name, user->as_group != NULL ? user->as_group : "?");
    }
    if (rec->distribution != DIST_ARBITRARY) /* which goes by the order */
        fold_names(&rec->req_nodes);
    fold_names(&rec->exc_nodes);
    rec->submit_time = core->now;
    if (rec->begin_time > core->now)
        rec->eligible_time = rec->start_time = rec->begin_time; /* until the planner knows better */
    else
        rec->eligible_time = rec->hold || rec->dependency != NULL ? 0 : core->now;
    if (rec->eligible_time <= core->now && !core->limits.ages)
        rec->accrue_time = rec->eligible_time;
    rec->last_sched_eval = core->now; /* it has been tried against the nodes on its way in */
    string_set(&rec->cluster, core->settings.cluster);
    if (rec->requeue == TRI_UNSET)
        rec->requeue = core->settings.job_requeue ? TRI_YES : TRI_NO;
    if (rec->kind != JOB_KIND_BATCH)
        rec->requeue = TRI_NO;
    if (rec->open_mode == OPEN_DEFAULT)
        rec->open_mode = core->settings.job_file_append ? OPEN_APPEND : OPEN_TRUNCATE;
    if (rec->name == NULL)
        string_set(&rec->name, "sbatch");
}

/* What the partition and the cluster say where the request is silent, so that everybody sees it. */
static void take_defaults(struct core *core, struct job *job) {
    uint32_t first;
    if (!job_first_partition(core, job, &first))
        return;
    const struct core_partition *part = &core->partitions[first];
    uint32_t wall = limits_wall(core, job, first);
    bool no_limit = job->time_limit == MINUTES_UNSET || job->time_limit == 0;
    if (no_limit && part->rec.default_time != MINUTES_UNSET)
        job->time_limit = part->rec.default_time;
    else if (no_limit && wall != UNSET32)
        job->time_limit = min_of(wall, part->rec.max_time);
    else if (no_limit && strchr(job->partition, ',') == NULL)
        job->time_limit = part->rec.max_time; /* of several, each gives its own once chosen */
    else if (no_limit && part->rec.max_time == MINUTES_INFINITE)
        job->time_limit = MINUTES_INFINITE;
    bool no_memory =
        job->mem_per_node == UNSET64 && job->mem_per_cpu == UNSET64 && job->mem_per_gpu == UNSET64;
    if (!no_memory)
        return;
    struct job_spec spec cleanup(job_spec_done);
    if (job_spec_build(core, job, &spec, NULL) < 0)
        return;
    if (spec.sched.mem_per_cpu != UNSET64)
        job->mem_per_cpu = spec.sched.mem_per_cpu;
    else if (spec.sched.mem_per_node != UNSET64 && spec.sched.mem_per_node > 0)
        job->mem_per_node = spec.sched.mem_per_node;
}

static int take_array(struct core *core, struct core_job *job, struct reply_error *reply) {
    struct error err = ERROR_INIT;
    if (job->rec.array_spec == NULL)
        return 0;
    if (job->rec.kind != JOB_KIND_BATCH)
        return reply_refuse(reply, core, ERR_INVALID_ARRAY, "only batch jobs can be arrays");
    if (job->rec.het_size > 0)
        return reply_refuse(reply, core, ERR_INVALID_ARRAY,
                            "a heterogeneous job cannot be an array: submit it once for each task");
    if (core->settings.max_array_size == 0)
        return reply_refuse(reply, core, ERR_INVALID_ARRAY,
                            "job arrays are disabled (MaxArraySize=0)");
    uint32_t highest = core->settings.max_array_size - 1;
    if (idset_parse(&job->tasks, job->rec.array_spec, highest, &job->rec.array_limit, &err) < 0)
        return reply_refuse(reply, core, ERR_INVALID_ARRAY, "%s%s", err.text,
                            strstr(err.text, "index is above") != NULL
                                ? ", the highest that MaxArraySize allows"
                                : "");
    if (idset_count(&job->tasks) == 0)
        return reply_refuse(reply, core, ERR_INVALID_ARRAY, "--array=%s names no task",
                            job->rec.array_spec);
    if (core->settings.max_array_tasks > 0 &&
        idset_count(&job->tasks) > core->settings.max_array_tasks)
        return reply_refuse(reply, core, ERR_INVALID_ARRAY,
                            "--array=%s has %llu tasks, and an array may have %u here "
                            "(SchedulerParameters=max_array_tasks)",
                            job->rec.array_spec, (unsigned long long) idset_count(&job->tasks),
                            core->settings.max_array_tasks);
    struct str text cleanup_str = STR_INIT;
    idset_print(&job->tasks, &text, 0);
    string_set(&job->rec.array_tasks, text.data);
    string_set(&job->rec.array_all, text.data);
    job->rec.array_job_id = job->rec.job_id;
    return 0;
}

static void store_script(struct core *core, struct core_job *job,
                         const struct job_request *request) {
    if (request->kind != JOB_KIND_BATCH)
        return;
    struct job_script script = {
        .job_id = job->rec.job_id, .script = request->script, .environment = request->environment};
    job->script_id = job->rec.job_id;
    emit_put(core, STORE_JOB_SCRIPT, job->script_id, &record_job_script, &script);
    if (!(core->settings.store_flags & CONF_STORE_JOB_SCRIPT))
        script.script = (struct blob) {0};
    if (!(core->settings.store_flags & CONF_STORE_JOB_ENV))
        script.environment = (struct blob) {0};
    bool kept = !(core->settings.enforce & CONF_ENFORCE_NOJOBS);
    if (!kept || (script.script.size == 0 && script.environment.size == 0))
        return;
    script.submit_time = job->rec.submit_time;
    emit_put(core, STORE_KEPT_SCRIPT, job->script_id, &record_job_script, &script);
    if (!core->settings.tells_database)
        return;
    struct effect *effect = emit(core, EFFECT_HISTORY);
    effect->body = effect_encode(core, &record_job_script, &script);
    effect->history = (struct effect_history) {.job_id = job->rec.job_id,
                                               .uid = job->rec.uid,
                                               .submit = core->now,
                                               .start = core->now,
                                               .end = core->now,
                                               .kind = HISTORY_SCRIPT};
}

/* Everything that can be wrong, before anything is changed. */
static int check_submission(struct core *core, struct core_job *job, const struct core_user *user,
                            const struct submit *submit, uint64_t others,
                            struct reply_error *reply) {
    bool leader = het_is_leader(job);
    const struct job_request *request =
        leader ? submit->job : &submit->components.items[job->rec.het_offset - 1];
    if (request->run_as_uid != UNSET32 && !core_is_admin(core, user->uid))
        return reply_refuse(reply, core, ERR_ACCESS_DENIED, "--uid only permitted by root user");
    if (request->script.size > core->settings.max_script_size)
        return reply_refuse(reply, core, ERR_SCRIPT_TOO_LARGE,
                            "%zu bytes; at most %u are accepted "
                            "(SchedulerParameters=max_script_size)",
                            request->script.size, core->settings.max_script_size);
    if (leader && request->kind == JOB_KIND_BATCH && request->script.size == 0 &&
        !submit->test_only)
        return reply_refuse(reply, core, ERR_JOB_SCRIPT_MISSING, "the batch script is empty");
    uint64_t weight = others + max_of(idset_count(&job->tasks),
                                      max_of((uint64_t) job->rec.het_size, (uint64_t) 1));
    if (core->n_jobs + weight > core->settings.max_job_count)
        return reply_refuse(reply, core, ERR_JOB_COUNT,
                            "the controller holds %zu of at most %u jobs (MaxJobCount), waiting "
                            "tasks of arrays counted; %zu more would fit",
                            core->n_jobs, core->settings.max_job_count,
                            core->settings.max_job_count -
                                min_of(core->n_jobs, (size_t) core->settings.max_job_count));
    /* An update by its owner leaves what an operator has given. */
    if (job->rec.nice < 0 && !core_is_admin(core, user->uid))
        return reply_refuse(reply, core, ERR_NICE, "only administrators may give a value below 0");
    struct error err = ERROR_INIT;
    int r = job_check(core, &job->rec, user, reply);
    if (r == 0 && job_take_wckey(core, &job->rec, &err) < 0)
        r = reply_refuse(reply, core, -err.code, "%s", err.text);
    if (r == 0)
        r = limits_check(core, &job->rec, weight, reply);
    if (r == 0 && job->rec.dependency != NULL &&
        depend_parse(core, job, job->rec.dependency, &err) < 0)
        r = reply_refuse(reply, core, -err.code, "%s", err.text);
    return r;
}

static void apply_priority_request(struct core *core, struct core_job *job,
                                   const struct core_user *user, struct submit_reply *reply) {
    if (job->rec.requested_priority == UNSET32 || core_is_admin(core, user->uid))
        return;
    /* Accepted and without effect, as users know it; but they are told. */
    if (job->rec.requested_priority != 0) {
        char **lines = arena_alloc(&core->out->memory, sizeof(char *));
        cleanup_free char *text =
            xasprintf("--priority=%u is not applied: only administrators and operators may set "
                      "a job's priority",
                      job->rec.requested_priority);
        lines[0] = arena_strdup(&core->out->memory, text);
        reply->warnings = (struct strs) {lines, 1};
        job->rec.requested_priority = UNSET32;
    } else {
        job->rec.hold = true;
        job->rec.requested_priority = UNSET32;
    }
}

/* Of a limit above those of all its partitions: what they allow. False for others. */
static bool time_limit_is_above(struct core *core, const struct job *job, struct str *ret_most) {
    uint32_t most = 0, asked = job->time_min != UNSET32 ? job->time_min : job->time_limit;
    if (job->time_limit == MINUTES_UNSET || job->time_limit == 0)
        return false;
    words_each (job->partition, ",", name) {
        const struct core_partition *part = partition_find(core, name, NULL);
        if (part == NULL || part->rec.max_time == MINUTES_INFINITE || asked <= part->rec.max_time)
            return false;
        most = max_of(most, part->rec.max_time);
    }
    minutes_print_long(most, "UNLIMITED", ret_most);
    return true;
}

/* Accepted, as users know it, but it waits until somebody changes something. */
static void note_time_limit(struct core *core, const struct job *job, enum language language,
                            struct submit_reply *reply) {
    struct str limit cleanup_str = STR_INIT;
    if (!time_limit_is_above(core, job, &limit))
        return;
    cleanup_free char *text = xasprintf(submit_phrase(language, SUBMIT_PHRASE_TIME_LIMIT),
                                        job->partition, str_cstr(&limit));
    submit_tell(core, reply, text);
}

/* What the time does not say. */
static void test_only_infos(struct core *core, const struct core_job *job, bool exact,
                            struct submit_reply *reply) {
    const char *held = "it would be held; the time is that of a release now";
    const char *waits = "it would wait for its dependencies; the time assumes that they come true "
                        "when the jobs that it waits for reach their limits";
    const char *guess =
        core->preempt.on ? "the time is an estimate: jobs are preempted before, or many are ahead"
                         : "so many jobs are ahead that the time is an estimate";
    if (job->rec.hold)
        submit_tell(core, reply, held);
    if (job->n_depends > 0)
        submit_tell(core, reply, waits);
    if (!exact)
        submit_tell(core, reply, guess);
}

/* An estimate names no nodes: those that would be taken as things stand. */
static void test_only_nodes(struct core *core, const struct sched_job_spec *spec,
                            struct forecast_start *start) {
    struct sched_plan plan = SCHED_PLAN_INIT;
    struct sched_start found;
    int64_t when;
    if (start->nodes != NULL || !start->known)
        return;
    if (sched_will_run(core->sched, spec, core->now, &found, &plan, &when)) {
        struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
        struct str folded cleanup_str = STR_INIT;
        for (size_t i = 0; i < found.n_allocs; i++)
            hostlist_push(&names, core->nodes[found.allocs[i].node].rec.name);
        hostlist_fold(&names, &folded);
        start->nodes = arena_strndup(&core->out->memory, str_cstr(&folded), folded.length);
        start->n_cpus = found.n_cpus;
        start->partition = found.partition;
    }
    sched_plan_done(&plan);
}

/* The lines of a filter come before our own. */
static void add_told(struct core *core, const struct strs *told, struct strs *lines) {
    if (told->n == 0)
        return;
    char **all = arena_alloc(&core->out->memory, (told->n + lines->n) * sizeof(char *));
    memcpy(all, told->items, told->n * sizeof(char *));
    if (lines->n > 0)
        memcpy(all + told->n, lines->items, lines->n * sizeof(char *));
    *lines = (struct strs) {all, told->n + lines->n};
}

/* What has become of the request, for who asks. */
static void explain_changes(struct core *core, const struct core_job *job,
                            const struct submit *submit, struct submit_reply *reply) {
    if (!submit->explain)
        return;
    struct job_request taken;
    record_init(&record_job_request, &taken);
    record_copy_common(&record_job_request, &taken, &record_job, &job->rec);
    struct job_request asked = *submit->job;
    asked.environment = asked.script = (struct blob) {NULL, 0}; /* not in the record */
    reply->changes.items = submit->changes.items;
    reply->changes.n = submit->changes.n;
    request_changes_add(&asked, &taken, "the controller", &core->out->memory, &reply->changes.items,
                        &reply->changes.n);
    record_done(&record_job_request, &taken);
}

static void add_waiter(struct core *core, struct core_job *job, uint64_t client, uint32_t seq,
                       enum client_wait what) {
    struct waiter waiter = {client, seq, what};
    client_watches(core, client, job);
    vec_push(&job->waiters, waiter);
}

static void wait_for_array(struct core *core, struct core_job *job, uint64_t client, uint32_t seq) {
    client_watches(core, client, job);
    array_wait(core, job->array, client, seq);
}

/* The command that waits for it has all components of it. */
static void take_owner(struct core *core, struct core_job *job, uint64_t client) {
    het_each(job, other) {
        other->owner_client = client;
        client_watches(core, client, other);
    }
    job->owner_client = client;
}

static void answer_submission(struct core *core, uint64_t client, uint32_t seq,
                              struct core_job *job, const struct submit *submit,
                              struct submit_reply *reply) {
    reply->job_id = job->rec.job_id;
    reply->cluster = core->settings.cluster;
    if (job->rec.kind == JOB_KIND_BATCH) {
        emit_reply(core, client, MSG_SUBMIT_REPLY, submit->wait ? 0 : 1, seq, reply);
        if (submit->wait && job->array != NULL)
            wait_for_array(core, job, client, seq);
        else if (submit->wait)
            add_waiter(core, job, client, seq, WAIT_JOB_END);
        return;
    }
    /* Answered at the end of the turn, when it is known whether it has started. */
    for (uint32_t i = 0; i < submit->told.n; i++)
        strs_push(&job->told, submit->told.items[i]);
    add_waiter(core, job, client, seq, WAIT_ALLOC);
    if (!job->rec.no_shell)
        take_owner(core, job, client);
    vec_push(&core->fresh_allocs, job);
    if (job->rec.immediate != UNSET32)
        job->immediate_deadline = core->now + max_of(job->rec.immediate, 1u);
    if (submit->step != NULL)
        job->first_step = record_dup(&record_step_request, submit->step);
}

/* A record of what is asked for, that nobody else knows yet. */
static struct core_job *request_make(struct core *core, uint32_t id, const struct core_user *user,
                                     const struct submit *submit, const struct job_request *request,
                                     struct submit_reply *reply) {
    struct core_job *job = job_new(core, id);
    take_request(core, job, user, request);
    if (job->rec.time_auto)
        advise_time_auto(core, &job->rec, submit_language(submit), reply);
    return job;
}

static int request_check(struct core *core, struct core_job *job, const struct core_user *user,
                         const struct submit *submit, uint64_t others, struct submit_reply *reply,
                         struct reply_error *refusal) {
    int r = take_array(core, job, refusal);
    if (r == 0)
        r = check_submission(core, job, user, submit, others, refusal);
    if (r < 0)
        return r;
    apply_priority_request(core, job, user, reply);
    if (!submit->test_only)
        note_time_limit(core, &job->rec, submit_language(submit), reply);
    return 0;
}

struct core_job *submission_check(struct core *core, const struct core_user *user,
                                  const struct submit *submit, uint64_t others,
                                  struct submit_reply *reply, struct reply_error *refusal) {
    uint32_t saved_next = core->meta.next_job_id;
    struct core_job *job = request_make(core, job_take_id(core), user, submit, submit->job, reply);
    int r = request_check(core, job, user, submit, others, reply, refusal);
    if (r < 0 || !submit->test_only)
        add_told(core, &submit->told, r < 0 ? &refusal->before : &reply->infos);
    if (r == 0)
        return job;
    core->meta.next_job_id = saved_next;
    job_free(job);
    return NULL;
}

void submission_take(struct core *core, struct core_job *job, const struct core_user *user,
                     const struct submit *submit, struct submit_reply *reply) {
    take_defaults(core, &job->rec);
    if (het_is_leader(job)) {
        explain_changes(core, job, submit, reply);
        store_script(core, job, submit->job);
    }
    job_estimate_size(core, &job->rec);
    job->rec.priority = job->rec.hold ? 0 : priority_compute(core, job);
    advise_submission(core, job, submit, reply);
    depend_show(job);
    if (job->rec.priority == 0)
        job->rec.reason = core_is_admin(core, user->uid) && job->rec.uid != user->uid
                              ? REASON_HELD_ADMIN
                              : REASON_HELD_USER;
    job_link(core, job);
    depends_index(core, job);
    job_touch(core, job);
    core->n_submitted++;
}

void submission_begin(struct core *core, struct core_job *job) {
    sched_sync(core, job);
    job_arm(core, job);
    depend_check_kill(core, job);
    depend_run(core); /* of an array, those that differ */
}

/* How a command gets and holds its allocation is the same for all of it. */
static bool are_of_one_kind(const struct submit *submit) {
    for (uint32_t i = 0; i < submit->components.n; i++) {
        const struct job_request *other = &submit->components.items[i];
        if (other->kind != submit->job->kind || other->no_shell != submit->job->no_shell)
            return false;
    }
    return true;
}

/* What is asked for, as records that nobody else knows yet. */
struct components {
    struct core *core;
    const struct core_user *user;
    const struct submit *submit;
    struct core_job *jobs[HET_COMPONENTS_MAX]; /* one, or the components */
    uint32_t n;
    struct reply_error refusal;
    struct submit_reply reply;
};

static const struct job_request *request_of(const struct components *s, uint32_t i) {
    return i == 0 ? s->submit->job : &s->submit->components.items[i - 1];
}

static void components_make(struct components *s) {
    struct core *core = s->core;
    uint32_t first = s->n > 1 ? het_take_ids(core, s->n) : job_take_id(core);
    for (uint32_t i = 0; i < s->n; i++) {
        struct core_job *job = s->jobs[i] =
            request_make(core, first + i, s->user, s->submit, request_of(s, i), &s->reply);
        s->jobs[0]->rec.immediate = min_of(s->jobs[0]->rec.immediate, job->rec.immediate);
        if (s->n > 1) {
            job->rec.het_job_id = first;
            job->rec.het_offset = i;
            job->rec.het_size = s->n;
        }
    }
}

/* When all of them would start; the specs are the caller's. */
static void forecast_all(struct components *s, struct job_spec *specs, struct forecast_start *ret) {
    struct core *core = s->core;
    const struct forecast_options options = {0};
    struct forecast *forecast = forecast_new(core, &options);
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->n > 1) {
            specs[i].sched.group = s->jobs[0]->rec.job_id;
            specs[i].sched.group_size = s->n;
        }
        forecast_add(forecast, &specs[i].sched, s->jobs[i]);
    }
    forecast_run(forecast, s->jobs[0]->rec.job_id, &core->out->memory, ret);
    forecast_free(forecast);
    if (s->n == 1)
        test_only_nodes(core, &specs[0].sched, ret);
    for (uint32_t i = 1; i < s->n; i++)
        ret->n_cpus += s->jobs[i]->rec.num_cpus;
}

/* Fills ret when all names in the requests exist. */
static void test_only_start(struct components *s, struct forecast_start *ret) {
    struct job_spec *specs = xcalloc(s->n, sizeof(*specs));
    bool known = true;
    for (uint32_t i = 0; i < s->n; i++) {
        struct job *job = &s->jobs[i]->rec;
        take_defaults(s->core, job);
        if (i == 0)
            explain_changes(s->core, s->jobs[i], s->submit, &s->reply);
        job_estimate_size(s->core, job);
        job->priority = priority_compute(s->core, s->jobs[i]);
        known = job_spec_build(s->core, job, &specs[i], NULL) == 0 && known;
    }
    if (known)
        forecast_all(s, specs, ret);
    for (uint32_t i = 0; i < s->n; i++)
        job_spec_done(&specs[i]);
    free(specs);
}

/* The component whose limit is above those of its partitions; NULL. */
static const struct job *limited_job(struct components *s, struct str *ret_most) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (time_limit_is_above(s->core, &s->jobs[i]->rec, ret_most))
            return &s->jobs[i]->rec;
    }
    return NULL;
}

static void answer_test_only(struct core *core, uint64_t client, uint32_t seq,
                             struct components *s) {
    struct forecast_start start = {0};
    struct submit_reply *reply = &s->reply;
    struct str limit cleanup_str = STR_INIT;
    test_only_start(s, &start);
    const struct job *limited = start.known ? NULL : limited_job(s, &limit);
    if (limited != NULL) {
        cleanup_free char *text =
            xasprintf("partition %s allows at most --time=%s; the job would wait with the reason "
                      "PartitionTimeLimit",
                      limited->partition, str_cstr(&limit));
        emit_error(core, client, seq, -ERR_NODE_CONFIG, text);
        return;
    }
    if (!start.known) {
        emit_error(
            core, client, seq, -ERR_NODE_CONFIG,
            "no start can be foreseen: nodes that it needs are down, drained or reserved, or "
            "it waits for what nobody can foresee");
        return;
    }
    reply->job_id = s->jobs[0]->rec.job_id;
    reply->start_time = start.time;
    reply->cpus = start.n_cpus;
    reply->nodes = start.nodes;
    reply->partition = core->partitions[start.partition].rec.name;
    test_only_infos(core, s->jobs[0], start.exact, reply);
    add_told(core, &s->submit->told, &reply->infos);
    emit_reply(core, client, MSG_SUBMIT_REPLY, 1, seq, reply);
}

/* Which component was meant, where there are several. */
static void name_component(struct components *s, uint32_t i) {
    const char *detail = s->refusal.detail;
    if (s->n == 1)
        return;
    cleanup_free char *text = xasprintf("component %u of %u%s%s", i, s->n,
                                        detail != NULL ? ": " : "", detail != NULL ? detail : "");
    s->refusal.detail = arena_strdup(&s->core->out->memory, text);
}

static int components_check(struct components *s) {
    int r = 0;
    for (uint32_t i = 0; i < s->n && r == 0; i++) {
        r = request_check(s->core, s->jobs[i], s->user, s->submit, 0, &s->reply, &s->refusal);
        if (r < 0)
            name_component(s, i);
    }
    return r;
}

static void components_accept(struct components *s, uint64_t client, uint32_t seq) {
    struct core *core = s->core;
    for (uint32_t i = 0; i < s->n; i++)
        submission_take(core, s->jobs[i], s->user, s->submit, &s->reply);
    answer_submission(core, client, seq, s->jobs[0], s->submit, &s->reply);
    sched_sync(core, s->jobs[0]); /* and the others with it */
    for (uint32_t i = 0; i < s->n; i++) {
        job_arm(core, s->jobs[i]);
        depend_check_kill(core, s->jobs[i]);
    }
    depend_run(core); /* of an array, those that differ */
}

void handle_submit(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                   void *body) {
    const struct submit *submit = body;
    struct components s = {
        .core = core, .user = user, .submit = submit, .n = submit->components.n + 1};
    record_init(&record_reply_error, &s.refusal);
    record_init(&record_submit_reply, &s.reply);
    if (submit->job == NULL) {
        emit_error(core, client, seq, -ERR_PROTOCOL, "a submission without a job");
        return;
    }
    if (!are_of_one_kind(submit)) {
        emit_error(core, client, seq, -ERR_PROTOCOL,
                   "the components of a job are all for sbatch, or for salloc, or for srun");
        return;
    }
    if (s.n > HET_COMPONENTS_MAX) {
        cleanup_free char *text =
            xasprintf("the job has %u components; at most %u are taken", s.n, HET_COMPONENTS_MAX);
        emit_error(core, client, seq, -ERR_INVALID, text);
        return;
    }
    uint32_t saved_next = core->meta.next_job_id;
    components_make(&s);
    int r = components_check(&s);
    if (r < 0 || !submit->test_only)
        add_told(core, &submit->told, r < 0 ? &s.refusal.before : &s.reply.infos);
    if (r == 0 && !submit->test_only) {
        components_accept(&s, client, seq);
        return;
    }
    core->meta.next_job_id = saved_next;
    if (r < 0)
        emit_reply_error(core, client, seq, &s.refusal);
    else
        answer_test_only(core, client, seq, &s);
    for (uint32_t i = 0; i < s.n; i++)
        job_free(s.jobs[i]);
}
