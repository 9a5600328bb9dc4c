(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* Averages. (Article, "Evaluation (the loss function)".) What the loss may read: Decoding.v. *)

From tlm Require Import Reals.
Local Open Scope R_scope.

(* --- Averages --- *)

(* A row of the batch: weights ω_i and log probabilities y_i. *)
Definition sequence : Type := list (R * R).
Definition weight_of (s : sequence) : R := Sum (map fst s).
Definition weighted_sum (s : sequence) : R := Sum (map (fun p => fst p * snd p) s).
(* −Σ ω_i y_i / Σ ω_i *)
Definition loss (s : sequence) : R := - (weighted_sum s) / weight_of s.
Definition loss_of_batch (batch : list sequence) : R := loss (concat batch).
Definition mean_of_losses (batch : list sequence) : R := Sum (map loss batch) / INR (length batch).

(* "The two formulas give the same result if the sums Σ_i ω_ji are the same for each row" *)
(** the loss of a batch is the mean of its rows' losses if their weights have equal sums, which are not 0 *)
Theorem loss_of_batch_is_the_mean c batch :
  c <> 0 -> batch <> [] -> Forall (fun s => weight_of s = c) batch -> loss_of_batch batch = mean_of_losses batch.
Proof.
  intros Hc nonempty H. unfold loss_of_batch, mean_of_losses, loss.
  assert (weight_of (concat batch) = INR (length batch) * c) as ->.
  { clear nonempty. unfold weight_of. induction H as [| s batch E _ IH]; [cbn; ring |].
    cbn [concat length]. rewrite map_app, Sum_app, IH, S_INR. unfold weight_of in E. rewrite E. ring. }
  assert (Sum (map (fun s => - weighted_sum s / weight_of s) batch) = - weighted_sum (concat batch) / c) as ->.
  { clear nonempty. unfold weighted_sum. induction H as [| s batch E _ IH]; [cbn; field; easy |].
    cbn [concat map]. rewrite map_app, Sum_app, Sum_cons, E, IH. field. easy. }
  assert (INR (length batch) <> 0) by (destruct batch; [easy | now apply not_0_INR]).
  field. easy.
Qed.

(* "but they are slightly different otherwise" (in general): one row of weight 1 and one of weights 1, 1. *)
(** the loss of a batch is not the mean of its sequences' losses in general: a counter-example *)
Theorem loss_of_batch_is_not_the_mean_in_general :
  let batch := [[(1, -1)]; [(1, 0); (1, 0)]] in loss_of_batch batch <> mean_of_losses batch.
Proof.
  cbv zeta. unfold loss_of_batch, mean_of_losses, loss, weighted_sum, weight_of. cbn [concat app map length fst snd].
  rewrite !Sum_cons, !Sum_nil. cbn [INR]. intros E. field_simplify in E. lra.
Qed.

(* A single row counts alone if the weights of all others are 0. *)
(** it is that of a single row if the weights of all others are 0 *)
Theorem loss_of_a_single_row before s after :
  Forall (fun row => Forall (fun p => fst p = 0) row) (before ++ after) -> loss_of_batch (before ++ s :: after) = loss s.
Proof.
  intros H. apply Forall_app in H as [Hb Ha]. unfold loss_of_batch, loss.
  assert (forall rows, Forall (fun row => Forall (fun p : R * R => fst p = 0) row) rows ->
    Sum (map fst (concat rows)) = 0 /\ Sum (map (fun p => fst p * snd p) (concat rows)) = 0) as Z.
  { intros rows Z. induction Z as [| row rows Zrow _ [IH1 IH2]]; [easy |]. cbn [concat]. rewrite !map_app, !Sum_app, IH1, IH2.
    clear IH1 IH2. split; induction Zrow as [| p row Zp _ IH]; cbn [map]; rewrite ?Sum_nil, ?Sum_cons; try lra; rewrite Zp; lra. }
  unfold weight_of, weighted_sum. rewrite concat_app. cbn [concat]. rewrite !map_app, !Sum_app.
  destruct (Z before Hb) as [-> ->], (Z after Ha) as [-> ->]. f_equal; [f_equal |]; lra.
Qed.

(** without weights, which is with weights of 1, it is −(1/n)Σ_k y_k *)
Theorem loss_of_a_single_sequence (y : list R) : loss (map (fun y_k => (1, y_k)) y) = - (1 / INR (length y)) * Sum y.
Proof.
  unfold loss, weight_of, weighted_sum. rewrite !map_map. cbn [fst snd].
  assert (Sum (map (fun _ => 1) y) = INR (length y)) as ->.
  { induction y; [easy |]. cbn [map length]. rewrite Sum_cons, IHy, S_INR. ring. }
  assert (Sum (map (fun x => 1 * x) y) = Sum y) as ->; [| unfold Rdiv; ring].
  f_equal. rewrite <- map_id. apply map_ext. intros x. ring.
Qed.

(** the loss is ≥ 0 if ω ≥ 0, not all of them 0, and y ≤ 0, as logarithms of probabilities are *)
Theorem loss_is_nonnegative s :
  Forall (fun p => 0 <= fst p /\ snd p <= 0) s -> 0 < weight_of s -> 0 <= loss s.
Proof.
  intros H positive. unfold loss. apply Rmult_le_pos; [| now apply Rlt_le, Rinv_0_lt_compat].
  enough (weighted_sum s <= 0) by lra. clear positive. unfold weighted_sum.
  induction H as [| p s [Hw Hy] _ IH]; cbn [map]; rewrite ?Sum_nil, ?Sum_cons; [lra |].
  pose proof (Rmult_le_compat_l (fst p) (snd p) 0 Hw Hy). lra.
Qed.

(** a negative weight may make the loss negative: ω = (2, −1), y = (−1, −3) *)
Theorem loss_with_a_negative_weight : loss [(2, -1); (-1, -3)] = -1.
Proof. unfold loss, weighted_sum, weight_of. cbn [map fst snd]. rewrite !Sum_cons, !Sum_nil. field. Qed.
