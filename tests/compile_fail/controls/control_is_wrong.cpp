// SPDX-License-Identifier: MIT
/// Says: the sentence
static_assert(false, "the sentence");
