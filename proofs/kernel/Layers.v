(* SPDX-License-Identifier: MIT *)
(* Over any numbers. *)
(* The layers, in the order of the article, by the names that they have in tlm/layers/; each with what it is. *)

From tlm Require Export Attention.
Local Open Scope num_scope.

(* An integer from {0, …, vocab_size − 1}. *)
Definition token : Type := nat.

Section Layers.
  Context {memory num : Type} {arithmetic : Arithmetic num}.

  (* What is done to each row by itself. *)
  Definition each_row {A B} (f : A -> B) : operation memory A B := fun _ X => map f X.
  Lemma each_row_is_rowwise {A B} (f : A -> B) : rowwise (each_row f).
  Proof. exact (map_is_rowwise f). Qed.

  (* x ↦ x + a row that is given for its position *)
  Definition by_position {A B} (f : nat -> A -> B) : operation memory A B := fun _ => map_index f.
  Lemma by_position_is_autoregressive {A B} (f : nat -> A -> B) : autoregressive (by_position f).
  Proof. intros M X. split; [apply map_from_length | intros; apply map_from_firstn]. Qed.

  (* --- Embedding --- *)

  (* "The layer simply assigns a row to each token." *)
  Definition Embedding {vocab_size d_model} (W_e : Matrix num vocab_size d_model)
    : operation memory token (Row num d_model) := each_row (row W_e).
  Theorem Embedding_is_rowwise {vocab_size d_model} {W_e : Matrix num vocab_size d_model} : rowwise (Embedding W_e).
  Proof. apply each_row_is_rowwise. Qed.

  (* The same, where W_e is read elsewhere, too. *)
  Definition TiedEmbedding {vocab_size d_model} (W_e : Matrix num vocab_size d_model)
    : operation memory token (Row num d_model) := Embedding W_e.
  Theorem TiedEmbedding_is_rowwise {vocab_size d_model} {W_e : Matrix num vocab_size d_model} :
    rowwise (TiedEmbedding W_e).
  Proof. exact Embedding_is_rowwise. Qed.

  (* --- Positional encoding --- *)

  (* PE(X) = X + PE|n: row i of X and row i of the table. (For X with more rows than the table, which the article excludes
     and the library refuses, rows of 0 are added.) *)
  Definition PositionalEncoding {max_len d_model} (PE : Matrix num max_len d_model)
    : operation memory (Row num d_model) (Row num d_model) := by_position (fun i x => plus x (row PE i)).
  Theorem PositionalEncoding_is_autoregressive {max_len d_model} {PE : Matrix num max_len d_model} :
    autoregressive (PositionalEncoding PE).
  Proof. apply by_position_is_autoregressive. Qed.

  (* The same, of a table that several layers read. *)
  Definition TiedPositions {max_len cols} (p : Matrix num max_len cols)
    : operation memory (Row num cols) (Row num cols) := PositionalEncoding p.
  Theorem TiedPositions_is_autoregressive {max_len cols} {p : Matrix num max_len cols} :
    autoregressive (TiedPositions p).
  Proof. exact PositionalEncoding_is_autoregressive. Qed.

  (** PE(X) = X + PE|n for n ≤ max_len *)
  Theorem PositionalEncoding_formula {max_len d_model} (PE : Matrix num max_len d_model) M X :
    length X <= max_len -> PositionalEncoding PE M X = zip plus X (things PE↾length X).
  Proof.
    intros H. assert (length (things PE) = max_len) as L by (clear; revert PE; induction max_len; simpl; auto).
    rewrite <- L in H. clear L.
    unfold PositionalEncoding, by_position, map_index.
    unfold row. revert H. generalize (things PE). intros table H.
    assert (forall p, map_from (fun i x => plus x (nth (i - p) table (tabulate d_model (fun _ => 0)))) p X
      = zip plus X (table↾length X)) as G.
    { revert table H. induction X as [| x X IH]; intros table H p; simpl; [easy |].
      destruct table as [| w table]; simpl in *; [lia |]. rewrite Nat.sub_diag. f_equal.
      rewrite <- (IH table ltac:(lia) (S p)). clear.
      assert (forall q, p < q -> map_from (fun i x => plus x (nth (i - p) (w :: table) (tabulate d_model (fun _ => 0)))) q X
        = map_from (fun i x => plus x (nth (i - S p) table (tabulate d_model (fun _ => 0)))) q X) as G; [| apply G; lia].
      induction X as [| x X IH]; intros q Hq; simpl; [easy |]. rewrite IH by lia. f_equal. f_equal.
      now replace (q - p)%nat with (S (q - S p)) by lia. }
    rewrite <- (G 0%nat). apply map_from_ext. intros i x. now rewrite Nat.sub_0_r.
  Qed.

  (* Constants: sine and cosine side by side, i = 1, …, d_model/2, and positions from 1. *)
  Definition ConstantPositionalEncoding {d_model} : operation memory (Row num d_model) (Row num d_model) :=
    by_position (fun pos x => plus x (tabulate d_model (fun j =>
      if Nat.even j then Sine d_model (j / 2 + 1)%nat (pos + 1)%nat else Cosine d_model (j / 2 + 1)%nat (pos + 1)%nat))).
  Theorem ConstantPositionalEncoding_is_autoregressive {d_model} :
    autoregressive (ConstantPositionalEncoding (d_model := d_model)).
  Proof. apply by_position_is_autoregressive. Qed.

  (* The same with all sines before all cosines. *)
  Definition SinesThenCosines {d_model} : operation memory (Row num d_model) (Row num d_model) :=
    by_position (fun pos x => plus x (tabulate d_model (fun j =>
      if j <? (d_model / 2)%nat then Sine d_model (j + 1)%nat (pos + 1)%nat
      else Cosine d_model (j - d_model / 2 + 1)%nat (pos + 1)%nat))).
  Theorem SinesThenCosines_is_autoregressive {d_model} : autoregressive (SinesThenCosines (d_model := d_model)).
  Proof. apply by_position_is_autoregressive. Qed.

  (* --- Normalization layers --- *)

  Definition mean {d} (x : Row num d) : num := Sum (things x) / number (Z.of_nat d).
  (* x − x̄ *)
  Definition centered {d} (x : Row num d) : Row num d := let mean := mean x in tabulate d (fun j => entry x j - mean).
  (* σ² = Σ_j (x_j − x̄)²/d *)
  Definition variance {d} (x : Row num d) : num :=
    let u := centered x in dot u u / number (Z.of_nat d).
  (* a·(x − x̄)/s + b, coordinate by coordinate *)
  Definition standardized {d} (s : num) (a b x : Row num d) : Row num d :=
    let u := centered x in tabulate d (fun j => entry a j * (entry u j / s) + entry b j).

  (* s = σ(x) + ε with ε = 10⁻⁶ *)
  Definition Normalization {d_model} (a b : Row num d_model) : operation memory (Row num d_model) (Row num d_model) :=
    each_row (fun x => standardized (Sqrt (variance x) + 1 / number 1000000) a b x).
  Theorem Normalization_is_rowwise {d_model} {a b : Row num d_model} : rowwise (Normalization a b).
  Proof. apply each_row_is_rowwise. Qed.

  (* s = √(σ² + ε) with ε = 1/one_over_ε *)
  Definition LayerNorm {d_model} (one_over_ε : Z) (γ β : Row num d_model)
    : operation memory (Row num d_model) (Row num d_model) :=
    each_row (fun x => standardized (Sqrt (variance x + 1 / number one_over_ε)) γ β x).
  Theorem LayerNorm_is_rowwise {d_model one_over_ε} {γ β : Row num d_model} : rowwise (LayerNorm one_over_ε γ β).
  Proof. apply each_row_is_rowwise. Qed.

  (* --- Affine maps: X×W, and X + B, where the n rows of B are identical --- *)

  Definition Times {r c} (W : Matrix num r c) : operation memory (Row num r) (Row num c) := each_row (fun x => times x W).
  Theorem Times_is_rowwise {r c} {W : Matrix num r c} : rowwise (Times W).
  Proof. apply each_row_is_rowwise. Qed.

  Definition Plus {c} (B : Row num c) : operation memory (Row num c) (Row num c) := each_row (fun x => plus x B).
  Theorem Plus_is_rowwise {c} {B : Row num c} : rowwise (Plus B).
  Proof. apply each_row_is_rowwise. Qed.

  (* X×W_eᵀ *)
  Definition TiedOutput {vocab_size d_model} (W_e : Matrix num vocab_size d_model)
    : operation memory (Row num d_model) (Row num vocab_size) := Times (transpose W_e).
  Theorem TiedOutput_is_rowwise {vocab_size d_model} {W_e : Matrix num vocab_size d_model} : rowwise (TiedOutput W_e).
  Proof. apply each_row_is_rowwise. Qed.

  (** the first block of d columns of F(X) is F(X), if it has no more *)
  Theorem one_block_is_the_whole {A d} (F : operation memory A (Row num d)) M X : BlockOfColumns d 1 F M X = F M X.
  Proof.
    unfold BlockOfColumns. rewrite <- map_id. apply map_ext. intros x. unfold block. apply tabulate_of_nth.
  Qed.

  (** attention of one head is the h = 1 of several: its blocks of columns of Q(X), K(X) and V(X) are all of them *)
  Theorem one_head_is_the_whole {A d d'} d_head mask (Q K : operation memory A (Row num d))
    (V : operation memory A (Row num d')) M X :
    Product (SoftmaxKernel d_head mask (BlockOfColumns d 1 Q) (BlockOfColumns d 1 K)) (BlockOfColumns d' 1 V) M X =
    Product (SoftmaxKernel d_head mask Q K) V M X.
  Proof. unfold Product, SoftmaxKernel. now rewrite !one_block_is_the_whole. Qed.

  (* --- The article's two formulas for a decoder block, with "Res" and without --- *)

  (** Res(FF)(Res(CA∘N_ca)(X)) = Y + FF(Y) with Y = X + CA(N_ca(X)) *)
  Theorem decoder_block_written_out {d} (FF CA N_ca : operation memory (Row num d) (Row num d)) M X :
    (Residual FF ∘ Residual (CA ∘ N_ca)) M X =
    let Y := zip plus X (CA M (N_ca M X)) in zip plus Y (FF M Y).
  Proof. reflexivity. Qed.

  (** Res(FF∘Res(CA∘N_ca))(X) = X + FF(Y) with the same Y *)
  Theorem inspirational_decoder_block_written_out {d} (FF CA N_ca : operation memory (Row num d) (Row num d)) M X :
    Residual (FF ∘ Residual (CA ∘ N_ca)) M X =
    let Y := zip plus X (CA M (N_ca M X)) in zip plus X (FF M Y).
  Proof. reflexivity. Qed.

  (* --- Functions of each entry --- *)

  Definition entrywise {c} (f : num -> num) : operation memory (Row num c) (Row num c) :=
    each_row (fun x => tabulate c (fun j => f (entry x j))).

  Definition ReLU {c} := entrywise (c := c) Relu.
  Theorem ReLU_is_rowwise {c} : rowwise (ReLU (c := c)).
  Proof. apply each_row_is_rowwise. Qed.

  (* x·Φ(x) *)
  Definition GELU {c} := entrywise (c := c) (fun x => x * NormalCdf x).
  Theorem GELU_is_rowwise {c} : rowwise (GELU (c := c)).
  Proof. apply each_row_is_rowwise. Qed.

  (* x·(1 + tanh u)/2 with u = √(2/π)·(x + 0.044715·x³) *)
  Definition TanhGELU {c} := entrywise (c := c) (fun x =>
    let u := RootOfTwoOverPi * (x + number 44715 / number 1000000 * x * x * x) in x * (1 + Tanh u) / number 2).
  Theorem TanhGELU_is_rowwise {c} : rowwise (TanhGELU (c := c)).
  Proof. apply each_row_is_rowwise. Qed.

  Definition Identity {c} : operation memory (Row num c) (Row num c) := identity.
  Theorem Identity_is_rowwise {c} : rowwise (Identity (c := c)).
  Proof. exact identity_is_rowwise. Qed.

  (* Without noise, which is only there while a model learns. *)
  Definition Dropout {c} : operation memory (Row num c) (Row num c) := identity.
  (** Dropout without noise is rowwise *)
  Theorem Dropout_is_rowwise {c} : rowwise (Dropout (c := c)).
  Proof. exact identity_is_rowwise. Qed.

  (* exp(x_j) / Σ_k exp(x_k) in each row *)
  Definition Softmax {c} : operation memory (Row num c) (Row num c) :=
    each_row (fun x => let y := softmax (things x) in tabulate c (fun j => nth j y 0)).
  Theorem Softmax_is_rowwise {c} : rowwise (Softmax (c := c)).
  Proof. apply each_row_is_rowwise. Qed.

  (* z − log Σ_j exp(z_j) in each row; first the greatest is subtracted, which cancels: LogSoftmax_formula in LeavesDerivative.v. *)
  Definition log_softmax {c} (z : Row num c) : Row num c :=
    let greatest := Maximum (things z) in
    let shift := greatest + Log (Sum (map (fun z_j => Exp (z_j - greatest)) (things z))) in
    tabulate c (fun j => entry z j - shift).
  Definition LogSoftmax {c} : operation memory (Row num c) (Row num c) := each_row log_softmax.
  Theorem LogSoftmax_is_rowwise {c} : rowwise (LogSoftmax (c := c)).
  Proof. apply each_row_is_rowwise. Qed.
End Layers.
