"""What models say and what providers take, on every wire: the tests of faults share it.

  WORDS[wire]       how an answer is written: head, text(t), open(i, id, name), args(i, t), end(stop, usage), error(kind); mime.
                    i is the number of the call, t the raw text of its arguments. Gemini and Ollama send a call whole: args
                    is None there, and call(i, id, name, t) gives it. id None: the provider says none.
  answer(wire, text, calls, stop, usage)    a streamed answer; calls are (id, name, raw arguments)
  whole(wire, text, calls, stop, usage)     the same in one piece
  refusals(wire, body)                      what the provider would say against this request, by a reader of its own
  Server()                                  serve(key, does): does(handler, n) answers request n to /key/...; bodies[key]: what came
"""
import base64, http.server, json, re, socket, struct, threading, zlib

# ---- framing ----

def sse(o, name=None): return (f"event: {name}\n" if name else "").encode() + b"data: " + text_of(o) + b"\n\n"
def text_of(o): return o if isinstance(o, bytes) else json.dumps(o).encode()
def frame(headers, payload):
    h = b"".join(bytes([len(k)]) + k.encode() + b"\x07" + struct.pack(">H", len(v)) + v.encode() for k, v in headers)
    pre = struct.pack(">II", 16 + len(h) + len(payload), len(h))
    m = pre + struct.pack(">I", zlib.crc32(pre)) + h + payload
    return m + struct.pack(">I", zlib.crc32(m))
def aws(kind, o): return frame([(":message-type", "event"), (":event-type", kind)], text_of(o))
def fault(kind, o): return frame([(":message-type", "exception"), (":exception-type", kind)], text_of(o))
def line(o): return text_of(o) + b"\n"
def chunk(o): return aws("chunk", {"bytes": base64.b64encode(text_of(o)).decode()})
class Raw(str):
    """Text that stands in JSON as it is, right or wrong."""
def raw(o):
    """json.dumps, with Raw strings put in as they are."""
    held = []
    def swap(x):
        if isinstance(x, Raw): held.append(x); return f"@@raw{len(held) - 1}@@"
        if isinstance(x, dict): return {k: swap(v) for k, v in x.items()}
        if isinstance(x, list): return [swap(v) for v in x]
        return x
    t = json.dumps(swap(o))
    for i, h in enumerate(held): t = t.replace(f'"@@raw{i}@@"', h)
    return t.encode()
def known(**members): return {k: v for k, v in members.items() if v is not None}

# ---- each wire's own words ----

