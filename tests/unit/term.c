/* What reaches a terminal. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "sys/term.h"
#include "tap.h"

static const struct {
	const char *in, *out, *line;   /* line: under TERM_ONE_LINE; NULL: the same */
} cases[] = {
	{"plain text", "plain text", NULL},
	{"", "", NULL},
	{"a\nb\tc", "a\nb\tc", "a\\nb\\tc"},
	{"a\r\nb", "a\nb", "a\\r\\nb"},
	{"good\rbad", "good\\x0Dbad", "good\\rbad"},
	{"end\r", "end\\x0D", "end\\r"},
	{"\033[31mred\033[0m", "\\x1B[31mred\\x1B[0m", NULL},
	{"\033]8;;http://x\007t\033]8;;\007", "\\x1B]8;;http://x\\x07t\\x1B]8;;\\x07", NULL},
	{"\a\b\v\f\177", "\\x07\\x08\\x0B\\x0C\\x7F", NULL},
	{"\xc2\x9b" "31m", "<U+009B>31m", NULL},               /* C1 CSI, as UTF-8 */
	{"\x9b" "31m", "\\x9B31m", NULL},                      /* and as a byte */
	{"\xc2\x85x", "<U+0085>x", NULL},
	{"a\xe2\x80\xae" "b", "a<U+202E>b", NULL},             /* right-to-left override */
	{"\xe2\x81\xa6x\xe2\x81\xa9", "<U+2066>x<U+2069>", NULL},
	{"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "<U+200E><U+200F><U+061C>", NULL},
	{"a\xe2\x80\x8b" "b", "a<U+200B>b", NULL},             /* zero width space */
	{"\xef\xbb\xbfx", "<U+FEFF>x", NULL},
	{"a\xc2\xad" "b", "a<U+00AD>b", NULL},                 /* soft hyphen */
	{"\xe2\x80\xa8\xe2\x80\xa9", "<U+2028><U+2029>", NULL},
	{"\xf3\xa0\x81\x81\xf3\xa0\x81\xbf", "<U+E0041><U+E007F>", NULL}, /* tags */
	{"a\xf3\xa0\x84\x80", "a<U+E0100>", NULL},             /* variation selectors supplement */
	{"\xe3\x85\xa4\xef\xbe\xa0", "<U+3164><U+FFA0>", NULL}, /* Hangul fillers */
	{"\xef\xbf\xbe\xf4\x8f\xbf\xbd", "<U+FFFE><U+10FFFD>", NULL},
	{"a\xe2\x80\x8d" "b", "a<U+200D>b", NULL},             /* a joiner that joins nothing */
	{"a\xef\xb8\x8f", "a<U+FE0F>", NULL},
	{"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", NULL},
	{"\xe2\x9d\xa4\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f", NULL},   /* heart, emoji style */
	{"\xe2\x9d\xa4\xef\xb8\x8f\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f<U+FE0F>", NULL}, /* twice */
	{"\xd9\x85\xe2\x80\x8c\xd9\x87", "\xd9\x85\xe2\x80\x8c\xd9\x87", NULL}, /* Persian ZWNJ */
	{"a\xcc\x81", "a\xcc\x81", NULL},                      /* combining acute */
	{"\xe6\xbc\xa2\xe5\xad\x97 \xc3\xa4\xc3\xb6", "\xe6\xbc\xa2\xe5\xad\x97 \xc3\xa4\xc3\xb6", NULL},
	{"\xff\xfe", "\\xFF\\xFE", NULL},
	{"\xe2\x82", "\\xE2\\x82", NULL},
	{"\xed\xa0\x80", "\\xED\\xA0\\x80", NULL},             /* a surrogate */
	{"\xc0\xaf", "\\xC0\\xAF", NULL},
};

static void safe(void)
{
	struct buf b;

	buf_init(&b, 1000);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		buf_clear(&b);
		term_safe(&b, cases[i].in, strlen(cases[i].in), 0);
		IS(b.p, cases[i].out, "case %zu: %s", i, cases[i].out);
		buf_clear(&b);
		term_safe(&b, cases[i].in, strlen(cases[i].in), TERM_ONE_LINE);
		IS(b.p, cases[i].line ? cases[i].line : cases[i].out, "in one line");
	}
	buf_clear(&b);
	term_safe(&b, "a\0b", 3, 0);
	IS(b.p, "a\\x00b", "NUL");
	buf_free(&b);

	/* Whatever comes in: what goes out is valid, without controls, and safe again. */
	int bad = 0;
	srand(3);
	for (int round = 0; round < 20000; round++) {
		char in[64];
		struct buf one, two;
		size_t n = (size_t)rand() % sizeof in;
		for (size_t i = 0; i < n; i++)
			in[i] = (char)(rand() % 4 ? rand() : "\xe2\x80\xf3\xa0\x1b\xc2\xef\xbb"[rand() % 8]);
		buf_init(&one, 10000);
		buf_init(&two, 10000);
		term_safe(&one, in, n, TERM_ONE_LINE);
		term_safe(&two, one.p, one.len, TERM_ONE_LINE);
		bad += strcmp(one.p, two.p) != 0 || utf8_valid_prefix(one.p, one.len) != one.len;
		for (size_t i = 0; i < one.len; i++)
			bad += (unsigned char)one.p[i] < 0x20 || one.p[i] == 0x7F;
		buf_free(&one);
		buf_free(&two);
	}
	OK(!bad, "20000 random texts");
}

