/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm.conf(5) as scdoc text: a frame of sentences, and a paragraph for every row of the tables,
 * so that the page cannot forget a key.
 */
#include "model/conf_manual.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "model/conf_others.h"

static const char opening[] =
    "slurm.conf(5) \"Sluice\" \"Sluice configuration\"\n"
    "\n"
    "; Made from src/model/conf_keys.h: do not edit, see src/model/conf_manual.c.\n"
    "\n"
    "# NAME\n"
    "\n"
    "slurm.conf - configuration of a cluster\n"
    "\n"
    "# DESCRIPTION\n"
    "\n"
    "All daemons and commands of a cluster read the same file. It is the one that a daemon's *-f*\n"
    "names, else that of the environment variable *SLURM\\_CONF*, else _slurm/slurm.conf_ in the\n"
    "directory that the build was configured for, else _/etc/slurm/slurm.conf_. The files\n"
    "_gres.conf_ and _cgroup.conf_ lie beside it; both may be absent.\n"
    "\n"
    "*slurmctld -t* checks the files and tells of everything that is wrong with them at once.\n"
    "\n"
    "# GRAMMAR\n"
    "\n"
    "A line holds one or more _Key=Value_ pairs. Keys and most values may be written in any case;\n"
    "names of nodes and partitions may not. Blanks around *=* do not matter. A value with blanks\n"
    "stands in double quotes. *#* begins a comment; *\\\\#* is a plain #. A backslash at the end "
    "of a\n"
    "line joins the next one. *Include FILE* reads another file in its place: relative to the\n"
    "directory of slurm.conf, with *%c* for the name of the cluster. Of a key that is given twice\n"
    "the last value counts.\n"
    "\n"
    "Times are in seconds unless something else is said. Lengths of time are written as minutes, "
    "as\n"
    "_hours_:_minutes_:_seconds_ with _days_- before it, or as UNLIMITED. Memory is in MiB, or "
    "has\n"
    "K, M, G or T behind it.\n"
    "\n"
    "Host lists are written _node[01-10,15]_.\n";

/* Copies text with scdoc's markup characters escaped. */
static void escaped(const char *text, struct str *out) {
    for (const char *p = text; *p != '\0'; p++) {
        if (strchr("_*\\<>", *p) != NULL)
            str_append_char(out, '\\');
        str_append_char(out, *p);
    }
}

static const char *type_word(const struct conf_key *key) {
    switch ((enum conf_type) key->type) {
    case CONF_BOOL:
    case CONF_BIT:
        return "YES|NO";
    case CONF_SWITCH:
        return "";
    case CONF_U32:
    case CONF_U64:
        return "number";
    case CONF_MIB:
        return "MiB";
    case CONF_PERCENT:
        return "percent";
    case CONF_MINUTES:
    case CONF_DURATION:
        return "time";
    case CONF_AGE:
        return "age";
    case CONF_ENUM:
        return "word";
    case CONF_FLAGS:
    case CONF_WORDS:
        return "word,…";
    case CONF_LIST:
        return "list";
    case CONF_OPTIONS:
        return "option,…";
    case CONF_WEIGHTS:
        return "name=weight,…";
    case CONF_PORTS:
        return "port[-port]";
    case CONF_SHARE:
        return "NO|EXCLUSIVE|YES[:n]|FORCE[:n]";
    case CONF_STRING:
    case CONF_TEXT:
    case CONF_NAMES:
        break;
    }
    return "text";
}

/* "Values: a, b, c." of an ENUM or FLAGS row; what has no effect yet is marked. */
static void words_sentence(const struct conf_key *key, struct str *out) {
    if (key->words == NULL)
        return;
    str_append(out, " Values:");
    const char *separator = " ";
    for (size_t i = 0; i < key->words->n; i++) {
        const struct conf_word *word = &key->words->words[i];
        if (word->alias || word->effect == CONF_REFUSED || word->name[0] == '(')
            continue;
        str_append(out, separator);
        escaped(word->name, out);
        if (word->effect == CONF_NOT_YET && key->effect != CONF_NOT_YET)
            str_append(out, " (no effect yet)");
        separator = ", ";
    }
    str_append_char(out, '.');
}

