/* replay.c - the other main of a fuzz target: runs it once on each file named, so that every seed and every input that
 * once broke something is tried by `make check`, with any compiler. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f || fseek(f, 0, SEEK_END) != 0) {
			perror(argv[i]);
			return 1;
		}
		size_t size = (size_t)ftell(f);
		uint8_t *data = malloc(size ? size : 1);   /* exactly as long, so that a sanitizer sees a byte too far */
		rewind(f);
		if (!data || fread(data, 1, size, f) != size) {
			perror(argv[i]);
			return 1;
		}
		fclose(f);
		printf("%s\n", argv[i]);
		fflush(stdout);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	return 0;
}
