/// Says: no matching function for call to 'extend
/// Explains: Extensible<T>|'State' \[with T = Backwards\]
#include "backwards.hpp"

auto extended(const Model& model) {
  tlm::State<Forwards> state;
  return tlm::extend(model, state, tlm::Tokens{1, 2});
}