def anthropic(put):
    return {
        "head": put({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5}}}),
        "text": lambda t: put({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}) +
            b"".join(
            put({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": x}}) for x in t) +
            put({"type": "content_block_stop", "index": 0}),
        "think": lambda t, sign: put({"type": "content_block_start", "index": 9, "content_block": {"type": "thinking",
            "thinking": "", "signature": ""}}) +
            put({"type": "content_block_delta", "index": 9, "delta": {"type": "thinking_delta", "thinking": t}}) +
            put({"type": "content_block_delta", "index": 9, "delta": {"type": "signature_delta", "signature": sign}}) +
                put({"type": "content_block_stop", "index": 9}),
        "open": lambda i, id, name: put({"type": "content_block_start", "index": i + 1,
            "content_block": dict({"type": "tool_use", "name": name, "input": {}}, **known(id=id))}),
        "args": lambda i, t: put({"type": "content_block_delta", "index": i + 1, "delta": {"type": "input_json_delta",
            "partial_json": t}}),
        "close": lambda i: put({"type": "content_block_stop", "index": i + 1}),
        "end": lambda stop, usage: put({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage
            or {"output_tokens": 2}}) +
            put({"type": "message_stop"}),
        "stops": ("end_turn", "tool_use", "max_tokens"), "mime": "text/event-stream",
        "error": lambda kind: put({"type": "error", "error": {"type": kind, "message": "it broke"}}),
        "overloaded": "overloaded_error", "invalid": "invalid_request_error"}
def named(o): return sse(o, o["type"])
def invoke():
    return dict(anthropic(chunk), error=lambda kind: fault(kind, {"message": "it broke"}),
        mime="application/vnd.amazon.eventstream",
                overloaded="throttlingException", invalid="validationException")
def chat_chunk(delta, finish=None, **more): return sse(dict({"id": "x", "choices": [{"index": 0, "delta": delta,
    "finish_reason": finish}]}, **more))

def responses():
    kept = threading.local()
    def begin():
        kept.items, kept.places = {}, {}
        return sse({"type": "response.created", "response": {"id": "r"}})
    def at(key): return kept.places.setdefault(key, len(kept.places))
    def text(t):
        m = kept.items.setdefault(at("text"), {"type": "message", "id": "m", "role": "assistant",
            "content": [{"type": "output_text", "text": ""}]})
        m["content"][0]["text"] += "".join(t)
        return b"".join(sse({"type": "response.output_text.delta", "item_id": "m", "output_index": at("text"), "content_index": 0,
            "delta": x}) for x in t)
    def think(t, sign):
        k = at("think")
        kept.items[k] = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": t}],
            "encrypted_content": sign}
        return sse({"type": "response.reasoning_summary_text.delta", "item_id": "rs", "output_index": k, "summary_index": 0,
            "delta": t}) + \
            sse({"type": "response.output_item.done", "output_index": k, "item": kept.items[k]})
    def opened(i, id, name):
        k = at(i)
        kept.items[k] = dict({"type": "function_call", "id": f"fc{i}", "name": name, "arguments": ""}, **known(call_id=id))
        return sse({"type": "response.output_item.added", "output_index": k, "item": kept.items[k]})
    def args(i, t):
        kept.items[at(i)]["arguments"] += t
        return sse({"type": "response.function_call_arguments.delta", "item_id": f"fc{i}", "output_index": at(i), "delta": t})
    def end(stop, usage):
        cut = stop == "incomplete"
        response = {"id": "r", "status": stop, "output": [kept.items[k] for k in sorted(kept.items)], "usage": usage
            or {"input_tokens": 5, "output_tokens": 2}}
        if cut: response["incomplete_details"] = {"reason": "max_output_tokens"}
        return sse({"type": "response." + stop, "response": response})
    return {"begin": begin, "text": text, "think": think, "open": opened, "args": args, "end": end,
            "close": lambda i: sse({"type": "response.output_item.done", "output_index": at(i), "item": kept.items[at(i)]}),
            "stops": ("completed", "completed", "incomplete"), "mime": "text/event-stream",
            "error": lambda kind: sse({"type": "error", "code": kind, "message": "it broke", "param": None}),
            "overloaded": "server_is_overloaded", "invalid": "invalid_request_error"}

def gemini_chunk(parts, finish=None, usage=None):
    c = {"candidates": [dict({"content": {"role": "model", "parts": parts}}, **known(finishReason=finish))]}
    return sse(raw(dict(c, **known(usageMetadata=usage))))
def ollama_line(message, **more): return line(raw(dict({"model": "m", "message": dict({"role": "assistant", "content": ""},
    **message), "done": False}, **more)))
def cohere_event(kind, message=None, **more): return sse(dict({"type": kind},
    **({"delta": {"message": message}} if message else {}), **more))

WORDS = {
    "anthropic": anthropic(named),
    "anthropic-vertex": anthropic(named),
    "bedrock-invoke": invoke(),
    "openai-chat": {
        "head": chat_chunk({"role": "assistant", "content": ""}),
            "text": lambda t: b"".join(chat_chunk({"content": x}) for x in t),
        "think": lambda t, sign: chat_chunk({"reasoning_content": t}),
        "open": lambda i, id, name: chat_chunk({"tool_calls": [dict({"index": i, "type": "function", "function": {"name": name,
            "arguments": ""}}, **known(id=id))]}),
        "args": lambda i, t: chat_chunk({"tool_calls": [{"index": i, "function": {"arguments": t}}]}), "close": lambda i: b"",
        "end": lambda stop, usage: chat_chunk({}, stop) + sse({"id": "x", "choices": [], "usage": usage or {"prompt_tokens": 5,
            "completion_tokens": 2}}) + b"data: [DONE]\n\n",
        "stops": ("stop", "tool_calls", "length"), "mime": "text/event-stream",
        "error": lambda kind: sse({"choices": [], "error": {"code": 503 if kind == "overloaded" else 400, "message": "it broke",
            "type": kind}}),
        "overloaded": "overloaded", "invalid": "invalid_request_error"},
    "openai-responses": responses(),
    "gemini": {
        "head": b"", "text": lambda t: b"".join(gemini_chunk([{"text": x}]) for x in t),
        "think": lambda t, sign: gemini_chunk([{"text": t, "thought": True}]) + gemini_chunk([{"text": "",
            "thoughtSignature": sign}]),
        "args": None, "call": lambda i, id, name, t: gemini_chunk([{"functionCall": dict({"name": name, "args": Raw(t)},
            **known(id=id))}]),
        "end": lambda stop, usage: gemini_chunk([], stop, usage or {"promptTokenCount": 5, "candidatesTokenCount": 2}),
        "stops": ("STOP", "STOP", "MAX_TOKENS"), "mime": "text/event-stream",
        "error": lambda kind: sse({"error": {"code": 503 if kind == "UNAVAILABLE" else 400, "message": "it broke",
            "status": kind}}),
        "overloaded": "UNAVAILABLE", "invalid": "INVALID_ARGUMENT"},
    "ollama-chat": {
        "head": b"", "text": lambda t: b"".join(ollama_line({"content": x}) for x in t), "think": lambda t,
            sign: ollama_line({"thinking": t}),
        "args": None, "call": lambda i, id, name, t: ollama_line({"tool_calls": [dict({"function": {"index": i, "name": name,
            "arguments": Raw(t)}}, **known(id=id))]}),
        "end": lambda stop, usage: ollama_line({}, done=True, done_reason=stop, **(usage or {"prompt_eval_count": 5,
            "eval_count": 2})),
        "stops": ("stop", "stop", "length"), "mime": "application/x-ndjson",
        "error": lambda kind: line({"error": kind}), "overloaded": "server busy, please try again",
            "invalid": "invalid message content type: <nil>"},
    "cohere": {
        "head": cohere_event("message-start", id="m") + cohere_event("content-start", {"content": {"type": "text", "text": ""}},
            index=0),
        "text": lambda t: b"".join(cohere_event("content-delta", {"content": {"text": x}}, index=0) for x in t),
        "think": lambda t, sign: cohere_event("content-start", {"content": {"type": "thinking", "thinking": ""}}, index=1) +
            cohere_event("content-delta", {"content": {"thinking": t}}, index=1) + cohere_event("content-end", index=1),
        "open": lambda i, id, name: cohere_event("tool-call-start", {"tool_calls": dict({"type": "function",
            "function": {"name": name, "arguments": ""}}, **known(id=id))}, index=i),
        "args": lambda i, t: cohere_event("tool-call-delta", {"tool_calls": {"function": {"arguments": t}}}, index=i),
        "close": lambda i: cohere_event("tool-call-end", index=i),
        "end": lambda stop, usage: sse({"type": "message-end", "delta": {"finish_reason": stop, "usage": usage
            or {"tokens": {"input_tokens": 5, "output_tokens": 2}}}}),
        "stops": ("COMPLETE", "TOOL_CALL", "MAX_TOKENS"), "mime": "text/event-stream",
        "error": lambda kind: sse({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": kind, "usage": {}}}),
        "overloaded": "overloaded", "invalid": None},
    "bedrock-converse": {
        "head": aws("messageStart", {"role": "assistant"}),
        "text": lambda t: b"".join(aws("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": x}}) for x in t) +
            aws("contentBlockStop", {"contentBlockIndex": 0}),
        "think": lambda t, sign: aws("contentBlockDelta", {"contentBlockIndex": 9, "delta": {"reasoningContent": {"text": t}}}) +
            aws("contentBlockDelta", {"contentBlockIndex": 9, "delta": {"reasoningContent": {"signature": sign}}}) +
                aws("contentBlockStop", {"contentBlockIndex": 9}),
        "open": lambda i, id, name: aws("contentBlockStart", {"contentBlockIndex": i + 1,
            "start": {"toolUse": dict({"name": name}, **known(toolUseId=id))}}),
        "args": lambda i, t: aws("contentBlockDelta", {"contentBlockIndex": i + 1, "delta": {"toolUse": {"input": t}}}),
        "close": lambda i: aws("contentBlockStop", {"contentBlockIndex": i + 1}),
        "end": lambda stop, usage: aws("messageStop", {"stopReason": stop}) + aws("metadata", {"usage": usage
            or {"inputTokens": 5, "outputTokens": 2}}),
        "stops": ("end_turn", "tool_use", "max_tokens"), "mime": "application/vnd.amazon.eventstream",
        "error": lambda kind: fault(kind, {"message": "it broke"}), "overloaded": "serviceUnavailableException",
            "invalid": "validationException"},
}

def head(wire):
    w = WORDS[wire]
    return w["begin"]() if "begin" in w else w["head"]
def call(wire, i, id, name, t):
    w = WORDS[wire]
    if not w["args"]: return w["call"](i, id, name, t)
    return w["open"](i, id, name) + b"".join(w["args"](i, x) for x in (t[:3], t[3:]) if x) + w["close"](i)
def answer(wire, text="", calls=(), stop=None, usage=None, think=None):
    """stop: 0 the end, 1 calls, 2 the limit; else what fits."""
    w = WORDS[wire]
    stop = w["stops"][(1 if calls else 0) if stop is None else stop]
    b = head(wire)
    if think: b += w["think"](*think)
    if text: b += w["text"]([text] if isinstance(text, str) else text)
    return b + b"".join(call(wire, i, *c) for i, c in enumerate(calls)) + w["end"](stop, usage)

def whole(wire, text="", calls=(), stop=None, usage=None):
    stop = WORDS[wire]["stops"][(1 if calls else 0) if stop is None else stop]
    texts = [text] if text else []
    if wire in ("anthropic", "anthropic-vertex", "bedrock-invoke"):
        o = {"type": "message", "role": "assistant", "stop_reason": stop, "usage": usage or {"input_tokens": 5,
            "output_tokens": 2},
             "content": [{"type": "text", "text": t} for t in texts] + [dict({"type": "tool_use", "name": n, "input": Raw(t
                 or "{}")}, **known(id=i)) for i, n, t in calls]}
    elif wire in ("openai-chat", "cohere", "ollama-chat"):
        near = wire == "ollama-chat"
        m = {"role": "assistant", "content": [{"type": "text", "text": t} for t in texts] if wire == "cohere" else text}
        if calls: m["tool_calls"] = [dict({"type": "function", "function": {"name": n, "arguments": Raw(t
            or "{}") if near else t}}, **known(id=i)) for i, n, t in calls]
        if wire == "openai-chat": o = {"choices": [{"index": 0, "message": m, "finish_reason": stop}], "usage": usage
            or {"prompt_tokens": 5, "completion_tokens": 2}}
        elif near: o = dict({"model": "m", "message": m, "done": True, "done_reason": stop}, **(usage or {"prompt_eval_count": 5,
            "eval_count": 2}))
        else: o = {"id": "m", "message": m, "finish_reason": stop, "usage": usage or {"tokens": {"input_tokens": 5,
            "output_tokens": 2}}}
    elif wire == "openai-responses":
        o = {"id": "r", "object": "response", "status": stop, "usage": usage or {"input_tokens": 5, "output_tokens": 2},
             "output": [{"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text",
                 "text": t}]} for t in texts] +
                       [dict({"type": "function_call", "id": f"fc{k}", "name": n, "arguments": t}, **known(call_id=i)) for k, (i,
                           n, t) in enumerate(calls)]}
        if stop == "incomplete": o["incomplete_details"] = {"reason": "max_output_tokens"}
    elif wire == "gemini":
        parts = [{"text": t} for t in texts] + [{"functionCall": dict({"name": n, "args": Raw(t or "{}")}, **known(id=i))} for i,
            n, t in calls]
        o = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stop}], "usageMetadata": usage
            or {"promptTokenCount": 5, "candidatesTokenCount": 2}}
    else:
        blocks = [{"text": t} for t in texts] + [{"toolUse": dict({"name": n, "input": Raw(t or "{}")},
            **known(toolUseId=i))} for i, n, t in calls]
        o = {"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": stop, "usage": usage
            or {"inputTokens": 5, "outputTokens": 2}}
    return raw(o)

