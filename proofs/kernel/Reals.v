(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* softmax as the article has it, and what is *not* rowwise. *)

From tlm Require Export Logarithm.
From tlm Require Export Layers.
Local Open Scope R_scope.

(* Φ(x) = ½ + ∫_0^x φ(t) dt, where φ(t) = exp(−t²/2)/√(2π). As φ decreases, the integral from 0 to x ≥ 0 is the least upper
   bound of the sums (x/n)·Σ_{k = 1, …, n} φ(kx/n), none of which is greater than ½. *)
Definition normal_density (t : R) : R := exp (- (t * t) / 2) / sqrt (2 * PI).
Definition lower_sum (x : R) (n : nat) : R :=
  Rmin (/ 2) (x / INR (S n) * sum_f_R0 (fun k => normal_density (INR (S k) * x / INR (S n))) n).
Lemma lower_sums_have_a_least_upper_bound x : { m | is_lub (fun y => exists n, y = lower_sum x n) m }.
Proof. apply completeness; [exists (/ 2); intros y [n ->]; apply Rmin_l | now exists (lower_sum x 0), 0%nat]. Qed.
Definition normal_cdf (x : R) : R :=
  if Rle_dec 0 x then / 2 + proj1_sig (lower_sums_have_a_least_upper_bound x)
  else / 2 - proj1_sig (lower_sums_have_a_least_upper_bound (- x)).

(* ω_i = 10000^(−2i/d), without logarithms: the greatest number a ≤ 1 with a^d·10000^(2i) ≤ 1. *)
Lemma there_is_an_angle d i :
  { m | is_lub (fun a => a = 0 \/ a <= 1 /\ a ^ d * 10000 ^ (2 * i) <= 1) m }.
Proof. apply completeness; [exists 1; intros a [-> | [H _]]; lra | exists 0; now left]. Qed.
Definition angle (d i : nat) : R := proj1_sig (there_is_an_angle d i).

(* The arithmetic of real numbers. *)
#[global] Instance real_numbers : Arithmetic R := {|
  number := IZR;
  Add := Rplus;
  Sub := Rminus;
  Mul := Rmult;
  Div := Rdiv;
  Sum := fold_right Rplus 0;
  Exp := exp;
  Log := log;
  Sqrt := sqrt;
  Relu := Rmax 0;
  ReluDerivative := fun x => if Rlt_dec 0 x then 1 else 0;
  Tanh := tanh;
  RootOfTwoOverPi := sqrt (2 / PI);
  NormalCdf := normal_cdf;
  Maximum := fun list => match list with [] => 0 | x :: list => fold_left Rmax list x end;
  Sine := fun d i pos => sin (INR pos * angle d i);
  Cosine := fun d i pos => cos (INR pos * angle d i);
|}.

(* --- softmax --- *)

Lemma Sum_nil : Sum [] = 0 :> R. Proof. reflexivity. Qed.
Lemma Sum_cons (x : R) list : Sum (x :: list) = x + Sum list. Proof. reflexivity. Qed.
Lemma Sum_app (x y : list R) : Sum (x ++ y) = Sum x + Sum y.
Proof. induction x; cbn [app]; rewrite ?Sum_nil, ?Sum_cons; lra. Qed.

Lemma Sum_of_nonnegative (list : list R) : Forall (fun x => 0 <= x) list -> 0 <= Sum list.
Proof. induction 1; rewrite ?Sum_nil, ?Sum_cons; lra. Qed.

Lemma Sum_of_quotients (list : list R) s : Sum (map (fun x => x / s) list) = Sum list / s.
Proof.
  induction list; cbn [map]; rewrite ?Sum_nil, ?Sum_cons; [unfold Rdiv; ring | rewrite IHlist; unfold Rdiv; ring].
Qed.

Lemma Sum_of_exponentials_is_positive {A} (f : A -> R) (list : list A) :
  list <> [] -> 0 < Sum (map (fun x => exp (f x)) list).
Proof.
  destruct list as [| x list]; [easy | intros _]. cbn [map]. rewrite Sum_cons. pose proof (exp_pos (f x)).
  enough (0 <= Sum (map (fun x => exp (f x)) list)) by lra.
  apply Sum_of_nonnegative, Forall_map, Forall_forall. intros y _. apply Rlt_le, exp_pos.
