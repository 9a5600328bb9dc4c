(* SPDX-License-Identifier: MIT *)
(* Extending a state row by row equals computing at once. (tlm/algebra/layer.hpp: State and extend.)

   What was computed for the rows X stands when rows are appended, T(X ++ Y)|length X = T(X): that is what "autoregressive"
   says. So an operation may keep a state, from which it makes the rows that are new. *)

From tlm Require Import Layers.
Local Open Scope num_scope.

Section Decoding.
  Context {memory : Type}.

  (* The rows of T(X ++ Y) that belong to Y. *)
  Definition new_rows {A B} (T : operation memory A B) (M : list memory) (X Y : list A) : list B :=
    skipn (length X) (T M (X ++ Y)).

  (* A way to extend T: a state, what it is at the beginning, and a step from a state and further rows to the next state and
     the new rows of T. `remembers` says of which rows X a state is the state. *)
  Record extension {A B} (T : operation memory A B) := {
    state : Type;
    beginning : list memory -> state;
    extend : list memory -> state -> list A -> state * list B;
    remembers : list memory -> list A -> state -> Prop;
    at_the_beginning : forall M, remembers M [] (beginning M);
    a_step : forall M X s Y, remembers M X s ->
      remembers M (X ++ Y) (fst (extend M s Y)) /\ snd (extend M s Y) = new_rows T M X Y;
  }.
  Arguments state {A B T}. Arguments beginning {A B T}. Arguments extend {A B T}. Arguments remembers {A B T}.
  Arguments at_the_beginning {A B T}. Arguments a_step {A B T}.

  (* All that is made of pieces, one after the other. *)
  Fixpoint extended {A B} {T : operation memory A B} (e : extension T) M (s : state e) (pieces : list (list A)) : list B :=
    match pieces with
    | [] => []
    | Y :: pieces => snd (extend e M s Y) ++ extended e M (fst (extend e M s Y)) pieces
    end.

  (** what was computed for X stands when rows are appended, if T is autoregressive *)
  Theorem earlier_rows_stand {A B} {T : operation memory A B} : autoregressive T ->
    forall M X Y, T M (X ++ Y) = T M X ++ new_rows T M X Y.
  Proof.
    intros H M X Y. unfold new_rows. destruct (H M (X ++ Y)) as [_ E].
    rewrite <- (firstn_skipn (length X) (T M (X ++ Y))) at 1. f_equal.
    rewrite <- E by (rewrite app_length; lia). now rewrite firstn_app, firstn_all, Nat.sub_diag, app_nil_r.
  Qed.

  (* However X is cut into pieces, what is made of them, one under the other, is T(X). *)
  (** extending a state by pieces, row by row for instance, equals computing at once *)
  Theorem extending_is_computing_at_once {A B} {T : operation memory A B} (e : extension T) : autoregressive T ->
    forall M pieces, extended e M (beginning e M) pieces = T M (concat pieces).
  Proof.
    intros H M pieces.
    assert (forall X s, remembers e M X s -> T M X ++ extended e M s pieces = T M (X ++ concat pieces)) as G.
    { induction pieces as [| Y pieces IH]; intros X s R; cbn; [now rewrite !app_nil_r |].
      destruct (a_step e M X s Y R) as [R' E]. rewrite E, app_assoc, <- (earlier_rows_stand H), app_assoc. now apply IH. }
    specialize (G [] _ (at_the_beginning e M)). destruct (H M []) as [L _]. cbn in *.
    now destruct (T M []); [| discriminate].
  Qed.

  (* --- States: nothing, how many rows there were, those of the parts, and the rows of keys and values --- *)

  Lemma skipn_of_app {A} (X Y : list A) n : n = length X -> skipn n (X ++ Y) = Y.
  Proof. intros ->. now rewrite skipn_app, skipn_all, Nat.sub_diag. Qed.

  (* What is done to each row by itself needs no state. *)
  Program Definition extension_of_each_row {A B} (f : A -> B) : extension (each_row f) := {|
    state := unit; beginning _ := tt; extend M s Y := (s, map f Y); remembers M X s := True |}.
  Next Obligation. split; [easy |]. unfold new_rows, each_row. now rewrite map_app, skipn_of_app by (now rewrite map_length). Qed.

  (* PE remembers how many rows there were. *)
  Program Definition extension_by_position {A B} (f : nat -> A -> B) : extension (by_position f) := {|
    state := nat; beginning _ := 0%nat; extend M s Y := ((s + length Y)%nat, map_from f s Y);
    remembers M X s := s = length X |}.
  Next Obligation.
    split; [now rewrite app_length |]. unfold new_rows, by_position, map_index.
    now rewrite map_from_skipn, skipn_of_app.
  Qed.

  Program Definition extension_of_composition {A B C} {G : operation memory B C} {F : operation memory A B}
    (HF : autoregressive F) (eG : extension G) (eF : extension F) : extension (G ∘ F) := {|
    state := state eG * state eF;
    beginning M := (beginning eG M, beginning eF M);
    extend M s Y := let (f, F_Y) := extend eF M (snd s) Y in let (g, G_Y) := extend eG M (fst s) F_Y in ((g, f), G_Y);
    remembers M X s := remembers eG M (F M X) (fst s) /\ remembers eF M X (snd s) |}.
  Next Obligation.
    split; [| apply at_the_beginning]. destruct (HF M []) as [L _]. destruct (F M []); [apply at_the_beginning | easy].
  Qed.
  Next Obligation.
    cbn in *. destruct (a_step eF M X s0 Y H0) as [RF EF]. destruct (extend eF M s0 Y) as [f F_Y]. cbn in *. subst F_Y.
    destruct (a_step eG M (F M X) s (new_rows F M X Y) H) as [RG EG].
    destruct (extend eG M s (new_rows F M X Y)) as [g G_Y]. cbn in *. subst G_Y.
    rewrite <- (earlier_rows_stand HF) in RG. split; [easy |]. unfold new_rows at 1 3, Composition.
    rewrite <- (earlier_rows_stand HF). now rewrite (proj1 (HF M X)).
  Qed.

  (* X + F(X), and Concat(F(X), G(X)) *)
  Program Definition extension_of_zip {A B B' C} (f : B -> B' -> C) {F : operation memory A B} {G : operation memory A B'}
    (eF : extension F) (eG : extension G) : extension (Zip f F G) := {|
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

  (* --- softmax(◺(Q(X)×K(X)ᵀ/c))×V(X) remembers the rows of K(X) and V(X), which are not computed again --- *)

  Section Attention.
    Context {A num : Type} {arithmetic : Arithmetic num} {lawful : Lawful arithmetic} {m m' : nat} (d_head : nat).
    Context {Q K : operation memory A (Row num m)} {V : operation memory A (Row num m')}.
    Context (HQ : autoregressive Q) (HK : autoregressive K) (HV : autoregressive V).

    (* The rows of attention that belong to queries which are the last ones: the first of them sees `earlier` keys and one. *)
    Definition attention_of_last (earlier : nat) (queries keys : list (Row num m)) (values : list (Row num m')) :=
      map (fun a => combination a values)
        (map softmax (map_from (fun i => map_index (fun j s => if j <=? i then Some s else None)) earlier
          (scores d_head queries keys))).

    Program Definition extension_of_attention (eQ : extension Q) (eK : extension K) (eV : extension V)
      : extension (Product (SoftmaxKernel d_head Causal Q K) V) := {|
      state := (state eQ * state eK * state eV) * (list (Row num m) * list (Row num m'));
      beginning M := ((beginning eQ M, beginning eK M, beginning eV M), ([], []));
      extend M s Y :=
        let '((q, k, v), (keys, values)) := s in
        let (q, new_queries) := extend eQ M q Y in
        let (k, new_keys) := extend eK M k Y in
        let (v, new_values) := extend eV M v Y in
        let keys' := keys ++ new_keys in let values' := values ++ new_values in
        (((q, k, v), (keys', values')), attention_of_last (length keys) new_queries keys' values');
      remembers M X s :=
        let '((q, k, v), (keys, values)) := s in
        remembers eQ M X q /\ remembers eK M X k /\ remembers eV M X v /\ keys = K M X /\ values = V M X |}.
    Next Obligation.
      repeat split; try apply at_the_beginning.
      - destruct (HK M []) as [L _]. now destruct (K M []).
      - destruct (HV M []) as [L _]. now destruct (V M []).
    Qed.
    Next Obligation.
      destruct (a_step eQ M X _ Y H) as [RQ EQ], (a_step eK M X _ Y H0) as [RK EK], (a_step eV M X _ Y H1) as [RV EV].
      destruct (extend eQ M _ Y) as [q' Q_Y], (extend eK M _ Y) as [k' K_Y], (extend eV M _ Y) as [v' V_Y]. cbn in *. subst.
      rewrite <- (earlier_rows_stand HK), <- (earlier_rows_stand HV). repeat split; try easy.
      unfold attention_of_last, new_rows, Product, SoftmaxKernel, Causal, map_index, scores.
      rewrite !skipn_map, map_from_skipn, skipn_map. cbn. now rewrite (proj1 (HK M X)).
    Qed.
  End Attention.
End Decoding.
