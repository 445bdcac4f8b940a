#define WIRE "openai-chat"
#include "answer_wire.h"
