// SPDX-License-Identifier: MIT
#pragma once

/// A short sentence. This one has more words than a comment may have, because it goes on and on about what the struct below
/// is, which is nothing at all, and about what it is not, which is everything else that anybody could think of.
struct Nothing {};
