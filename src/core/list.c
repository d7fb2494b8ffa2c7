/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listings: what a user may see, filtered and cut to the columns that were asked for. They change
 * nothing and stream in frames of bounded size.
 */
#include <string.h>

#include "core/reservation.h"
#include "model/acct_match.h"
#include "model/conf.h"
#include "schema/member.h"

#define FRAME_BYTES (256u << 10)

/* Writes `items` of a list message by hand: each record under field 1, so that a frame can be cut
 * anywhere between two. */
struct frame {
    struct str body, item;
    core_emit sink;
    void *context;
    uint16_t type;
};

static void frame_add(struct frame *frame, const struct record *record, const void *object,
                      const struct field_mask *mask) {
    str_reset(&frame->item);
    wire_encode(record, object, mask, &frame->item);
    wire_append_element(&frame->body, 1, str_bytes(&frame->item));
    if (frame->body.length >= FRAME_BYTES) {
        frame->sink(frame->context, frame->type, str_bytes(&frame->body), false);
        str_reset(&frame->body);
    }
}

static void frame_end(struct frame *frame) {
    frame->sink(frame->context, frame->type, str_bytes(&frame->body), true);
    str_done(&frame->body);
    str_done(&frame->item);
}

/* ---- filters ---- */

static bool state_wanted(const struct list_request *request, const struct core_job *job) {
    if (request->states == 0 && request->flags == 0)
        return true;
    if (job->rec.flags & request->flags)
        return true;
    return (request->states >> job->rec.state) & 1;
}

static bool hidden_partition(struct core *core, const struct core_job *job) {
    const struct core_partition *part = partition_find(core, job->rec.partition, NULL);
    return part != NULL && part->rec.hidden;
}

struct job_filter {
    struct core *core;
    const struct core_user *user;
    const struct list_request *request;
    struct smap nodes;
    struct u32s uids; /* of the request, as sets */
    struct strs_set partitions, accounts, qos, names;
    bool admin;
    bool starts; /* expected starts are wanted: they may have to be made first */
};

static void filter_init(struct job_filter *filter, struct core *core, const struct core_user *user,
                        const struct list_request *request) {
    *filter = (struct job_filter) {
        .core = core, .user = user, .request = request, .admin = core_is_admin(core, user->uid)};
    u32s_set_init(&filter->uids, &request->uids);
    strs_set_init(&filter->partitions, &request->partitions);
    strs_set_init(&filter->accounts, &request->accounts);
    strs_set_init(&filter->qos, &request->qos);
    strs_set_init(&filter->names, &request->names);
}

static void filter_done(struct job_filter *filter) {
    free(filter->uids.items);
    strs_set_done(&filter->partitions);
    strs_set_done(&filter->accounts);
    strs_set_done(&filter->qos);
    strs_set_done(&filter->names);
    smap_done(&filter->nodes);
}

static bool on_nodes(const struct job_filter *filter, const struct core_job *job) {
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        if (smap_get(&filter->nodes, job->rec.allocation.items[i].name) != NULL)
            return true;
    }
    return false;
}

static bool may_see(const struct job_filter *filter, const struct core_job *job) {
    return filter->admin || !filter->core->settings.private_jobs ||
           job->rec.uid == filter->user->uid;
}

static bool job_wanted(const struct job_filter *filter, const struct core_job *job) {
    const struct list_request *r = filter->request;
    if (!may_see(filter, job) || !state_wanted(r, job) ||
        !u32s_set_pass(&filter->uids, job->rec.uid))
        return false;
    if (r->since > 0 && job->rec.generation <= r->since)
        return false;
    if (!strs_set_pass_word(&filter->partitions, job->rec.partition) ||
        !strs_set_pass(&filter->accounts, job->rec.account) ||
        !strs_set_pass(&filter->qos, job->rec.qos) || !strs_set_pass(&filter->names, job->rec.name))
        return false;
    if (r->nodelist != NULL && !on_nodes(filter, job))
        return false;
    return r->all || r->partitions.n > 0 || filter->admin || !hidden_partition(filter->core, job);
}

