#!/bin/sh
# Kinds of faults that people met in what models and servers send, over every wire: silence, resets, errors where an answer should be,
# calls that are told apart badly. The names say the kind.
. "${0%/*}/lib.sh"
cat >cases.py <<'END'
import json, os, re, subprocess, time
from wires import *

server = Server()
env = dict(os.environ, CLAWS_API_KEY="key-of-the-tests", AWS_BEARER_TOKEN_BEDROCK="key-of-the-tests", CLAWS_BREAKER="off")
serial, lock = [0], threading.Lock()
def ask(wire, does, *options, env=env, conversation='{"role":"user","content":"hello"}\n'):
    """does: a function of the handler and the request's number, or the bytes of the answer."""
    with lock:
        serial[0] += 1
        key = f"k{serial[0]}"
    if isinstance(does, bytes):
        data, kind = does, "application/json" if "--no-stream" in options else WORDS[wire]["mime"]
        def does(h, n): h.start(kind=kind); h.say(data)
    url = server.serve(key, does)
    p = subprocess.run(["claws-stream", "-m", "custom/m", "--wire", wire, "--base-url", url, "--no-time", *options],
                       input=conversation.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    lines = [json.loads(l) for l in p.stdout.decode().splitlines()]
    done = [l for l in lines if l.get("type") == "turn_done"]
    said = next((l for l in lines if l.get("role") == "assistant"), {})
    error = next((l for l in lines if l.get("type") == "error"), {})
    return {"status": p.returncode, "stop": done[0]["stop_reason"] if len(done) == 1 and lines[-1] is done[0] else None, "said": said,
            "class": error.get("class"), "error": error, "asked": len(server.bodies.get(key, [])), "retries": sum(l.get("type") == "retry" for l in lines),
            "calls": [(c["name"], c["input"]) for c in said.get("tool_calls", [])], "all": p.stdout + p.stderr, "lines": lines}

def silence(wire):
    w, body = WORDS[wire], whole(wire, "one two")
    half = head(wire) + w["text"](["one ", "two"])
    def silent(h, n): time.sleep(2)
    for form in ([], ["--no-stream"]):
        part, kind = (body[:len(body) * 2 // 3], "application/json") if form else (half, w["mime"])
        def stalls(h, n): h.start(kind=kind); h.say(part); time.sleep(2)
        def resets(h, n): h.start(kind=kind); h.say(part); time.sleep(0.03); h.reset()
        def closes(h, n): h.start(kind=kind); h.say(part)
        def short(h, n): h.start(kind=kind, content_length=str(len(part) + 100)); h.say(part)
        name = f"{wire}{' ' + form[0] if form else ''}"
        r = ask(wire, silent, "--first-byte-timeout", "400ms", "--retries", "0", *form)
        report((r["status"], r["class"], r["stop"]) == (69, "timeout", "error"), f"ST14 {name}: silent before the head", r)
        r = ask(wire, stalls, "--idle-timeout", "400ms", "--retries", "0", *form)
        kept = "one two" if not form else None
        report(r["stop"] in ("truncated", "error") and r["status"] in (69, 76) and r["said"].get("content") == kept, f"ST14 {name}: silent in the middle", r)
        for what, does in (("a reset", resets), ("an end", closes), ("an end before its length", short)):
            r = ask(wire, does, "--retries", "0", *form)
            report(r["stop"] in ("truncated", "error") and r["status"] in (69, 76) and r["said"].get("content") in (kept, None if form else "") and r["error"] != {}, f"ST16 {name}: {what} in the middle", r)
        if form:
            def later(h, n): h.start(kind=kind); h.say(part if n == 1 else body)
            r = ask(wire, later)
            report((r["status"], r["asked"], r["said"].get("content")) == (0, 2, "one two"), f"ST16 {name}: nothing was shown, so it is asked again", r)
    r = ask(wire, answer(wire, ["one ", "two"]))
    report((r["status"], r["stop"], r["said"].get("content")) == (0, "end_turn", "one two"), f"{wire}: the same, whole", r)
    r = ask(wire, body, "--no-stream")
    report((r["status"], r["stop"], r["said"].get("content")) == (0, "end_turn", "one two"), f"{wire} --no-stream: the same, whole", r)

def errors(wire):
    w = WORDS[wire]
    fine = answer(wire, "well")
    half = head(wire) + w["text"](["one ", "two"])
    part = w["open"](0, "c1", "f") + w["args"](0, '{"a":') if w["args"] else w["call"](0, "c1", "f", '{"a":1}')
    for status in (529, 503, 502, 500, 504, 520, 524, 408, 409, 429):
        for kind, body in (("application/json", b'{"error":{"message":"later","type":"x"}}'), ("text/html", b"<html><h1>Bad gateway</h1></html>"), ("text/plain", b"")):
            def refuses(h, n, status=status, kind=kind, body=body): h.start(status, kind); h.say(body)
            r = ask(wire, refuses, "--retries", "0")
            want = {429: ("rate_limit",), 408: ("timeout", "overloaded"), 409: ("overloaded", "conflict"), 504: ("timeout", "overloaded"), 524: ("timeout", "overloaded")}.get(status, ("overloaded",))
            report(r["class"] in want and r["error"].get("status") == status and r["status"] in (69, 75), f"RT06 {wire}: {status} {kind} keeps its number", r["error"])
    r = ask(wire, half + part + w["error"](w["overloaded"]), "--retries", "2")
    report(r["stop"] == "error" and r["status"] in (69, 75) and not r["calls"] and r["asked"] == 1, f"RT03 {wire}: an error in the middle", r)
    report(r["class"] in ("overloaded", "rate_limit"), f"RT03 {wire}: of its class", r["error"])
    r = ask(wire, half + part, "--retries", "2")
    report(r["stop"] == "truncated" and r["status"] == 76 and not r["calls"] and r["asked"] == 1, f"RT03 {wire}: half a call is not kept", r)
    def first(what):
        def does(h, n): h.start(kind=w["mime"]); h.say(what if n == 1 else fine)
        return does
    r = ask(wire, first(w["error"](w["overloaded"])), "--retries", "2")
    report((r["status"], r["asked"], r["retries"]) == (0, 2, 1), f"RT03 {wire}: an error before anything is tried again", r)
    r = ask(wire, first(head(wire) + w["error"](w["overloaded"])), "--retries", "2")
    report((r["status"], r["asked"], r["retries"]) == (0, 2, 1), f"RT03 {wire}: an error behind the head is tried again", r)
    if w["invalid"]:
        r = ask(wire, w["error"](w["invalid"]), "--retries", "2")
        report((r["asked"], r["retries"], r["stop"]) == (1, 0, "error") and r["class"] in ("invalid_request", "unknown" if wire == "ollama-chat" else ""), f"RT05 {wire}: what is wrong for good is not tried again", r)

def foreign_errors(wire):
    """Errors in the words of others, such as gateways have them, where an answer should be."""
    w = WORDS[wire]
    put = {"ollama-chat": line, "bedrock-invoke": chunk, "bedrock-converse": lambda o: aws("error", o)}.get(wire, sse)
    fine = answer(wire, "well")
    shapes = {"an object": {"error": {"code": 502, "message": "capacity"}}, "a code in text": {"error": {"code": "503", "message": "capacity"}},
              "a type": {"error": {"type": "server_error", "message": "capacity"}}, "Anthropic's": {"type": "error", "error": {"type": "overloaded_error", "message": "capacity"}},
              "OpenRouter's": {"error": {"code": 502, "message": "capacity", "metadata": {"provider_name": "x"}}, "user_id": "u"},
              "with other members": {"id": "x", "object": "chat.completion.chunk", "choices": [], "candidates": [], "error": {"code": 502, "message": "capacity"}}}
    bad = {"an object": {"error": {"code": 400, "message": "no such thing", "type": "invalid_request_error"}}, "Anthropic's": {"type": "error", "error": {"type": "invalid_request_error", "message": "no such thing"}}}
    forms = [(n, put(o), []) for n, o in shapes.items() if n != "Anthropic's" or wire != "bedrock-converse"]
    if put is sse:
        forms += [("a named event", sse(shapes["an object"], "error"), []), ("and [DONE]", sse(shapes["with other members"]) + b"data: [DONE]\n\n", []),
                  ("in a field", b"error: " + json.dumps({"code": 502, "message": "capacity"}).encode() + b"\n\n", []), ("plain JSON", json.dumps(shapes["an object"]).encode(), [])]
    forms += [(n + ", one piece", json.dumps(o).encode(), ["--no-stream"]) for n, o in shapes.items()]
    for name, data, form in forms:
        kind = "application/json" if form else w["mime"]
        def once_(h, n): h.start(kind=kind); h.say(data if n == 1 else whole(wire, "well") if form else fine)
        r = ask(wire, once_, *form)
        told = next((l for l in r["lines"] if l.get("type") == "retry"), {})
        report((r["status"], r["asked"], r["said"].get("content")) == (0, 2, "well") and told.get("class") == "overloaded" and b"capacity" in r["all"], f"RT04 {wire}: an error as {name}", r)
    for name, o in bad.items():
        for form in ([], ["--no-stream"]):
            if wire == "bedrock-converse" and not form: continue
            r = ask(wire, json.dumps(o).encode() if form else put(o), *form)
            report((r["asked"], r["stop"], r["class"]) == (1, "error", "invalid_request") and b"no such thing" in r["all"], f"RT05 {wire}{' '.join(form)}: {name}, wrong for good", r)

def calls(wire):
    """Calls that are told apart badly; arguments that are none."""
    w = WORDS[wire]
    a, b = ("c1", "f", '{"x":"one","y":[1]}'), ("c2", "g", '{"x":"two"}')
    want = [("f", {"x": "one", "y": [1]}), ("g", {"x": "two"})]
    def tell(name, data, want=want, stop="tool_use"):
        r = ask(wire, data)
        report((r["status"], r["stop"], r["calls"]) == (0, stop, want), f"{name} {wire}", r)
    tell("two calls", answer(wire, "", [a, b]))
    tell("section 11: calls beside a stop that says end", answer(wire, "", [a, b], stop=0))
    tell("section 11: calls beside the limit are not for running", answer(wire, "", [a, b], stop=2), [want[0], want[1]], "max_tokens")
    r = ask(wire, whole(wire, "x", [a, b], stop=0), "--no-stream")
    report((r["status"], r["stop"], r["calls"]) == (0, "tool_use", want), f"section 11: in one piece {wire}", r)
    big = '{"n":9007199254740993,"m":1234567890123456789,"f":1.0,"e":1e400}'
    for form, data in (([], answer(wire, "", [("c1", "f", big)])), (["--no-stream"], whole(wire, "", [("c1", "f", big)]))):
        r = ask(wire, data, *form)
        report(b'"n":9007199254740993,"m":1234567890123456789,"f":1.0,"e":1e400' in r["all"], f"BL04 BL10 {wire} {form}: numbers as they came", r)
    deep = '{"a":' + "[" * 900 + "]" * 900 + "}"
    r = ask(wire, answer(wire, "x", [("c1", "f", deep)]))
    report(r["status"] in (0, 76) and r["stop"] is not None, f"BL07 {wire}: nesting", r)
    r = ask(wire, answer(wire, "x\ud99cy\0z", [("c1", "f", '{"a":"x\\ud99cy","b":"x\\udc00y","c":"x\\u0000y"}')]))
    report(r["status"] == 0 and r["said"].get("content", "").startswith("x\ufffdy") and r["said"]["content"].endswith("z") and r["calls"][0][1].get("a") == "x\ufffdy" and
           r["calls"][0][1].get("b") == "x\ufffdy" and not any("\0" in s for s in strings(r["said"])), f"BL01 BL02 RQ02 {wire}: lone surrogates and NUL", r)
    if not w["args"]: return
    def parts(o):
        return [w["open"](i, id, name) for i, id, name in o]
    both = head(wire)
    both += w["open"](0, "c1", "f") + w["open"](1, "c2", "g") + w["args"](0, a[2][:8]) + w["args"](1, b[2][:5]) + w["args"](0, a[2][8:]) + w["args"](1, b[2][5:])
    tell("ST07 pieces of two calls in turns", both + w["close"](0) + w["close"](1) + w["end"](w["stops"][1], None))
    same = head(wire)
    for id, name, t in (a, b): same += w["open"](0, id, name) + w["args"](0, t) + w["close"](0)
    tell("ST03 both calls at the same place", same + w["end"](w["stops"][1], None))
    bare = answer(wire, "", [a, b])
    if not w["mime"].endswith("amazon.eventstream"):
        bare = re.sub(rb'"(index|output_index)": \d+, ', b"", bare)
        tell("ST04 calls without a place", bare)

def framing(wire):
    """The same answer in other lines."""
    w, text = WORDS[wire], ["one ", "two"]
    fine = answer(wire, text, [("c1", "f", '{"x":1}')])
    def tell(name, data):
        r = ask(wire, data)
        report((r["status"], r["stop"], r["said"].get("content"), r["calls"]) == (0, "tool_use", "one two", [("f", {"x": 1})]), f"{name} {wire}", r)
    if w["mime"] == "text/event-stream":
        tell("ST10 CRLF", fine.replace(b"\n", b"\r\n"))
        tell("ST10 CR", fine.replace(b"\n", b"\r"))
        tell("ST11 no blank behind the colon", fine.replace(b"data: ", b"data:").replace(b"event: ", b"event:"))
        extra = b": ping\n:\n:keepalive\nid: 7\nretry: 10\nx-unknown: y\nunknown\n\n"
        tell("ST12 comments and fields", extra + fine.replace(b"\n\n", b"\n\n" + extra))
        tell("ST12 a ping", fine.replace(b"\n\n", b'\n\nevent: ping\ndata: {"type":"ping"}\n\n', 1))
        tell("ST13 several data lines", re.sub(rb"data: \{", b"data: {\ndata: ", fine))
        tell("ST13 no last blank line", fine.rstrip(b"\n"))
        tell("section 11: events by their content", re.sub(rb"event: [^\n]*", b"event: message", fine))
        tell("section 11: events without names", re.sub(rb"event: [^\n]*\n", b"", fine))
        tell("a byte order mark", b"\xef\xbb\xbf" + fine)
    elif wire == "ollama-chat":
        tell("ST10 CRLF", fine.replace(b"\n", b"\r\n"))
        tell("ST12 empty lines", b"\n \n" + fine.replace(b"\n", b"\n\n\n"))
        tell("ST13 no last line end", fine.rstrip(b"\n"))
        tell("ST13 one event on several lines", fine.replace(b"{", b"{\n "))
    else:
        odd = frame([(":message-type", "event"), (":event-type", "somethingNew")], b'{"a":1}')
        tell("ST12 unknown events", odd + fine + odd)
        empty = frame([(":message-type", "event"), (":event-type", "initial-response"), (":content-type", "application/json")], b"{}")
        tell("ST12 an initial response", empty + fine)
    if w["mime"] != "application/vnd.amazon.eventstream":
        gap = b"\n\n" if w["mime"] == "text/event-stream" else b"\n"
        parts = fine.split(gap, 2)
        r = ask(wire, gap.join([parts[0], parts[1], b"data: {not json" if gap == b"\n\n" else b"{not json}", parts[2]]), "--retries", "0")
        report((r["status"], r["stop"], r["class"], r["calls"]) == (76, "error", "protocol", []) and b"not JSON" in r["all"], f"BL08 {wire}: an event that is no JSON is named, and nothing of the answer runs", r)
    go = threading.Event()
    first, rest = head(wire) + w["text"](["one "]), w["text"](["two"]) + w["end"](w["stops"][0], None)
    waited = []
    def pauses(h, n): h.start(kind=w["mime"]); h.say(first); waited.append(go.wait(5)); h.say(rest)
    p = subprocess.Popen(["claws-stream", "-m", "custom/m", "--wire", wire, "--base-url", server.serve("pause-" + wire, pauses)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    p.stdin.write(b'{"role":"user","content":"hello"}\n'); p.stdin.close()
    seen = p.stdout.readline()
    go.set()
    rest_ = p.stdout.read()
    report(b'"one "' in seen and waited == [True] and b"one two" in rest_ and p.wait() == 0, f"BL09 {wire}: what came is passed on at once", (seen, waited, rest_))
    def slow(h, n):
        h.start(kind=w["mime"])
        for i in range(0, len(fine), 97): h.say(fine[i:i + 97])
    tell("ST10 in pieces", slow)

def secrets(wire):
    key = "sk-ant-api03-Qz/7+fR_k-0123456789abcdefABCDEF"
    with_key = dict(env, CLAWS_API_KEY=key, AWS_BEARER_TOKEN_BEDROCK=key)
    place = f"{os.environ['T']}/rec-{wire}"
    def says(h, n): h.start(401, "application/json", x_request_id=key); h.say(json.dumps({"error": {"message": f"bad key {key}", "type": key}, "message": f"bad key {key}"}).encode())
    r = ask(wire, says, "--record", place, env=with_key)
    kept = b"".join(open(f"{d}/{f}", "rb").read() for d, _, fs in os.walk(place) for f in fs)
    report(r["status"] == 77 and b"api03-Qz" not in r["all"] + kept, f"section 11: no key in what is shown or kept {wire}", r)
    r = ask(wire, answer(wire, "hi"), "--record", place + "2", env=with_key)
    kept = b"".join(open(f"{d}/{f}", "rb").read() for d, _, fs in os.walk(place + "2") for f in fs)
    report(r["status"] == 0 and kept and b"api03-Qz" not in kept, f"section 11: no key in a recording {wire}", kept[:300])

names = subprocess.run(["claws-stream", "--dump-options"], stdout=subprocess.PIPE, check=True).stdout.decode()
names = next(l.split("\t")[5] for l in names.splitlines() if l.split("\t")[3:4] == ["wire"]).split("|")
names = [n for n in names if not n.endswith("-stream")]      # another name of the same
report(sorted(names) == sorted(WORDS), "every wire is tried", names)
all_at_once([(f, wire) for f in (silence, errors, foreign_errors, calls, framing, secrets) for wire in WORDS], 16)
END
export T PYTHONPATH="$top/tests/servers" PYTHONDONTWRITEBYTECODE=1
run /usr/bin/python3 cases.py
tab=$(printf '\t')
while IFS="$tab" read -r what name detail; do
	case $what in
	ok) pass "$name" ;;
	'not ok') fail "$name" "$detail" ;;
	esac
done <out
is "$(tail -n 1 out)" 'done' 'all were tried'
is "$(cat err)" '' 'without a mishap of the test itself'
done_testing
