// SPDX-License-Identifier: MIT
/// Says: nothing, because it compiles
int main() {}