/* Script and environment never leave by a listing (they are not in the record). A command line may
 * hold a script, too (--wrap): it is for the owner and administrators. */
static void add_job(const struct job_filter *filter, struct frame *frame, struct core_job *job,
                    const struct field_mask *mask) {
    char *line = job->rec.submit_line;
    int64_t start = job->rec.start_time;
    if (!filter->admin && job->rec.uid != filter->user->uid)
        job->rec.submit_line = NULL;
    if (filter->starts)
        job->rec.start_time = job_expected_start(filter->core, job);
    frame_add(frame, &record_job, &job->rec, mask);
    job->rec.submit_line = line;
    job->rec.start_time = start;
}

static const struct field_mask *request_mask(const struct list_request *request,
                                             struct field_mask *mask) {
    if (request->fields.size == 0)
        return NULL;
    memset(mask, 0, sizeof(*mask));
    memcpy(mask, request->fields.data, min_of(request->fields.size, sizeof(*mask)));
    return mask;
}

/* The records that the references name, each once: a task can be named by two numbers. */
static void jobs_named(struct core *core, const struct job_refs *refs, job_ptrs *ret) {
    struct map seen = MAP_INIT;
    job_ptrs found = {0};
    vec_each (&refs->items, wanted) {
        if (wanted->tasks.all) {
            (void) job_select_number(core, wanted->job_id, &found);
            continue;
        }
        vec_each (&wanted->tasks.sets, set)
            (void) job_select_tasks(core, wanted->job_id, set, NULL, &found);
        het_select_some(core, wanted->job_id, wanted->tasks.components, &found);
    }
    vec_each (&found, job) {
        if (map_put(&seen, (*job)->rec.job_id, *job) == NULL)
            vec_push(ret, *job);
    }
    vec_done(&found);
    map_done(&seen);
}

static int list_by_ids(struct job_filter *filter, struct frame *frame,
                       const struct field_mask *mask, struct error *err) {
    const struct strs *ids = &filter->request->job_ids;
    struct job_refs refs cleanup_job_refs;
    job_ptrs jobs = {0};
    job_refs_init(&refs, ids);
    jobs_named(filter->core, &refs, &jobs);
    vec_each (&jobs, job) {
        if (job_wanted(filter, *job))
            add_job(filter, frame, *job, mask);
    }
    bool none = jobs.n == 0;
    vec_done(&jobs);
    if (none && ids->n == 1)
        return error_set(err, ERR_INVALID_JOB_ID,
                         "job %s is not known here (any more); "
                         "sacct -j %s may know it",
                         ids->items[0], ids->items[0]);
    return 0;
}

/* What a cancellation of these would be about; ids that are none name nothing. */
static void list_selected(struct job_filter *filter, struct frame *frame,
                          const struct field_mask *mask) {
    struct job_results unknown;
    job_ptrs jobs = {0};
    record_init(&record_job_results, &unknown);
    job_select(filter->core, filter->request->select, &jobs, &unknown, NULL);
    vec_each (&jobs, job) {
        if (job_wanted(filter, *job))
            add_job(filter, frame, *job, mask);
    }
    vec_done(&jobs);
}

