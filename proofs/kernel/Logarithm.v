(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* The natural logarithm, and its derivative.

   Coq's own logarithm rests on the excluded middle, by way of the mean value theorem. This one rests only on what Coq's real
   numbers rest on: all of it follows from exp(u) ≥ 1 + u. *)

From Coq Require Export Reals Lra.
From Coq Require Import Lia.
Local Open Scope R_scope.

(* (1 + x)^n ≥ 1 + n·x *)
Lemma bernoulli n x : -1 <= x -> 1 + INR n * x <= (1 + x) ^ n.
Proof.
  intros H. induction n as [| n IH]; [cbn; lra |]. rewrite S_INR. cbn [pow]. pose proof (pos_INR n).
  apply Rle_trans with ((1 + x) * (1 + INR n * x)); [| apply Rmult_le_compat_l; lra].
  pose proof (Rmult_le_pos _ _ (pos_INR n) (Rle_0_sqr x)) as P. unfold Rsqr in P. lra.
Qed.

Lemma exp_of_multiple n d : exp (INR n * d) = exp d ^ n.
Proof.
  induction n as [| n IH]; [cbn; now rewrite Rmult_0_l, exp_0 |]. rewrite S_INR. cbn [pow]. rewrite <- IH, <- exp_plus.
  f_equal. ring.
Qed.

Lemma a_natural_number_is_above r : 0 < r -> exists n, r < INR n.
Proof.
  intros H. destruct (archimed r) as [L _]. exists (Z.to_nat (up r)).
  rewrite INR_IZR_INZ, Z2Nat.id; [exact L |]. apply le_IZR. lra.
Qed.

(* Near 0 this is the derivative; and exp(u) = exp(u/n)^n. *)
(** exp(u) ≥ 1 + u *)
Lemma exp_above_tangent u : 1 + u <= exp u.
Proof.
  destruct (Req_dec u 0) as [-> | N]; [rewrite exp_0; lra |]. apply Rle_trans with (1 + u); [lra |].
  apply le_epsilon. intros ε Hε. pose proof (Rabs_pos_lt u N) as Pu.
  assert (0 < Rmin (1 / 2) (ε / Rabs u)) as Pη by (apply Rmin_glb_lt; [lra | now apply Rdiv_lt_0_compat]).
  set (η := Rmin (1 / 2) (ε / Rabs u)) in *.
  destruct (derivable_pt_lim_exp 0 η Pη) as [δ Hδ]. rewrite exp_0 in Hδ. pose proof (cond_pos δ).
  assert (0 < Rmin δ (1 / 2)) as Pm by (apply Rmin_glb_lt; lra).
  destruct (a_natural_number_is_above (Rabs u / Rmin δ (1 / 2))) as [n Hn]; [now apply Rdiv_lt_0_compat |].
  assert (0 < Rabs u / Rmin δ (1 / 2)) by now apply Rdiv_lt_0_compat.
  assert (0 < INR n) as Pn by lra.
  set (d := u / INR n). assert (u = INR n * d) as E by (unfold d; field; lra).
  assert (Rabs d < Rmin δ (1 / 2)) as Bd.
  { unfold d, Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (INR n)) by lra.
    apply Rmult_lt_reg_r with (INR n); [easy |]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rmult_lt_reg_r with (/ Rmin δ (1 / 2)); [now apply Rinv_0_lt_compat |].
    rewrite (Rmult_comm (Rmin δ (1 / 2))), Rmult_assoc, Rinv_r, Rmult_1_r by lra. exact Hn. }
  pose proof (Rmin_l δ (1 / 2)). pose proof (Rmin_r δ (1 / 2)).
  assert (d <> 0) as Nd by (intros Z; rewrite Z in E; lra).
  specialize (Hδ d Nd ltac:(lra)). rewrite Rplus_0_l in Hδ.
  assert (1 + d - η * Rabs d <= exp d) as B.
  { apply (Rmult_lt_compat_r (Rabs d)) in Hδ; [| now apply Rabs_pos_lt]. rewrite <- Rabs_mult in Hδ.
    replace (((exp d - 1) / d - 1) * d) with (exp d - 1 - d) in Hδ by (field; easy).
    apply Rabs_def2 in Hδ. lra. }
  assert (-1 <= d - η * Rabs d) as L.
  { assert (η <= 1 / 2) by apply Rmin_l. apply Rabs_def2 in Bd as [B1 B2]. pose proof (Rabs_pos d).
    assert (Rabs d <= 1 / 2) by (apply Rlt_le, Rabs_def1; lra).
    assert (η * Rabs d <= 1 / 2 * (1 / 2)) by (apply Rmult_le_compat; lra). lra. }
  pose proof (bernoulli n _ L) as Hb.
  assert ((1 + (d - η * Rabs d)) ^ n <= exp d ^ n) as Hp by (apply pow_incr; lra).
  rewrite <- exp_of_multiple, <- E in Hp.
  assert (INR n * (η * Rabs d) <= ε) as He.
  { replace (INR n * (η * Rabs d)) with (η * Rabs u).
    - apply Rle_trans with (ε / Rabs u * Rabs u); [apply Rmult_le_compat_r; [lra | apply Rmin_r] | right; field; lra].
    - rewrite E at 1. rewrite Rabs_mult, (Rabs_right (INR n)) by lra. ring. }
  replace (INR n * (d - η * Rabs d)) with (u - INR n * (η * Rabs d)) in Hb by (rewrite E at 1; ring). lra.
