/// Says: in a composition G∘F the codomain of F is the domain of G
#include <tlm/algebra/composition.hpp>
#include <tlm/layers/relu.hpp>

#ifdef WRONG
using G = tlm::ReLU<4>;
#else
using G = tlm::ReLU<3>;
#endif

tlm::Composition<G, tlm::ReLU<3>> composition;
