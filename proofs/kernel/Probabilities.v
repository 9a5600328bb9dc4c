(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* LogSoftmax gives logarithms of probabilities, so that the loss is positive; averages of averages are averages; the loss is
   convex in the weights of Φ; what N does not see. *)

From tlm Require Import LeavesDerivative.
Local Open Scope R_scope.

Section LogSoftmax.
  Context {c : nat} (z : Row R c).
  Let total := sum_below c (fun k => exp (entry z k)).

  Lemma sum_of_positive m f : (forall k, (k < m)%nat -> 0 < f k) -> forall i, (i < m)%nat -> f i <= sum_below m f.
  Proof.
    induction m; intros H i Hi; [lia |]. rewrite sum_below_S.
    assert (0 <= sum_below m f) as P.
    { clear IHm Hi. induction m; [rewrite sum_below_0; lra |]. rewrite sum_below_S.
      pose proof (H m ltac:(lia)). enough (0 <= sum_below m f) by lra. apply IHm. intros; apply H; lia. }
    destruct (Nat.eq_dec i m) as [-> | N]; [lra |]. pose proof (H m ltac:(lia)).
    enough (f i <= sum_below m f) by lra. apply IHm; [intros; apply H | ]; lia.
  Qed.

  Lemma total_is_positive : (0 < c)%nat -> 0 < total.
  Proof.
    intros H. pose proof (exp_pos (entry z 0)).
    pose proof (sum_of_positive c (fun k => exp (entry z k)) (fun k _ => exp_pos _) 0%nat H). unfold total. cbv beta in *. lra.
  Qed.

  (** Σ_j exp(LogSoftmax(z)_j) = 1: what a model says of the next token is a distribution *)
  Theorem probabilities_sum_to_1 : (0 < c)%nat -> sum_below c (fun j => exp (entry (log_softmax z) j)) = 1.
  Proof.
    intros H. pose proof (total_is_positive H) as P.
    transitivity (sum_below c (fun j => exp (entry z j) / total)).
    - apply sum_ext. intros j Hj. rewrite LogSoftmax_formula by easy. fold total. unfold Rminus.
      rewrite exp_plus, exp_Ropp, exp_of_log by easy. reflexivity.
    - rewrite sum_over. unfold Rdiv. apply Rinv_r. fold total. lra.
  Qed.

  (** y ≤ 0 for y = LogSoftmax(z)_j *)
  Theorem log_probabilities_are_nonpositive j : (j < c)%nat -> entry (log_softmax z) j <= 0.
  Proof.
    intros Hj. rewrite LogSoftmax_formula by easy. fold total.
    enough (entry z j <= log total) by lra. rewrite <- (log_of_exp (entry z j)).
    pose proof (sum_of_positive c (fun k => exp (entry z k)) (fun k _ => exp_pos _) j Hj) as L. cbv beta in L. fold total in L.
    destruct L as [L | E]; [left; apply log_is_increasing; [apply exp_pos | exact L] | right; now rewrite E].
  Qed.

  (** y < 0 for y = LogSoftmax(z)_j if there are at least two tokens *)
  Theorem log_probabilities_are_negative j : (j < c)%nat -> (2 <= c)%nat -> entry (log_softmax z) j < 0.
  Proof.
    intros Hj H. rewrite LogSoftmax_formula by easy. fold total.
    enough (entry z j < log total) by lra. rewrite <- (log_of_exp (entry z j)) at 1. apply log_is_increasing; [apply exp_pos |].
    set (i := if (j =? 0)%nat then 1%nat else 0%nat).
    assert (i <> j /\ (i < c)%nat) as [N Hi] by (unfold i; destruct (Nat.eqb_spec j 0); lia).
    (* Of all terms but j the one of i alone is positive. *)
    assert (total = exp (entry z j) + sum_below c (fun k => if (k =? j)%nat then 0 else exp (entry z k))) as E.
    { rewrite <- (sum_of_one_term c j (fun k => exp (entry z k))) by easy. rewrite <- sum_plus. apply sum_ext. intros k _.
      destruct (k =? j)%nat; lra. }
    assert (exp (entry z i) <= sum_below c (fun k => if (k =? j)%nat then 0 else exp (entry z k))) as L.
    { rewrite <- (sum_of_one_term c i (fun k => exp (entry z k))) by easy.
      enough (forall m, sum_below m (fun k => if (k =? i)%nat then exp (entry z k) else 0) <=
        sum_below m (fun k => if (k =? j)%nat then 0 else exp (entry z k))) by easy.
      induction m; [rewrite !sum_below_0; lra |]. rewrite !sum_below_S. pose proof (exp_pos (entry z m)).
      destruct (Nat.eqb_spec m i), (Nat.eqb_spec m j); try lia; lra. }
    pose proof (exp_pos (entry z i)). lra.
  Qed.
