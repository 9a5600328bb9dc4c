(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* ◺ and softmax as the article writes them: with −∞ above the main diagonal, and so 0 there after the softmax; and that to
   leave out what is hidden, as Attention.v and the library do, is the same. (Article, "Causal Attention".)

   For numbers that obey three laws. Floating-point numbers with NaN do not: 0 × NaN is not 0. *)

From tlm Require Export Layers.
From tlm Require Import Reals.
Local Open Scope num_scope.

Class Lawful {num} (arithmetic : Arithmetic num) := {
  Sum_of_zero_behind : forall list : list num, Sum (list ++ [0]) = Sum list;
  zero_times : forall x : num, 0 * x = 0;
  zero_over : forall x : num, 0 / x = 0;
}.

#[global] Instance real_numbers_are_lawful : Lawful real_numbers.
Proof.
  split; intros; cbn; unfold Rdiv; try ring. induction list; cbn in *; [ring | now rewrite IHlist].
Qed.

Section Masked.
  Context {num : Type} {arithmetic : Arithmetic num}.

  (* A score is a number or −∞, which is None. *)
  (* ◺S has −∞ above the main diagonal and is S otherwise. *)
  Definition masked_row (i : nat) : list num -> list (option num) := map_index (fun j s => if j <=? i then Some s else None).
  Definition masked : list (list num) -> list (list (option num)) := map_index masked_row.

  Definition seen (s : list (option num)) : list num :=
    flat_map (fun s_j => match s_j with Some x => [x] | None => [] end) s.
  (* exp(s_j − g), and exp(−∞) = 0 *)
  Definition exponential (g : num) (s_j : option num) : num := match s_j with Some x => Exp (x - g) | None => 0 end.
  (* exp(s_j) / Σ_k exp(s_k) of all, after the greatest is subtracted *)
  Definition masked_softmax (s : list (option num)) : list num :=
    let e := map (exponential (Maximum (seen s))) s in
    let total := Sum e in map (fun e_j => e_j / total) e.

  (* A(X)_ij, which is 0 where nothing is. *)
  Definition at_ij (matrix : list (list num)) (i j : nat) : num := nth j (nth i matrix []) 0.
End Masked.

