(* SPDX-License-Identifier: MIT *)
(* Over any numbers. *)
(* Extending a state row by row equals computing at once. (tlm/algebra/application.hpp: State and advance.)

   What was computed for the rows X stands when rows are appended, T(X ++ Y)|length X = T(X): that is what "autoregressive"
   says. So an operation may keep a state, from which it makes the rows that are new. (Of attention the state is known as the
   KV cache.) How it is made of the states of its parts is said here for each form by the form's name, Composition_extension
   for instance, so that it can be exported for a model like the model itself. No law of arithmetic is needed. *)

From tlm Require Export Layers.
Local Open Scope num_scope.

(* The rows of T(X ++ Y) that belong to Y. *)
Definition new_rows {memory A B} (T : operation memory A B) (M : list memory) (X Y : list A) : list B :=
  skipn (length X) (T M (X ++ Y)).

(* A way to extend T, which is autoregressive: a state, what it is at the beginning, and a step from a state and further
   rows to the next state and the new rows of T. `remembers` says of which rows X a state is the state. *)
Record extension {memory A B} (T : operation memory A B) := {
  stands : autoregressive T;
  state : Type;
  beginning : list memory -> state;
  extend : list memory -> state -> list A -> state * list B;
  remembers : list memory -> list A -> state -> Prop;
  at_the_beginning : forall M, remembers M [] (beginning M);
  a_step : forall M X s Y, remembers M X s ->
    remembers M (X ++ Y) (fst (extend M s Y)) /\ snd (extend M s Y) = new_rows T M X Y;
}.
Arguments stands {memory A B T}. Arguments state {memory A B T}. Arguments beginning {memory A B T}.
Arguments extend {memory A B T}. Arguments remembers {memory A B T}. Arguments at_the_beginning {memory A B T}.
Arguments a_step {memory A B T}.

(* All that is made of pieces, one after the other. *)
Fixpoint extended_from {memory A B} {T : operation memory A B} (e : extension T) M (s : state e) (pieces : list (list A))
  : list B :=
  match pieces with
  | [] => []
  | Y :: pieces => snd (extend e M s Y) ++ extended_from e M (fst (extend e M s Y)) pieces
  end.
Definition extended {memory A B} {T : operation memory A B} (e : extension T) M := extended_from e M (beginning e M).

(* --- What the loss may read. (Article, "Evaluation (the loss function)".) --- *)

