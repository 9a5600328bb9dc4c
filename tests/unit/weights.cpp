// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "../shapes.hpp"

/// Weights by their names.
namespace tlm::tests::in_weights {

namespace {

using Model = SmallLM<Block::definition>;

/// Whether a layer has a weight with this path, as the compiler knows it.
template <Symbol path, class Layer>
constexpr bool has = detail::index_of_weight<Layer>(path) < detail::weight_list<Layer>.size();

}  // namespace

TEST_CASE("every weight is found by the path under which it is visited, and it is the very weight") {
  Model model;
  std::map<const void*, std::string> visited;
  for (const auto& weight : parameters(model)) visited[weight.numbers] = weight.path;
  CHECK((visited.size() == parameters(model).size() && visited.size() == 32));

  const auto path_of = [&](const auto& W) { return visited.at(W.data()); };
  CHECK(path_of(weight<"Em.W_e">(model)) == "Em.W_e");
  CHECK(path_of(weight<"PE.PE">(model)) == "PE.PE");
  CHECK(path_of(weight<"DB_1.N_ca.a">(model)) == "DB_1.N_ca.a");
  CHECK(path_of(weight<"DB_1.CA.W_Q">(model)) == "DB_1.CA.W_Q");
  CHECK(path_of(weight<"DB_1.CA.W_K">(model)) == "DB_1.CA.W_K");  // of the shape of W_Q
  CHECK(path_of(weight<"DB_2.CA.W_Q">(model)) == "DB_2.CA.W_Q");
  CHECK(path_of(weight<"DB_2.FF.L">(model)) == "DB_2.FF.L");
  CHECK(path_of(weight<"Φ.Y">(model)) == "Φ.Y");
  CHECK(path_of(weight<"Φ.B">(model)) == "Φ.B");

  // A part is found by its type, however deep: the first of several.
  CHECK(path_of(weight<"A">(part<FeedForward<d_model, d_ff, double>>(model))) == "DB_1.FF.A");
  CHECK(path_of(weight<"Y">(part<FinalLayer<d_model, vocab_size, double>>(model))) == "Φ.Y");
  // What it derives from is a part, too.
  CHECK(path_of(part<Times<"A", d_model, d_ff, double>>(model).W) == "DB_1.FF.A");
  // So is the model itself. What is found in a const model is const.
  const bool itself = &part<Model>(model) == &model;
  CHECK(itself);
  using Part = FeedForward<d_model, d_ff, double>;
  static_assert(std::is_same_v<decltype(part<Part>(std::as_const(model))), const Part&>);
  static_assert(std::is_same_v<decltype(weight<"DB_1.FF.A">(model)), Matrix<std::size_t{d_model}, d_ff, double>&>);
  static_assert(
      std::is_same_v<decltype(weight<"DB_1.FF.K">(std::as_const(model))), const Matrix<std::size_t{1}, d_ff, double>&>);
}

namespace {

/// Weights with a number of rows that is an int, as one writes it. The visitor is copied.
struct WithInts {
  using codomain = Matrix<n, 3>;
  Matrix<2, 3> A;
  Matrix<1, 3> b;
  static constexpr void weights(auto visit, auto& layer) {
    visit("A", layer.A);
    visit("b", layer.b);
  }
};

}  // namespace

TEST_CASE("a weight whose rows are an int is found, too") {
  WithInts layer;
  CHECK(&weight<"A">(layer) == &layer.A);
  CHECK(&weight<"b">(std::as_const(layer)) == &layer.b);
}

// A text that is not a path leads to no weight: a part of a path, a path with a wrong index, a path in another layer.
static_assert(has<"DB_1.FF.A", Model> && has<"DB_2.FF.A", Model>);
static_assert(!has<"DB_1.FF", Model> && !has<"FF.A", Model> && !has<"A", Model> && !has<"", Model>);
static_assert(!has<"DB_0.FF.A", Model> && !has<"DB_3.FF.A", Model> && !has<"DB.FF.A", Model> &&
              !has<"DB_12.FF.A", Model>);
static_assert(!has<"DB_1.FF.A.", Model> && !has<"DB_1.FF.AA", Model> && !has<".DB_1.FF.A", Model>);
static_assert(!has<"FF.A", Stack<FeedForward<6, 7>, 1>> && has<"FF_1.A", Stack<FeedForward<6, 7>, 1>>);
static_assert(has<"FF_12.A", Stack<FeedForward<6, 7>, 12>> && !has<"FF_13.A", Stack<FeedForward<6, 7>, 12>>);

TEST_CASE("the paths of twelve layers, of which three have two digits") {
  Stack<Times<"L", 2, 2, double>, 12> layers;
  std::string paths;
  for (const auto& weight : parameters(layers)) paths += " " + std::string(weight.path);
  CHECK(paths == " T_1.L T_2.L T_3.L T_4.L T_5.L T_6.L T_7.L T_8.L T_9.L T_10.L T_11.L T_12.L");
}

TEST_CASE("zero_grad leaves no weight as it was, and makes what a gradient begins with") {
  auto model = random_layer<Model>(Generator{1});
  CHECK(distance_of_weights(model, Model{}) > 0.1);
  zero_grad(model);
  CHECK(distance_of_weights(model, Model{}) == 0);
}

TEST_CASE("a weight has its path, its role and its shape") {
  const Model model;
  std::set<std::string> factors{"N.a"}, summands{"N.b", "Φ.B"};
  for (const std::string DB : {"DB_1.", "DB_2."}) {
    factors.insert({DB + "N_ca.a", DB + "FF.N_ff.a"});
    summands.insert({DB + "N_ca.b", DB + "CA.B", DB + "FF.N_ff.b", DB + "FF.K", DB + "FF.L"});
  }
  for (const auto& weight : parameters(model)) {
    const std::string path{weight.path};
    CAPTURE(path);
    CHECK((weight.role == Role::factor) == factors.contains(path));
    CHECK((weight.role == Role::summand) == summands.contains(path));
    CHECK((weight.role == Role::matrix || weight.rows == 1));
  }
  const auto& A = weight<"DB_1.FF.A">(model);
  const auto listed = parameters(model)[detail::index_of_weight<Model>("DB_1.FF.A")];
  CHECK((listed.path == "DB_1.FF.A" && listed.numbers == A.data() && listed.rows == A.rows() && listed.cols == A.cols));
}

}  // namespace tlm::tests::in_weights
