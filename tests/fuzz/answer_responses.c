#define WIRE "openai-responses"
#include "answer_wire.h"
