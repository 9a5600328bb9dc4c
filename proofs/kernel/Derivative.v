(* SPDX-License-Identifier: MIT *)
(* Over ℝ. *)
(* The pullback of a layer is the transpose of its derivative: dL = ⟨Y_bar, dY⟩ = ⟨X_bar, dX⟩ + ⟨W_bar, dW⟩.
   (docs/gradients.rst; the definitions of the pullbacks are those of Pullbacks.v.) *)

From Coq Require Import FunctionalExtensionality.
From tlm Require Export Calculus.
Local Open Scope R_scope.

(* However the weights and X move through the weights w(t) and X(t), with velocities dw and dX: Y = T(X; w) moves, too, with a
   velocity dY, and for every Y_bar the equation holds of what the pullback makes of it. (As all ways to move are meant, this
   is the derivative of T as a function of all its numbers, X and weights together; and as dX, dw and Y_bar are any, the
   equation determines the pullback.) *)
Definition transposes {memory A B W} {sA : Space A} {sB : Space B} {sW : Space W} {mA : Moving A} {mB : Moving B}
  {mW : Moving W} {w0 : W} {T : operation memory A B} (e : layer w0 T) : Prop :=
  forall M (w : R -> W) (dw : W) (X : R -> list A) (dX : list A) (t : R),
    moves w t dw -> moves X t dX -> regular e (w t) M (X t) ->
    exists dY, length dY = length dX /\ moves (fun s => value e (w s) M (X s)) t dY /\
      forall Y_bar, same_shape Y_bar dY ->
        let (X_bar, w_bar) := pullback e (w t) M (X t) Y_bar in
        same_shape X_bar dX /\ inner Y_bar dY = inner X_bar dX + inner w_bar dw.

(* --- Lists of things that move --- *)

