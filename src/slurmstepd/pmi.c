/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/pmi.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

struct pair {
    char *key, *value;
};
struct client {
    uint32_t rank;
    unsigned version; /* 0 = has said nothing yet */
    struct str in, out;
    bool in_fence, is_gone;
    char *fence_thread; /* "thrid" of the request that waits, or NULL */
    char *attr_key;     /* waits for this attribute of the node */
    char *attr_thread;
};
struct pmi {
    char *job_name, *mapping;
    uint32_t size;
    struct client *clients;
    size_t n;
    struct smap store, attributes; /* struct pair */
    struct str puts;               /* since the last fence: key NUL value NUL … */
    size_t stored_bytes;
    bool fence_is_told; /* the other nodes have been asked, their answer is awaited */
    char *abort_text;
};

/* ---- the store ---- */

static void store_clear(struct smap *map) {
    size_t at = 0;
    const char *key;
    struct pair *pair;
    while ((pair = smap_next(map, &at, &key))) {
        free(pair->key);
        free(pair->value);
        free(pair);
    }
    smap_done(map);
}

static bool store_put(struct pmi *pmi, struct smap *map, const char *key, const char *value) {
    struct pair *pair = smap_get(map, key);
    size_t bytes = strlen(key) + strlen(value) + 2;
    if (pmi->stored_bytes + bytes > PMI_STORE_MAX)
        return false;
    pmi->stored_bytes += bytes;
    if (pair != NULL) {
        string_set(&pair->value, value);
        return true;
    }
    pair = zalloc(struct pair);
    pair->key = xstrdup(key);
    pair->value = xstrdup(value);
    smap_put(map, pair->key, pair);
    return true;
}

static const char *store_get(const struct smap *map, const char *key) {
    const struct pair *pair = key != NULL ? smap_get(map, key) : NULL;
    return pair != NULL ? pair->value : NULL;
}

/* ---- requests: "cmd=put key=a value=b" or "cmd=kvs-put;key=a;value=b;" ---- */

struct request {
    struct client *client;
    vec(struct pair) pairs;
};

static const char *word(const struct request *request, const char *key) {
    vec_each (&request->pairs, pair) {
        if (str_equal(pair->key, key))
            return pair->value;
    }
    return NULL;
}

static void request_done(struct request *request) {
    vec_each (&request->pairs, pair) {
        free(pair->key);
        free(pair->value);
    }
    vec_done(&request->pairs);
}

static void add_pair(struct request *request, const char *key, size_t key_size, char *value) {
    struct pair pair = {xstrndup(key, key_size), value};
    vec_push(&request->pairs, pair);
}

/* PMI-1: words; a value at the end of the line may have blanks. */
static void parse_line(struct request *request, const char *at) {
    while (*at != '\0') {
        at += strspn(at, " ");
        size_t key = strcspn(at, "= ");
        if (at[key] != '=') {
            at += key;
            continue;
        }
        const char *value = at + key + 1;
        size_t size =
            key == 5 && strncmp(at, "value", key) == 0 ? strlen(value) : strcspn(value, " ");
        add_pair(request, at, key, xstrndup(value, size));
        at = value + size;
    }
}

/* PMI-2: pairs that end with ';', which stands doubled inside a value. */
static void parse_pairs(struct request *request, const char *at) {
    while (*at != '\0') {
        size_t key = strcspn(at, "=;");
        if (at[key] != '=') {
            at += key + (at[key] == ';');
            continue;
        }
        struct str value = STR_INIT;
        const char *from = at + key + 1;
        for (; *from != '\0'; from++) {
            if (*from == ';' && from[1] != ';')
                break;
            from += *from == ';';
            str_append_char(&value, *from);
        }
        add_pair(request, at, key, xstrdup(str_cstr(&value)));
        str_done(&value);
        at = from + (*from == ';');
    }
}

/* ---- answers ---- */

