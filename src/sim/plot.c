/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two panels above each other with one time axis. Each column of the picture is a stretch of time:
 * the mean of what happened in it is an area, the most jobs that waited in it a line, so that a
 * year and an hour look equally true.
 */
#include "sim/plot.h"

#include <stdio.h>

#include "base/alloc.h"

/* ---- layout, in the picture's units ---- */
#define WIDTH 960
#define HEIGHT 470
#define LEFT 64
#define COLUMNS 872 /* one unit each */
#define RIGHT (LEFT + COLUMNS)
#define PANEL_HEIGHT 165
#define BUSY_TOP 56
#define QUEUE_TOP 256
#define AXIS_Y (QUEUE_TOP + PANEL_HEIGHT)
#define TICKS_MAX 12
#define TREND_COLUMNS 18 /* to each side */

struct change {
    int64_t when;
    int64_t by;
};
/* What a column holds of one quantity. */
struct column {
    double mean;
    int64_t most;
};
struct plot {
    int64_t from, until; /* seconds */
    struct column busy[COLUMNS], waiting[COLUMNS];
    struct str *out;
};

/* ---- from changes to columns ---- */

static int by_time(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return x->by < y->by ? -1 : x->by > y->by; /* what goes makes room for what comes */
}

static double column_start(const struct plot *plot, size_t column) {
    return (double) (plot->until - plot->from) * (double) column / COLUMNS;
}

/* Spreads a level that holds on [from, until) over the columns, times counted from the start. */
static void add_level(const struct plot *plot, struct column *columns, int64_t from, int64_t until,
                      int64_t level) {
    double width = column_start(plot, 1);
    size_t first = (size_t) ((double) from / width);
    if (level == 0)
        return;
    for (size_t i = min_of(first, (size_t) COLUMNS - 1);
         i < COLUMNS && column_start(plot, i) < (double) until; i++) {
        double begin = max_of(column_start(plot, i), (double) from);
        double end = min_of(column_start(plot, i + 1), (double) until);
        columns[i].mean += max_of(end - begin, 0.0) / width * (double) level;
        columns[i].most = max_of(columns[i].most, level);
    }
}

static void fill_columns(const struct plot *plot, struct change *changes, size_t n,
                         struct column *columns) {
    int64_t level = 0, since = plot->from;
    qsort(changes, n, sizeof(*changes), by_time);
    for (size_t i = 0; i < n; i++) {
        if (changes[i].when > since) {
            add_level(plot, columns, since - plot->from, changes[i].when - plot->from, level);
            since = changes[i].when;
        }
        level += changes[i].by;
    }
}

static void gather(struct plot *plot, const struct trace *trace, const struct sim_result *result) {
    size_t n = trace->jobs.n, n_busy = 0;
    struct change *busy = xcalloc(2 * n + 1, sizeof(*busy));
    struct change *waiting = xcalloc(2 * n + 1, sizeof(*waiting));
    plot->from = n ? trace->jobs.items[0].submit : 0;
    plot->until = plot->from + 1;
    for (size_t i = 0; i < n; i++)
        plot->until = max_of(plot->until, max_of(trace->jobs.items[i].submit, result->ends[i]));
    for (size_t i = 0; i < n; i++) {
        const struct trace_job *job = &trace->jobs.items[i];
        int64_t start = result->starts[i];
        waiting[2 * i] = (struct change) {job->submit, 1};
        waiting[2 * i + 1] = (struct change) {start == SIM_NEVER ? plot->until : start, -1};
        if (start == SIM_NEVER)
            continue;
        busy[n_busy++] = (struct change) {start, job->procs};
        busy[n_busy++] = (struct change) {result->ends[i], -(int64_t) job->procs};
    }
    fill_columns(plot, busy, n_busy, plot->busy);
    fill_columns(plot, waiting, 2 * n, plot->waiting);
    free(busy);
    free(waiting);
}

/* ---- drawing ---- */

static void append_escaped(struct str *out, const char *text) {
    for (; *text; text++) {
        if (*text == '<')
            str_append(out, "&lt;");
        else if (*text == '&')
            str_append(out, "&amp;");
        else if ((unsigned char) *text >= ' ')
            str_append_char(out, *text);
    }
}

/* A label and a line across the panel at a height. */
static void draw_level(struct plot *plot, double y, const char *label) {
    str_printf(plot->out,
               "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
               "<text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n",
               LEFT, y, RIGHT, y, LEFT - 8, y + 4, label);
}

/* The area of the means. `full` is the panel's top. */
static void draw_area(struct plot *plot, const struct column *columns, double full, int top,
                      const char *class) {
    double bottom = top + PANEL_HEIGHT;
    str_printf(plot->out, "<path class=\"%s\" d=\"M%d %.1f", class, LEFT, bottom);
    for (size_t i = 0; i < COLUMNS; i++)
        str_printf(plot->out, "V%.1fh1", bottom - columns[i].mean / full * PANEL_HEIGHT);
    str_printf(plot->out, "V%.1fZ\"/>\n", bottom);
}

