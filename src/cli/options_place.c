/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the options that choose nodes and lay out tasks. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/options.h"
#include "cli/options_parse.h"
#include "text/duration.h"
#include "text/hostlist.h"

#define HOST_FILE_MAX (16u << 20)

/* A value with a slash is a file of host names. *ret is the list, a new text. */
static int read_hosts(struct options *options, const char *path, char **ret) {
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > HOST_FILE_MAX) {
        int errnum = fd < 0 ? errno : EINVAL;
        return option_bad(options, 1, "slurm_allocate_resources error opening file %s, %s", path,
                          strerror(errnum));
    }
    cleanup_free char *text = xcalloc((size_t) st.st_size + 1, 1);
    ssize_t size = read(fd, text, (size_t) st.st_size);
    if (size < 0)
        return option_bad(options, 1, "slurm_allocate_resources error opening file %s, %s", path,
                          strerror(errno));
    cleanup_str struct str list = STR_INIT;
    char *cursor = text;
    for (char *line; (line = str_next_word(&cursor, "\n\r")) != NULL;) {
        line[strcspn(line, "#")] = '\0';
        char *words = line;
        for (char *word; (word = str_next_word(&words, " \t,")) != NULL;)
            str_join(&list, ",", word);
    }
    *ret = str_take(&list);
    return 0;
}

int option_parse_hosts(struct options *options, const struct option_row *row, const char *value) {
    if (!strchr(value, '/'))
        return option_parse_string(options, row, value);
    char *list;
    int rc = read_hosts(options, value, &list);
    if (rc < 0)
        return rc;
    free(*option_text(options, row));
    *option_text(options, row) = list;
    return 0;
}

/* How many different nodes are asked for; a list that cannot be read is left to the controller. */
static void count_required_hosts(struct options *options) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    options->n_required_hosts = 0;
    if (hostlist_parse(&list, options->job.req_nodes, &err) < 0)
        return;
    hostlist_unique(&list);
    options->n_required_hosts = (uint32_t) list.n;
}

char *options_first_hosts(const char *text, size_t count) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT, first = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    if (hostlist_parse(&list, text, &err) < 0)
        return xstrdup(text);
    hostlist_unique(&list);
    for (size_t i = 0; i < min_of(list.n, count); i++)
        hostlist_push(&first, list.names[i]);
    struct str out = STR_INIT;
    hostlist_fold(&first, &out);
    return str_take(&out);
}

int option_parse_nodelist(struct options *options, const struct option_row *row,
                          const char *value) {
    int rc = option_parse_hosts(options, row, value);
    if (rc == 0)
        count_required_hosts(options);
    return rc;
}

int option_parse_nodefile(struct options *options, const struct option_row *row,
                          const char *value) {
    char *list;
    int rc = read_hosts(options, value, &list);
    if (rc < 0)
        return option_bad(options, 255, "Invalid --nodefile node file");
    free(options->job.req_nodes);
    options->job.req_nodes = list;
    count_required_hosts(options);
    return 0;
}

/* The part before the first ':' lays tasks out over nodes and is what we act on; the others are
 * checked, and the whole text is kept. */
int option_parse_distribution(struct options *options, const struct option_row *row,
                              const char *value) {
    static const char *const inner[] = {"*", "block", "cyclic", "fcyclic"};
    uint32_t kind = DIST_DEFAULT, plane = 0;
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    char *parts = str_next_word(&cursor, ",");
    if (!parts)
        return option_bad_value(options, row);
    for (char *flag; (flag = str_next_word(&cursor, ",")) != NULL;)
        if (strcasecmp(flag, "pack") != 0 && strcasecmp(flag, "nopack") != 0)
            return option_bad_value(options, row);
    char *node = str_next_word(&parts, ":");
    if (!node)
        return option_bad_value(options, row);
    if (strcasecmp(node, "block") == 0)
        kind = DIST_BLOCK;
    else if (strcasecmp(node, "cyclic") == 0)
        kind = DIST_CYCLIC;
    else if (strcasecmp(node, "arbitrary") == 0)
        kind = DIST_ARBITRARY;
    else if (strncasecmp(node, "plane", 5) == 0) {
        kind = DIST_PLANE;
        if (node[5] != '=' || !option_count(node + 6, &plane) || plane == 0) {
            option_bad(options, 255, "Invalid plane size or size not specified");
            return option_bad_value(options, row);
        }
    } else if (strcmp(node, "*") != 0 && strcasecmp(node, "pack") != 0 &&
               strcasecmp(node, "nopack") != 0)
        return option_bad_value(options, row);
    size_t n_inner = 0;
    for (char *part; (part = str_next_word(&parts, ":")) != NULL; n_inner++)
        if (n_inner == 2 || !option_words_known(part, inner, countof(inner)))
            return option_bad_value(options, row);
    options->job.distribution = kind;
    options->job.plane_size = plane;
    string_set(&options->job.distribution_text, value);
    return 0;
}

