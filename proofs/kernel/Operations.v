(* SPDX-License-Identifier: MIT *)
(* Over any numbers. *)
(* Rowwise and autoregressive operations, and the rules by which composite operations are what they are.
   (Article, "Rowwise and autoregressive matrix operations".)

   Each rule of tlm/algebra/rules.hpp is a theorem of its name, here or in Attention.v. *)

From tlm Require Export Numbers.

(* A matrix with n rows is a list of n rows. An operation T takes a matrix X and returns a matrix T(X). Beside X it may read
   the rows of a memory M, which an encoder made of something else; the article's operations do not look at it. *)
Definition operation (memory A B : Type) : Type := list memory -> list A -> list B.

(* X|i, which is X reduced to its first i rows, and X_i, its row i as a matrix of one row (rows count from 0). *)
Notation "X ↾ i" := (firstn i X) (at level 30, no associativity).
Notation "X ⇂ i" := (firstn 1 (skipn i X)) (at level 30, no associativity).

Section Claims.
  Context {memory A B : Type} (T : operation memory A B).

  (* T(X) has as many rows as X, and T(X_i) = T(X)_i. *)
  Definition rowwise : Prop :=
    forall M X, length (T M X) = length X /\ forall i, i < length X -> T M (X⇂i) = (T M X)⇂i.

  (* T(X) has as many rows as X, and T(X|i) = T(X)|i. *)
  Definition autoregressive : Prop :=
    forall M X, length (T M X) = length X /\ forall i, i <= length X -> T M (X↾i) = (T M X)↾i.

  (* T(X) does not depend on X. *)
  Definition constant : Prop := forall M X X', T M X = T M X'.
End Claims.

(* --- The forms in which operations are made of others: tlm/algebra/rules.hpp, namespace forms --- *)

(* Row by row f(X_i, Y_i). *)
Fixpoint zip {A B C} (f : A -> B -> C) (X : list A) (Y : list B) : list C :=
  match X, Y with x :: X, y :: Y => f x y :: zip f X Y | _, _ => [] end.

Section Forms.
  Context {memory : Type}.

  (* X ↦ G(F(X)) *)
  Definition Composition {A B C} (G : operation memory B C) (F : operation memory A B) : operation memory A C :=
    fun M X => G M (F M X).

  Definition identity {A} : operation memory A A := fun M X => X.
  Definition Zip {A B B' C} (f : B -> B' -> C) (F : operation memory A B) (G : operation memory A B')
    : operation memory A C := fun M X => zip f (F M X) (G M X).

  (* X ↦ X + F(X), the article's Res(F) *)
  Definition Residual {num} {arithmetic : Arithmetic num} {m} (F : operation memory (Row num m) (Row num m)) :=
    Zip plus identity F.

  (* X ↦ Concat(F(X), G(X)), side by side *)
  Definition Concat {A num m m'} (F : operation memory A (Row num m)) (G : operation memory A (Row num m')) :=
    Zip append F G.

  (* X ↦ the i-th block of d columns of F(X) *)
  Definition BlockOfColumns {A num} {arithmetic : Arithmetic num} {m} (d i : nat) (F : operation memory A (Row num m))
    : operation memory A (Row num d) := fun M X => map (block d i) (F M X).

  (* X ↦ F(M) *)
  Definition OfMemory {A B} (F : operation memory memory B) : operation memory A B := fun M X => F M M.

  (* F with the memory G(M) in the place of M *)
  Definition ThroughMemory {memory' A B} (G : operation memory memory memory') (F : operation memory' A B)
    : operation memory A B := fun M X => F (G M M) X.

  (* F, with a weight that it reads in several places: here that is a variable that occurs in several places. *)
  Definition Tied {A B} (F : operation memory A B) : operation memory A B := F.

  (* X ↦ Decoder(X) with the memory Encoder(x) *)
  Definition EncoderDecoder {memory' S A B} (Encoder : operation memory S memory') (Decoder : operation memory' A B)
    (x : list S) : operation memory A B := fun M X => Decoder (Encoder M x) X.
End Forms.

Notation "G ∘ F" := (Composition G F) (at level 41, right associativity).

(* --- Lemmas about rows --- *)

Section Lemmas.
  Context {A B C : Type}.

  Lemma row_of_cut (X : list A) i k : k < i -> (X↾i)⇂k = X⇂k.
  Proof. intros H. rewrite skipn_firstn_comm, firstn_firstn. now replace (Nat.min 1 (i - k)) with 1 by lia. Qed.

  Lemma equal_row_by_row (X Y : list A) :
    length X = length Y -> (forall k, k < length X -> X⇂k = Y⇂k) -> X = Y.
  Proof.
    revert Y; induction X as [| x X IH]; intros [| y Y] L H; try easy; simpl in *.
    f_equal; [now injection (H 0 ltac:(lia)) | apply IH; [lia | intros k Hk; apply (H (S k)); lia]].
  Qed.

  Lemma zip_length (f : A -> B -> C) X Y : length X = length Y -> length (zip f X Y) = length X.
  Proof. revert Y; induction X; intros [| y Y] H; simpl in *; auto; discriminate. Qed.

  Lemma zip_firstn (f : A -> B -> C) i X Y : zip f (X↾i) (Y↾i) = (zip f X Y)↾i.
  Proof.
    revert i Y; induction X as [| x X IH]; intros [| i] [| y Y]; simpl; try easy.
    now rewrite IH.
  Qed.

  Lemma zip_skipn (f : A -> B -> C) i X Y : zip f (skipn i X) (skipn i Y) = skipn i (zip f X Y).
  Proof.
    revert i Y; induction X as [| x X IH]; intros [| i] [| y Y]; simpl; try easy.
    now destruct (skipn i X).
  Qed.

  Lemma map_of_row (f : A -> B) X i : map f (X⇂i) = (map f X)⇂i.
  Proof. now rewrite skipn_map, firstn_map. Qed.
End Lemmas.

(* --- The rules --- *)

Section Rules.
  Context {memory : Type}.

  (* "Note that rowwise operations are autoregressive": row k of T(X|i) is T((X|i)_k) = T(X_k), which is row k of T(X). *)
  Theorem rowwise_is_autoregressive {A B} {T : operation memory A B} : rowwise T -> autoregressive T.
  Proof.
    intros HT M X. destruct (HT M X) as [LX HX]. split; [easy |]. intros i Hi.
    destruct (HT M (X↾i)) as [LXi HXi].
    assert (length (X↾i) = i) by (rewrite firstn_length; lia).
    apply equal_row_by_row; [rewrite firstn_length; lia |]. intros k Hk.
    rewrite <- HXi, !row_of_cut, HX by lia. easy.
  Qed.

  Theorem composition_is_rowwise {A B C} {G : operation memory B C} {F : operation memory A B} :
    rowwise G -> rowwise F -> rowwise (G ∘ F).
  Proof.
    intros HG HF M X. destruct (HF M X) as [LF EF], (HG M (F M X)) as [LG EG]. unfold Composition.
    split; [lia |]. intros i Hi. rewrite EF, EG by lia. easy.
  Qed.

  (* "and compositions of autoregressive operations are autoregressive": G(F(X|i)) = G(F(X)|i) = G(F(X))|i. *)
  Theorem composition_is_autoregressive {A B C} {G : operation memory B C} {F : operation memory A B} :
    autoregressive G -> autoregressive F -> autoregressive (G ∘ F).
  Proof.
    intros HG HF M X. destruct (HF M X) as [LF EF], (HG M (F M X)) as [LG EG]. unfold Composition.
    split; [lia |]. intros i Hi. rewrite EF, EG by lia. easy.
  Qed.

  (* G does not see more of X than F does. *)
  Theorem composition_is_constant {A B C} {G : operation memory B C} {F : operation memory A B} :
    constant F -> constant (G ∘ F).
  Proof. intros HF M X X'. unfold Composition. now rewrite (HF M X X'). Qed.

  Lemma zip_is_rowwise {A B B' C} (f : B -> B' -> C) {F : operation memory A B} {G : operation memory A B'} :
    rowwise F -> rowwise G -> rowwise (Zip f F G).
  Proof.
    intros HF HG M X. destruct (HF M X) as [LF EF], (HG M X) as [LG EG]. unfold Zip.
    split; [rewrite zip_length; lia |]. intros i Hi. now rewrite EF, EG, zip_firstn, zip_skipn by easy.
  Qed.
  Lemma zip_is_autoregressive {A B B' C} (f : B -> B' -> C) {F : operation memory A B} {G : operation memory A B'} :
    autoregressive F -> autoregressive G -> autoregressive (Zip f F G).
  Proof.
    intros HF HG M X. destruct (HF M X) as [LF EF], (HG M X) as [LG EG]. unfold Zip.
    split; [rewrite zip_length; lia |]. intros i Hi. now rewrite EF, EG, zip_firstn by easy.
  Qed.
  Theorem identity_is_rowwise {A} : rowwise (identity (memory := memory) (A := A)).
  Proof. now intros M X. Qed.

  (** H∘(G∘F) = (H∘G)∘F *)
  Theorem composition_is_associative {A B C D} (H : operation memory C D) (G : operation memory B C)
    (F : operation memory A B) : H ∘ (G ∘ F) = (H ∘ G) ∘ F.
  Proof. reflexivity. Qed.
  (** F∘identity = F = identity∘F *)
  Theorem identity_is_neutral {A B} (F : operation memory A B) : F ∘ identity = F /\ identity ∘ F = F.
  Proof. easy. Qed.

  Theorem residual_is_rowwise {num} {arithmetic : Arithmetic num} {m} {F : operation memory (Row num m) (Row num m)} :
    rowwise F -> rowwise (Residual F).
  Proof. exact (zip_is_rowwise plus identity_is_rowwise). Qed.
  Theorem residual_is_autoregressive {num} {arithmetic : Arithmetic num} {m}
    {F : operation memory (Row num m) (Row num m)} : autoregressive F -> autoregressive (Residual F).
  Proof. exact (zip_is_autoregressive plus (rowwise_is_autoregressive identity_is_rowwise)). Qed.

  Theorem concat_is_rowwise {A num m m'} {F : operation memory A (Row num m)} {G : operation memory A (Row num m')} :
    rowwise F -> rowwise G -> rowwise (Concat F G).
  Proof. exact (zip_is_rowwise append). Qed.
  Theorem concat_is_autoregressive {A num m m'} {F : operation memory A (Row num m)}
    {G : operation memory A (Row num m')} : autoregressive F -> autoregressive G -> autoregressive (Concat F G).
  Proof. exact (zip_is_autoregressive append). Qed.

  (* What is done to each row by itself is rowwise. *)
  Lemma map_is_rowwise {A B} (f : A -> B) : rowwise (fun (M : list memory) X => map f X).
  Proof. intros M X. split; [apply map_length | intros; apply map_of_row]. Qed.

  Section Columns.
    Context {A num : Type} {arithmetic : Arithmetic num} {m d i : nat} {F : operation memory A (Row num m)}.
    Theorem columns_are_rowwise : rowwise F -> rowwise (BlockOfColumns d i F).
    Proof. exact (composition_is_rowwise (map_is_rowwise (block d i))). Qed.
    Theorem columns_are_autoregressive : autoregressive F -> autoregressive (BlockOfColumns d i F).
    Proof. exact (composition_is_autoregressive (rowwise_is_autoregressive (map_is_rowwise (block d i)))). Qed.
    Theorem columns_are_constant : constant F -> constant (BlockOfColumns d i F).
    Proof. intros H M X X'. unfold BlockOfColumns. now rewrite (H M X X'). Qed.
  End Columns.

  Theorem memory_is_constant {A B} {F : operation memory memory B} : constant (OfMemory (A := A) F).
  Proof. easy. Qed.

  Theorem through_memory_is_autoregressive {memory' A B} {G : operation memory memory memory'}
    {F : operation memory' A B} : autoregressive F -> autoregressive (ThroughMemory G F).
  Proof. intros H M X. apply H. Qed.

  Theorem tied_is_rowwise {A B} {F : operation memory A B} : rowwise F -> rowwise (Tied F).
  Proof. easy. Qed.
  Theorem tied_is_autoregressive {A B} {F : operation memory A B} : autoregressive F -> autoregressive (Tied F).
  Proof. easy. Qed.

  (* Whatever the encoder is. *)
  Theorem encoder_decoder_is_autoregressive {memory' S A B} {Encoder : operation memory S memory'}
    {Decoder : operation memory' A B} {x : list S} :
    autoregressive Decoder -> autoregressive (EncoderDecoder Encoder Decoder x).
  Proof. intros H M X. apply H. Qed.
End Rules.
