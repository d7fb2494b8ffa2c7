/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmpmix: runs the PMIx server library for the tasks of one step on one node. Started by
 * slurmstepd as the user, ends with its socket. See pmix_wire.h.
 *
 * Two threads: the library's, which calls on_… below, and ours, which reads what slurmstepd sends.
 * What both touch is under `lock`. The library's interface: the PMIx standard, version 4.
 */
#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "os/frame.h"
#include "slurmstepd/pmix_wire.h"
#include "slurmstepd/spawn.h"

/* A fence or a request for another node's data that waits for its answer. */
struct waiting {
    struct list link;
    char *tag;
    pmix_modex_cbfunc_t fn;
    void *context;
};

static struct {
    pthread_mutex_t lock;
    struct frame_out out;
    struct list waiting;
    struct map fences; /* by the hash of who takes part: how many there were, plus 1 */
    unsigned n_requests;
    struct pmix_setup setup;
    struct arena arena;
    uint32_t *node_of; /* by rank */
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- to slurmstepd ---- */

static void send_record(enum pmix_frame kind, const struct record *record, const void *object) {
    struct str content cleanup_str = STR_INIT;
    str_append_char(&content, (char) kind);
    wire_encode(record, object, NULL, &content);
    pthread_mutex_lock(&server.lock);
    frame_out_append(&server.out, str_bytes(&content));
    while (frame_out_flush(&server.out, SPAWN_EXTRA_FD, NULL) == 1) {
        struct pollfd pollfd = {.fd = SPAWN_EXTRA_FD, .events = POLLOUT};
        (void) poll(&pollfd, 1, -1);
    }
    pthread_mutex_unlock(&server.lock);
}

static void send_part(const char *tag, const struct u32s *nodes, uint32_t to, const void *data,
                      size_t size) {
    struct step_exchange exchange;
    struct step_part part;
    record_init(&record_step_part, &part);
    record_init(&record_step_exchange, &exchange);
    part.node = server.setup.node_index;
    part.data = (struct blob) {(uint8_t *) (uintptr_t) data, size};
    exchange.tag = (char *) (uintptr_t) tag;
    exchange.parts.items = &part;
    exchange.parts.n = 1;
    exchange.to = to;
    if (nodes != NULL)
        exchange.nodes = *nodes;
    send_record(PMIX_FRAME_EXCHANGE, &record_step_exchange, &exchange);
}

static void wait_for(const char *tag, pmix_modex_cbfunc_t fn, void *context) {
    struct waiting *waiting = zalloc(struct waiting);
    waiting->tag = xstrdup(tag);
    waiting->fn = fn;
    waiting->context = context;
    pthread_mutex_lock(&server.lock);
    list_append(&server.waiting, &waiting->link);
    pthread_mutex_unlock(&server.lock);
}

/* Taken out of the list; NULL: nobody waits for it. */
static struct waiting *waiting_take(const char *tag) {
    struct waiting *found = NULL;
    pthread_mutex_lock(&server.lock);
    list_each (&server.waiting, at) {
        struct waiting *waiting = list_entry(at, struct waiting, link);
        if (found == NULL && str_equal(waiting->tag, tag)) {
            found = waiting;
            list_remove(&found->link);
        }
    }
    pthread_mutex_unlock(&server.lock);
    return found;
}

/* ---- called by the library ---- */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t fn,
                                  void *context) {
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t fn,
                                  void *context) {
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *text,
                              pmix_proc_t procs[], size_t n, pmix_op_cbfunc_t fn, void *context) {
    struct step_exchange exchange;
    bool has_text = text != NULL && *text != '\0' && strcmp(text, "N/A") != 0;
    cleanup_free char *message = xasprintf("task %u called abort with exit code %d%s%s", proc->rank,
                                           status, has_text ? ": " : "", has_text ? text : "");
    record_init(&record_step_exchange, &exchange);
    exchange.abort = true;
    exchange.message = message;
    send_record(PMIX_FRAME_EXCHANGE, &record_step_exchange, &exchange);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Nodes of those who take part, and a name for this set and turn. */
static char *fence_tag(const pmix_proc_t procs[], size_t n, bool *is_in) {
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) {
        hash = hash_bytes(&procs[i].rank, sizeof(procs[i].rank), hash + 1);
        for (uint32_t rank = 0; rank < server.setup.layout->ntasks; rank++) {
            if (procs[i].rank == rank || procs[i].rank == PMIX_RANK_WILDCARD)
                is_in[server.node_of[rank]] = true;
        }
    }
    pthread_mutex_lock(&server.lock);
    uintptr_t turn = (uintptr_t) map_get(&server.fences, hash) + 1;
    map_put(&server.fences, hash, (void *) turn);
    pthread_mutex_unlock(&server.lock);
    return xasprintf("pmix.%016llx.%llu", (unsigned long long) hash, (unsigned long long) turn);
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                              size_t n_info, char *data, size_t size, pmix_modex_cbfunc_t fn,
                              void *context) {
    uint32_t n_nodes = server.setup.layout->nodes.n;
    cleanup_free bool *is_in = xcalloc(n_nodes + 1, sizeof(bool));
    cleanup_free uint32_t *list = xcalloc(n_nodes + 1, sizeof(uint32_t));
    cleanup_free char *tag = fence_tag(procs, n, is_in);
    struct u32s nodes = {list, 0};
    for (uint32_t i = 0; i < n_nodes; i++) {
        if (is_in[i])
            list[nodes.n++] = i;
    }
    wait_for(tag, fn, context);
    send_part(tag, &nodes, UNSET32, data, size);
    return PMIX_SUCCESS;
}

