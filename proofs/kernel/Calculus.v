(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* Derivatives of functions of one real number, sums, and what it means that something moves.

   A change of many numbers at once is here a movement: all of them are functions of a real number, the time, and each has a
   derivative at the time t. *)

From Coq Require Import FunctionalExtensionality.
From tlm Require Export Reals Pullbacks.
Local Open Scope R_scope.

(* --- One number --- *)

(* f′(t) = d *)
Definition derives (f : R -> R) (t d : R) : Prop := derivable_pt_lim f t d.

Lemma derives_constant (c t : R) : derives (fun _ => c) t 0.
Proof. exact (derivable_pt_lim_const c t). Qed.

Section OneNumber.
  Context {f g : R -> R} {t a b : R}.

  Lemma derives_plus : derives f t a -> derives g t b -> derives (fun s => f s + g s) t (a + b).
  Proof. exact (derivable_pt_lim_plus f g t a b). Qed.
  Lemma derives_minus : derives f t a -> derives g t b -> derives (fun s => f s - g s) t (a - b).
  Proof. exact (derivable_pt_lim_minus f g t a b). Qed.
  Lemma derives_times : derives f t a -> derives g t b -> derives (fun s => f s * g s) t (a * g t + f t * b).
  Proof. exact (derivable_pt_lim_mult f g t a b). Qed.
  Lemma derives_over : g t <> 0 -> derives f t a -> derives g t b ->
    derives (fun s => f s / g s) t ((a * g t - b * f t) / Rsqr (g t)).
  Proof. intros N F G. exact (derivable_pt_lim_div f g t a b F G N). Qed.
  Lemma derives_over_constant (c : R) : derives f t a -> derives (fun s => f s / c) t (a / c).
  Proof.
    intros F. replace (a / c) with (a * / c + f t * 0) by (unfold Rdiv; ring).
    exact (derivable_pt_lim_mult f (fun _ => / c) t a 0 F (derives_constant (/ c) t)).
  Qed.
  Lemma derives_exp : derives f t a -> derives (fun s => exp (f s)) t (exp (f t) * a).
  Proof. intros F. exact (derivable_pt_lim_comp f exp t a (exp (f t)) F (derivable_pt_lim_exp (f t))). Qed.
  Lemma derives_log : 0 < f t -> derives f t a -> derives (fun s => log (f s)) t (/ f t * a).
  Proof. intros P F. exact (derivable_pt_lim_comp f log t a (/ f t) F (log_has_its_derivative (f t) P)). Qed.
  Lemma derives_sqrt : 0 < f t -> derives f t a -> derives (fun s => sqrt (f s)) t (/ (2 * sqrt (f t)) * a).
  Proof. intros P F. exact (derivable_pt_lim_comp f sqrt t a _ F (derivable_pt_lim_sqrt (f t) P)). Qed.

  (* max(0, x) has the derivative 1 for x > 0, 0 for x < 0, and none at 0. *)
  Lemma derives_relu : f t <> 0 -> derives f t a -> derives (fun s => Rmax 0 (f s)) t (ReluDerivative (f t) * a).
  Proof.
    intros N F.
    assert (derives (Rmax 0) (f t) (ReluDerivative (f t))) as D.
    { intros ε Hε. assert (0 < Rabs (f t)) as P by now apply Rabs_pos_lt.
      exists (mkposreal _ P). intros h Hh Small. cbn in Small. cbn.
      destruct (Rlt_dec 0 (f t)) as [L | L].
      - rewrite (Rabs_right (f t)) in Small by lra. apply Rabs_def2 in Small as [S1 S2]. rewrite !Rmax_right by lra.
        replace ((f t + h - f t) / h - 1) with 0 by (field; easy). now rewrite Rabs_R0.
      - rewrite (Rabs_left (f t)) in Small by lra. apply Rabs_def2 in Small as [S1 S2]. rewrite !Rmax_left by lra.
        replace ((0 - 0) / h - 0) with 0 by (field; easy). now rewrite Rabs_R0. }
    exact (derivable_pt_lim_comp f (Rmax 0) t a _ F D).
  Qed.

  (* Where f is 0, a factor g need only be continuous: (f·g)(t + h)/h = f(t + h)/h · g(t + h). *)
  Lemma derives_times_continuous : f t = 0 -> derives f t a -> continuity_pt g t ->
    derives (fun s => f s * g s) t (a * g t).
  Proof.
    intros Z F G ε Hε.
    assert (0 < Rabs (g t) + 1) as Pg by (pose proof (Rabs_pos (g t)); lra).
    assert (0 < Rabs a + 1) as Pa by (pose proof (Rabs_pos a); lra).
    set (ε1 := Rmin 1 (ε / 2 / (Rabs (g t) + 1))). set (ε2 := ε / 2 / (Rabs a + 1)).
    assert (0 < ε1) as P1 by (apply Rmin_glb_lt; [lra | repeat apply Rdiv_lt_0_compat; lra]).
    assert (0 < ε2) as P2 by (unfold ε2; repeat apply Rdiv_lt_0_compat; lra).
    destruct (F ε1 P1) as [δ1 H1]. destruct (G ε2 P2) as [δ2 [Pδ2 H2]].
    assert (0 < Rmin δ1 δ2) as P by (apply Rmin_glb_lt; [apply cond_pos | exact Pδ2]).
    exists (mkposreal _ P). intros h Hh Small. cbn in Small.
    specialize (H1 h Hh (Rlt_le_trans _ _ _ Small (Rmin_l _ _))).
    assert (Rabs (g (t + h) - g t) < ε2) as H2'.
    { apply H2. split; [split; [exact I | intros E; apply Hh; lra] |]. change (Rabs (t + h - t) < δ2).
      replace (t + h - t) with h by ring. exact (Rlt_le_trans _ _ _ Small (Rmin_r _ _)). }
    rewrite Z in *. rewrite Rminus_0_r in H1. rewrite Rmult_0_l.
    set (q := f (t + h) / h) in *.
    replace ((f (t + h) * g (t + h) - 0) / h - a * g t) with (q * (g (t + h) - g t) + (q - a) * g t)
      by (unfold q; field; easy).
    assert (Rabs q <= Rabs a + 1) as Bq.
    { replace q with ((q - a) + a) by ring. eapply Rle_trans; [apply Rabs_triang |].
      assert (ε1 <= 1) by apply Rmin_l. lra. }
    assert (Rabs (q * (g (t + h) - g t)) < ε / 2) as E1.
    { rewrite Rabs_mult. apply Rle_lt_trans with ((Rabs a + 1) * Rabs (g (t + h) - g t)).
      - apply Rmult_le_compat_r; [apply Rabs_pos | exact Bq].
      - apply Rlt_le_trans with ((Rabs a + 1) * ε2); [apply Rmult_lt_compat_l; assumption |].
        unfold ε2. right. field. lra. }
    assert (Rabs ((q - a) * g t) <= ε / 2) as E2.
    { rewrite Rabs_mult. apply Rle_trans with (ε / 2 / (Rabs (g t) + 1) * (Rabs (g t) + 1)).
      - apply Rmult_le_compat; try apply Rabs_pos; [| lra].
        apply Rlt_le, (Rlt_le_trans _ _ _ H1), Rmin_r.
      - right. field. lra. }
    eapply Rle_lt_trans; [apply Rabs_triang | lra].
  Qed.
