#pragma once
/* Lines that print() in an algorithm writes. */

#include "calotype/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `text` with each {} replaced by the next value, and {{ by a brace, as one line to the context's hook, to
 * that of calotype_set_print, or to stderr. The context may be null. `kinds` has a letter a value: 'i'
 * signed, 'u' unsigned, 'b' bool, 's' the bits of a float, 'd' those of a double; floats are written with as
 * many digits as tell them apart. A line that needs more than 1000 bytes is cut. */
void calotype_print(const calotype_context* context, const char* text, const int64_t* values,
                    const char* kinds);

#ifdef __cplusplus
}
#endif