End LogSoftmax.

(* --- The loss of scores --- *)

Lemma sum_of_nonpositive m f : (forall k, (k < m)%nat -> f k <= 0) -> sum_below m f <= 0.
Proof.
  induction m; intros H; [rewrite sum_below_0; lra |]. rewrite sum_below_S. pose proof (H m ltac:(lia)).
  enough (sum_below m f <= 0) by lra. apply IHm. intros; apply H; lia.
Qed.

Lemma sum_of_nonpositive_with_a_negative m f i :
  (forall k, (k < m)%nat -> f k <= 0) -> (i < m)%nat -> f i < 0 -> sum_below m f < 0.
Proof.
  induction m; intros H Hi N; [lia |]. rewrite sum_below_S. destruct (Nat.eq_dec i m) as [-> | D].
  - enough (sum_below m f <= 0) by lra. apply sum_of_nonpositive. intros; apply H; lia.
  - pose proof (H m ltac:(lia)). enough (sum_below m f < 0) by lra. apply IHm; [intros; apply H | |]; lia || easy.
Qed.

Section LossOfScores.
  Context {c : nat} (ω : list R) (divisor : R) (x : list token) (Z : list (Row R c)).
  Hypothesis of_tokens : forall k, (k < length Z)%nat -> 0 <= nth k ω 0 /\ (nth k x 0 < c)%nat.
  Hypothesis positive : 0 < divisor.

  (** the loss of scores is ≥ 0 if ω ≥ 0 and what it is divided by is > 0 *)
  Theorem loss_of_scores_is_nonnegative : 0 <= cross_entropy ω divisor x Z.
  Proof.
    unfold cross_entropy. set (s := sum_below _ _). enough (s * / divisor <= 0) by (unfold Rdiv; lra).
    assert (s <= 0); [| pose proof (Rinv_0_lt_compat _ positive); nra].
    apply sum_of_nonpositive. intros k Hk. destruct (of_tokens k Hk) as [P L].
    pose proof (log_probabilities_are_nonpositive (nth k Z origin) _ L). nra.
  Qed.

  (** the loss of scores is > 0 if ω ≥ 0, one weight is not 0, and there are at least two tokens *)
  Theorem loss_of_scores_is_positive i :
    (2 <= c)%nat -> (i < length Z)%nat -> 0 < nth i ω 0 -> 0 < cross_entropy ω divisor x Z.
  Proof.
    intros Hc Hi Pi. unfold cross_entropy. set (s := sum_below _ _). enough (s * / divisor < 0) by (unfold Rdiv; lra).
    assert (s < 0); [| pose proof (Rinv_0_lt_compat _ positive); nra].
    apply sum_of_nonpositive_with_a_negative with i; [| easy |].
    - intros k Hk. destruct (of_tokens k Hk) as [P L].
      pose proof (log_probabilities_are_nonpositive (nth k Z origin) _ L). nra.
    - destruct (of_tokens i Hi) as [_ L]. pose proof (log_probabilities_are_negative (nth i Z origin) _ L Hc). nra.
  Qed.
End LossOfScores.

(** the loss is 0 if there is only one token *)
Theorem loss_of_one_token (ω : list R) divisor (x : list token) (Z : list (Row R 1)) :
  (forall k, (k < length Z)%nat -> nth k x 0%nat = 0%nat) -> cross_entropy ω divisor x Z = 0.
Proof.
  intros H. unfold cross_entropy. rewrite (sum_ext _ _ (fun _ => 0 * 0)).
  - rewrite sum_times. unfold Rdiv. ring.
  - intros k Hk. rewrite (H k Hk), LogSoftmax_formula by lia.
    rewrite sum_below_S, sum_below_0, Rplus_0_l, log_of_exp. ring.
Qed.

(* --- Averages --- *)

(* A row of probabilities. *)
Definition stochastic {m} (x : Row R m) : Prop := (forall j, (j < m)%nat -> 0 <= entry x j) /\ sum_below m (entry x) = 1.

(** a product of stochastic matrices is stochastic: attention to averages of values gives averages of values *)
Theorem product_of_stochastic_is_stochastic {m} (a : list R) (V : list (Row R m)) :
  length a = length V -> Forall (fun a_j => 0 <= a_j) a -> Sum a = 1 -> Forall stochastic V -> stochastic (combination a V).