Qed.

Lemma exp_is_increasing x y : x < y -> exp x < exp y.
Proof.
  intros H. replace y with (x + (y - x)) by ring. rewrite exp_plus. pose proof (exp_pos x) as P.
  pose proof (exp_above_tangent (y - x)). rewrite <- (Rmult_1_r (exp x)) at 1. apply Rmult_lt_compat_l; lra.
Qed.
Lemma exp_is_injective x y : exp x = exp y -> x = y.
Proof. intros E. destruct (Rtotal_order x y) as [L | [-> | L]]; [| easy |]; apply exp_is_increasing in L; lra. Qed.

Lemma exp_reaches_above_1 y : 1 <= y -> { x | exp x = y }.
Proof.
  intros H. destruct (IVT_cor (fun x => exp x - y) 0 y) as [x [_ E]].
  - apply (continuity_minus exp (fct_cte y)); [exact (derivable_continuous _ derivable_exp) |].
    apply derivable_continuous, derivable_const.
  - lra.
  - rewrite exp_0. pose proof (exp_above_tangent y).
    rewrite <- (Rmult_0_r (1 - y)). apply Ropp_le_cancel. rewrite !Ropp_mult_distr_l. apply Rmult_le_compat_l; lra.
  - exists x. lra.
Qed.
Lemma exp_reaches y : 0 < y -> { x | exp x = y }.
Proof.
  intros H. destruct (Rle_lt_dec 1 y) as [L | L]; [now apply exp_reaches_above_1 |].
  destruct (exp_reaches_above_1 (/ y)) as [x E].
  - rewrite <- Rinv_1. apply Rlt_le, Rinv_lt_contravar; lra.
  - exists (- x). rewrite exp_Ropp, E. now apply Rinv_inv.
Qed.

(* exp(log(y)) = y for y > 0; for others it means nothing. *)
Definition log (y : R) : R := match Rlt_dec 0 y with left positive => proj1_sig (exp_reaches y positive) | right _ => 0 end.

(** exp(log(y)) = y for y > 0 *)
Lemma exp_of_log y : 0 < y -> exp (log y) = y.
Proof. intros H. unfold log. destruct (Rlt_dec 0 y) as [P |]; [| easy]. now destruct (exp_reaches y P). Qed.
(** log(exp(x)) = x *)
Lemma log_of_exp x : log (exp x) = x.
Proof. apply exp_is_injective, exp_of_log, exp_pos. Qed.

Lemma log_of_product x y : 0 < x -> 0 < y -> log (x * y) = log x + log y.
Proof.
  intros Hx Hy. apply exp_is_injective. rewrite exp_plus, !exp_of_log; [easy | easy | easy | now apply Rmult_lt_0_compat].
Qed.
Lemma log_is_increasing x y : 0 < x -> x < y -> log x < log y.
Proof.
  intros Hx H. destruct (Rlt_le_dec (log x) (log y)) as [L | L]; [easy |].
  destruct L as [L | E]; [apply exp_is_increasing in L | apply (f_equal exp) in E]; rewrite !exp_of_log in * by lra; lra.