End OneNumber.

(* --- Sums --- *)

Section Sums.
  Implicit Types (m n : nat) (f g : nat -> R).

  Lemma sum_below_S m f : sum_below (S m) f = sum_below m f + f m.
  Proof. unfold sum_below. rewrite seq_S, map_app, Sum_app. cbn [map]. rewrite Sum_cons, Sum_nil. cbn. lra. Qed.
  Lemma sum_below_0 f : sum_below 0 f = 0. Proof. reflexivity. Qed.

  Lemma sum_ext m f g : (forall j, (j < m)%nat -> f j = g j) -> sum_below m f = sum_below m g.
  Proof. induction m; intros H; [easy |]. rewrite !sum_below_S, IHm, H by (intros; try apply H; lia). easy. Qed.
  Lemma sum_plus m f g : sum_below m (fun j => f j + g j) = sum_below m f + sum_below m g.
  Proof. induction m; rewrite ?sum_below_0, ?sum_below_S, ?IHm; cbv beta; lra. Qed.
  Lemma sum_minus m f g : sum_below m (fun j => f j - g j) = sum_below m f - sum_below m g.
  Proof. induction m; rewrite ?sum_below_0, ?sum_below_S, ?IHm; cbv beta; lra. Qed.
  Lemma sum_times m c f : sum_below m (fun j => c * f j) = c * sum_below m f.
  Proof. induction m; rewrite ?sum_below_0, ?sum_below_S, ?IHm; cbv beta; lra. Qed.
  Lemma sum_times_r m c f : sum_below m (fun j => f j * c) = sum_below m f * c.
  Proof. induction m; rewrite ?sum_below_0, ?sum_below_S, ?IHm; cbv beta; lra. Qed.
  Lemma sum_over m c f : sum_below m (fun j => f j / c) = sum_below m f / c.
  Proof. apply sum_times_r. Qed.
  Lemma sum_of_zeros m f : (forall j, (j < m)%nat -> f j = 0) -> sum_below m f = 0.
  Proof. induction m; intros H; [easy |]. rewrite sum_below_S, IHm, H by (intros; try apply H; lia). lra. Qed.
  Lemma sum_swap m n (f : nat -> nat -> R) :
    sum_below m (fun i => sum_below n (fun j => f i j)) = sum_below n (fun j => sum_below m (fun i => f i j)).
  Proof.
    induction m; [symmetry; now apply sum_of_zeros |]. rewrite sum_below_S, IHm, <- sum_plus.
    apply sum_ext. intros j _. now rewrite sum_below_S.
  Qed.
  Lemma sum_of_one_term m i f : (i < m)%nat -> sum_below m (fun j => if (j =? i)%nat then f j else 0) = f i.
  Proof.
    induction m; intros H; [lia |]. rewrite sum_below_S. destruct (Nat.eqb_spec m i) as [-> | N].
    - rewrite sum_of_zeros; [lra |]. intros j Hj. destruct (Nat.eqb_spec j i); [lia | easy].
    - rewrite IHm by lia. lra.
  Qed.
  Lemma sum_split m n f : sum_below (m + n) f = sum_below m f + sum_below n (fun j => f (m + j)%nat).
  Proof.
    induction n; [rewrite Nat.add_0_r, sum_below_0; lra |].
    rewrite Nat.add_succ_r, !sum_below_S, IHn. lra.
  Qed.
  (* Terms that are 0 do not count. *)
  Lemma sum_to_anywhere m n f :
    (forall j, (m <= j)%nat -> f j = 0) -> (forall j, (n <= j)%nat -> f j = 0) -> sum_below m f = sum_below n f.
  Proof.
    intros Hm Hn. destruct (Nat.le_ge_cases m n) as [L | L].
    - replace n with (m + (n - m))%nat by lia. rewrite sum_split, (sum_of_zeros (n - m)); [lra |]. intros; apply Hm; lia.
    - replace m with (n + (m - n))%nat by lia. rewrite sum_split, (sum_of_zeros (m - n)); [lra |]. intros; apply Hn; lia.
  Qed.

  Lemma Sum_zip {A B} (f : A -> B -> R) X Y (d : A) (d' : B) n :
    length X = n -> length Y = n -> Sum (zip f X Y) = sum_below n (fun i => f (nth i X d) (nth i Y d')).
  Proof.
    revert X Y. induction n; intros [| x X] [| y Y] LX LY; try easy.
    cbn [zip]. rewrite Sum_cons, IHn by (cbn in *; lia).
    change (S n) with (1 + n)%nat. rewrite sum_split. unfold sum_below at 2. cbn. lra.
  Qed.
  Lemma Sum_map_nth {A} (f : A -> R) X (d : A) : Sum (map f X) = sum_below (length X) (fun i => f (nth i X d)).
  Proof.
    induction X as [| x X IH]; [easy |]. cbn [map length]. rewrite Sum_cons, IH.
    change (S (length X)) with (1 + length X)%nat. rewrite sum_split. unfold sum_below at 2. cbn. lra.
  Qed.

  Lemma derives_sum m (f : nat -> R -> R) (d : nat -> R) t :
    (forall j, (j < m)%nat -> derives (f j) t (d j)) -> derives (fun s => sum_below m (fun j => f j s)) t (sum_below m d).
  Proof.
    induction m; intros H; [exact (derives_constant 0 t) |].
    rewrite sum_below_S. replace (fun s => sum_below (S m) (fun j => f j s)) with
      (fun s => sum_below m (fun j => f j s) + f m s) by (extensionality s; now rewrite sum_below_S).
    apply derives_plus; [apply IHm; intros; apply H; lia | apply H; lia].
  Qed.
End Sums.

(* --- What moves --- *)

(* ⟨u, v⟩ = Σ of the products of all their numbers; and γ moves with velocity v at the time t: each of its numbers has the
   derivative that stands in its place in v. Numbers of two things are in the same places if they have the same shape. *)
Class Moving (V : Type) {space : Space V} := {
  inner : V -> V -> R;
  moves : (R -> V) -> R -> V -> Prop;
  same_shape : V -> V -> Prop;
}.

#[global] Instance numbers_move : Moving R := {|
  inner := Rmult; moves := derives; same_shape _ _ := True |}.
#[global] Instance nothing_moves : Moving unit := {| inner _ _ := 0; moves _ _ _ := True; same_shape _ _ := True |}.
#[global] Instance pairs_move {V W} {sV : Space V} {sW : Space W} {mV : Moving V} {mW : Moving W} : Moving (V * W) := {|
  inner x y := inner (fst x) (fst y) + inner (snd x) (snd y);
  moves γ t v := moves (fun s => fst (γ s)) t (fst v) /\ moves (fun s => snd (γ s)) t (snd v);
  same_shape x y := same_shape (fst x) (fst y) /\ same_shape (snd x) (snd y) |}.
#[global] Instance rows_move {V} {space : Space V} {moving : Moving V} {m} : Moving (Row V m) := {|
  inner x y := sum_below m (fun j => inner (nth j (things x) origin) (nth j (things y) origin));
  moves γ t v := forall j, (j < m)%nat -> moves (fun s => nth j (things (γ s)) origin) t (nth j (things v) origin);
  same_shape x y := True |}.
