(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* "For any fixed offset k, there is a linear map T_k such that T_k PE_pos = PE_{pos+k}." (Article, "Positional Encoding".)
   For columns that count from 0, and every real angle; read literally, with columns from 1, there is none. *)

From tlm Require Import Reals.
Local Open Scope R_scope.

(* A row of PE as pairs of columns 2i and 2i+1, for angles ω_0, ω_1, …; positions may be any real numbers. *)
Definition PE (ω : list R) (pos : R) : list (R * R) := map (fun ω_i => (sin (pos * ω_i), cos (pos * ω_i))) ω.

(* The rotation of a pair by an angle. *)
Definition rotation (a : R) (x : R * R) : R * R :=
  (fst x * cos a + snd x * sin a, snd x * cos a - fst x * sin a).

(* T_k rotates pair i by kω_i. *)
Definition T (ω : list R) (k : R) (x : list (R * R)) : list (R * R) := zip (fun ω_i => rotation (k * ω_i)) ω x.

Lemma T_cons ω_0 ω k x_0 x : T (ω_0 :: ω) k (x_0 :: x) = rotation (k * ω_0) x_0 :: T ω k x.
Proof. reflexivity. Qed.

Definition inner (x y : list (R * R)) : R := Sum (zip (fun x_i y_i => fst x_i * fst y_i + snd x_i * snd y_i) x y).
Definition sum_of_rows (x y : list (R * R)) : list (R * R) :=
  zip (fun x_i y_i => (fst x_i + fst y_i, snd x_i + snd y_i)) x y.
Definition multiple (a : R) (x : list (R * R)) : list (R * R) := map (fun x_i => (a * fst x_i, a * snd x_i)) x.

(** T_k PE_pos = PE_{pos+k}, for all real angles, positions and offsets *)
Theorem linear_offset ω k pos : T ω k (PE ω pos) = PE ω (pos + k).
Proof.
  induction ω as [| ω_0 ω IH]; cbn in *; [easy |]. f_equal; [| exact IH].
  unfold rotation; cbn. rewrite Rmult_plus_distr_r, sin_plus, cos_plus. f_equal; ring.
Qed.

(** T_k is linear *)
Theorem T_is_linear ω k a x y :
  T ω k (sum_of_rows (multiple a x) y) = sum_of_rows (multiple a (T ω k x)) (T ω k y).
Proof.
  revert x y; induction ω as [| ω_0 ω IH]; intros [| x_0 x] [| y_0 y]; cbn in *; try easy.
  f_equal; [unfold rotation; cbn; f_equal; ring | apply IH].
Qed.

(* T_k is a rotation: it keeps inner products, and T_{−k} undoes it. *)
(** T_k keeps inner products: ⟨T_k x, T_k y⟩ = ⟨x, y⟩ *)
Theorem T_keeps_inner_products ω k x y :
  length x = length ω -> length y = length ω -> inner (T ω k x) (T ω k y) = inner x y.
Proof.
  revert x y; induction ω as [| ω_0 ω IH]; intros [| x_0 x] [| y_0 y] Lx Ly; try easy. cbn [length] in *.
  unfold inner in *. rewrite !T_cons. cbn [zip]. rewrite !Sum_cons, IH by lia. f_equal.
  pose proof (sin2_cos2 (k * ω_0)) as E. unfold Rsqr in E. unfold rotation. cbn.
  transitivity ((fst x_0 * fst y_0 + snd x_0 * snd y_0) * (sin (k * ω_0) * sin (k * ω_0) + cos (k * ω_0) * cos (k * ω_0)));
    [ring | rewrite E; ring].
Qed.

(** T_{k+l} = T_k T_l *)
Theorem T_of_a_sum ω k l x : T ω (k + l) x = T ω k (T ω l x).
Proof.
  revert x; induction ω as [| ω_0 ω IH]; intros [| x_0 x]; cbn in *; try easy. f_equal; [| apply IH].
  unfold rotation. cbn. rewrite Rmult_plus_distr_r, sin_plus, cos_plus. f_equal; ring.
