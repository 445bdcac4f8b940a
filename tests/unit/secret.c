/* What in addresses and headers is a secret. */
#include "base/buf.h"
#include "llm/record.h"
#include "llm/secret.h"
#include "tap.h"

static bool named(const char *s)
{
	return secret_name(s, strlen(s));
}

int main(void)
{
	static const char *const yes[] = {"key", "KEY", "api_key", "x-api-key", "MY_TOKEN", "X_SECRET", "Authorization", "cookie",
		"AWS_SECRET_ACCESS_KEY", "X-Amz-Signature", "sig", "HKEY", "auth", NULL};
	static const char *const no[] = {"", "monkeys", "keyboard", "api-version", "author", "model", "tokens", "max_tokens",
		"account", "signal", NULL};
	struct secrets s = SECRETS_INIT;
	struct buf out;

	for (const char *const *n = yes; *n; n++)
		OK(named(*n), "%s is a name of a secret", *n);
	for (const char *const *n = no; *n; n++)
		OK(!named(*n), "'%s' is none", *n);
	OK(!secrets_list(&s)[0], "no secrets: an empty list");
	secrets_of_url(&s, "https://h.test/key=notaquery00?a=1&key=abcdefgh%2Fij&token=short&model=longer-than-eight&sig=x");
	OK(s.n == 2, "of an address: the long values of parameters with such names");
	IS(s.v[0], "abcdefgh%2Fij", "as it is written");
	IS(s.v[1], "abcdefgh/ij", "and as the server reads it");
	secrets_of_url(&s, "https://h.test/?key=abcdefgh%2Fij&key=%zz%4&token=");
	secrets_of_url(&s, "https://h.test/?");
	OK(s.n == 2, "nothing twice, and nothing of what is none");
	secrets_of_header(&s, "authorization: Basic dXNlcjpwYXNz");
	secrets_of_header(&s, "x-team: not-a-secret-at-all");
	secrets_of_header(&s, "x-token:  tttttttt");
	secrets_of_header(&s, "x-token");
	OK(s.n == 5, "of headers");
	IS(s.v[3], "dXNlcjpwYXNz", "also without the scheme");
	IS(s.v[4], "tttttttt", "and without blanks");
	secrets_add(&s, NULL);
	secrets_add(&s, "");
	secrets_add(&s, "kurz");
	OK(s.n == 6, "by hand: of any length");
	buf_init(&out, BUF_NOLIMIT);
	record_mask_all(&out, "abcdefgh/ij dXNlcjpwYXNz kurz kurzum", 36, NULL, secrets_list(&s));
	IS(out.p, "*** *** *** kurzum", "all are masked");
	buf_free(&out);
	secrets_free(&s);
	OK(s.n == 0 && !s.v, "none are left");
	return END();
}