Section Reading.
  Context {memory A B : Type} {T : operation memory A B}.

  (* "we will be interested only in the first n rows T(X)|n": the row after the last token need not be computed. *)
  (** the loss may read T(X|n) for T(X)|n, if T is autoregressive *)
  Theorem loss_reads_the_first_rows (M : list memory) (X : list A) n :
    autoregressive T -> length X = S n -> (T M X)↾n = T M (X↾n).
  Proof. intros H L. destruct (H M X) as [_ E]. symmetry. apply E. lia. Qed.

  (* "the log distribution Y[k] is a function of (x_1, …, x_{k−1})": what is behind row k of X does not count. *)
  (** T(X)|k is a function of X|k, if T is autoregressive *)
  Theorem rows_depend_on_the_past (M : list memory) (X X' : list A) (k : nat) :
    autoregressive T -> (k <= length X)%nat -> (k <= length X')%nat -> X↾k = X'↾k -> (T M X)↾k = (T M X')↾k.
  Proof. intros H L L' E. now rewrite <- (proj2 (H M X)), <- (proj2 (H M X')), E. Qed.
End Reading.

Section Decoding.
  Context {memory : Type}.

  (** what was computed for X stands when rows are appended, if T is autoregressive *)
  Theorem earlier_rows_stand {A B} {T : operation memory A B} : autoregressive T ->
    forall M X Y, T M (X ++ Y) = T M X ++ new_rows T M X Y.
  Proof.
    intros H M X Y. unfold new_rows. destruct (H M (X ++ Y)) as [_ E].
    rewrite <- (firstn_skipn (length X) (T M (X ++ Y))) at 1. f_equal.
    rewrite <- E by (rewrite app_length; lia). now rewrite firstn_app, firstn_all, Nat.sub_diag, app_nil_r.
  Qed.

  Lemma nothing_of_nothing {A B} {T : operation memory A B} : autoregressive T -> forall M, T M [] = [].
  Proof. intros H M. destruct (H M []) as [L _]. now destruct (T M []). Qed.

  (* However X is cut into pieces, what is made of them, one under the other, is T(X). *)
  (** extending a state by pieces, row by row for instance, equals computing at once *)
  Theorem extending_is_computing_at_once {A B} {T : operation memory A B} (e : extension T) :
    forall M pieces, extended e M pieces = T M (concat pieces).
  Proof.
    intros M pieces. unfold extended.
    assert (forall X s, remembers e M X s -> T M X ++ extended_from e M s pieces = T M (X ++ concat pieces)) as G.
    { induction pieces as [| Y pieces IH]; intros X s R; cbn; [now rewrite !app_nil_r |].
      destruct (a_step e M X s Y R) as [R' E].
      rewrite E, app_assoc, <- (earlier_rows_stand (stands e)), app_assoc. now apply IH. }
    specialize (G [] _ (at_the_beginning e M)). rewrite (nothing_of_nothing (stands e)) in G. exact G.
  Qed.

  (* --- States: nothing, how many rows there were, those of the parts, and the rows of keys and values --- *)

  Lemma skipn_of_app {A} (X Y : list A) n : n = length X -> skipn n (X ++ Y) = Y.
  Proof. intros ->. now rewrite skipn_app, skipn_all, Nat.sub_diag. Qed.

  (* What is done to each row by itself needs no state. *)
  Program Definition each_row_extension {A B} (f : A -> B) : extension (each_row (memory := memory) f) := {|
    stands := rowwise_is_autoregressive (each_row_is_rowwise f);
    state := unit; beginning _ := tt; extend M s Y := (s, map f Y); remembers M X s := True |}.
  Next Obligation. split; [easy |]. unfold new_rows, each_row. now rewrite map_app, skipn_of_app by (now rewrite map_length). Qed.

  (* PE remembers how many rows there were. *)
  Program Definition by_position_extension {A B} (f : nat -> A -> B) : extension (by_position (memory := memory) f) := {|
    stands := by_position_is_autoregressive f;
    state := nat; beginning _ := 0%nat; extend M s Y := ((s + length Y)%nat, map_from f s Y);
    remembers M X s := s = length X |}.
  Next Obligation.
    split; [now rewrite app_length |]. unfold new_rows, by_position, map_index.
    now rewrite map_from_skipn, skipn_of_app.
  Qed.

  Program Definition Composition_extension {A B C} {G : operation memory B C} {F : operation memory A B}
    (eG : extension G) (eF : extension F) : extension (G ∘ F) := {|
    stands := composition_is_autoregressive (stands eG) (stands eF);
    state := state eG * state eF;
    beginning M := (beginning eG M, beginning eF M);
    extend M s Y := let (f, F_Y) := extend eF M (snd s) Y in let (g, G_Y) := extend eG M (fst s) F_Y in ((g, f), G_Y);
    remembers M X s := remembers eG M (F M X) (fst s) /\ remembers eF M X (snd s) |}.
  Next Obligation.
    split; [| apply at_the_beginning]. rewrite (nothing_of_nothing (stands eF)). apply at_the_beginning.
  Qed.
  Next Obligation.
    cbn in *. destruct (a_step eF M X s0 Y H0) as [RF EF]. destruct (extend eF M s0 Y) as [f F_Y]. cbn in *. subst F_Y.
    destruct (a_step eG M (F M X) s (new_rows F M X Y) H) as [RG EG].
    destruct (extend eG M s (new_rows F M X Y)) as [g G_Y]. cbn in *. subst G_Y.
    rewrite <- (earlier_rows_stand (stands eF)) in RG. split; [easy |]. unfold new_rows at 1 3, Composition.
    rewrite <- (earlier_rows_stand (stands eF)). now rewrite (proj1 (stands eF M X)).
  Qed.

  Program Definition Zip_extension {A B B' C} (f : B -> B' -> C) {F : operation memory A B} {G : operation memory A B'}
    (eF : extension F) (eG : extension G) : extension (Zip f F G) := {|
    stands := zip_is_autoregressive f (stands eF) (stands eG);
    state := state eF * state eG;
    beginning M := (beginning eF M, beginning eG M);
    extend M s Y := let (sF, F_Y) := extend eF M (fst s) Y in let (sG, G_Y) := extend eG M (snd s) Y in
                    ((sF, sG), zip f F_Y G_Y);
    remembers M X s := remembers eF M X (fst s) /\ remembers eG M X (snd s) |}.
  Next Obligation. split; apply at_the_beginning. Qed.
  Next Obligation.
    cbn in *. destruct (a_step eF M X s Y H) as [RF EF], (a_step eG M X s0 Y H0) as [RG EG].
    destruct (extend eF M s Y) as [sF F_Y], (extend eG M s0 Y) as [sG G_Y]. cbn in *. subst. split; [easy |].
    unfold new_rows, Zip. apply zip_skipn.
  Qed.

  Program Definition identity_extension {A} : extension (identity (memory := memory) (A := A)) := {|
    stands := rowwise_is_autoregressive identity_is_rowwise;
    state := unit; beginning _ := tt; extend M s Y := (s, Y); remembers M X s := True |}.
  Next Obligation. split; [easy |]. unfold new_rows, identity. now rewrite skipn_of_app. Qed.

  Definition Residual_extension {num} {arithmetic : Arithmetic num} {m} {F : operation memory (Row num m) (Row num m)}
    (eF : extension F) : extension (Residual F) := Zip_extension plus identity_extension eF.
  Definition Concat_extension {A num m m'} {F : operation memory A (Row num m)} {G : operation memory A (Row num m')}
    (eF : extension F) (eG : extension G) : extension (Concat F G) := Zip_extension append eF eG.

  Section Attention.
    Context {A num : Type} {arithmetic : Arithmetic num} {m m' : nat}.

    Definition BlockOfColumns_extension (d i : nat) {F : operation memory A (Row num m)} (eF : extension F)
      : extension (BlockOfColumns d i F) := Composition_extension (each_row_extension (block d i)) eF.

    (* The rows of softmax(◺(Q×Kᵀ/c)) that belong to queries which are the last ones: the first of them sees `earlier` keys
       and one. *)
    Definition kernel_of_last (d_head earlier : nat) (queries keys : list (Row num m)) : list (list num) :=
      map softmax (map_from (fun i row => row↾(S i)) earlier (scores d_head queries keys)).

    (* softmax(◺(Q(X)×K(X)ᵀ/c)) remembers the rows of K(X), which are not computed again. *)
    Program Definition SoftmaxKernel_extension (d_head : nat) {Q K : operation memory A (Row num m)}
      (eQ : extension Q) (eK : extension K) : extension (SoftmaxKernel d_head Causal Q K) := {|
      stands := proj1 (softmax_kernel_is_causal Causal_is_lower_triangular (stands eQ) (stands eK));
      state := state eQ * state eK * list (Row num m);
      beginning M := ((beginning eQ M, beginning eK M), []);
      extend M s Y :=
        let '((q, k), keys) := s in
        let (q, new_queries) := extend eQ M q Y in
        let (k, new_keys) := extend eK M k Y in
        ((q, k, keys ++ new_keys), kernel_of_last d_head (length keys) new_queries (keys ++ new_keys));
      remembers M X s := let '((q, k), keys) := s in remembers eQ M X q /\ remembers eK M X k /\ keys = K M X |}.
    Next Obligation. repeat split; try apply at_the_beginning. symmetry. apply (nothing_of_nothing (stands eK)). Qed.
    Next Obligation.
      destruct (a_step eQ M X _ Y H) as [RQ EQ], (a_step eK M X _ Y H0) as [RK EK].
      destruct (extend eQ M _ Y) as [q' Q_Y], (extend eK M _ Y) as [k' K_Y]. cbn in *. subst.
      rewrite <- (earlier_rows_stand (stands eK)). repeat split; try easy.
      unfold kernel_of_last, new_rows, SoftmaxKernel, Causal, map_index, scores.
      rewrite !skipn_map, map_from_skipn, skipn_map. cbn. now rewrite (proj1 (stands eK M X)).
    Qed.

    (* A(X)×B(X) remembers the rows of B(X). *)
    Program Definition Product_extension {a : kernel memory A num} {B : operation memory A (Row num m')}
      (lower : causal_kernel a) (ea : extension a) (eB : extension B) : extension (Product a B) := {|
      stands := product_is_autoregressive lower (stands eB);
      state := state ea * state eB * list (Row num m');
      beginning M := ((beginning ea M, beginning eB M), []);
      extend M s Y :=
        let '((a, b), values) := s in
        let (a, new_rows_of_A) := extend ea M a Y in
        let (b, new_values) := extend eB M b Y in
        let values := values ++ new_values in
        ((a, b, values), map (fun a_i => combination a_i values) new_rows_of_A);
      remembers M X s := let '((a, b), values) := s in remembers ea M X a /\ remembers eB M X b /\ values = B M X |}.
    Next Obligation. repeat split; try apply at_the_beginning. symmetry. apply (nothing_of_nothing (stands eB)). Qed.
    Next Obligation.
      destruct (a_step ea M X _ Y H) as [RA EA], (a_step eB M X _ Y H0) as [RB EB].
      destruct (extend ea M _ Y) as [a' A_Y], (extend eB M _ Y) as [b' B_Y]. cbn in *. subst.
      rewrite <- (earlier_rows_stand (stands eB)). repeat split; try easy.
      unfold new_rows, Product. now rewrite skipn_map.
    Qed.
  End Attention.

  (* --- Leaves --- *)

  Section Leaves.
    Context {num : Type} {arithmetic : Arithmetic num}.

    Definition Embedding_extension {v d} (W : Matrix num v d) : extension (Embedding (memory := memory) W) :=
      each_row_extension _.
    Definition PositionalEncoding_extension {l d} (PE : Matrix num l d)
      : extension (PositionalEncoding (memory := memory) PE) := by_position_extension _.
    Definition Normalization_extension {d} (a b : Row num d) : extension (Normalization (memory := memory) a b) :=
      each_row_extension _.
    Definition Times_extension {r c} (W : Matrix num r c) : extension (Times (memory := memory) W) := each_row_extension _.
    Definition Plus_extension {c} (B : Row num c) : extension (Plus (memory := memory) B) := each_row_extension _.
    Definition ReLU_extension {c} : extension (ReLU (memory := memory) (num := num) (c := c)) := each_row_extension _.
  End Leaves.
End Decoding.

(* The extension of an operation from those of its parts: one that is declared an instance already, or that of the form by
   which it is made. (Whatever this makes, its type says that it extends T.) *)
Existing Class extension.
Ltac unfolded T := match T with ?f _ => unfolded_by f T | _ => eval cbv delta [T] in T end
with unfolded_by f T := match f with ?g _ => unfolded_by g T | _ => eval cbv beta delta [f] in T end.
Ltac extension_of T :=
  lazymatch T with
  | ?G ∘ ?F => let g := extension_of G in let f := extension_of F in constr:(Composition_extension g f)
  | Residual ?F => let f := extension_of F in constr:(Residual_extension f)
  | Concat ?F ?G => let f := extension_of F in let g := extension_of G in constr:(Concat_extension f g)
  | BlockOfColumns ?d ?i ?F => let f := extension_of F in constr:(BlockOfColumns_extension d i f)
  | Product (SoftmaxKernel ?d Causal ?Q ?K) ?V =>
    let q := extension_of Q in let k := extension_of K in let v := extension_of V in
    constr:(Product_extension (softmax_kernel_is_causal (d_head := d) Causal_is_lower_triangular (stands q) (stands k))
      (SoftmaxKernel_extension d q k) v)
  | Embedding ?W => constr:(Embedding_extension W : extension T)
  | PositionalEncoding ?PE => constr:(PositionalEncoding_extension PE : extension T)
  | Normalization ?a ?b => constr:(Normalization_extension a b : extension T)
  | Times ?W => constr:(Times_extension W : extension T)
  | Plus ?B => constr:(Plus_extension B : extension T)
  | ReLU => constr:(ReLU_extension : extension T)
  | _ => constr:(_ : extension T)
  end.
Ltac extension_by_parts := match goal with |- extension ?T => let T := unfolded T in let e := extension_of T in exact e end.