static pmix_status_t on_direct_modex(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t n_info, pmix_modex_cbfunc_t fn, void *context) {
    if (proc->rank >= server.setup.layout->ntasks)
        return PMIX_ERR_NOT_FOUND;
    pthread_mutex_lock(&server.lock);
    unsigned request = server.n_requests++;
    pthread_mutex_unlock(&server.lock);
    cleanup_free char *answer = xasprintf("answer.%u", request);
    cleanup_free char *ask = xasprintf("ask.%u.%u", request, proc->rank);
    wait_for(answer, fn, context);
    send_part(ask, NULL, server.node_of[proc->rank], NULL, 0);
    return PMIX_SUCCESS;
}

static pmix_server_module_t module = {
    .client_connected = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_direct_modex,
};

/* ---- what slurmstepd sends ---- */

struct asked {
    uint32_t from;
    char *answer_tag;
};

static void on_local_data(pmix_status_t status, char *data, size_t size, void *context) {
    struct asked *asked = context;
    struct str content cleanup_str = STR_INIT;
    int32_t code = status;
    str_append_bytes(&content, &code, sizeof(code)); /* all nodes of a step are of one kind */
    if (status == PMIX_SUCCESS)
        str_append_bytes(&content, data, size);
    send_part(asked->answer_tag, NULL, asked->from, content.data, content.length);
    free(asked->answer_tag);
    free(asked);
}

static void answer_request(const struct step_exchange *exchange, unsigned request, uint32_t rank) {
    struct asked *asked = zalloc(struct asked);
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, server.setup.nspace, rank);
    asked->from = exchange->from;
    asked->answer_tag = xasprintf("answer.%u", request);
    pmix_status_t status = PMIx_server_dmodex_request(&proc, on_local_data, asked);
    if (status != PMIX_SUCCESS)
        on_local_data(status, NULL, 0, asked);
}

static void release(void *data) {
    free(data);
}

