/* gemini_args.h - arguments of a call that come by JSON path (streamFunctionCallArguments of Vertex). Private to lib/llm.
 *
 *   {"jsonPath":"$.a.b[0]","stringValue":"x","willContinue":true}
 *
 * https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc : pieces of one string come one
 * after another under the same path; numbers, booleans and nulls come whole.
 *
 * gemini_args appends one JSON object, its members in the order in which they came, for an array of all pieces. A path that
 * is none is ignored; a place in an array beyond its end is its end. Limits: GEMINI_DEPTH steps in a path, GEMINI_VALUES
 * values. -1: something was ignored; the object is whole JSON all the same. */
#ifndef LLM_GEMINI_ARGS_H
#define LLM_GEMINI_ARGS_H

#include "json/json.h"

#define GEMINI_DEPTH 32
#define GEMINI_VALUES 4096

int gemini_args(struct buf *out, const struct json *j, int pieces);

#endif
