(* SPDX-License-Identifier: MIT *)
(* Numbers, rows and matrices.

   What an arithmetic is: numbers, + − × ÷, and the few functions of numbers that the layers use. All definitions of this
   theory are for any arithmetic, so that the very same definition is reasoned about over ℝ (Reals.v) and computed with over
   a prime field (PrimeField.v). *)

From Coq Require Export List Arith ZArith Lia.
Export ListNotations.

Class Arithmetic (num : Type) := {
  number : Z -> num;
  Add : num -> num -> num;
  Sub : num -> num -> num;
  Mul : num -> num -> num;
  Div : num -> num -> num;
  Sum : list num -> num;                (* of the list of its terms: in whatever order they are added *)
  Exp : num -> num;
  Log : num -> num;
  Sqrt : num -> num;
  Relu : num -> num;
  ReluDerivative : num -> num;
  Tanh : num -> num;
  RootOfTwoOverPi : num;                (* √(2/π) *)
  NormalCdf : num -> num;               (* Φ(x): the probability that a standard normal number is at most x *)
  Maximum : list num -> num;
  Sine : nat -> nat -> nat -> num;      (* Sine d i pos = sin(pos / 10000^(2i/d)) *)
  Cosine : nat -> nat -> nat -> num;    (* Cosine d i pos = cos(pos / 10000^(2i/d)) *)
}.

Declare Scope num_scope.
Delimit Scope num_scope with num.
Infix "+" := Add : num_scope.
Infix "-" := Sub : num_scope.
Infix "*" := Mul : num_scope.
Infix "/" := Div : num_scope.
Notation "0" := (number 0) : num_scope.
Notation "1" := (number 1) : num_scope.
Local Open Scope num_scope.

(* --- Rows and matrices of fixed shape --- *)

(* A row of m things. *)
Fixpoint Row (thing : Type) (m : nat) : Type :=
  match m with 0%nat => unit | S m => (thing * Row thing m)%type end.

(* A matrix of weights: r rows of c numbers. *)
Definition Matrix (num : Type) (r c : nat) : Type := Row (Row num c) r.

Fixpoint things {thing m} : Row thing m -> list thing :=
  match m with 0%nat => fun _ => [] | S m => fun x => fst x :: things (snd x) end.

(* The row (f 0, …, f (m − 1)). *)
Fixpoint tabulate {thing} (m : nat) (f : nat -> thing) : Row thing m :=
  match m with 0%nat => tt | S m => (f 0%nat, tabulate m (fun j => f (S j))) end.

Fixpoint append {thing m m'} : Row thing m -> Row thing m' -> Row thing (m + m') :=
  match m with 0%nat => fun _ y => y | S m => fun x y => (fst x, append (snd x) y) end.

Section Entries.
  Context {num : Type} {arithmetic : Arithmetic num}.

  (* x_j and row i of W, which count from 0. What is not there is 0. *)
  Definition entry {m} (x : Row num m) (j : nat) : num := nth j (things x) 0.
  Definition row {r c} (W : Matrix num r c) (i : nat) : Row num c := nth i (things W) (tabulate c (fun _ => 0)).

  (* Σ_{j < m} f(j) *)
  Definition sum_below (m : nat) (f : nat -> num) : num := Sum (map f (seq 0 m)).
End Entries.

Notation "'Σ' ( j < m ) e" := (sum_below m (fun j => e)) (at level 40, j name, m at level 30, e at level 40,
  format "'Σ' ( j < m )  e") : num_scope.

Section Rows.
  Context {num : Type} {arithmetic : Arithmetic num}.

  Definition plus {m} (x y : Row num m) : Row num m := tabulate m (fun j => entry x j + entry y j).
  Definition dot {m} (x y : Row num m) : num := Σ (j < m) (entry x j * entry y j).
  (* x×W *)
  Definition times {r c} (x : Row num r) (W : Matrix num r c) : Row num c :=
    tabulate c (fun j => Σ (k < r) (entry x k * entry (row W k) j)).
  Definition transpose {r c} (W : Matrix num r c) : Matrix num c r :=
    tabulate c (fun j => tabulate r (fun i => entry (row W i) j)).
  (* The i-th block of d numbers, i = 1, 2, … *)
  Definition block {m} (d i : nat) (x : Row num m) : Row num d := tabulate d (fun j => entry x ((i - 1) * d + j)%nat).
End Rows.

(* --- Lemmas --- *)

Lemma tabulate_ext {thing} m (f g : nat -> thing) : (forall j, f j = g j) -> tabulate m f = tabulate m g.
Proof. revert f g; induction m; intros f g H; simpl; [easy | rewrite H, (IHm _ (fun j => g (S j))); auto]. Qed.

Lemma nth_of_tabulate {thing} m (f : nat -> thing) j default : j < m -> nth j (things (tabulate m f)) default = f j.
Proof.
  revert f j; induction m; intros f j H; [lia |].
  destruct j; simpl; [easy | apply (IHm (fun j => f (S j))); lia].
Qed.

Lemma things_length {thing} m (x : Row thing m) : length (things x) = m.
Proof. revert x; induction m; intros x; simpl; [easy | now rewrite IHm]. Qed.

Lemma tabulate_of_nth {thing} m (x : Row thing m) default : tabulate m (fun j => nth j (things x) default) = x.
Proof. revert x; induction m; intros x; simpl in *; [now destruct x | now rewrite IHm; destruct x]. Qed.