# ---- what a provider would say against a request ----

NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")
ID = re.compile(r"^[A-Za-z0-9_-]{1,64}$")

class Pairs:
    """Every call is answered at once and once, and nothing else is."""
    def __init__(self, bad): self.bad, self.open, self.seen = bad, [], set()
    def call(self, id):
        if not isinstance(id, str) or not id: self.bad.append(f"call id {id!r}")
        elif id in self.seen: self.bad.append(f"call id {id!r} is there twice")
        self.seen.add(id); self.open.append(id)
    def result(self, id):
        if id in self.open: self.open.remove(id)
        else: self.bad.append(f"a result for {id!r}, which is not open")
    def other(self):
        if self.open: self.bad.append(f"no result for {self.open}")
        self.open = []

def strings(o):
    if isinstance(o, str): yield o
    elif isinstance(o, dict):
        for k, v in o.items(): yield k; yield from strings(v)
    elif isinstance(o, list):
        for v in o: yield from strings(v)
def once(pairs):
    d = dict(pairs)
    if len(d) != len(pairs): raise ValueError(f"a key is there twice: {[k for k, v in pairs]}")
    return d
def an_object(text):
    try: return isinstance(json.loads(text), dict)
    except (TypeError, ValueError): return False

def of_anthropic(b, bad):
    pairs, last = Pairs(bad), None
    if b.get("tools"): functions([t["name"] for t in b["tools"]], [t["input_schema"] for t in b["tools"]], bad)
    for m in b["messages"]:
        if m["role"] == last == "user": bad.append("two messages of the user")     # of the assistant they are joined
        last = m["role"]
        content = m["content"] if isinstance(m["content"], list) else [{"type": "text", "text": m["content"]}]
        if not content: bad.append("no content")
        others = False
        for c in content:
            if c["type"] == "text" and not c["text"].strip(): bad.append("an empty text")
            if c["type"] in ("thinking", "redacted_thinking") and (m["role"] != "assistant"
                or "cache_control" in c): bad.append("a thought out of place")
            if c["type"] == "thinking" and not c.get("signature"): bad.append("a thought without signature")
            if c["type"] == "tool_use":
                pairs.call(c["id"])
                if m["role"] != "assistant": bad.append("a call of the user")
                if not ID.match(c["id"] or ""): bad.append("an id of other letters")
                if not isinstance(c["input"], dict): bad.append("an input that is no object")
            elif c["type"] == "tool_result":
                pairs.result(c["tool_use_id"])
                if others or m["role"] != "user": bad.append("a result behind something else")
            elif m["role"] == "user": pairs.other(); others = True
        if m["role"] == "user": pairs.other()
    if b["messages"][0]["role"] != "user": bad.append("the assistant speaks first")
    if json.dumps(b).count("cache_control") > 4: bad.append("more than four cache marks")
    return last, pairs

