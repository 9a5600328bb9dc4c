(* SPDX-License-Identifier: MIT *)
(* Masks, the softmax kernel, and the article's Claim about A(X)×B(X).
   (Article, "Rowwise and autoregressive matrix operations" and "Causal Attention".) *)

From tlm Require Export Operations.
Local Open Scope num_scope.

(* The rows of A(X) are lists of numbers, as many as X (or the memory) has rows. *)
Definition kernel (memory A num : Type) : Type := operation memory A (list num).

Section Kernels.
  Context {memory A num : Type} {arithmetic : Arithmetic num}.

  (* A(X)_ij, which is 0 where nothing is. *)
  Definition at_ij (matrix : list (list num)) (i j : nat) : num := nth j (nth i matrix []) 0.

  (* A(X) is n×n and lower triangular, and A(X|i) is its leading i×i block.
     (In place of "A is autoregressive" in the Claim, which is ill-typed as printed: A(X|i) has i columns, A(X)|i has n.) *)
  Definition causal_kernel (A : kernel memory A num) : Prop :=
    forall M X,
      (length (A M X) = length X /\ Forall (fun row => length row = length X) (A M X)) /\
      (forall i j, i < j -> at_ij (A M X) i j = 0) /\
      (forall i, i <= length X -> A M (X↾i) = map (fun row => row↾i) ((A M X)↾i)).

  (* Σ_j a_j V_j *)
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

  (* A score is a number or −∞, which is None. A mask says which scores become −∞. *)
  Definition mask : Type := list (list num) -> list (list (option num)).

  (* ◺A has −∞ above the main diagonal and is A otherwise. *)
  Definition Causal : mask := map_index (fun i => map_index (fun j s => if j <=? i then Some s else None)).
  Definition Unmasked : mask := map (map Some).

  Definition lower_triangular (m : mask) : Prop := forall S, m S = Causal S.
  Definition full (m : mask) : Prop := forall S, m S = Unmasked S.

  Theorem Causal_is_lower_triangular : lower_triangular Causal.
  Proof. easy. Qed.
  Theorem Unmasked_is_full : full Unmasked.
  Proof. easy. Qed.

  Definition seen (s : list (option num)) : list num :=
    flat_map (fun s_j => match s_j with Some x => [x] | None => [] end) s.
  (* exp(s_j − g), and exp(−∞) = 0 *)
  Definition exponential (g : num) (s_j : option num) : num :=
    match s_j with Some x => Exp (x - g) | None => 0 end.
  (* exp(s_j) / Σ_k exp(s_k), where first the greatest is subtracted, which cancels: softmax_formula in Reals.v. *)
  Definition softmax (s : list (option num)) : list num :=
    let e := map (exponential (Maximum (seen s))) s in
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
  Context {memory num : Type} {arithmetic : Arithmetic num} {lawful : Lawful arithmetic}.

  (* --- What is hidden does not count --- *)

  Let is_hidden (s : option num) := s = None.

  Lemma hidden_behind (i k : nat) (row : list num) :
    k < i -> Forall is_hidden (skipn i (map_index (fun j s => if j <=? k then Some s else None) row)).
  Proof.
    intros H. unfold map_index. rewrite map_from_skipn. apply Forall_forall. intros s Hs.
    simpl in Hs. assert (forall p, k < p -> In s (map_from (fun j s => if j <=? k then Some s else None) p (skipn i row))
      -> s = None) as G; [| now apply (G i)].
    clear. induction (skipn i row); simpl; [easy |]. intros p Hp [E | Hs]; [| now apply (IHl (S p)); try lia].
    now destruct (Nat.leb_spec p k); [lia |].
  Qed.

  (** a row of softmax(◺A) does not change with what is hidden, nor if it is left out *)
  Theorem softmax_of_hidden i (s : list (option num)) :
    Forall is_hidden (skipn i s) -> softmax (s↾i) = (softmax s)↾i.
  Proof.
    intros H. unfold softmax.
    assert (seen (s↾i) = seen s) as ->.
    { rewrite <- (firstn_skipn i s) at 2. unfold seen. rewrite flat_map_app.
      replace (flat_map _ (skipn i s)) with (@nil num); [now rewrite app_nil_r |].
      induction H as [| x l -> _ IH]; [easy | exact IH]. }
    set (g := exponential _).
    assert (Sum (map g (s↾i)) = Sum (map g s)) as ->.
    { rewrite <- (firstn_skipn i s) at 2. rewrite map_app, Sum_of_zeros_behind; [easy |].
      apply Forall_map. revert H. apply Forall_impl. now intros x ->. }
    now rewrite !firstn_map.
  Qed.

  Lemma softmax_length (s : list (option num)) : length (softmax s) = length s.
  Proof. unfold softmax. now rewrite !map_length. Qed.

  Lemma softmax_of_hidden_is_0 (s : list (option num)) j : nth j s None = None -> nth j (softmax s) 0 = 0.
  Proof.
    intros H. unfold softmax. set (e := map _ s). set (total := Sum e).
    assert (nth j e 0 = 0) as E.
    { unfold e. change 0 with (exponential (Maximum (seen s)) None) at 1. rewrite map_nth, H. easy. }
    destruct (Nat.lt_ge_cases j (length e)) as [L | L].
    - rewrite (nth_indep _ _ (0 / total)) by (now rewrite map_length).
      rewrite (map_nth (fun x => x / total)), E. apply zero_over.
    - apply nth_overflow. now rewrite map_length.
  Qed.

  (* "softmax(◺A) always returns a lower triangular square matrix" *)
  (** softmax(◺A) is lower triangular *)
  Theorem softmax_of_triangle_is_lower_triangular (S : list (list num)) i j :
    i < j -> at_ij (map softmax (Causal S)) i j = 0.
  Proof.
    intros H. unfold at_ij. destruct (Nat.lt_ge_cases i (length S)) as [L | L].
    - rewrite (nth_indep _ _ (softmax [])) by (unfold Causal, map_index; now rewrite map_length, map_from_length).
      rewrite map_nth. apply softmax_of_hidden_is_0. unfold Causal, map_index.
      rewrite (nth_of_map_from _ _ _ _ []) by easy. simpl.
      pose proof (hidden_behind j i (nth i S []) H) as F. unfold map_index in F.
      set (r := map_from _ 0 _) in *. clearbody r.
      rewrite <- (firstn_skipn j r). destruct (Nat.lt_ge_cases j (length r)) as [Lr | Lr]; [| apply nth_overflow].
      + rewrite app_nth2; rewrite firstn_length, Nat.min_l by lia; [| lia]. rewrite Nat.sub_diag.
        now destruct F.
      + rewrite app_length, firstn_length, skipn_length. lia.
    - rewrite (nth_overflow (map softmax _)); [now destruct j |].
      unfold Causal, map_index. now rewrite map_length, map_from_length.
  Qed.

  (** ◺(A/c) = (◺A)/c, where −∞/c = −∞, as it is for c > 0 *)
  Theorem triangle_of_quotient (c : num) (S : list (list num)) :
    Causal (map (map (fun s => s / c)) S) = map (map (option_map (fun s => s / c))) (Causal S).
  Proof.
    unfold Causal, map_index. rewrite map_from_map, map_of_map_from. apply map_from_ext. intros i row'.
    rewrite map_from_map, map_of_map_from. apply map_from_ext. intros j s. now destruct (j <=? i).
  Qed.

  (* --- softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel --- *)

  Lemma leading_block (S : list (list num)) i :
    map softmax (Causal (map (fun row => row↾i) (S↾i))) = map (fun row => row↾i) ((map softmax (Causal S))↾i).
  Proof.
    unfold Causal, map_index.
    rewrite map_from_map, firstn_map, <- map_from_firstn, !map_of_map_from.
    assert (forall p rows, (p + length rows <= i)%nat ->
      map_from (fun k row => softmax (map_from (fun j s => if j <=? k then Some s else None) 0 (row↾i))) p rows =
      map_from (fun k row => (softmax (map_from (fun j s => if j <=? k then Some s else None) 0 row))↾i) p rows) as G.
    { intros p rows; revert p; induction rows as [| row rows IH]; intros p L; simpl in *; [easy |].
      rewrite IH by lia. f_equal. rewrite map_from_firstn. apply softmax_of_hidden. apply hidden_behind. lia. }
    apply G. rewrite firstn_length. lia.
  Qed.

  Lemma scores_of_cut {m} d_head (Q K : list (Row num m)) i :
    scores d_head (Q↾i) (K↾i) = map (fun row => row↾i) ((scores d_head Q K)↾i).
  Proof. unfold scores. rewrite firstn_map, map_map. apply map_ext. intros q. now rewrite firstn_map. Qed.

  Definition square (n : nat) {thing} (S : list (list thing)) : Prop :=
    length S = n /\ Forall (fun row => length row = n) S.

  Lemma map_index_is_square {thing thing'} n (f : nat -> nat -> thing -> thing') S :
    square n S -> square n (map_index (fun i => map_index (f i)) S).
  Proof.
    unfold map_index. intros [L F]. split; [now rewrite map_from_length |].
    apply Forall_forall. intros y Hy. apply in_map_from in Hy. destruct Hy as [i [x [Hx ->]]].
    rewrite map_from_length. now apply (proj1 (Forall_forall _ _) F).
  Qed.

  Lemma scores_are_square {m n} d_head (Q K : list (Row num m)) :
    length Q = n -> length K = n -> square n (scores d_head Q K).
  Proof.
    intros LQ LK. unfold scores. split; [now rewrite map_length |]. apply Forall_map, Forall_forall. intros q _.
    now rewrite map_length.
  Qed.

  Lemma softmax_of_triangle_is_square n (S : list (list num)) : square n S -> square n (map softmax (Causal S)).
  Proof.
    intros H. apply (map_index_is_square n (fun i j s => if j <=? i then Some s else None)) in H as [L F].
    split; [now rewrite map_length |]. apply Forall_map. revert F. apply Forall_impl. intros row. now rewrite softmax_length.
  Qed.

  Theorem softmax_kernel_is_causal {A m} {d_head : nat} {mask : mask} {Q K : operation memory A (Row num m)} :
    lower_triangular mask -> autoregressive Q -> autoregressive K -> causal_kernel (SoftmaxKernel d_head mask Q K).
  Proof.
    intros Hmask HQ HK M X. destruct (HQ M X) as [LQ EQ], (HK M X) as [LK EK]. unfold SoftmaxKernel.
    split; [| split].
    - rewrite !Hmask. now apply softmax_of_triangle_is_square, scores_are_square.
    - intros i j. rewrite Hmask. apply softmax_of_triangle_is_lower_triangular.
    - intros i Hi. now rewrite !Hmask, EQ, EK, scores_of_cut, leading_block.
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
    intros Hmask HQ HK Hb M X. destruct (HQ M X) as [LQ EQ], (HK M X) as [LK EK]. unfold BiasedSoftmaxKernel.
    split; [| split].
    - rewrite !Hmask. apply softmax_of_triangle_is_square, (map_index_is_square _ (fun i j s => s + b X i j)).
      now apply scores_are_square.
    - intros i j. rewrite Hmask. apply softmax_of_triangle_is_lower_triangular.
    - intros i Hi. rewrite !Hmask, EQ, EK, scores_of_cut, <- leading_block, <- biased_of_cut by easy.
      do 2 f_equal. unfold map_index. apply map_from_ext. intros k row'. apply map_from_ext. intros j s.
      now rewrite (Hb (X↾i) X).
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

  (* --- The Claim --- *)

  Lemma nth_of_skipn {thing} i j (a : list thing) d : nth j (skipn i a) d = nth (i + j)%nat a d.
  Proof. revert a; induction i; intros [| x a]; simpl; auto; now destruct j. Qed.

  Lemma combination_of_leading {m} i (a : list num) (V : list (Row num m)) :
    (forall j, i <= j -> nth j a 0 = 0) -> combination (a↾i) (V↾i) = combination a V.
  Proof.
    intros H. apply tabulate_ext. intros k. rewrite zip_firstn.
    set (f := fun a_j V_j => _). rewrite <- (firstn_skipn i (zip f a V)) at 2. symmetry. apply Sum_of_zeros_behind.
    rewrite <- zip_skipn. assert (Forall (fun x => x = 0) (skipn i a)) as F.
    { apply Forall_forall. intros x Hx. destruct (In_nth _ _ 0 Hx) as [j [_ <-]].
      rewrite nth_of_skipn. apply H. lia. }
    revert F. generalize (skipn i a) (skipn i V). intros l; induction l as [| x l IH]; intros [| v V'] F; simpl; try easy.
    inversion F; subst. constructor; [apply zero_times | now apply IH].
  Qed.

  (* "Claim. If A, B are autoregressive operations and A always returns lower triangular square matrices then the matrix
     multiplication operation X ↦ A(X)×B(X) is autoregressive", with causal_kernel in place of the first. *)
  Theorem product_is_autoregressive {I m} {A : kernel memory I num} {B : operation memory I (Row num m)} :
    causal_kernel A -> autoregressive B -> autoregressive (Product A B).
  Proof.
    intros HA HB M X. destruct (HA M X) as [[LA _] [triangular leading]], (HB M X) as [LB EB]. unfold Product.
    split; [now rewrite map_length |]. intros i Hi.
    rewrite leading, EB, map_map, firstn_map by easy. apply map_ext_in. intros a Ha.
    apply combination_of_leading. intros j Hj.
    destruct (In_nth _ _ [] Ha) as [k [Hk <-]]. rewrite firstn_length in Hk.
    replace (nth k ((A M X)↾i) []) with (nth k (A M X) []).
    - apply (triangular k j). lia.
    - rewrite <- (firstn_skipn i (A M X)) at 1. apply app_nth1. rewrite firstn_length. lia.
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
