/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "telemetry_reply.h"

/* rte_telemetry drops, without a word, what does not fit into 16 KiB: count along, with room for
 * the braces and the command's name. */
#define REPLY_TEXT_MAX (15 * 1024)
#define U64_TEXT_MAX 20
#define MEMBER_OVERHEAD 6 /* "": "", */

static bool
account(struct telemetry_out *out, const char *key, size_t value_length, int added)
{
	out->reply->text_length += strlen(key) + value_length + MEMBER_OVERHEAD;
	if (added != 0 || out->reply->text_length > REPLY_TEXT_MAX)
		out->reply->overflow = true;
	return !out->reply->overflow;
}

void
telemetry_u64(struct telemetry_out *out, const char *key, uint64_t value)
{
	char text[U64_TEXT_MAX + 1];

	account(out, key, snprintf(text, sizeof(text), "%" PRIu64, value),
		TELEMETRY_ADD_UINT(out->data, key, value));
}

void
telemetry_string(struct telemetry_out *out, const char *key, const char *value)
{
	char cut[RTE_TEL_MAX_STRING_LEN];

	snprintf(cut, sizeof(cut), "%s", value);
	account(out, key, strlen(cut), rte_tel_data_add_dict_string(out->data, key, cut));
}

bool
telemetry_open(struct telemetry_out *parent, struct telemetry_out *child)
{
	struct telemetry_reply *reply = parent->reply;

	if (reply->overflow || reply->nb_nested == TELEMETRY_MAX_NESTED)
		goto overflow;
	child->reply = reply;
	child->data = rte_tel_data_alloc();
	if (child->data == NULL)
		goto overflow;
	reply->nested[reply->nb_nested++] = child->data;
	rte_tel_data_start_dict(child->data);
	return true;
overflow:
	reply->overflow = true;
	return false;
}

void
telemetry_close(struct telemetry_out *parent, const char *key, struct telemetry_out *child)
{
	account(parent, key, 0, rte_tel_data_add_dict_container(parent->data, key, child->data, 0));
}

int
telemetry_error(struct telemetry_out *out, const char *format, ...)
{
	char text[RTE_TEL_MAX_STRING_LEN];
	va_list args;

	if (out == NULL)
		return 0;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	telemetry_restart(out);
	telemetry_string(out, "error", text);
	return 0;
}

void
telemetry_restart(struct telemetry_out *out)
{
	struct telemetry_reply *reply = out->reply;

	for (unsigned int i = 0; i < reply->nb_nested; i++)
		rte_tel_data_free(reply->nested[i]);
	memset(reply, 0, sizeof(*reply));
	rte_tel_data_start_dict(out->data);
}