Qed.

(* The greatest number that is subtracted cancels, and so would any other. *)
(** softmax(s)_j = exp(s_j) / Σ_k exp(s_k): the greatest number that is subtracted cancels *)
Theorem softmax_formula (s : list R) : softmax s = map (fun s_j => exp s_j / Sum (map exp s)) s.
Proof.
  destruct s as [| s_0 s']; [easy |]. set (s := s_0 :: s').
  pose proof (Sum_of_exponentials_is_positive (fun x => x) s ltac:(easy)) as P. cbv beta in P.
  unfold softmax. set (g := Maximum s). pose proof (exp_pos g).
  assert (map (fun s_j => exp (s_j - g)) s = map (fun x => x / exp g) (map exp s)) as E.
  { rewrite map_map. apply map_ext. intros x. unfold Rminus. now rewrite exp_plus, exp_Ropp. }
  change (map (fun e_j => e_j / Sum (map (fun s_j => exp (s_j - g)) s)) (map (fun s_j => exp (s_j - g)) s) =
    map (fun s_j => exp s_j / Sum (map exp s)) s).
  rewrite E, Sum_of_quotients, !map_map. apply map_ext. intros s_j. field. split; [apply Rgt_not_eq, P | lra].
Qed.

(** the numbers of softmax(s) are positive *)
Theorem softmax_is_positive (s : list R) : Forall (fun y => 0 < y) (softmax s).
Proof.
  destruct s as [| s_0 s']; [constructor |]. rewrite softmax_formula.
  pose proof (Sum_of_exponentials_is_positive (fun x => x) (s_0 :: s') ltac:(easy)) as P.
  apply Forall_map, Forall_forall. intros x _. apply Rdiv_lt_0_compat; [apply exp_pos | exact P].
Qed.
(** the numbers softmax(s) sum to 1, if s is not empty *)
Theorem softmax_sums_to_1 (s : list R) : s <> [] -> Sum (softmax s) = 1.
Proof.
  intros nonempty. rewrite softmax_formula. pose proof (Sum_of_exponentials_is_positive (fun x => x) s nonempty) as P.
  rewrite <- (map_map exp (fun x => x / Sum (map exp s))), Sum_of_quotients. apply Rinv_r, Rgt_not_eq, P.
Qed.

(** each row of softmax(◺A) is positive, as far as it is visible, and sums to 1 *)
Theorem rows_of_softmax_of_triangle (n : nat) (A : list (list R)) :
  Forall (fun row => length row = n) A -> (0 < n)%nat ->
  Forall (fun row => Forall (fun y => 0 < y) row /\ Sum row = 1) (map softmax (Causal A)).
Proof.
  intros F Hn. apply Forall_map, Forall_forall. intros s Hs.
  split; [apply softmax_is_positive | apply softmax_sums_to_1].
  unfold Causal, map_index in Hs. apply in_map_from in Hs as [i [row [Hrow ->]]].
  pose proof (proj1 (Forall_forall _ _) F row Hrow) as L. destruct row; [cbn in L; lia | easy].
Qed.

(** softmax(s + c·1) = softmax(s) *)
Theorem softmax_of_shifted (s : list R) c : softmax (map (fun s_j => s_j + c) s) = softmax s.
Proof.
  rewrite !softmax_formula, !map_map. pose proof (exp_pos c).
  destruct s as [| s_0 s']; [easy |]. set (s := s_0 :: s').
  pose proof (Sum_of_exponentials_is_positive (fun x => x) s ltac:(easy)) as P. cbv beta in P.
  assert (map (fun x => exp (x + c)) s = map (fun x => x / exp (- c)) (map exp s)) as E.
  { rewrite map_map. apply map_ext. intros x. rewrite exp_plus, exp_Ropp. field. lra. }
  rewrite E, Sum_of_quotients. apply map_ext. intros x. rewrite exp_plus, exp_Ropp. field.
  repeat split; try lra; apply Rgt_not_eq, P.
Qed.

(* --- Embedding --- *)

Lemma sum_of_one (f : nat -> R) x m p : (p <= x < p + m)%nat ->
  Sum (map (fun k => (if k =? x then 1 else 0) * f k) (seq p m)) = f x.
Proof.
  revert p; induction m; intros p H; [lia |]. cbn [seq map]. rewrite Sum_cons. destruct (Nat.eqb_spec p x) as [-> | N].
  - replace (Sum _) with 0; [ring |]. symmetry. clear IHm H.
    enough (forall q, (x < q)%nat -> Sum (map (fun k => (if k =? x then 1 else 0) * f k) (seq q m)) = 0) as Z by (apply Z; lia).
    induction m; intros q Hq; [easy |]. cbn [seq map]. rewrite Sum_cons, IHm by lia.
    destruct (Nat.eqb_spec q x); [lia | ring].
  - rewrite IHm by lia. ring.
Qed.

(** OneHot(x)×W_e is the row of W_e that belongs to x *)
Theorem one_hot_times_W_e {vocab_size d_model} (W_e : Matrix R vocab_size d_model) (x : nat) :
  (x < vocab_size)%nat -> times (tabulate vocab_size (fun k => if k =? x then 1 else 0)) W_e = row W_e x.
Proof.
  intros H. unfold times. transitivity (tabulate d_model (entry (row W_e x))); [| apply tabulate_of_nth].
  apply tabulate_ext. intros j. unfold sum_below.
  rewrite <- (sum_of_one (fun k => entry (row W_e k) j) x vocab_size 0) by lia. f_equal. apply map_ext_in. intros k Hk.
  apply in_seq in Hk. unfold entry at 1. rewrite nth_of_tabulate by lia. reflexivity.
Qed.

(* --- What is not rowwise --- *)

Lemma zero_plus m (x : Row R m) : plus (tabulate m (fun _ => 0)) x = x.
Proof.
  assert (forall j, entry (tabulate m (fun _ => 0)) j = 0) as Z.
  { clear x. unfold entry. induction m; intros [| j]; [easy | easy | easy | exact (IHm j)]. }
  unfold plus. transitivity (tabulate m (entry x)); [| apply tabulate_of_nth].
  apply tabulate_ext. intros j. rewrite Z. change (0 + entry x j = entry x j). ring.
Qed.

(* PE is not rowwise, contrary to what the article says, for a table with two different rows. *)
(** PE is not rowwise, contrary to what the article says, for a table that has two different rows *)
Theorem PE_is_not_rowwise {memory : Type} {max_len d_model} (PE : Matrix R max_len d_model) i :
  row PE i <> row PE 0 -> ~ rowwise (PositionalEncoding (memory := memory) PE).
Proof.
  intros different H. apply different. set (zero := tabulate d_model (fun _ => 0) : Row R d_model).
  assert (skipn i (repeat zero (S i)) = [zero]) as one by (clear; induction i; [easy | exact IHi]).
  destruct (H [] (repeat zero (S i))) as [_ E]. specialize (E i). rewrite repeat_length in E. specialize (E ltac:(lia)).
  rewrite one in E. unfold PositionalEncoding, by_position, map_index in E. rewrite map_from_skipn, one in E. cbn in E.
  unfold zero in E. rewrite !zero_plus in E. now injection E.
Qed.

(** attention without a mask need not be autoregressive: the first of two rows sees the second *)
Theorem attention_without_a_mask_is_not_autoregressive {memory : Type} :
  let W := ((0, tt), tt) : Matrix R 1 1 in
  ~ autoregressive (memory := memory) (Product (SoftmaxKernel 1 Unmasked (Times W) (Times W)) identity).
Proof.
  intros W H. destruct (H [] [(0, tt); (1, tt)]) as [_ E]. specialize (E 1%nat ltac:(cbn; lia)).
  apply (f_equal (fun Y : list (Row R 1) => entry (nth 0 Y (tabulate 1 (fun _ => 0))) 0)) in E.
  unfold Product, SoftmaxKernel, Unmasked, scores, softmax, entry in E. cbn -[exp Rmax] in E.
  match type of E with _ = ?a / ?s * 0 + (?b / ?s * 1 + 0) =>
    assert (0 < a) by apply exp_pos; assert (0 < b) by apply exp_pos;
    assert (0 < b / s) by (apply Rmult_lt_0_compat; [easy | apply Rinv_0_lt_compat; lra]) end.
  lra.
Qed.
