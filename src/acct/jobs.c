/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding jobs: first which ones (an index is enough for most questions, and sorting moves 24 bytes
 * a job), then their records, page by page, so that an answer of a million jobs neither fills the
 * memory nor holds a transaction open.
 */
#include "acct/acct_internal.h"
#include "model/enums.h"

#define RECORDS_AT_ONCE 64

struct job_key {
    int64_t cluster_id, job_id, db_index;
};

struct acct_job_list {
    struct acct *acct;
    struct cluster_names clusters;
    vec(struct job_key) keys;
    size_t next;
};

static int key_compare(const void *va, const void *vb) {
    const struct job_key *a = va, *b = vb;
    if (a->cluster_id != b->cluster_id)
        return a->cluster_id < b->cluster_id ? -1 : 1;
    if (a->job_id != b->job_id)
        return a->job_id < b->job_id ? -1 : 1;
    return a->db_index < b->db_index ? -1 : a->db_index > b->db_index;
}

void acct_jobs_done(struct acct_job_list *list) {
    if (!list)
        return;
    cluster_names_done(&list->clusters);
    vec_done(&list->keys);
    free(list);
}

size_t acct_jobs_count(const struct acct_job_list *list) {
    return list->keys.n;
}

/* ---- conditions ---- */

struct wanted_id {
    int64_t job, task; /* task -1: the job, or the array as a whole */
};

static int id_parse(const char *text, struct wanted_id *ret, struct error *err) {
    const char *at = text;
    uint64_t job, task = 0;
    bool reads = str_read_u64(&at, &job) && job <= UINT32_MAX;
    bool is_task = reads && *at == '_';
    if (is_task) {
        at++;
        reads = str_read_u64(&at, &task) && task <= UINT32_MAX;
    }
    if (!reads || *at)
        return error_set(err, ERR_INVALID_JOB_ID,
                         "%s is no job: a number is, or NUMBER_TASK for a task of an array", text);
    *ret = (struct wanted_id) {(int64_t) job, is_task ? (int64_t) task : -1};
    return 0;
}

/* "12" is job 12, and array 12 as a whole; "12_3" one task of it. */
static int add_ids(struct filter *filter, const struct strs *ids, struct error *err) {
    struct filter part cleanup_filter = {.any = true};
    vec(int64_t) whole = {0};
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < ids->n; i++) {
        struct wanted_id id = {0};
        r = id_parse(ids->items[i], &id, err);
        if (r < 0)
            break;
        if (id.task < 0)
            vec_push(&whole, id.job);
        else
            filter_add_all(&part, "(array_job_id = ? AND array_task_id = ?)",
                           DB_VALUES(db_int(id.job), db_int(id.task)));
    }
    filter_ints(&part, "job_id", whole.items, whole.n);
    filter_ints(&part, "array_job_id", whole.items, whole.n);
    vec_done(&whole);
    if (r == 0 && ids->n > 0)
        filter_part(filter, &part);
    return r;
}

/* One state in the window: the times between which a job was in it. */
static void add_state(struct filter *any, unsigned state, int64_t from, int64_t to) {
    struct db_value after = db_int(from), before = db_int(to), is = db_int(state);
    if (state == JOB_PENDING)
        filter_add_all(any,
                       "(submit_time <= ? AND eligible_time <= ? AND "
                       "((start_time = 0 AND end_time >= ?) OR start_time > ?))",
                       DB_VALUES(before, before, after, after));
    else if (state == JOB_RUNNING)
        filter_add_all(any, "(start_time > 0 AND start_time <= ? AND end_time >= ?)",
                       DB_VALUES(before, after));
    else if (state == JOB_SUSPENDED)
        filter_add_all(any, "(state = ? AND paused_since <= ? AND end_time >= ?)",
                       DB_VALUES(is, before, after));
    else
        filter_add_all(any, "(state = ? AND end_time BETWEEN ? AND ?)",
                       DB_VALUES(is, after, before));
}