Section Theorems.
  Context {num : Type} {arithmetic : Arithmetic num} {lawful : Lawful arithmetic}.

  Lemma Sum_of_zeros_behind (list zeros : list num) : Forall (fun x => x = 0) zeros -> Sum (list ++ zeros) = Sum list.
  Proof.
    intros H. revert list. induction H as [| x zeros -> _ IH]; intros list; [now rewrite app_nil_r |].
    change (0 :: zeros) with ([0] ++ zeros). now rewrite app_assoc, IH, Sum_of_zero_behind.
  Qed.

  (* A row of ◺S: what is visible, and then only −∞. *)
  Lemma masked_row_is (i : nat) (row : list num) :
    masked_row i row = map Some (row↾(S i)) ++ repeat None (length row - S i).
  Proof.
    assert (forall p row, i < p -> map_from (fun j (s : num) => if j <=? i then Some s else None) p row = repeat None (length row))
      as hidden.
    { clear. intros p row; revert p; induction row as [| s row IH]; intros p Hp; cbn [map_from length repeat]; [easy |].
      rewrite IH by lia. now destruct (Nat.leb_spec p i); [lia |]. }
    assert (forall p, p <= S i -> map_from (fun j s => if j <=? i then Some s else None) p row
      = map Some (row↾(S i - p)) ++ repeat None (length row - (S i - p))) as G;
      [| unfold masked_row, map_index; rewrite (G 0%nat ltac:(lia)); now rewrite Nat.sub_0_r].
    induction row as [| s row IH]; intros p Hp; [now rewrite firstn_nil |].
    cbn [map_from length]. destruct (Nat.leb_spec p i) as [L | L].
    - replace (S i - p)%nat with (S (i - p)) by lia. cbn [firstn map app]. rewrite IH by lia.
      now replace (S i - S p)%nat with (i - p)%nat by lia.
    - replace (S i - p)%nat with 0%nat by lia. cbn [firstn map app]. rewrite hidden by lia. now rewrite Nat.sub_0_r.
  Qed.

  (** leaving out what is hidden is masking it by −∞: a row of softmax(◺S) is the softmax of what is visible, and then 0 *)
  Theorem softmax_of_hidden (visible : list num) (hidden : nat) :
    masked_softmax (map Some visible ++ repeat None hidden) = softmax visible ++ repeat 0 hidden.
  Proof.
    unfold masked_softmax, softmax.
    assert (seen (map Some visible ++ repeat None hidden) = visible) as ->.
    { unfold seen. rewrite flat_map_app.
      replace (flat_map _ (repeat None hidden)) with (@nil num) by (clear; induction hidden; [easy | exact IHhidden]).
      rewrite app_nil_r. induction visible; cbn; [easy |]. f_equal. exact IHvisible. }
    set (g := Maximum visible). rewrite map_app, map_map.
    assert (map (exponential g) (repeat None hidden) = repeat 0 hidden) as ->
      by (clear; induction hidden; cbn; [easy | now rewrite IHhidden]).
    cbv zeta. rewrite Sum_of_zeros_behind by (clear; induction hidden; now constructor).
    rewrite map_app. f_equal. induction hidden; cbn [repeat map]; [easy |]. now rewrite IHhidden, zero_over.
  Qed.

  (* "softmax(◺A) always returns a lower triangular square matrix" *)
  (** softmax(◺A) is lower triangular *)
  Theorem softmax_of_triangle_is_lower_triangular (S : list (list num)) i j :
    i < j -> at_ij (map masked_softmax (masked S)) i j = 0.
  Proof.
    intros H. unfold at_ij, masked, map_index. destruct (Nat.lt_ge_cases i (length S)) as [L | L].
    - change (@nil num) with (masked_softmax (num := num) []). rewrite map_nth, (nth_of_map_from _ _ _ _ []) by easy.
      cbn [Nat.add]. rewrite masked_row_is, softmax_of_hidden. set (visible := softmax _).
      destruct (Nat.lt_ge_cases j (length visible)) as [Lj | Lj].
      + exfalso. unfold visible in Lj. rewrite softmax_length, firstn_length in Lj. lia.
      + rewrite app_nth2 by easy. apply nth_repeat.
    - rewrite (nth_overflow (map masked_softmax _)); [now destruct j | now rewrite map_length, map_from_length].
  Qed.

  (* And so attention as the library computes it is the article's softmax(◺S)×V. *)
  (** softmax(◺S)×V over all n entries of a row, with 0 for what is hidden, is the sum over what is visible *)
  Theorem attention_to_what_is_visible (S : list (list num)) {m} (V : list (Row num m)) :
    map (fun a => combination a V) (map masked_softmax (masked S)) =
    map (fun a => combination a V) (map softmax (Causal S)).
  Proof.
    unfold masked, Causal, map_index. rewrite !map_of_map_from. apply map_from_ext. intros i row.
    rewrite masked_row_is, softmax_of_hidden. generalize (softmax (row↾(Datatypes.S i))) as a. intros a.
    generalize (length row - Datatypes.S i)%nat as hidden. intros hidden. apply tabulate_ext. intros k.
    set (f := fun a_j V_j => _).
    assert (exists zeros, zip f (a ++ repeat 0 hidden) V = zip f a V ++ zeros /\ Forall (fun x => x = 0) zeros)
      as [zeros [-> Z]]; [| now apply Sum_of_zeros_behind].
    revert V. induction a as [| x a IH]; intros V; cbn [app].
    - exists (zip f (repeat 0 hidden) V). split; [easy |]. revert V. induction hidden; intros [| v V]; cbn; constructor.
      + apply zero_times.
      + apply IHhidden.
    - destruct V as [| v V]; [now exists [] |]. destruct (IH V) as [zeros [E Z]]. exists zeros. cbn. now rewrite E.
  Qed.

  (** ◺(A/c) = (◺A)/c, where −∞/c = −∞, as it is for c > 0 *)
  Theorem triangle_of_quotient (c : num) (S : list (list num)) :
    masked (map (map (fun s => s / c)) S) = map (map (option_map (fun s => s / c))) (masked S).
  Proof.
    unfold masked, masked_row, map_index. rewrite map_from_map, map_of_map_from. apply map_from_ext. intros i row'.
    rewrite map_from_map, map_of_map_from. apply map_from_ext. intros j s. now destruct (j <=? i).
  Qed.
End Theorems.

Local Open Scope R_scope.

(** softmax(◺A) is not rowwise, contrary to what the article says: for A = (0 0; 0 0) row 2 alone gives (1 0), not (½ ½) *)
Theorem softmax_of_triangle_is_not_rowwise {memory : Type} :
  ~ rowwise (fun (M : list memory) (A : list (list R)) => map masked_softmax (masked A)).
Proof.
  intros H. destruct (H [] [[0; 0]; [0; 0]]) as [_ E]. specialize (E 1%nat ltac:(cbn; lia)).
  apply (f_equal (fun A => at_ij A 0 1)) in E. unfold at_ij, masked_softmax in E. cbn in E.
  set (e := exp (0 - Rmax 0 0)) in E. assert (0 < e) by apply exp_pos. unfold Rdiv in E. rewrite Rmult_0_l in E.
  assert (0 < e * / (e + (e + 0))) by (apply Rmult_lt_0_compat; [easy | apply Rinv_0_lt_compat; lra]). lra.
Qed.
