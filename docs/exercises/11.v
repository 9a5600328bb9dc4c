(* SPDX-License-Identifier: MIT *)
(* Exercise 11: a proof for Coq. Rows are of any kind, a matrix is a list of rows, and cut i X is X|i. *)
Require Import List.

Section Autoregressive.
Variable Row : Type.
Definition cut (i : nat) (X : list Row) : list Row := firstn i X.
Definition autoregressive (T : list Row -> list Row) : Prop := forall i X, T (cut i X) = cut i (T X).

Theorem composition_is_autoregressive :
  forall F G, autoregressive F -> autoregressive G -> autoregressive (fun X => G (F X)).
Proof.
  intros F G F_is G_is i X.
  (* To be proved now: G (F (cut i X)) = cut i (G (F X)). `rewrite F_is.` puts cut i (F X) in the place of F (cut i X). *)
  (* ---- change this ---- *)
  rewrite F_is.
  (* ---- to here ---- *)
Qed.
End Autoregressive.