static void add_window(struct filter *filter, const struct acct_job_filter *wanted) {
    int64_t from = wanted->start, to = wanted->end ? wanted->end : NOT_ENDED - 1;
    if (wanted->states) {
        struct filter any cleanup_filter = {.any = true};
        for (unsigned state = 0; state < 64; state++)
            if ((wanted->states >> state) & 1)
                add_state(&any, state, from, to);
        filter_part(filter, &any);
    }
    if (wanted->start == 0 && wanted->end == 0)
        return;
    filter_add(filter, "end_time >= ?", db_int(from));
    filter_add(filter, "submit_time <= ?", db_int(to));
    if (!wanted->states)
        filter_add(filter, "eligible_time <= ?", db_int(to));
}

static int filter_build(struct acct *acct, const struct acct_job_filter *wanted,
                        struct filter *filter, bool *ret_none, struct error *err) {
    int r = filter_clusters(acct, filter, &wanted->clusters, ret_none, err);
    if (r == 0)
        r = add_ids(filter, &wanted->ids, err);
    if (r < 0)
        return r;
    filter_u32s(filter, "uid", &wanted->uids);
    filter_u32s(filter, "gid", &wanted->gids);
    filter_strs(filter, "account", &wanted->accounts);
    filter_strs(filter, "partition_name", &wanted->partitions);
    filter_strs(filter, "job_name", &wanted->names);
    filter_strs(filter, "qos", &wanted->qos);
    filter_strs(filter, "wckey", &wanted->wckeys);
    if (!wanted->duplicates)
        filter_text(filter, "superseded = 0");
    add_window(filter, wanted);
    return 0;
}

/* ---- which ---- */

static int keys_collect(struct acct_job_list *list, const struct filter *filter,
                        const struct strs *nodes, struct error *err) {
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql, "SELECT cluster_id, job_id, db_index%s FROM job WHERE 1 = 1%s",
               nodes->n ? ", nodes" : "", str_cstr(&filter->sql));
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(list->acct->db, str_cstr(&sql), filter_values(filter), &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct job_key key = {db_column_int(rows, 0), db_column_int(rows, 1),
                              db_column_int(rows, 2)};
        if (nodes->n == 0 || nodes_meet(nodes, db_column_text(rows, 3)))
            vec_push(&list->keys, key);
        r = 0;
    }
    if (r == 0 && list->keys.n > 1)
        qsort(list->keys.items, list->keys.n, sizeof(struct job_key), key_compare);
    return r;
}

static struct acct_job_list *list_new(struct acct *acct) {
    struct acct_job_list *list = zalloc(struct acct_job_list);
    list->acct = acct;
    return list;
}

int acct_jobs_find(struct acct *acct, const struct acct_job_filter *wanted,
                   struct acct_job_list **ret, struct error *err) {
    struct filter filter cleanup_filter = {0};
    struct strs nodes cleanup_strs = {0};
    struct acct_job_list *list = list_new(acct);
    bool none = false;
    int r = nodes_wanted(wanted->nodes, &nodes, err);
    if (r == 0)
        r = cluster_names_load(acct, &list->clusters, err);
    if (r == 0)
        r = filter_build(acct, wanted, &filter, &none, err);
    if (r == 0 && !none)
        r = keys_collect(list, &filter, &nodes, err);
    if (r < 0)
        acct_jobs_done(list);
    else
        *ret = list;
    return r;
}

/* ---- their records ---- */

struct fetched {
    struct acct_job_row row;
    int64_t cluster_id;
    size_t offset; /* of the record */
};

static int fetched_compare(const void *va, const void *vb) {
    const struct fetched *a = va, *b = vb;
    struct job_key ka = {a->cluster_id, a->row.job_id, (int64_t) a->row.db_index};
    struct job_key kb = {b->cluster_id, b->row.job_id, (int64_t) b->row.db_index};
    return key_compare(&ka, &kb);
}

