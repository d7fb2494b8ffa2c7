/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, and the clusters that the database knows. */
#include <string.h>

#include "acct/acct_internal.h"

int acct_open(const struct acct_location *location, struct acct **ret, struct error *err) {
    struct db *db = NULL;
    int r = db_open(location, &db, err);
    if (r == 0)
        r = schema_open(db, err);
    if (r < 0) {
        db_close(db);
        return r;
    }
    struct acct *acct = zalloc(struct acct);
    acct->db = db;
    *ret = acct;
    return 0;
}

void acct_close(struct acct *acct) {
    if (!acct)
        return;
    db_close(acct->db);
    free(acct);
}

const char *acct_name(const struct acct *acct) {
    return db_name(acct->db);
}

int in_transaction(struct acct *acct,
                   int (*change)(struct acct *acct, void *context, struct error *err),
                   void *context, struct error *err) {
    int r = db_begin(acct->db, err);
    if (r < 0)
        return r;
    r = change(acct, context, err);
    if (r < 0) {
        db_rollback(acct->db);
        return r;
    }
    return db_commit(acct->db, err);
}

/* ---- numbers and names ---- */

int cluster_id(struct acct *acct, const char *name, int64_t *ret, struct error *err) {
    return db_number(acct->db, "SELECT id FROM cluster WHERE name = ?", DB_VALUES(db_key(name)), 0,
                     ret, err);
}

/* The row's lock is held until the transaction ends, so those who want numbers wait for each other.
 */
int number_next(struct acct *acct, const char *name, int64_t n, int64_t *ret, struct error *err) {
    int64_t changed = db_exec(acct->db, "UPDATE sluice_meta SET value = value + ? WHERE name = ?",
                              DB_VALUES(db_int(n), db_key(name)), err);
    if (changed < 0)
        return (int) changed;
    int64_t last = 0;
    int r = db_number(acct->db, "SELECT value FROM sluice_meta WHERE name = ?",
                      DB_VALUES(db_key(name)), 0, &last, err);
    if (r == 0)
        *ret = last - n + 1;
    return r;
}

int cluster_id_make(struct acct *acct, const char *name, int64_t *ret, struct error *err) {
    int64_t id = 0, fresh = 0;
    int r = cluster_id(acct, name, &id, err);
    if (r == 0 && id == 0) {
        r = number_next(acct, "last_cluster", 1, &fresh, err);
        if (r == 0) /* another may have added it while this one waited */
            r = cluster_id(acct, name, &id, err);
    }
    if (r == 0 && id == 0) {
        id = fresh;
        int64_t n = db_exec(acct->db, "INSERT INTO cluster (id, name) VALUES (?, ?)",
                            DB_VALUES(db_int(id), db_key(name)), err);
        r = n < 0 ? (int) n : 0;
    }
    if (r == 0)
        *ret = id;
    return r;
}

int cluster_names_load(struct acct *acct, struct cluster_names *ret, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r =
        db_query(acct->db, "SELECT id, name FROM cluster ORDER BY id", DB_NO_VALUES, &rows, err);
    while (r == 0 && (r = db_next(rows, err)) > 0) {
        struct cluster_name name = {db_column_int(rows, 0), xstrdup(db_column_text(rows, 1))};
        vec_push(&ret->items, name);
        r = 0;
    }
    return r;
}

const char *cluster_names_get(const struct cluster_names *names, int64_t id) {
    vec_each (&names->items, name)
        if (name->id == id)
            return name->text;
    return NULL;
}

void cluster_names_done(struct cluster_names *names) {
    vec_each (&names->items, name)
        free(name->text);
    vec_done(&names->items);
}

/* ---- registering ---- */

#define CLUSTER_SELECT                                                                             \
    "SELECT name, control_host, control_port, rpc_version, created, registered, last_seq, tres, "  \
    "nodes, classification, controller_key FROM cluster"

static char *text_or_null(struct db_rows *rows, unsigned column) {
    const char *text = db_column_text(rows, column);
    return *text ? (char *) text : NULL;
}

static void cluster_read(struct db_rows *rows, struct acct_cluster *ret) {
    record_init(&record_acct_cluster, ret);
    ret->name = text_or_null(rows, 0);
    ret->control_host = text_or_null(rows, 1);
    ret->control_port = (uint32_t) db_column_int(rows, 2);
    ret->rpc_version = (uint32_t) db_column_int(rows, 3);
    ret->created = db_column_int(rows, 4);
    ret->registered = db_column_int(rows, 5);
    ret->last_seq = (uint64_t) db_column_int(rows, 6);
    ret->tres = text_or_null(rows, 7);
    ret->nodes = text_or_null(rows, 8);
    ret->classification = text_or_null(rows, 9);
    struct bytes key = db_column_blob(rows, 10);
    ret->key = (struct blob) {(uint8_t *) (uintptr_t) key.data, key.size};
}

struct cluster_put {
    const struct acct_cluster *cluster;
    int64_t now;
};

