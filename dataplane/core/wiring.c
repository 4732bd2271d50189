/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "config.h"
#include "number.h"
#include "wiring.h"

#define ENDPOINT_LEN 64

static struct port *
find_port(struct app *app, const char *name)
{
	for (unsigned int i = 0; i < app->nb_ports; i++)
		if (strcmp(app->ports[i].name, name) == 0)
			return &app->ports[i];
	return NULL;
}

static struct ring *
find_ring(struct app *app, const char *name)
{
	for (unsigned int i = 0; i < app->nb_rings; i++)
		if (strcmp(app->rings[i].name, name) == 0)
			return &app->rings[i];
	return NULL;
}

/* A queue belongs to one lcore; what arrives on it, to one task. */
static bool
claim_queue(const struct config_section *section, const char *key, struct port *port,
	    uint16_t queue, uint32_t lcore_id)
{
	bool receive = strcmp(key, "rx") == 0;
	uint16_t queues = receive ? port->rx_queues : port->tx_queues;
	uint32_t *owner = receive ? &port->rx_lcore[queue] : &port->tx_lcore[queue];

	if (queue >= queues) {
		config_fault(section, key, "port %s has %s queues 0 to %u (%s_queues = %u)",
			     port->name, key, queues - 1, key, queues);
		return false;
	}
	if (receive && *owner != PORT_NO_LCORE) {
		config_fault(section, key, "rx queue %u of port %s is already read by a task",
			     queue, port->name);
		return false;
	}
	if (*owner != PORT_NO_LCORE && *owner != lcore_id) {
		config_fault(section, key,
			     "tx queue %u of port %s is already written from lcore "
			     "%u; give each lcore its own queue",
			     queue, port->name, *owner);
		return false;
	}
	*owner = lcore_id;
	return true;
}

/* "east:0" or "ring:a", without blanks. */
static bool
parse_endpoint(struct app *app, const struct app_task *slot, const char *key, char *text,
	       struct endpoint *end)
{
	const struct config_section *section = slot->section;
	char *colon = strchr(text, ':');
	uint64_t queue;

	if (colon == NULL || colon == text || colon[1] == '\0') {
		config_fault(section, key,
			     "must be PORT:QUEUE or ring:NAME, several separated by commas");
		return false;
	}
	*colon++ = '\0';
	if (strcmp(text, "ring") == 0) {
		end->ring = find_ring(app, colon);
		if (end->ring == NULL)
			config_fault(section, key, "there is no section [ring.%s]", colon);
		else
			ring_end_add(strcmp(key, "rx") == 0 ? &end->ring->readers
							    : &end->ring->writers,
				     slot->task.lcore_id);
		return end->ring != NULL;
	}
	end->port = find_port(app, text);
	if (end->port == NULL) {
		config_fault(section, key, "there is no section [port.%s]", text);
		return false;
	}
	if (number_u64(colon, &queue, 0, PORT_MAX_QUEUES - 1) != 0) {
		config_fault(section, key, "\"%s\" is no queue number of port %s", colon, text);
		return false;
	}
	end->queue = (uint16_t)queue;
	return claim_queue(section, key, end->port, end->queue, slot->task.lcore_id);
}

/* A comma-separated list of endpoints. Returns how many were good. */
static unsigned int
parse_list(struct app *app, const struct app_task *slot, const char *key, struct endpoint *ends,
	   unsigned int max)
{
	const char *text = config_string(slot->section, key);
	unsigned int count = 0;

	while (text != NULL && *text != '\0') {
		size_t length = strcspn(text, ",");
		char item[ENDPOINT_LEN];

		while (length > 0 && isspace((unsigned char)*text))
			text++, length--;
		snprintf(item, sizeof(item), "%.*s", (int)length, text);
		item[strcspn(item, " \t")] = '\0';
		if (count == max) {
			config_fault(slot->section, key, "at most %u for this type of task", max);
			break;
		}
		if (parse_endpoint(app, slot, key, item, &ends[count]))
			count++;
		text += length;
		if (*text == ',')
			text++;
	}
	return count;
}

void
wiring_parse(struct app *app, struct app_task *slot)
{
	const struct task_ops *ops = slot->task.ops;
	const struct config_section *section = slot->section;

	if (ops->takes_input && config_require(section, "rx"))
		slot->task.nb_in = parse_list(app, slot, "rx", slot->in, TASK_MAX_IN);
	else if (config_has(section, "rx") && !ops->takes_input)
		config_fault(section, "rx", "a task of type %s receives nothing", ops->name);
	if (ops->max_out > 0 && config_require(section, "tx"))
		slot->task.nb_out = parse_list(app, slot, "tx", slot->out, ops->max_out);
	else if (config_has(section, "tx") && ops->max_out == 0)
		config_fault(section, "tx", "a task of type %s sends nothing", ops->name);
}

void
wiring_connect(struct app_task *slot)
{
	for (unsigned int i = 0; i < slot->task.nb_in; i++) {
		const struct endpoint *end = &slot->in[i];

		if (end->port != NULL)
			port_reader(end->port, end->queue, &slot->task.in[i]);
		else
			ring_reader(end->ring, &slot->task.in[i]);
	}
	for (unsigned int i = 0; i < slot->task.nb_out; i++) {
		const struct endpoint *end = &slot->out[i];

		if (end->port != NULL)
			port_writer(end->port, end->queue, &slot->task.out[i]);
		else
			ring_writer(end->ring, &slot->task.out[i]);
	}
}
