#!/bin/sh
# claws-stream and AWS: the signature of a real request is checked by another implementation (Python's hmac and hashlib).
. "${0%/*}/lib.sh"
command -v python3 >/dev/null || skip_all "python3 is not there"

cat >server.py <<'EOF'
# Answers each request as Bedrock does if its signature is right, with 403 if not. Notes what came in "log".
import hashlib, hmac, http.server, json, struct, sys, zlib

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()

def quote(path):                       # once more: %3A is signed as %253A
    plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
    return "".join(c if c in plain else "%%%02X" % ord(c) for c in path)

def verify(h, path, body):
    kind, rest = h["authorization"].split(" ", 1)
    part = dict(p.split("=", 1) for p in rest.split(", "))
    access, day, region, service, end = part["Credential"].split("/")
    names = part["SignedHeaders"].split(";")
    date = h["x-amz-date"]
    for need in ["host", "x-amz-date"] + ["x-amz-security-token"] * ("x-amz-security-token" in h):
        if need not in names:
            return need + " is not signed"
    canonical = "\n".join(["POST", quote(path), ""] + ["%s:%s" % (n, h[n]) for n in names]
                          + ["", ";".join(names), hashlib.sha256(body).hexdigest()])
    scope = "/".join([day, region, service, end])
    text = "\n".join([kind, date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for step in (day, region, service, end):
        key = mac(key, step)
    if kind != "AWS4-HMAC-SHA256" or access != "AKIDEXAMPLE" or not date.startswith(day):
        return "another kind, key or day"
    return None if hmac.compare_digest(mac(key, text).hex(), part["Signature"]) else "the signature is wrong"

def header(name, value):
    return bytes([len(name)]) + name.encode() + b"\7" + struct.pack(">H", len(value)) + value.encode()

def message(name, data):
    head = header(":event-type", name) + header(":content-type", "application/json") + header(":message-type", "event")
    data = json.dumps(data).encode()
    m = struct.pack(">II", 16 + len(head) + len(data), len(head))
    m += struct.pack(">I", zlib.crc32(m)) + head + data
    return m + struct.pack(">I", zlib.crc32(m))

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tries = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        h = {k.lower(): v.strip() for k, v in self.headers.items()}
        auth = h.get("authorization", "")
        bad = "no signature"
        if auth == "Bearer bearer-key":
            bad = None
        elif auth.startswith("AWS4"):
            bad = verify(h, self.path, body)
        with open("log", "a") as f:
            f.write(json.dumps({"path": self.path, "headers": h, "bad": bad, "body": json.loads(body)}) + "\n")
        Handler.tries += 1
        if bad:
            said = json.dumps({"message": bad + " " + h.get("x-amz-security-token", "")})
            return self.send(403, "application/json", said.encode(),
                             "InvalidSignatureException:http://internal.amazon.com/coral/")
        if "try twice" in str(body) and Handler.tries % 2:
            return self.send(503, "application/json", b'{"message":"busy"}', "ServiceUnavailableException")
        if self.path.endswith("/converse"):
            return self.send(200, "application/json", json.dumps({"output": {"message": {"role": "assistant", "content":
                [{"text": "whole"}]}}, "stopReason": "end_turn", "usage": {"inputTokens": 3, "outputTokens": 2}}).encode())
        self.send(200, "application/vnd.amazon.eventstream",
                  message("messageStart", {"role": "assistant"})
                  + message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "stre"}})
                  + message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "amed"}})
                  + message("messageStop", {"stopReason": "end_turn"})
                  + message("metadata", {"usage": {"inputTokens": 3, "outputTokens": 2}}))

    def send(self, status, kind, data, error=None):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        if error:
            self.send_header("x-amzn-errortype", error)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *a):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
EOF
mkfifo ready
python3 server.py >ready 2>server.err &
servers="$servers $!"
read -r port <ready

model=bedrock/anthropic.claude-3-5-sonnet-20241022-v2:0
talk() { # TEXT OPTION...
	: >log
	_text=$1; shift
	printf '{"role":"user","content":"%s"}\n{"type":"turn"}\n' "$_text" >in
	run claws-stream -m "$model" --base-url "http://127.0.0.1:$port" "$@" <in
}
export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY AWS_REGION=eu-west-1

talk hi
status_is 0 "a signed request is answered"
like "$(cat out)" '"content":"streamed".*"input":3.*"output":2' "out of the event stream"
like "$(cat log)" '"path": "/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse-stream"' "the name's colon is encoded"
like "$(cat log)" 'Credential=AKIDEXAMPLE/[0-9]{8}/eu-west-1/bedrock/aws4_request' "region and service"
like "$(cat log)" '"accept": "application/vnd.amazon.eventstream"' "what is accepted"
talk 'hä €' --no-stream
status_is 0 "the same without a stream"
like "$(cat out)" '"content":"whole"' "out of one JSON text"
like "$(cat log)" '"/model/[^"]*/converse".*"bad": null' "at its own path"

talk 'try twice' --retries 2
status_is 0 "a second attempt is signed too"
is "$(grep -c '"bad": null' log)" 2 "both signatures are right"

AWS_SESSION_TOKEN=FwoGZXIvYXdzEXAMPLETOKEN/+== talk hi
status_is 0 "with a session token"
like "$(cat log)" 'SignedHeaders=content-type;host;x-amz-date;x-amz-security-token' "it is signed"

AWS_SECRET_ACCESS_KEY=wrongwrongwrongwrong AWS_SESSION_TOKEN=FwoGZXIvYXdzEXAMPLETOKEN/+== talk hi --record rec
status_is 77 "a wrong key is refused"
like "$(cat out)" 'the signature is wrong \*\*\*' "the token that the server quotes is masked"
unlike "$(cat out err rec/* 2>/dev/null)" 'EXAMPLETOKEN|wrongwrong' "and neither token nor secret is seen anywhere"

talk hi --dry-run
like "$(cat out)" '"authorization": ?"\*\*\*"' "--dry-run shows that it would be signed"
unlike "$(cat out)" 'AKIDEXAMPLE|wJalr' "and no key"

AWS_BEARER_TOKEN_BEDROCK=bearer-key talk hi
status_is 0 "a bearer key is sent as one"
like "$(cat log)" '"authorization": "Bearer bearer-key"' "without a signature"

unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION
talk hi
status_is 78 "without credentials it is a configuration error"
like "$(cat err out)" 'AWS_ACCESS_KEY_ID' "that says what to set"
is "$(cat log)" "" "and nothing is sent"
run claws-stream --explain -m bedrock/amazon.nova-lite-v1:0
is "$status $(sed -n 's/^sent as *//p' out)" '0 sigv4  (the wire)' "--explain needs none of them"
AWS_BEARER_TOKEN_BEDROCK=bearer-key run claws-stream --explain -m bedrock/amazon.nova-lite-v1:0
is "$(sed -n 's/^sent as *//p' out)" 'authorization: Bearer  (the wire)' "and says that a bearer key goes as one"
mkdir -m 700 .aws
printf '[work]\naws_access_key_id = AKIDEXAMPLE\n' >.aws/credentials
printf 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n' >>.aws/credentials
printf '[profile work]\nregion = ap-south-1\n' >.aws/config
AWS_PROFILE=work talk hi
status_is 0 "keys of a profile"
like "$(cat log)" '/ap-south-1/bedrock/' "and its region"
AWS_PROFILE=none talk hi
status_is 78 "a profile that is not there is a configuration error"
is "$(cat server.err)" "" "the server had nothing to complain of"
done_testing