/* The next few, all of one cluster. Returns how many keys that were. */
static int fetch(struct acct_job_list *list, size_t most, struct str *data, struct fetched *ret,
                 size_t *ret_n, size_t *ret_keys, struct error *err) {
    struct filter filter cleanup_filter = {0};
    const struct job_key *first = &list->keys.items[list->next];
    int64_t runs[RECORDS_AT_ONCE];
    size_t n = 0;
    while (n < min_of(most, (size_t) RECORDS_AT_ONCE) && list->next + n < list->keys.n &&
           first[n].cluster_id == first->cluster_id) {
        runs[n] = first[n].db_index;
        n++;
    }
    filter_add(&filter, "cluster_id = ?", db_int(first->cluster_id));
    filter_ints(&filter, "db_index", runs, n);
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql, "SELECT db_index, job_id, uid, record FROM job WHERE 1 = 1%s",
               str_cstr(&filter.sql));
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(list->acct->db, str_cstr(&sql), filter_values(&filter), &rows, err);
    size_t found = 0;
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct bytes record = db_column_blob(rows, 3);
        ret[found++] = (struct fetched) {
            .row = {.cluster = cluster_names_get(&list->clusters, first->cluster_id),
                    .db_index = (uint64_t) db_column_int(rows, 0),
                    .job_id = (uint32_t) db_column_int(rows, 1),
                    .uid = (uint32_t) db_column_int(rows, 2),
                    .record = {NULL, record.size}},
            .cluster_id = first->cluster_id,
            .offset = data->length};
        str_append_bytes(data, record.data, record.size);
        r = 0;
    }
    *ret_n = found;
    *ret_keys = n;
    return r;
}

int64_t acct_jobs_next(struct acct_job_list *list, size_t most,
                       int (*fn)(const struct acct_job_row *row, void *context, struct error *err),
                       void *context, struct error *err) {
    struct str data cleanup_str = STR_INIT;
    struct fetched page[RECORDS_AT_ONCE];
    int r = 0;
    while (r >= 0 && most > 0 && list->next < list->keys.n) {
        size_t n = 0, n_keys = 0;
        str_reset(&data);
        r = fetch(list, most, &data, page, &n, &n_keys, err);
        if (r < 0)
            break;
        qsort(page, n, sizeof(struct fetched), fetched_compare);
        for (size_t i = 0; r >= 0 && i < n; i++) {
            page[i].row.record.data = (const uint8_t *) str_cstr(&data) + page[i].offset;
            r = fn(&page[i].row, context, err);
        }
        list->next += n_keys;
        most -= n_keys;
    }
    return r < 0 ? r : (int64_t) (list->keys.n - list->next);
}

/* ---- runaways ---- */

static bool is_known(const uint64_t *known, size_t n, uint64_t run) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (known[middle] < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && known[low] == run;
}

int acct_runaways(struct acct *acct, const char *cluster, const uint64_t *known, size_t n_known,
                  struct acct_job_list **ret, struct error *err) {
    struct acct_job_list *list = list_new(acct);
    struct filter filter cleanup_filter = {0};
    struct strs nodes = {0};
    int64_t id = 0;
    int r = cluster_names_load(acct, &list->clusters, err);
    if (r == 0)
        r = cluster_id(acct, cluster, &id, err);
    if (r == 0) {
        filter_add(&filter, "cluster_id = ?", db_int(id));
        filter_add(&filter, "end_time = ?", db_int(NOT_ENDED));
        r = keys_collect(list, &filter, &nodes, err);
    }
    if (r < 0) {
        acct_jobs_done(list);
        return r;
    }
    size_t kept = 0;
    vec_each (&list->keys, key)
        if (!is_known(known, n_known, (uint64_t) key->db_index))
            list->keys.items[kept++] = *key;
    list->keys.n = kept;
    *ret = list;
    return 0;
}

int acct_script(struct acct *acct, const char *cluster, uint32_t job_id, int64_t submitted,
                struct str *ret, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int64_t id = 0;
    int r = cluster_id(acct, cluster, &id, err);
    if (r == 0)
        r = db_query(acct->db,
                     "SELECT record FROM script WHERE cluster_id = ? AND job_id = ? AND "
                     "submit_time <= ? ORDER BY submit_time DESC",
                     DB_VALUES(db_int(id), db_int(job_id), db_int(submitted)), &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r == 0)
        return error_set(err, ERR_NOT_FOUND, "nothing is kept of job %u", job_id);
    if (r > 0) {
        struct bytes body = db_column_blob(rows, 0);
        str_append_bytes(ret, body.data, body.size);
    }
    return r < 0 ? r : 0;
}