def of_chat(wire, b, bad):
    pairs, last = Pairs(bad), None
    if b.get("tools"): functions([t["function"]["name"] for t in b["tools"]], [t["function"]["parameters"] for t in b["tools"]],
        bad)
    waiting = 0
    for m in b["messages"]:
        last, content = m["role"], m.get("content")
        if last != "tool" and waiting: bad.append(f"{waiting} results are missing"); waiting = 0
        if last == "assistant":
            pairs.other()
            calls = m.get("tool_calls")
            if calls == []: bad.append("an empty list of calls")
            if not calls and content in (None, "", []) : bad.append("an assistant without a word")
            if wire == "ollama-chat": waiting = len(calls or [])
            for c in calls or []:
                a = c["function"]["arguments"]
                if wire != "ollama-chat": pairs.call(c["id"])
                if not (isinstance(a,
                    dict) if wire == "ollama-chat" else an_object(a)): bad.append("arguments that are no object")
                if not NAME.match(c["function"]["name"]): bad.append("name of a call")
        elif last == "tool":
            if wire == "ollama-chat":
                waiting -= 1
                if waiting < 0: bad.append("a result too many")
                if not m.get("tool_name"): bad.append("a result without name")
            else: pairs.result(m["tool_call_id"])
            if content in (None, []) or content == "" and wire == "cohere": bad.append("an empty result")
            if isinstance(content, list) and any(p["type"] == "image_url" for p in content): bad.append("an image in a result")
        elif last in ("user", "system", "developer"):
            pairs.other()
            if content in (None, []): bad.append("an empty " + last)
        else: bad.append("role " + last)
        if wire == "ollama-chat" and not isinstance(content, str): bad.append("content is no text")
    if waiting: bad.append(f"{waiting} results are missing at the end")
    return last, pairs

