/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/bind.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

/* Bytes of a list in the environment. A program with a variable of more than 128 KiB cannot be
 * executed (MAX_ARG_STRLEN), and thousands of tasks on hundreds of CPUs make as much. */
#define LIST_MAX 32768

enum unit { UNIT_UNSET, UNIT_THREAD, UNIT_CORE, UNIT_SOCKET, UNIT_LDOM, UNIT_ALL };
enum dealing { DEAL_CYCLIC, DEAL_BLOCK, DEAL_FCYCLIC };

static const struct kind_row {
    const char *word; /* of --cpu-bind, SLURM_CPU_BIND_TYPE */
    const char *label;
    bool has_list;
} kind_rows[] = {
    [BIND_NONE] = {"none", "NONE", false},
    [BIND_RANK] = {"rank", "RANK", false},
    [BIND_MAP] = {"map_cpu:", "MAP ", true},
    [BIND_MASK] = {"mask_cpu:", "MASK", true},
    [BIND_LDOM_RANK] = {"rank_ldom", "LDRANK", false},
    [BIND_LDOM_MAP] = {"map_ldom:", "LDMAP ", true},
    [BIND_LDOM_MASK] = {"mask_ldom:", "LDMASK", true},
};
static const struct {
    const char *word;
    enum unit unit;
} unit_rows[] = {
    {"threads", UNIT_THREAD}, {"cores", UNIT_CORE}, {"sockets", UNIT_SOCKET},
    {"ldoms", UNIT_LDOM},     {"boards", UNIT_ALL},
};

/* ---- the option ---- */

struct wanted {
    enum bind_kind kind;
    bool has_kind, verbose;
    enum unit unit;
    const char *list; /* the rest behind "map_cpu:" */
};

static void read_word(struct wanted *wanted, const char *word) {
    if (strcasecmp(word, "v") == 0 || strcasecmp(word, "verbose") == 0)
        wanted->verbose = true;
    else if (strcasecmp(word, "q") == 0 || strcasecmp(word, "quiet") == 0)
        wanted->verbose = false;
    if (strcasecmp(word, "no") == 0)
        word = "none";
    for (size_t i = 0; i < countof(kind_rows); i++) {
        if (!kind_rows[i].has_list && strcasecmp(word, kind_rows[i].word) == 0) {
            wanted->kind = (enum bind_kind) i;
            wanted->has_kind = true;
            wanted->unit = UNIT_UNSET;
        }
    }
    for (size_t i = 0; i < countof(unit_rows); i++) {
        if (strcasecmp(word, unit_rows[i].word) == 0) {
            wanted->unit = unit_rows[i].unit;
            wanted->has_kind = false;
        }
    }
}

/* A list takes the rest of the text. */
static bool read_list(struct wanted *wanted, const char *at) {
    for (size_t i = 0; i < countof(kind_rows); i++) {
        size_t length = strlen(kind_rows[i].word);
        if (!kind_rows[i].has_list || strncasecmp(at, kind_rows[i].word, length) != 0)
            continue;
        wanted->kind = (enum bind_kind) i;
        wanted->has_kind = true;
        wanted->list = at + length;
        return true;
    }
    return false;
}

static void read_option(struct wanted *wanted, const char *text) {
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ",");
        cleanup_free char *word = xstrndup(at, length);
        if (read_list(wanted, at))
            return;
        read_word(wanted, word);
        at += length + (at[length] == ',');
    }
}

/* ---- what the step has ---- */

struct slot {
    uint32_t pu, core, socket, ldom;
};
struct room {
    const struct bind_input *input;
    struct bits all; /* every thread of its cores */
    struct slot *slots;
    size_t n, n_cores, n_sockets;
};

static size_t thread_limit(const struct bind_input *input) {
    bool one = input->hint != NULL && strcasecmp(input->hint, "nomultithread") == 0;
    bool cores = input->hint != NULL && !one; /* the others take whole cores */
    if (one)
        return 1;
    return input->threads_per_core > 0 && !cores ? input->threads_per_core : SIZE_MAX;
}