static void answer_waiting(struct waiting *waiting, const struct step_exchange *exchange) {
    struct str all = STR_INIT;
    pmix_status_t status = PMIX_SUCCESS;
    for (uint32_t i = 0; i < exchange->parts.n; i++)
        str_append_bytes(&all, exchange->parts.items[i].data.data,
                         exchange->parts.items[i].data.size);
    size_t skip = 0, size = all.length;
    if (str_starts(waiting->tag, "answer.")) {
        int32_t code = PMIX_ERROR;
        if (size >= sizeof(code))
            memcpy(&code, all.data, sizeof(code));
        status = code;
        skip = min_of(sizeof(code), size);
    }
    char *data = xmalloc(size - skip + 1);
    if (size > skip)
        memcpy(data, all.data + skip, size - skip);
    str_done(&all);
    waiting->fn(status, data, size - skip, waiting->context, release, data);
    free(waiting->tag);
    free(waiting);
}

static void on_exchange(const struct step_exchange *exchange) {
    unsigned request, rank;
    if (exchange->tag == NULL)
        return;
    if (sscanf(exchange->tag, "ask.%u.%u", &request, &rank) == 2) {
        answer_request(exchange, request, rank);
        return;
    }
    struct waiting *waiting = waiting_take(exchange->tag);
    if (waiting != NULL)
        answer_waiting(waiting, exchange);
}

/* ---- the start ---- */

struct infos {
    vec(pmix_info_t) list;
};

static pmix_info_t *add_info(struct infos *infos) {
    pmix_info_t info;
    memset(&info, 0, sizeof(info));
    vec_push(&infos->list, info);
    return &infos->list.items[infos->list.n - 1];
}

static void add_text(struct infos *infos, const char *key, const char *text) {
    PMIX_INFO_LOAD(add_info(infos), key, text, PMIX_STRING);
}

static void add_u32(struct infos *infos, const char *key, uint32_t value) {
    PMIX_INFO_LOAD(add_info(infos), key, &value, PMIX_UINT32);
}

static void add_u16(struct infos *infos, const char *key, uint16_t value) {
    PMIX_INFO_LOAD(add_info(infos), key, &value, PMIX_UINT16);
}

static void add_rank(struct infos *infos, const char *key, pmix_rank_t rank) {
    PMIX_INFO_LOAD(add_info(infos), key, &rank, PMIX_PROC_RANK);
}

static void add_array(struct infos *infos, const char *key, struct infos *items) {
    pmix_data_array_t array = {
        .type = PMIX_INFO, .size = items->list.n, .array = items->list.items};
    PMIX_INFO_LOAD(add_info(infos), key, &array, PMIX_DATA_ARRAY);
    vec_done(&items->list);
}

static void print_ranks(const struct u32s *ranks, struct str *out) {
    for (uint32_t i = 0; i < ranks->n; i++)
        str_printf(out, i > 0 ? ",%u" : "%u", ranks->items[i]);
}

static void add_maps(struct infos *infos) {
    const struct step_layout *layout = server.setup.layout;
    struct str nodes cleanup_str = STR_INIT, ranks cleanup_str = STR_INIT;
    char *node_map = NULL, *rank_map = NULL;
    for (uint32_t i = 0; i < layout->nodes.n; i++) {
        str_join(&nodes, ",", layout->nodes.items[i].name);
        if (i > 0)
            str_append_char(&ranks, ';');
        print_ranks(&layout->nodes.items[i].ranks, &ranks);
    }
    if (PMIx_generate_regex(nodes.data, &node_map) == PMIX_SUCCESS)
        PMIX_INFO_LOAD(add_info(infos), PMIX_NODE_MAP, node_map, PMIX_REGEX);
    if (PMIx_generate_ppn(ranks.data, &rank_map) == PMIX_SUCCESS)
        PMIX_INFO_LOAD(add_info(infos), PMIX_PROC_MAP, rank_map, PMIX_REGEX);
    free(node_map);
    free(rank_map);
}