static int filter_nodes(struct job_filter *filter, struct error *err) {
    if (filter->request->nodelist == NULL)
        return 0;
    struct arena arena;
    arena_init(&arena, 0);
    uint32_t *nodes;
    size_t n;
    int r = nodes_resolve(filter->core, filter->request->nodelist, &arena, &nodes, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        smap_put(&filter->nodes, filter->core->nodes[nodes[i]].rec.name, filter);
    arena_done(&arena);
    return r;
}

/* ---- reading ahead ----
 * A listing of many jobs waits for memory more than it computes: a record spans many cache lines,
 * its texts lie elsewhere. What the next jobs will be asked for is fetched while one is encoded. */
#define AHEAD_LINES 12 /* jobs between a record and the one whose lines are fetched */
#define AHEAD_TEXTS 4  /* and its texts, once the record is there */
#define LINE_BYTES 64

struct ahead {
    uint16_t lines[sizeof(struct core_job) / LINE_BYTES + 1], texts[256];
    size_t n_lines, n_texts;
};

static void ahead_plan(const struct field_mask *mask, struct ahead *ret) {
    bool seen[sizeof(struct core_job) / LINE_BYTES + 1] = {false};
    ret->n_lines = ret->n_texts = 0;
    for (size_t i = 0; i < record_job.n_fields; i++) {
        const struct field *field = &record_job.fields[i];
        size_t line = (offsetof(struct core_job, rec) + field->offset) / LINE_BYTES;
        if (mask != NULL && !field_mask_has(mask, field->number))
            continue;
        if (!seen[line])
            ret->lines[ret->n_lines++] = (uint16_t) (line * LINE_BYTES);
        seen[line] = true;
        if (field->type == FIELD_STR && ret->n_texts < countof(ret->texts))
            ret->texts[ret->n_texts++] = (uint16_t) field->offset;
    }
}

static void ahead_fetch(const struct core *core, size_t at, const struct ahead *ahead) {
    if (at + AHEAD_LINES < core->job_order.n) {
        const char *job = (const char *) core->job_order.items[at + AHEAD_LINES];
        for (size_t i = 0; job != NULL && i < ahead->n_lines; i++)
            __builtin_prefetch(job + ahead->lines[i]);
    }
    if (at + AHEAD_TEXTS < core->job_order.n) {
        const struct core_job *job = core->job_order.items[at + AHEAD_TEXTS];
        for (size_t i = 0; job != NULL && i < ahead->n_texts; i++)
            __builtin_prefetch(*(char **) ((char *) (uintptr_t) &job->rec + ahead->texts[i]));
    }
}

static void list_all_jobs(struct job_filter *filter, struct frame *frame,
                          const struct field_mask *mask) {
    const struct core *core = filter->core;
    struct ahead ahead;
    ahead_plan(mask, &ahead);
    jobs_each (core, job) {
        ahead_fetch(core, job->order_at, &ahead);
        if (job_wanted(filter, job))
            add_job(filter, frame, job, mask);
    }
}

static int list_jobs(struct core *core, const struct core_user *user,
                     const struct list_request *request, struct frame *frame, struct error *err) {
    struct job_filter filter;
    filter_init(&filter, core, user, request);
    struct field_mask storage;
    const struct field_mask *mask = request_mask(request, &storage);
    filter.starts =
        mask == NULL || field_mask_has(mask, record_field(&record_job, "start_time")->number);
    int r = filter_nodes(&filter, err);
    if (r == 0 && request->select != NULL) {
        list_selected(&filter, frame, mask);
    } else if (r == 0 && request->job_ids.n > 0) {
        r = list_by_ids(&filter, frame, mask, err);
    } else if (r == 0) {
        list_all_jobs(&filter, frame, mask);
    }
    filter_done(&filter);
    return r;
}

static void list_job_steps(struct core_job *job, struct frame *frame, bool ended_too) {
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (ended_too || !job_state_is_final(step->rec.state))
            frame_add(frame, &record_step, &step->rec, NULL);
    }
}

static void list_batch_step(const struct core_job *job, struct frame *frame) {
    struct step step;
    if (step_batch_running(job, &step))
        frame_add(frame, &record_step, &step, NULL);
}

