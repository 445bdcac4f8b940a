/* window.h - how large the windows of a server's models are, as the server itself said.
 *
 *   int64_t n = window_known(base_url, "my-model");   // > 0 tokens; 0 the server does not say; -1 it was not asked lately
 *   window_keep(base_url, answer, len, &e);            // the answer of GET {base}/models, to be known for a day
 *
 * Kept in ~/.cache/claws/windows, a file for each base URL; its time of change is when the server was asked. Read from an
 * answer are max_model_len (vLLM), context_window (Groq), context_length (OpenRouter, Together), max_context_length (LM
 * Studio, Mistral) and meta.n_ctx (llama.cpp). A model that the server does not list has the smallest window of those listed.
 * Nothing is asked here: claws-models(1) does. */
#ifndef LLM_WINDOW_H
#define LLM_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "json/json.h"

int64_t window_known(const char *base_url, const char *model);
/* An answer that is no list of models keeps that the server does not say. 0, or -1 with e. */
int window_keep(const char *base_url, const char *answer, size_t n, struct err *e);
/* The window that an entry of a list of models tells of; 0: none. */
int64_t window_of_entry(const struct json *j, int entry);

#endif
