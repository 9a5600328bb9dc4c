#include <doctest/doctest.h>

#include <vector>

#include "../layers.hpp"

using namespace tlm;
using namespace tlm::tests;

namespace {

/// The notebook's loop: the whole sequence is computed anew for every token.
template <class T>
std::vector<Token> recomputed(const T& model, const std::vector<Token>& input, std::size_t max_length) {
  std::vector<Token> X{0};
  X.insert(X.end(), input.begin(), input.end());
  while (X.size() < max_length) {
    const auto Y = model(Tokens{X});
    Token token = 0;
    for (std::size_t j = 1; j < T::codomain::cols; ++j)
      if (Y(Y.rows() - 1, j) > Y(Y.rows() - 1, std::size_t(token))) token = Token(j);
    X.push_back(token);
    if (token == 0) break;
  }
  return {X.begin() + 1, X.end()};
}

/// Answers token t with row t of a table, whatever was before.
struct Answers {
  using declared = is::Rowwise;
  using domain = Tokens;
  using codomain = Matrix<n, 4>;

  Matrix<4, 4> rows;

  codomain operator()(const domain& x) const {
    codomain Y{x.sequences()};
    for (std::size_t i = 0; i < x.rows(); ++i) Y.set_row(i, rows.row(std::size_t(x(i, 0))));
    return Y;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("decoding says what recomputing the whole sequence says", T, SmallLM<Block::definition>,
                   SmallLM<Block::inspirational>, SmallLM<Block::definition, float>) {
  std::vector<std::size_t> lengths;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Generator generator{seed};
    const T model = random_layer<T>(generator);
    const std::vector<Token> input = plain(random_rows<Tokens>(Sequences{3}, generator));
    const auto output = greedy(model, input, max_len);
    CHECK(output == recomputed(model, input, max_len));
    lengths.push_back(output.size());
  }
  // Some of these end by token 0, some by their length.
  CHECK(*std::min_element(lengths.begin(), lengths.end()) < max_len - 1);
  CHECK(*std::max_element(lengths.begin(), lengths.end()) == max_len - 1);
}

TEST_CASE("the logits of decoding are those of recomputing, within 1e-12 in double and 1e-5 in float") {
  const auto compare = []<class T>(const T& model, double tolerance) {
    Generator generator{1};
    const Tokens x = random_rows<Tokens>(Sequences{max_len}, generator);
    State<T> state{};
    for (std::size_t i = 0; i < max_len; ++i) {
      const auto whole = table(rows(model(rows(x, 0, i + 1)), i, 1));
      CHECK(distance(table(extend(model, state, rows(x, i, 1))), whole) <= tolerance * scale(whole));
    }
  };
  Generator generator{2};
  compare(random_layer<SmallLM<Block::definition>>(generator), 1e-12);
  compare(random_layer<SmallLM<Block::definition, float>>(generator), 1e-5);
}

TEST_CASE("ties go to the lowest token") {
  // After 0: a tie of 2 and 3. After 2: a tie of 1 and 3. After 1: a tie of all.
  const Answers model{{0, 1, 2, 2,  //
                       5, 5, 5, 5,  //
                       0, 4, 1, 4,  //
                       9, 0, 0, 0}};
  CHECK(greedy(model, {}, 10) == std::vector<Token>{2, 1, 0});
  CHECK(greedy(model, {}, 10) == recomputed(model, {}, 10));
}

TEST_CASE("decoding ends with token 0, or at max_len with the leading 0 counted") {
  const Answers ends_after_3{{0, 0, 0, 1,  //
                              0, 0, 1, 0,  //
                              0, 1, 0, 0,  //
                              1, 0, 0, 0}};
  CHECK(greedy(ends_after_3, {1, 3}, 100) == std::vector<Token>{1, 3, 0});
  CHECK(greedy(ends_after_3, {1}, 6) == std::vector<Token>{1, 2, 1, 2, 1});
  CHECK(greedy(ends_after_3, {1, 2}, 3) == std::vector<Token>{1, 2});
  CHECK(greedy(ends_after_3, {1, 0, 3}, 100) == std::vector<Token>{1, 0, 3, 0});
}
