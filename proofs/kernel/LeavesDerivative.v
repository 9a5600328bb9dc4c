(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* The derivatives of N, LayerNorm, Softmax, LogSoftmax, the loss, and GELU with tanh. (docs/normalization.rst, docs/loss.rst) *)

From Coq Require Import FunctionalExtensionality.
From tlm Require Export Derivative.
Local Open Scope R_scope.

(* --- N(x) = a·(x − x̄)/(σ + ε) + b, at σ = 0, too; and LayerNorm --- *)

Lemma Sum_of_things {d} (x : Row R d) : Sum (things x) = sum_below d (entry x).
Proof. rewrite <- (map_id (things x)), (Sum_map_nth (fun y => y) (things x) 0), things_length. reflexivity. Qed.

Lemma mean_is {d} (x : Row R d) : mean x = sum_below d (entry x) / IZR (Z.of_nat d).
Proof. unfold mean. rewrite Sum_of_things. reflexivity. Qed.

Lemma entry_of_centered {d} (x : Row R d) j : (j < d)%nat -> entry (centered x) j = entry x j - mean x.
Proof. intros H. unfold centered. now rewrite entry_of_tabulate. Qed.

Lemma IZR_of_nat_0 d : (0 < d)%nat -> IZR (Z.of_nat d) <> 0.
Proof. intros H. apply not_0_IZR. lia. Qed.

Lemma sum_of_constant m c : sum_below m (fun _ => c) = IZR (Z.of_nat m) * c.
Proof. induction m; [rewrite sum_below_0; cbn; ring |]. rewrite sum_below_S, IHm, Nat2Z.inj_succ, succ_IZR. ring. Qed.

(* Σ_j (x_j − x̄) = 0 *)
Lemma sum_of_centered {d} (x : Row R d) : sum_below d (entry (centered x)) = 0.
Proof.
  rewrite (sum_ext d _ (fun j => entry x j - mean x)) by (intros; now apply entry_of_centered).
  rewrite sum_minus, sum_of_constant, mean_is. destruct d; [cbn; lra |]. field. apply IZR_of_nat_0. lia.
Qed.

Lemma sum_of_squares m (f : nat -> R) : 0 <= sum_below m (fun j => f j * f j).
Proof. induction m; [rewrite sum_below_0; lra |]. rewrite sum_below_S. pose proof (Rle_0_sqr (f m)). unfold Rsqr in *. lra. Qed.
Lemma sum_of_squares_0 m (f : nat -> R) : sum_below m (fun j => f j * f j) = 0 -> forall j, (j < m)%nat -> f j = 0.
Proof.
  induction m; intros H j Hj; [lia |]. rewrite sum_below_S in H. pose proof (sum_of_squares m f).
  pose proof (Rle_0_sqr (f m)). unfold Rsqr in *.
  destruct (Nat.eq_dec j m) as [-> | N]; [apply Rsqr_0_uniq; unfold Rsqr; lra | apply IHm; [lra | lia]].
Qed.

Lemma centered_moves {d} (x : R -> Row R d) t dx j : (j < d)%nat -> moves x t dx ->
  derives (fun s => entry (centered (x s)) j) t (entry (centered dx) j).
Proof.
  intros Hj H. rewrite entry_of_centered, mean_is by easy.
  replace (fun s => entry (centered (x s)) j) with (fun s => entry (x s) j - sum_below d (entry (x s)) / IZR (Z.of_nat d))
    by (extensionality s; now rewrite entry_of_centered, mean_is).
  apply derives_minus; [now apply entries_move |]. apply derives_over_constant.
  apply (derives_sum _ (fun j s => entry (x s) j)). intros k _. now apply entries_move.
Qed.