def of_responses(b, bad):
    pairs, last, thought = Pairs(bad), None, False
    if b.get("tools"): functions([t["name"] for t in b["tools"]], [t["parameters"] for t in b["tools"]], bad)
    items = set()
    for i in b["input"]:
        kind = i.get("type", "message")
        if i.get("id") and kind != "message":
            if i["id"] in items: bad.append("an item twice: " + i["id"])
            items.add(i["id"])
        if thought and (kind not in ("message", "function_call") or i.get("role",
            "assistant") != "assistant"): bad.append("a reasoning item without its following item")
        thought = kind == "reasoning"
        if kind == "function_call":
            pairs.call(i["call_id"]); last = "assistant"
            if not an_object(i["arguments"]): bad.append("arguments that are no object")
        elif kind == "function_call_output":
            pairs.result(i["call_id"]); last = "tool"
            if i["output"] is None: bad.append("an empty result")
        elif kind == "message":
            last = i["role"]
            if last != "assistant": pairs.other()
            if i["content"] in (None, []): bad.append("an empty message")
            want = "output_text" if last == "assistant" else ("input_text", "input_image", "input_file")
            if isinstance(i["content"],
                list) and any(c["type"] not in want for c in i["content"]): bad.append(f"content of {last}: {i['content']}")
        elif kind != "reasoning": bad.append("an item of type " + kind)
    if thought: bad.append("a reasoning item without its following item")
    return last, pairs

