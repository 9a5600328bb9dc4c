// SPDX-License-Identifier: MIT
/// Says: the sentence
/// Names: MyLayer
template <class T>
struct Check {
  static_assert(sizeof(T) == 0, "the sentence");
};

#ifdef WRONG
Check<int> check;
#endif
