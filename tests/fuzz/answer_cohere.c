#define WIRE "cohere"
#include "answer_wire.h"