def of_gemini(b, bad):
    last, waiting = None, []
    for t in b.get("tools", []):
        functions([f["name"] for f in t["functionDeclarations"]], [], bad)
    for m in b["contents"]:
        if m["role"] not in ("user", "model"): bad.append("role " + m["role"])
        if m["role"] == last == "user": bad.append("two contents of the user")
        last = m["role"]
        if not m["parts"]: bad.append("no parts")
        for p in m["parts"]:
            if sum(k in p for k in ("text", "inlineData", "fileData", "functionCall",
                "functionResponse")) != 1: bad.append(f"a part of {list(p)}")
            if "text" in p and p["text"] == "" and "thoughtSignature" not in p: bad.append("an empty text")
        calls = [p["functionCall"] for p in m["parts"] if "functionCall" in p]
        results = [p["functionResponse"] for p in m["parts"] if "functionResponse" in p]
        if any(not isinstance(c.get("args", {}), dict) for c in calls): bad.append("args that are no object")
        if any(not isinstance(r.get("response"), dict) for r in results): bad.append("a response that is no object")
        if last == "user":
            if [r["name"] for r in results] != [c["name"] for c in waiting]: bad.append(f"results {results} for calls {waiting}")
            elif any(c.get("id") != r.get("id") for c, r in zip(waiting, results) if c.get("id")): bad.append("ids that differ")
            waiting = []
        elif results: bad.append("a result of the model")
        if calls and last == "user": bad.append("a call of the user")
        if calls: waiting = calls
    if waiting: bad.append(f"calls {waiting} without results")
    if b["contents"][0]["role"] != "user": bad.append("the model speaks first")
    return "assistant" if last == "model" else last, Pairs(bad)

def of_converse(b, bad):
    pairs, last, uses = Pairs(bad), None, False
    config = b.get("toolConfig")
    if config: functions([t["toolSpec"]["name"] for t in config["tools"] if "toolSpec" in t], [], bad)
    for m in b["messages"]:
        if m["role"] == last: bad.append("two messages of " + last)
        last = m["role"]
        if not m["content"]: bad.append("no content")
        others = False
        for c in m["content"]:
            if "text" in c and not c["text"].strip(): bad.append("an empty text")
            if "toolUse" in c:
                uses = True
                pairs.call(c["toolUse"]["toolUseId"])
                if not ID.match(c["toolUse"]["toolUseId"] or ""): bad.append("an id of other letters")
                if not isinstance(c["toolUse"]["input"], dict): bad.append("an input that is no object")
            elif "toolResult" in c:
                uses = True
                pairs.result(c["toolResult"]["toolUseId"])
                if others: bad.append("a result behind something else")
                if not c["toolResult"]["content"] or any("text" in x
                    and not x["text"].strip() for x in c["toolResult"]["content"]): bad.append("an empty result")
            elif m["role"] == "user": pairs.other(); others = True
        if m["role"] == "user": pairs.other()
    if uses and not config: bad.append("calls without toolConfig")
    if b["messages"][0]["role"] != "user": bad.append("the assistant speaks first")
    return last, pairs