/* `S[:C[:T]]`, each may be `*`. */
int option_parse_extra_node_info(struct options *options, const struct option_row *row,
                                 const char *value) {
    static const char *const ordinals[] = {"first", "second", "third"};
    uint32_t *targets[] = {&options->job.sockets_per_node, &options->job.cores_per_socket,
                           &options->job.threads_per_core};
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    size_t n = 0;
    for (char *part; n < countof(targets) && (part = strsep(&cursor, ":")) != NULL; n++) {
        uint32_t number = 0;
        if (strcmp(part, "*") == 0)
            continue;
        if (!option_count(part, &number) || number == 0)
            return option_bad(options, 1, "Invalid numeric value \"%s\" for %s arg of -B.", part,
                              ordinals[n]);
        *targets[n] = number;
    }
    return 0;
}

static const struct {
    const char *word, *help;
    uint32_t threads_per_core, cores_per_socket;
} hints[] = {
    {"compute_bound", "use all cores, one thread of each", 1, 0},
    {"memory_bound", "use one core of each socket", 1, 1},
    {"multithread", "use all threads of each core", 0, 0},
    {"nomultithread", "use one thread of each core", 1, 0},
};

int option_parse_hint(struct options *options, const struct option_row *row, const char *value) {
    if (strcasecmp(value, "help") == 0) {
        options->info = OPT_hint;
        return 0;
    }
    for (size_t i = 0; i < countof(hints); i++) {
        if (strcasecmp(value, hints[i].word) != 0)
            continue;
        string_set(&options->job.hint, hints[i].word);
        if (hints[i].threads_per_core)
            options->job.threads_per_core = hints[i].threads_per_core;
        if (hints[i].cores_per_socket)
            options->job.cores_per_socket = hints[i].cores_per_socket;
        return 0;
    }
    return option_bad(options, 1, "unrecognized --hint argument \"%s\", see --hint=help", value);
}

void options_print_hints(struct str *out) {
    str_append(out, "Hints about the application (--hint=):\n");
    for (size_t i = 0; i < countof(hints); i++)
        str_printf(out, "    %-16s%s\n", hints[i].word, hints[i].help);
    str_printf(out, "    %-16s%s\n", "help", "this list");
}

/* Words of --cpu-bind; one that ends in ':' takes the rest as its list. The letters before `least`
 * of them are enough. */
struct bind_word {
    const char *word, *help;
    size_t least; /* 0: the whole word */
};
static const struct bind_word cpu_binds[] = {
    {"quiet", "say nothing about it (default)", 1},
    {"verbose", "each task reports what it is bound to, on its standard error", 1},
    {"none", "to nothing but what the step has", 2},
    {"threads", "to hardware threads", 0},
    {"cores", "to cores", 0},
    {"sockets", "to sockets", 0},
    {"ldoms", "to NUMA nodes", 0},
    {"boards", "to all that the step has", 0},
    {"rank", "task N of a node to the N-th CPU of the step there", 0},
    {"rank_ldom", "task N of a node to the N-th NUMA node", 0},
    {"map_cpu:", "LIST: to these CPUs in turn, N*M repeats", 0},
    {"mask_cpu:", "LIST: to these masks in turn", 0},
    {"map_ldom:", "LIST: to these NUMA nodes in turn", 0},
    {"mask_ldom:", "LIST: to these masks of NUMA nodes in turn", 0},
};

