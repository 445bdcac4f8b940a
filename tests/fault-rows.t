#!/bin/sh
# Kinds of faults that people met, over every wire: streams that stall, break, and end in an error; histories that a provider would
# refuse. The names say the kind. Each request is looked at by a reader of its own, which knows the provider's rules.
. "${0%/*}/lib.sh"
cat >rows.py <<'END'
import base64, http.server, json, os, socket, struct, subprocess, sys, threading, time, zlib

def result(ok, name, detail=""):
    print(("ok\t" if ok else "not ok\t") + name + "\t" + str(detail).replace("\n", " ")[:600], flush=True)

# ---- each wire's own words ----

def sse(o, name=None): return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(o).encode() + b"\n\n"
def line(o): return json.dumps(o).encode() + b"\n"
def frame(headers, payload):
    h = b"".join(bytes([len(k)]) + k.encode() + b"\x07" + struct.pack(">H", len(v)) + v.encode() for k, v in headers)
    pre = struct.pack(">II", 16 + len(h) + len(payload), len(h))
    m = pre + struct.pack(">I", zlib.crc32(pre)) + h + payload
    return m + struct.pack(">I", zlib.crc32(m))
def aws(kind, o): return frame([(":message-type", "event"), (":event-type", kind)], json.dumps(o).encode())
def fault(kind, o): return frame([(":message-type", "exception"), (":exception-type", kind)], json.dumps(o).encode())
def chunk(o): return aws("chunk", {"bytes": base64.b64encode(json.dumps(o).encode()).decode()})
def anthropic(put):
    return {
        "head": put({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5}}}) +
                put({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        "text": lambda t: put({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}}),
        "call": put({"type": "content_block_stop", "index": 0}) + put({"type": "content_block_start", "index": 1,
                 "content_block": {"type": "tool_use", "id": "c1", "name": "f", "input": {}}}),
        "args": lambda t: put({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": t}}),
        "end": lambda tool: put({"type": "content_block_stop", "index": 1 if tool else 0}) +
                put({"type": "message_delta", "delta": {"stop_reason": "tool_use" if tool else "end_turn"}, "usage": {"output_tokens": 2}}) +
                put({"type": "message_stop"}),
        "error": lambda kind: put({"type": "error", "error": {"type": kind, "message": "it broke"}}),
        "overloaded": "overloaded_error", "invalid": "invalid_request_error"}
def chat(delta, finish=None): return sse({"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
wires = {
    "anthropic": anthropic(lambda o: sse(o, o["type"])),
    "anthropic-vertex": anthropic(lambda o: sse(o, o["type"])),
    "bedrock-invoke": dict(anthropic(chunk), error=lambda kind: fault(kind, {"message": "it broke"}),
                           overloaded="throttlingException", invalid="validationException"),
    "openai-chat": {
        "head": chat({"role": "assistant", "content": ""}), "text": lambda t: chat({"content": t}),
        "call": chat({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]}),
        "args": lambda t: chat({"tool_calls": [{"index": 0, "function": {"arguments": t}}]}),
        "end": lambda tool: chat({}, "tool_calls" if tool else "stop") + b"data: [DONE]\n\n",
        "error": lambda kind: sse({"choices": [], "error": {"code": 503 if kind == "overloaded" else 400, "message": "it broke", "type": kind}}),
        "overloaded": "overloaded", "invalid": "invalid_request_error"},
    "openai-responses": {
        "head": sse({"type": "response.created", "response": {"id": "r"}}),
        "text": lambda t: sse({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": t}),
        "call": sse({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "id": "f1", "call_id": "c1", "name": "f", "arguments": ""}}),
        "args": lambda t: sse({"type": "response.function_call_arguments.delta", "item_id": "f1", "output_index": 1, "delta": t}),
        "end": lambda tool: sse({"type": "response.completed", "response": {"status": "completed", "output": [], "usage": {"input_tokens": 5, "output_tokens": 2}}}),
        "error": lambda kind: sse({"type": "error", "code": kind, "message": "it broke", "param": None}),
        "overloaded": "server_is_overloaded", "invalid": "invalid_request_error"},
    "gemini": {
        "head": b"", "text": lambda t: sse({"candidates": [{"content": {"role": "model", "parts": [{"text": t}]}}]}),
        "call": b"", "args": None,
        "end": lambda tool: sse({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}),
        "error": lambda kind: sse({"error": {"code": 503 if kind == "UNAVAILABLE" else 400, "message": "it broke", "status": kind}}),
        "overloaded": "UNAVAILABLE", "invalid": "INVALID_ARGUMENT"},
    "ollama-chat": {
        "head": b"", "text": lambda t: line({"model": "m", "message": {"role": "assistant", "content": t}, "done": False}),
        "call": b"", "args": None,
        "end": lambda tool: line({"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 2}),
        "error": lambda kind: line({"error": kind}), "overloaded": "server busy, please try again", "invalid": None},
    "cohere": {
        "head": sse({"type": "message-start", "id": "m"}) + sse({"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}}),
        "text": lambda t: sse({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": t}}}}),
        "call": sse({"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}}}}),
        "args": lambda t: sse({"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": t}}}}}),
        "end": lambda tool: sse({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL" if tool else "COMPLETE", "usage": {"tokens": {"input_tokens": 5, "output_tokens": 2}}}}),
        "error": None, "overloaded": None, "invalid": None},
    "bedrock-converse": {
        "head": aws("messageStart", {"role": "assistant"}), "text": lambda t: aws("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": t}}),
        "call": aws("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "c1", "name": "f"}}}),
        "args": lambda t: aws("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": t}}}),
        "end": lambda tool: aws("contentBlockStop", {"contentBlockIndex": 1 if tool else 0}) + aws("messageStop", {"stopReason": "tool_use" if tool else "end_turn"}) +
                aws("metadata", {"usage": {"inputTokens": 5, "outputTokens": 2}}),
        "error": lambda kind: fault(kind, {"message": "it broke"}), "overloaded": "serviceUnavailableException", "invalid": "validationException"},
}
names = subprocess.run(["claws-stream", "--dump-options"], stdout=subprocess.PIPE, check=True).stdout.decode()
names = next(l.split("\t")[5] for l in names.splitlines() if l.split("\t")[3:4] == ["wire"]).split("|")
names = [n for n in names if not n.endswith("-stream")]      # another name of the same
result(sorted(names) == sorted(wires), "every wire is tried", names)

# ---- a server that does what the case wants ----

plan, count = {}, {}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        key = self.path.split("/")[1]
        count[key] = count.get(key, 0) + 1
        try: plan[key](self, count[key])
        except OSError: pass
        self.close_connection = True
    def start(self, status=200, kind="text/event-stream"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.flush()
    def say(self, data):
        self.wfile.write(data)
        self.wfile.flush()
    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
env = dict(os.environ, CLAWS_API_KEY="key-of-the-tests", AWS_BEARER_TOKEN_BEDROCK="key-of-the-tests", CLAWS_BREAKER="off")
serial = [0]
def call(wire, does, *options, conversation='{"role":"user","content":"hello"}\n'):
    serial[0] += 1
    key = f"k{serial[0]}"
    plan[key] = does
    p = subprocess.run(["claws-stream", "-m", "custom/m", "--wire", wire, "--base-url", f"http://127.0.0.1:{server.server_port}/{key}", "--no-time", *options],
                       input=conversation.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    lines = [json.loads(l) for l in p.stdout.decode().splitlines()]
    done = [l for l in lines if l.get("type") == "turn_done"]
    said = [l for l in lines if l.get("role") == "assistant"]
    error = next((l for l in lines if l.get("type") == "error"), {})
    return {"status": p.returncode, "done": done, "stop": done[0]["stop_reason"] if len(done) == 1 else None, "said": said[0] if said else {},
            "class": error.get("class"), "error": error, "calls": count.get(key, 0), "retries": sum(l.get("type") == "retry" for l in lines), "lines": lines}
def mime(wire): return "application/vnd.amazon.eventstream" if wire.startswith("bedrock") else "application/x-ndjson" if wire == "ollama-chat" else "text/event-stream"

def streams(wire, w):
    half = w["head"] + w["text"]("one ") + w["text"]("two")
    def silent(h, n): time.sleep(3)
    def stalls(h, n): h.start(kind=mime(wire)); h.say(half); time.sleep(3)
    def resets(h, n): h.start(kind=mime(wire)); h.say(half); time.sleep(0.05); h.reset()
    def closes(h, n): h.start(kind=mime(wire)); h.say(half)
    def cut_call(h, n): h.start(kind=mime(wire)); h.say(half + w["call"] + w["args"]('{"a":'))
    r = call(wire, silent, "--first-byte-timeout", "150ms", "--retries", "0")
    result((r["status"], r["class"], r["stop"]) == (69, "timeout", "error"), f"ST14 {wire}: silent before the head", r)
    r = call(wire, stalls, "--idle-timeout", "150ms", "--retries", "0")
    result(r["stop"] == "truncated" and r["status"] == 76 and r["said"].get("content") == "one two", f"ST14 {wire}: silent in the middle", r)
    r = call(wire, resets, "--retries", "0")
    result(r["stop"] == "truncated" and r["status"] == 76, f"ST16 {wire}: a reset in the middle", r)
    r = call(wire, closes, "--retries", "0")
    result(r["stop"] == "truncated" and r["status"] == 76 and r["said"].get("content") == "one two", f"ST16 {wire}: an end in the middle", r)
    if w["args"]:
        r = call(wire, cut_call, "--retries", "0")
        result(r["stop"] == "truncated" and not r["said"].get("tool_calls"), f"RT03 {wire}: half a call is not kept", r)
    def fine(h, n): h.start(kind=mime(wire)); h.say(half + w["end"](False))
    r = call(wire, fine)
    result((r["status"], r["stop"], r["said"].get("content")) == (0, "end_turn", "one two"), f"{wire}: the same, whole", r)
    for status in (529, 503, 502, 429):
        def refuses(h, n, status=status): h.start(status, "application/json"); h.say(b'{"error":{"message":"later","type":"x"}}')
        r = call(wire, refuses, "--retries", "0")
        want = "rate_limit" if status == 429 else "overloaded"
        result(r["class"] == want and r["error"].get("status") == status, f"RT06 {wire}: {status} keeps its number", r["error"])
    if not w["error"]:
        return
    def breaks(h, n): h.start(kind=mime(wire)); h.say(half + w["call"] + (w["args"]('{"a":') if w["args"] else b"") + w["error"](w["overloaded"]))
    r = call(wire, breaks, "--retries", "2")
    result(r["stop"] == "error" and r["status"] in (69, 75) and not r["said"].get("tool_calls") and r["calls"] == 1, f"RT03 {wire}: an error in the middle", r)
    result(r["class"] in ("overloaded", "rate_limit"), f"RT03 {wire}: of its class", r["error"])
    def later(h, n):
        h.start(kind=mime(wire))
        h.say(w["error"](w["overloaded"]) if n == 1 else half + w["end"](False))
    r = call(wire, later, "--retries", "2")
    result((r["status"], r["calls"], r["retries"]) == (0, 2, 1), f"RT03 {wire}: an error before anything is tried again", r)
    if w["invalid"]:
        def wrong(h, n): h.start(kind=mime(wire)); h.say(w["error"](w["invalid"]))
        r = call(wire, wrong, "--retries", "2")
        result((r["calls"], r["retries"], r["stop"]) == (1, 0, "error") and r["class"] == "invalid_request", f"RT05 {wire}: what is wrong for good is not tried again", r)

def answers(wire, w):
    """What a model may say that breaks the next request."""
    if not w["args"]:
        return
    for name, args, ok in (("a lone surrogate", '{"a":"x\\ud99cy"}', True), ("an empty text", "", True), ("null", "null", True),
                           ("a list", "[]", False), ("a string", '"x"', False), ("a number", "3", False), ("half an object", '{"a": "b', False)):
        def says(h, n): h.start(kind=mime(wire)); h.say(w["head"] + w["text"]("well") + w["call"] + (w["args"](args) if args else b"") + w["end"](True))
        r = call(wire, says)
        calls = r["said"].get("tool_calls") or [{}]
        result(r["stop"] == "tool_use" and calls[0].get("name") == "f" and isinstance(calls[0].get("input"), dict) == ok, f"RQ14 RQ15 {wire}: arguments that are {name}", r["said"])
        again = ['{"role":"user","content":"hello"}', json.dumps(r["said"]),
                 json.dumps({"role": "tool", "tool_call_id": calls[0].get("id", ""), "name": "f", "content": "done \ud83d", "is_error": False})]
        bad = refused(wire, body(wire, again))
        result(not bad, f"RQ02 RQ14 {wire}: the request after {name} is legal", bad)

# ---- requests ----

def body(wire, conversation, model="custom/m", *options):
    p = subprocess.run(["claws-stream", "-m", model, "--wire", wire, "--base-url", "http://127.0.0.1:1", "--dry-run", *options],
                       input=("\n".join(conversation) + "\n").encode("utf-8", "surrogatepass"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    try: return json.loads(p.stdout.decode().splitlines()[-1])["body"]
    except Exception as e: return {"failed": f"{e}: {p.stdout[:200]} {p.stderr[:200]}"}

def pairs(events, bad):
    """events: ('call', id), ('result', id), ('other',): every call is answered at once, once, and nothing else is."""
    open_calls, seen = [], set()
    for kind, *rest in events:
        if kind == "call":
            if not rest[0] or rest[0] in seen: bad.append(f"call id {rest[0]!r} is empty or there twice")
            seen.add(rest[0]); open_calls.append(rest[0])
        elif kind == "result":
            if rest[0] not in open_calls: bad.append(f"a result for {rest[0]!r}, which is not open")
            else: open_calls.remove(rest[0])
        elif open_calls:
            bad.append(f"no result for {open_calls}"); open_calls = []
    if open_calls: bad.append(f"no result for {open_calls} at the end")

def refused(wire, b):
    """What the provider would say against a request."""
    bad, events = [], []
    if "failed" in b: return [b["failed"]]
    if b.get("tools") == [] or (b.get("toolConfig") or {}).get("tools") == []: bad.append("an empty list of tools")
    text = json.dumps(b)
    if "\\ud8" in text.replace("\\\\", "") or "\ufffd\\u" in text: bad.append("a lone surrogate")
    last = None
    if wire.startswith("anthropic") or wire == "bedrock-invoke":
        for m in b["messages"]:
            if m["role"] == last: bad.append("two messages of " + last)
            last = m["role"]
            content = m["content"] if isinstance(m["content"], list) else [{"type": "text", "text": m["content"]}]
            if not content: bad.append("no content")
            first = True
            for c in content:
                if c["type"] == "text" and not c["text"].strip(): bad.append("an empty text")
                if c["type"] == "tool_use":
                    events.append(("call", c["id"]))
                    if not isinstance(c["input"], dict): bad.append("an input that is no object")
                elif c["type"] == "tool_result": events.append(("result", c["tool_use_id"]))
                elif m["role"] == "user" and first: events.append(("other",))
                first = False
        if b["messages"][-1]["role"] == "assistant":
            c = b["messages"][-1]["content"]
            t = c if isinstance(c, str) else c[-1].get("text", "x")
            if t != t.rstrip(): bad.append("white space at the end")
    elif wire in ("openai-chat", "ollama-chat", "cohere"):
        for m in b["messages"]:
            if m["role"] == "assistant":
                events.append(("other",))
                for c in m.get("tool_calls") or []:
                    if wire != "ollama-chat": events.append(("call", c["id"]))
                    a = c["function"]["arguments"]
                    if not isinstance(a if wire == "ollama-chat" else json.loads(a), dict): bad.append("arguments that are no object")
            elif m["role"] == "tool":
                if wire != "ollama-chat": events.append(("result", m["tool_call_id"]))
            else: events.append(("other",))
            if m.get("content", 0) is None: bad.append("content null")
    elif wire == "openai-responses":
        for i in b["input"]:
            if i.get("type") == "function_call":
                events.append(("call", i["call_id"]))
                if not isinstance(json.loads(i["arguments"]), dict): bad.append("arguments that are no object")
            elif i.get("type") == "function_call_output": events.append(("result", i["call_id"]))
            elif i.get("type") != "reasoning": events.append(("other",))
    elif wire == "gemini":
        for m in b["contents"]:
            if m["role"] not in ("user", "model"): bad.append("role " + m["role"])
            if m["role"] == last: bad.append("two contents of " + last)
            last = m["role"]
            if not m["parts"]: bad.append("no parts")
            calls = [p["functionCall"]["name"] for p in m["parts"] if "functionCall" in p]
            results = [p["functionResponse"]["name"] for p in m["parts"] if "functionResponse" in p]
            if results and results != waiting: bad.append(f"results {results} for calls {waiting}")
            if m["role"] == "user" and not results and events and events[-1] == "calls": bad.append("calls without results")
            if calls: events.append("calls"); waiting = calls
            else: events.append("x")
        events = []
    elif wire == "bedrock-converse":
        for m in b["messages"]:
            if m["role"] == last: bad.append("two messages of " + last)
            last = m["role"]
            if not m["content"]: bad.append("no content")
            first = True
            for c in m["content"]:
                if "text" in c and not c["text"].strip(): bad.append("an empty text")
                if "toolUse" in c: events.append(("call", c["toolUse"]["toolUseId"]))
                elif "toolResult" in c: events.append(("result", c["toolResult"]["toolUseId"]))
                elif m["role"] == "user" and first: events.append(("other",))
                first = False
    pairs(events, bad)
    return bad

def U(t): return json.dumps({"role": "user", "content": t})
def A(t, *calls, **more): return json.dumps(dict({"role": "assistant", "content": t, "tool_calls": [{"id": i, "name": "f", "input": x} for i, x in calls]}, **more))
def T(i, t): return json.dumps({"role": "tool", "tool_call_id": i, "name": "f", "content": t, "is_error": False})
tool = json.dumps({"type": "tools", "tools": [{"name": "f", "description": "d", "input_schema": {
    "type": "object", "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}},
    "properties": {"a": {"type": ["string", "null"], "default": "x"}, "b": {"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0},
                   "c": {"anyOf": [{"const": "p"}, {"const": "q"}]}, "u": {"type": "string", "format": "uri"}, "n": {"$ref": "#/$defs/n"}},
    "additionalProperties": False}}]})

def requests(wire):
    two = [U("hi"), A("", ("c1", {"a": "1"}), ("c2", {})), T("c1", "r1"), T("c2", "r2")]
    cases = {
        "RQ19 two results for one call": two + [T("c1", "again"), U("and?")],
        "RQ19 results in another order": [U("hi"), A("", ("c1", {}), ("c2", {})), T("c2", "r2"), T("c1", "r1"), U("and?")],
        "RQ20 a result for a call that is not there": [U("hi"), T("nobody", "r"), A("no"), U("and?")],
        "RQ22 a NUL": [U("a\u0000b"), A("", ("c1", {"a": "\u0000"})), T("c1", "x\u0000y")],
        "RQ02 lone surrogates": [U("a\ud83d"), A("\udc00", ("c1", {"a": "\ud800"})), T("c1", "\udfff"), U("b")],
        "empty texts": [U("hi"), A(""), U("there"), A(" \n"), U("x")],
        "an empty result": [U("hi"), A("", ("c1", {})), T("c1", "")],
        "RQ11 thoughts of another": [U("hi"), A("x", ("c1", {}), thinking="hm", model="other/m", blocks={"maker": "other/m", "list": [{"type": "thinking", "thinking": "SECRETTHOUGHT", "signature": "SIGNATURE"}]}), T("c1", "r"), U("and?")],
    }
    for name, conversation in cases.items():
        for tools in ([], [tool]):
            b = body(wire, tools + conversation)
            bad = refused(wire, b)
            if "RQ11" in name and ("SIGNATURE" in json.dumps(b) or "SECRETTHOUGHT" in json.dumps(b)): bad.append("the thought of another is sent")
            result(not bad, f"{name} {wire}{' with tools' if tools else ''}", f"{bad} {json.dumps(b)[:300]}" if bad else "")
    b = body(wire, [U("hi"), A("Hello \n", stop_reason="interrupted")])
    bad = refused(wire, b)
    result(not bad, f"RQ05 {wire}: white space at the end", bad)
    b = body(wire, ['{"type":"tools","tools":[]}', U("hi")])
    result(not refused(wire, b) and "tools" not in b and "toolConfig" not in b, f"RQ08 {wire}: no tools, no member", b)
    b = body(wire, [tool, U("hi")])
    schema = json.dumps(b)
    result('"f"' in schema and (wire != "gemini" or not any(x in schema for x in ("$ref", "$defs", "additionalProperties", "exclusiveMinimum", '"const"', '"uri"'))), f"RQ07 {wire}: a schema as it takes one", schema[:400])
    text = json.dumps(body(wire, two))
    longer = json.dumps(body(wire, two + [A("ok"), U("more")]))
    key = {"gemini": '"contents": [', "openai-responses": '"input": ['}.get(wire, '"messages": [')
    start = text.index(key)
    part = text[start:text.rindex("]")].replace('"cache_control": {"type": "ephemeral"}', "").replace(", }", "}")
    result(longer[start:].replace('"cache_control": {"type": "ephemeral"}', "").replace(", }", "}").startswith(part), f"{wire}: the next request begins with the bytes of this one", part[-200:])

threads = []
for wire, w in wires.items():
    for job in ((streams, wire, w), (answers, wire, w), (requests, wire)):
        t = threading.Thread(target=job[0], args=job[1:])
        t.start(); threads.append(t)
        while sum(x.is_alive() for x in threads) > 3: time.sleep(0.01)
for t in threads: t.join()
print("done")
END
run /usr/bin/python3 rows.py
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