static void default_sentence(const struct conf_table *table, const struct conf_key *key,
                             struct str *out) {
    cleanup_str struct str value = STR_INIT;
    if (key->type == CONF_SWITCH)
        return;
    conf_value_print(key, table->defaults, &value);
    /* 0 in a row that starts at 1 stands for "follows from others", INFINITE below it for none. */
    bool unset = value.length == 0 || strcmp(value.data, "(null)") == 0;
    uint32_t number = 0;
    if (key->type == CONF_U32)
        memcpy(&number, (const char *) table->defaults + key->offset, sizeof(number));
    if (key->type == CONF_U32 && (number < key->min || number > key->max))
        unset = true;
    if (unset)
        return;
    str_append(out, " Default: ");
    escaped(value.data, out);
    str_append_char(out, '.');
}

static void range_sentence(const struct conf_key *key, struct str *out) {
    if (key->type != CONF_U32 || (key->min == 0 && key->max >= CONF_PORT_MAX))
        return;
    if (key->max >= CONF_U32_MAX)
        str_printf(out, " At least %" PRIu64 ".", key->min);
    else
        str_printf(out, " From %" PRIu64 " to %" PRIu64 ".", key->min, key->max);
}

/* The row's phrase as a sentence. */
static void help_sentence(const char *help, struct str *out) {
    cleanup_free char *text = xstrdup(help);
    if (text[0] >= 'a' && text[0] <= 'z' && strncmp(text, "ports=", 6) != 0)
        text[0] = (char) (text[0] - 32);
    escaped(text, out);
    str_append_char(out, '.');
}

static void value_sentences(const struct conf_table *table, const struct conf_key *key,
                            struct str *out) {
    if (key->help != NULL)
        help_sentence(key->help, out);
    words_sentence(key, out);
    range_sentence(key, out);
    default_sentence(table, key, out);
    if (key->effect == CONF_NOT_YET)
        str_append(out, " *It has no effect yet.*");
    else if (key->effect == CONF_NOT_NEEDED)
        str_append(out, " It is accepted; there is nothing to set.");
}

static void key_paragraph(const struct conf_table *table, const struct conf_key *key,
                          bool is_option, struct str *out) {
    const char *type = type_word(key);
    str_append(out, "\n*");
    escaped(key->name, out);
    str_append_char(out, '*');
    if (type[0] != '\0') {
        str_append(out, "=_");
        escaped(type, out);
        str_append_char(out, '_');
    }
    cleanup_str struct str body = STR_INIT;
    if (is_option && key->effect == CONF_NOT_NEEDED && key->help != NULL) {
        str_append(&body, "Not needed: ");
        escaped(key->help, &body);
        str_append_char(&body, '.');
    } else {
        value_sentences(table, key, &body);
    }
    const char *text = str_cstr(&body);
    if (text[0] != '\0')
        str_printf(out, "\n\t%s", text[0] == ' ' ? text + 1 : text);
    str_append_char(out, '\n');
}

static void table_section(const struct conf_table *table, struct str *out) {
    for (size_t i = 0; i < table->n; i++) {
        const struct conf_key *key = &table->keys[i];
        if (key->derived || key->same_as != NULL || key->effect == CONF_OBSOLETE)
            continue;
        key_paragraph(table, key, false, out);
        if (key->options != NULL) {
            str_append(out, "\n\tIts options:\n");
            for (size_t k = 0; k < key->options->n; k++) {
                cleanup_str struct str option = STR_INIT;
                key_paragraph(key->options, &key->options->keys[k], true, &option);
                /* One line each, indented below the key. */
                str_append(out, k == 0 ? "\n\t- " : "\t- ");
                for (const char *p = str_cstr(&option) + 1; *p != '\0'; p++) {
                    if (*p == '\n' && p[1] == '\t')
                        str_append_char(out, ' ');
                    else if (*p != '\t')
                        str_append_char(out, *p);
                }
            }
        }
    }
}

static void older_section(const struct conf_table *table, struct str *out) {
    for (size_t i = 0; i < table->n; i++) {
        const struct conf_key *key = &table->keys[i];
        if (key->same_as == NULL && (key->derived || key->effect != CONF_OBSOLETE))
            continue;
        str_append(out, "\n*");
        escaped(key->name, out);
        str_append(out, "*\n\t");
        if (key->same_as != NULL) {
            str_append(out, "An older name of *");
            escaped(key->same_as, out);
            str_append(out, "*.\n");
        } else {
            str_append(out, "Has no effect: ");
            escaped(key->help, out);
            str_append(out, ".\n");
        }
    }
}