/* The same of --mem-bind. */
static const struct bind_word mem_binds[] = {
    {"quiet", "say nothing about it (default)", 1},
    {"verbose", "each task reports where its memory lies, on its standard error", 1},
    {"none", "wherever the kernel puts it (default)", 2},
    {"local", "on the NUMA node that the task runs on", 0},
    {"rank", "of task N of a node on the N-th NUMA node", 0},
    {"prefer", "on others, too, when these are full", 1},
    {"sort", "accepted, without effect", 0},
    {"nosort", "the same", 0},
    {"map_mem:", "LIST: on these NUMA nodes in turn, N*M repeats", 0},
    {"mask_mem:", "LIST: on these masks of NUMA nodes in turn", 0},
};

/* The length of the word at the beginning of the text, of a list all of it; 0 when it is unknown.
 */
static size_t bind_word(const char *text, const struct bind_word *words, size_t n) {
    size_t length = strcspn(text, ",");
    for (size_t i = 0; i < n; i++) {
        const char *word = words[i].word;
        size_t full = strlen(word);
        if (word[full - 1] == ':' && strncasecmp(text, word, full) == 0)
            return strlen(text);
        if (strncasecmp(text, word, length) == 0 &&
            (length == full || (words[i].least > 0 && length == words[i].least)))
            return length;
    }
    return 0;
}

static bool bind_words_known(const char *text, const struct bind_word *words, size_t n) {
    while (*text != '\0') {
        size_t length = bind_word(text, words, n);
        if (length == 0)
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

static void print_words(const struct bind_word *words, size_t n, struct str *out) {
    for (size_t i = 0; i < n; i++)
        str_printf(out, "    %-16s%s\n", words[i].word, words[i].help);
    str_printf(out, "    %-16s%s\n", "help", "this list");
}

int option_parse_cpu_bind(struct options *options, const struct option_row *row,
                          const char *value) {
    if (strcasecmp(value, "help") == 0) {
        options->info = OPT_cpu_bind;
        return 0;
    }
    if (!bind_words_known(value, cpu_binds, countof(cpu_binds)))
        return option_bad(options, 255, "unrecognized --cpu-bind argument \"%s\"", value);
    string_set(&options->job.cpu_bind, value);
    return 0;
}

int option_parse_mem_bind(struct options *options, const struct option_row *row,
                          const char *value) {
    if (strcasecmp(value, "help") == 0) {
        options->info = OPT_mem_bind;
        return 0;
    }
    if (!bind_words_known(value, mem_binds, countof(mem_binds)))
        return option_bad(options, 255, "unrecognized --mem-bind argument \"%s\"", value);
    if (str_has_word_nocase(value, "sort", ","))
        str_append(&options->warnings,
                   "--mem-bind=sort has no effect: this kernel keeps free pages in order itself\n");
    string_set(&options->job.mem_bind, value);
    return 0;
}

void options_print_mem_binds(struct str *out) {
    str_append(out, "Memory of tasks on NUMA nodes (--mem-bind=), words separated by commas:\n");
    print_words(mem_binds, countof(mem_binds), out);
}

void options_print_cpu_binds(struct str *out) {
    str_append(out, "Binding of tasks to CPUs (--cpu-bind=[quiet|verbose,]TYPE):\n");
    print_words(cpu_binds, countof(cpu_binds), out);
}

int option_parse_cpu_freq(struct options *options, const struct option_row *row,
                          const char *value) {
    static const char *const words[] = {"low",          "medium",   "highm1",      "high",
                                        "conservative", "ondemand", "performance", "powersave",
                                        "userspace",    "schedutil"};
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy;
    bool known = *value != '\0';
    for (char *part; (part = str_next_word(&cursor, "-:,")) != NULL;) {
        uint32_t khz;
        known &= option_count(part, &khz) || option_words_known(part, words, countof(words));
    }
    if (!known) {
        option_bad(options, 255, "unrecognized --cpu-freq argument \"%s\"", value);
        return option_bad(options, 255, "Invalid --cpu-freq argument");
    }
    string_set(&options->job.cpu_freq, value);
    return 0;
}

int option_parse_switches(struct options *options, const struct option_row *row,
                          const char *value) {
    uint32_t number;
    int64_t seconds;
    cleanup_free char *count = xstrndup(value, strcspn(value, "@"));
    if (!option_count(count, &number))
        return option_bad_number(options, row, count);
    if (!switches_parse(value, &number, &seconds))
        return option_bad_value(options, row);
    string_set(&options->job.switches, value);
    return 0;
}