(* Tokens stay. *)
#[global] Instance tokens_move : Moving token := {|
  inner _ _ := 0; moves γ t v := forall s, γ s = γ t; same_shape _ _ := True |}.
#[global] Instance lists_move {V} {space : Space V} {moving : Moving V} : Moving (list V) := {|
  inner X Y := sum_below (length X) (fun i => inner (nth i X origin) (nth i Y origin));
  moves γ t v := (forall s, length (γ s) = length v) /\
    forall i, (i < length v)%nat -> moves (fun s => nth i (γ s) origin) t (nth i v origin);
  same_shape X Y := length X = length Y /\ forall i, (i < length X)%nat -> same_shape (nth i X origin) (nth i Y origin) |}.

(* Sums move with the sum of the velocities, and ⟨u, v⟩ is linear in both. *)
Class Linear (V : Type) {space : Space V} {moving : Moving V} : Prop := {
  inner_sum_l : forall u v w : V, inner (sum u v) w = inner u w + inner v w;
  inner_sum_r : forall u v w : V, inner u (sum v w) = inner u v + inner u w;
  inner_origin : forall w : V, inner origin w = 0;
  moves_sum : forall (γ δ : R -> V) t v w, moves γ t v -> moves δ t w -> moves (fun s => sum (γ s) (δ s)) t (sum v w);
  shape_refl : forall v : V, same_shape v v;
  shape_any : forall u v : V, same_shape u v;
}.