void conf_manual_print(struct str *out) {
    static const struct {
        const char *title, *text;
        const struct conf_table *table;
    } sections[] = {
        {"KEYS", "These stand anywhere.", &conf_main_table},
        {"NODES",
         "A line that begins with *NodeName* defines nodes; *NodeName=DEFAULT* sets defaults for "
         "the lines below it. *NodeHostname*, *NodeAddr* and *Port* are lists of the same length, "
         "or one for all. What is not said of the topology follows from the rest: CPUs alone are "
         "that many cores of one socket. *slurmd -C* prints the line of a host.",
         &conf_node_table},
        {"NODES THAT ARE DOWN", "A line that begins with *DownNodes*.", &conf_down_table},
        {"SETS OF NODES",
         "A line that begins with *NodeSet* gives a name to nodes, for the *Nodes* of partitions.",
         &conf_node_set_table},
        {"PARTITIONS",
         "A line that begins with *PartitionName* defines a partition; *PartitionName=DEFAULT* "
         "sets defaults for the lines below it. *Nodes* is a host list, *ALL*, names of NodeSets, "
         "or a mix.",
         &conf_partition_table},
        {"GRES.CONF",
         "Each line tells of devices of a node, or of all nodes when it names none. The range of "
         "*File* says how many there are.",
         &conf_gres_table},
        {"TOPOLOGY.CONF",
         "Read with TopologyPlugin=topology/tree: a line for each switch, with the nodes at it or "
         "the switches below it. A job of several nodes goes to the fewest leaf switches that hold "
         "it, among as few to those under the lowest common switch; *--switches* makes it wait for "
         "few, at most as long as SchedulerParameters=max\\_switch\\_wait says. A node at no "
         "switch is far from all others, and so are nodes that no switch connects; jobs may use "
         "them together all the same.",
         &conf_switch_table},
        {"CGROUP.CONF",
         "How jobs are confined. Without this file they are held to their cores, memory (without "
         "swap), devices and a share of the process numbers; Slurm holds them to nothing unless it "
         "is told to. What a node cannot enforce shows in its log and as _Confinement_ in "
         "*scontrol show node*.",
         &conf_cgroup_table},
    };
    str_append(out, opening);
    for (size_t i = 0; i < countof(sections); i++) {
        str_printf(out, "\n# %s\n\n%s\n", sections[i].title, sections[i].text);
        table_section(sections[i].table, out);
    }
    str_append(out,
               "\n# KEYS OF OLDER RELEASES\n\nThey are accepted, so that an old file works.\n");
    for (size_t i = 0; i < countof(sections); i++)
        older_section(sections[i].table, out);
    str_append(out, "\n# SEE ALSO\n\n*slurmctld*(8), *slurmd*(8), *scontrol*(1)\n");
}

void conf_manual_dbd_print(struct str *out) {
    str_append(
        out,
        "slurmdbd.conf(5) \"Sluice\" \"Sluice configuration\"\n"
        "\n"
        "; Made from src/model/conf_keys.h: do not edit, see src/model/conf_manual.c.\n"
        "\n"
        "# NAME\n"
        "\n"
        "slurmdbd.conf - configuration of slurmdbd\n"
        "\n"
        "# DESCRIPTION\n"
        "\n"
        "Read by *slurmdbd*(8) alone. It is the file that its *-f* names, else _slurmdbd.conf_ "
        "beside slurm.conf. It holds a password: it has to belong to SlurmUser or root and to be "
        "closed to others (mode 600), else slurmdbd does not start. The grammar is that of "
        "*slurm.conf*(5).\n"
        "\n"
        "With StorageType=accounting\\_storage/sqlite, which needs no server, *StorageLoc* is the "
        "path of a file; a name alone is a file of that name in _/var/spool/slurmdbd_.\n"
        "\n"
        "# KEYS\n");
    table_section(&conf_dbd_table, out);
    str_append(out,
               "\n# KEYS OF OLDER RELEASES\n\nThey are accepted, so that an old file works.\n");
    older_section(&conf_dbd_table, out);
    str_append(out, "\n# SEE ALSO\n\n*slurmdbd*(8), *slurm.conf*(5), *sacctmgr*(1)\n");
}
