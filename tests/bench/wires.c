/* wires.c - what it costs to read an answer of each wire: a stream made here, with 20,000 pieces of 52 bytes of text, and one
 * with 20,000 pieces of the arguments of a call, fed in reads of 16 kB. CPU milliseconds for a megabyte of the stream, the best of
 * five; and for four times as many pieces, so that what grows faster than the stream is seen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/base64.h"
#include "llm/answer.h"

struct shape {
	const char *wire, *begin, *text, *call, *args, *end;   /* %s: the piece */
};

#define PIECE "0123456789 abcdefghijklmnopqrstuvwxyz, the quick fox"
#define SSE(x) "data: " x "\n\n"

static const struct shape shapes[] = {
	{"anthropic", SSE("{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"usage\":{\"input_tokens\":1}}}")
	 SSE("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}"),
	 "event: content_block_delta\n" SSE("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}"),
	 SSE("{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}"),
	 SSE("{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}"),
	 SSE("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}") SSE("{\"type\":\"message_stop\"}")},
	{"openai-chat", "", SSE("{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":null}]}"),
	 SSE("{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}"),
	 SSE("{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"%s\"}}]},\"finish_reason\":null}]}"),
	 SSE("{\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}") SSE("[DONE]")},
	{"openai-responses", SSE("{\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}"),
	 SSE("{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"%s\",\"sequence_number\":9}"),
	 SSE("{\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"type\":\"function_call\",\"id\":\"f1\",\"call_id\":\"t\",\"name\":\"f\",\"arguments\":\"\"}}"),
	 SSE("{\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"f1\",\"output_index\":1,\"delta\":\"%s\",\"sequence_number\":9}"),
	 SSE("{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}")},
	{"gemini", "", SSE("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"%s\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":1},\"modelVersion\":\"x\"}"),
	 NULL, NULL, SSE("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}]}")},
	{"ollama-chat", "", "{\"model\":\"x\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"%s\"},\"done\":false}\n",
	 NULL, NULL, "{\"model\":\"x\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n"},
	{"cohere", SSE("{\"type\":\"message-start\",\"id\":\"m\",\"delta\":{\"message\":{\"role\":\"assistant\"}}}")
	 SSE("{\"type\":\"content-start\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"type\":\"text\",\"text\":\"\"}}}}"),
	 SSE("{\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"%s\"}}}}"),
	 SSE("{\"type\":\"tool-call-start\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"id\":\"t\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}}}}"),
	 SSE("{\"type\":\"tool-call-delta\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"function\":{\"arguments\":\"%s\"}}}}}"),
	 SSE("{\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"COMPLETE\"}}")},
	{"bedrock-converse", "messageStart {\"role\":\"assistant\"}", "contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"%s\"},\"p\":\"abcdef\"}",
	 "contentBlockStart {\"contentBlockIndex\":1,\"start\":{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"f\"}}}",
	 "contentBlockDelta {\"contentBlockIndex\":1,\"delta\":{\"toolUse\":{\"input\":\"%s\"}}}", "messageStop {\"stopReason\":\"end_turn\"}"},
	{"bedrock-invoke", "chunk {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":1}}}",
	 "chunk {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}",
	 "chunk {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}",
	 "chunk {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}",
	 "chunk {\"type\":\"message_stop\"}"},
};

static uint32_t crc32_of(const unsigned char *p, size_t n)
{
	uint32_t c = ~0u;

	while (n--) {
		c ^= *p++;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
	}
	return ~c;
}