static void room_core(struct room *room, uint32_t core, uint32_t last_core) {
    const struct cpu_map *map = room->input->map;
    size_t limit = thread_limit(room->input), taken = 0;
    uint32_t per_socket = max_of(map->cores_per_socket, 1u);
    for (uint32_t k = 0; k < map->width && taken < limit; k++) {
        uint32_t pu = map->pus.items[(size_t) core * map->width + k];
        if (pu == UNSET32)
            continue;
        room->slots[room->n++] = (struct slot) {pu, core, core / per_socket, map->numa.items[core]};
        taken++;
    }
    room->n_cores++;
    room->n_sockets += last_core == UNSET32 || last_core / per_socket != core / per_socket;
}

/* False when nothing is known of the processors. */
static bool room_open(struct room *room, const struct bind_input *input) {
    struct idset ids cleanup_idset = IDSET_INIT;
    uint32_t id = 0, last = UNSET32;
    *room = (struct room) {.input = input};
    if (input->map == NULL || input->map->pus.n == 0 || input->cores == NULL ||
        idset_parse(&ids, input->cores, UINT32_MAX - 2, NULL, NULL) < 0)
        return false;
    bits_init(&room->all, cpu_map_size(input->map));
    room->slots = xcalloc(input->map->pus.n + 1, sizeof(*room->slots));
    for (bool more = idset_next(&ids, 0, &id); more; more = idset_next(&ids, id + 1, &id)) {
        if (id >= input->map->numa.n)
            break;
        cpu_map_add(input->map, id, &room->all);
        room_core(room, id, last);
        last = id;
    }
    return room->n > 0;
}

static void room_close(struct room *room) {
    bits_done(&room->all);
    free(room->slots);
}

/* ---- layout: automatic masks ---- */

static enum unit automatic_unit(const struct room *room, const struct wanted *wanted) {
    const struct bind_input *input = room->input;
    uint64_t cpus = (uint64_t) input->n_tasks * max_of(input->cpus_per_task, 1u);
    struct wanted by_conf = {0}, last = {0};
    if (wanted->unit != UNIT_UNSET)
        return wanted->unit;
    if (input->hint != NULL)
        return strcasestr(input->hint, "multithread") ? UNIT_THREAD : UNIT_CORE;
    if (input->threads_per_core > 0)
        return UNIT_THREAD;
    if (input->ntasks_per_core > 0)
        return UNIT_CORE;
    if (input->ntasks_per_socket > 0)
        return UNIT_SOCKET;
    read_option(&by_conf, input->fallback);
    if (by_conf.unit != UNIT_UNSET)
        return by_conf.unit;
    if (cpus == room->n_sockets)
        return UNIT_SOCKET;
    if (cpus == room->n_cores)
        return UNIT_CORE;
    if (cpus == room->n)
        return UNIT_THREAD;
    read_option(&last, input->autobind);
    return last.unit != UNIT_UNSET ? last.unit : UNIT_ALL;
}

/* The part of -m that deals tasks to sockets: the second. */
static enum dealing dealing_of(const char *distribution) {
    const char *at = distribution ? strchr(distribution, ':') : NULL;
    if (at == NULL)
        return DEAL_CYCLIC;
    size_t length = strcspn(at + 1, ":,");
    if (length == 5 && strncasecmp(at + 1, "block", length) == 0)
        return DEAL_BLOCK;
    return length == 7 && strncasecmp(at + 1, "fcyclic", length) == 0 ? DEAL_FCYCLIC : DEAL_CYCLIC;
}

struct dealer {
    const struct room *room;
    enum dealing dealing;
    enum unit unit;
    bool *used; /* by slot */
    size_t n_used;
    uint32_t socket; /* that is next */
    uint32_t *sockets;
    size_t n_sockets;
};

static void dealer_open(struct dealer *dealer, const struct room *room, enum unit unit) {
    *dealer = (struct dealer) {.room = room, .unit = unit};
    dealer->dealing = dealing_of(room->input->distribution);
    dealer->used = xcalloc(room->n, sizeof(bool));
    dealer->sockets = xcalloc(room->n_sockets, sizeof(uint32_t));
    for (size_t i = 0; i < room->n; i++) {
        if (i == 0 || room->slots[i].socket != room->slots[i - 1].socket)
            dealer->sockets[dealer->n_sockets++] = room->slots[i].socket;
    }
}

static void dealer_close(struct dealer *dealer) {
    free(dealer->used);
    free(dealer->sockets);
}