static void answer(struct client *client, const char *fmt, ...) printf_like(2, 3);
static void answer(struct client *client, const char *fmt, ...) {
    struct str body cleanup_str = STR_INIT;
    va_list args;
    va_start(args, fmt);
    str_vprintf(&body, fmt, args);
    va_end(args);
    if (client->version == 2)
        str_printf(&client->out, "%6zu", body.length);
    str_append_bytes(&client->out, str_cstr(&body), body.length);
    if (client->version == 1)
        str_append_char(&client->out, '\n');
}

/* "thrid=3;" when the request had one. */
static void thread_of(const char *thread, struct str *out) {
    str_reset(out);
    if (thread != NULL)
        str_printf(out, "thrid=%s;", thread);
}

static void escape(const char *value, struct str *out) {
    for (; *value != '\0'; value++) {
        if (*value == ';')
            str_append_char(out, ';');
        str_append_char(out, *value);
    }
}

/* cmd=NAME-response;[thrid=…;]REST;rc=0; */
static void answer2(struct client *client, const char *name, const char *thread, const char *rest) {
    struct str id cleanup_str = STR_INIT;
    thread_of(thread, &id);
    answer(client, "cmd=%s-response;%s%src=0;", name, str_cstr(&id), rest);
}

static void answer_value(struct client *client, const char *name, const char *thread,
                         const char *value) {
    struct str rest cleanup_str = STR_INIT;
    if (value != NULL) {
        str_append(&rest, "found=TRUE;value=");
        escape(value, &rest);
        str_append_char(&rest, ';');
    } else {
        str_append(&rest, "found=FALSE;");
    }
    answer2(client, name, thread, str_cstr(&rest));
}

/* ---- what both protocols do ---- */

static bool put(struct pmi *pmi, const struct request *request) {
    const char *key = word(request, "key"), *value = word(request, "value");
    if (key == NULL || value == NULL || *key == '\0' || strlen(key) >= PMI_KEY_MAX ||
        strlen(value) >= PMI_VALUE_MAX || !store_put(pmi, &pmi->store, key, value))
        return false;
    str_append_bytes(&pmi->puts, key, strlen(key) + 1);
    str_append_bytes(&pmi->puts, value, strlen(value) + 1);
    return true;
}

static const char *get(const struct pmi *pmi, const char *key) {
    if (key != NULL && str_equal(key, "PMI_process_mapping"))
        return pmi->mapping;
    return store_get(&pmi->store, key);
}

static void enter_fence(const struct request *request) {
    request->client->in_fence = true;
    string_set(&request->client->fence_thread, word(request, "thrid"));
}

static void leave_fence(struct client *client) {
    client->in_fence = false;
    if (client->version == 1)
        answer(client, "cmd=barrier_out rc=0");
    else
        answer2(client, "kvs-fence", client->fence_thread, "");
}

static void note_abort(struct pmi *pmi, const struct request *request) {
    const char *text = word(request, "msg"), *code = word(request, "exitcode");
    if (pmi->abort_text == NULL)
        pmi->abort_text =
            xasprintf("task %u called abort%s%s%s%s", request->client->rank,
                      code != NULL ? " with exit code " : "", code != NULL ? code : "",
                      text != NULL ? ": " : "", text != NULL ? text : "");
}

/* ---- PMI-1 ---- */