static int list_steps(struct core *core, const struct core_user *user,
                      const struct list_request *request, struct frame *frame, struct error *err) {
    struct job_filter filter;
    filter_init(&filter, core, user, request);
    int r = filter_nodes(&filter, err);
    job_ptrs jobs = {0};
    if (r == 0 && request->job_ids.n > 0) {
        /* Of "12_3.0" as well: the asker picks the step from those of the job. */
        struct job_refs refs cleanup_job_refs;
        job_refs_init(&refs, &request->job_ids);
        jobs_named(core, &refs, &jobs);
    } else if (r == 0) {
        jobs_each (core, job)
            vec_push(&jobs, job);
    }
    for (size_t i = 0; r == 0 && i < jobs.n; i++) {
        if (!job_wanted(&filter, jobs.items[i]))
            continue;
        list_batch_step(jobs.items[i], frame);
        list_job_steps(jobs.items[i], frame, request->all && request->job_ids.n > 0);
    }
    vec_done(&jobs);
    filter_done(&filter);
    return r;
}

static int list_nodes(struct core *core, const struct list_request *request, struct frame *frame,
                      struct error *err) {
    struct arena arena;
    arena_init(&arena, 0);
    uint32_t *nodes = NULL;
    size_t n = core->n_nodes;
    struct field_mask storage;
    const struct field_mask *mask = request_mask(request, &storage);
    int r = 0;
    if (request->nodelist != NULL)
        r = nodes_resolve(core, request->nodelist, &arena, &nodes, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint32_t index = nodes != NULL ? nodes[i] : (uint32_t) i;
        node_refresh_texts(core, index);
        frame_add(frame, &record_node, &core->nodes[index].rec, mask);
    }
    arena_done(&arena);
    return r;
}

static void add_gpu(const struct gpu *gpu, void *context) {
    frame_add(context, &record_gpu, gpu, NULL);
}

