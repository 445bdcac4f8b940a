#!/bin/sh
# Recorded answers of many providers, from the socket to the assistant message: each is served in one write, a byte a write (from
# 20 kB on, 61 bytes), at random sizes, gzipped, and with CRLF, and read by claws-stream. CLAWS_CASES is a directory PROVIDER/CASE/{meta.json,response.body,expected.json}.
. "${0%/*}/lib.sh"
[ -n "${CLAWS_CASES-}" ] || skip_all "CLAWS_CASES is not set"
cat >serve.py <<'END'
import concurrent.futures, glob, gzip, http.server, json, os, random, socket, subprocess, sys, threading

root = os.environ["CLAWS_CASES"]

def wire_of(meta):
    """Recorded as bedrock-converse-stream: one wire reads both."""
    return meta["api"].removesuffix("-stream")

options = subprocess.run(["claws-stream", "--dump-options"], stdout=subprocess.PIPE, check=True).stdout.decode()
wires = next(l.split("\t")[5] for l in options.splitlines() if l.split("\t")[3:4] == ["wire"]).split("|")
cases = []
for path in sorted(glob.glob(root + "/*/*/meta.json")):
    with open(path) as f:
        meta = json.load(f)
    if wire_of(meta) in wires:
        cases.append((os.path.relpath(os.path.dirname(path), root), meta))

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        how = self.path.split("/")[1]
        name = "/".join(self.path.split("/")[2:4])
        with open(f"{root}/{name}/meta.json") as f: meta = json.load(f)
        with open(f"{root}/{name}/response.body", "rb") as f: body = f.read()
        self.send_response(meta["status"])
        for k, v in meta.get("headers", {}).items():
            if k not in ("content-length", "transfer-encoding", "content-encoding", "connection", "retry-after"):
                self.send_header(k, v)
        if how == "crlf" and meta["framing"] == "sse":
            body = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        if how == "gzip":
            body = gzip.compress(body)
            self.send_header("content-encoding", "gzip")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        at = 0
        sizes = random.Random(name)
        try:
            while at < len(body):
                n = {"bytes": 1 if at < 20000 else 61, "random": sizes.randint(1, 3000)}.get(how, len(body))
                piece = body[at:at + n]
                self.connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
                at += n
            self.connection.sendall(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    def get_request(self):
        c, a = super().get_request()
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return c, a

server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = "http://127.0.0.1:%d/" % server.server_port

def pieces_of(body):
    """What the text deltas of a Responses stream said: at the end its items may say another text, which holds."""
    said = ""
    for line in body.split(b"\n"):
        if line.startswith(b"data: {"):
            event = json.loads(line[6:])
            if event.get("type") in ("response.output_text.delta", "response.refusal.delta"): said += event["delta"]
    return said

def differences(expected, lines, status, meta, body):
    """What is wrong with the lines, as a list of texts."""
    bad = []
    def same(what, got, want):
        if got != want: bad.append(f"{what}: got {got!r:.200}, want {want!r:.200}")
    done = [l for l in lines if l.get("type") == "turn_done"]
    if len(done) != 1 or lines[-1] is not done[0]: return ["not one turn_done at the end"]
    said = [l for l in lines if l.get("role") == "assistant"]
    errors = [l for l in lines if l.get("type") == "error"]
    text = "".join(l["text"] for l in lines if l.get("type") == "text_chunk")
    if len(said) > 1: bad.append("more than one message")
    message = said[0] if said else {}
    if meta["api"] == "openai-responses" and meta["framing"] == "sse" and not expected.get("error"):
        same("pieces", text, pieces_of(body) or message.get("content", ""))
    else:
        same("pieces", text, message.get("content", ""))
    same("content", message.get("content", ""), expected.get("content") or "")
    same("thinking", message.get("thinking") or "", expected.get("thinking") or "")
    # a call without a name (a tool of a kind that was not offered) can be called nothing: it does not count
    calls = [c for c in message.get("tool_calls") or [] if c["name"]]
    wanted = [c for c in expected.get("tool_calls") or [] if c["name"]]
    nameless = len(wanted) < len(expected.get("tool_calls") or [])
    same("calls", [(c["name"], c["input"]) for c in calls], [(c["name"], c["input"]) for c in wanted])
    ids = [c["id"] for c in calls]
    if len(set(ids)) != len(ids) or "" in ids: bad.append(f"ids {ids}")
    want_ids = [c["id"] for c in wanted]
    if len(set(want_ids)) == len(want_ids) and all(want_ids): same("ids", ids, want_ids)
    stop = done[0]["stop_reason"]
    if expected.get("error"):
        if not errors: bad.append("no error event")
        if stop not in ("error", "context_exceeded"): bad.append("stop " + stop)
        if status == 0: bad.append("status 0")
        return bad
    if expected.get("incomplete"):
        same("stop", (stop, status), ("truncated", 76))
        return bad
    if errors: bad.append(f"errors {errors}")
    # the other reader hands on words that nobody knows, and says nothing where nothing was said
    words = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "content_filter", "pause", "context_exceeded")
    if expected["stop_reason"] in words and not nameless: same("stop", stop, expected["stop_reason"])
    elif not nameless: same("stop", stop, "tool_use" if calls else "end_turn")
    for k, v in (expected.get("usage") or {}).items():
        if v is not None and k in done[0]["usage"]: same("usage " + k, done[0]["usage"][k] or 0, v)
    return bad

def run(job):
    how, (name, meta) = job
    provider = name.split("/")[0]
    env = dict(os.environ, CLAWS_BASE_URL=base + how + "/" + name)
    p = subprocess.run(["claws-stream", "-m", "custom/m", "--wire", wire_of(meta), "--no-time", "--retries", "0"],
                       input=b'{"role":"user","content":"hello"}\n', stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    with open(f"{root}/{name}/expected.json") as f: expected = json.load(f)
    with open(f"{root}/{name}/response.body", "rb") as f: body = f.read()
    name = how + " " + name
    if p.stderr: return name, [p.stderr.decode("utf-8", "replace")], p.stdout
    lines = [json.loads(l) for l in p.stdout.decode().splitlines()]
    return name, differences(expected, lines, p.returncode, meta, body), p.stdout

with concurrent.futures.ThreadPoolExecutor(4) as pool, open("all", "wb") as out:
    for name, bad, stdout in pool.map(run, [(how, c) for how in ("whole", "bytes", "random", "gzip", "crlf") for c in cases]):
        out.write(stdout)
        for b in bad: print(name + ": " + b)
print("compared", len(cases), "in five ways")
END
run /usr/bin/python3 serve.py
status_is 0 "the answers are served and read"
is "$(grep -v '^compared' out)" "" "each is the message it must become"
like "$(tail -n 1 out)" '^compared [1-9]' "$(tail -n 1 out)"
ok "every line obeys claws-messages(5)" claws-msg check all
done_testing
