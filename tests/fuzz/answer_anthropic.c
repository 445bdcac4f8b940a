#define WIRE "anthropic"
#include "answer_wire.h"
