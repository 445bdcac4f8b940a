/* Signature Version 4 and what it is made of, against published vectors; credentials and regions. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "net/aws.h"
#include "net/sigv4.h"
#include "tap.h"

static struct buf out;

static const char *hmac(const char *key, size_t nkey, const char *text, size_t n)
{
	unsigned char mac[32];
	hmac_sha256(mac, key, nkey, text, n);
	buf_clear(&out);
	buf_addhex(&out, mac, sizeof mac);
	return out.p;
}

/* RFC 4231 */
static void macs(void)
{
	char key[131], data[50];
	memset(key, 0x0b, 20);
	IS(hmac(key, 20, "Hi There", 8), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", "RFC 4231, case 1");
	IS(hmac("Jefe", 4, "what do ya want for nothing?", 28),
	   "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "case 2");
	memset(key, 0xaa, sizeof key);
	memset(data, 0xdd, sizeof data);
	IS(hmac(key, 20, data, 50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe", "case 3");
	for (int i = 0; i < 25; i++)
		key[i] = (char)(i + 1);
	memset(data, 0xcd, sizeof data);
	IS(hmac(key, 25, data, 50), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b", "case 4");
	memset(key, 0xaa, sizeof key);
	IS(hmac(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54),
	   "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", "case 6");
	IS(hmac(key, 131, "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be "
	   "hashed before being used by the HMAC algorithm.", 152),
	   "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2", "case 7");
}

static const char *signature(const struct sigv4 *k, const struct sigv4_request *r, time_t now)
{
	char date[SIGV4_DATE];
	buf_clear(&out);
	sigv4_sign(&out, k, r, now, date);
	return out.p;
}

#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define SCOPE "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/"

/* The example of the documentation (ListUsers), and those of AWS's test suite (aws-sig-v4-test-suite). 2015-08-30 12:36:00 UTC. */
static void published(void)
{
	struct sigv4 iam = {"AKIDEXAMPLE", SECRET, NULL, "us-east-1", "iam"}, k = iam;
	struct sigv4_request r = {"GET", "iam.amazonaws.com", "/", "Action=ListUsers&Version=2010-05-08",
		"application/x-www-form-urlencoded; charset=utf-8", "", 0};
	const time_t then = 1440938160;
	IS(signature(&iam, &r, then), SCOPE "iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, "
	   "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7", "the documentation's example");
	r.query = "Version=2010-05-08&Action=ListUsers";
	IS(signature(&iam, &r, then) + 0, SCOPE "iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, "
	   "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7", "parameters are put into order");
	k.service = "service";
	r = (struct sigv4_request){"GET", "example.amazonaws.com", "", "", NULL, "", 0};
	IS(signature(&k, &r, then), SCOPE "service/aws4_request, SignedHeaders=host;x-amz-date, "
	   "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", "get-vanilla");
	r.query = "Param2=value2&Param1=value1";
	IS(signature(&k, &r, then), SCOPE "service/aws4_request, SignedHeaders=host;x-amz-date, "
	   "Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500", "get-vanilla-query-order-key-case");
	r = (struct sigv4_request){"POST", "example.amazonaws.com", "/", "", "application/x-www-form-urlencoded", "Param1=value1", 13};
	IS(signature(&k, &r, then), SCOPE "service/aws4_request, SignedHeaders=content-type;host;x-amz-date, "
	   "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a", "post-x-www-form-urlencoded");
}

static void regions(void)
{
	static const char *const hosts[][2] = {
		{"bedrock-runtime.eu-west-1.amazonaws.com", "eu-west-1"}, {"bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"},
		{"bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1"}, {"bedrock-mantle.us-east-1.api.aws", "us-east-1"},
		{"vpce-0a-1b.bedrock-runtime.ap-south-1.vpce.amazonaws.com", "ap-south-1"},
		{"localhost", NULL}, {"amazonaws.com", NULL}, {"x.amazonaws.com.evil.com", NULL}, {"amazonaws.com.", NULL}};
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		char *r = aws_region_of(hosts[i][0]);
		IS(r ? r : "none", hosts[i][1] ? hosts[i][1] : "none", "%s", hosts[i][0]);
		free(r);
	}
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static const char *keys(void)
{
	struct aws_keys k;
	struct err e = ERR_INIT;
	char *region = aws_region();
	buf_clear(&out);
	if (aws_keys_load(&k, &e) < 0)
		buf_addf(&out, "error %d", e.status);
	else
		buf_addf(&out, "%s %s %s", k.access ? k.access : "-", k.secret ? k.secret : "-", k.token ? k.token : "-");
	buf_addf(&out, " %s", region ? region : "-");
	free(region);
	aws_keys_free(&k);
	return out.p;
}

static void sources(void)
{
	char dir[] = "/tmp/claws-aws.XXXXXX", path[64];
	static const char *const all[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
		"AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		unsetenv(all[i]);
	if (!mkdtemp(dir))
		return;
	setenv("HOME", dir, 1);
	IS(keys(), "- - - -", "nothing anywhere is no error");
	snprintf(path, sizeof path, "%s/.aws", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/.aws/credentials", dir);
	put(path, "# mine\n[default]\naws_access_key_id = AKD\naws_secret_access_key=SKD\r\n\n[work]\nAWS_ACCESS_KEY_ID=AKW\n"
	    "aws_secret_access_key = SKW=/+\n  nested = 1\naws_session_token = TW\n[half]\naws_access_key_id = AKH\n");
	IS(keys(), "AKD SKD - -", "the default profile of the credentials file");
	setenv("AWS_PROFILE", "work", 1);
	IS(keys(), "AKW SKW=/+ TW -", "another profile, with a token");
	snprintf(path, sizeof path, "%s/.aws/config", dir);
	put(path, "[default]\nregion = us-west-2\n[profile work]\nregion=eu-central-1\ns3 =\n  region = no\n[conf]\nregion = no\n"
	    "[profile conf]\naws_access_key_id = AKC\naws_secret_access_key = SKC\n");
	IS(keys(), "AKW SKW=/+ TW eu-central-1", "its region is in the config file");
	setenv("AWS_PROFILE", "conf", 1);
	IS(keys(), "AKC SKC - -", "keys of the config file");
	setenv("AWS_PROFILE", "half", 1);
	IS(keys(), "error 78 -", "half a pair is an error");
	setenv("AWS_PROFILE", "none", 1);
	IS(keys(), "error 78 -", "a profile that is not there is an error");
	unsetenv("AWS_PROFILE");
	setenv("AWS_ACCESS_KEY_ID", "AKE", 1);
	setenv("AWS_SECRET_ACCESS_KEY", " SKE\n", 1);
	IS(keys(), "AKE SKE - us-west-2", "the environment goes before the files");
	setenv("AWS_DEFAULT_REGION", "r2", 1);
	IS(keys(), "AKE SKE - r2", "AWS_DEFAULT_REGION");
	setenv("AWS_REGION", "r1", 1);
	IS(keys(), "AKE SKE - r1", "AWS_REGION goes before it");
	setenv("AWS_SESSION_TOKEN", "a\nb: c", 1);
	IS(keys(), "error 78 r1", "a token with a line end in it is not sent");
	snprintf(path, sizeof path, "%s/.aws/credentials", dir);
	remove(path);
	snprintf(path, sizeof path, "%s/.aws/config", dir);
	remove(path);
	snprintf(path, sizeof path, "%s/.aws", dir);
	remove(path);
	remove(dir);
}

int main(void)
{
	buf_init(&out, BUF_NOLIMIT);
	macs();
	published();
	regions();
	sources();
	buf_free(&out);
	return END();
}