static int list_gpus(struct core *core, const struct core_user *user,
                     const struct list_request *request, struct frame *frame, struct error *err) {
    struct arena arena;
    arena_init(&arena, 0);
    uint32_t *nodes = NULL;
    size_t n = core->n_nodes;
    int r = 0;
    if (request->nodelist != NULL)
        r = nodes_resolve(core, request->nodelist, &arena, &nodes, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        gpus_each(core, user, nodes != NULL ? nodes[i] : (uint32_t) i, add_gpu, frame);
    arena_done(&arena);
    return r;
}

static int list_partitions(struct core *core, const struct core_user *user,
                           const struct list_request *request, struct frame *frame,
                           struct error *err) {
    bool found = false;
    for (size_t p = 0; p < core->n_partitions; p++) {
        const struct partition *part = &core->partitions[p].rec;
        bool hidden = part->hidden && !request->all && !core_is_admin(core, user->uid);
        if (!strs_pass(&request->partitions, part->name) || (hidden && request->partitions.n == 0))
            continue;
        found = true;
        frame_add(frame, &record_partition, part, NULL);
    }
    (void) found;
    (void) err;
    return 0;
}

static int list_reservations(struct core *core, const struct list_request *request,
                             struct frame *frame) {
    vec_each (&core->reservations, resv) {
        if (strs_pass(&request->names, (*resv)->rec.name))
            frame_add(frame, &record_reservation, &(*resv)->rec, NULL);
    }
    return 0;
}

int core_list(struct core *core, int64_t now, uint16_t type, const struct core_user *user,
              const void *body, core_emit sink, void *context, struct error *err) {
    static const struct {
        uint16_t request, reply;
    } rows[] = {{MSG_LIST_JOBS, MSG_JOB_LIST},
                {MSG_LIST_STEPS, MSG_STEP_LIST},
                {MSG_LIST_NODES, MSG_NODE_LIST},
                {MSG_LIST_PARTITIONS, MSG_PARTITION_LIST},
                {MSG_LIST_RESERVATIONS, MSG_RESERVATION_LIST},
                {MSG_LIST_GPUS, MSG_GPU_LIST}};
    struct frame frame = {STR_INIT, STR_INIT, sink, context, 0};
    core->now = now;
    for (size_t i = 0; i < countof(rows); i++) {
        if (rows[i].request == type)
            frame.type = rows[i].reply;
    }
    int r;
    switch (type) {
    case MSG_LIST_JOBS:
        r = list_jobs(core, user, body, &frame, err);
        break;
    case MSG_LIST_STEPS:
        r = list_steps(core, user, body, &frame, err);
        break;
    case MSG_LIST_NODES:
        r = list_nodes(core, body, &frame, err);
        break;
    case MSG_LIST_GPUS:
        r = list_gpus(core, user, body, &frame, err);
        break;
    case MSG_LIST_PARTITIONS:
        r = list_partitions(core, user, body, &frame, err);
        break;
    case MSG_LIST_RESERVATIONS:
        r = list_reservations(core, body, &frame);
        break;
    default:
        r = error_set(err, ERR_NOT_SUPPORTED, "message %u is no listing", type);
    }
    if (r == 0) {
        frame_end(&frame);
    } else {
        str_done(&frame.body);
        str_done(&frame.item);
    }
    return r;
}

/* ---- accounting: the part that is still here ---- */

static void acct_emit(const struct core *core, struct core_job *job, bool hide_line,
                      bool with_steps,
                      void (*sink)(void *context, uint32_t job_id, struct bytes acct_job),
                      void *context) {
    struct acct_job record;
    struct job run;
    job_history_record(core, job, &run, &record);
    if (hide_line)
        run.submit_line = NULL;
    vec(struct step) steps = {0};
    list_each (&job->steps, at) {
        if (with_steps)
            vec_push(&steps, list_entry(at, struct core_step, link)->rec);
    }
    struct step batch;
    if (with_steps && step_batch_running(job, &batch))
        vec_push(&steps, batch);
    record.steps.items = steps.items;
    record.steps.n = (uint32_t) steps.n;
    struct str body cleanup_str = STR_INIT;
    wire_encode(&record_acct_job, &record, NULL, &body);
    sink(context, job->rec.job_id, str_bytes(&body));
    vec_done(&steps);
}

void core_acct_live(struct core *core, int64_t now, const struct core_user *user,
                    const struct acct_query *query,
                    void (*sink)(void *context, uint32_t job_id, struct bytes acct_job),
                    void *context) {
    struct list_request none;
    struct job_filter filter;
    bool with_steps = !query->no_steps && !(core->settings.enforce & CONF_ENFORCE_NOSTEPS);
    if (core->settings.enforce & CONF_ENFORCE_NOJOBS)
        return; /* nothing is kept of them when they have ended either */
    struct acct_match *match = acct_match_new(query);
    const struct job_refs *refs = acct_match_refs(match);
    job_ptrs jobs = {0};
    record_init(&record_list_request, &none);
    filter_init(&filter, core, user, &none);
    core->now = now;
    if (refs->any) {
        jobs_each (core, job) {
            if (acct_query_in_window(query, &job->rec, now))
                vec_push(&jobs, job);
        }
    } else {
        jobs_named(core, refs, &jobs);
    }
    vec_each (&jobs, at) {
        struct core_job *job = *at;
        if (may_see(&filter, job) && acct_match_job(match, &job->rec))
            acct_emit(core, job, !filter.admin && job->rec.uid != user->uid, with_steps, sink,
                      context);
    }
    vec_done(&jobs);
    filter_done(&filter);
    acct_match_free(match);
}

int core_script_id(struct core *core, const struct core_user *user, uint32_t job_id,
                   uint64_t *ret_id) {
    const struct core_job *job = job_find(core, job_id);
    if (job == NULL)
        return -ERR_INVALID_JOB_ID;
    if (!job_user_may(core, job, user->uid))
        return -ERR_USER_ID;
    if (job->script_id == 0)
        return -ERR_JOB_SCRIPT_MISSING;
    *ret_id = job->script_id;
    return 0;
}