/* An unused slot of this socket, or of any with UNSET32; SIZE_MAX. */
static size_t find_slot(const struct dealer *dealer, uint32_t socket) {
    for (size_t i = 0; i < dealer->room->n; i++) {
        if (!dealer->used[i] && (socket == UNSET32 || dealer->room->slots[i].socket == socket))
            return i;
    }
    return SIZE_MAX;
}

static void use_slot(struct dealer *dealer, size_t slot) {
    dealer->n_used += !dealer->used[slot];
    dealer->used[slot] = true;
}

/* The next CPU of a task whose earlier ones are on `socket`. Where all are taken it starts over. */
static size_t take_slot(struct dealer *dealer, uint32_t *socket) {
    if (dealer->n_used == dealer->room->n) {
        memset(dealer->used, 0, dealer->room->n * sizeof(bool));
        dealer->n_used = 0;
    }
    size_t slot = *socket == UNSET32 ? SIZE_MAX : find_slot(dealer, *socket);
    bool deal = dealer->dealing == DEAL_FCYCLIC || *socket == UNSET32;
    if (dealer->dealing == DEAL_BLOCK) {
        slot = find_slot(dealer, UNSET32);
    } else if (deal || slot == SIZE_MAX) {
        slot = SIZE_MAX;
        for (size_t i = 0; i < dealer->n_sockets && slot == SIZE_MAX; i++) {
            slot = find_slot(dealer, dealer->sockets[dealer->socket]);
            dealer->socket = (uint32_t) ((dealer->socket + 1) % dealer->n_sockets);
        }
    }
    use_slot(dealer, slot);
    *socket = dealer->room->slots[slot].socket;
    return slot;
}

static bool belongs(const struct dealer *dealer, const struct slot *a, const struct slot *b) {
    switch (dealer->unit) {
    case UNIT_CORE:
        return a->core == b->core;
    case UNIT_SOCKET:
        return a->socket == b->socket;
    case UNIT_LDOM:
        return a->ldom == b->ldom;
    default:
        return a == b;
    }
}

/* Widens a CPU to its unit. A core belongs to one task until all are taken. */
static void add_unit(struct dealer *dealer, size_t slot, struct bits *mask) {
    const struct room *room = dealer->room;
    for (size_t i = 0; i < room->n; i++) {
        if (belongs(dealer, &room->slots[i], &room->slots[slot]))
            bits_set(mask, room->slots[i].pu);
    }
}

static void close_cores(struct dealer *dealer, const struct bits *mask) {
    for (size_t i = 0; i < dealer->room->n && dealer->unit == UNIT_CORE; i++) {
        if (bits_test(mask, dealer->room->slots[i].pu))
            use_slot(dealer, i);
    }
}

static void make_automatic(const struct room *room, const struct wanted *wanted, struct bind *ret) {
    struct dealer dealer;
    enum unit unit = automatic_unit(room, wanted);
    uint32_t cpus = (uint32_t) min_of((size_t) max_of(room->input->cpus_per_task, 1u), room->n);
    ret->kind = BIND_MASK;
    dealer_open(&dealer, room, unit);
    for (uint32_t task = 0; task < ret->n; task++) {
        uint32_t socket = UNSET32;
        if (unit == UNIT_ALL) {
            bits_or(&ret->masks[task], &room->all);
            continue;
        }
        for (uint32_t k = 0; k < cpus; k++)
            add_unit(&dealer, take_slot(&dealer, &socket), &ret->masks[task]);
        close_cores(&dealer, &ret->masks[task]);
    }
    dealer_close(&dealer);
}

/* ---- lists ---- */

char *bind_list_entry(const char *list, uint32_t local_id) {
    uint64_t total = 0;

    for (int round = 0; round < 2; round++) {
        cleanup_free char *copy = xstrdup(list);
        char *cursor = copy;
        uint64_t at = 0, wanted = total > 0 ? local_id % total : 0;
        for (char *word; (word = str_next_word(&cursor, ",")) != NULL;) {
            uint64_t repeat = 1;
            char *star = strchr(word, '*');
            if (star) {
                *star = '\0';
                if (!str_to_u64(star + 1, &repeat) || repeat == 0 || repeat > UINT32_MAX)
                    return NULL;
            }
            at += repeat;
            if (round == 1 && wanted < at)
                return xstrdup(word);
        }
        if (at == 0)
            return NULL;
        total = at;
    }
    return NULL;
}

