#include "agent/estimate.h"

enum { BYTES_PER_TOKEN = 3, LEARN_FROM = 2000 };
static const double ratio_min = 0.6, ratio_max = 3.0;

static size_t bytes(const struct json *j, const char *key)
{
	size_t n = 0;

	json_raw(j, json_get(j, 0, key), &n);
	return n;
}

uint64_t estimate_line(const struct json *j)
{
	size_t n = bytes(j, "content") + bytes(j, "tool_calls") + bytes(j, "tools");
	int images = json_get(j, 0, "images");
	uint64_t t = ESTIMATE_MESSAGE + n / BYTES_PER_TOKEN;

	if (json_type(j, images) == JSON_ARRAY)
		t += (uint64_t)json_count(j, images) * ESTIMATE_IMAGE;
	return t;
}

void estimate_learn(struct estimate *e, const struct json *j, uint64_t ours)
{
	static const char *const parts[] = {"input", "cache_read", "cache_write"};
	int usage = json_get(j, 0, "usage");
	int64_t sum = 0, n;

	for (int i = 0; i < 3; i++)
		if (!json_i64(j, json_get(j, usage, parts[i]), &n) && n > 0 && n < INT64_C(1) << 40)
			sum += n;
	if (sum < LEARN_FROM || ours < LEARN_FROM)
		return;
	double r = (double)sum / (double)ours;
	e->ratio = r < ratio_min ? ratio_min : r > ratio_max ? ratio_max : r;
}

uint64_t estimate_real(const struct estimate *e, uint64_t ours)
{
	return (uint64_t)((double)ours * e->ratio);
}

uint64_t estimate_ours(const struct estimate *e, uint64_t real)
{
	return (uint64_t)((double)real / e->ratio);
}