Section Lists.
  Context {V : Type} {space : Space V} {moving : Moving V}.

  Lemma nth_of_zip {A B C} (f : A -> B -> C) X Y i d d' d'' :
    (i < length X)%nat -> (i < length Y)%nat -> nth i (zip f X Y) d'' = f (nth i X d) (nth i Y d').
  Proof.
    revert X Y; induction i; intros [| x X] [| y Y] HX HY; cbn in *; try lia; [easy |]. apply IHi; lia.
  Qed.

  Lemma nth_of_map {A B} (f : A -> B) X i d d' : (i < length X)%nat -> nth i (map f X) d' = f (nth i X d).
  Proof. intros H. now rewrite (nth_indep _ d' (f d)), map_nth by now rewrite map_length. Qed.

  (* If there is a velocity for each row, they are the rows of a list. *)
  Lemma choice_of_rows n (P : nat -> V -> Prop) : (forall i, (i < n)%nat -> exists v, P i v) ->
    exists dY, length dY = n /\ forall i, (i < n)%nat -> P i (nth i dY origin).
  Proof.
    intros H. induction n; [exists []; split; [easy | intros; lia] |].
    destruct IHn as [dY [L E]]; [intros; apply H; lia |]. destruct (H n ltac:(lia)) as [v Hv].
    exists (dY ++ [v]). split; [rewrite app_length; cbn; lia |]. intros i Hi.
    destruct (Nat.eq_dec i n) as [-> | N].
    - now rewrite app_nth2, L, Nat.sub_diag by lia.
    - rewrite app_nth1 by lia. apply E. lia.
  Qed.

  Context {linear : Linear V}.

  Lemma zip_sum_moves (X Y : R -> list V) t dX dY : length dX = length dY ->
    moves X t dX -> moves Y t dY -> moves (fun s => zip sum (X s) (Y s)) t (zip sum dX dY).
  Proof.
    intros L [LX HX] [LY HY]. split.
    - intros s. now rewrite !zip_length by congruence.
    - intros i Hi. rewrite zip_length in Hi by easy. rewrite (nth_of_zip _ _ _ _ origin origin) by lia.
      replace (fun s => nth i (zip sum (X s) (Y s)) origin) with (fun s => sum (nth i (X s) origin) (nth i (Y s) origin))
        by (extensionality s; rewrite (nth_of_zip _ _ _ _ origin origin); rewrite ?LX, ?LY; congruence || lia).
      apply moves_sum; [apply HX | apply HY]; lia.
  Qed.

  Lemma inner_zip_l (U U' X : list V) : length U = length U' ->
    inner (zip sum U U') X = inner U X + inner U' X.
  Proof.
    intros L. cbn [inner lists_move]. rewrite zip_length, <- L by easy. rewrite <- sum_plus. apply sum_ext. intros i Hi.
    rewrite (nth_of_zip _ _ _ _ origin origin) by lia. apply inner_sum_l.
  Qed.
  Lemma inner_zip_r (U X X' : list V) : length U = length X -> length U = length X' ->
    inner U (zip sum X X') = inner U X + inner U X'.
  Proof.
    intros L L'. cbn [inner lists_move]. rewrite <- sum_plus. apply sum_ext. intros i Hi.
    rewrite (nth_of_zip _ _ _ _ origin origin) by lia. apply inner_sum_r.
  Qed.

  Lemma shape_of_lists (U X : list V) : length U = length X -> same_shape U X.
  Proof. intros L. split; [exact L | intros; apply shape_any]. Qed.

  Lemma inner_total (l : list V) (v : V) : inner (total l) v = Sum (map (fun u => inner u v) l).
  Proof.
    induction l as [| u l IH]; [apply inner_origin |]. cbn [map]. rewrite Sum_cons, <- IH. apply inner_sum_l.
  Qed.
End Lists.

(* --- The rules --- *)

Section Rules.
  Context {memory : Type}.

  Section Composition.
    Context {A B C U V : Type} {sA : Space A} {sB : Space B} {sC : Space C} {sU : Space U} {sV : Space V} {mA : Moving A}
      {mB : Moving B} {mC : Moving C} {mU : Moving U} {mV : Moving V} {u : U} {v : V}.

    (** (G∘F)′ᵀ = F′ᵀ·G′ᵀ: first back through G, then through F *)
    Theorem composition_transposes {G : operation memory B C} {F : operation memory A B} {g : layer v G} {f : layer u F} :
      transposes g -> transposes f -> transposes (Composition_layer g f).
    Proof.
      intros Hg Hf M w dw X dX t [Hu Hv] HX [Rf Rg].
      destruct (Hf M _ _ _ _ _ Hu HX Rf) as [dY [LY [HY EY]]].
      destruct (Hg M _ _ _ _ _ Hv HY Rg) as [dZ [LZ [HZ EZ]]].
      exists dZ. split; [congruence | split; [exact HZ |]]. intros Z_bar Hshape. specialize (EZ Z_bar Hshape). cbn in *.
      destruct (pullback g _ M _ Z_bar) as [Y_bar v_bar]. destruct EZ as [Hs EZ]. specialize (EY Y_bar Hs).
      destruct (pullback f _ M _ Y_bar) as [X_bar u_bar]. destruct EY as [Hs' EY].
      split; [exact Hs' |]. cbn. rewrite EZ, EY. ring.
    Qed.
  End Composition.

  (** d(X + F(X)) = dX + dF: Res(F) returns Y_bar and what F returns for it *)
  Theorem residual_transposes {W m} {sW : Space W} {mW : Moving W} {w : W}
    {F : operation memory (Row R m) (Row R m)} {f : layer w F} : transposes f -> transposes (Residual_layer f).
  Proof.
    intros Hf M w' dw X dX t Hw HX Rf. destruct (Hf M _ _ _ _ _ Hw HX Rf) as [dF [L [HF EF]]].
    exists (zip sum dX dF). assert (length (zip sum dX dF) = length dX) as Lz by now rewrite zip_length.
    split; [exact Lz | split; [exact (zip_sum_moves _ _ t dX dF ltac:(easy) HX HF) |]].
    intros Y_bar [LY _]. rewrite Lz in LY. cbn [Residual_layer pullback].
    specialize (EF Y_bar ltac:(apply shape_of_lists; congruence)).
    destruct (pullback f (w' t) M (X t) Y_bar) as [X_bar w_bar]. destruct EF as [[LX _] EF].
    split; [apply shape_of_lists; rewrite zip_length; congruence |].
    rewrite inner_zip_r, inner_zip_l by congruence. rewrite EF. ring.
  Qed.

  (** a weight that is read in several places: what it gets in all of them is added *)
  Theorem tied_transposes {A B W} {sA : Space A} {sB : Space B} {sW : Space W} {mA : Moving A} {mB : Moving B}
    {mW : Moving W} {lW : Linear W} {w : W} {T : operation memory A B} {e : layer (w, w) T} :
    transposes e -> transposes (Tied_layer e).
  Proof.
    intros He M w' dw X dX t Hw HX Rf.
    destruct (He M (fun s => (w' s, w' s)) (dw, dw) X dX t (conj Hw Hw) HX Rf) as [dY [L [HY EY]]].
    exists dY. split; [exact L | split; [exact HY |]]. intros Y_bar Hs. specialize (EY Y_bar Hs). cbn [Tied_layer pullback].
    destruct (pullback e _ M (X t) Y_bar) as [X_bar [w_bar w_bar']]. destruct EY as [Hs' EY]. split; [exact Hs' |].
    rewrite EY. cbn [fst snd]. rewrite inner_sum_l. reflexivity.
  Qed.

  Section Columns.
    Context {A W : Type} {sA : Space A} {sW : Space W} {mA : Moving A} {mW : Moving W}.

    (* What is done to each row of F(X) and is linear: f moves with f of the velocity, and g is its transpose. *)
    Lemma linear_rows_transpose {m m'} {w : W} {F : operation memory A (Row R m)} (f : layer w F)
      (h : Row R m -> Row R m') (g : Row R m' -> Row R m) :
      (forall γ t v, moves γ t v -> moves (fun s => h (γ s)) t (h v)) ->
      (forall y x, inner y (h x) = inner (g y) x) ->
      transposes f ->
      forall M (w' : R -> W) dw (X : R -> list A) dX t, moves w' t dw -> moves X t dX -> regular f (w' t) M (X t) ->
      exists dY, length dY = length dX /\ moves (fun s => map h (value f (w' s) M (X s))) t dY /\
        forall Y_bar, length Y_bar = length dY ->
          let (X_bar, w_bar) := pullback f (w' t) M (X t) (map g Y_bar) in
          same_shape X_bar dX /\ inner Y_bar dY = inner X_bar dX + inner w_bar dw.
    Proof.
      intros Hh Hg Hf M w' dw X dX t Hw HX Rf. destruct (Hf M _ _ _ _ _ Hw HX Rf) as [dF [L [[LF HF] EF]]].
      exists (map h dF). split; [now rewrite map_length | split].
      - split; [intros s; now rewrite !map_length, LF |]. intros i Hi. rewrite map_length in Hi.
        rewrite (nth_indep _ _ (h origin)), map_nth by now rewrite map_length.
        replace (fun s => nth i (map h (value f (w' s) M (X s))) origin)
          with (fun s => h (nth i (value f (w' s) M (X s)) origin))
          by (extensionality s; now rewrite (nth_indep _ _ (h origin)), map_nth by (rewrite map_length, LF; easy)).
        apply Hh, HF, Hi.
      - intros Y_bar LY. rewrite map_length in LY.
        specialize (EF (map g Y_bar) ltac:(apply shape_of_lists; rewrite map_length; congruence)).
        destruct (pullback f _ M (X t) _) as [X_bar w_bar]. destruct EF as [Hs EF]. split; [exact Hs |]. rewrite <- EF.
        cbn. rewrite map_length. apply sum_ext. intros i Hi.
        rewrite (nth_indep (map h dF) _ (h origin)), map_nth by (rewrite map_length; congruence).
        rewrite (nth_indep (map g Y_bar) _ (g origin)), map_nth by (rewrite map_length; congruence).
        apply Hg.
    Qed.

    Lemma entry_of_tabulate {m} (f : nat -> R) j : (j < m)%nat -> entry (tabulate m f) j = f j.
    Proof. intros H. unfold entry. now apply nth_of_tabulate. Qed.
    Lemma entry_beyond {m} (x : Row R m) j : (m <= j)%nat -> entry x j = 0.
    Proof. intros H. unfold entry. apply nth_overflow. rewrite things_length. exact H. Qed.
    (* All entries of a row move, those too that are not there. *)
    Lemma entries_move {m} (γ : R -> Row R m) t v j : moves γ t v -> derives (fun s => entry (γ s) j) t (entry v j).
    Proof.
      intros H. destruct (Nat.lt_ge_cases j m) as [L | L]; [exact (H j L) |].
      rewrite entry_beyond by easy. replace (fun s => entry (γ s) j) with (fun _ : R => 0)
        by (extensionality s; now rewrite entry_beyond). apply derives_constant.
    Qed.
    Lemma row_moves {m} (f : R -> nat -> R) t (d : nat -> R) :
      (forall j, (j < m)%nat -> derives (fun s => f s j) t (d j)) -> moves (fun s => tabulate m (f s)) t (tabulate m d).
    Proof.
      intros H j Hj. rewrite nth_of_tabulate by easy.
      replace (fun s => nth j (things (tabulate m (f s))) origin) with (fun s => f s j)
        by (extensionality s; now rewrite nth_of_tabulate). now apply H.
    Qed.
    Lemma inner_of_rows {m} (x y : Row R m) : inner x y = sum_below m (fun j => entry x j * entry y j).
    Proof. reflexivity. Qed.

    (** a block of columns returns the block in its place, and 0 elsewhere *)
    Theorem columns_transpose {m} {w : W} d i {F : operation memory A (Row R m)} {f : layer w F} :
      transposes f -> transposes (BlockOfColumns_layer d i f).
    Proof.
      intros Hf M w' dw X dX t Hw HX Rf.
      assert (forall (γ : R -> Row R m) s v, moves γ s v -> moves (fun s => block d i (γ s) : Row R d) s (block d i v)) as Hb.
      { intros γ s v H. apply row_moves. intros j _. now apply entries_move. }
      assert (forall (y : Row R d) (x : Row R m), inner y (block d i x) = inner (placed d i y) x) as Ht.
      { intros y x. rewrite !inner_of_rows. set (o := ((i - 1) * d)%nat).
        transitivity (sum_below m (fun j => sum_below d (fun k => if (j =? o + k)%nat then entry y k * entry x j else 0))).
        + rewrite sum_swap. apply sum_ext. intros k Hk. unfold block. rewrite entry_of_tabulate by easy. fold o.
          destruct (Nat.lt_ge_cases (o + k) m) as [Lk | Lk].
          * now rewrite (sum_of_one_term m (o + k)%nat (fun j => entry y k * entry x j)).
          * rewrite (entry_beyond x) by easy. rewrite sum_of_zeros; [ring |]. intros j Hj.
            destruct (Nat.eqb_spec j (o + k)); [lia | easy].
        + apply sum_ext. intros j Hj. unfold placed. rewrite entry_of_tabulate by easy. fold o. rewrite <- sum_times_r.
          apply sum_ext. intros k _. destruct (j =? o + k)%nat; cbn; ring. }
      destruct (linear_rows_transpose f (block d i) (placed d i) Hb Ht Hf M w' dw X dX t Hw HX Rf) as [dY [L [HY EY]]].
      exists dY. split; [exact L | split; [exact HY |]]. intros Y_bar [LY _]. exact (EY Y_bar LY).
    Qed.
  End Columns.

  (** F(X) and G(X) side by side: each gets its columns of Y_bar, and what both return is added *)
  Theorem concat_transposes {A U V m m'} {sA : Space A} {sU : Space U} {sV : Space V} {mA : Moving A} {mU : Moving U}
    {mV : Moving V} {lA : Linear A} {u : U} {v : V} {F : operation memory A (Row R m)} {G : operation memory A (Row R m')}
    {f : layer u F} {g : layer v G} : transposes f -> transposes g -> transposes (Concat_layer f g).
  Proof.
    intros Hf Hg M w dw X dX t [Hu Hv] HX [Rf Rg].
    destruct (Hf M _ _ _ _ _ Hu HX Rf) as [dF [LdF [[LF HF] EF]]].
    destruct (Hg M _ _ _ _ _ Hv HX Rg) as [dG [LdG [[LG HG] EG]]].
    assert (forall (x : Row R m) (y : Row R m') j, entry (append x y) j = if (j <? m)%nat then entry x j else entry y (j - m)) as E.
    { clear. intros x y j. unfold entry. revert x j. induction m as [| m IH]; intros x j; [now cbn; rewrite Nat.sub_0_r |].
      destruct j as [| j]; [reflexivity | exact (IH (snd x) j)]. }
    exists (zip append dF dG). assert (length (zip append dF dG) = length dX) as Lz by (rewrite zip_length; congruence).
    split; [exact Lz | split].
    - split; [intros s; rewrite Lz; cbn [Concat_layer value]; unfold Concat, Zip;
        rewrite zip_length, LF; rewrite ?LF, ?LG; congruence |].
      intros i Hi. rewrite Lz in Hi. cbn [Concat_layer value]. unfold Concat, Zip.
      rewrite (nth_of_zip _ _ _ _ origin origin) by congruence.
      replace (fun s => nth i (zip append (value f (fst (w s)) M (X s)) (value g (snd (w s)) M (X s))) origin)
        with (fun s => append (nth i (value f (fst (w s)) M (X s)) origin) (nth i (value g (snd (w s)) M (X s)) origin))
        by (extensionality s; rewrite (nth_of_zip _ _ _ _ origin origin); rewrite ?LF, ?LG; congruence).
      intros j Hj. change (derives (fun s => entry (append (nth i (value f (fst (w s)) M (X s)) origin)
        (nth i (value g (snd (w s)) M (X s)) origin)) j) t (entry (append (nth i dF origin) (nth i dG origin)) j)).
      rewrite E. destruct (Nat.ltb_spec j m) as [Lj | Lj].
      + replace (fun s => entry _ j) with (fun s => entry (nth i (value f (fst (w s)) M (X s)) origin) j)
          by (extensionality s; rewrite E; destruct (Nat.ltb_spec j m); [easy | lia]).
        apply entries_move, HF. congruence.
      + replace (fun s => entry _ j) with (fun s => entry (nth i (value g (snd (w s)) M (X s)) origin) (j - m))
          by (extensionality s; rewrite E; destruct (Nat.ltb_spec j m); [lia | easy]).
        apply entries_move, HG. congruence.
    - intros Y_bar [LY _]. rewrite Lz in LY. cbn [Concat_layer pullback].
      specialize (EF (map left Y_bar) ltac:(apply shape_of_lists; rewrite map_length; congruence)).
      specialize (EG (map right Y_bar) ltac:(apply shape_of_lists; rewrite map_length; congruence)).
      destruct (pullback f _ M (X t) _) as [X_bar u_bar]. destruct (pullback g _ M (X t) _) as [X_bar' v_bar].
      destruct EF as [[Lf _] EF], EG as [[Lg _] EG].
      split; [apply shape_of_lists; rewrite zip_length; congruence |].
      rewrite inner_zip_l by congruence. cbn [inner pairs_move fst snd].
      transitivity (inner (map left Y_bar) dF + inner (map right Y_bar) dG); [| rewrite EF, EG; cbn; ring].
      cbn [inner lists_move]. rewrite !map_length, <- sum_plus. apply sum_ext. intros i Hi.
      rewrite (nth_of_zip _ _ _ _ origin origin) by congruence.
      rewrite (nth_of_map left Y_bar i origin), (nth_of_map right Y_bar i origin) by easy.
      rewrite !inner_of_rows, sum_split. f_equal; apply sum_ext; intros j Hj.
      + change (entry (nth i Y_bar origin) j * entry (append (nth i dF origin) (nth i dG origin)) j =
          entry (left (nth i Y_bar origin)) j * entry (nth i dF origin) j).
        unfold left. rewrite entry_of_tabulate, E by easy. destruct (Nat.ltb_spec j m); [easy | lia].
      + change (entry (nth i Y_bar origin) (m + j) * entry (append (nth i dF origin) (nth i dG origin)) (m + j) =
          entry (right (nth i Y_bar origin)) j * entry (nth i dG origin) j).
        unfold right. rewrite entry_of_tabulate, E by easy. destruct (Nat.ltb_spec (m + j) m); [lia |].
        now replace (m + j - m)%nat with j by lia.
  Qed.

  (** heads side by side that read the same weights: what each gives to them is added *)
  Theorem heads_transpose {A W m m'} {sA : Space A} {sW : Space W} {mA : Moving A} {mW : Moving W} {lA : Linear A}
    {lW : Linear W} {w : W} {F : operation memory A (Row R m)} {G : operation memory A (Row R m')} {f : layer w F}
    {g : layer w G} : transposes f -> transposes g -> transposes (Heads_layer f g).
  Proof. intros Hf Hg. apply tied_transposes. now apply concat_transposes. Qed.

  (* --- A(X)×B(X) --- *)

  (* All entries of rows that move, those too that are not there. *)
  Lemma cells_move {m} (X : R -> list (Row R m)) t dX i j : moves X t dX ->
    derives (fun s => entry (nth i (X s) origin) j) t (entry (nth i dX origin) j).
  Proof.
    intros [L H]. destruct (Nat.lt_ge_cases i (length dX)) as [Hi | Hi]; [now apply entries_move, H |].
    rewrite nth_overflow by easy. replace (fun s => entry (nth i (X s) origin) j) with (fun _ : R => entry (origin : Row R m) j)
      by (extensionality s; now rewrite nth_overflow by (rewrite L; easy)).
    replace (entry origin j) with 0; [apply derives_constant |].
    destruct (Nat.lt_ge_cases j m); [symmetry; now apply entry_of_tabulate | now rewrite entry_beyond].
  Qed.
  Lemma entry_of_origin {m} j : entry (origin : Row R m) j = 0.
  Proof. destruct (Nat.lt_ge_cases j m); [now apply entry_of_tabulate | now rewrite entry_beyond]. Qed.

  Lemma entry_of_combination {m} (a : list R) (V : list (Row R m)) k : (k < m)%nat ->
    entry (combination a V) k = sum_below (length a) (fun j => nth j a 0 * entry (nth j V origin) k).
  Proof.
    intros Hk. unfold combination. rewrite entry_of_tabulate by easy. revert V.
    induction a as [| x a IH]; intros V; [easy |]. change (length (x :: a)) with (1 + length a)%nat. rewrite sum_split.
    destruct V as [| v V]; cbn [zip].
    - assert (forall j, nth j [] (origin : Row R m) = origin) as N by now intros [| j].
      rewrite sum_of_zeros, sum_of_zeros; [cbn; ring | |]; intros j Hj; rewrite N, entry_of_origin; ring.
    - rewrite Sum_cons, IH. f_equal. unfold sum_below. cbn. ring.
  Qed.

  Section Attention.
    Context {I U V : Type} {sI : Space I} {sU : Space U} {sV : Space V} {mI : Moving I} {mU : Moving U} {mV : Moving V}
      {lI : Linear I} {u : U} {v : V}.

    (* A row of numbers of any length that moves, and all its entries. *)
    Lemma list_entry_moves (a : R -> list R) t da j : moves a t da -> derives (fun s => nth j (a s) 0) t (nth j da 0).
    Proof.
      intros [L H]. destruct (Nat.lt_ge_cases j (length da)) as [Hj | Hj]; [exact (H j Hj) |].
      rewrite nth_overflow by easy. replace (fun s => nth j (a s) 0) with (fun _ : R => 0)
        by (extensionality s; now rewrite nth_overflow by (rewrite L; easy)). apply derives_constant.
    Qed.

    (** the product rule d(A×B) = dA×B + A×dB: A gets Y_bar×Bᵀ where it is visible, and B gets Aᵀ×Y_bar *)
    Theorem product_transposes {m} {A : kernel memory I R} {B : operation memory I (Row R m)} {a : layer u A}
      {b : layer v B} : transposes a -> transposes b -> transposes (Product_layer a b).
    Proof.
      intros Ha Hb M w dw X dX t [Hu Hv] HX [Ra Rb].
      destruct (Ha M _ _ _ _ _ Hu HX Ra) as [dA [LdA [HA EA]]].
      destruct (Hb M _ _ _ _ _ Hv HX Rb) as [dB [LdB [HB EB]]].
      set (a_ s := value a (fst (w s)) M (X s)) in *. set (b_ s := value b (snd (w s)) M (X s)) in *.
      assert (forall s, length (a_ s) = length dA) as LA by apply HA.
      assert (forall s, length (b_ s) = length dB) as LB by apply HB.
      assert (forall i s, (i < length dA)%nat -> length (nth i (a_ s) []) = length (nth i dA [])) as La.
      { intros i s Hi. exact (proj1 (proj2 HA i Hi) s). }
      assert (forall i j, (i < length dA)%nat -> derives (fun s => nth j (nth i (a_ s) []) 0) t (nth j (nth i dA []) 0)) as Da.
      { intros i j Hi. apply (list_entry_moves (fun s => nth i (a_ s) [])). exact (proj2 HA i Hi). }
      set (dY_row i := tabulate m (fun k => sum_below (length (nth i dA [])) (fun j =>
        nth j (nth i dA []) 0 * entry (nth j (b_ t) origin) k + nth j (nth i (a_ t) []) 0 * entry (nth j dB origin) k)) : Row R m).
      exists (map dY_row (seq 0 (length dA))).
      assert (length (map dY_row (seq 0 (length dA))) = length dX) as LY by (rewrite map_length, seq_length; congruence).
      assert (forall i, (i < length dA)%nat -> nth i (map dY_row (seq 0 (length dA))) origin = dY_row i) as NY.
      { intros i Hi. rewrite (nth_indep _ _ (dY_row 0%nat)), map_nth, seq_nth by (rewrite ?map_length, ?seq_length; easy). easy. }
      split; [exact LY | split].
      - split; [intros s; cbn; unfold Product; rewrite !map_length, seq_length; apply LA |].
        intros i Hi. rewrite map_length, seq_length in Hi. rewrite NY by easy.
        replace (fun s => nth i (value (Product_layer a b) (w s) M (X s)) origin)
          with (fun s => combination (nth i (a_ s) []) (b_ s)).
        2: { extensionality s. symmetry.
             exact (nth_of_map (fun a => combination a (b_ s)) (a_ s) i [] origin ltac:(now rewrite LA)). }
        intros k Hk. change (derives (fun s => entry (combination (nth i (a_ s) []) (b_ s)) k) t (entry (dY_row i) k)).
        unfold dY_row. rewrite entry_of_tabulate by easy.
        replace (fun s => entry _ k) with (fun s => sum_below (length (nth i dA []))
          (fun j => nth j (nth i (a_ s) []) 0 * entry (nth j (b_ s) origin) k))
          by (extensionality s; now rewrite entry_of_combination, La).
        apply (derives_sum _ (fun j s => nth j (nth i (a_ s) []) 0 * entry (nth j (b_ s) origin) k)). intros j _.
        apply (derives_times (f := fun s => nth j (nth i (a_ s) []) 0) (g := fun s => entry (nth j (b_ s) origin) k));
          [now apply Da | now apply (cells_move b_)].
      - intros Y_bar [LYb _]. rewrite map_length, seq_length in LYb. cbn [Product_layer pullback]. fold (a_ t) (b_ t).
        set (A_bar := zip _ (a_ t) Y_bar). set (B_bar := map _ (seq 0 (length (b_ t)))).
        assert (length A_bar = length dA) as LAb by (unfold A_bar; rewrite zip_length; rewrite LA; congruence).
        assert (length B_bar = length dB) as LBb by (unfold B_bar; rewrite map_length, seq_length; apply LB).
        assert (forall i, (i < length dA)%nat -> nth i A_bar [] =
          map (fun j => dot (nth i Y_bar origin) (nth j (b_ t) origin)) (seq 0 (length (nth i (a_ t) [])))) as NA.
        { intros i Hi. unfold A_bar. now rewrite (nth_of_zip _ _ _ _ [] origin) by (rewrite ?LA; congruence). }
        assert (same_shape A_bar dA) as SA.
        { split; [exact LAb |]. intros i Hi. rewrite LAb in Hi. change (same_shape (nth i A_bar []) (nth i dA [])).
          apply shape_of_lists. rewrite NA, map_length, seq_length by easy. now apply La. }
        specialize (EA A_bar SA). specialize (EB B_bar (shape_of_lists _ _ LBb)).
        destruct (pullback a _ M (X t) A_bar) as [X_bar u_bar]. destruct (pullback b _ M (X t) B_bar) as [X_bar' v_bar].
        destruct EA as [[Lx _] EA], EB as [[Lx' _] EB].
        split; [apply shape_of_lists; rewrite zip_length; congruence |].
        rewrite inner_zip_l by congruence. cbn [inner pairs_move fst snd].
        transitivity (inner A_bar dA + inner B_bar dB); [| rewrite EA, EB; cbn; ring].
        cbn [inner lists_move numbers_move]. rewrite LYb, LAb, LBb.
        (* ⟨A_bar, dA⟩ *)
        assert (sum_below (length dA) (fun i => sum_below (length (nth i A_bar origin))
            (fun j => nth j (nth i A_bar origin) origin * nth j (nth i dA origin) origin)) =
          sum_below (length dA) (fun i => sum_below m (fun k => sum_below (length (nth i dA []))
            (fun j => entry (nth i Y_bar origin) k * (nth j (nth i dA []) 0 * entry (nth j (b_ t) origin) k))))) as E1.
        { apply sum_ext. intros i Hi. change (origin (V := list R)) with (@nil R). change (origin (V := R)) with 0.
          rewrite NA, map_length, seq_length, La by easy. rewrite sum_swap. apply sum_ext. intros j Hj.
          rewrite (nth_indep _ 0 (dot (nth i Y_bar origin) (nth 0%nat (b_ t) origin)))
            by (rewrite map_length, seq_length; easy).
          rewrite (map_nth (fun j => dot (nth i Y_bar origin) (nth j (b_ t) origin))), seq_nth by easy.
          unfold dot. cbn [Nat.add]. rewrite <- sum_times_r. apply sum_ext. intros k _. cbn. ring. }
        (* ⟨B_bar, dB⟩ *)
        assert (sum_below (length dB) (fun j => sum_below m (fun k =>
            nth k (things (nth j B_bar origin)) origin * nth k (things (nth j dB origin)) origin)) =
          sum_below (length dA) (fun i => sum_below m (fun k => sum_below (length (nth i dA []))
            (fun j => entry (nth i Y_bar origin) k * (nth j (nth i (a_ t) []) 0 * entry (nth j dB origin) k))))) as E2.
        { transitivity (sum_below (length dB) (fun j => sum_below m (fun k => sum_below (length dA) (fun i =>
            entry (nth i Y_bar origin) k * (nth j (nth i (a_ t) []) 0 * entry (nth j dB origin) k))))).
          - apply sum_ext. intros j Hj. apply sum_ext. intros k Hk.
            change (entry (nth j B_bar origin) k * entry (nth j dB origin) k = sum_below (length dA) (fun i =>
              entry (nth i Y_bar origin) k * (nth j (nth i (a_ t) []) 0 * entry (nth j dB origin) k))).
            unfold B_bar. rewrite (nth_indep _ origin (combination (map (fun A_i => nth 0 A_i 0) (a_ t)) Y_bar))
              by (rewrite map_length, seq_length, LB; easy).
            rewrite (map_nth (fun j => combination (map (fun A_i => nth j A_i 0) (a_ t)) Y_bar)), seq_nth
              by (rewrite LB; easy).
            cbn [Nat.add]. rewrite entry_of_combination, map_length, LA, <- sum_times_r by easy.
            apply sum_ext. intros i Hi. rewrite (nth_indep _ 0 (nth j [] 0)) by (rewrite map_length, LA; easy).
            rewrite (map_nth (fun A_i => nth j A_i 0)). ring.
          - transitivity (sum_below (length dA) (fun i => sum_below m (fun k => sum_below (length dB) (fun j =>
              entry (nth i Y_bar origin) k * (nth j (nth i (a_ t) []) 0 * entry (nth j dB origin) k))))).
            + transitivity (sum_below (length dB) (fun j => sum_below (length dA) (fun i => sum_below m (fun k =>
                entry (nth i Y_bar origin) k * (nth j (nth i (a_ t) []) 0 * entry (nth j dB origin) k))))).
              * apply sum_ext. intros j _. apply sum_swap.
              * rewrite sum_swap. apply sum_ext. intros i _. apply sum_swap.
            + apply sum_ext. intros i Hi. apply sum_ext. intros k _. apply sum_to_anywhere; intros j Hj.
              * rewrite (nth_overflow dB) by easy. rewrite entry_of_origin. ring.
              * rewrite (nth_overflow (nth i (a_ t) [])) by (rewrite La; easy). ring. }
        change (sum_below (length dB) (fun j => inner (nth j B_bar origin) (nth j dB origin))) with
          (sum_below (length dB) (fun j => sum_below m (fun k =>
            nth k (things (nth j B_bar origin)) origin * nth k (things (nth j dB origin)) origin))).
        etransitivity; [| exact (eq_sym (f_equal2 Rplus E1 E2))]. rewrite <- sum_plus. apply sum_ext. intros i Hi.
        rewrite NY by easy. rewrite <- sum_plus. apply sum_ext. intros k Hk.
        change (entry (nth i Y_bar origin) k * entry (dY_row i) k = sum_below (length (nth i dA []))
            (fun j => entry (nth i Y_bar origin) k * (nth j (nth i dA []) 0 * entry (nth j (b_ t) origin) k)) +
          sum_below (length (nth i dA []))
            (fun j => entry (nth i Y_bar origin) k * (nth j (nth i (a_ t) []) 0 * entry (nth j dB origin) k))).
        unfold dY_row. rewrite entry_of_tabulate, <- sum_times, <- sum_plus by easy. apply sum_ext. intros j _. ring.
    Qed.

    (* --- softmax --- *)

    Lemma entry_of_softmax (s : list R) j : (j < length s)%nat ->
      nth j (softmax s) 0 = exp (nth j s 0) / sum_below (length s) (fun k => exp (nth k s 0)).
    Proof.
      intros H. rewrite softmax_formula, (nth_indep _ 0 (exp 0 / Sum (map exp s))) by now rewrite map_length.
      rewrite (map_nth (fun x => exp x / Sum (map exp s))), (Sum_map_nth exp s 0). reflexivity.
    Qed.

    (* dy_j = y_j (ds_j − Σ_k y_k ds_k) *)
    Lemma softmax_moves (s : R -> list R) t ds : moves s t ds ->
      moves (fun τ => softmax (s τ)) t (map (fun j => nth j (softmax (s t)) 0 *
        (nth j ds 0 - sum_below (length ds) (fun k => nth k (softmax (s t)) 0 * nth k ds 0))) (seq 0 (length ds))).
    Proof.
      intros H. pose proof (proj1 H) as L. split; [intros τ; now rewrite softmax_length, map_length, seq_length |].
      intros j Hj. rewrite map_length, seq_length in Hj. change (origin (V := R)) with 0.
      assert (forall τ, 0 < sum_below (length ds) (fun k => exp (nth k (s τ) 0))) as P.
      { intros τ. rewrite <- (L τ), <- (Sum_map_nth exp (s τ) 0).
        apply (Sum_of_exponentials_is_positive (fun x => x)). intros E. rewrite <- (L τ), E in Hj. cbn in Hj. lia. }
      replace (fun τ => nth j (softmax (s τ)) 0)
        with (fun τ => exp (nth j (s τ) 0) / sum_below (length ds) (fun k => exp (nth k (s τ) 0)))
        by (extensionality τ; rewrite entry_of_softmax, L; rewrite ?L; easy).
      set (g x := nth x (softmax (s t)) 0 * (nth x ds 0 - sum_below (length ds) (fun k => nth k (softmax (s t)) 0 * nth k ds 0))).
      rewrite (nth_indep _ 0 (g 0%nat)), map_nth, seq_nth by (rewrite ?map_length, ?seq_length; easy). cbn [Nat.add]. unfold g.
      assert (forall k, (k < length ds)%nat -> nth k (softmax (s t)) 0 =
        exp (nth k (s t) 0) / sum_below (length ds) (fun k => exp (nth k (s t) 0))) as E
        by (intros k Hk; rewrite entry_of_softmax, L; rewrite ?L; easy).
      rewrite E by easy.
      rewrite (sum_ext (length ds) (fun k => nth k (softmax (s t)) 0 * nth k ds 0)
        (fun k => exp (nth k (s t) 0) * nth k ds 0 / sum_below (length ds) (fun k => exp (nth k (s t) 0))))
        by (intros k Hk; rewrite E by easy; unfold Rdiv; ring).
      rewrite sum_over. set (total := fun τ => sum_below (length ds) (fun k => exp (nth k (s τ) 0))) in *.
      change (derives (fun τ => exp (nth j (s τ) 0) / total τ) t (exp (nth j (s t) 0) / total t *
        (nth j ds 0 - sum_below (length ds) (fun k => exp (nth k (s t) 0) * nth k ds 0) / total t))).
      assert (derives total t (sum_below (length ds) (fun k => exp (nth k (s t) 0) * nth k ds 0))) as D.
      { apply (derives_sum _ (fun k τ => exp (nth k (s τ) 0))). intros k _.
        apply (derives_exp (f := fun τ => nth k (s τ) 0)). now apply list_entry_moves. }
      specialize (P t). pose proof (derives_over (not_eq_sym (Rlt_not_eq _ _ P)) (derives_exp (list_entry_moves s t ds j H)) D)
        as Q.
      eapply eq_rect; [exact Q |]. unfold Rsqr. field. apply not_eq_sym, Rlt_not_eq, P.
    Qed.

    (* ⟨a_bar, da⟩ = ⟨s_bar, ds⟩ *)
    Lemma softmax_pullback_transposes (a a_bar ds : list R) n : length a = n -> length a_bar = n ->
      sum_below n (fun j => nth j a_bar 0 * (nth j a 0 * (nth j ds 0 - sum_below n (fun k => nth k a 0 * nth k ds 0)))) =
      sum_below n (fun j => nth j (softmax_pullback a a_bar) 0 * nth j ds 0).
    Proof.
      intros La Lb. unfold softmax_pullback. rewrite (Sum_zip Mul a a_bar 0 0 n) by easy.
      set (mean := sum_below n (fun i => Mul (nth i a 0) (nth i a_bar 0))).
      set (c := sum_below n (fun k => nth k a 0 * nth k ds 0)).
      transitivity (sum_below n (fun j => nth j a 0 * nth j a_bar 0 * nth j ds 0) - c * mean).
      - unfold mean. rewrite <- sum_times, <- sum_minus. apply sum_ext. intros j _. cbn. ring.
      - replace (c * mean) with (mean * c) by ring. unfold c at 1. rewrite <- sum_times, <- sum_minus.
        apply sum_ext. intros j Hj. rewrite (nth_of_zip _ _ _ _ 0 0) by congruence. cbn. ring.
    Qed.

    (* --- softmax(mask(Q×Kᵀ/c)) --- *)

    (* Row i keeps the first entries, as many as i and the number of keys say. *)
    Definition keeps_the_first (visible : nat -> nat -> nat) (mask : mask (num := R)) : Prop :=
      forall S, mask S = map_index (fun i row => row↾(visible i (length row))) S.

    Lemma scores_row {m} d_head (Q K : list (Row R m)) i : (i < length Q)%nat ->
      nth i (scores d_head Q K) [] = map (fun k => dot (nth i Q origin) k / sqrt (IZR (Z.of_nat d_head))) K.
    Proof.
      intros H. unfold scores. cbv zeta.
      rewrite (nth_indep _ [] (map (fun k => dot origin k / sqrt (IZR (Z.of_nat d_head))) K)) by now rewrite map_length.
      exact (map_nth (fun q => map (fun k => dot q k / sqrt (IZR (Z.of_nat d_head))) K) Q origin i).
    Qed.

    Lemma nth_of_firstn {X} (l : list X) n j d : (j < n)%nat -> nth j (l↾n) d = nth j l d.
    Proof.
      revert l j; induction n; intros [| x l] j H; cbn; try lia; try easy. destruct j; [easy | apply IHn; lia].
    Qed.

    (** softmax(mask(Q×Kᵀ/c)): Q gets S_bar×K/c and K gets S_barᵀ×Q/c, where S_bar is what softmax returns for A_bar *)
    Theorem softmax_kernel_transposes {m} d_head mask visible {Q K : operation memory I (Row R m)} {q : layer u Q}
      {k : layer v K} : keeps_the_first visible mask -> transposes q -> transposes k ->
      transposes (SoftmaxKernel_layer d_head mask q k).
    Proof.
      intros Hmask Hq Hk M w dw X dX t [Hu Hv] HX [Rq Rk].
      destruct (Hq M _ _ _ _ _ Hu HX Rq) as [dQ [LdQ [HQ EQ]]].
      destruct (Hk M _ _ _ _ _ Hv HX Rk) as [dK [LdK [HK EK]]].
      set (q_ s := value q (fst (w s)) M (X s)) in *. set (k_ s := value k (snd (w s)) M (X s)) in *.
      assert (forall s, length (q_ s) = length dQ) as LQ by apply HQ.
      assert (forall s, length (k_ s) = length dK) as LK by apply HK.
      set (c := sqrt (IZR (Z.of_nat d_head))) in *.
      set (n i := Nat.min (visible i (length dK)) (length dK)).
      set (s_ s i := (map (fun k => dot (nth i (q_ s) origin) k / c) (k_ s))↾(visible i (length dK))).
      assert (forall s i, length (s_ s i) = n i) as Ls by (intros; unfold s_; now rewrite firstn_length, map_length, LK).
      assert (forall s i, (i < length dQ)%nat -> nth i (mask (scores d_head (q_ s) (k_ s))) [] = s_ s i) as NS.
      { intros s i Hi. rewrite Hmask. unfold map_index. rewrite (nth_of_map_from _ _ _ _ [])
          by (unfold scores; rewrite map_length, LQ; easy).
        rewrite scores_row by now rewrite LQ. unfold s_. now rewrite map_length, LK. }
      assert (forall s i j, (j < n i)%nat -> nth j (s_ s i) 0 =
        sum_below m (fun l => entry (nth i (q_ s) origin) l * entry (nth j (k_ s) origin) l) / c) as ES.
      { intros s i j Hj. unfold s_. rewrite nth_of_firstn by (unfold n in Hj; lia).
        rewrite (nth_indep _ 0 (dot (nth i (q_ s) origin) origin / c)) by (rewrite map_length, LK; unfold n in Hj; lia).
        rewrite (map_nth (fun k => dot (nth i (q_ s) origin) k / c)). reflexivity. }
      set (ds i := map (fun j => sum_below m (fun l => entry (nth i dQ origin) l * entry (nth j (k_ t) origin) l +
        entry (nth i (q_ t) origin) l * entry (nth j dK origin) l) / c) (seq 0 (n i))).
      assert (forall i, length (ds i) = n i) as Lds by (intros; unfold ds; now rewrite map_length, seq_length).
      assert (forall i j, (j < n i)%nat -> nth j (ds i) 0 = sum_below m (fun l =>
        entry (nth i dQ origin) l * entry (nth j (k_ t) origin) l +
        entry (nth i (q_ t) origin) l * entry (nth j dK origin) l) / c) as EdS.
      { intros i j Hj. unfold ds. set (g j := _ / c). rewrite (nth_indep _ 0 (g 0%nat)), map_nth, seq_nth
          by (rewrite ?map_length, ?seq_length; easy). easy. }
      assert (forall i, (i < length dQ)%nat -> moves (fun s => s_ s i) t (ds i)) as MS.
      { intros i Hi. split; [intros s; now rewrite Ls, Lds |]. intros j Hj. rewrite Lds in Hj.
        change (origin (V := R)) with 0. rewrite EdS by easy.
        replace (fun s => nth j (s_ s i) 0) with (fun s => sum_below m (fun l =>
          entry (nth i (q_ s) origin) l * entry (nth j (k_ s) origin) l) / c) by (extensionality s; now rewrite ES).
        apply derives_over_constant.
        apply (derives_sum _ (fun l s => entry (nth i (q_ s) origin) l * entry (nth j (k_ s) origin) l)). intros l _.
        apply (derives_times (f := fun s => entry (nth i (q_ s) origin) l) (g := fun s => entry (nth j (k_ s) origin) l));
          [now apply (cells_move q_) | now apply (cells_move k_)]. }
      set (dA i := map (fun j => nth j (softmax (s_ t i)) 0 * (nth j (ds i) 0 -
        sum_below (length (ds i)) (fun k => nth k (softmax (s_ t i)) 0 * nth k (ds i) 0))) (seq 0 (length (ds i)))).
      exists (map dA (seq 0 (length dQ))).
      assert (forall i, (i < length dQ)%nat -> nth i (map dA (seq 0 (length dQ))) [] = dA i) as NA.
      { intros i Hi. rewrite (nth_indep _ _ (dA 0%nat)), map_nth, seq_nth by (rewrite ?map_length, ?seq_length; easy). easy. }
      assert (forall s, length (mask (scores d_head (q_ s) (k_ s))) = length dQ) as LM.
      { intros s. rewrite Hmask. unfold map_index, scores. now rewrite map_from_length, map_length, LQ. }
      assert (forall s i, (i < length dQ)%nat -> nth i (map softmax (mask (scores d_head (q_ s) (k_ s)))) [] = softmax (s_ s i))
        as NV.
      { intros s i Hi. change (@nil R) with (softmax (num := R) []) at 1. now rewrite map_nth, NS. }
      split; [rewrite map_length, seq_length; exact LdQ | split].
      - split; [intros s; cbn; unfold SoftmaxKernel; rewrite !map_length, seq_length; apply LM |].
        intros i Hi. rewrite map_length, seq_length in Hi. change (origin (V := list R)) with (@nil R). rewrite NA by easy.
        replace (fun s => nth i (value (SoftmaxKernel_layer d_head mask q k) (w s) M (X s)) [])
          with (fun s => softmax (s_ s i)) by (extensionality s; symmetry; now apply NV).
        apply softmax_moves. now apply MS.
      - intros A_bar [LA SA]. rewrite map_length, seq_length in LA. cbn [SoftmaxKernel_layer pullback]. fold (q_ t) (k_ t).
        change (Sqrt (number (Z.of_nat d_head))) with c. change (fun s : R => (s / c)%num) with (fun s : R => s / c).
        change (number (num := R) 0) with 0.
        set (A := map softmax (mask (scores d_head (q_ t) (k_ t)))).
        assert (length A = length dQ) as LenA by (unfold A; now rewrite map_length).
        set (S_bar := map (map (fun s => s / c)) (zip softmax_pullback A A_bar)).
        set (Q_bar := map (fun s_bar => combination s_bar (k_ t)) S_bar).
        set (K_bar := map (fun j => combination (map (fun s_bar => nth j s_bar 0) S_bar) (q_ t)) (seq 0 (length (k_ t)))).
        assert (length S_bar = length dQ) as LSb by (unfold S_bar; rewrite map_length, zip_length; congruence).
        assert (length Q_bar = length dQ) as LQb by (unfold Q_bar; now rewrite map_length).
        assert (length K_bar = length dK) as LKb by (unfold K_bar; now rewrite map_length, seq_length).
        assert (forall i, (i < length dQ)%nat -> length (nth i A_bar []) = n i) as LAi.
        { intros i Hi. destruct (SA i ltac:(congruence)) as [Li _]. change (origin (V := list R)) with (@nil R) in Li.
          rewrite NA in Li by easy. rewrite Li. unfold dA. now rewrite map_length, seq_length. }
        assert (forall i, (i < length dQ)%nat -> nth i S_bar [] =
          map (fun s => s / c) (softmax_pullback (softmax (s_ t i)) (nth i A_bar []))) as NSb.
        { intros i Hi. unfold S_bar. change (@nil R) with (map (fun s => s / c) []) at 1. rewrite map_nth. f_equal.
          rewrite (nth_of_zip _ _ _ _ [] []) by congruence. unfold A. now rewrite NV. }
        assert (forall i, (i < length dQ)%nat -> length (nth i S_bar []) = n i) as LSi.
        { intros i Hi. rewrite NSb, map_length by easy. unfold softmax_pullback.
          rewrite zip_length; rewrite softmax_length, Ls; [easy | symmetry; now apply LAi]. }
        specialize (EQ Q_bar (shape_of_lists _ _ LQb)). specialize (EK K_bar (shape_of_lists _ _ LKb)).
        destruct (pullback q _ M (X t) Q_bar) as [X_bar u_bar]. destruct (pullback k _ M (X t) K_bar) as [X_bar' v_bar].
        destruct EQ as [[Lx _] EQ], EK as [[Lx' _] EK].
        split; [apply shape_of_lists; rewrite zip_length; congruence |].
        rewrite inner_zip_l by congruence. cbn [inner pairs_move fst snd].
        transitivity (inner Q_bar dQ + inner K_bar dK); [| rewrite EQ, EK; cbn; ring].
        set (term1 i l j := nth j (nth i S_bar []) 0 * (entry (nth i dQ origin) l * entry (nth j (k_ t) origin) l)).
        set (term2 i l j := nth j (nth i S_bar []) 0 * (entry (nth i (q_ t) origin) l * entry (nth j dK origin) l)).
        assert (inner Q_bar dQ = sum_below (length dQ) (fun i => sum_below m (fun l => sum_below (n i) (term1 i l)))) as E1.
        { cbn [inner lists_move]. rewrite LQb. apply sum_ext. intros i Hi. rewrite inner_of_rows. apply sum_ext. intros l Hl.
          unfold Q_bar. rewrite (nth_indep _ origin (combination [] (k_ t))) by (rewrite map_length; congruence).
          rewrite (map_nth (fun s_bar => combination s_bar (k_ t))), entry_of_combination, LSi, <- sum_times_r by easy.
          apply sum_ext. intros j _. unfold term1. ring. }
        assert (inner K_bar dK = sum_below (length dQ) (fun i => sum_below m (fun l => sum_below (n i) (term2 i l)))) as E2.
        { transitivity (sum_below (length dK) (fun j => sum_below m (fun l => sum_below (length dQ) (fun i => term2 i l j)))).
          - cbn [inner lists_move]. rewrite LKb. apply sum_ext. intros j Hj. rewrite inner_of_rows. apply sum_ext. intros l Hl.
            unfold K_bar. rewrite (nth_indep _ origin (combination (map (fun s_bar => nth 0 s_bar 0) S_bar) (q_ t)))
              by (rewrite map_length, seq_length, LK; easy).
            rewrite (map_nth (fun j => combination (map (fun s_bar => nth j s_bar 0) S_bar) (q_ t))), seq_nth
              by (rewrite LK; easy).
            cbn [Nat.add]. rewrite entry_of_combination, map_length, LSb, <- sum_times_r by easy.
            apply sum_ext. intros i Hi. unfold term2. rewrite (nth_indep _ 0 (nth j [] 0)) by (rewrite map_length; congruence).
            rewrite (map_nth (fun s_bar => nth j s_bar 0)). ring.
          - transitivity (sum_below (length dQ) (fun i => sum_below m (fun l => sum_below (length dK) (term2 i l)))).
            + transitivity (sum_below (length dK) (fun j => sum_below (length dQ) (fun i => sum_below m (fun l => term2 i l j)))).
              * apply sum_ext. intros j _. apply sum_swap.
              * rewrite sum_swap. apply sum_ext. intros i _. apply sum_swap.
            + apply sum_ext. intros i Hi. apply sum_ext. intros l _. apply sum_to_anywhere; intros j Hj; unfold term2.
              * rewrite (nth_overflow dK) by easy. rewrite entry_of_origin. ring.
              * rewrite (nth_overflow (nth i S_bar [])) by (rewrite LSi; easy). ring. }
        rewrite E1, E2, <- sum_plus. cbn [inner lists_move numbers_move]. rewrite LA. apply sum_ext. intros i Hi.
        change (origin (V := list R)) with (@nil R). change (origin (V := R)) with 0.
        rewrite NA, LAi, <- sum_plus by easy.
        transitivity (sum_below (n i) (fun j => nth j (nth i A_bar []) 0 * (nth j (softmax (s_ t i)) 0 *
          (nth j (ds i) 0 - sum_below (n i) (fun k => nth k (softmax (s_ t i)) 0 * nth k (ds i) 0))))).
        { apply sum_ext. intros j Hj. unfold dA. rewrite Lds.
          now rewrite (nth_of_map _ _ _ 0%nat), seq_nth by (rewrite ?seq_length; easy). }
        rewrite softmax_pullback_transposes by (try rewrite softmax_length; try apply Ls; now apply LAi).
        transitivity (sum_below (n i) (fun j => sum_below m (fun l => term1 i l j + term2 i l j))).
        { apply sum_ext. intros j Hj. rewrite EdS by easy. unfold Rdiv. rewrite <- Rmult_assoc, Rmult_comm.
          rewrite <- Rmult_assoc, (Rmult_comm (/ c)).
          replace (nth j (softmax_pullback (softmax (s_ t i)) (nth i A_bar [])) 0 * / c) with (nth j (nth i S_bar []) 0).
          2: { rewrite NSb by easy. rewrite (nth_indep _ 0 (0 / c)) by (rewrite <- (LSi i Hi), NSb in Hj by easy; exact Hj).
               now rewrite (map_nth (fun s => s / c)). }
          rewrite <- sum_times. apply sum_ext. intros l _. unfold term1, term2. ring. }
        rewrite sum_swap. apply sum_ext. intros l _. apply sum_plus.
    Qed.

    Lemma Causal_keeps_the_first : keeps_the_first (fun i _ => S i) Causal.
    Proof. intros S. reflexivity. Qed.
    Lemma Unmasked_keeps_the_first : keeps_the_first (fun _ n => n) Unmasked.
    Proof.
      intros S. unfold Unmasked, map_index. generalize 0%nat. induction S as [| row S IH]; intros p; cbn; [easy |].
      now rewrite <- IH, firstn_all.
    Qed.
  End Attention.

  (* --- What is done to each row by itself, or by its position --- *)

  (* The equation for one row. *)
  Definition row_transposes {A B W} {sA : Space A} {sB : Space B} {sW : Space W} {mA : Moving A} {mB : Moving B}
    {mW : Moving W} (f : W -> A -> B) (p : W -> A -> B -> A * W) (regular : W -> A -> Prop) : Prop :=
    forall (w : R -> W) dw (x : R -> A) dx t, moves w t dw -> moves x t dx -> regular (w t) (x t) ->
      exists dy, moves (fun s => f (w s) (x s)) t dy /\
        forall y_bar, inner y_bar dy = inner (fst (p (w t) (x t) y_bar)) dx + inner (snd (p (w t) (x t) y_bar)) dw.

  Section EachRow.
    Context {A B W : Type} {sA : Space A} {sB : Space B} {sW : Space W} {mA : Moving A} {mB : Moving B} {mW : Moving W}
      {lA : Linear A} {lB : Linear B} {lW : Linear W}.

    (** what is done to each row: each returns its own, and what all return to the weights is added *)
    Theorem by_position_transposes (w0 : W) (f : nat -> W -> A -> B) (p : nat -> W -> A -> B -> A * W) regular :
      (forall i, row_transposes (f i) (p i) regular) ->
      transposes (memory := memory) (by_position_layer w0 f p regular).
    Proof.
      intros Hf M w dw X dX t Hw HX Rf. cbn [by_position_layer Pullbacks.regular] in Rf.
      pose proof (proj1 HX) as LX.
      destruct (choice_of_rows (length dX) (fun i dy =>
        moves (fun s => f i (w s) (nth i (X s) origin)) t dy /\ forall y_bar, inner y_bar dy =
          inner (fst (p i (w t) (nth i (X t) origin) y_bar)) (nth i dX origin) +
          inner (snd (p i (w t) (nth i (X t) origin) y_bar)) dw)) as [dY [LY EY]].
      { intros i Hi. apply (Hf i w dw (fun s => nth i (X s) origin) (nth i dX origin) t Hw (proj2 HX i Hi)).
        apply (proj1 (Forall_forall _ _) Rf), nth_In. now rewrite LX. }
      exists dY. split; [exact LY | split].
      - split; [intros s; cbn; unfold by_position, map_index; rewrite map_from_length; congruence |].
        intros i Hi. rewrite LY in Hi.
        replace (fun s => nth i (value _ (w s) M (X s)) origin) with (fun s => f i (w s) (nth i (X s) origin)).
        2: { extensionality s. cbn [by_position_layer value]. unfold by_position, map_index.
             now rewrite (nth_of_map_from _ _ _ _ origin) by now rewrite LX. }
        now apply EY.
      - intros Y_bar [LYb _]. cbn [by_position_layer pullback].
        set (P := combine (X t) Y_bar).
        assert (length P = length dX) as LP by (unfold P; rewrite combine_length, LX; lia).
        set (bars := map_index (fun i xy => p i (w t) (fst xy) (snd xy)) P).
        assert (length bars = length dX) as Lb by (unfold bars, map_index; now rewrite map_from_length).
        assert (forall i, (i < length dX)%nat -> nth i bars (origin, origin) = p i (w t) (nth i (X t) origin) (nth i Y_bar origin))
          as Nb.
        { intros i Hi. unfold bars, map_index. rewrite (nth_of_map_from _ _ _ _ (origin, origin)) by now rewrite LP.
          unfold P. rewrite combine_nth by (rewrite LX; congruence). reflexivity. }
        split; [apply shape_of_lists; now rewrite map_length |].
        rewrite inner_total, map_map, (Sum_map_nth _ bars (origin, origin)), Lb.
        cbn [inner lists_move]. rewrite map_length, Lb, LYb, LY, <- sum_plus. apply sum_ext. intros i Hi.
        rewrite (proj2 (EY i Hi)), <- Nb by easy. f_equal.
        now rewrite (nth_of_map fst bars i (origin, origin)) by now rewrite Lb.
    Qed.

    (** what is done to each row in the same way has the transpose of its derivative as its pullback, if one row has *)
    Theorem each_row_transposes (w0 : W) (f : W -> A -> B) (p : W -> A -> B -> A * W) regular :
      row_transposes f p regular -> transposes (memory := memory) (each_row_layer w0 f p regular).
    Proof.
      intros Hf M w dw X dX t Hw HX Rf.
      destruct (by_position_transposes w0 (fun _ => f) (fun _ => p) regular (fun _ => Hf) M w dw X dX t Hw HX Rf)
        as [dY [LY [HY EY]]].
      exists dY. split; [exact LY | split; [| exact EY]].
      refine (eq_rect _ (fun γ => moves γ t dY) HY _ _). extensionality s.
      exact (map_from_without_position (f (w s)) 0 (X s)).
    Qed.
  End EachRow.
End Rules.

(* --- The leaves --- *)

Lemma cell_moves {r c} (W : R -> Matrix R r c) t dW i j : (i < r)%nat -> moves W t dW ->
  derives (fun s => entry (row (W s) i) j) t (entry (row dW i) j).
Proof. intros Hi H. apply entries_move. exact (H i Hi). Qed.

Lemma inner_of_matrices {r c} (W V : Matrix R r c) :
  inner W V = sum_below r (fun i => sum_below c (fun j => entry (row W i) j * entry (row V i) j)).
Proof. reflexivity. Qed.

Lemma row_beyond {r c} (W : Matrix R r c) i : (r <= i)%nat -> row W i = origin.
Proof. intros H. unfold row. rewrite nth_overflow by now rewrite things_length. reflexivity. Qed.

(* ⟨the matrix whose row i is x, W⟩ = ⟨x, W_i⟩ *)
Lemma inner_only_row {r c} i (x : Row R c) (W : Matrix R r c) : inner (only_row i x) W = inner x (row W i).
Proof.
  transitivity (sum_below r (fun k => if (k =? i)%nat then inner x (row W k) else 0)).
  - cbn [inner rows_move]. apply sum_ext. intros k Hk. unfold only_row. rewrite nth_of_tabulate by easy.
    destruct (k =? i)%nat; [reflexivity | apply sum_of_zeros; intros j Hj].
    change (entry (origin : Row R c) j * entry (row W k) j = 0). rewrite entry_of_origin. ring.
  - destruct (Nat.lt_ge_cases i r) as [Hi | Hi]; [now rewrite (sum_of_one_term r i (fun k => inner x (row W k))) |].
    rewrite row_beyond, sum_of_zeros by first [easy | intros k Hk; destruct (Nat.eqb_spec k i); [lia | easy]].
    symmetry. apply sum_of_zeros. intros j Hj. change (entry x j * entry (origin : Row R c) j = 0).
    rewrite entry_of_origin. ring.
Qed.

Lemma rows_of_matrix_move {r c} (W : R -> Matrix R r c) t dW i : moves W t dW ->
  moves (fun s => row (W s) i) t (row dW i).
Proof.
  intros H. destruct (Nat.lt_ge_cases i r) as [Hi | Hi]; [exact (H i Hi) |].
  rewrite row_beyond by easy. replace (fun s => row (W s) i) with (fun _ : R => origin : Row R c)
    by (extensionality s; now rewrite row_beyond).
  intros j Hj. change (derives (fun _ => entry (origin : Row R c) j) t (entry (origin : Row R c) j)).
  rewrite entry_of_origin. apply derives_constant.
Qed.

Lemma sums_of_rows_move {m} (x y : R -> Row R m) t dx dy : moves x t dx -> moves y t dy ->
  moves (fun s => plus (x s) (y s)) t (plus dx dy).
Proof. exact (moves_sum x y t dx dy). Qed.
Lemma inner_plus {m} (u x y : Row R m) : inner u (plus x y) = inner u x + inner u y.
Proof. exact (inner_sum_r u x y). Qed.

Section Leaves.
  Context {memory : Type}.

  (** Em: row x_i of W_e gets Y_bar_i *)
  Theorem Embedding_transposes {vocab_size d_model} (W_e : Matrix R vocab_size d_model) :
    transposes (Embedding_layer (memory := memory) W_e).
  Proof.
    apply each_row_transposes. intros W dW x dx t HW Hx _. exists (row dW (x t)). split.
    - replace (fun s => row (W s) (x s)) with (fun s => row (W s) (x t)) by (extensionality s; now rewrite (Hx s)).
      now apply rows_of_matrix_move.
    - intros y_bar. cbn [fst snd]. rewrite inner_only_row. cbn. ring.
  Qed.

  (** PE: X_bar = Y_bar, and row i of PE gets Y_bar_i *)
  Theorem PositionalEncoding_transposes {max_len d_model} (PE : Matrix R max_len d_model) :
    transposes (PositionalEncoding_layer (memory := memory) PE).
  Proof.
    apply by_position_transposes. intros i W dW x dx t HW Hx _. exists (plus dx (row dW i)). split.
    - apply sums_of_rows_move; [exact Hx | now apply rows_of_matrix_move].
    - intros y_bar. cbn [fst snd]. now rewrite inner_only_row, inner_plus.
  Qed.

  (** X + B: X_bar = Y_bar and B_bar = Σ_i Y_bar_i *)
  Theorem Plus_transposes {c} (B : Row R c) : transposes (Plus_layer (memory := memory) B).
  Proof.
    apply each_row_transposes. intros w dw x dx t Hw Hx _. exists (plus dx dw). split.
    - now apply sums_of_rows_move.
    - intros y_bar. cbn [fst snd]. apply inner_plus.
  Qed.

  (** X×W: X_bar = Y_bar×Wᵀ and W_bar = Xᵀ×Y_bar *)
  Theorem Times_transposes {r c} (W : Matrix R r c) : transposes (Times_layer (memory := memory) W).
  Proof.
    apply each_row_transposes. intros w dw x dx t Hw Hx _.
    exists (tabulate c (fun j => sum_below r (fun k => entry dx k * entry (row (w t) k) j + entry (x t) k * entry (row dw k) j))).
    split.
    - apply row_moves. intros j Hj. apply (derives_sum _ (fun k s => entry (x s) k * entry (row (w s) k) j)). intros k Hk.
      apply (derives_times (f := fun s => entry (x s) k) (g := fun s => entry (row (w s) k) j));
        [now apply entries_move | now apply cell_moves].
    - intros y_bar. cbn [fst snd]. rewrite !inner_of_rows, inner_of_matrices.
      transitivity (sum_below r (fun k => sum_below c (fun j => entry y_bar j * (entry dx k * entry (row (w t) k) j) +
        entry y_bar j * (entry (x t) k * entry (row dw k) j)))).
      + rewrite sum_swap. apply sum_ext. intros j Hj. rewrite entry_of_tabulate, <- sum_times by easy. apply sum_ext.
        intros k _. ring.
      + rewrite <- sum_plus. apply sum_ext. intros k Hk. rewrite sum_plus. f_equal.
        * unfold times. rewrite entry_of_tabulate by easy. change (Mul (num := R)) with Rmult. rewrite <- sum_times_r.
          apply sum_ext. intros j Hj.
          replace (entry (row (transpose (w t)) j) k) with (entry (row (w t) k) j); [ring |].
          unfold transpose, row at 2. rewrite nth_of_tabulate, entry_of_tabulate by easy. reflexivity.
        * apply sum_ext. intros j Hj. unfold row at 2. rewrite nth_of_tabulate, entry_of_tabulate by easy. cbn. ring.
  Qed.

  (** ReLU, where no entry of X is 0: x_bar = ReLU′(x)·y_bar *)
  Theorem ReLU_transposes {c} : transposes (ReLU_layer (memory := memory) (num := R) (c := c)).
  Proof.
    apply each_row_transposes. intros w dw x dx t _ Hx Regular.
    exists (tabulate c (fun j => ReluDerivative (entry (x t) j) * entry dx j)). split.
    - apply row_moves. intros j Hj. apply (derives_relu (f := fun s => entry (x s) j)); [now apply Regular | now apply entries_move].
    - intros y_bar. cbn [fst snd]. rewrite !inner_of_rows. cbn [inner nothing_moves]. rewrite Rplus_0_r. apply sum_ext.
      intros j Hj. rewrite !entry_of_tabulate by easy. cbn [Mul real_numbers]. ring.
  Qed.
End Leaves.
