// SPDX-License-Identifier: MIT
/// Says: the sentence
/// Explains: a reason that no compiler gives
#ifdef WRONG
static_assert(false, "the sentence");
#endif
