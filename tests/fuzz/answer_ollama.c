#define WIRE "ollama-chat"
#include "answer_wire.h"