bool bind_read_number(const char *text, struct bits *set) {
    char *end;
    unsigned long number = strtoul(text, &end, 0);
    if (*end != '\0' || end == text || number >= set->n)
        return false;
    bits_set(set, number);
    return true;
}

bool bind_read_mask(const char *text, struct bits *set) {
    const char *digits = strncasecmp(text, "0x", 2) == 0 ? text + 2 : text;
    size_t n = strlen(digits);
    if (n == 0 || strspn(digits, "0123456789abcdefABCDEF") != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char one[2] = {digits[n - 1 - i], '\0'};
        unsigned long digit = strtoul(one, NULL, 16);
        for (size_t bit = 0; bit < 4; bit++) {
            if (!(digit >> bit & 1))
                continue;
            if (i * 4 + bit >= set->n)
                return false;
            bits_set(set, i * 4 + bit);
        }
    }
    return true;
}

static void add_ldoms(const struct room *room, const struct bits *ldoms, struct bits *mask) {
    for (size_t i = 0; i < room->n; i++) {
        if (room->slots[i].ldom < ldoms->n && bits_test(ldoms, room->slots[i].ldom))
            bits_set(mask, room->slots[i].pu);
    }
}

static void print_mask(const struct bits *mask, bool upper, size_t digits, struct str *out) {
    static const char *const characters[] = {"0123456789abcdef", "0123456789ABCDEF"};
    size_t n = (mask->n + 3) / 4;
    bool begun = false;
    str_append(out, "0x");
    for (size_t i = max_of(max_of(n, digits), (size_t) 1); i-- > 0;) {
        uint64_t word = i / 16 < bits_words(mask->n) ? mask->words[i / 16] : 0;
        unsigned digit = word >> (i % 16 * 4) & 15;
        begun |= digit != 0 || i < digits || i == 0;
        if (begun)
            str_append_char(out, characters[upper][digit]);
    }
}

static int refuse_list(const struct room *room, const char *item, struct error *err) {
    struct str all cleanup_str = STR_INIT;
    print_mask(&room->all, true, 0, &all);
    return error_set(err, ERR_CPU_BIND,
                     "CPU binding outside of job step allocation (%s), allocated CPUs are: %s.",
                     item, str_cstr(&all));
}

static bool item_set(const struct room *room, const struct wanted *wanted, const char *item,
                     struct bits *mask) {
    struct bits ldoms;
    bool ok;
    switch (wanted->kind) {
    case BIND_MAP:
        return bind_read_number(item, mask) && bits_subset(mask, &room->all);
    case BIND_MASK:
        return bind_read_mask(item, mask) && bits_any(mask) && bits_subset(mask, &room->all);
    default:
        bits_init(&ldoms, 1024);
        ok = wanted->kind == BIND_LDOM_MAP ? bind_read_number(item, &ldoms)
                                           : bind_read_mask(item, &ldoms);
        add_ldoms(room, &ldoms, mask);
        bits_done(&ldoms);
        return ok && bits_any(mask);
    }
}

static int make_list(const struct room *room, const struct wanted *wanted, struct bind *ret,
                     struct error *err) {
    for (uint32_t task = 0; task < ret->n; task++) {
        cleanup_free char *item = bind_list_entry(wanted->list, task);
        if (item == NULL || !item_set(room, wanted, item, &ret->masks[task]))
            return refuse_list(room, item != NULL ? item : wanted->list, err);
    }
    ret->list = xstrdup(wanted->list);
    return 0;
}

/* ---- by rank ---- */

static void make_rank(const struct room *room, struct bind *ret) {
    for (uint32_t task = 0; task < ret->n; task++)
        bits_set(&ret->masks[task], room->slots[task % room->n].pu);
}

static void make_ldom_rank(const struct room *room, struct bind *ret) {
    struct bits there;
    bits_init(&there, 1024);
    for (size_t i = 0; i < room->n; i++) {
        if (room->slots[i].ldom < there.n)
            bits_set(&there, room->slots[i].ldom);
    }
    size_t ldom = bits_next(&there, 0);
    for (uint32_t task = 0; task < ret->n && ldom < there.n; task++) {
        for (size_t i = 0; i < room->n; i++) {
            if (room->slots[i].ldom == ldom)
                bits_set(&ret->masks[task], room->slots[i].pu);
        }
        ldom = bits_next(&there, ldom + 1);
        if (ldom == there.n)
            ldom = bits_next(&there, 0);
    }
    bits_done(&there);
}