static void add_processes(struct infos *infos) {
    const struct step_layout *layout = server.setup.layout;
    for (uint32_t i = 0; i < layout->nodes.n; i++) {
        const struct step_node *node = &layout->nodes.items[i];
        for (uint32_t k = 0; k < node->ranks.n; k++) {
            struct infos process = {0};
            add_rank(&process, PMIX_RANK, node->ranks.items[k]);
            add_u32(&process, PMIX_APPNUM, 0);
            add_rank(&process, PMIX_APPLDR, 0);
            add_rank(&process, PMIX_GLOBAL_RANK, node->ranks.items[k]);
            add_rank(&process, PMIX_APP_RANK, node->ranks.items[k]);
            add_u16(&process, PMIX_LOCAL_RANK, (uint16_t) k);
            add_u16(&process, PMIX_NODE_RANK, (uint16_t) k);
            add_u32(&process, PMIX_NODEID, i);
            add_text(&process, PMIX_HOSTNAME, node->name);
            add_array(infos, PMIX_PROC_DATA, &process);
        }
    }
}

static const struct step_node *node_here(void) {
    return &server.setup.layout->nodes.items[server.setup.node_index];
}

struct done {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done;
    pmix_status_t status;
};

static void on_done(pmix_status_t status, void *context) {
    struct done *done = context;
    pthread_mutex_lock(&done->lock);
    done->is_done = true;
    done->status = status;
    pthread_cond_signal(&done->changed);
    pthread_mutex_unlock(&done->lock);
}

static pmix_status_t wait_done(pmix_status_t started, struct done *done) {
    if (started == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS;
    if (started != PMIX_SUCCESS)
        return started;
    pthread_mutex_lock(&done->lock);
    while (!done->is_done)
        pthread_cond_wait(&done->changed, &done->lock);
    pthread_mutex_unlock(&done->lock);
    return done->status;
}

#define DONE_INIT                                                                                  \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

static pmix_status_t register_program(void) {
    const struct step_layout *layout = server.setup.layout;
    const struct u32s *ranks = &node_here()->ranks;
    struct str peers cleanup_str = STR_INIT;
    struct done done = DONE_INIT;
    struct infos infos = {0};
    bool no = false;
    print_ranks(ranks, &peers);
    add_text(&infos, PMIX_JOBID, server.setup.job);
    PMIX_INFO_LOAD(add_info(&infos), PMIX_SPAWNED, &no, PMIX_BOOL);
    add_u32(&infos, PMIX_UNIV_SIZE, layout->ntasks);
    add_u32(&infos, PMIX_JOB_SIZE, layout->ntasks);
    add_u32(&infos, PMIX_APP_SIZE, layout->ntasks);
    add_u32(&infos, PMIX_MAX_PROCS, layout->ntasks);
    add_u32(&infos, PMIX_JOB_NUM_APPS, 1);
    add_u32(&infos, PMIX_NUM_NODES, layout->nodes.n);
    add_u32(&infos, PMIX_LOCAL_SIZE, ranks->n);
    add_u32(&infos, PMIX_NODE_SIZE, ranks->n);
    add_text(&infos, PMIX_LOCAL_PEERS, peers.data);
    add_rank(&infos, PMIX_LOCALLDR, ranks->items[0]);
    add_text(&infos, PMIX_TMPDIR, server.setup.directory);
    add_text(&infos, PMIX_NSDIR, server.setup.directory);
    add_maps(&infos);
    add_processes(&infos);
    return wait_done(PMIx_server_register_nspace(server.setup.nspace, (int) ranks->n,
                                                 infos.list.items, infos.list.n, on_done, &done),
                     &done);
}

static pmix_status_t register_task(uint32_t rank, struct pmix_task *ret) {
    struct done done = DONE_INIT;
    char **variables = NULL;
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, server.setup.nspace, rank);
    pmix_status_t status =
        wait_done(PMIx_server_register_client(&proc, server.setup.uid, server.setup.gid, NULL,
                                              on_done, &done),
                  &done);
    if (status == PMIX_SUCCESS)
        status = PMIx_server_setup_fork(&proc, &variables);
    record_init(&record_pmix_task, ret);
    ret->variables.items = variables;
    while (variables != NULL && variables[ret->variables.n] != NULL)
        ret->variables.n++;
    return status;
}

