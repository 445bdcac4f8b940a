#define WIRE "bedrock-invoke"
#include "answer_wire.h"