Qed.

(** T_0 = I; so T_{−k} undoes T_k *)
Theorem T_of_0 ω x : length x = length ω -> T ω 0 x = x.
Proof.
  revert x; induction ω as [| ω_0 ω IH]; intros [| [s c] x] L; cbn in *; try easy. f_equal; [| apply IH; lia].
  unfold rotation. cbn. rewrite Rmult_0_l, sin_0, cos_0. f_equal; ring.
Qed.

(* The step from T_k to rotary positions, which rotate the queries and keys instead of adding to the rows. *)
(** ⟨T_p q, T_r k⟩ = ⟨q, T_{r−p} k⟩ depends on r − p alone *)
Theorem rotated_inner_products_are_relative ω p r q k :
  length q = length ω -> length k = length ω -> inner (T ω p q) (T ω r k) = inner q (T ω (r - p) k).
Proof.
  intros Lq Lk. replace (T ω r k) with (T ω p (T ω (r - p) k)).
  - apply T_keeps_inner_products; [exact Lq |]. unfold T. rewrite zip_length; congruence.
  - rewrite <- T_of_a_sum. f_equal. ring.
Qed.

(* What "attend by relative position" rests on. *)
(** ⟨PE_p, PE_q⟩ = Σ_i cos((p−q)ω_i): what "attend by relative position" rests on *)
Theorem inner_product_is_relative ω p q : inner (PE ω p) (PE ω q) = Sum (map (fun ω_i => cos ((p - q) * ω_i)) ω).
Proof.
  unfold inner, PE. induction ω as [| ω_0 ω IH]; [easy |]. cbn [map zip]. rewrite !Sum_cons, IH. f_equal. cbn [fst snd].
  rewrite Rmult_minus_distr_r, cos_minus. ring.
Qed.

(* --- Columns from 1 --- *)

(* Read literally, columns 1, …, d_model are cos(pos·ω_0), sin(pos·ω_1), cos(pos·ω_1), …, sin(pos·ω_{d/2}), where
   ω_i = 10000^(−2i/d_model). For d_model = 2 they are cos(pos·ω_0) and sin(pos·ω_1). *)
Definition literal_row (ω_0 ω_1 pos : R) : R * R := (cos (pos * ω_0), sin (pos * ω_1)).

