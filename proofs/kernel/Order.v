(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* Without positions attention does not see the order of the rows.

   For numbers whose sums and greatest numbers do not depend on an order. Sums of floating-point numbers do. *)

From tlm Require Export Equivariance.
From tlm Require Import Reals.

(* Sums and the greatest of some numbers do not depend on their order. *)
Class Symmetric {num} (arithmetic : Arithmetic num) := {
  Sum_permuted : forall x y : list num, Permutation x y -> Sum x = Sum y;
  Maximum_permuted : forall x y : list num, Permutation x y -> Maximum x = Maximum y;
}.

#[global] Instance real_numbers_are_symmetric : Symmetric real_numbers.
Proof.
  split; intros x y P.
  - induction P; cbn in *; lra.
  - assert (forall a x y, Permutation x y -> fold_left Rmax x a = fold_left Rmax y a) as F.
    { clear. intros a x y P. revert a. induction P; intros a; cbn; auto.
      - now rewrite <- !Rmax_assoc, (Rmax_comm x y).
      - now rewrite IHP1. }
    induction P as [| a x y P _ | a b x | x y z P1 E1 P2 E2]; cbn in *; auto.
    + now rewrite Rmax_comm.
    + now rewrite E1.
Qed.

Section Attention.
  Context {memory A num : Type} {arithmetic : Arithmetic num} {symmetric : Symmetric arithmetic}.

  (* What a query with these scores makes of the rows X. *)
  Definition attention_row {m} (score : A -> num) (value : A -> Row num m) (X : list A) : Row num m :=
    combination (softmax (map score X)) (map value X).

  Lemma attention_row_permuted {m} score (value : A -> Row num m) X Y :
    Permutation X Y -> attention_row score value X = attention_row score value Y.
  Proof.
    intros P. unfold attention_row, combination, softmax. cbv zeta. apply tabulate_ext. intros k.
    rewrite (Maximum_permuted _ _ (Permutation_map score P)). set (g := Maximum (map score Y)).
    rewrite (Sum_permuted _ _ (Permutation_map (fun s => Exp (s - g)%num) (Permutation_map score P))).
    set (total := Sum (map _ (map score Y))).
    assert (forall Z, zip (fun a_j V_j => (a_j * entry V_j k)%num)
      (map (fun e => (e / total)%num) (map (fun s => Exp (s - g)%num) (map score Z))) (map value Z) =
      map (fun x => (Exp (score x - g) / total * entry (value x) k)%num) Z) as E.
    { induction Z as [| x Z IH]; [easy | cbn [map zip]; now rewrite IH]. }
    rewrite !E. apply Sum_permuted, Permutation_map, P.
  Qed.

  (** attention without a mask, of rowwise Q, K and V, is permutation equivariant, if sums and maxima do not see an order *)
  Theorem unmasked_attention_is_equivariant {m m'} (d_head : nat) {Q K : operation memory A (Row num m)}
    {V : operation memory A (Row num m')} :
    rowwise Q -> rowwise K -> rowwise V -> equivariant (Product (SoftmaxKernel d_head Unmasked Q K) V).
  Proof.
    intros HQ HK HV M. destruct (proj1 rowwise_iff_each_row HQ M) as [f EQ], (proj1 rowwise_iff_each_row HK M) as [g EK],
      (proj1 rowwise_iff_each_row HV M) as [h EV].
    assert (forall X, Product (SoftmaxKernel d_head Unmasked Q K) V M X = map (fun x =>
      attention_row (fun y => dot (f x) (g y) / Sqrt (number (Z.of_nat d_head)))%num h X) X) as E.
    { intros X. unfold Product, SoftmaxKernel, Unmasked, scores, attention_row. rewrite EQ, EK, EV, !map_map.
      apply map_ext. intros x. now rewrite map_map. }
    intros X. rewrite E. split; [apply map_length |]. intros π P. rewrite E, pick_map.
    apply map_ext. intros x. apply attention_row_permuted. apply picked_permuted, P.
  Qed.

  Context {m m' : nat} (d_head : nat) (f g : A -> Row num m) (h : A -> Row num m').
  Let score (x y : A) : num := (dot (f x) (g y) / Sqrt (number (Z.of_nat d_head)))%num.

  (** the last row of a causal attention, of rowwise Q, K and V, does not see the order of the earlier rows, if sums and maxima do not *)
  Theorem causal_attention_does_not_see_the_order M (X X' : list A) (x : A) : Permutation X X' ->
    let T := Product (SoftmaxKernel (memory := memory) d_head Causal (each_row f) (each_row g)) (each_row h) in
    (T M (X ++ [x]))⇂(length X) = (T M (X' ++ [x]))⇂(length X').
  Proof.
    intros P T.
    assert (forall X, (T M (X ++ [x]))⇂(length X) = [attention_row (score x) h (X ++ [x])]) as E.
    { clear. intros X. unfold T, Product, SoftmaxKernel, Causal, map_index, scores, each_row, attention_row.
      rewrite !skipn_map, map_from_skipn, !skipn_map, skipn_app, skipn_all, Nat.sub_diag. cbn [app skipn map map_from Nat.add firstn].
      do 3 f_equal. rewrite map_map. apply (firstn_all2 (n := S (length X))). rewrite map_length, app_length. cbn. lia. }
    rewrite !E. f_equal. apply attention_row_permuted. now apply Permutation_app_tail.
  Qed.
End Attention.

(* A proof that what is made of parts is permutation equivariant: attention without a mask, what is rowwise, and what is made
   of such. An exported encoder is. *)
Ltac rowwise_by_parts :=
  lazymatch goal with
  | |- rowwise (_ ∘ _) => apply composition_is_rowwise; rowwise_by_parts
  | |- rowwise (BlockOfColumns _ _ _) => apply columns_are_rowwise; rowwise_by_parts
  | |- rowwise (Times _) => exact Times_is_rowwise
  | |- rowwise (Plus _) => exact Plus_is_rowwise
  | |- rowwise ReLU => exact ReLU_is_rowwise
  | |- rowwise GELU => exact GELU_is_rowwise
  | |- rowwise TanhGELU => exact TanhGELU_is_rowwise
  | |- rowwise Dropout => exact Dropout_is_rowwise
  | |- rowwise (Normalization _ _) => exact Normalization_is_rowwise
  | |- rowwise (LayerNorm _ _ _) => exact LayerNorm_is_rowwise
  end.
Ltac equivariant_by_parts :=
  lazymatch goal with
  | |- equivariant (_ ∘ _) => apply composition_is_equivariant; equivariant_by_parts
  | |- equivariant (Residual ?F) => apply (zip_is_equivariant plus identity_is_equivariant (G := F)); equivariant_by_parts
  | |- equivariant (Concat ?F ?G) => apply (zip_is_equivariant append (F := F) (G := G)); equivariant_by_parts
  | |- equivariant (Product _ _) => apply unmasked_attention_is_equivariant; rowwise_by_parts
  | |- equivariant ?T => first [apply rowwise_is_equivariant; rowwise_by_parts
      | let T := unfolded T in change (equivariant T); equivariant_by_parts]
  end.
