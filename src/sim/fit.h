/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace comes from some cluster and is replayed on another: names that the configuration does not
 * know are mapped to what it would give a job that names nothing, and every such change is counted.
 * Nothing is looked up anywhere: not the nodes' addresses, not users, not groups.
 */
#ifndef SLUICE_SIM_FIT_H
#define SLUICE_SIM_FIT_H

#include "base/map.h"
#include "base/vec.h"
#include "cli/json_writer.h"
#include "model/conf.h"
#include "sim/trace.h"

/* ---- what was changed, refused, left waiting ---- */

enum sim_note_kind {
    SIM_NOTE_CHANGED, /* part of the request does not exist here and was left out */
    SIM_NOTE_REFUSED, /* the configuration does not take the job */
    SIM_NOTE_WAITS,   /* taken, but it can never start */
};
struct sim_note {
    enum sim_note_kind kind;
    char *what;         /* "partition big is not in the configuration: the default is used" */
    uint64_t n;         /* jobs */
    uint64_t first;     /* id in the trace */
    const char *user;   /* of the first one; borrowed from the trace */
    bool several_users; /* not only that one */
};
struct sim_notes {
    vec(struct sim_note) items;
    uint64_t n_refused, n_waiting; /* jobs */
};
void sim_notes_done(struct sim_notes *notes);
/* Equal texts are one note. */
void sim_notes_add(struct sim_notes *notes, enum sim_note_kind kind, const struct trace_job *job,
                   const char *fmt, ...) printf_like(4, 5);
/* One line each, most jobs first: "12 jobs (first: 17 of alice, others'): …". */
void sim_notes_print(struct sim_notes *notes, struct str *out);
/* The same lines as an array of texts. */
void sim_notes_json(struct sim_notes *notes, const char *key, struct json *json);

/* ---- the configuration ---- */

/* CPUs of the nodes that some partition has. */
uint32_t sim_conf_cpus(const struct conf *conf);

/* ---- requests ---- */

struct sim_fit {
    const struct conf *conf;
    struct sim_notes *notes;
    struct smap features, gres; /* names, "name" and "name:type" in lower case */
    vec(char *) texts;          /* keys of both */
    const char *partition;      /* where jobs go that name none that exists; NULL: there is none */
};
void sim_fit_init(struct sim_fit *fit, const struct conf *conf, struct sim_notes *notes);
void sim_fit_done(struct sim_fit *fit);
/* The request to submit for a job of the trace: a new record (record_free). `ids` maps ids of the
 * trace (map key) to ids here, for dependencies; `offset` seconds are added to points in time. */
struct job_request *sim_fit_request(struct sim_fit *fit, const struct trace_job *job,
                                    const struct map *ids, int64_t offset);

#endif