(* A linear map of the first column would be cos((pos+k)·ω_0) = a·cos(pos·ω_0) + b·sin(pos·ω_1). *)
(** for columns counted from 1, as the article's text has it, and d_model = 2, there is no T_k if M−k > 2: for angles with sin 2ω_1, cos ω_1 − cos ω_0, sin ω_0 and sin kω_0 ≠ 0 *)
Theorem literal_columns_have_no_linear_map ω_0 ω_1 k :
  sin (2 * ω_1) <> 0 -> cos ω_1 <> cos ω_0 -> sin ω_0 <> 0 -> sin (k * ω_0) <> 0 ->
  ~ exists a b, forall pos, pos = 1 \/ pos = 2 \/ pos = 3 ->
      fst (literal_row ω_0 ω_1 (pos + k)) = a * fst (literal_row ω_0 ω_1 pos) + b * snd (literal_row ω_0 ω_1 pos).
Proof.
  intros S C S0 Sk [a [b H]]. unfold literal_row in H. cbn in H.
  pose proof (H 1 ltac:(auto)) as H1. pose proof (H 2 ltac:(auto)) as H2. pose proof (H 3 ltac:(auto)) as H3. clear H.
  set (t := ω_0) in *. set (w := ω_1) in *.
  replace ((1 + k) * t) with ((k * t + 2 * t) - t) in H1 by ring.
  replace ((2 + k) * t) with (k * t + 2 * t) in H2 by ring.
  replace ((3 + k) * t) with ((k * t + 2 * t) + t) in H3 by ring.
  replace (1 * t) with (2 * t - t) in H1 by ring. replace (1 * w) with (2 * w - w) in H1 by ring.
  replace (3 * t) with (2 * t + t) in H3 by ring. replace (3 * w) with (2 * w + w) in H3 by ring.
  set (u := k * t + 2 * t) in *.
  assert (b = 0) as ->.
  { assert (b * (2 * sin (2 * w) * (cos w - cos t)) = 0) as Z.
    { rewrite cos_minus in H1. rewrite (cos_minus (2 * t) t), (sin_minus (2 * w) w) in H1.
      rewrite cos_plus in H3. rewrite (cos_plus (2 * t) t), (sin_plus (2 * w) w) in H3.
      nra. }
    apply Rmult_integral in Z as [Z | Z]; [easy |]. exfalso. apply Rmult_integral in Z as [Z | Z]; [| lra].
    apply S. lra. }
  assert (sin (k * t) * sin t = 0) as Z; [| apply Rmult_integral in Z as [Z | Z]; auto].
  assert (cos (u - t) * cos (2 * t) = cos u * cos (2 * t - t)) as E by (rewrite H1, H2; ring).
  replace (2 * t - t) with t in E by ring. unfold u in E.
  replace (k * t + 2 * t - t) with (k * t + t) in E by ring.
  rewrite !cos_plus, cos_2a, sin_2a in E. pose proof (sin2_cos2 t) as P. unfold Rsqr in P.
  assert (cos t * cos t = 1 - sin t * sin t) as P' by lra.
  assert (sin (k * t) * sin t * (sin t * sin t + cos t * cos t) = 0) as Z by (ring_simplify; ring_simplify in E; lra).
  rewrite P, Rmult_1_r in Z. exact Z.
Qed.

(* And so for the article's angles ω_0 = 1 and ω_1 = 1/10000 of d_model = 2, and k = 1. *)
(** for columns counted from 1 there is no T_1 for the article's own angles of d_model = 2 *)
Corollary literal_columns_of_the_article_have_no_linear_map :
  ~ exists a b, forall pos, pos = 1 \/ pos = 2 \/ pos = 3 ->
      fst (literal_row 1 (/ 10000) (pos + 1)) =
      a * fst (literal_row 1 (/ 10000) pos) + b * snd (literal_row 1 (/ 10000) pos).
Proof.
  assert (7 / 4 <= PI) by (unfold PI, PI2; pose proof (proj2_sig PI_2_aux) as [[L _] _]; lra).
  apply literal_columns_have_no_linear_map.
  - apply Rgt_not_eq, sin_gt_0; lra.
  - apply Rgt_not_eq, cos_decreasing_1; lra.
  - apply Rgt_not_eq, sin_gt_0; lra.
  - apply Rgt_not_eq, sin_gt_0; lra.
Qed.

(** a sine without its cosine has no T_k, as the last one of an odd d_model: for d_model = 1 and M−k > 1, if sin ω_0 and sin kω_0 ≠ 0 *)
Theorem a_sine_alone_has_no_linear_map ω_0 k : sin ω_0 <> 0 -> sin (k * ω_0) <> 0 ->
  ~ exists a, forall pos, pos = 1 \/ pos = 2 -> sin ((pos + k) * ω_0) = a * sin (pos * ω_0).
Proof.
  intros S Sk [a H]. pose proof (H 1 ltac:(auto)) as H1. pose proof (H 2 ltac:(auto)) as H2.
  replace ((1 + k) * ω_0) with (k * ω_0 + ω_0) in H1 by ring. replace ((2 + k) * ω_0) with (k * ω_0 + 2 * ω_0) in H2 by ring.
  rewrite Rmult_1_l in H1.
  assert (sin (k * ω_0 + ω_0) * sin (2 * ω_0) = sin (k * ω_0 + 2 * ω_0) * sin ω_0) as E by (rewrite H1, H2; ring).
  rewrite !sin_plus, sin_2a, cos_2a in E. pose proof (sin2_cos2 ω_0) as P. unfold Rsqr in P.
  assert (sin (k * ω_0) * sin ω_0 * (sin ω_0 * sin ω_0 + cos ω_0 * cos ω_0) = 0) as Z
    by (ring_simplify; ring_simplify in E; lra).
  rewrite P, Rmult_1_r in Z. apply Rmult_integral in Z as [Z | Z]; auto.
Qed.

(** M−k ≤ d_model alone is not enough: for sin pω, cos pω, sin(pπ/2) and M = 4 there is no T_1, if cos ω ≠ 0 *)
Theorem as_many_rows_as_columns_are_not_enough ω : cos ω <> 0 ->
  ~ exists a b c, forall pos, pos = 1 \/ pos = 2 \/ pos = 3 ->
      sin ((pos + 1) * (PI / 2)) = a * sin (pos * ω) + b * cos (pos * ω) + c * sin (pos * (PI / 2)).
Proof.
  intros C [a [b [c H]]]. apply C.
  pose proof (H 1 ltac:(auto)) as H1. pose proof (H 2 ltac:(auto)) as H2. pose proof (H 3 ltac:(auto)) as H3. clear H.
  replace ((1 + 1) * (PI / 2)) with PI in H1 by field. replace (1 * (PI / 2)) with (PI / 2) in H1 by field.
  replace ((2 + 1) * (PI / 2)) with (3 * (PI / 2)) in H2 by field. replace (2 * (PI / 2)) with PI in H2 by field.
  replace ((3 + 1) * (PI / 2)) with (2 * PI) in H3 by field.
  rewrite sin_PI, sin_PI2 in H1. rewrite sin_3PI2, sin_PI in H2. rewrite sin_2PI, sin_3PI2 in H3.
  replace (1 * ω) with (2 * ω - ω) in H1 by ring. replace (3 * ω) with (2 * ω + ω) in H3 by ring.
  rewrite sin_minus, cos_minus in H1. rewrite sin_plus, cos_plus in H3.
  enough (2 * cos ω = 0) by lra.
  transitivity (cos ω * 2 * - (a * sin (2 * ω) + b * cos (2 * ω) + c * 0)); [rewrite <- H2; ring | nra].
Qed.

(* A counter-example in rational numbers, which the kernel evaluates: cos ω_0 = 3/5 and sin ω_0 = 4/5, cos ω_1 = 5/13 and
   sin ω_1 = 12/13. The first column at pos + 1 is no combination of the columns at pos, for pos = 1, 2, 3. *)
From Coq Require Import QArith Lqa.
Section Evaluated.
  Local Open Scope Q_scope.
  Fixpoint multiple_of (c s : Q) (pos : nat) : Q * Q :=  (* (cos pos·ω, sin pos·ω) *)
    match pos with
    | 0%nat => (1, 0)
    | S pos => let (c', s') := multiple_of c s pos in (Qred (c' * c - s' * s), Qred (s' * c + c' * s))
    end.
  Definition evaluated_row (pos : nat) : Q * Q * Q :=
    (fst (multiple_of (3#5) (4#5) pos), snd (multiple_of (5#13) (12#13) pos), fst (multiple_of (3#5) (4#5) (S pos))).
  (** a counter-example in rational numbers, which the kernel evaluates *)
  Theorem literal_columns_evaluated :
    ~ exists a b, forall pos, In pos [1%nat; 2%nat; 3%nat] ->
        snd (evaluated_row pos) == a * fst (fst (evaluated_row pos)) + b * snd (fst (evaluated_row pos)).
  Proof.
    intros [a [b H]].
    pose proof (H 1%nat ltac:(cbn; tauto)) as H1. pose proof (H 2%nat ltac:(cbn; tauto)) as H2.
    pose proof (H 3%nat ltac:(cbn; tauto)) as H3. clear H.
    set (row_1 := evaluated_row 1) in H1. set (row_2 := evaluated_row 2) in H2. set (row_3 := evaluated_row 3) in H3.
    vm_compute in (value of row_1). vm_compute in (value of row_2). vm_compute in (value of row_3).
    subst row_1 row_2 row_3. cbn [fst snd] in *. lra.
  Qed.
End Evaluated.
