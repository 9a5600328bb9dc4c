// SPDX-License-Identifier: MIT
/// Says: the sentence
#ifdef WRONG
static_assert(false, "the sentence");
#endif
void warn(int unused) {}