/* What a column's neighbours and itself have on the mean: the trend behind day and night. */
static void draw_trend(struct plot *plot, const struct column *columns, double full, int top,
                       const char *class) {
    str_printf(plot->out, "<polyline class=\"%s\" points=\"", class);
    for (size_t i = 0; i < COLUMNS; i += 4) {
        size_t first = i > TREND_COLUMNS ? i - TREND_COLUMNS : 0;
        size_t end = min_of(i + TREND_COLUMNS + 1, (size_t) COLUMNS);
        double sum = 0;
        for (size_t k = first; k < end; k++)
            sum += columns[k].mean;
        str_printf(plot->out, "%s%zu,%.1f", i ? " " : "", LEFT + i,
                   top + PANEL_HEIGHT - sum / (double) (end - first) / full * PANEL_HEIGHT);
    }
    str_append(plot->out, "\"/>\n");
}

static void draw_most(struct plot *plot, const struct column *columns, double full, int top,
                      const char *class) {
    double bottom = top + PANEL_HEIGHT;
    str_printf(plot->out, "<path class=\"%s\" d=\"M%d %.1f", class, LEFT, bottom);
    for (size_t i = 0; i < COLUMNS; i++)
        str_printf(plot->out, "V%.1fh1", bottom - (double) columns[i].most / full * PANEL_HEIGHT);
    str_append(plot->out, "\"/>\n");
}

static void draw_busy(struct plot *plot, uint32_t procs) {
    str_printf(plot->out,
               "<text class=\"name\" x=\"%d\" y=\"%d\">processors in use (area: mean, line: "
               "trend)</text>\n",
               LEFT, BUSY_TOP - 10);
    for (unsigned percent = 0; percent <= 100; percent += 25) {
        char label[16];
        snprintf(label, sizeof(label), "%u %%", percent);
        draw_level(plot, BUSY_TOP + PANEL_HEIGHT * (100 - percent) / 100.0, label);
    }
    draw_area(plot, plot->busy, max_of(procs, 1u), BUSY_TOP, "busy");
    draw_trend(plot, plot->busy, max_of(procs, 1u), BUSY_TOP, "busy-trend");
}

/* The least of 1, 2, 5, 10, … with at most `ticks` of them up to `most`. */
static int64_t round_step(int64_t most, int64_t ticks) {
    static const int64_t factors[] = {1, 2, 5};
    for (int64_t power = 1;; power *= 10)
        for (size_t i = 0; i < countof(factors); i++)
            if (most <= power * factors[i] * ticks)
                return power * factors[i];
}

static void draw_queue(struct plot *plot) {
    int64_t most = 1;
    for (size_t i = 0; i < COLUMNS; i++)
        most = max_of(most, plot->waiting[i].most);
    int64_t step = round_step(most, 5), full = (most + step - 1) / step * step;
    str_printf(plot->out,
               "<text class=\"name\" x=\"%d\" y=\"%d\">jobs waiting (area: mean, line: most)"
               "</text>\n",
               LEFT, QUEUE_TOP - 10);
    for (int64_t level = 0; level <= full; level += step) {
        char label[24];
        snprintf(label, sizeof(label), "%lld", (long long) level);
        draw_level(plot, AXIS_Y - (double) level / (double) full * PANEL_HEIGHT, label);
    }
    draw_area(plot, plot->waiting, (double) full, QUEUE_TOP, "queue");
    draw_most(plot, plot->waiting, (double) full, QUEUE_TOP, "queue-most");
}

static void draw_times(struct plot *plot) {
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{1, "seconds"}, {60, "minutes"}, {3600, "hours"}, {86400, "days"}};
    int64_t span = plot->until - plot->from;
    size_t unit = 0;
    while (unit + 1 < countof(units) && span >= 3 * units[unit + 1].seconds)
        unit++;
    int64_t seconds = units[unit].seconds;
    int64_t step = round_step(span / seconds + 1, TICKS_MAX);
    for (int64_t at = 0; at * seconds <= span; at += step) {
        double x = LEFT + (double) (at * seconds) / (double) span * COLUMNS;
        str_printf(plot->out,
                   "<line class=\"axis\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
                   "<text class=\"middle\" x=\"%.1f\" y=\"%d\">%lld</text>\n",
                   x, AXIS_Y, x, AXIS_Y + 5, x, AXIS_Y + 19, (long long) at);
    }
    str_printf(plot->out,
               "<text class=\"middle\" x=\"%d\" y=\"%d\">%s since the first submission</text>\n",
               LEFT + COLUMNS / 2, AXIS_Y + 38, units[unit].name);
}

void sim_plot(const struct trace *trace, const struct sim_result *result, const char *title,
              struct str *out) {
    struct plot *plot = zalloc(struct plot);
    plot->out = out;
    gather(plot, trace, result);
    str_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
               "height=\"%d\">\n"
               "<style>text{font:12px sans-serif;fill:#444}.title{font-size:15px;fill:#111}"
               ".name{fill:#111}.end{text-anchor:end}.middle{text-anchor:middle}"
               ".grid{stroke:#ddd}.axis{stroke:#666}.busy{fill:#a9c8e6}.busy-trend{fill:none;"
               "stroke:#1f4e85;stroke-width:1.5}.queue{fill:#e3a857}"
               ".queue-most{fill:none;stroke:#a8641c;stroke-width:.8}</style>\n"
               "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n"
               "<text class=\"title\" x=\"%d\" y=\"24\">",
               WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    append_escaped(out, title);
    str_append(out, "</text>\n");
    draw_busy(plot, result->procs);
    draw_queue(plot);
    draw_times(plot);
    str_append(out, "</svg>\n");
    free(plot);
}
