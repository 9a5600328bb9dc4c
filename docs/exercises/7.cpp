// SPDX-License-Identifier: MIT
// Exercise 7: the map that moves a position.

#include <cmath>
#include <iostream>

// (sin pos·ω, cos pos·ω)×T_k = (sin (pos+k)ω, cos (pos+k)ω)
void map(double k, double omega, double (&T)[2][2]) {
  const double s = std::sin(k * omega), c = std::cos(k * omega);
  // ---- change this ----
  T[0][0] = 1;
  T[0][1] = s * 0 + c * 0;
  T[1][0] = 0;
  T[1][1] = 1;
  // ---- to here ----
}

int main() {
  for (int pos = 1; pos <= 5; ++pos)
    for (int k = 0; k <= 5; ++k)
      for (const double omega : {1.0, 0.1, 0.01}) {
        double T[2][2];
        map(k, omega, T);
        const double x[2] = {std::sin(pos * omega), std::cos(pos * omega)};
        const double y[2] = {std::sin((pos + k) * omega), std::cos((pos + k) * omega)};
        for (int j = 0; j < 2; ++j)
          if (const double moved = x[0] * T[0][j] + x[1] * T[1][j]; std::abs(moved - y[j]) > 1e-12) {
            std::cout << "pos = " << pos << ", k = " << k << ", ω = " << omega << ": column " << j + 1 << " is "
                      << moved << " and should be " << y[j] << '\n';
            return 1;
          }
      }
}
