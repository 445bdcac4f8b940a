#define WIRE "bedrock-converse"
#include "answer_wire.h"
