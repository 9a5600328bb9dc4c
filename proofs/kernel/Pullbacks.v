(* SPDX-License-Identifier: MIT *)
(* Over any numbers. *)
(* Pullbacks: what a change of Y = T(X; W) is worth, brought back to X and to the weights W. (docs/gradients.rst)

   Here they are defined for any numbers, by the formulas that the library computes; that each is the transpose of the
   derivative is proved over ℝ in Derivative.v. A bar is a cotangent: Y' would be written Ȳ on paper, and is Y_bar here. *)

From tlm Require Export Layers Decoding.
Local Open Scope num_scope.

(* --- Spaces: what can be added --- *)

Class Space (V : Type) := { origin : V; sum : V -> V -> V }.
#[global] Typeclasses Opaque Row.

Section Spaces.
  Context {num : Type} {arithmetic : Arithmetic num}.

  #[global] Instance numbers : Space num := {| origin := 0; sum := Add |}.
  #[global] Instance no_weights : Space unit := {| origin := tt; sum _ _ := tt |}.
  #[global] Instance rows {V} {space : Space V} {m} : Space (Row V m) := {|
    origin := tabulate m (fun _ => origin);
    sum x y := tabulate m (fun j => sum (nth j (things x) origin) (nth j (things y) origin)) |}.
  #[global] Instance pairs {V W} {space_V : Space V} {space_W : Space W} : Space (V * W) := {|
    origin := (origin, origin); sum x y := (sum (fst x) (fst y), sum (snd x) (snd y)) |}.
  (* Tokens are no real numbers: nothing goes back to them. *)
  #[global] Instance tokens : Space token := {| origin := 0%nat; sum x _ := x |}.
  (* Rows of different lengths, as a kernel's: they are not added. *)
  #[global] Instance lists {V} {space : Space V} : Space (list V) := {| origin := []; sum := zip sum |}.

  (* The sum of some things. *)
  Definition total {V} {space : Space V} (list : list V) : V := fold_right sum origin list.
End Spaces.

(* --- Layers --- *)

(* An operation T with weights w, as one of a family T(X; W) that has a pullback: Y_bar ↦ (X_bar, W_bar). It is where
   `regular` holds that a derivative is claimed to exist. *)
Record layer {memory A B W : Type} (w : W) (T : operation memory A B) := {
  value : W -> operation memory A B;
  pullback : W -> list memory -> list A -> list B -> list A * W;
  regular : W -> list memory -> list A -> Prop;
  at_w : value w = T;
}.
Arguments value {memory A B W w T}. Arguments pullback {memory A B W w T}. Arguments regular {memory A B W w T}.
Arguments at_w {memory A B W w T}.

(* (X_bar, w_bar) at the layer's own weights. *)
Definition pullback_here {memory A B W} {w : W} {T : operation memory A B} (e : layer w T) := pullback e w.

(* All numbers of some weights, in the order in which the library visits them. *)
Class Coordinates (num V : Type) := coordinates : V -> list num.
#[global] Instance of_number {num} : Coordinates num num := fun x => [x].
#[global] Instance of_nothing {num} : Coordinates num unit := fun _ => [].
#[global] Instance of_row {num V m} {c : Coordinates num V} : Coordinates num (Row V m) :=
  fun x => flat_map coordinates (things x).
#[global] Instance of_pair {num V W} {c : Coordinates num V} {c' : Coordinates num W} : Coordinates num (V * W) :=
  fun x => coordinates (fst x) ++ coordinates (snd x).

(* --- The rules, for each form by the form's name --- *)

Section Rules.
  Context {memory num : Type} {arithmetic : Arithmetic num}.

  (* The chain rule: first back through G, then through F. *)
  Program Definition Composition_layer {A B C U V} {u : U} {v : V} {G : operation memory B C} {F : operation memory A B}
    (g : layer v G) (f : layer u F) : layer (u, v) (G ∘ F) := {|
    value w := value g (snd w) ∘ value f (fst w);
    pullback w M X Z_bar :=
      let (Y_bar, v_bar) := pullback g (snd w) M (value f (fst w) M X) Z_bar in
      let (X_bar, u_bar) := pullback f (fst w) M X Y_bar in (X_bar, (u_bar, v_bar));
    regular w M X := regular f (fst w) M X /\ regular g (snd w) M (value f (fst w) M X) |}.
  Next Obligation. now rewrite !at_w. Qed.

  (** composition of pullbacks is associative: going back through H, G and F gives the same, however they are bracketed *)
  Theorem pullback_of_composition_is_associative {A B C D U V W} {u : U} {v : V} {w : W} {H : operation memory C D}
    {G : operation memory B C} {F : operation memory A B} (h : layer w H) (g : layer v G) (f : layer u F) u' v' w' M X Y_bar :
    let (X_bar, bars) := pullback (Composition_layer h (Composition_layer g f)) ((u', v'), w') M X Y_bar in
    pullback (Composition_layer (Composition_layer h g) f) (u', (v', w')) M X Y_bar =
      (X_bar, (fst (fst bars), (snd (fst bars), snd bars))).
  Proof.
    cbn. unfold Composition. destruct (pullback h w' M _ Y_bar) as [Z_bar w_bar].
    destruct (pullback g v' M _ Z_bar) as [Y_bar' v_bar]. now destruct (pullback f u' M X Y_bar') as [X_bar u_bar].
  Qed.

  (* d(X + F(X)) = dX + dF, hence X_bar = Y_bar + what F returns for Y_bar. *)
  Program Definition Residual_layer {W m} {w : W} {F : operation memory (Row num m) (Row num m)} (f : layer w F)
    : layer w (Residual F) := {|
    value w := Residual (value f w);
    pullback w M X Y_bar := let (X_bar, w_bar) := pullback f w M X Y_bar in (zip sum Y_bar X_bar, w_bar);
    regular := regular f |}.
  Next Obligation. now rewrite at_w. Qed.

  (* The first m numbers of a row of m + m', and the others. *)
  Definition left {m m'} (x : Row num (m + m')) : Row num m := tabulate m (fun j => entry x j).
  Definition right {m m'} (x : Row num (m + m')) : Row num m' := tabulate m' (fun j => entry x (m + j)%nat).

  (* Each gets its columns of Y_bar, and what both return for them is added. *)
  Program Definition Concat_layer {A U V m m'} {space : Space A} {u : U} {v : V} {F : operation memory A (Row num m)}
    {G : operation memory A (Row num m')} (f : layer u F) (g : layer v G) : layer (u, v) (Concat F G) := {|
    value w := Concat (value f (fst w)) (value g (snd w));
    pullback w M X Y_bar :=
      let (X_bar, u_bar) := pullback f (fst w) M X (map left Y_bar) in
      let (X_bar', v_bar) := pullback g (snd w) M X (map right Y_bar) in (zip sum X_bar X_bar', (u_bar, v_bar));
    regular w M X := regular f (fst w) M X /\ regular g (snd w) M X |}.
  Next Obligation. now rewrite !at_w. Qed.

  (* A weight that is read in two places: what it gets in both is added. *)
  Program Definition Tied_layer {A B W} {space : Space W} {w : W} {T : operation memory A B} (e : layer (w, w) T)
    : layer w T := {|
    value w := value e (w, w);
    pullback w M X Y_bar := let (X_bar, w_bar) := pullback e (w, w) M X Y_bar in (X_bar, sum (fst w_bar) (snd w_bar));
    regular w := regular e (w, w) |}.
  Next Obligation. apply at_w. Qed.

  (* Heads side by side, which read the same weights. *)
  Definition Heads_layer {A W m m'} {space : Space A} {space_W : Space W} {w : W} {F : operation memory A (Row num m)}
    {G : operation memory A (Row num m')} (f : layer w F) (g : layer w G) : layer w (Concat F G) :=
    Tied_layer (Concat_layer f g).

  (* A row of d numbers as the i-th block of m numbers, which are 0 elsewhere. *)
  Definition placed {m} (d i : nat) (y : Row num d) : Row num m :=
    tabulate m (fun j => Σ (k < d) (if (j =? (i - 1) * d + k)%nat then entry y k else 0)).

  Program Definition BlockOfColumns_layer {A W m} {w : W} (d i : nat) {F : operation memory A (Row num m)} (f : layer w F)
    : layer w (BlockOfColumns d i F) := {|
    value w := BlockOfColumns d i (value f w);
    pullback w M X Y_bar := pullback f w M X (map (placed d i) Y_bar);
    regular := regular f |}.
  Next Obligation. now rewrite at_w. Qed.

  (* The product rule: d(A×B) = dA×B + A×dB, hence A_bar = Y_bar×Bᵀ, as far as A is visible, and B_bar = Aᵀ×Y_bar. *)
  Program Definition Product_layer {I U V m} {space : Space I} {u : U} {v : V} {A : kernel memory I num}
    {B : operation memory I (Row num m)} (a : layer u A) (b : layer v B) : layer (u, v) (Product A B) := {|
    value w := Product (value a (fst w)) (value b (snd w));
    pullback w M X Y_bar :=
      let A_X := value a (fst w) M X in
      let B_X := value b (snd w) M X in
      let A_bar := zip (fun A_i y_bar => map (fun j => dot y_bar (nth j B_X origin)) (seq 0 (length A_i))) A_X Y_bar in
      let B_bar := map (fun j => combination (map (fun A_i => nth j A_i 0) A_X) Y_bar) (seq 0 (length B_X)) in
      let (X_bar, u_bar) := pullback a (fst w) M X A_bar in
      let (X_bar', v_bar) := pullback b (snd w) M X B_bar in (zip sum X_bar X_bar', (u_bar, v_bar));
    regular w M X := regular a (fst w) M X /\ regular b (snd w) M X |}.
  Next Obligation. now rewrite !at_w. Qed.

  (* s_bar_j = a_j (a_bar_j − Σ_k a_k a_bar_k), as a = softmax(s) has ∂a_j/∂s_k = a_j ([j = k] − a_k) *)
  Definition softmax_pullback (a a_bar : list num) : list num :=
    let mean := Sum (zip Mul a a_bar) in zip (fun a_j a_bar_j => a_j * (a_bar_j - mean)) a a_bar.

  (* S = Q×Kᵀ/c, hence Q_bar = S_bar×K/c and K_bar = S_barᵀ×Q/c, over what is visible, where c = √d_head. *)
  Program Definition SoftmaxKernel_layer {I U V m} {space : Space I} {u : U} {v : V} (d_head : nat) (mask : mask)
    {Q K : operation memory I (Row num m)} (q : layer u Q) (k : layer v K)
    : layer (u, v) (SoftmaxKernel d_head mask Q K) := {|
    value w := SoftmaxKernel d_head mask (value q (fst w)) (value k (snd w));
    pullback w M X A_bar :=
      let Q_X := value q (fst w) M X in
      let K_X := value k (snd w) M X in
      let c := Sqrt (number (Z.of_nat d_head)) in
      let A_X := map softmax (mask (scores d_head Q_X K_X)) in
      let S_bar := map (map (fun s => s / c)) (zip softmax_pullback A_X A_bar) in
      let Q_bar := map (fun s_bar => combination s_bar K_X) S_bar in
      let K_bar := map (fun j => combination (map (fun s_bar => nth j s_bar 0) S_bar) Q_X) (seq 0 (length K_X)) in
      let (X_bar, u_bar) := pullback q (fst w) M X Q_bar in
      let (X_bar', v_bar) := pullback k (snd w) M X K_bar in (zip sum X_bar X_bar', (u_bar, v_bar));
    regular w M X := regular q (fst w) M X /\ regular k (snd w) M X |}.
  Next Obligation. now rewrite !at_w. Qed.

  (* --- Leaves: what is done to each row by itself, or by its position --- *)

  (* y_i = f_i(x_i; w): each row brings back its own, and what they bring back to w is added. *)
  Definition by_position_layer {A B W} {space : Space W} (w : W) (f : nat -> W -> A -> B) (p : nat -> W -> A -> B -> A * W)
    (regular : W -> A -> Prop) : layer (memory := memory) w (by_position (fun i => f i w)) := {|
    value w := by_position (fun i => f i w);
    pullback w M X Y_bar :=
      let bars := map_index (fun i xy => p i w (fst xy) (snd xy)) (combine X Y_bar) in
      (map fst bars, total (map snd bars));
    regular w M X := Forall (regular w) X;
    at_w := eq_refl |}.

  Lemma map_from_without_position {A B} (f : A -> B) p X : map_from (fun _ => f) p X = map f X.
  Proof. revert p. induction X; intros p; cbn; [easy | now rewrite IHX]. Qed.

  Definition each_row_layer {A B W} {space : Space W} (w : W) (f : W -> A -> B) (p : W -> A -> B -> A * W)
    (regular : W -> A -> Prop) : layer (memory := memory) w (each_row (f w)) := {|
    value w := each_row (f w);
    pullback := pullback (by_position_layer w (fun _ => f) (fun _ => p) regular);
    regular w M X := Forall (regular w) X;
    at_w := eq_refl |}.

  Definition always {V A} (w : V) (x : A) : Prop := True.

  (* Row i is x, and all others are 0. *)
  Definition only_row {r c} (i : nat) (x : Row num c) : Matrix num r c :=
    tabulate r (fun k => if (k =? i)%nat then x else origin).

  (* Y_i is row x_i of W_e, which receives Y_bar_i. *)
  Definition Embedding_layer {vocab_size d_model} (W_e : Matrix num vocab_size d_model) : layer W_e (Embedding W_e) :=
    each_row_layer W_e (fun W_e x => row W_e x) (fun _ x y_bar => (x, only_row x y_bar)) always.

  (* dY = dX + dPE|n: row i of PE receives Y_bar_i. *)
  Definition PositionalEncoding_layer {max_len d_model} (PE : Matrix num max_len d_model)
    : layer PE (PositionalEncoding PE) :=
    by_position_layer PE (fun i PE x => plus x (row PE i)) (fun i _ _ y_bar => (y_bar, only_row i y_bar)) always.

  (* dY = dX×W + X×dW, hence X_bar = Y_bar×Wᵀ and W_bar = Xᵀ×Y_bar. *)
  Definition Times_layer {r c} (W : Matrix num r c) : layer W (Times W) :=
    each_row_layer W (fun W x => times x W)
      (fun W x y_bar => (times y_bar (transpose W), tabulate r (fun i => tabulate c (fun j => entry x i * entry y_bar j))))
      always.

  (* dY_i = dX_i + dB, hence X_bar = Y_bar and B_bar = Σ_i Y_bar_i. *)
  Definition Plus_layer {c} (B : Row num c) : layer B (Plus B) :=
    each_row_layer B (fun B x => plus x B) (fun _ _ y_bar => (y_bar, y_bar)) always.

  (* dy = ReLU′(x)·dx in every entry. At 0 there is no derivative, and the library takes 0 for it. *)
  Definition ReLU_layer {c} : layer tt (ReLU (c := c)) :=
    each_row_layer tt (fun _ x => tabulate c (fun j => Relu (entry x j)))
      (fun _ x y_bar => (tabulate c (fun j => entry y_bar j * ReluDerivative (entry x j)), tt))
      (fun _ x => forall j, j < c -> entry x j <> 0).

  (* dy = f′(x)·dx in every entry, for f(x) = x·(1 + tanh u)/2 with u = c·(x + a·x³), as tanh′ = 1 − tanh². *)
  Definition TanhGELU_derivative (x : num) : num :=
    let a := number 44715 / number 1000000 in
    let t := Tanh (RootOfTwoOverPi * (x + a * x * x * x)) in
    (1 + t + x * (1 - t * t) * RootOfTwoOverPi * (1 + number 3 * a * x * x)) / number 2.
  Definition TanhGELU_layer {c} : layer tt (TanhGELU (c := c)) :=
    each_row_layer tt (fun _ x => tabulate c (fun j => let x := entry x j in
        let u := RootOfTwoOverPi * (x + number 44715 / number 1000000 * x * x * x) in x * (1 + Tanh u) / number 2))
      (fun _ x y_bar => (tabulate c (fun j => entry y_bar j * TanhGELU_derivative (entry x j)), tt)) always.

  (* With u = x − mean(x), r = √(⟨u, u⟩/d + …), s = r + …, z = u/s and y = a·z + b:
       a_bar = y_bar·z,  b_bar = y_bar,  z_bar = a·y_bar,  x_bar = (z_bar − mean(z_bar))/s − z ⟨z_bar, z⟩/(d·r).
     (tlm/layers/normalization.hpp. Where r = 0 the last term is 0.) *)
  Definition standardized_pullback {d} (root divisor : Row num d -> num) (w : Row num d * Row num d) (x y_bar : Row num d)
    : Row num d * (Row num d * Row num d) :=
    let s := divisor x in
    let z := tabulate d (fun j => entry (centered x) j / s) in
    let z_bar := tabulate d (fun j => entry (fst w) j * entry y_bar j) in
    let slope := dot z_bar z / (number (Z.of_nat d) * root x) in
    let mean_z_bar := mean z_bar in
    (tabulate d (fun j => (entry z_bar j - mean_z_bar) / s - entry z j * slope),
     (tabulate d (fun j => entry y_bar j * entry z j), y_bar)).

  Definition Normalization_layer {d_model} (a b : Row num d_model) : layer (a, b) (Normalization a b) :=
    each_row_layer (a, b) (fun w x => standardized (Sqrt (variance x) + 1 / number 1000000) (fst w) (snd w) x)
      (standardized_pullback (fun x => Sqrt (variance x)) (fun x => Sqrt (variance x) + 1 / number 1000000)) always.

  Definition LayerNorm_layer {d_model} (one_over_ε : Z) (γ β : Row num d_model) : layer (γ, β) (LayerNorm one_over_ε γ β) :=
    each_row_layer (γ, β) (fun w x => standardized (Sqrt (variance x + 1 / number one_over_ε)) (fst w) (snd w) x)
      (standardized_pullback (fun x => Sqrt (variance x + 1 / number one_over_ε))
        (fun x => Sqrt (variance x + 1 / number one_over_ε))) always.

  (* y = softmax(x) has ∂y_j/∂x_k = y_j ([j = k] − y_k). *)
  Definition Softmax_layer {c} : layer tt (Softmax (c := c)) :=
    each_row_layer tt (fun _ x => let y := softmax (things x) in tabulate c (fun j => nth j y 0))
      (fun _ x y_bar =>
        let x_bar := softmax_pullback (softmax (things x)) (things y_bar) in (tabulate c (fun j => nth j x_bar 0), tt))
      always.
End Rules.

(* The layer of an operation from those of its parts: one that is declared an instance already, or that of the form by which
   it is made. (Whatever this makes, its type says that its value is T; that its pullback is the right one is a theorem.) *)
Existing Class layer.
Ltac layer_of T :=
  lazymatch T with
  | ?G ∘ ?F => let g := layer_of G in let f := layer_of F in constr:(Composition_layer g f)
  | Residual ?F => let f := layer_of F in constr:(Residual_layer f)
  | Concat ?F ?G => let f := layer_of F in let g := layer_of G in
    match constr:(tt) with _ => constr:(Heads_layer f g) | _ => constr:(Concat_layer f g) end
  | BlockOfColumns ?d ?i ?F => let f := layer_of F in constr:(BlockOfColumns_layer d i f)
  | Product ?A ?B => let a := layer_of A in let b := layer_of B in constr:(Product_layer a b)
  | SoftmaxKernel ?d ?mask ?Q ?K => let q := layer_of Q in let k := layer_of K in constr:(SoftmaxKernel_layer d mask q k)
  | Embedding ?W => constr:(Embedding_layer W : layer _ T)
  | PositionalEncoding ?W => constr:(PositionalEncoding_layer W : layer _ T)
  | Times ?W => constr:(Times_layer W : layer _ T)
  | Plus ?B => constr:(Plus_layer B : layer _ T)
  | ReLU => constr:(ReLU_layer : layer _ T)
  | TanhGELU => constr:(TanhGELU_layer : layer _ T)
  | Normalization ?a ?b => constr:(Normalization_layer a b : layer _ T)
  | LayerNorm ?ε ?γ ?β => constr:(LayerNorm_layer ε γ β : layer _ T)
  | Softmax => constr:(Softmax_layer : layer _ T)
  | _ => constr:(_ : layer _ T)
  end.
Ltac layer_by_parts := match goal with |- layer _ ?T => let T := unfolded T in let e := layer_of T in exact e end.
