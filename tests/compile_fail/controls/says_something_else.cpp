// SPDX-License-Identifier: MIT
/// Says: a sentence that no compiler says
#ifdef WRONG
static_assert(false, "another sentence");
#endif
