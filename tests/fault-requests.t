#!/bin/sh
# Kinds of faults that people met in what is sent, over every wire: histories that a provider would refuse, whatever a model, a tool or
# another model has put into them. Each request is looked at by a reader of its own (tests/servers/wires.py). The names say the kind.
. "${0%/*}/lib.sh"
cat >cases.py <<'END'
import hashlib, json, os, subprocess
from wires import *

server = Server()
styles = {"anthropic": "budget", "anthropic-vertex": "budget", "bedrock-invoke": "budget", "openai-chat": "effort"}
os.makedirs(os.environ["HOME"] + "/.config/claws", exist_ok=True)
with open(os.environ["HOME"] + "/.config/claws/providers.json", "w") as f:
    json.dump([{"name": w, "wire": w, "base_url": "http://127.0.0.1:1", "key": "optional", "auth": "bearer", "thinking": styles.get(w, "wire")} for w in WORDS], f)
env = dict(os.environ, CLAWS_API_KEY="key-of-the-tests", AWS_BEARER_TOKEN_BEDROCK="key-of-the-tests", CLAWS_BREAKER="off", CLAWS_SESSION=os.environ["T"] + "/s.log")
# What claws-stream makes legal by itself; the rest is mended by claws-compact, which goes before it.
ALONE = ("RQ14 RQ15 arguments that are none", "RQ19 two results for one call", "RQ19 results in another order", "RQ20 a result for a call that is not there",
         "RQ20 ids of other makers", "RQ22 a NUL", "RQ02 lone surrogates", "empty texts", "an empty result", "a result of blanks", "an empty system prompt", "many of the user")
