(* SPDX-License-Identifier: MIT *)
(* Over any numbers. *)
(* Rowwise, autoregressive and permutation equivariant operations: what they are, and how they belong together. *)

From Coq Require Export Permutation.
From tlm Require Export Layers Decoding.

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

(* --- What is made of such operations --- *)

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
