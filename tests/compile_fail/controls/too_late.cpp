/// Says: the sentence
template <int i>
void go() {
  static_assert(i > 0, "the sentence");
  if constexpr (i > 0) go<i - 1>();
}

#ifdef WRONG
void start() { go<7>(); }
#endif