static int key_check(struct acct *acct, const struct acct_cluster *cluster, struct error *err) {
    if (cluster->key.size == 0)
        return 0;
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(acct->db, CLUSTER_SELECT " WHERE name = ?{for_update}",
                     DB_VALUES(db_key(cluster->name)), &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r <= 0)
        return r;
    struct acct_cluster stored;
    cluster_read(rows, &stored);
    if (stored.key.size == 0 || (stored.key.size == cluster->key.size &&
                                 memcmp(stored.key.data, cluster->key.data, stored.key.size) == 0))
        return 0;
    return error_set(
        err, ERR_EXISTS,
        "another controller, on %s, is registered as cluster %s in %s; give one of the two "
        "another ClusterName, or, where the other one is gone for good, start this one with a new "
        "state (slurmctld -c), which forgets its jobs and takes the name over",
        stored.control_host ? stored.control_host : "an unknown host", cluster->name,
        db_name(acct->db));
}

static int cluster_put(struct acct *acct, void *context, struct error *err) {
    const struct cluster_put *put = context;
    const struct acct_cluster *c = put->cluster;
    int64_t id = 0;
    int r = key_check(acct, c, err);
    if (r == 0)
        r = cluster_id_make(acct, c->name, &id, err);
    if (r < 0)
        return r;
    int64_t n = db_exec(
        acct->db,
        "UPDATE cluster SET control_host = ?, control_port = ?, rpc_version = ?, registered = ?, "
        "tres = ?, nodes = ?, classification = ?, controller_key = ? WHERE id = ?",
        DB_VALUES(db_key(c->control_host), db_int(c->control_port), db_int(c->rpc_version),
                  db_int(put->now), db_text(c->tres), db_text(c->nodes), db_key(c->classification),
                  db_blob((struct bytes) {c->key.data, c->key.size}), db_int(id)),
        err);
    if (n >= 0 && c->key.size == 0) /* another state, which numbers its events by itself */
        n = db_exec(acct->db, "UPDATE cluster SET last_seq = 0 WHERE id = ?", DB_VALUES(db_int(id)),
                    err);
    if (n >= 0)
        n = db_exec(acct->db, "UPDATE cluster SET created = ? WHERE id = ? AND created = 0",
                    DB_VALUES(db_int(put->now), db_int(id)), err);
    return n < 0 ? (int) n : 0;
}

int acct_cluster_put(struct acct *acct, const struct acct_cluster *cluster, int64_t now,
                     struct error *err) {
    struct cluster_put put = {cluster, now};
    return in_transaction(acct, cluster_put, &put, err);
}

static int cluster_remove(struct acct *acct, void *context, struct error *err) {
    const char *name = context;
    int64_t id = 0;
    int r = cluster_id(acct, name, &id, err);
    if (r == 0 && id == 0)
        r = error_set(err, ERR_NOT_FOUND,
                      "there is no cluster %s in %s; sacctmgr show clusters lists them", name,
                      db_name(acct->db));
    for (size_t i = 0; r == 0 && i < N_TABLES; i++) {
        const struct db_table *table = acct_tables[i];
        if (table == &table_txn || table == &table_tres)
            continue; /* who did what stays, and numbers of TRES are all clusters' */
        struct str sql cleanup_str = STR_INIT;
        str_printf(&sql, "DELETE FROM %s WHERE %s = ?", table->name,
                   table == &table_cluster ? "id" : "cluster_id");
        int64_t n = db_exec(acct->db, str_cstr(&sql), DB_VALUES(db_int(id)), err);
        r = n < 0 ? (int) n : 0;
    }
    return r;
}

int acct_cluster_remove(struct acct *acct, const char *name, struct error *err) {
    return in_transaction(acct, cluster_remove, (void *) (uintptr_t) name, err);
}

int acct_clusters(struct acct *acct,
                  int (*fn)(const struct acct_cluster *cluster, void *context, struct error *err),
                  void *context, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(acct->db, CLUSTER_SELECT " ORDER BY name", DB_NO_VALUES, &rows, err);
    while (r >= 0 && (r = db_next(rows, err)) > 0) {
        struct acct_cluster cluster;
        cluster_read(rows, &cluster);
        r = fn(&cluster, context, err);
    }
    return r < 0 ? r : 0;
}

static int name_take(const struct acct_cluster *cluster, void *context, struct error *err) {
    strs_push(context, cluster->name);
    return 0;
}

int acct_cluster_names(struct acct *acct, struct strs *names, struct error *err) {
    return acct_clusters(acct, name_take, names, err);
}

int acct_last_seq(struct acct *acct, const char *cluster, uint64_t *ret, struct error *err) {
    int64_t seq = 0;
    int r = db_number(acct->db, "SELECT last_seq FROM cluster WHERE name = ?",
                      DB_VALUES(db_key(cluster)), 0, &seq, err);
    if (r == 0)
        *ret = (uint64_t) seq;
    return r;
}
