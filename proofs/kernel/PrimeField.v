(* SPDX-License-Identifier: MIT *)
(* The field of p = 2⁶¹ − 1 elements, with exp, sqrt, … as uninterpreted functions: what tlm/checking/prime_field.hpp and
   tlm/base/hash.hpp say, in which the definitions of this theory are computed. *)

From Coq Require Import Uint63.
From tlm Require Export Layers.
Local Open Scope uint63_scope.

Definition p : int := 2305843009213693951.
Definition p_in_Z : Z := Eval compute in Uint63.to_Z p.

Definition of_Z (x : Z) : int := Uint63.of_Z (x mod p_in_Z)%Z.

(* As 2⁶¹ = 1, the high and the low 61 bits of a product may be added: a product is high·2⁶³ + low, and 2⁶³ = 4. *)
Definition product (a b : int) : int :=
  let (high, low) := mulc a b in (4 * high + (low >> 61) + (low land p)) mod p.

(* a^e, where bits = the number of e's bits *)
Fixpoint power (bits : nat) (a e : int) : int :=
  match bits with
  | 0%nat => 1
  | S bits => let rest := power bits (product a a) (e >> 1) in if is_even e then rest else product a rest
  end.

(* 64 bits, as two integers of 32: Coq computes at once with integers of 63. *)
Definition word : Set := int * int.
Definition low (x : int) : int := x land 0xffffffff.
Definition halves (x : int) : word := (x >> 32, low x).
Definition plus (x y : word) : word :=
  let (a, b) := x in let (c, d) := y in (low (a + c + ((b + d) >> 32)), low (b + d)).
Definition times (x y : word) : word :=
  let (a, b) := x in let (c, d) := y in let (carry, bd) := mulc b d in
  (low (a * d + b * c + (carry << 31) + (bd >> 32)), low bd).
Definition xor (x y : word) : word := let (a, b) := x in let (c, d) := y in (a lxor c, b lxor d).
Definition shifted (x : word) (k : int) : word := let (a, b) := x in (a >> k, low (a << (32 - k)) lor (b >> k)).

(* SplitMix64, as `mixed` in hash.hpp. *)
Definition mixed (x : word) : word :=
  let x := plus x (0x9e3779b9, 0x7f4a7c15) in
  let x := times (xor x (shifted x 30)) (0xbf58476d, 0x1ce4e5b9) in
  let x := times (xor x (shifted x 27)) (0x94d049bb, 0x133111eb) in
  xor x (shifted x 31).

(* Of a·2³² + b, as 2⁶¹ = 1. *)
Definition of_word (x : word) : int :=
  let (a, b) := x in ((a >> 29) + ((a land 0x1fffffff) << 32) + b) mod p.

Section Key.
  (* The key of the uninterpreted functions; and what takes the place of sines and cosines, which are left to ℝ. *)
  Context (key : int) (sine cosine : nat -> nat -> nat -> int).

  Definition hash (function : int) : int -> int :=
    let its_key := mixed (halves (key * 16 + function)) in fun x => of_word (mixed (xor its_key (halves x))).

  Definition prime_field : Arithmetic int := {|
    number := of_Z;
    Add := fun a b => (a + b) mod p;
    Sub := fun a b => (a + (p - b)) mod p;
    Mul := product;
    Div := fun a b => product a (power 61 b (p - 2));  (* Fermat: b^(p−1) = 1 *)
    Sum := fold_right (fun a b => (a + b) mod p) 0;
    Exp := hash 1;
    Log := hash 2;
    Sqrt := hash 3;
    Relu := hash 4;
    ReluDerivative := hash 5;
    Tanh := hash 13;
    RootOfTwoOverPi := hash 8 4605361924766709329;  (* the bits of that double *)
    NormalCdf := hash 11;
    Maximum := fun list =>
      let count := of_Z (Z.of_nat (length list)) in
      hash 7 (fold_left (fun sum x => (sum + hash 6 x) mod p) list count);
    Sine := sine;
    Cosine := cosine;
  |}.
End Key.

(* Sines and cosines from a table with a row for each position, in which they stand side by side. *)
Definition sine_of {d} (W_p : list (Row int d)) (_ i pos : nat) : int :=
  nth (2 * (i - 1))%nat (things (nth (pos - 1)%nat W_p (tabulate d (fun _ => 0)))) 0.
Definition cosine_of {d} (W_p : list (Row int d)) (_ i pos : nat) : int :=
  nth (2 * (i - 1) + 1)%nat (things (nth (pos - 1)%nat W_p (tabulate d (fun _ => 0)))) 0.

(* Rows of numbers, as the C++ program prints them. *)
Notation "⟨ x ; .. ; y ⟩" := (pair x .. (pair y tt) ..) (at level 0).
