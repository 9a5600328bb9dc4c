/// Says: the sentence
#ifdef WRONG
static_assert(false, "the sentence");
static_assert(false, "and another");
#endif