Section Standardized.
  Context {d : nat} (root divisor : Row R d -> R) (e1 e2 : R).
  Context (is_root : forall x, root x = sqrt (variance x + e1)) (is_divisor : forall x, divisor x = root x + e2).
  Context (e1_nonnegative : 0 <= e1) (e2_nonnegative : 0 <= e2) (positive : 0 < e1 + e2).
  Let D := IZR (Z.of_nat d).

  Lemma variance_is_nonnegative (x : Row R d) : 0 <= variance x.
  Proof.
    unfold variance. change (0 <= sum_below d (fun j => entry (centered x) j * entry (centered x) j) / D).
    destruct d as [| d']; [unfold sum_below; cbn; lra |]. apply Rmult_le_pos; [apply sum_of_squares |].
    apply Rlt_le, Rinv_0_lt_compat. unfold D. apply IZR_lt. lia.
  Qed.

  Lemma divisor_is_positive (x : Row R d) : 0 < divisor x.
  Proof.
    rewrite is_divisor, is_root. pose proof (variance_is_nonnegative x). pose proof (sqrt_pos (variance x + e1)).
    destruct (Rle_lt_or_eq_dec _ _ e2_nonnegative) as [L | E]; [lra |].
    rewrite <- E, Rplus_0_r. apply sqrt_lt_R0. lra.
  Qed.

  (* dz_j = du_j/s − z_j ⟨z, du⟩/(d·r), where the last term is 0 if r is *)
  Lemma standardized_moves (x : R -> Row R d) t dx j : (j < d)%nat -> moves x t dx ->
    let z j := entry (centered (x t)) j / divisor (x t) in
    derives (fun s => entry (centered (x s)) j / divisor (x s)) t
      (entry (centered dx) j / divisor (x t) - z j * (sum_below d (fun k => z k * entry (centered dx) k) / (D * root (x t)))).
  Proof.
    intros Hj H z. pose proof (divisor_is_positive (x t)) as P.
    assert (D <> 0) as HD by (apply IZR_of_nat_0; lia).
    set (u s k := entry (centered (x s)) k). set (du k := entry (centered dx) k).
    assert (forall k, (k < d)%nat -> derives (fun s => u s k) t (du k)) as Du by (intros; now apply centered_moves).
    assert (derives (fun s => variance (x s)) t (sum_below d (fun k => du k * u t k + u t k * du k) / D)) as Dv.
    { apply (derives_over_constant (f := fun s => sum_below d (fun k => u s k * u s k)) D).
      apply (derives_sum _ (fun k s => u s k * u s k)). intros k Hk.
      apply (derives_times (f := fun s => u s k) (g := fun s => u s k)); now apply Du. }
    assert (sum_below d (fun k => du k * u t k + u t k * du k) / D = 2 * sum_below d (fun k => u t k * du k) / D) as Edv.
    { f_equal. rewrite <- sum_times. apply sum_ext. intros; ring. }
    rewrite Edv in Dv.
    assert (sum_below d (fun k => z k * du k) = sum_below d (fun k => u t k * du k) / divisor (x t)) as Ez.
    { rewrite <- sum_over. apply sum_ext. intros k _. unfold z, u. field. lra. }
    change (derives (fun s => u s j / divisor (x s)) t
      (du j / divisor (x t) - z j * (sum_below d (fun k => z k * du k) / (D * root (x t))))).
    rewrite Ez. set (uu := sum_below d (fun k => u t k * du k)) in *.
    destruct (Rle_lt_or_eq_dec 0 (variance (x t) + e1)) as [L | E].
    { pose proof (variance_is_nonnegative (x t)). lra. }
    - assert (derives (fun s => divisor (x s)) t (/ (2 * root (x t)) * (2 * uu / D))) as Ds.
      { replace (fun s => divisor (x s)) with (fun s => sqrt (variance (x s) + e1) + e2)
          by (extensionality s; now rewrite is_divisor, is_root).
        rewrite is_root. rewrite <- (Rplus_0_r (/ _ * _)). apply derives_plus; [| apply derives_constant].
        apply (derives_sqrt (f := fun s => variance (x s) + e1)); [exact L |].
        rewrite <- (Rplus_0_r (2 * uu / D)). apply derives_plus; [exact Dv | apply derives_constant]. }
      assert (0 < root (x t)) as Pr by (rewrite is_root; now apply sqrt_lt_R0).
      eapply eq_rect; [exact (derives_over (not_eq_sym (Rlt_not_eq _ _ P)) (Du j Hj) Ds) |].
      unfold z. change (entry (centered (x t)) j) with (u t j). unfold Rsqr. field. repeat split; first [exact HD | lra].
    - assert (e1 = 0 /\ variance (x t) = 0) as [E1 Ev] by (pose proof (variance_is_nonnegative (x t)); lra).
      assert (forall k, (k < d)%nat -> u t k = 0) as U0.
      { apply sum_of_squares_0. unfold variance in Ev.
        change (sum_below d (fun k => u t k * u t k) / D = 0) in Ev.
        apply (Rmult_eq_reg_r (/ D)); [| now apply Rinv_neq_0_compat]. rewrite Rmult_0_l. exact Ev. }
      unfold z. change (entry (centered (x t)) j) with (u t j). rewrite U0 by easy.
      replace (du j / divisor (x t) - 0 / divisor (x t) * (uu / divisor (x t) / (D * root (x t))))
        with (du j * / divisor (x t)) by (unfold Rdiv; ring).
      apply (derives_times_continuous (g := fun s => / divisor (x s))); [now apply U0 | now apply Du |].
      apply (continuity_pt_inv (fun s => divisor (x s))); [| lra].
      replace (fun s => divisor (x s)) with (fun s => sqrt (variance (x s) + e1) + e2)
        by (extensionality s; now rewrite is_divisor, is_root).
      apply (continuity_pt_plus (fun s => sqrt (variance (x s) + e1)) (fun _ => e2));
        [| apply continuity_pt_const; intros ? ?; reflexivity].
      (* (By `refine`, as `apply` compares for seconds.) *)
      refine (continuity_pt_comp (fun s => variance (x s) + e1) sqrt t _ _); [| apply continuity_pt_sqrt; lra].
      refine (continuity_pt_plus (fun s => variance (x s)) (fun _ => e1) t _ _);
        [| apply continuity_pt_const; intros ? ?; reflexivity].
      apply derivable_continuous_pt. eexists. exact Dv.
  Qed.

  (** rows that are standardized, scaled and shifted, at σ = 0, too: x_bar = (z_bar − mean(z_bar))/s − z⟨z_bar, z⟩/(d·r) *)
  Theorem standardized_transposes :
    row_transposes (fun (w : Row R d * Row R d) x => standardized (divisor x) (fst w) (snd w) x)
      (standardized_pullback root divisor) always.
  Proof.
    intros w dw x dx t [Ha Hb] Hx _.
    set (z j := entry (centered (x t)) j / divisor (x t)).
    set (du j := entry (centered dx) j).
    set (zu := sum_below d (fun k => z k * du k)).
    set (dz j := du j / divisor (x t) - z j * (zu / (D * root (x t)))).
    exists (tabulate d (fun j => (entry (fst dw) j * z j + entry (fst (w t)) j * dz j) + entry (snd dw) j)). split.
    - apply row_moves. intros j Hj. apply derives_plus; [| now apply entries_move].
      apply (derives_times (f := fun s => entry (fst (w s)) j) (g := fun s => entry (centered (x s)) j / divisor (x s)));
        [now apply (entries_move (fun s => fst (w s))) | now apply standardized_moves].
    - intros y_bar. cbn [fst snd standardized_pullback]. cbv zeta. cbn [fst snd].
      set (z_row := tabulate d (fun j => entry (centered (x t)) j / divisor (x t))%num).
      set (z_bar := tabulate d (fun j => entry (fst (w t)) j * entry y_bar j)%num).
      assert (forall j, (j < d)%nat -> entry z_row j = z j) as Ez by (intros; unfold z_row; now rewrite entry_of_tabulate).
      assert (forall j, (j < d)%nat -> entry z_bar j = entry (fst (w t)) j * entry y_bar j) as Ezb
        by (intros; unfold z_bar; now rewrite entry_of_tabulate).
      set (zz := dot z_bar z_row).
      assert (zz = sum_below d (fun j => entry z_bar j * z j)) as Ezz.
      { unfold zz, dot. apply sum_ext. intros j Hj. now rewrite Ez. }
      change (@fst (Row R d) (Row R d * Row R d)) with (@fst (Row R d) (Row R d * Row R d)).
      cbn [inner pairs_move fst snd].
      rewrite !inner_of_rows.
      assert (sum_below d z = 0) as Sz.
      { unfold z. rewrite sum_over, sum_of_centered. unfold Rdiv. ring. }
      assert (forall f : nat -> R, sum_below d (fun j => f j * du j) =
        sum_below d (fun j => f j * entry dx j) - mean dx * sum_below d f) as Edu.
      { intros f. rewrite <- sum_times, <- sum_minus. apply sum_ext. intros j Hj. unfold du.
        rewrite entry_of_centered by easy. ring. }
      assert (sum_below d (fun j => entry z_bar j * dz j) =
        (sum_below d (fun j => entry z_bar j * entry dx j) - mean dx * sum_below d (entry z_bar)) / divisor (x t) -
        zz / (D * root (x t)) * sum_below d (fun j => z j * entry dx j)) as E1.
      { rewrite <- Edu, Ezz.
        transitivity (sum_below d (fun j => entry z_bar j * du j / divisor (x t) -
          zu / (D * root (x t)) * (entry z_bar j * z j))).
        - apply sum_ext. intros j _. unfold dz, Rdiv. ring.
        - rewrite sum_minus, sum_over, sum_times. f_equal. unfold zu. rewrite Edu, Sz. unfold Rdiv. ring. }
      transitivity (sum_below d (fun j => entry z_bar j * dz j) + (sum_below d (fun j => entry y_bar j * z j * entry (fst dw) j) +
        sum_below d (fun j => entry y_bar j * entry (snd dw) j))).
      { rewrite <- !sum_plus. apply sum_ext. intros j Hj. rewrite entry_of_tabulate, Ezb by easy. ring. }
      f_equal; [| f_equal; apply sum_ext; intros j Hj; now rewrite entry_of_tabulate, Ez by easy].
      rewrite E1.
      transitivity (sum_below d (fun j => entry z_bar j * entry dx j / divisor (x t) -
        (mean z_bar / divisor (x t) * entry dx j + zz / (D * root (x t)) * (z j * entry dx j)))).
      + rewrite sum_minus, sum_plus, sum_over, !sum_times, !mean_is. fold D. unfold Rdiv. ring.
      + apply sum_ext. intros j Hj. rewrite entry_of_tabulate, Ez by easy.
        change (entry z_bar j * entry dx j / divisor (x t) - (mean z_bar / divisor (x t) * entry dx j +
          zz / (D * root (x t)) * (z j * entry dx j)) =
          ((entry z_bar j - mean z_bar) / divisor (x t) - z j * (zz / (D * root (x t)))) * entry dx j).
        unfold Rdiv. ring.
  Qed.
End Standardized.

Section Leaves.
  Context {memory : Type}.

  (** N, at σ = 0, too *)
  Theorem Normalization_transposes {d} (a b : Row R d) : transposes (Normalization_layer (memory := memory) a b).
  Proof.
    apply each_row_transposes.
    apply (standardized_transposes (fun x => sqrt (variance x)) (fun x => sqrt (variance x) + 1 / 1000000) 0 (1 / 1000000));
      try lra; intros x; [now rewrite Rplus_0_r | easy].
  Qed.

  (** LayerNorm, for ε > 0 *)
  Theorem LayerNorm_transposes {d} one_over_ε (γ β : Row R d) : (0 < one_over_ε)%Z ->
    transposes (LayerNorm_layer (memory := memory) one_over_ε γ β).
  Proof.
    intros P. apply IZR_lt in P. apply each_row_transposes.
    assert (0 < 1 / IZR one_over_ε) by (apply Rdiv_lt_0_compat; lra).
    apply (standardized_transposes (fun x => sqrt (variance x + 1 / IZR one_over_ε))
      (fun x => sqrt (variance x + 1 / IZR one_over_ε)) (1 / IZR one_over_ε) 0); try lra; intros x; [easy | now rewrite Rplus_0_r].
  Qed.

  Lemma things_move {c} (x : R -> Row R c) t dx : moves x t dx -> moves (fun s => things (x s)) t (things dx).
  Proof.
    intros H. split; [intros s; now rewrite !things_length |]. intros j Hj. rewrite things_length in Hj. exact (H j Hj).
  Qed.

  (** Softmax: x_bar_j = y_j (y_bar_j − Σ_k y_k y_bar_k) *)
  Theorem Softmax_transposes {c} : transposes (Softmax_layer (memory := memory) (num := R) (c := c)).
  Proof.
    apply each_row_transposes. intros w dw x dx t _ Hx _. apply things_move in Hx. pose proof (softmax_moves _ t _ Hx) as [_ H].
    rewrite things_length in H. cbv beta in H.
    set (dy j := nth j (softmax (things (x t))) 0 *
      (nth j (things dx) 0 - sum_below c (fun k => nth k (softmax (things (x t))) 0 * nth k (things dx) 0))) in *.
    exists (tabulate c dy). split.
    - apply row_moves. intros j Hj. specialize (H j). rewrite map_length, seq_length in H. specialize (H Hj).
      change (origin (V := R)) with 0 in H. rewrite (nth_indep _ 0 (dy 0%nat)), map_nth, seq_nth in H
        by (rewrite ?map_length, ?seq_length; easy). exact H.
    - intros y_bar. cbn [fst snd inner nothing_moves]. rewrite Rplus_0_r, !inner_of_rows.
      transitivity (sum_below c (fun j => nth j (things y_bar) 0 * dy j)).
      { apply sum_ext. intros j Hj. now rewrite entry_of_tabulate. }
      unfold dy. rewrite softmax_pullback_transposes by (try rewrite softmax_length; apply things_length).
      apply sum_ext. intros j Hj. now rewrite entry_of_tabulate.
  Qed.

  (* --- LogSoftmax and the loss --- *)

  (** LogSoftmax(z)_j = z_j − log Σ_k exp(z_k): the greatest number that is subtracted cancels *)
  Theorem LogSoftmax_formula {c} (z : Row R c) j : (j < c)%nat ->
    entry (log_softmax z) j = entry z j - log (sum_below c (fun k => exp (entry z k))).
  Proof.
    intros Hj. unfold log_softmax. cbv zeta. rewrite entry_of_tabulate by easy.
    set (g := Maximum (things z)).
    change (entry z j - (g + log (Sum (map (fun z_j => exp (z_j - g)) (things z)))) =
      entry z j - log (sum_below c (fun k => exp (entry z k)))).
    rewrite (Sum_map_nth (fun z_j => exp (z_j - g)) (things z) 0), things_length.
    assert (sum_below c (fun i => exp (nth i (things z) 0 - g)) = sum_below c (fun k => exp (entry z k)) * exp (- g)) as ->.
    { rewrite <- sum_times_r. apply sum_ext. intros k _. unfold Rminus. apply exp_plus. }
    assert (0 < sum_below c (fun k => exp (entry z k))) as P.
    { pose proof (Sum_of_exponentials_is_positive (fun x => x) (things z)) as P. cbv beta in P.
      rewrite (Sum_map_nth (fun x => exp x) (things z) 0), things_length in P. apply P.
      intros E. pose proof (things_length c z) as L. rewrite E in L. cbn in L. lia. }
    rewrite log_of_product, log_of_exp by (try apply exp_pos; exact P). ring.
  Qed.

  (* dy_j = dz_j − Σ_k softmax(z)_k dz_k *)
  Lemma log_softmax_moves {c} (z : R -> Row R c) t dz j : (j < c)%nat -> moves z t dz ->
    derives (fun s => entry (log_softmax (z s)) j) t
      (entry dz j - sum_below c (fun k => nth k (softmax (things (z t))) 0 * entry dz k)).
  Proof.
    intros Hj H.
    replace (fun s => entry (log_softmax (z s)) j)
      with (fun s => entry (z s) j - log (sum_below c (fun k => exp (entry (z s) k))))
      by (extensionality s; now rewrite LogSoftmax_formula).
    apply derives_minus; [now apply entries_move |].
    set (total := fun s => sum_below c (fun k => exp (entry (z s) k))).
    assert (0 < total t) as P.
    { pose proof (Sum_of_exponentials_is_positive (fun x => x) (things (z t))) as P. cbv beta in P.
      rewrite (Sum_map_nth (fun x => exp x) (things (z t)) 0), things_length in P. apply P.
      intros E. pose proof (things_length c (z t)) as L. rewrite E in L. cbn in L. lia. }
    replace (sum_below c (fun k => nth k (softmax (things (z t))) 0 * entry dz k))
      with (/ total t * sum_below c (fun k => exp (entry (z t) k) * entry dz k)).
    - apply (derives_log (f := total)); [exact P |]. apply (derives_sum _ (fun k s => exp (entry (z s) k))). intros k _.
      apply (derives_exp (f := fun s => entry (z s) k)). now apply entries_move.
    - rewrite <- sum_times. apply sum_ext. intros k Hk. rewrite entry_of_softmax, things_length by now rewrite things_length.
      change (sum_below c (fun k => exp (nth k (things (z t)) 0))) with (total t). unfold entry. cbn [number real_numbers].
      unfold Rdiv. ring.
  Qed.
End Leaves.

(* −Σ_k ω_k·y_k / divisor, where y_k = LogSoftmax(Z_k) at token x_k. *)
Definition cross_entropy {c} (ω : list R) (divisor : R) (x : list token) (Z : list (Row R c)) : R :=
  - (sum_below (length Z) (fun k => nth k ω 0 * entry (log_softmax (nth k Z origin)) (nth k x 0%nat)) / divisor).

(* Its gradient: z_bar_kj = ω_k/divisor · (softmax(Z_k)_j − [j = x_k]). *)
Definition cross_entropy_gradient {c} (ω : list R) (divisor : R) (x : list token) (Z : list (Row R c)) : list (Row R c) :=
  map_index (fun k z => tabulate c (fun j =>
    nth k ω 0 / divisor * (nth j (softmax (things z)) 0 - (if (j =? nth k x 0%nat)%nat then 1 else 0)))) Z.

(** the loss's gradient by the scores is ω_k/c·(softmax(Z_k)_j − [j = x_k]) *)
Theorem cross_entropy_has_its_gradient {c} ω divisor (x : list token) (Z : R -> list (Row R c)) t dZ :
  (forall k, (k < length dZ)%nat -> (nth k x 0 < c)%nat) -> moves Z t dZ ->
  derives (fun s => cross_entropy ω divisor x (Z s)) t (inner (cross_entropy_gradient ω divisor x (Z t)) dZ).
Proof.
  intros Hx [LZ HZ].
  replace (fun s => cross_entropy ω divisor x (Z s)) with (fun s => 0 - sum_below (length dZ) (fun k =>
    nth k ω 0 * entry (log_softmax (nth k (Z s) origin)) (nth k x 0%nat)) / divisor)
    by (extensionality s; unfold cross_entropy; rewrite LZ; ring).
  assert (inner (cross_entropy_gradient ω divisor x (Z t)) dZ = 0 - sum_below (length dZ) (fun k => nth k ω 0 *
    (entry (nth k dZ origin) (nth k x 0%nat) -
     sum_below c (fun j => nth j (softmax (things (nth k (Z t) origin))) 0 * entry (nth k dZ origin) j))) / divisor) as ->.
  { cbn [inner lists_move]. unfold cross_entropy_gradient, map_index. rewrite map_from_length, LZ.
    rewrite <- sum_over. replace (0 - sum_below (length dZ) _) with (-1 * sum_below (length dZ) (fun j => nth j ω 0 *
      (entry (nth j dZ origin) (nth j x 0%nat) - sum_below c (fun j0 => nth j0 (softmax (things (nth j (Z t) origin))) 0 *
      entry (nth j dZ origin) j0)) / divisor)) by ring.
    rewrite <- sum_times. apply sum_ext. intros k Hk.
    rewrite (nth_of_map_from _ _ _ _ origin) by now rewrite LZ. cbn [Nat.add]. rewrite inner_of_rows.
    rewrite <- (sum_of_one_term c (nth k x 0%nat) (entry (nth k dZ origin))) by now apply Hx.
    rewrite <- sum_minus. unfold Rdiv. rewrite <- !Rmult_assoc.
    replace (-1 * nth k ω 0 * sum_below c _ * / divisor) with (-1 * nth k ω 0 * / divisor * sum_below c (fun j =>
      (if (j =? nth k x 0)%nat then entry (nth k dZ origin) j else 0) -
      nth j (softmax (things (nth k (Z t) origin))) 0 * entry (nth k dZ origin) j)) by ring.
    rewrite <- sum_times. apply sum_ext. intros j Hj. rewrite entry_of_tabulate by easy.
    cbn [number real_numbers]. destruct (j =? nth k x 0)%nat; ring. }
  apply derives_minus; [apply derives_constant |]. apply derives_over_constant.
  apply (derives_sum _ (fun k s => nth k ω 0 * entry (log_softmax (nth k (Z s) origin)) (nth k x 0%nat))). intros k Hk.
  pose proof (derives_times (derives_constant (nth k ω 0) t)
    (log_softmax_moves (fun s => nth k (Z s) origin) t _ _ (Hx k Hk) (HZ k Hk))) as D.
  cbv beta in D. rewrite Rmult_0_l, Rplus_0_l in D. exact D.
Qed.

(** the gradient of the loss with respect to the weights is what T's pullback makes of that, where it is the transpose of the derivative *)
Corollary loss_has_its_gradient {memory A W c} {sA : Space A} {sW : Space W} {mA : Moving A} {mW : Moving W} {w0 : W}
  {T : operation memory A (Row R c)} (e : layer w0 T) ω divisor x M (w : R -> W) dw (X : R -> list A) dX t :
  transposes e -> moves w t dw -> moves X t dX -> regular e (w t) M (X t) ->
  (forall k, (k < length dX)%nat -> (nth k x 0 < c)%nat) ->
  derives (fun s => cross_entropy ω divisor x (value e (w s) M (X s))) t
    (let (X_bar, w_bar) := pullback e (w t) M (X t) (cross_entropy_gradient ω divisor x (value e (w t) M (X t))) in
     inner X_bar dX + inner w_bar dw).
Proof.
  intros He Hw HX Rf Hx. destruct (He M w dw X dX t Hw HX Rf) as [dY [LY [HY EY]]].
  pose proof (cross_entropy_has_its_gradient ω divisor x _ t dY ltac:(rewrite LY; exact Hx) HY) as D. cbv beta in D.
  set (Z_bar := cross_entropy_gradient ω divisor x (value e (w t) M (X t))) in *.
  assert (same_shape Z_bar dY) as Hs.
  { apply shape_of_lists. unfold Z_bar, cross_entropy_gradient, map_index. rewrite map_from_length. apply HY. }
  specialize (EY Z_bar Hs). destruct (pullback e (w t) M (X t) Z_bar) as [X_bar w_bar]. destruct EY as [_ EY].
  rewrite <- EY. exact D.
Qed.

(* --- GELU with tanh --- *)

Lemma derives_tanh f t a : derives f t a -> derives (fun s => tanh (f s)) t ((1 - tanh (f t) * tanh (f t)) * a).
Proof.
  intros F. apply (derivable_pt_lim_comp f tanh t a); [exact F |].
  assert (0 < cosh (f t)) as P by (unfold cosh; pose proof (exp_pos (f t)); pose proof (exp_pos (- f t)); lra).
  pose proof (derivable_pt_lim_div sinh cosh (f t) _ _ (derivable_pt_lim_sinh _) (derivable_pt_lim_cosh _)
    (not_eq_sym (Rlt_not_eq _ _ P))) as D.
  eapply eq_rect; [exact D |]. unfold tanh, Rsqr. field. lra.
Qed.

Section TanhGELU.
  Context {memory : Type}.
  (** GELU with tanh: x_bar = f′(x)·y_bar *)
  Theorem TanhGELU_transposes {c} : transposes (TanhGELU_layer (memory := memory) (num := R) (c := c)).
  Proof.
    apply each_row_transposes. intros w dw x dx t _ Hx _.
    exists (tabulate c (fun j => TanhGELU_derivative (entry (x t) j) * entry dx j)). split.
    - apply row_moves. intros j Hj. cbv zeta. assert (derives (fun s => entry (x s) j) t (entry dx j)) as D by now apply entries_move. set (f := fun s => entry (x s) j) in *.
      change (entry (x t) j) with (f t). set (d := entry dx j) in *.
      set (C := RootOfTwoOverPi). set (a := number 44715 / number 1000000).
      assert (derives (fun s => C * (f s + a * f s * f s * f s)) t (C * (1 + 3 * a * f t * f t) * d)) as U.
      { pose proof (derives_times (derives_constant C t) (derives_plus D
          (derives_times (derives_times (derives_times (derives_constant a t) D) D) D))) as P.
        eapply eq_rect; [exact P |]. cbv beta. ring. }
      pose proof (derives_tanh _ _ _ U) as T. cbv beta in T.
      pose proof (derives_over_constant 2 (derives_times D (derives_plus (derives_constant 1 t) T))) as P.
      eapply eq_rect; [exact P |]. cbv beta.
      unfold TanhGELU_derivative. cbn [Add Mul Sub Div number Tanh real_numbers]. change (IZR 44715 / IZR 1000000) with a. cbv zeta. change RootOfTwoOverPi with C. field.
    - intros y_bar. cbn [fst snd]. rewrite !inner_of_rows. cbn [inner nothing_moves]. rewrite Rplus_0_r. apply sum_ext.
      intros j Hj. rewrite !entry_of_tabulate by easy. cbn [Mul real_numbers]. ring.
  Qed.
End TanhGELU.
(* A proof that the pullback of a layer that is made of others is the transpose of its derivative, from those of its parts. The
   layers of a stack are one layer with other weights, which is proved once. *)
Ltac transposes_by_parts :=
  lazymatch goal with
  | of_all : forall l, transposes (?D l) |- transposes (?D ?l) => exact (of_all l)
  | |- transposes (Composition_layer (?D _) (Composition_layer (?D _) _)) =>
    try assert (forall l, transposes (D l)) by (intros l; transposes_by_parts);
    apply composition_transposes; transposes_by_parts
  | |- transposes (Composition_layer _ _) => apply composition_transposes; transposes_by_parts
  | |- transposes (Residual_layer _) => apply residual_transposes; transposes_by_parts
  | |- transposes (Heads_layer ?f ?g) => refine (heads_transpose (f := f) (g := g) _ _); transposes_by_parts
  | |- transposes (Concat_layer ?f ?g) => refine (concat_transposes (f := f) (g := g) _ _); transposes_by_parts
  | |- transposes (BlockOfColumns_layer _ _ _) => apply columns_transpose; transposes_by_parts
  | |- transposes (Product_layer _ _) => apply product_transposes; transposes_by_parts
  | |- transposes (SoftmaxKernel_layer _ Causal _ _) =>
    apply (softmax_kernel_transposes _ _ _ Causal_keeps_the_first); transposes_by_parts
  | |- transposes (SoftmaxKernel_layer _ Unmasked _ _) =>
    apply (softmax_kernel_transposes _ _ _ Unmasked_keeps_the_first); transposes_by_parts
  | |- transposes (Embedding_layer _) => apply Embedding_transposes
  | |- transposes (PositionalEncoding_layer _) => apply PositionalEncoding_transposes
  | |- transposes (Times_layer _) => apply Times_transposes
  | |- transposes (Plus_layer _) => apply Plus_transposes
  | |- transposes ReLU_layer => apply ReLU_transposes
  | |- transposes TanhGELU_layer => apply TanhGELU_transposes
  | |- transposes (Normalization_layer _ _) => apply Normalization_transposes
  | |- transposes (LayerNorm_layer _ _ _) => apply LayerNorm_transposes; lia
  | |- transposes Softmax_layer => apply Softmax_transposes
  | |- transposes ?e => let e := unfolded e in change (transposes e); transposes_by_parts
  end.