/* ---- all together ---- */

/* Masks that were found are told as a list. */
static void list_masks(struct bind *bind, size_t size) {
    struct str out = STR_INIT;
    for (uint32_t task = 0; task < bind->n; task++) {
        if (task > 0)
            str_append_char(&out, ',');
        print_mask(&bind->masks[task], true, (size + 3) / 4, &out);
    }
    bind->list = str_take(&out);
}

int bind_make(const struct bind_input *input, struct bind *ret, struct error *err) {
    struct wanted wanted = {0};
    struct room room;
    bool is_asked = false;
    int r = 0;
    *ret = (struct bind) {0};
    read_option(&wanted, input->fallback);
    wanted.unit = UNIT_UNSET; /* counts for less; see automatic_unit() */
    if (input->cpu_bind != NULL && *input->cpu_bind != '\0') {
        struct wanted asked = {.verbose = wanted.verbose};
        read_option(&asked, input->cpu_bind);
        is_asked = asked.unit != UNIT_UNSET || asked.has_kind;
        if (is_asked)
            wanted = asked;
        wanted.verbose = asked.verbose;
    }
    ret->verbose = wanted.verbose;
    ret->n = input->n_tasks;
    bool is_open = room_open(&room, input), is_none = wanted.has_kind && wanted.kind == BIND_NONE;
    if (!is_open || is_none) {
        ret->is_impossible = is_asked && !is_none;
        room_close(&room);
        return 0;
    }
    ret->kind = wanted.kind;
    ret->masks = xcalloc(ret->n + 1, sizeof(*ret->masks));
    for (uint32_t task = 0; task < ret->n; task++)
        bits_init(&ret->masks[task], room.all.n);
    if (!wanted.has_kind)
        make_automatic(&room, &wanted, ret);
    else if (kind_rows[wanted.kind].has_list)
        r = make_list(&room, &wanted, ret, err);
    else if (wanted.kind == BIND_RANK)
        make_rank(&room, ret);
    else
        make_ldom_rank(&room, ret);
    if (ret->kind == BIND_MASK && ret->list == NULL && r == 0)
        list_masks(ret, room.all.n);
    room_close(&room);
    if (r < 0)
        bind_done(ret);
    return r;
}

void bind_done(struct bind *bind) {
    for (uint32_t task = 0; bind->masks != NULL && task < bind->n; task++)
        bits_done(&bind->masks[task]);
    free(bind->masks);
    free(bind->list);
    *bind = (struct bind) {0};
}

void bind_print_mask(const struct bits *mask, struct str *out) {
    print_mask(mask, false, 0, out);
}

void bind_line(const struct bind *bind, const char *node, uint32_t rank, uint32_t local_id,
               struct str *head, struct str *tail) {
    str_printf(head, "cpu-bind=%s - %s, task %2u %2u [", kind_rows[bind->kind].label, node, rank,
               local_id);
    str_append(tail, "]: mask ");
    if (bind->masks == NULL) {
        str_append(tail, "0x0");
        return;
    }
    print_mask(&bind->masks[local_id], false, 0, tail);
    str_append(tail, " set");
}

void bind_env(const struct bind *bind, struct env *env) {
    const char *verbose = bind->verbose ? "verbose" : "quiet", *list = bind->list ? bind->list : "";
    struct str all cleanup_str = STR_INIT;
    env_set(env, "SLURM_CPU_BIND_TYPE", kind_rows[bind->kind].word);
    env_set(env, "SLURM_CPU_BIND_VERBOSE", verbose);
    env_unset(env, "SLURM_CPU_BIND");
    env_unset(env, "SLURM_CPU_BIND_LIST");
    if (strlen(list) > LIST_MAX)
        return;
    str_printf(&all, "%s,%s%s", verbose, kind_rows[bind->kind].word, list);
    env_set(env, "SLURM_CPU_BIND", str_cstr(&all));
    env_set(env, "SLURM_CPU_BIND_LIST", list);
}
