// SPDX-License-Identifier: MIT
/// Says: the sentence
#ifdef WRONG
static_assert(false, "the sentence");
static_assert(false, "and another");
#endif