static void cells(void)
{
	OK(term_cells('a') == 1 && term_cells(0xE4) == 1 && term_cells(0x20AC) == 1, "one cell");
	OK(term_cells(0x6F22) == 2 && term_cells(0x1F600) == 2 && term_cells(0xFF21) == 2 && term_cells(0xAC00) == 2,
		"two");
	OK(term_cells(0x301) == 0 && term_cells(0x200D) == 0 && term_cells(0xFE0F) == 0 && term_cells(0x93C) == 0,
		"none");
	OK(term_cells(0x1B) == -1 && term_cells(0x7F) == -1 && term_cells(0x9B) == -1, "controls");
	OK(term_cells_of("a\xcc\x81\xe6\xbc\xa2", 6) == 3, "a string");
	OK(term_cells_of("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", 11) == 2, "a joined emoji is one picture");
	OK(term_cells_of("\xff" "a", 2) == 2, "an invalid byte counts");
}

static void terminal(void)
{
	int p[2];

	if (pipe(p) < 0)
		return;
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	OK(!term_is(p[0]) && !term_colour(p[0]), "a pipe is no terminal");
	unsetenv("COLUMNS");
	OK(term_width(p[0]) == 80, "80 columns");
	setenv("COLUMNS", "132", 1);
	OK(term_width(p[0]) == 132, "or COLUMNS");
	setenv("COLUMNS", "5", 1);
	OK(term_width(p[0]) == 20, "20 at least");
	int pt = posix_openpt(O_RDWR | O_NOCTTY);
	if (pt >= 0 && grantpt(pt) == 0 && unlockpt(pt) == 0) {
		struct winsize ws = {.ws_row = 24, .ws_col = 99};
		int tty = open(ptsname(pt), O_RDWR | O_NOCTTY);
		ioctl(tty, TIOCSWINSZ, &ws);
		OK(term_is(tty) && term_width(tty) == 99 && term_colour(tty), "a terminal");
		setenv("NO_COLOR", "", 1);
		OK(term_colour(tty), "an empty NO_COLOR is none");
		setenv("NO_COLOR", "1", 1);
		OK(!term_colour(tty), "NO_COLOR");
		unsetenv("NO_COLOR");
		setenv("TERM", "dumb", 1);
		OK(!term_colour(tty), "TERM=dumb");
		unsetenv("TERM");
		OK(!term_colour(tty), "no TERM");
		close(tty);
	}
}

int main(void)
{
	safe();
	cells();
	terminal();
	return END();
}
