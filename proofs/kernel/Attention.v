(* SPDX-License-Identifier: MIT *)
(* Over any numbers. *)
(* Masks, the softmax kernel, and the article's Claim about A(X)×B(X).
   (Article, "Rowwise and autoregressive matrix operations" and "Causal Attention".)

   Nothing here needs a law of arithmetic, not even x + 0 = x: what a mask hides is not visited, as in the library. So the
   theorems are about floating-point numbers with their NaN, too, if only each sum is made of the list of its terms. That
   this is what the article writes with −∞ and 0 is shown in Triangle.v, for numbers that obey three laws. *)

From tlm Require Export Operations.
Local Open Scope num_scope.

(* Row i of A(X) is the list of its visible entries A(X)_i1, A(X)_i2, …: all of them, or, if A(X) is lower triangular, the
   first i. *)
Definition kernel (memory A num : Type) : Type := operation memory A (list num).

(* "A is autoregressive and always returns lower triangular square matrices". As hidden entries are left out, row i of
   A(X) has i entries, and the article's A(X|i) = A(X)|i is well-typed. (Rows count from 0 here.) *)
Definition causal_kernel {memory A num} (A : kernel memory A num) : Prop :=
  autoregressive A /\ forall M X i, i < length X -> length (nth i (A M X) []) = S i.

Section Kernels.
  Context {memory A num : Type} {arithmetic : Arithmetic num}.

  (* Σ_j a_j V_j, over the j that a has *)
  Definition combination {m} (a : list num) (V : list (Row num m)) : Row num m :=
    tabulate m (fun k => Sum (zip (fun a_j V_j => a_j * entry V_j k) a V)).

  (* X ↦ A(X)×B(X) *)
  Definition Product {I m} (A : kernel memory I num) (B : operation memory I (Row num m)) : operation memory I (Row num m) :=
    fun M X => map (fun a => combination a (B M X)) (A M X).
End Kernels.

(* --- ◺ and softmax --- *)

(* f(0, x_0), f(1, x_1), … *)
Fixpoint map_from {A B} (f : nat -> A -> B) (i : nat) (X : list A) : list B :=
  match X with [] => [] | x :: X => f i x :: map_from f (S i) X end.
Definition map_index {A B} (f : nat -> A -> B) : list A -> list B := map_from f 0.

Section Softmax.
  Context {num : Type} {arithmetic : Arithmetic num}.

  (* A mask leaves out the scores that it hides. *)
  Definition mask : Type := list (list num) -> list (list num).

  (* ◺S has the entries (i, j) of S with j ≤ i. *)
  Definition Causal : mask := map_index (fun i row => row↾(S i)).
  Definition Unmasked : mask := fun S => S.

  Definition lower_triangular (m : mask) : Prop := forall S, m S = Causal S.
  Definition full (m : mask) : Prop := forall S, m S = Unmasked S.

  Theorem Causal_is_lower_triangular : lower_triangular Causal.
  Proof. easy. Qed.
  Theorem Unmasked_is_full : full Unmasked.
  Proof. easy. Qed.

  (* exp(s_j) / Σ_k exp(s_k), where first the greatest is subtracted, which cancels: softmax_formula in Reals.v. *)
  Definition softmax (s : list num) : list num :=
    let greatest := Maximum s in let e := map (fun s_j => Exp (s_j - greatest)) s in
    let total := Sum e in map (fun e_j => e_j / total) e.
End Softmax.

(* What is added to score (i, j). *)
Definition bias (A num : Type) : Type := list A -> nat -> nat -> num.
(* Entry (i, j) is a function of i and j alone. *)
Definition positional {A num} (b : bias A num) : Prop := forall X X' i j, b X i j = b X' i j.

Section SoftmaxKernel.
  Context {memory A num : Type} {arithmetic : Arithmetic num} {m : nat}.

  (* Q×Kᵀ/√d_head *)
  Definition scores (d_head : nat) (Q K : list (Row num m)) : list (list num) :=
    let c := Sqrt (number (Z.of_nat d_head)) in map (fun q => map (fun k => dot q k / c) K) Q.

  (* X ↦ softmax(mask(Q(X)×K(X)ᵀ/√d_head)) *)
  Definition SoftmaxKernel (d_head : nat) (mask : mask) (Q K : operation memory A (Row num m)) : kernel memory A num :=
    fun M X => map softmax (mask (scores d_head (Q M X) (K M X))).

  (* X ↦ softmax(mask(Q(X)×K(X)ᵀ/√d_head + b)) *)
  Definition BiasedSoftmaxKernel (d_head : nat) (mask : mask) (Q K : operation memory A (Row num m)) (b : bias A num)
    : kernel memory A num :=
    fun M X => map softmax (mask (map_index (fun i => map_index (fun j s => s + b X i j))
      (scores d_head (Q M X) (K M X)))).
End SoftmaxKernel.

(* --- Lemmas --- *)

Section Lemmas.
  Context {A B C : Type}.

  Lemma map_from_length (f : nat -> A -> B) p X : length (map_from f p X) = length X.
  Proof. revert p; induction X; simpl; auto. Qed.
  Lemma map_from_firstn (f : nat -> A -> B) p i X : map_from f p (X↾i) = (map_from f p X)↾i.
  Proof. revert p i; induction X; intros p [| i]; simpl; try easy. now rewrite IHX. Qed.
  Lemma map_from_skipn (f : nat -> A -> B) p i X : skipn i (map_from f p X) = map_from f (p + i)%nat (skipn i X).
  Proof.
    revert p i; induction X; intros p [| i]; simpl; try easy; [now rewrite Nat.add_0_r |].
    rewrite IHX. f_equal. lia.
  Qed.
  Lemma map_from_ext (f g : nat -> A -> B) p X : (forall i x, f i x = g i x) -> map_from f p X = map_from g p X.
  Proof. intros H; revert p; induction X; intros p; simpl; [easy | now rewrite H, IHX]. Qed.
  Lemma map_from_map (f : nat -> B -> C) (g : A -> B) p X : map_from f p (map g X) = map_from (fun i x => f i (g x)) p X.
  Proof. revert p; induction X; intros p; simpl; [easy | now rewrite IHX]. Qed.
  Lemma map_of_map_from (f : B -> C) (g : nat -> A -> B) p X : map f (map_from g p X) = map_from (fun i x => f (g i x)) p X.
  Proof. revert p; induction X; intros p; simpl; [easy | now rewrite IHX]. Qed.
  Lemma in_map_from (f : nat -> A -> B) p X y : In y (map_from f p X) -> exists i x, In x X /\ y = f i x.
  Proof.
    revert p; induction X; intros p; simpl; [easy |]. intros [<- | H]; [now exists p, a; auto |].
    destruct (IHX _ H) as [i [x [Hx E]]]. exists i, x; auto.
  Qed.
  Lemma nth_of_map_from (f : nat -> A -> B) p X i d d' :
    i < length X -> nth i (map_from f p X) d' = f (p + i)%nat (nth i X d).
  Proof.
    revert p i; induction X; intros p i H; simpl in *; [lia |]. destruct i; [now rewrite Nat.add_0_r |].
    rewrite IHX by lia. f_equal. lia.
  Qed.
End Lemmas.

Section Theorems.
  Context {memory num : Type} {arithmetic : Arithmetic num}.

  (* --- softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel --- *)

  Lemma softmax_length (s : list num) : length (softmax s) = length s.
  Proof. unfold softmax. now rewrite !map_length. Qed.

  Lemma scores_of_cut {m} d_head (Q K : list (Row num m)) i :
    scores d_head (Q↾i) (K↾i) = map (fun row => row↾i) ((scores d_head Q K)↾i).
  Proof. unfold scores. rewrite firstn_map, map_map. apply map_ext. intros q. now rewrite firstn_map. Qed.

  (* The visible entries of the leading i×i block are those of the first i rows. *)
  Lemma Causal_of_cut (S : list (list num)) i : Causal (map (fun row => row↾i) (S↾i)) = (Causal S)↾i.
  Proof.
    unfold Causal, map_index. rewrite map_from_map, <- map_from_firstn.
    assert (forall p rows, (p + length rows <= i)%nat ->
      map_from (fun k row => (row↾i)↾(Datatypes.S k)) p rows =
      map_from (fun k (row : list num) => row↾(Datatypes.S k)) p rows) as G.
    { intros p rows; revert p; induction rows as [| row rows IH]; intros p L; simpl length in *; [easy |].
      cbn [map_from]. rewrite IH, firstn_firstn, Nat.min_l by lia. easy. }
    apply G. rewrite firstn_length. lia.
  Qed.

  Lemma Causal_visible (S : list (list num)) i n :
    i < length S -> Forall (fun row => length row = n) S -> i < n -> length (nth i (Causal S) []) = Datatypes.S i.
  Proof.
    intros L F H. unfold Causal, map_index. rewrite (nth_of_map_from _ _ _ _ []) by easy.
    rewrite firstn_length, (proj1 (Forall_forall _ _) F (nth i S [])) by now apply nth_In. lia.
  Qed.

  Lemma scores_have_a_column_for_each_key {m} d_head (Q K : list (Row num m)) :
    Forall (fun row => length row = length K) (scores d_head Q K).
  Proof. apply Forall_map, Forall_forall. intros q _. apply map_length. Qed.

  (* Whatever scores there are, if those of X|i are the leading block of those of X. *)
  Lemma softmax_of_triangle_is_causal {A} (scores : list memory -> list A -> list (list num)) :
    (forall M X, length (scores M X) = length X /\ Forall (fun row => length row = length X) (scores M X) /\
      forall i, i <= length X -> scores M (X↾i) = map (fun row => row↾i) ((scores M X)↾i)) ->
    causal_kernel (fun M X => map softmax (Causal (scores M X))).
  Proof.
    intros H. split; intros M X; destruct (H M X) as [L [F E]].
    - split; [unfold Causal, map_index; now rewrite map_length, map_from_length |]. intros i Hi.
      now rewrite E, Causal_of_cut, firstn_map.
    - intros i Hi. change [] with (softmax (num := num) []). rewrite map_nth, softmax_length.
      apply (Causal_visible _ _ (length X)); [lia | easy | easy].
  Qed.

  Theorem softmax_kernel_is_causal {A m} {d_head : nat} {mask : mask} {Q K : operation memory A (Row num m)} :
    lower_triangular mask -> autoregressive Q -> autoregressive K -> causal_kernel (SoftmaxKernel d_head mask Q K).
  Proof.
    intros Hmask HQ HK.
    assert (causal_kernel (fun M X => map softmax (Causal (scores d_head (Q M X) (K M X))))) as H.
    { apply softmax_of_triangle_is_causal. intros M X. destruct (HQ M X) as [LQ EQ], (HK M X) as [LK EK].
      split; [| split]; [unfold scores; now rewrite map_length | rewrite <- LK; apply scores_have_a_column_for_each_key |].
      intros i Hi. now rewrite EQ, EK, scores_of_cut. }
    destruct H as [H1 H2]. unfold SoftmaxKernel. split; intros M X; rewrite !Hmask; [| apply H2].
    split; [apply H1 |]. intros i Hi. rewrite Hmask. now apply H1.
  Qed.

  Lemma biased_of_cut (b : nat -> nat -> num) (S : list (list num)) i :
    let biased := map_index (fun i => map_index (fun j s => s + b i j)) in
    biased (map (fun row => row↾i) (S↾i)) = map (fun row => row↾i) ((biased S)↾i).
  Proof.
    cbv zeta. unfold map_index. rewrite map_from_map, <- map_from_firstn, map_of_map_from.
    apply map_from_ext. intros k row'. apply map_from_firstn.
  Qed.

  Theorem biased_softmax_kernel_is_causal {A m} {d_head : nat} {mask : mask} {Q K : operation memory A (Row num m)}
    {b : bias A num} :
    lower_triangular mask -> autoregressive Q -> autoregressive K -> positional b ->
    causal_kernel (BiasedSoftmaxKernel d_head mask Q K b).
  Proof.
    intros Hmask HQ HK Hb.
    assert (causal_kernel (fun M X => map softmax (Causal (map_index (fun i => map_index (fun j s => s + b X i j))
      (scores d_head (Q M X) (K M X)))))) as H.
    { apply (softmax_of_triangle_is_causal (fun M X => map_index (fun i => map_index (fun j s => s + b X i j))
        (scores d_head (Q M X) (K M X)))).
      intros M X. destruct (HQ M X) as [LQ EQ], (HK M X) as [LK EK].
      split; [| split]; [unfold map_index, scores; now rewrite map_from_length, map_length | |].
      - apply Forall_forall. intros row Hrow. apply in_map_from in Hrow as [i [row' [Hrow' ->]]].
        unfold map_index. rewrite map_from_length, <- LK.
        now apply (proj1 (Forall_forall _ _) (scores_have_a_column_for_each_key d_head (Q M X) (K M X))).
      - intros i Hi. rewrite EQ, EK, scores_of_cut, <- biased_of_cut by easy.
        unfold map_index. apply map_from_ext. intros k row. apply map_from_ext. intros j s. now rewrite (Hb (X↾i) X). }
    destruct H as [H1 H2]. unfold BiasedSoftmaxKernel. split; intros M X; rewrite !Hmask; [| apply H2].
    split; [apply H1 |]. intros i Hi. rewrite Hmask. now apply H1.
  Qed.

  (* A(X)×Kᵀ where K does not depend on X: row i of A(X) comes from row i of Q(X) and the same K. *)
  Theorem softmax_of_constant_keys_is_autoregressive {A m} {d_head : nat} {mask : mask}
    {Q K : operation memory A (Row num m)} :
    full mask -> autoregressive Q -> constant K -> autoregressive (SoftmaxKernel d_head mask Q K).
  Proof.
    intros Hmask HQ HK M X. destruct (HQ M X) as [LQ EQ]. unfold SoftmaxKernel.
    split; [rewrite Hmask; unfold Unmasked, scores; now rewrite !map_length |]. intros i Hi.
    rewrite !Hmask, EQ, (HK M (X↾i) X) by easy. unfold Unmasked, scores. now rewrite !firstn_map.
  Qed.

  (* And rowwise, if Q is. *)
  Theorem softmax_of_constant_keys_is_rowwise {A m} {d_head : nat} {mask : mask} {Q K : operation memory A (Row num m)} :
    full mask -> rowwise Q -> constant K -> rowwise (SoftmaxKernel d_head mask Q K).
  Proof.
    intros Hmask HQ HK M X. destruct (HQ M X) as [LQ EQ]. unfold SoftmaxKernel.
    split; [rewrite Hmask; unfold Unmasked, scores; now rewrite !map_length |]. intros i Hi.
    rewrite !Hmask, EQ, (HK M (X⇂i) X) by easy. unfold Unmasked, scores. now rewrite !map_of_row.
  Qed.

  (* Row i of A(F(X)) has i entries, as F(X) has as many rows as X. *)
  Theorem composition_is_causal_kernel {I J} {A : kernel memory J num} {F : operation memory I J} :
    causal_kernel A -> autoregressive F -> causal_kernel (A ∘ F).
  Proof.
    intros [HA visible] HF. split; [exact (composition_is_autoregressive HA HF) |].
    intros M X i Hi. destruct (HF M X) as [LF _]. apply visible. now rewrite LF.
  Qed.

  (* --- The Claim --- *)

  Lemma combination_of_leading {m} i (a : list num) (V : list (Row num m)) :
    length a <= i -> combination a (V↾i) = combination a V.
  Proof.
    intros H. apply tabulate_ext. intros k. f_equal. revert i V H.
    induction a as [| x a IH]; intros [| i] [| v V] H; simpl in *; try easy. rewrite IH by lia. easy.
  Qed.

  (* "Claim. If A, B are autoregressive operations and A always returns lower triangular square matrices then the matrix
     multiplication operation X ↦ A(X)×B(X) is autoregressive": row k of A(X|i)×B(X|i) is the same combination of the same
     first k rows of B(X)|i as row k of A(X)×B(X) is of those of B(X). *)
  Theorem product_is_autoregressive {I m} {A : kernel memory I num} {B : operation memory I (Row num m)} :
    causal_kernel A -> autoregressive B -> autoregressive (Product A B).
  Proof.
    intros [HA visible] HB M X. destruct (HA M X) as [LA EA], (HB M X) as [LB EB]. unfold Product.
    split; [now rewrite map_length |]. intros i Hi.
    rewrite EA, EB, firstn_map by easy. apply map_ext_in. intros a Ha.
    apply combination_of_leading. destruct (In_nth _ _ [] Ha) as [k [Hk <-]]. rewrite firstn_length in Hk.
    replace (nth k ((A M X)↾i) []) with (nth k (A M X) []); [rewrite visible; lia |].
    rewrite <- (firstn_skipn i (A M X)) at 1. apply app_nth1. rewrite firstn_length. lia.
  Qed.

  (* Its companion: attention to a memory. *)
  Theorem product_with_constant_is_autoregressive {I m} {A : kernel memory I num} {B : operation memory I (Row num m)} :
    autoregressive A -> constant B -> autoregressive (Product A B).
  Proof.
    intros HA HB M X. destruct (HA M X) as [LA EA]. unfold Product. split; [now rewrite map_length |]. intros i Hi.
    now rewrite EA, (HB M (X↾i) X), firstn_map.
  Qed.

  (** attention to a memory is rowwise, if Q is *)
  Theorem cross_attention_is_rowwise {I m m'} {d_head : nat} {mask : mask} {Q K : operation memory I (Row num m)}
    {V : operation memory I (Row num m')} :
    full mask -> rowwise Q -> constant K -> constant V -> rowwise (Product (SoftmaxKernel d_head mask Q K) V).
  Proof.
    intros Hmask HQ HK HV M X. destruct (HQ M X) as [LQ EQ]. unfold Product, SoftmaxKernel, scores.
    rewrite !Hmask. unfold Unmasked. split; [now rewrite !map_length |]. intros i Hi.
    rewrite Hmask, EQ, (HK M (X⇂i) X), (HV M (X⇂i) X) by easy. unfold Unmasked. now rewrite !map_of_row.
  Qed.
End Theorems.
