#include "base/termsafe.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/utf8.h"

/* Can a joiner or a variation selector belong to this character? Emoji and symbols, digits, # and * (keycaps), and
 * the scripts whose spelling uses joiners (Unicode chapter 23.2): Arabic, Syriac, Mongolian, the Indic ones, Khmer. */
static bool joins(uint32_t c, bool selector)
{
	if ((c >= 0x2190 && c <= 0x2BFF) || (c >= 0x1F000 && c <= 0x1FAFF) || c == 0x3030 || c == 0x303D ||
		c == 0x3297 || c == 0x3299 || c == 0xA9 || c == 0xAE || c == 0x203C || c == 0x2049)
		return true;
	if (selector)
		return (c >= '0' && c <= '9') || c == '#' || c == '*' || (c >= 0x3400 && c <= 0x9FFF) || c == 0x2122 ||
			c == 0x2139;
	return (c >= 0x0600 && c <= 0x07BF && c != 0x061C) || (c >= 0x0900 && c <= 0x0DFF) ||
		(c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x18AF) || c == 0xFE0F;
}

/* Characters that are shown as nothing, reorder their neighbours, or break the line elsewhere than a newline does: the
 * default-ignorables and format controls of Unicode 15, noncharacters, and the private planes. */
static bool hides(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x80, 0x9F}, {0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5},
		{0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
		{0x3164, 0x3164}, {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
		{0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return (c & 0xFFFE) == 0xFFFE;
}

static bool passes(uint32_t c, uint32_t before)
{
	if (c == 0x200C || c == 0x200D)
		return joins(before, false);
	if (c == 0xFE0E || c == 0xFE0F)
		return joins(before, true);
	return !hides(c);
}

static void add_ascii(struct buf *out, const char *s, size_t left, int flags)
{
	unsigned char c = (unsigned char)*s;

	if (c >= 0x20 && c != 0x7F)
		buf_addc(out, *s);
	else if (flags & TERM_ONE_LINE && (c == '\n' || c == '\t' || c == '\r'))
		buf_adds(out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
	else if (c == '\n' || c == '\t')
		buf_addc(out, *s);
	else if (c != '\r' || left < 2 || s[1] != '\n')
		buf_addf(out, "\\x%02X", c);
}

void term_safe(struct buf *out, const char *s, size_t n, int flags)
{
	uint32_t before = 0, cp;

	while (n) {
		/* The run of plain ASCII, which is nearly all text, in one piece. */
		size_t run = 0;
		while (run < n && s[run] >= 0x20 && s[run] < 0x7F)
			run++;
		if (run) {
			buf_add(out, s, run);
			before = (unsigned char)s[run - 1];
			s += run, n -= run;
			continue;
		}
		int len = utf8_decode(s, n, &cp);
		if (len == 1) {
			add_ascii(out, s, n, flags);
		} else if (!len) {
			buf_addf(out, "\\x%02X", (unsigned char)*s);
			cp = 0;
			len = 1;
		} else if (passes(cp, before)) {
			buf_add(out, s, (size_t)len);
		} else {
			buf_addf(out, "<U+%04X>", (unsigned)cp);
			cp = 0;
		}
		before = cp;
		s += len, n -= (size_t)len;
	}
}