static void answer_get(struct client *client, const char *value) {
    if (value != NULL)
        answer(client, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        answer(client, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

static void handle1(struct pmi *pmi, const struct request *request, const char *command) {
    struct client *client = request->client;
    if (str_equal(command, "get_maxes"))
        answer(client, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d", 256, PMI_KEY_MAX,
               PMI_VALUE_MAX);
    else if (str_equal(command, "get_appnum"))
        answer(client, "cmd=appnum appnum=0");
    else if (str_equal(command, "get_my_kvsname"))
        answer(client, "cmd=my_kvsname kvsname=%s", pmi->job_name);
    else if (str_equal(command, "get_universe_size"))
        answer(client, "cmd=universe_size size=%u", pmi->size);
    else if (str_equal(command, "put"))
        answer(client, "cmd=put_result rc=%s", put(pmi, request) ? "0 msg=success" : "-1 msg=no");
    else if (str_equal(command, "get"))
        answer_get(client, get(pmi, word(request, "key")));
    else if (str_equal(command, "barrier_in"))
        enter_fence(request);
    else if (str_equal(command, "finalize"))
        answer(client, "cmd=finalize_ack rc=0");
    else if (str_equal(command, "abort"))
        note_abort(pmi, request);
    else
        answer(client, "cmd=%s_result rc=-1 info=not_supported msg=not_supported", command);
}

/* ---- PMI-2 ---- */

static void get_attribute(struct pmi *pmi, const struct request *request) {
    const char *key = word(request, "key"), *wait = word(request, "wait");
    const char *value = store_get(&pmi->attributes, key);
    if (value == NULL && key != NULL && wait != NULL && str_equal_nocase(wait, "true")) {
        string_set(&request->client->attr_key, key);
        string_set(&request->client->attr_thread, word(request, "thrid"));
        return;
    }
    answer_value(request->client, "info-getnodeattr", word(request, "thrid"), value);
}

static void put_attribute(struct pmi *pmi, const struct request *request) {
    const char *key = word(request, "key"), *value = word(request, "value");
    if (key != NULL && value != NULL)
        (void) store_put(pmi, &pmi->attributes, key, value);
    answer2(request->client, "info-putnodeattr", word(request, "thrid"), "");
    for (size_t i = 0; i < pmi->n; i++) {
        struct client *client = &pmi->clients[i];
        if (client->attr_key == NULL || key == NULL || !str_equal(client->attr_key, key))
            continue;
        answer_value(client, "info-getnodeattr", client->attr_thread, value);
        string_set(&client->attr_key, NULL);
    }
}

static void get_job_attribute(const struct pmi *pmi, const struct request *request) {
    const char *key = word(request, "key");
    char size[16];
    snprintf(size, sizeof(size), "%u", pmi->size);
    const char *value = key == NULL                             ? NULL
                        : str_equal(key, "PMI_process_mapping") ? pmi->mapping
                        : str_equal_nocase(key, "universeSize") ? size
                                                                : NULL;
    answer_value(request->client, "info-getjobattr", word(request, "thrid"), value);
}

static void answer_full_init(const struct pmi *pmi, const struct request *request) {
    struct str rest cleanup_str = STR_INIT;
    str_printf(&rest,
               "pmi-version=2;pmi-subversion=0;rank=%u;size=%u;appnum=0;debugged=FALSE;"
               "pmiverbose=FALSE;",
               request->client->rank, pmi->size);
    answer2(request->client, "fullinit", word(request, "thrid"), str_cstr(&rest));
}

static void handle2(struct pmi *pmi, const struct request *request, const char *command) {
    struct client *client = request->client;
    const char *thread = word(request, "thrid");
    if (str_equal(command, "fullinit")) {
        answer_full_init(pmi, request);
    } else if (str_equal(command, "job-getid")) {
        cleanup_free char *rest = xasprintf("jobid=%s;", pmi->job_name);
        answer2(client, "job-getid", thread, rest);
    } else if (str_equal(command, "info-putnodeattr")) {
        put_attribute(pmi, request);
    } else if (str_equal(command, "info-getnodeattr")) {
        get_attribute(pmi, request);
    } else if (str_equal(command, "info-getjobattr")) {
        get_job_attribute(pmi, request);
    } else if (str_equal(command, "kvs-put") && put(pmi, request)) {
        answer2(client, "kvs-put", thread, "");
    } else if (str_equal(command, "kvs-get")) {
        answer_value(client, "kvs-get", thread, get(pmi, word(request, "key")));
    } else if (str_equal(command, "kvs-fence")) {
        enter_fence(request);
    } else if (str_equal(command, "finalize")) {
        answer2(client, "finalize", thread, "");
    } else if (str_equal(command, "abort")) {
        note_abort(pmi, request);
    } else {
        struct str id cleanup_str = STR_INIT;
        thread_of(thread, &id);
        answer(client, "cmd=%s-response;%src=-1;errmsg=not supported;", command, str_cstr(&id));
    }
}

/* ---- bytes ---- */

static void handle(struct pmi *pmi, struct client *client, const char *text) {
    struct request request = {.client = client};
    bool lines = client->version != 2;
    if (lines)
        parse_line(&request, text);
    else
        parse_pairs(&request, text);
    const char *command = word(&request, "cmd");
    if (command == NULL)
        command = word(&request, "mcmd"); /* of several lines: a spawn */
    if (client->version == 0) {
        const char *version = word(&request, "pmi_version");
        unsigned asked = version != NULL && str_equal(version, "2") ? 2 : 1;
        client->version = 1; /* the answer is a line in either case */
        answer(client, "cmd=response_to_init pmi_version=%u pmi_subversion=%u rc=0", asked,
               asked == 1 ? 1u : 0u);
        client->version = asked;
    } else if (command != NULL && lines) {
        handle1(pmi, &request, command);
    } else if (command != NULL) {
        handle2(pmi, &request, command);
    }
    request_done(&request);
}

/* The length of the next message and of what frames it; 0: not complete, -1: nonsense. */
static long message_size(const struct client *client, const char *data, size_t size,
                         size_t *ret_start, size_t *ret_skip) {
    if (client->version != 2) {
        const char *end = memchr(data, '\n', size);
        *ret_start = 0;
        *ret_skip = 1;
        return end == NULL ? size > PMI_MESSAGE_MAX ? -1 : 0 : end - data;
    }
    char digits[7] = {0};
    uint64_t length = 0;
    if (size < 6)
        return 0;
    memcpy(digits, data, 6);
    if (!str_to_u64(digits + strspn(digits, " "), &length) || length == 0 ||
        length > PMI_MESSAGE_MAX)
        return -1;
    *ret_start = 6;
    *ret_skip = 0;
    return size < 6 + length ? 0 : (long) length;
}

bool pmi_input(struct pmi *pmi, size_t local_id, const void *data, size_t size) {
    struct client *client = &pmi->clients[local_id];
    size_t at = 0, start = 0, skip = 0;
    long length = 0;
    str_append_bytes(&client->in, data, size);
    while (at < client->in.length &&
           (length = message_size(client, client->in.data + at, client->in.length - at, &start,
                                  &skip)) > 0) {
        cleanup_free char *text = xstrndup(client->in.data + at + start, (size_t) length);
        handle(pmi, client, text);
        at += start + (size_t) length + skip;
    }
    while (at < client->in.length && client->version != 2 && client->in.data[at] == '\n')
        at++;
    if (at > 0) {
        memmove(client->in.data, client->in.data + at, client->in.length - at);
        client->in.length -= at;
    }
    return length >= 0;
}

struct str *pmi_output(struct pmi *pmi, size_t local_id) {
    return &pmi->clients[local_id].out;
}

/* ---- the fence ---- */

void pmi_task_gone(struct pmi *pmi, size_t local_id) {
    pmi->clients[local_id].is_gone = true;
}

bool pmi_fence(struct pmi *pmi, struct str *out) {
    size_t waiting = 0;
    for (size_t i = 0; i < pmi->n; i++) {
        const struct client *client = &pmi->clients[i];
        if (!client->in_fence && !client->is_gone)
            return false;
        waiting += client->in_fence && !client->is_gone;
    }
    if (waiting == 0 || pmi->fence_is_told)
        return false;
    pmi->fence_is_told = true;
    str_append_bytes(out, str_cstr(&pmi->puts), pmi->puts.length);
    str_reset(&pmi->puts);
    return true;
}

static void take_puts(struct pmi *pmi, struct blob blob) {
    const char *at = (const char *) blob.data, *end = at + blob.size;
    while (at < end) {
        const char *key = at, *value = memchr(key, '\0', (size_t) (end - key));
        const char *last = value != NULL && value + 1 < end
                               ? memchr(value + 1, '\0', (size_t) (end - value - 1))
                               : NULL;
        if (last == NULL)
            return;
        if (store_get(&pmi->store, key) == NULL ||
            !str_equal(store_get(&pmi->store, key), value + 1))
            (void) store_put(pmi, &pmi->store, key, value + 1);
        at = last + 1;
    }
}

void pmi_fence_done(struct pmi *pmi, const struct step_part *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        take_puts(pmi, parts[i].data);
    pmi->fence_is_told = false;
    for (size_t i = 0; i < pmi->n; i++) {
        if (pmi->clients[i].in_fence)
            leave_fence(&pmi->clients[i]);
    }
}

const char *pmi_aborted(const struct pmi *pmi) {
    return pmi->abort_text;
}

/* ---- life ---- */

struct run {
    uint32_t node, n;
};

void pmi_mapping(const struct step_layout *layout, struct str *out) {
    cleanup_free uint32_t *node_of = xcalloc(layout->ntasks + 1, sizeof(uint32_t));
    vec(struct run) runs = {0};
    for (uint32_t i = 0; i < layout->nodes.n; i++) {
        const struct u32s *ranks = &layout->nodes.items[i].ranks;
        for (uint32_t k = 0; k < ranks->n; k++) {
            if (ranks->items[k] < layout->ntasks)
                node_of[ranks->items[k]] = i;
        }
    }
    for (uint32_t rank = 0; rank < layout->ntasks; rank++) {
        if (runs.n > 0 && runs.items[runs.n - 1].node == node_of[rank]) {
            runs.items[runs.n - 1].n++;
        } else {
            struct run run = {node_of[rank], 1};
            vec_push(&runs, run);
        }
    }
    str_append(out, "(vector");
    for (size_t i = 0, k; i < runs.n; i = k) {
        for (k = i + 1; k < runs.n && runs.items[k].n == runs.items[i].n &&
                        runs.items[k].node == runs.items[k - 1].node + 1;)
            k++;
        str_printf(out, ",(%u,%zu,%u)", runs.items[i].node, k - i, runs.items[i].n);
    }
    str_append_char(out, ')');
    vec_done(&runs);
}

struct pmi *pmi_new(const char *job_name, const struct step_layout *layout, const uint32_t *ranks,
                    size_t n) {
    struct pmi *pmi = zalloc(struct pmi);
    struct str mapping = STR_INIT;
    pmi_mapping(layout, &mapping);
    pmi->mapping = str_take(&mapping);
    pmi->job_name = xstrdup(job_name);
    pmi->size = layout->ntasks;
    pmi->clients = xcalloc(n + 1, sizeof(*pmi->clients));
    pmi->n = n;
    for (size_t i = 0; i < n; i++)
        pmi->clients[i].rank = ranks[i];
    return pmi;
}

void pmi_free(struct pmi *pmi) {
    if (pmi == NULL)
        return;
    for (size_t i = 0; i < pmi->n; i++) {
        struct client *client = &pmi->clients[i];
        str_done(&client->in);
        str_done(&client->out);
        free(client->fence_thread);
        free(client->attr_key);
        free(client->attr_thread);
    }
    store_clear(&pmi->store);
    store_clear(&pmi->attributes);
    str_done(&pmi->puts);
    free(pmi->abort_text);
    free(pmi->job_name);
    free(pmi->mapping);
    free(pmi->clients);
    free(pmi);
}