static void big_endian(struct buf *b, uint32_t v)
{
	const char bytes[4] = {(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v};

	buf_add(b, bytes, 4);
}

static void header(struct buf *b, const char *name, const char *value)
{
	buf_addc(b, (int)strlen(name));
	buf_adds(b, name);
	buf_addc(b, 7);
	buf_addc(b, 0);
	buf_addc(b, (int)strlen(value));
	buf_adds(b, value);
}

/* "EVENT PAYLOAD" as a message of an AWS event stream; of the event chunk the payload is in base64. */
static void aws(struct buf *out, const char *line)
{
	const char *payload = strchr(line, ' ') + 1;
	struct buf head, body;
	size_t at = out->len;
	char event[64];

	snprintf(event, sizeof event, "%.*s", (int)(payload - line - 1), line);
	buf_init(&head, BUF_NOLIMIT);
	buf_init(&body, BUF_NOLIMIT);
	header(&head, ":message-type", "event");
	header(&head, ":event-type", event);
	if (!strcmp(event, "chunk")) {
		buf_adds(&body, "{\"bytes\":\"");
		base64_encode(&body, payload, strlen(payload));
		buf_adds(&body, "\"}");
	} else {
		buf_adds(&body, payload);
	}
	big_endian(out, (uint32_t)(16 + head.len + body.len));
	big_endian(out, (uint32_t)head.len);
	big_endian(out, crc32_of((unsigned char *)out->p + at, 8));
	buf_add(out, head.p, head.len);
	buf_add(out, body.p, body.len);
	big_endian(out, crc32_of((unsigned char *)out->p + at, out->len - at));
	buf_free(&head);
	buf_free(&body);
}

static void piece(struct buf *out, const struct shape *s, const char *format, const char *text)
{
	struct buf line;
	const char *at = strstr(format, "%s");

	if (!*format)
		return;
	buf_init(&line, BUF_NOLIMIT);
	buf_add(&line, format, at ? (size_t)(at - format) : strlen(format));
	if (at) {
		buf_adds(&line, text);
		buf_adds(&line, at + 2);
	}
	if (!strncmp(s->wire, "bedrock-", 8))
		aws(out, line.p);
	else
		buf_add(out, line.p, line.len);
	buf_free(&line);
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static double read_once(const struct wire *wire, const struct buf *body, size_t want, bool calls)
{
	double before = cpu_ms();
	struct answer a;

	answer_init(&a, wire, NULL, NULL);
	answer_head(&a, 200);
	for (size_t at = 0; at < body->len; at += 16384)
		answer_feed(&a, body->p + at, body->len - at < 16384 ? body->len - at : 16384);
	answer_end(&a);
	if (a.error.set || (calls ? a.ncalls != 1 || a.calls[0].args.len != want : a.content.len != want)) {
		fprintf(stderr, "wires: %s: the answer is not whole: %s\n", wire->name, a.error.message.p);
		exit(1);
	}
	before = cpu_ms() - before;
	answer_free(&a);
	return before;
}

/* Milliseconds for a megabyte. */
static double cost(const struct shape *s, bool calls, int pieces)
{
	const struct wire *wire = wire_find(s->wire);
	struct buf body;
	double best = -1;
	size_t n = 0;

	buf_init(&body, BUF_NOLIMIT);
	piece(&body, s, s->begin, "");
	if (calls) {
		piece(&body, s, s->call, "");
		piece(&body, s, s->args, "{\\\"x\\\":\\\"");
		n = 6;
	}
	for (int i = 0; i < pieces; i++, n += strlen(PIECE))
		piece(&body, s, calls ? s->args : s->text, PIECE);
	if (calls) {
		piece(&body, s, s->args, "\\\"}");
		n += 2;
	}
	piece(&body, s, s->end, "");
	for (int i = 0; i < 5; i++) {
		double ms = read_once(wire, &body, n, calls);

		best = best < 0 || ms < best ? ms : best;
	}
	best /= (double)body.len / 1e6;
	buf_free(&body);
	return best;
}

int main(void)
{
	printf("%-18s %10s %10s   with four times as many\n", "", "text", "arguments");
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const struct shape *s = &shapes[i];

		printf("%-18s %7.2f ms", s->wire, cost(s, false, 20000));
		if (s->args)
			printf(" %7.2f ms", cost(s, true, 20000));
		else
			printf(" %10s", "-");
		printf("   %7.2f ms", cost(s, false, 80000));
		if (s->args)
			printf(" %7.2f ms", cost(s, true, 80000));
		printf("\n");
	}
	return 0;
}
