/// Says: ambiguous
#include <tlm/algebra/residual.hpp>
#include <tlm/layers/relu.hpp>

/// A named formula, of which the rules already say what it is.
struct Named : tlm::Res<tlm::ReLU<3>> {
#ifdef WRONG
  using declared = tlm::is::Rowwise;
#endif
};

static_assert(tlm::rowwise<Named>);