static pmix_status_t start_library(void) {
    struct infos infos = {0};
    add_text(&infos, PMIX_SERVER_NSPACE, server.setup.nspace);
    add_rank(&infos, PMIX_SERVER_RANK, server.setup.node_index);
    add_text(&infos, PMIX_SERVER_TMPDIR, server.setup.directory);
    add_text(&infos, PMIX_HOSTNAME, node_here()->name);
    return PMIx_server_init(&module, infos.list.items, infos.list.n);
}

static void find_nodes(void) {
    const struct step_layout *layout = server.setup.layout;
    server.node_of = xcalloc(layout->ntasks + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < layout->nodes.n; i++) {
        const struct u32s *ranks = &layout->nodes.items[i].ranks;
        for (uint32_t k = 0; k < ranks->n; k++) {
            if (ranks->items[k] < layout->ntasks)
                server.node_of[ranks->items[k]] = i;
        }
    }
}

/* Answers with the tasks' variables, or with why not. */
static void start(void) {
    struct pmix_ready ready;
    const char *failed = "PMIx_server_init()";
    const struct u32s *ranks = &node_here()->ranks;
    record_init(&record_pmix_ready, &ready);
    find_nodes();
    pmix_status_t status = start_library();
    if (status == PMIX_SUCCESS) {
        failed = "PMIx_server_register_nspace()";
        status = register_program();
    }
    ready.tasks.items = xcalloc(ranks->n + 1, sizeof(struct pmix_task));
    for (uint32_t i = 0; i < ranks->n && status == PMIX_SUCCESS; i++) {
        failed = "PMIx_server_register_client()";
        status = register_task(ranks->items[i], &ready.tasks.items[ready.tasks.n++]);
    }
    if (status != PMIX_SUCCESS)
        ready.problem = xasprintf("%s: %s", failed, PMIx_Error_string(status));
    send_record(PMIX_FRAME_READY, &record_pmix_ready, &ready);
}

static bool setup_is_sound(void) {
    const struct step_layout *layout = server.setup.layout;
    return layout != NULL && server.setup.node_index < layout->nodes.n &&
           node_here()->ranks.n > 0 && server.setup.nspace != NULL &&
           strlen(server.setup.nspace) < PMIX_MAX_NSLEN;
}

static bool on_frame(struct bytes content) {
    struct arena arena;
    struct step_exchange exchange;
    struct bytes rest = {content.data + 1, content.size - 1};
    if (content.size == 0)
        return false;
    if (content.data[0] == PMIX_FRAME_SETUP) {
        if (server.node_of != NULL ||
            wire_decode(&record_pmix_setup, rest, &server.arena, &server.setup, NULL) < 0 ||
            !setup_is_sound())
            return false;
        start();
        return true;
    }
    arena_init(&arena, PMIX_FRAME_BYTES_MAX * 2ull);
    if (server.node_of != NULL &&
        wire_decode(&record_step_exchange, rest, &arena, &exchange, NULL) == 0)
        on_exchange(&exchange);
    arena_done(&arena);
    return true;
}

int main(void) {
    struct frame_in in;
    struct bytes content;
    bool ok = true;
    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void) signal(SIGPIPE, SIG_IGN);
    (void) signal(SIGTERM, SIG_IGN); /* of the step's end: the tasks may still want us */
    frame_in_init(&in, PMIX_FRAME_BYTES_MAX);
    frame_out_init(&server.out);
    list_init(&server.waiting);
    arena_init(&server.arena, 0);
    while (ok) {
        int r = frame_in_next(&in, &content, NULL);
        if (r == 1) {
            ok = on_frame(content);
        } else if (r == 0) {
            struct pollfd pollfd = {.fd = SPAWN_EXTRA_FD, .events = POLLIN};
            (void) poll(&pollfd, 1, -1);
            ok = frame_in_read(&in, SPAWN_EXTRA_FD, NULL) >= 0;
        } else {
            ok = false;
        }
    }
    _exit(0); /* the library's own end waits for clients that may be gone */
}
