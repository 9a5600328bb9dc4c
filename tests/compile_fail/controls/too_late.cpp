// SPDX-License-Identifier: MIT
/// Says: the sentence
#ifdef WRONG
#warning something else, which takes three lines
#warning and again
static_assert(false, "the sentence");
#endif
