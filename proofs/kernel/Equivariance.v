(* SPDX-License-Identifier: MIT *)
(* Over any numbers. *)
(* Rowwise, autoregressive and permutation equivariant operations: what they are, and how they belong together. *)

From Coq Require Export Permutation.
From tlm Require Import Layers Decoding Reals.

(* The rows i, j, … of X, for π = [i; j; …]. *)
Definition pick {A} (π : list nat) (X : list A) : list A := flat_map (fun i => X⇂i) π.

(* T(πX) = πT(X) for every permutation π of the rows. *)
Definition equivariant {memory A B} (T : operation memory A B) : Prop :=
  forall M X, length (T M X) = length X /\
    forall π, Permutation π (seq 0 (length X)) -> T M (pick π X) = pick π (T M X).

Section WhatTheyAre.
  Context {memory A B : Type} {T : operation memory A B}.

  Lemma one_row (Y : list B) : length Y = 1 -> { y | Y = [y] }.
  Proof. destruct Y as [| y [| z Y]]; [easy | now exists y | easy]. Qed.

  Lemma row_is_there (X : list A) i : i < length X -> exists x, X⇂i = [x].
  Proof.
    intros H. destruct (skipn i X) as [| x rest] eqn:E; [| now exists x].
    pose proof (skipn_length i X). rewrite E in *. cbn in *. lia.
  Qed.

  (** T is rowwise if and only if it is a function f of rows that is applied to each row *)
  Theorem rowwise_iff_each_row : rowwise T <-> forall M, exists f, forall X, T M X = map f X.
  Proof.
    split.
    - intros H M. exists (fun x => proj1_sig (one_row (T M [x]) (proj1 (H M [x])))).
      intros X. destruct (H M X) as [L E]. apply equal_row_by_row; [now rewrite map_length |].
      intros k Hk. rewrite L in Hk. rewrite <- E, <- map_of_row by easy. destruct (row_is_there X k Hk) as [x ->]. cbn.
      now destruct (one_row _ _).
    - intros H M X. destruct (H M) as [f E]. rewrite E. split; [apply map_length |]. intros i _. rewrite E. apply map_of_row.
  Qed.

  (** T is autoregressive if and only if row i of T(X) is a function of X|i (and there are as many rows as X has) *)
  Theorem autoregressive_iff_function_of_the_past :
    autoregressive T <-> (forall M X, length (T M X) = length X) /\
      forall M, exists f, forall X i, i < length X -> (T M X)⇂i = f (X↾(S i)).
  Proof.
    split.
    - intros H. split; [intros M X; apply H |]. intros M. exists (fun past => (T M past)⇂(length past - 1)).
      intros X i Hi. destruct (H M X) as [L E]. rewrite E, firstn_length, Nat.min_l by lia.
      now replace (S i - 1) with i by lia; rewrite row_of_cut by lia.
    - intros [L H] M X. split; [apply L |]. intros i Hi. destruct (H M) as [f E].
      apply equal_row_by_row; rewrite L, !firstn_length, ?L; [easy |]. intros k Hk.
      rewrite row_of_cut, !E by (rewrite ?firstn_length; lia). rewrite firstn_firstn. now replace (Nat.min (S k) i) with (S k) by lia.
  Qed.

  Lemma pick_map {C} (f : A -> C) π X : pick π (map f X) = map f (pick π X).
  Proof. unfold pick. induction π as [| i π IH]; cbn [flat_map]; [easy |]. now rewrite map_app, IH, map_of_row. Qed.

  Lemma picked_length {C} π (X : list C) : Permutation π (seq 0 (length X)) -> length (pick π X) = length X.
  Proof.
    intros P. transitivity (length π); [| now rewrite (Permutation_length P), seq_length].
    assert (forall i, In i π -> i < length X) as H.
    { intros i Hi. apply (Permutation_in _ P) in Hi. apply in_seq in Hi. lia. }
    clear P. unfold pick. induction π as [| i π IH]; cbn [flat_map]; [easy |].
    rewrite app_length, IH by (intros; apply H; now right). cbn [length]. f_equal.
    rewrite firstn_length, skipn_length. specialize (H i (or_introl eq_refl)). lia.
  Qed.

  Lemma picked_permuted {C} π (X : list C) : Permutation π (seq 0 (length X)) -> Permutation (pick π X) X.
  Proof.
    intros P. assert (Permutation (pick π X) (pick (seq 0 (length X)) X)) as Q by (now apply Permutation_flat_map).
    rewrite Q. replace (pick (seq 0 (length X)) X) with X; [easy |]. clear. unfold pick.
    induction X as [| x X IH]; [easy |]. cbn [length seq flat_map]. cbn [skipn firstn app]. f_equal.
    rewrite IH at 1. rewrite <- seq_shift, !flat_map_concat_map, map_map. reflexivity.
  Qed.

  (** T is rowwise if and only if it is autoregressive and permutation equivariant *)
  Theorem rowwise_iff_autoregressive_and_equivariant : rowwise T <-> autoregressive T /\ equivariant T.
  Proof.
    split.
    - intros H. split; [now apply rowwise_is_autoregressive |]. intros M X. split; [apply H |]. intros π _.
      destruct (proj1 rowwise_iff_each_row H M) as [f E]. now rewrite !E, pick_map.
    - intros [HA HE] M X. split; [apply HA |]. intros i Hi.
      (* Row i is moved to the front, where it sees itself alone. *)
      set (π := i :: seq 0 i ++ seq (S i) (length X - S i)).
      assert (Permutation π (seq 0 (length X))) as P.
      { unfold π. replace (length X) with (i + S (length X - S i)) at 2 by lia. rewrite seq_app. cbn [seq Nat.add].
        apply Permutation_middle. }
      destruct (HE M X) as [L E]. specialize (E π P).
      destruct (row_is_there X i Hi) as [x Hx].
      assert (pick π X ↾ 1 = X⇂i) as F by (unfold π, pick; cbn [flat_map]; rewrite Hx; reflexivity).
      destruct (HA M (pick π X)) as [_ C]. specialize (C 1 ltac:(rewrite picked_length by easy; lia)).
      rewrite F, E in C. rewrite C. unfold π, pick. cbn [flat_map].
      destruct (skipn i (T M X)) as [| y rest] eqn:Ey; [| reflexivity].
      pose proof (skipn_length i (T M X)). rewrite Ey, L in *. cbn in *. lia.
  Qed.