def lines(conversation): return ("\n".join(x if isinstance(x, str) else json.dumps(x) for x in conversation) + "\n").encode("utf-8", "surrogatepass")
def stream(wire, conversation, *options, model="m", url="http://127.0.0.1:1"):
    return subprocess.run(["claws-stream", "-m", wire + "/" + model, "--base-url", url, "--no-time", *options],
                          input=lines(conversation), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
def body(wire, conversation, *options, model="m", healed=False):
    if healed:
        p = subprocess.run(["claws-compact"], input=lines(conversation), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        conversation = [p.stdout.decode().rstrip("\n")]
    p = stream(wire, conversation, "--dry-run", *options, model=model)
    try: return json.loads(p.stdout.decode().splitlines()[-1], object_pairs_hook=once)["body"]
    except Exception as e: raise Exception(f"{e}: {p.stdout[:300]} {p.stderr[:300]}")
def ask(wire, does, conversation, *options, model="m", key=""):
    """The assistant's message, and the bodies that were sent."""
    key = f"{wire}-{key}".replace(" ", "-")
    if isinstance(does, bytes):
        data = does
        def does(h, n): h.start(kind=WORDS[wire]["mime"]); h.say(data)
    server.bodies.pop(key, None)
    p = stream(wire, conversation, *options, model=model, url=server.serve(key, does))
    said = [l for l in map(json.loads, p.stdout.decode().splitlines()) if l.get("role") == "assistant"]
    return (said or [{"failed": (p.stdout[-300:], p.stderr[-300:])}])[0], server.bodies.get(key, []), p

def U(t, **more): return dict({"role": "user", "content": t}, **more)
def A(t, *calls, **more): return dict({"role": "assistant", "content": t, "tool_calls": [{"id": i, "name": "f", "input": x} for i, x in calls]}, **more)
def R(i, t, **more): return dict({"role": "tool", "tool_call_id": i, "name": "f", "content": t, "is_error": False}, **more)
SCHEMA = {"type": "object", "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}},
          "properties": {"a": {"type": ["string", "null"], "default": "x"}, "b": {"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0},
                         "c": {"anyOf": [{"const": "p"}, {"const": "q"}]}, "u": {"type": "string", "format": "uri"}, "n": {"$ref": "#/$defs/n"}},
          "additionalProperties": False}
TOOLS = {"type": "tools", "tools": [{"name": "f", "description": "d", "input_schema": SCHEMA}]}
def tell(wire, name, conversation, also=None, prefill=False, healed=False):
    b = body(wire, conversation, healed=healed)
    bad = refusals(wire, b, prefill)
    if also: bad += [x for x in [also(b)] if x]
    report(not bad, f"{name} {wire}", (bad, json.dumps(b)[-500:]))

def histories(wire):
    two = [U("hi"), A("", ("c1", {"a": "1"}), ("c2", {})), R("c1", "r1"), R("c2", "r2")]
    raw = [U("hi"), A("", ("c1", {}), ("c2", {}), ("c3", {}), ("c4", {})) ]
    raw[1]["tool_calls"] = [{"id": f"c{i}", "name": "f", "input": v} for i, v in enumerate(('{"a": "x', None, [], "x", 3))]
    cases = {
        "RQ01 a call without result, and a new prompt": [U("hi"), A("", ("c1", {}), ("c2", {})), R("c2", "r2"), U("and?")],
        "RQ01 a call without result at the end": [U("hi"), A("", ("c1", {}), ("c2", {})), R("c1", "r1")],
        "RQ01 no result at all": [U("hi"), A("x", ("c1", {}))],
        "RQ01 calls without results, twice": [U("hi"), A("x", ("c1", {})), A("y", ("c2", {})), U("and?")],
        "RQ14 RQ15 arguments that are none": raw + [R(f"c{i}", "bad", is_error=True) for i in range(5)] + [U("and?")],
        "RQ19 two results for one call": two + [R("c1", "again"), U("and?")],
        "RQ19 results in another order": [U("hi"), A("", ("c1", {}), ("c2", {})), R("c2", "r2"), R("c1", "r1"), U("and?")],
        "RQ19 one id in two turns": [U("hi"), A("", ("call_0", {})), R("call_0", "1"), A("", ("call_0", {})), R("call_0", "2"), U("and?")],
        "RQ19 one id twice in a turn": [U("hi"), A("", ("call_0", {}), ("call_0", {"a": "2"})), R("call_0", "1"), R("call_0", "2"), U("and?")],
        "RQ19 a result far behind its call": [U("hi"), A("", ("c1", {})), R("c1", "r"), A("ok"), U("x"), R("c1", "late"), U("and?")],
        "RQ20 a result for a call that is not there": [U("hi"), R("nobody", "r"), A("no"), U("and?")],
        "RQ20 ids of other makers": [U("hi"), A("", ("functions.f:0", {}), ("é ü", {}), ("x" * 200, {})), R("functions.f:0", "1"), R("é ü", "2"), R("x" * 200, "3"), U("and?")],
        "RQ22 a NUL": [{"role": "system", "content": "s\0t"}, U("a\0b"), A("c\0", ("c1", {"a": "\0"})), R("c1", "x\0y"), U("\0")],
        "RQ02 lone surrogates": [{"role": "system", "content": "\ud83d"}, U("a\ud83d"), A("\udc00", ("c1", {"a": "\ud800", "\udfff": 1})), R("c1", "\udfff"), U("b")],
        "empty texts": [U("hi"), A(""), U("there"), A(" \n"), U("x"), A("", ("c1", {})), R("c1", ""), U("")],
        "an empty system prompt": [{"role": "system", "content": ""}, U("hi")],
        "an empty result": [U("hi"), A("", ("c1", {})), R("c1", "")],
        "a result of blanks": [U("hi"), A("", ("c1", {})), R("c1", " \n"), U("x")],
        "it begins with the assistant": [A("I begin"), U("hi")],
        "it begins with a result": [R("c9", "r"), U("hi")],
        "many of the user": [U("a"), U("b"), U("c")],
        "many of the assistant": [U("a"), A("b"), A("c", ("c1", {})), R("c1", "r"), A("d"), A("e"), U("f")],
    }
    for name, conversation in cases.items():
        if name in ALONE: tell(wire, name, conversation)
        tell(wire, name + ", healed,", conversation, healed=True)
        tell(wire, name + ", healed, with tools,", [TOOLS] + conversation, healed=True)
    for name, text in (("white space at the end", "Hello \n"), ("white space alone", " \n\t"), ("nothing", "")):
        def ends(b):
            t = json.dumps(b.get("messages", b.get("contents", b.get("input")))[-1])
            if "Hello" in t and ("Hello " in t or "Hello\\n" in t): return "white space at the end"
        if wire in ("anthropic", "anthropic-vertex", "bedrock-invoke", "bedrock-converse"):      # others take it
            tell(wire, f"RQ05 {name}", [U("hi"), A(text, stop_reason="interrupted")], ends, prefill=True)
        tell(wire, f"RQ05 {name}, and a prompt", [U("hi"), A(text, stop_reason="interrupted"), U("go on")])
    for tools in ('{"type":"tools","tools":[]}', '{"type":"tools","tools":[]}\n{"type":"tools","tools":[]}'):
        tell(wire, "RQ08 no tools", [tools, U("hi")], lambda b: "tools" in b or "toolConfig" in b)
    tell(wire, "RQ08 tools that are taken back", [TOOLS, '{"type":"tools","tools":[]}', U("hi")], lambda b: "tools" in b or "toolConfig" in b)

def schemas(wire):
    b = body(wire, [TOOLS, U("hi")])
    text = json.dumps(b)
    if wire == "gemini":
        report('"f"' in text and not any(x in text for x in ("$ref", "$defs", "additionalProperties", "exclusiveMinimum", '"const"', '"uri"')), f"RQ07 {wire}: a schema as it takes one", text[-600:])
    else:
        t = (b["toolConfig"]["tools"] if "toolConfig" in b else b["tools"])[0]
        got = t.get("input_schema") or t.get("parameters") or (t.get("function") or {}).get("parameters") or t["toolSpec"]["inputSchema"]["json"]
        report(got == SCHEMA, f"RQ07 {wire}: the schema as it was written", got)
    for name, s in (("no type", {"properties": {}}), ("nothing", {}), ("circles", {"type": "object", "properties": {"a": {"$ref": "#"}}}), ("true", {"type": "object", "properties": {"a": True}}),
                    ("a reference to nowhere", {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}}), ("an enum of numbers", {"type": "object", "properties": {"a": {"type": "integer", "enum": [1, 2]}}})):
        p = stream(wire, [{"type": "tools", "tools": [{"name": "f", "description": "d", "input_schema": s}]}, U("hi")], "--dry-run")
        try: b = json.loads(p.stdout)["body"]; bad = refusals(wire, b)
        except Exception as e: bad = [f"{e} {p.stdout} {p.stderr}"]
        if wire == "gemini" and not bad and "$ref" in json.dumps(b): bad = ["$ref"]
        report(not bad, f"RQ07 {wire}: a schema of {name}", bad)

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
os.makedirs(os.environ["T"] + "/s.log.d/blobs")
def blob(data):
    h = hashlib.sha256(data).hexdigest()
    with open(f"{os.environ['T']}/s.log.d/blobs/sha256-{h}", "wb") as f: f.write(data)
    return "sha256:" + h
BLOBS = {"good": (blob(PNG), True), "text": (blob(b"hello, this is a text"), False), "empty": (blob(b""), False), "half": (blob(PNG[:len(PNG) // 2]), False),
         "missing": ("sha256:" + "0" * 64, False), "gif": (blob(GIF), True), "a head alone": (blob(PNG[:8]), False), "html": (blob(b"<html>not found</html>"), False)}
def images(wire):
    for name, (ref, good) in BLOBS.items():
        image = [{"media_type": "image/png", "blob": ref}]
        for where, conversation in (("user", [U("see", images=image)]), ("image alone", [U("", images=image)]),
                                    ("result", [U("hi"), A("", ("c1", {}), ("c2", {})), R("c1", "seen", images=image), R("c2", "r"), U("and?")])):
            b = body(wire, conversation)
            bad, text = refusals(wire, b), json.dumps(b)
            raw_ = base64.b64encode(PNG if name == "good" else GIF).decode()
            # Cohere's command models and results on some wires hold text alone: then a note says so
            sent = raw_ in text
            if sent != good and not (good and "image" in text and where == "result"): bad.append(f"sent: {sent}")
            if name == "gif" and sent and "image/png" in text: bad.append("the type that the name says")
            if not sent and "image" not in text: bad.append("no note")
            report(not bad, f"RQ10 {wire}: an image, {name}, {where}", (bad, text[-400:]))

SIGNS = ("anthropic", "anthropic-vertex", "bedrock-invoke", "bedrock-converse", "gemini", "openai-responses")
def thoughts():
    first = [TOOLS, U("hi")]
    made = {}
    for i, wire in enumerate(WORDS):
        sign = base64.b64encode(f"signature-{i}-of-its-maker".encode()).decode()
        said, sent, p = ask(wire, answer(wire, "well", [(f"c{i}", "f", '{"a":"1"}')], think=(f"THOUGHT{i}.", sign)), first, "--thinking", "2000", model=f"m{i}", key="think")
        made[wire] = (said, sign, i)
        report(f"THOUGHT{i}." in said.get("thinking", ""), f"RQ11 {wire}: a thought is heard", (said, p.stderr))
    def secret(b, wire): return made[wire][1] in json.dumps(b) or f"THOUGHT{made[wire][2]}." in json.dumps(b)
    for a in WORDS:
        own = first + [made[a][0], R(made[a][0]["tool_calls"][0]["id"], "r")]
        b = body(a, own, "--thinking", "2000", model=f"m{made[a][2]}")
        bad = refusals(a, b)
        if a in SIGNS and made[a][1] not in json.dumps(b): bad.append("its own thought is not sent back")
        report(not bad, f"RQ11 {a}: its own thought goes back", (bad, json.dumps(b)[-500:]))
        b = body(a, own, "--thinking", "2000", model="another")
        bad = refusals(a, b)
        if secret(b, a): bad.append("the thought of another model")
        report(not bad, f"RQ11 {a}: not to another model of the same wire", (bad, json.dumps(b)[-500:]))
        for w in WORDS:
            if w == a: continue
            there = own + [U("you?")]
            b = body(w, there, "--thinking", "2000", model=f"m{made[w][2]}")
            bad = refusals(w, b)
            if secret(b, a): bad.append(f"a thought of {a}")
            back = there + [made[w][0], R(made[w][0]["tool_calls"][0]["id"], "r2")]
            c = body(w, back, "--thinking", "2000", model=f"m{made[w][2]}")
            bad += refusals(w, c)
            if secret(c, a): bad.append(f"a thought of {a}, later")
            d = body(a, back + [U("and you?")], "--thinking", "2000", model=f"m{made[a][2]}")
            bad += refusals(a, d)
            if secret(d, w): bad.append(f"a thought of {w} goes to {a}")
            report(not bad, f"RQ11 {a}, then {w}, and back", (bad, json.dumps(c)[-300:], json.dumps(d)[-300:]))

def answers(wire):
    """What a model may say that breaks the next request."""
    kinds = [("a lone surrogate", '{"a":"x\\ud99cy"}', True), ("null", "null", True), ("a list", "[]", False), ("a string", '"x"', False), ("a number", "3", False)]
    if WORDS[wire]["args"]: kinds += [("nothing", "", True), ("half an object", '{"a": "b', False), ("two objects", '{"a":1}{"a":2}', False)]
    for name, args, good in kinds:
        said, sent, p = ask(wire, answer(wire, "well", [("c1", "f", args)]), [TOOLS, U("hi")], key="says" + name)
        calls = said.get("tool_calls") or [{}]
        report(said.get("stop_reason") == "tool_use" and calls[0].get("name") == "f" and isinstance(calls[0].get("input"), dict) == good, f"RQ14 RQ15 {wire}: arguments that are {name}", said)
        tell(wire, f"RQ02 RQ14 the request after {name}", [TOOLS, U("hi"), said, R(calls[0].get("id", ""), "done \ud83d"), U("x")])
    for name, form in (("ids", "c1"), ("no ids", None), ("empty ids", "")):
        said, sent, p = ask(wire, answer(wire, "", [(form, "f", "{}"), (form, "f", '{"a":"2"}')]), [TOOLS, U("hi")], key="ids" + name)
        ids = [c["id"] for c in said.get("tool_calls", [])]
        report(len(set(ids)) == 2 and all(ids), f"RQ19 RQ20 {wire}: two calls with {name}", said)
        if ids: tell(wire, f"RQ19 RQ20 the request after {name}", [TOOLS, U("hi"), said] + [R(i, "r") for i in ids])

def refused(wire):
    """RQ13: what a server refuses is left out once, and the second request is another one."""
    inner = {"message": "Unsupported parameter: 'temperature' is not supported with this model.", "type": "invalid_request_error", "code": "unsupported_parameter"}
    says = {"gemini": {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": inner["message"]}}, "cohere": {"id": "x", "message": inner["message"]},
            "bedrock-converse": {"message": inner["message"]}, "bedrock-invoke": {"message": inner["message"]}, "ollama-chat": {"error": inner["message"]}}
    for what, option in (("temperature", "0.5"), ("thinking", "2000")):
        words = json.dumps(says.get(wire, {"type": "error", "error": inner})).replace("temperature", what).encode()
        for ever in (False, True):
            def does(h, n):
                if n == 1 or ever: h.start(400, "application/json"); h.say(words)
                else: h.start(kind=WORDS[wire]["mime"]); h.say(fine)
            fine = answer(wire, "well")
            said, sent, p = ask(wire, does, [U("hi")], "--" + what, option, key=f"rq13{what}{ever}")
            report(len(sent) == 2 and len(set(sent)) == 2 and (p.returncode == 0) == (not ever), f"RQ13 {wire}: {what} refused {'for ever' if ever else 'once'}",
                   (len(sent), p.returncode, sent[:2], p.stdout[-200:]))

def prefix(wire):
    """The next request begins with the bytes of this one: what caches are for."""
    two = [TOOLS, U("hi"), A("", ("c1", {"a": "1"}), ("c2", {})), R("c1", "r1"), R("c2", "r2")]
    text, longer = json.dumps(body(wire, two)), json.dumps(body(wire, two + [A("ok"), U("more")]))
    key = {"gemini": '"contents": [', "openai-responses": '"input": ['}.get(wire, '"messages": [')
    start = text.index(key)
    def plain(t): return t.replace('"cache_control": {"type": "ephemeral"}', "").replace(", }", "}")
    part = plain(text[start:text.rindex("]")])
    report(plain(longer[start:]).startswith(part), f"{wire}: the next request begins with the bytes of this one", part[-200:])

all_at_once([(thoughts,)] + [(f, wire) for f in (histories, schemas, images, answers, refused, prefix) for wire in WORDS], 5)
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