Qed.

Lemma log_below v : -1 < v -> log (1 + v) <= v.
Proof.
  intros H. destruct (Rle_lt_dec (log (1 + v)) v) as [L | L]; [easy |]. apply exp_is_increasing in L.
  rewrite exp_of_log in L by lra. pose proof (exp_above_tangent v). lra.
Qed.
Lemma log_above v : -1 < v -> v / (1 + v) <= log (1 + v).
Proof.
  intros H. assert (/ (1 + v) = 1 + - (v / (1 + v))) as E by (field; lra).
  assert (0 < / (1 + v)) as P by (apply Rinv_0_lt_compat; lra).
  assert (log (1 + v) = - log (/ (1 + v))) as ->.
  { assert (log ((1 + v) * / (1 + v)) = 0) as Z by (rewrite Rinv_r, <- exp_0, log_of_exp by lra; easy).
    rewrite log_of_product in Z by lra. lra. }
  rewrite E in *. pose proof (log_below (- (v / (1 + v))) ltac:(lra)). lra.
Qed.

(** log′(x) = 1/x for x > 0 *)
Lemma log_has_its_derivative x : 0 < x -> derivable_pt_lim log x (/ x).
Proof.
  intros H ε Hε. assert (0 < Rmin (x / 2) (ε * x * x / 2)) as P.
  { apply Rmin_glb_lt; [lra |]. apply Rdiv_lt_0_compat; [| lra]. now repeat apply Rmult_lt_0_compat. }
  exists (mkposreal _ P). intros h Nh Small. cbn in Small.
  assert (Rabs h < x / 2) as B1 by (apply Rlt_le_trans with (1 := Small), Rmin_l).
  assert (Rabs h < ε * x * x / 2) as B2 by (apply Rlt_le_trans with (1 := Small), Rmin_r).
  pose proof (Rabs_def2 _ _ B1) as [B3 B4].
  set (v := h / x). assert (h = x * v) as E by (unfold v; field; lra).
  assert (-1 / 2 < v) as Lv by (apply Rmult_lt_reg_l with x; [easy | rewrite <- E; lra]).
  replace (x + h) with (x * (1 + v)) by (rewrite E; ring).
  rewrite log_of_product by lra. replace (log x + log (1 + v) - log x) with (log (1 + v)) by ring.
  pose proof (log_below v ltac:(lra)) as U. pose proof (log_above v ltac:(lra)) as L.
  assert (v <> 0) as Nv by (intros Z; apply Nh; rewrite E, Z; ring).
  (* |log(1 + v) − v| ≤ v²/(1 + v) ≤ 2·v² *)
  assert (Rabs (log (1 + v) - v) <= 2 * (v * v)) as D.
  { rewrite Rabs_left1 by lra. assert (v - v / (1 + v) = v * v * / (1 + v)) as F by (field; lra).
    assert (/ (1 + v) <= 2) as I2.
    { replace 2 with (/ / 2) by (apply Rinv_inv). apply Rlt_le, Rinv_lt_contravar; lra. }
    assert (v * v * / (1 + v) <= v * v * 2) by (apply Rmult_le_compat_l; [apply Rle_0_sqr | easy]). lra. }
  replace (log (1 + v) / h - / x) with ((log (1 + v) - v) * / h) by (rewrite E; field; split; lra).
  rewrite Rabs_mult, Rabs_inv. pose proof (Rabs_pos_lt h Nh) as Ph.
  apply Rle_lt_trans with (2 * (v * v) * / Rabs h); [apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat |]; easy |].
  replace (v * v) with (Rabs h * Rabs h / (x * x)).
  - replace (2 * (Rabs h * Rabs h / (x * x)) * / Rabs h) with (2 * Rabs h * / (x * x)) by (field; lra).
    apply Rmult_lt_reg_r with (x * x); [now apply Rmult_lt_0_compat |].
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply Rgt_not_eq; now apply Rmult_lt_0_compat). lra.
  - rewrite <- Rabs_mult, (Rabs_right (h * h)) by (apply Rle_ge, Rle_0_sqr). rewrite E. field. lra.
Qed.