def functions(names, schemas, bad):
    if len(set(names)) != len(names): bad.append("a tool is there twice")
    for n in names:
        if not NAME.match(n): bad.append("a tool's name: " + n)
    for s in schemas:
        if not isinstance(s, dict) or s.get("type") != "object": bad.append("a schema that is no object's")

def refusals(wire, body, prefill=False):
    bad = []
    try: b = body if isinstance(body, dict) else json.loads(body.decode("utf-8", "strict"), object_pairs_hook=once)
    except ValueError as e: return [f"no JSON: {e}"]
    if any(0xd800 <= ord(c) < 0xe000 for s in strings(b) for c in s): bad.append("a lone surrogate")
    if any("\0" in s for s in strings(b)): bad.append("a NUL")
    for key in ("tools", "toolConfig"):
        if key in b and not (b[key]["tools"] if key == "toolConfig" else b[key]): bad.append("an empty list of tools")
    if any(not t.get("functionDeclarations", 1) for t in b.get("tools", [])): bad.append("an empty list of functions")
    if b.get("system") in ("", []): bad.append("an empty system prompt")
    if wire in ("anthropic", "anthropic-vertex", "bedrock-invoke"):
        last, pairs = of_anthropic(b, bad)
        if not isinstance(b.get("max_tokens"), int) or b["max_tokens"] < 1: bad.append("no max_tokens")
        if ("model" in b) != (wire == "anthropic"): bad.append("model in the body")
        if ("anthropic_version" in b) == (wire == "anthropic"): bad.append("anthropic_version in the body")
    elif wire == "openai-responses": last, pairs = of_responses(b, bad)
    elif wire == "gemini": last, pairs = of_gemini(b, bad)
    elif wire == "bedrock-converse": last, pairs = of_converse(b, bad)
    else: last, pairs = of_chat(wire, b, bad)
    if pairs.open: bad.append(f"no result for {pairs.open} at the end")
    if last == "assistant" and not prefill: bad.append("the assistant speaks last")
    return bad

# ---- a server that does what a case wants ----

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    def __init__(self):
        self.plan, self.bodies, self.lock = {}, {}, threading.Lock()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *a): pass
            def do_POST(self):
                s = self.server
                body = self.rfile.read(int(self.headers["content-length"]))
                key = self.path.split("/")[1]
                with s.lock:
                    s.bodies.setdefault(key, []).append(body)
                    n = len(s.bodies[key])
                try: s.plan[key](self, n)
                except OSError: pass
                self.close_connection = True
            def start(self, status=200, kind="text/event-stream", **headers):
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("connection", "close")
                for k, v in headers.items(): self.send_header(k.replace("_", "-"), v)
                self.end_headers()
                self.wfile.flush()
            def say(self, data):
                self.wfile.write(data)
                self.wfile.flush()
            def reset(self):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
    def serve(self, key, does):
        self.plan[key] = does
        return f"http://127.0.0.1:{self.server_port}/{key}"

def report(ok, name, detail=""):
    """A line that the test's shell reads: each ends in one write."""
    print(("ok\t" if ok else "not ok\t") + name.replace("\n", " ") + "\t" + str(detail).replace("\n", " ").replace("\t",
        " ")[:700], flush=True)

def all_at_once(jobs, width=4):
    """Runs the jobs, (function, argument...) each, some at a time; what one of them raises is a failed test."""
    def work(job):
        with gate:
            try: job[0](*job[1:])
            except Exception as e:
                import traceback
                report(False, f"{job[0].__name__} {job[1:]}", traceback.format_exc()[-600:])
    gate = threading.Semaphore(width)
    threads = [threading.Thread(target=work, args=(j,)) for j in jobs]
    for t in threads: t.start()
    for t in threads: t.join()
    print("done", flush=True)
