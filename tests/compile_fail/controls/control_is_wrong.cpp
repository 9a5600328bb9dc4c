/// Says: the sentence
static_assert(false, "the sentence");