Proof.
  intros L Ha Sa HV. rewrite Forall_forall in Ha, HV.
  assert (forall j, (j < length a)%nat -> 0 <= nth j a 0 /\ stochastic (nth j V origin)) as H.
  { intros j Hj. split; [apply Ha, nth_In, Hj | apply HV, nth_In; congruence]. }
  split.
  - intros k Hk. rewrite entry_of_combination by easy.
    enough (forall n, (n <= length a)%nat -> 0 <= sum_below n (fun j => nth j a 0 * entry (nth j V origin) k)) by auto.
    induction n; intros Hn; [rewrite sum_below_0; lra |]. rewrite sum_below_S. destruct (H n ltac:(lia)) as [P [Q _]].
    pose proof (Rmult_le_pos _ _ P (Q k Hk)). specialize (IHn ltac:(lia)). lra.
  - transitivity (sum_below m (fun k => sum_below (length a) (fun j => nth j a 0 * entry (nth j V origin) k))).
    + apply sum_ext. intros k Hk. now apply entry_of_combination.
    + rewrite sum_swap. transitivity (sum_below (length a) (fun j => nth j a 0)).
      * apply sum_ext. intros j Hj. rewrite sum_times. destruct (H j Hj) as [_ [_ ->]]. ring.
      * rewrite <- Sa, <- (Sum_map_nth (fun x => x) a 0). now rewrite map_id.
Qed.

(* --- N does not see a number that is added to all coordinates --- *)

Definition shifted {d} (c : R) (x : Row R d) : Row R d := tabulate d (fun j => entry x j + c).

Lemma tabulate_ext_below m (f g : nat -> R) : (forall j, (j < m)%nat -> f j = g j) -> tabulate m f = tabulate m g.
Proof.
  revert f g. induction m; intros f g H; cbn; [easy |]. rewrite H by lia. f_equal. apply IHm. intros. apply H. lia.
Qed.

Lemma centered_shifted {d} c (x : Row R d) : centered (shifted c x) = centered x.
Proof.
  destruct d as [| d']; [reflexivity |]. set (d := S d') in *.
  assert (mean (shifted c x) = mean x + c) as E.
  { rewrite !mean_is. rewrite (sum_ext d (entry (shifted c x)) (fun j => entry x j + c))
      by (intros j Hj; unfold shifted; now rewrite entry_of_tabulate).
    rewrite sum_plus, sum_of_constant. field. apply IZR_of_nat_0. unfold d. lia. }
  unfold centered. cbv zeta. rewrite E. apply tabulate_ext_below. intros j Hj. unfold shifted.
  rewrite entry_of_tabulate by easy. cbn. ring.
Qed.

(** N(x + c·1) = N(x) *)
Theorem N_of_shifted {memory : Type} {d} (a b : Row R d) c (M : list memory) X :
  Normalization a b M (map (shifted c) X) = Normalization a b M X.
Proof.
  unfold Normalization, each_row. rewrite map_map. apply map_ext. intros x.
  unfold standardized, variance. now rewrite centered_shifted.
Qed.
(** LayerNorm(x + c·1) = LayerNorm(x) *)
Theorem LayerNorm_of_shifted {memory : Type} {d} one_over_ε (γ β : Row R d) c (M : list memory) X :
  LayerNorm one_over_ε γ β M (map (shifted c) X) = LayerNorm one_over_ε γ β M X.
Proof.
  unfold LayerNorm, each_row. rewrite map_map. apply map_ext. intros x.
  unfold standardized, variance. now rewrite centered_shifted.
Qed.

(* --- The loss is convex in the weights of Φ --- *)