#[global] Instance numbers_are_linear : Linear R.
Proof. split; intros; cbn; try easy; try ring. now apply derives_plus. Qed.
#[global] Instance no_weights_are_linear : Linear unit.
Proof. split; intros; cbn; try easy; try ring. Qed.
#[global] Instance tokens_are_linear : Linear token.
Proof. split; intros; cbn in *; try easy; try ring. Qed.
#[global] Instance pairs_are_linear {V W} {sV : Space V} {sW : Space W} {mV : Moving V} {mW : Moving W} {lV : Linear V}
  {lW : Linear W} : Linear (V * W).
Proof.
  split; intros; cbn.
  - rewrite !inner_sum_l. ring.
  - rewrite !inner_sum_r. ring.
  - rewrite !inner_origin. ring.
  - destruct H, H0. split; now apply moves_sum.
  - split; apply shape_refl.
  - split; apply shape_any.
Qed.
#[global] Instance rows_are_linear {V} {space : Space V} {moving : Moving V} {linear : Linear V} {m} : Linear (Row V m).
Proof.
  split; intros; cbn [sum origin rows inner moves same_shape rows_move].
  - rewrite <- sum_plus. apply sum_ext. intros j Hj. rewrite nth_of_tabulate by easy. apply inner_sum_l.
  - rewrite <- sum_plus. apply sum_ext. intros j Hj. rewrite nth_of_tabulate by easy. apply inner_sum_r.
  - apply sum_of_zeros. intros j Hj. rewrite nth_of_tabulate by easy. apply inner_origin.
  - intros j Hj. rewrite nth_of_tabulate by easy.
    replace (fun s => nth j (things (tabulate m _)) origin) with
      (fun s => sum (nth j (things (γ s)) origin) (nth j (things (δ s)) origin))
      by (extensionality s; now rewrite nth_of_tabulate).
    apply moves_sum; auto.
  - easy.
  - easy.
Qed.
