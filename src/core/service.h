/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that go out of service and come back: what they find wrong with themselves (health.c),
 * reboots (reboot.c), and what it costs (outage.c); private to src/core.
 */
#ifndef SLUICE_CORE_SERVICE_H
#define SLUICE_CORE_SERVICE_H

#include "model/messages.h"

struct core;
struct core_node;

/* ---- what nodes find wrong with themselves (health.c) ---- */
/* Parts joined by "; ", NULL = nothing is wrong. Drains. */
void node_problem(struct core *core, uint32_t node, const char *problem);
/* The answer to a request that resumes nodes, which comes when all of them have looked. */
struct resume;
struct resume *resume_new(uint64_t client, uint32_t seq);
void resume_end(struct core *core, struct resume *resume, bool failed); /* all have been told */
void resume_node(struct core *core, uint32_t node, struct resume *resume);
void resume_checked(struct core *core, uint32_t node);  /* the node has looked */
void resume_given_up(struct core *core, uint32_t node); /* its time is up */
void resume_node_done(struct core *core, uint32_t node, const char *info);
void resume_leave(struct core *core, struct core_node *node); /* it is no node any more */
void resume_forget(struct core_node *node);
void health_settings(struct core *core);
void health_tick(struct core *core);
/* ---- scontrol reboot (reboot.c) ---- */
int reboot_cancel(struct core *core, uint32_t node); /* 0 or -ERR_NODE_STATE */
void reboots_run(struct core *core);                 /* on which nothing runs any more */
/* Before the record takes over what is reported. */
void reboot_registered(struct core *core, uint32_t node, const struct node *reported);
bool node_has_rebooted(const struct node *before, const struct node *now);
int64_t reboot_deadline(const struct core *core, const struct core_node *node);
void reboot_timed_out(struct core *core, uint32_t node);
/* ---- what nodes out of service cost (outage.c) ---- */
/* Before what is allocated there changes. */
void outage_count(struct core *core, uint32_t node);
void outage_update(struct core *core, uint32_t node); /* its state may be another */
/* To history: what changed of a node's outage, and of what the cluster has. */
void outage_tell(struct core *core, struct core_node *node);
void capacity_tell(struct core *core);
/* What was told before this controller started. */
void outages_restored(struct core *core);
void outages_remind(struct core *core);

#endif