(* The curve of exp is above its tangents, and so below its chords. *)
Lemma exp_is_convex λ x y : 0 <= λ <= 1 -> exp (λ * x + (1 - λ) * y) <= λ * exp x + (1 - λ) * exp y.
Proof.
  intros H. set (m := λ * x + (1 - λ) * y). pose proof (exp_pos m) as P.
  assert (forall u, exp m * (1 + (u - m)) <= exp u) as T.
  { intros u. replace (exp u) with (exp m * exp (u - m)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; [lra | apply exp_above_tangent]. }
  pose proof (Rmult_le_compat_l λ _ _ (proj1 H) (T x)).
  pose proof (Rmult_le_compat_l (1 - λ) _ _ ltac:(lra) (T y)).
  enough (exp m = λ * (exp m * (1 + (x - m))) + (1 - λ) * (exp m * (1 + (y - m)))) by lra.
  unfold m. ring.
Qed.

Lemma sum_le m f g : (forall j, (j < m)%nat -> f j <= g j) -> sum_below m f <= sum_below m g.
Proof.
  induction m; intros H; [rewrite !sum_below_0; lra |]. rewrite !sum_below_S. pose proof (H m ltac:(lia)).
  enough (sum_below m f <= sum_below m g) by lra. apply IHm. intros; apply H; lia.
Qed.

(* log Σ exp is convex. *)
Lemma log_sum_exp_is_convex m λ (x y : nat -> R) : (0 < m)%nat -> 0 <= λ <= 1 ->
  log (sum_below m (fun k => exp (λ * x k + (1 - λ) * y k))) <=
  λ * log (sum_below m (fun k => exp (x k))) + (1 - λ) * log (sum_below m (fun k => exp (y k))).
Proof.
  intros Hm H.
  assert (forall f, 0 < sum_below m (fun k => exp (f k))) as P.
  { intros f. pose proof (exp_pos (f 0%nat)).
    pose proof (sum_of_positive m (fun k => exp (f k)) (fun k _ => exp_pos _) 0%nat Hm). cbv beta in *. lra. }
  set (α := log (sum_below m (fun k => exp (x k)))). set (β := log (sum_below m (fun k => exp (y k)))).
  assert (forall f, sum_below m (fun k => exp (f k - log (sum_below m (fun k => exp (f k))))) = 1) as One.
  { intros f. rewrite (sum_ext m _ (fun k => exp (f k) / sum_below m (fun k => exp (f k)))).
    - rewrite sum_over. unfold Rdiv. apply Rinv_r. specialize (P f). lra.
    - intros k _. unfold Rminus. rewrite exp_plus, exp_Ropp, exp_of_log by apply P. reflexivity. }
  assert (sum_below m (fun k => exp (λ * x k + (1 - λ) * y k - (λ * α + (1 - λ) * β))) <= 1) as L.
  { apply Rle_trans with (sum_below m (fun k => λ * exp (x k - α) + (1 - λ) * exp (y k - β))).
    - apply sum_le. intros k _.
      replace (λ * x k + (1 - λ) * y k - (λ * α + (1 - λ) * β)) with (λ * (x k - α) + (1 - λ) * (y k - β)) by ring.
      now apply exp_is_convex.
    - rewrite sum_plus, !sum_times. unfold α, β. rewrite !One. lra. }
  rewrite (sum_ext m _ (fun k => exp (λ * x k + (1 - λ) * y k) * exp (- (λ * α + (1 - λ) * β)))) in L
    by (intros k _; unfold Rminus; apply exp_plus).
  rewrite sum_times_r, exp_Ropp in L. pose proof (exp_pos (λ * α + (1 - λ) * β)) as E.
  apply (Rmult_le_compat_r (exp (λ * α + (1 - λ) * β))) in L; [| lra].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l in L by lra.
  rewrite <- (log_of_exp (λ * α + (1 - λ) * β)). specialize (P (fun k => λ * x k + (1 - λ) * y k)). cbv beta in P.
  destruct L as [L | ->]; [left; now apply log_is_increasing | lra].
Qed.

(* The loss of a token x after a row h: −LogSoftmax(h×Y + B)_x. *)
Definition loss_of_Φ {d v} (h : Row R d) (x : token) (Y : Matrix R d v) (B : Row R v) : R :=
  - entry (log_softmax (plus (times h Y) B)) x.

(* λ·W + (1 − λ)·W′, number by number. *)
Definition between {m} (λ : R) (x y : Row R m) : Row R m := tabulate m (fun j => λ * entry x j + (1 - λ) * entry y j).
Definition between_matrices {r c} (λ : R) (W V : Matrix R r c) : Matrix R r c :=
  tabulate r (fun i => between λ (row W i) (row V i)).

(** the loss of one token is convex in (Y, B), the weights of Φ *)
Theorem loss_of_a_token_is_convex_in_Φ {d v} (h : Row R d) (x : token) λ (Y Y' : Matrix R d v) (B B' : Row R v) :
  (x < v)%nat -> 0 <= λ <= 1 ->
  loss_of_Φ h x (between_matrices λ Y Y') (between λ B B') <= λ * loss_of_Φ h x Y B + (1 - λ) * loss_of_Φ h x Y' B'.
Proof.
  intros Hx H. unfold loss_of_Φ. rewrite !LogSoftmax_formula by easy.
  set (z j := entry (plus (times h Y) B) j). set (z' j := entry (plus (times h Y') B') j).
  assert (forall j, (j < v)%nat -> entry (plus (times h (between_matrices λ Y Y')) (between λ B B')) j = λ * z j + (1 - λ) * z' j)
    as E.
  { intros j Hj. unfold z, z', plus, times. rewrite !entry_of_tabulate by easy.
    change (sum_below d (fun k => entry h k * entry (row (between_matrices λ Y Y') k) j) + entry (between λ B B') j =
      λ * (sum_below d (fun k => entry h k * entry (row Y k) j) + entry B j) +
      (1 - λ) * (sum_below d (fun k => entry h k * entry (row Y' k) j) + entry B' j)).
    unfold between at 1. rewrite entry_of_tabulate by easy.
    rewrite (sum_ext d _ (fun k => λ * (entry h k * entry (row Y k) j) + (1 - λ) * (entry h k * entry (row Y' k) j))).
    - rewrite sum_plus, !sum_times. ring.
    - intros k Hk. unfold between_matrices, row at 1. rewrite nth_of_tabulate by easy. unfold between.
      rewrite entry_of_tabulate by easy. ring. }
  rewrite E by easy. fold (z x) (z' x).
  rewrite (sum_ext v (fun k => exp (entry (plus (times h (between_matrices λ Y Y')) (between λ B B')) k))
    (fun k => exp (λ * z k + (1 - λ) * z' k))) by (intros k Hk; now rewrite E).
  pose proof (log_sum_exp_is_convex v λ z z' ltac:(lia) H) as C. unfold z, z' in *. lra.
Qed.

(** the loss of the scores Φ(X), with weights ω ≥ 0 and divided by what is > 0, is convex in (Y, B), the weights of Φ *)
Theorem loss_is_convex_in_Φ {d v} {memory : Type} (M : list memory) ω divisor (x : list token) (X : list (Row R d)) λ
  (Y Y' : Matrix R d v) (B B' : Row R v) :
  (forall k, (k < length X)%nat -> 0 <= nth k ω 0 /\ (nth k x 0 < v)%nat) -> 0 < divisor -> 0 <= λ <= 1 ->
  let loss Y B := cross_entropy ω divisor x ((Plus B ∘ Times Y) M X) in
  loss (between_matrices λ Y Y') (between λ B B') <= λ * loss Y B + (1 - λ) * loss Y' B'.
Proof.
  intros H positive Hλ loss.
  assert (forall Y B, loss Y B = sum_below (length X) (fun k => nth k ω 0 * loss_of_Φ (nth k X origin) (nth k x 0%nat) Y B) / divisor)
    as E.
  { clear. intros Y B. unfold loss, cross_entropy, Composition, Plus, Times, each_row. rewrite map_map, map_length.
    rewrite (sum_ext (length X) (fun k => nth k ω 0 * loss_of_Φ (nth k X origin) (nth k x 0%nat) Y B)
      (fun k => -1 * (nth k ω 0 * entry (log_softmax (nth k (map (fun h => plus (times h Y) B) X) origin)) (nth k x 0%nat)))).
    - rewrite sum_times. unfold Rdiv. ring.
    - intros k Hk. rewrite (nth_indep _ _ (plus (times origin Y) B)) by now rewrite map_length.
      rewrite (map_nth (fun h => plus (times h Y) B)). unfold loss_of_Φ. ring. }
  rewrite !E. apply Rmult_le_reg_r with divisor; [easy |].
  rewrite Rmult_plus_distr_r. unfold Rdiv.
  replace (λ * (sum_below (length X) (fun k => nth k ω 0 * loss_of_Φ (nth k X origin) (nth k x 0%nat) Y B) * / divisor) * divisor)
    with (sum_below (length X) (fun k => λ * (nth k ω 0 * loss_of_Φ (nth k X origin) (nth k x 0%nat) Y B)))
    by (rewrite sum_times; field; lra).
  replace ((1 - λ) * (sum_below (length X) (fun k => nth k ω 0 * loss_of_Φ (nth k X origin) (nth k x 0%nat) Y' B') * / divisor) * divisor)
    with (sum_below (length X) (fun k => (1 - λ) * (nth k ω 0 * loss_of_Φ (nth k X origin) (nth k x 0%nat) Y' B')))
    by (rewrite sum_times; field; lra).
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r, <- sum_plus by lra.
  apply sum_le. intros k Hk. destruct (H k Hk) as [P L].
  pose proof (loss_of_a_token_is_convex_in_Φ (nth k X origin) _ λ Y Y' B B' L Hλ). nra.
Qed.