End WhatTheyAre.

(* --- Without positions attention does not see the order --- *)

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

  (** attention without a mask, of rowwise Q, K and V, is permutation equivariant *)
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

  (** the row of a causal attention, of rowwise Q, K and V, does not see the order of the earlier rows *)
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

(* --- and what is made of such operations --- *)

Section Rules.
  Context {memory : Type}.

  (** rowwise operations are permutation equivariant *)
  Theorem rowwise_is_equivariant {A B} {T : operation memory A B} : rowwise T -> equivariant T.
  Proof. intros H. now apply rowwise_iff_autoregressive_and_equivariant in H. Qed.

  (** compositions of equivariant operations are equivariant *)
  Theorem composition_is_equivariant {A B C} {G : operation memory B C} {F : operation memory A B} :
    equivariant G -> equivariant F -> equivariant (G ∘ F).
  Proof.
    intros HG HF M X. destruct (HF M X) as [LF EF], (HG M (F M X)) as [LG EG]. unfold Composition.
    split; [congruence |]. intros π P. now rewrite EF, EG by (rewrite ?LF; easy).
  Qed.

  Lemma pick_zip {A B C} (f : A -> B -> C) π X Y : length X = length Y -> pick π (zip f X Y) = zip f (pick π X) (pick π Y).
  Proof.
    intros L. unfold pick. induction π as [| i π IH]; cbn [flat_map]; [easy |]. rewrite IH, <- zip_skipn, <- zip_firstn.
    assert (length (X⇂i) = length (Y⇂i)) as Li by (rewrite !firstn_length, !skipn_length; lia).
    revert Li. generalize (X⇂i) (Y⇂i). intros l; induction l as [| x l IHl]; intros [| y l'] H; cbn in *; try easy.
    now rewrite IHl by lia.
  Qed.

  (** X + F(X) and F(X) beside G(X) are equivariant if F and G are *)
  Theorem zip_is_equivariant {A B B' C} (f : B -> B' -> C) {F : operation memory A B} {G : operation memory A B'} :
    equivariant F -> equivariant G -> equivariant (Zip f F G).
  Proof.
    intros HF HG M X. destruct (HF M X) as [LF EF], (HG M X) as [LG EG]. unfold Zip.
    split; [rewrite zip_length; congruence |]. intros π P. rewrite EF, EG by easy. symmetry. apply pick_zip. congruence.
  Qed.
  Lemma identity_is_equivariant {A} : equivariant (identity (memory := memory) (A := A)).
  Proof. apply rowwise_is_equivariant, identity_is_rowwise. Qed.
End Rules.

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
