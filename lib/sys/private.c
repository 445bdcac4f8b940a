#include "sys/private.h"

#include <sys/prctl.h>

void process_private(void)
{
#ifndef __SANITIZE_ADDRESS__
	prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
#endif
}
