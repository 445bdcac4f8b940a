#define WIRE "gemini"
#include "answer_wire.h"
