/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of NNB compute what the same operators of ONNX compute, or several of them, with the same weights and
 * inputs: every function with a row, with all arguments varied, older numbers too. The stored shapes are those that
 * the functions give. What they become in XIR goes back to NNB, as all functions that an exporter writes, and still
 * computes the same. */
#include <xir/convert.h>
#include <xir/nnb.h>
#include <xir/serialize.h>
#include "convert/nnb_text.h"
#include "support/kept.h"

typedef struct pair { const char *variables, *functions, *weights, *nodes; } pair;

#define X1 "i2,3,4 o2,3,4"
#define X2 "i2,3,4 i2,1,4 o2,3,4"
#define K2 "k2,3 k1,3 o2,3"
static const pair pairs[] = {
    /* activations */
    { X1, "11 0>1", "", "Sigmoid v0 v1" },
    { X1, "12 0>1", "", "Sigmoid v0 s;Mul v0,s v1" },
    { X1, "13 0>1", "", "Tanh v0 v1" },
    { X1, "14 0>1 B0", "", "Relu v0 v1" },
    { X1, "15 0>1 f0.25", "", "LeakyRelu v0 v1 alpha=0.25" },
    { X1, "128 0>1 f-0.5 B1", "", "LeakyRelu v0 v1 alpha=-0.5" },
    { X1, "16 0>1 i1", "", "Softmax v0 v1 axis=1" },
    { X1, "16 0>1 i-1", "", "Softmax v0 v1 axis=2" },
    { X1, "269 0>1 i0", "", "LogSoftmax v0 v1 axis=0" },
    { X1, "17 0>1 f0.5", "", "Elu v0 v1 alpha=0.5" },
    { X1, "18 0>1 f1.5 f0.5", "", "Selu v0 v1 gamma=1.5 alpha=0.5" },
    { "i2,3,4 o2,6,4", "19 0>1 i1", "", "Relu v0 a;Neg v0 n;Relu n b;Concat a,b v1 axis=1" },
    { "i2,3,4 o2,3,8", "20 0>1 f0.5 i-1", "", "Elu v0 a alpha=0.5;Neg v0 n;Elu n b alpha=0.5;Concat a,b v1 axis=2" },
    { "i2,3,4 p3 o2,3,4", "21 0,1>2 i1", "v1=(3,1)", "PRelu v0,v1 v2" },
    { "i2,3,4 p4 o2,3,4", "21 0,1>2 i2", "v1=(4)", "PRelu v0,v1 v2" },
    { "i2,3,4 p1 o2,3,4", "21 0,1>2 i0", "v1=(1)", "PRelu v0,v1 v2" },
    { "i2,3,4 i2 o2,3,4", "21 0,1>2 i-3", "ax=[1,2]", "Unsqueeze v1,ax s;PRelu v0,s v2" },
    { X1, "245 0>1", "", "Gelu v0 v1" },
    { X1, "298 0>1", "", "Mish v0 v1" },
    { X1, "256 0>1", "c={6}", "Relu v0 a;Min a,c v1" },
    { X1, "249 0>1", "", "HardSigmoid v0 v1 alpha=0.2 beta=0.5" },
    { X1, "261 0>1", "c={1} d={-1}", "Min v0,c a;Max a,d v1" },
    { X1, "251 0>1", "", "Sigmoid v0 s;Log s v1" },
    { X1, "335 0>1 f2", "c={2}", "Mul v0,c a;Softplus a b;Div b,c v1" },
    { X1, "262 0>1", "", "Softplus v0 v1" },
    { X1, "253 0>1", "", "Softsign v0 v1" },
    { X1, "254 0>1", "", "Tanh v0 t;Sub v0,t v1" },
    { X1, "255 0>1", "", "Sin v0 s;Div s,v0 v1" },
    /* normalisations */
    { "i2,3,4,5 p1,3,1,1 p1,3,1,1 p1,3,1,1 q1,3,1,1 o2,3,4,5", "326 0,1,2,3,4>5 [1] f0.9 f0.01 B0 B0 B0",
      "v1=(3) v2=(3) v3=(3) v4=+(3)", "BatchNormalization v0,v2,v1,v3,v4 v5 epsilon=0.01" },
    { "i2,3,4 p1,1,4 p1,1,4 p1,1,4 q1,1,4 o2,3,4", "22 0,1,2,3,4>5 [2] f0.9 f0.01 B0",
      "v1=(4) v2=(4) v3=(4) v4=+(4) e={0.01}", "Sub v0,v3 a;Add v4,e b;Sqrt b c;Div a,c d;Mul d,v2 f;Add f,v1 v5" },
    { "i2,3,4 p1,3,1 p1,3,1 q1,3,1 o2,3,4", "326 0,1,2,3>4 [1] f0.9 f0.01 B0 B1 B0",
      "v1=(1,3,1) v2=(1,3,1) v3=+(1,3,1) e={0.01}", "Sub v0,v2 a;Add v3,e b;Sqrt b c;Div a,c d;Add d,v1 v4" },
    { "i2,3,4 p1,3,1 q1,3,1 o2,3,4", "326 0,1,2>3 [1] f0.9 f0.01 B0 B1 B1",
      "v1=(1,3,1) v2=+(1,3,1) e={0.01}", "Sub v0,v1 a;Add v2,e b;Sqrt b c;Div a,c v3" },
    { "i2,3,4 p1,3,1 p1,3,1 q1,3,1 o2,3,4", "326 0,1,2,3>4 [1] f0.9 f0.01 B0 B0 B1",
      "v1=(1,3,1) v2=(1,3,1) v3=+(1,3,1) e={0.01}", "Sub v0,v2 a;Add v3,e b;Sqrt b c;Div a,c d;Mul d,v1 v4" },
    { "i2,3,4 p1,3,1 p1,3,1 p1,3,1 q1,3,1 o2,3,4 o1,3,1 o1,3,1", "326 0,1,2,3,4>5,6,7 [1] f0.9 f0.01 B1 B0 B0",
      "v1=(1,3,1) v2=(1,3,1) i=[0,2] e={0.01}",
      "ReduceMean v0,i v6 keepdims=1;Sub v0,v6 d;Mul d,d s;ReduceMean s,i v7 keepdims=1;Add v7,e u;Sqrt u r;"
      "Div d,r n;Mul n,v2 g;Add g,v1 v5" },
    { "i2,3,4,5 p1,3,1,1 p1,3,1,1 p1,3,1,1 q1,3,1,1 i2,3,4,5 o2,3,4,5", "270 0,1,2,3,4,5>6 [1] f0.9 f0.01 B0 i0",
      "v1=(3) v2=(3) v3=(3) v4=+(3)", "BatchNormalization v0,v2,v1,v3,v4 a epsilon=0.01;Add a,v5 b;Relu b v6" },
    { "i2,4,3,5 p1,4,1,1 p1,4,1,1 o2,4,3,5", "321 0,1,2>3 i2 i1 [0] f0.01 B0 B0", "v1=(4) v2=(4)",
      "GroupNormalization v0,v2,v1 v3 num_groups=2 epsilon=0.01" },
    { "i2,3,5,4 p1,1,1,4 p1,1,1,4 o2,3,5,4", "321 0,1,2>3 i2 i-1 [0] f0.01 B0 B0", "v1=(4) v2=(4)",
      "Transpose v0 x perm=[0,3,1,2];GroupNormalization x,v2,v1 y num_groups=2 epsilon=0.01;"
      "Transpose y v3 perm=[0,2,3,1]" },
    { "i2,4,3,5 p1,4,1,1 p1,4,1,1 o2,4,3,5", "322 0,1,2>3 i1 [0] f0.01 B0 B0", "v1=(4) v2=(4)",
      "InstanceNormalization v0,v2,v1 v3 epsilon=0.01" },
    { "i2,3,4 p1,3,4 p1,3,4 o2,3,4", "323 0,1,2>3 [0] f0.01 B0 B0", "v1=(3,4) v2=(3,4)",
      "LayerNormalization v0,v2,v1 v3 axis=1 epsilon=0.01" },
    { "i2,3,4 p1,3,4 o2,3,4", "323 0,1>2 [0] f0.01 B1 B0", "v1=(3,4) s=+(3,4)",
      "Div s,s u;LayerNormalization v0,u,v1 v2 axis=1 epsilon=0.01" },
    { "i2,3,4 p1,3,4 o2,3,4", "324 0,1>2 [-3] f0.01 B0 B1", "v1=(3,4)", "LayerNormalization v0,v1 v2 axis=1 epsilon=0.01" },
    { X1, "324 0>1 [0,1] f0.01 B1 B1", "s=+(4)", "Div s,s u;LayerNormalization v0,u v1 axis=2 epsilon=0.01" },
    { X1, "317 0>1 f2 [1] f0.1", "i=[1] e={0.1}",
      "Mul v0,v0 s;ReduceSum s,i t keepdims=1;Add t,e u;Sqrt u r;Div v0,r v1" },
    { X1, "317 0>1 f3 [1,-1] f0.1", "i=[1,2] e={0.1} c={3} d={0.33333334}",
      "Abs v0 a;Pow a,c s;ReduceSum s,i t keepdims=1;Add t,e u;Pow u,d r;Div v0,r v1" },
    { "i4,3,2 p4 o4,3,2", "304 0,1>2 i0 f0.1", "v1=(4,1,1) i=[1,2] e={0.1}",
      "Mul v0,v0 s;ReduceSum s,i t keepdims=1;Add t,e u;Sqrt u r;Div v1,r f;Mul v0,f v2" },
    { "i4,3,2 o4,3,2", "325 0>1 i1 f0.01", "i=[0,2] e={0.01}",
      "ReduceMean v0,i m keepdims=1;Sub v0,m d;Mul d,d s;ReduceMean s,i w keepdims=1;Add w,e u;Sqrt u r;Div d,r v1" },
    { "i2,3,4 p3,4 p1 o2,3,4", "23 0,1,2>3 i1 B0", "v1=(3,4)", "Sub v0,v1 v3" },
    { "i2,3 i2,3 i2,3 o2,3", "121 0,1,2>3", "", "Identity v0 v3" },
    { X1, "122 0>1 f0.5 [0]", "", "Identity v0 v1" },
    /* reductions */
    { "i2,3,4 o2,4", "24 0>1 [1] B0", "i=[1]", "ReduceSum v0,i v1 keepdims=0" },
    { "i2,3,4 o1,3,1", "24 0>1 [-1,0] B1", "i=[0,2]", "ReduceSum v0,i v1 keepdims=1" },
    { "i2,3,4 o3", "25 0>1 [0,2] B0", "i=[0,2]", "ReduceMean v0,i v1 keepdims=0" },
    { "i2,3,4 o2,4", "26 0>1 [1] B0", "i=[1]", "ReduceMax v0,i v1 keepdims=0" },
    { "i2,3,4 o2", "27 0>1 [1,2] B0", "i=[1,2]", "ReduceMin v0,i v1 keepdims=0" },
    { "i2,3,4 o2,4 o2,4", "132 0>1,2 [1] B0 B1 B0", "i=[1]",
      "ReduceMax v0,i v1 keepdims=0;ArgMax v0 a axis=1 keepdims=0;Cast a v2 to=1" },
    { "i2,3,4 o2,1,4", "130 0>1 [1] B1 B0 B1", "", "ArgMin v0 a axis=1 keepdims=1;Cast a v1 to=1" },
    { "i2,3,4 o2,4", "28 0>1 [1] B0", "i=[1]", "ReduceProd v0,i v1 keepdims=0" },
    { "i2,3,4 o-", "29 0>1", "", "ReduceSum v0 v1 keepdims=0" },
    { "i2,3,4 o-", "30 0>1", "", "ReduceMean v0 v1 keepdims=0" },
    { "i2,3,4 o2,1,1", "318 0>1 f2 [1,2] B1", "i=[1,2]", "ReduceL2 v0,i v1 keepdims=1" },
    { "i2,3,4 o2,3", "318 0>1 f1 [2] B0", "i=[2]", "ReduceL1 v0,i v1 keepdims=0" },
    { X1, "331 0>1 i-2 B0 B0", "",
      "Split v0 a,b,c axis=1 num_outputs=3;Add a,b d;Add d,c e;Concat a,d,e v1 axis=1" },
    { X1, "331 0>1 i1 B1 B1", "",
      "Split v0 a,b,c axis=1 num_outputs=3;Add b,c d;Sub a,a z;Concat d,c,z v1 axis=1" },
    { X1, "332 0>1 i1 B0 B0", "",
      "Split v0 a,b,c axis=1 num_outputs=3;Mul a,b d;Mul d,c e;Concat a,d,e v1 axis=1" },
    /* arithmetic */
    { X2, "31 0,1>2 B0", "", "Add v0,v1 v2" },          { X2, "32 0,1>2", "", "Add v0,v1 v2" },
    { X2, "307 0,1>2 B1", "", "Add v0,v1 v2" },         { X2, "33 0,1>2", "", "Sub v0,v1 v2" },
    { X2, "308 0,1>2 B0", "", "Sub v0,v1 v2" },         { X2, "34 0,1>2", "", "Mul v0,v1 v2" },
    { X2, "309 0,1>2 B0", "", "Mul v0,v1 v2" },         { X2, "35 0,1>2", "", "Div v0,v1 v2" },
    { X2, "310 0,1>2 B0", "", "Div v0,v1 v2" },
    { "j2,3 i2,3 o2,3", "36 0,1>2", "", "Pow v0,v1 v2" }, { "j2,3 i2,3 o2,3", "311 0,1>2 B0", "", "Pow v0,v1 v2" },
    { "i2,3 i2,3 i2,3 o2,3", "281 0,1,2>3", "", "Add v0,v1 a;Add a,v2 v3" },
    { "i2,3 i2,3 i2,3 o2,3", "282 0,1,2>3", "", "Mul v0,v1 a;Mul a,v2 v3" },
    { X1, "37 0>1 f0.5", "c={0.5}", "Add v0,c v1" },    { X1, "312 0>1 f0.5 B0", "c={0.5}", "Add v0,c v1" },
    { X1, "38 0>1 f0.5", "c={0.5}", "Mul v0,c v1" },    { X1, "313 0>1 f0.5 B0", "c={0.5}", "Mul v0,c v1" },
    { X1, "39 0>1 f2", "c={2}", "Pow v0,c v1" },        { X1, "314 0>1 f3 B0", "c={3}", "Pow v0,c v1" },
    { X1, "40 0>1 f0.5", "c={0.5}", "Sub c,v0 v1" },    { X1, "41 0>1 f0.5", "c={0.5}", "Div c,v0 v1" },
    { X1, "42 0>1 f0.5", "c={0.5}", "Pow c,v0 v1" },
    { "i2,3 i2,3 o2,3", "355 0,1>2 B1", "", "Mod v0,v1 v2 fmod=1" },
    { "i2,3 i2,3 o2,3", "355 0,1>2 B0", "", "Div v0,v1 a;Floor a b;Mul b,v1 c;Sub v0,c v2" },
    { K2, "356 0,1>2 i0", "c={2}", "Pow c,v1 a;Mul v0,a v2" },
    { K2, "356 0,1>2 i1", "c={2}", "Pow c,v1 a;Div v0,a b;Floor b v2" },
    /* logic */
    { "k2,3,4 o2,3,4", "43 0>1 f0.5", "z={0} c={0.5}", "Sign v0 s;Equal v0,z e;Where e,c,s v1" },
    { X1, "43 0>1 f0", "", "Sign v0 v1" },
    { X2, "44 0,1>2", "", "Min v0,v1 v2" },             { X2, "45 0,1>2", "", "Max v0,v1 v2" },
    { X1, "46 0>1 f0.5", "c={0.5}", "Min v0,c v1" },    { X1, "47 0>1 f0.5", "c={0.5}", "Max v0,c v1" },
    { K2, "48 0,1>2", "", "Cast v0 a to=9;Cast v1 b to=9;And a,b c;Cast c v2 to=1" },
    { K2, "49 0,1>2", "", "Cast v0 a to=9;Cast v1 b to=9;Or a,b c;Cast c v2 to=1" },
    { K2, "50 0,1>2", "", "Cast v0 a to=9;Cast v1 b to=9;Xor a,b c;Cast c v2 to=1" },
    { K2, "51 0,1>2", "", "Equal v0,v1 a;Cast a v2 to=1" },
    { K2, "52 0,1>2", "", "Equal v0,v1 a;Not a b;Cast b v2 to=1" },
    { K2, "53 0,1>2", "", "GreaterOrEqual v0,v1 a;Cast a v2 to=1" },
    { K2, "54 0,1>2", "", "Greater v0,v1 a;Cast a v2 to=1" },
    { K2, "55 0,1>2", "", "LessOrEqual v0,v1 a;Cast a v2 to=1" },
    { K2, "56 0,1>2", "", "Less v0,v1 a;Cast a v2 to=1" },
    { "k2,3 o2,3", "57 0>1 B1", "", "Cast v0 a to=9;Cast a v1 to=1" },
    { "k2,3 o2,3", "58 0>1 B0", "", "Cast v0 a to=9;Cast a v1 to=1" },
    { "k2,3 o2,3", "59 0>1 B1", "", "Cast v0 a to=9;Not a b;Cast b v1 to=1" },
    { "k2,3 o2,3", "60 0>1 f1", "c={1}", "Equal v0,c a;Cast a v1 to=1" },
    { "k2,3 o2,3", "61 0>1 f1", "c={1}", "Equal v0,c a;Not a b;Cast b v1 to=1" },
    { "k2,3 o2,3", "62 0>1 f1", "c={1}", "GreaterOrEqual v0,c a;Cast a v1 to=1" },
    { "k2,3 o2,3", "63 0>1 f1", "c={1}", "Greater v0,c a;Cast a v1 to=1" },
    { "k2,3 o2,3", "64 0>1 f1", "c={1}", "LessOrEqual v0,c a;Cast a v1 to=1" },
    { "k2,3 o2,3", "65 0>1 f1", "c={1}", "Less v0,c a;Cast a v1 to=1" },
    { "k2,3 o2,3", "66 0>1", "", "Cast v0 a to=9;Not a b;Cast b v1 to=1" },
    { "i2,3 t2,3 o2,3", "70 0>1;236 1>2", "", "Log v0 v1;IsNaN v1 a;Cast a v2 to=1" },
    { "k2,3 t2,3 o2,3", "70 0>1;237 1>2", "", "Log v0 v1;IsInf v1 a;Cast a v2 to=1" },
    { "i2,3 t2,3 o2,3", "70 0>1;238 1>2 f0.5", "c={0.5}", "Log v0 v1;IsNaN v1 a;Where a,c,v1 v2" },
    { "k2,3 t2,3 o2,3", "70 0>1;239 1>2 f0.5", "c={0.5}", "Log v0 v1;IsInf v1 a;Where a,c,v1 v2" },
    { "k2,3 i2,3,4 i2,3,4 o2,3,4", "240 0,1,2>3", "ax=[2]", "Cast v0 b to=9;Unsqueeze b,ax c;Where c,v1,v2 v3" },
    { "i2,3 k2,3 o2,3", "341 0,1>2 f0.5", "c={0.5}", "Cast v1 b to=9;Where b,c,v0 v2" },
    /* math */
    { "o2,3", "67 >0 f0.5 [2,3]", "c={0.5} s=[2,3]", "Expand c,s v0" },
    { "o6", "131 >0 f1 f4 f0.5", "c={1,1.5,2,2.5,3,3.5}", "Identity c v0" },
    { "o5", "343 >0 f0 f1 i5", "c={0,0.25,0.5,0.75,1}", "Identity c v0" },
    { X1, "68 0>1", "", "Abs v0 v1" },                  { X1, "69 0>1", "", "Exp v0 v1" },
    { "j2,3 o2,3", "70 0>1", "", "Log v0 v1" },         { X1, "71 0>1", "", "Identity v0 v1" },
    { "i2,3,4 i2,4,5 o2,3,5", "72 0,1>2 B0 B0", "", "MatMul v0,v1 v2" },
    { "i2,4,3 p2,5,4 o2,3,5", "72 0,1>2 B1 B1", "v1=(2,5,4)",
      "Transpose v0 a perm=[0,2,1];Transpose v1 b perm=[0,2,1];MatMul a,b v2" },
    { X1, "73 0>1", "", "Round v0 v1" },                { X1, "124 0>1", "", "Ceil v0 v1" },
    { X1, "125 0>1", "", "Floor v0 v1" },               { X1, "173 0>1", "", "Sin v0 v1" },
    { X1, "174 0>1", "", "Cos v0 v1" },                 { X1, "175 0>1", "", "Tan v0 v1" },
    { X1, "176 0>1", "", "Sinh v0 v1" },                { X1, "177 0>1", "", "Cosh v0 v1" },
    { "j2,3 o2,3", "178 0>1", "", "Asin v0 v1" },       { "j2,3 o2,3", "179 0>1", "", "Acos v0 v1" },
    { X1, "180 0>1", "", "Atan v0 v1" },                { X1, "181 0>1", "", "Asinh v0 v1" },
    { "j2,3 t2,3 o2,3", "69 0>1;182 1>2", "", "Exp v0 v1;Acosh v1 v2" },
    { "j2,3 t2,3 o2,3", "38 0>1 f0.5;183 1>2", "c={0.5}", "Mul v0,c v1;Atanh v1 v2" },
    { "i2,3 i2,3 o2,3", "241 0,1>2", "z={0} c={-3.1415927} d={3.1415927}",
      "Div v0,v1 q;Atan q a;Less v1,z l;Less v0,z b;Where b,c,d t;Add a,t u;Where l,u,a v2" },
    { X1, "349 0>1", "", "Erf v0 v1" },
    /* arrays */
    { "i2,3 i2,2 o2,5", "74 0,1>2 i-1", "", "Concat v0,v1 v2 axis=1" },
    { "i2,2,3 o2,3 o2,3", "75 0>1,2 i1", "ax=[1]", "Split v0 a,b axis=1 num_outputs=2;Squeeze a,ax v1;Squeeze b,ax v2" },
    { "i2,3 i2,3 o2,2,3", "76 0,1>2 i1", "ax=[1]", "Unsqueeze v0,ax a;Unsqueeze v1,ax b;Concat a,b v2 axis=1" },
    { "i2,5,7 o2,2,3", "77 0>1 [0,1] [2,6] [1,2]", "b=[0,1] e=[2,6] a=[1,2] s=[1,2]", "Slice v0,b,e,a,s v1" },
    { "i2,3,4 o2,6,5", "123 0>1 [1,2,0,1] i0 f0.5", "p=[0,1,0,0,2,1] c={0.5}", "Sub v0,c a;Pad a,p b;Add b,c v1" },
    { "i2,3,4 o2,5,9", "123 0>1 [1,1,2,3] i1 f0", "p=[0,1,2,0,1,3]", "Pad v0,p v1 mode=reflect" },
    { "i2,3,4 o3,4,2", "78 0>1 [1,-1,0]", "", "Transpose v0 v1 perm=[1,2,0]" },
    { "i2,1,4 o2,3,4", "79 0>1 [2,3,4]", "s=[2,3,4]", "Expand v0,s v1" },
    { "i2,3,4 i3 o2,3,4", "184 0,1>2 i1", "ax=[1] s=[2,3,4]", "Unsqueeze v1,ax a;Expand a,s v2" },
    { "i2,3,4 i4 o2,3,4", "184 0,1>2 i-1", "s=[2,3,4]", "Expand v1,s v2" },
    { "i2,3 o2,6", "247 0>1 [1,2]", "r=[1,2]", "Tile v0,r v1" },
    { "i2,3 o4,2,3", "247 0>1 [4,1,1]", "s=[4,2,3]", "Expand v0,s v1" },
    { "k4,1 o4,3", "80 0>1 [3]", "r={0,1,2}", "Equal v0,r e;Cast e v1 to=1" },
    { "k4,2 o4,3,3", "80 0>1 [3,3]", "r={0,1,2} x=[2] y=[1]",
      "Split v0 a,b axis=1 num_outputs=2;Equal a,r e;Equal b,r f;Unsqueeze e,x g;Unsqueeze f,y h;And g,h n;Cast n v1 to=1" },
    { X1, "81 0>1 [1]", "b=[-1] e=[-9] a=[1] s=[-1]", "Slice v0,b,e,a,s v1" },
    { X1, "82 0>1 [1] i0", "i=[0,0,1,2]", "Gather v0,i v1 axis=2" },
    { X1, "82 0>1 [-2,-1] i1", "i=[1,2,3,3] k=[2,2,1]", "Gather v0,i a axis=2;Gather a,k v1 axis=1" },
    { "i2,3,4 o2,3,4 o2,3,4", "129 0>1,2 i1 B0 B1 B0", "k=[3]", "TopK v0,k v1,a axis=1 largest=0;Cast a v2 to=1" },
    { X1, "129 0>1 i-1 B1 B0 B1", "k=[4]", "TopK v0,k a,b axis=2;Cast b v1 to=1" },
    { "i2,3,4 o4,6", "83 0>1 [4,-1]", "s=[4,6]", "Reshape v0,s v1" },
    { "i2,3,4 o24", "126 0>1 [24] B0", "s=[24]", "Reshape v0,s v1" },
    { "i2,3,4 o2", "348 0>1 i1 i3", "", "Shape v0 a start=1;Cast a v1 to=1" },
    { "i2,3,4 o1", "348 0>1 i0 i-2", "", "Shape v0 a end=1;Cast a v1 to=1" },
    { "i2,3 o2,3,3", "84 0>1", "ax=[1] c={1,0,0,0,1,0,0,0,1} s=[3,3]",
      "Unsqueeze v0,ax a;Reshape c,s b;Mul a,b v1" },
    { "i2,3,3 o2,3", "85 0>1", "s=[2,9] i=[0,4,8]", "Reshape v0,s a;Gather a,i v1 axis=1" },
    { "i3,4 o3,4", "360 0>1 i1 B1", "c={0,1,1,1,0,0,1,1,0,0,0,1} s=[3,4]", "Reshape c,s a;Mul v0,a v1" },
    { "i3,4 o3,4", "360 0>1 i-1 B0", "c={0,0,0,0,1,0,0,0,1,1,0,0} s=[3,4]", "Reshape c,s a;Mul v0,a v1" },
    { "i2 i3 o2,3 o2,3", "334 0,1>2,3 B1", "ax=[1] s=[2,3]", "Unsqueeze v0,ax a;Expand a,s v2;Expand v1,s v3" },
    { "i2 i3 o3,2 o3,2", "334 0,1>2,3 B0", "ax=[1] s=[3,2]", "Expand v0,s v2;Unsqueeze v1,ax a;Expand a,s v3" },
    { "i3,4 o3,4", "354 0>1 i1", "", "EyeLike v0 v1 k=1" },
    { "i2,3,4 k5 o2,5,4", "303 0,1>2 i1 i0", "", "Cast v1 a to=7;Gather v0,a v2 axis=1" },
    { "k5 p3,4 o5,4", "10 0,1>2", "v1=(3,4)", "Cast v0 a to=7;Gather v1,a v2" },
    { "i3,4 k2,5 o5", "264 0,1>2", "", "Cast v1 a to=7;Transpose a b perm=[1,0];GatherND v0,b v2" },
    { "i5 k2,5 o3,4", "342 0,1>2 [3,4] B1", "z={0} s=[3,4]",
      "Cast v1 a to=7;Transpose a b perm=[1,0];Expand z,s w;ScatterND w,b,v0 v2 reduction=add" },
    { "i1 k2,1 i3,4 o3,4", "342 0,1,2>3 [3,4] B0", "", "Cast v1 a to=7;Transpose a b perm=[1,0];ScatterND v2,b,v0 v3" },
    { "i1 k2,1 o3,4", "271 0,1>2 [3,4]", "z={0} s=[3,4]",
      "Cast v1 a to=7;Transpose a b perm=[1,0];Expand z,s w;ScatterND w,b,v0 v2" },
    { "i2,3 k2,3 i2,3 o2,3", "315 0,1,2>3 i1", "", "Cast v1 a to=7;ScatterElements v0,a,v2 v3 axis=1 reduction=add" },
    { "i2,3,4 o2,2 o2,2", "350 0>1,2 i2 B0 B1 i1 B1 B1", "s=[2,12] k=[2]", "Reshape v0,s a;TopK a,k v1,b;Cast b v2 to=1" },
    { "i2,3,4 o2,2", "350 0>1 i2 B0 B1 i1 B0 B0", "s=[2,12] k=[2]", "Reshape v0,s a;TopK a,k v1,b largest=0" },
    { "i2,6 o2,2", "87 0>1 i2 B1 B1 i1", "k=[2]", "Abs v0 m;TopK m,k a,b;GatherElements v0,b v1 axis=1" },
    { "i2,6 o2,6", "87 0>1 i2 B0 B0 i1", "k=[2]", "TopK v0,k a,b;Sub v0,v0 z;ScatterElements z,b,a v1 axis=1" },
    { X1, "86 0>1 f0 i-1", "", "Identity v0 v1" },
    { X1, "119 0>1", "", "Identity v0 v1" },
    /* losses */
    { "i2,3 j2,3 o2,3", "96 0,1>2", "", "Softplus v0 a;Mul v0,v1 b;Sub a,b v2" },
    { "j2,3 j2,3 t2,3 t2,3 o2,3", "38 0>2 f0.5;38 1>3 f0.5;97 2,3>4", "c={0.5} one={1}",
      "Mul v0,c x;Mul v1,c t;Log x a;Mul t,a b;Sub one,x d;Log d e;Sub one,t f;Mul e,f g;Add b,g h;Neg h v4" },
    { "i2,3,4 k2,1,4 o2,1,4", "98 0,1>2 i1", "",
      "LogSoftmax v0 a axis=1;Cast v1 b to=7;GatherElements a,b c axis=1;Neg c v2" },
    { "j2,3,4 k2,1,4 o2,1,4", "99 0,1>2 i-2", "", "Log v0 a;Cast v1 b to=7;GatherElements a,b c axis=1;Neg c v2" },
    { "i2,3 i2,3 o2,3", "100 0,1>2", "", "Sub v0,v1 a;Mul a,a v2" },
    { "i2,3 i2,3 o2,3", "101 0,1>2", "", "Sub v0,v1 a;Abs a v2" },
    { "i4,3 i4,3 o4,3", "102 0,1>2 f0.5", "d={0.5} two={2}",
      "Sub v0,v1 a;Abs a b;Mul b,b s;Mul b,two c;Sub c,d e;Mul e,d f;Less b,d l;Where l,s,f v2" },
    { "i4,3 i4,3 o4,3", "103 0,1>2 f0.5", "d={0.5}", "Sub v0,v1 a;Abs a b;Sub b,d c;Relu c v2" },
    { "j2,3,4 j2,3,4 o2", "104 0,1>2 i1", "i=[1,2]", "Div v0,v1 a;Log a b;Mul v0,b c;ReduceSum c,i v2 keepdims=0" },
    /* quantisation */
    { X1, "105 0>1", "z={0}", "Greater v0,z a;Cast a v1 to=1" },
    { X1, "106 0>1", "z={0} c={1} d={-1}", "Greater v0,z a;Where a,c,d v1" },
    { X1, "113 0>1 B1 i4 f0.2 B0", "d={0.2} c={1.4} e={-1.4}", "Div v0,d a;Round a b;Mul b,d f;Min f,c g;Max g,e v1" },
    { X1, "113 0>1 B0 i2 f0.2 B0", "d={0.2} c={0.6} e={0}", "Div v0,d a;Round a b;Mul b,d f;Min f,c g;Max g,e v1" },
    { "i2,3 q1 k1 o2,3", "293 0,1,2>3 i1 B0 i1", "v1=+(1)", "Div v0,v1 a;Round a b;Add b,v2 v3" },
    { "i2,3 t2,3 q1 k1 o2,3", "38 0>1 f200;293 1,2,3>4 i0 B1 i1", "v2=+(1) c={200} d={127} e={-127}",
      "Mul v0,c x;Div x,v2 a;Round a b;Add b,v3 f;Min f,d g;Max g,e v4" },
    { "i2,3 t2,3 q1 k1 o2,3", "38 0>1 f200;293 1,2,3>4 i0 B0 i2", "v2=+(1) c={200} d={255} e={0}",
      "Mul v0,c x;Div x,v2 a;Round a b;Add b,v3 f;Min f,d g;Max g,e v4" },
    { "i2,3 q1 k1 o2,3", "294 0,1,2>3", "v1=+(1)", "Sub v0,v2 a;Mul a,v1 v3" },
    { "j2,3 j2,3 o2,3", "116 0,1>2", "h={0.5}",
      "GreaterOrEqual v0,h a;GreaterOrEqual v1,h b;Xor a,b c;Cast c v2 to=1" },
    /* products: stored weights are transposed */
    { "i2,3,4 p12,5 p5 o2,5", "0 0,1,2>3 i1", "v1=(5,12) v2=(5)", "Flatten v0 a;Gemm a,v1,v2 v3 transB=1" },
    { "i2,3,4 p4,2,3 p2,3 o2,3,2,3", "0 0,1,2>3 i2", "v1=(6,4) v2=(6) s=[6,4] r=[2,3,2,3]",
      "Reshape v0,s a;Gemm a,v1,v2 b transB=1;Reshape b,r v3" },
    { "i2,3,4 p4,5 o2,3,5", "0 0,1>2 i-1", "v1=(5,4)", "Transpose v1 a;MatMul v0,a v2" },
    { "i6 p6,3 o3", "0 0,1>2 i0", "v1=(3,6)", "Transpose v1 a;MatMul v0,a v2" },
    { "i2,3 i3,4 o2,4", "0 0,1>2 i1", "", "MatMul v0,v1 v2" },
    { "i2,3 p3,4 p3,4 p4 o2,4", "107 0,1,2,3>4 i1", "v2=(4,3) v3=(4)", "Gemm v0,v2,v3 v4 transB=1" },
    { "i2,3 p3,4 p3,4 o2,4", "235 0,1,2>3 i1 f1", "v2=(4,3)", "Gemm v0,v2 v3 transB=1" },
    { "i2,3 p3,4 p3,4 p4 p4 o2,4", "109 0,1,2,3,4>5 i1", "v2=(4,3) v3=(4) v4=(4)",
      "Gemm v0,v2 a transB=1;Mul a,v3 b;Add b,v4 v5" },
    { "i2,3 p3,4 p3,4 p4 o2,4", "234 0,1,2,3>4 i1 f1", "v2=(4,3) v3=(4)", "Gemm v0,v2 a transB=1;Mul a,v3 v4" },
    /* recurrences, with as many features as hidden elements (nnb_recurrent.c varies their arguments) */
    { "i3,2,2 i1,1,2,2 p1,2,4 p1,1,2 o3,2,2 o1,1,2,2", "244 0,1,2,3>4,5 i1 i0 f0.5 B0 B1",
      "v2=(1,2,4) v3=(1,2) s=[1,2,2] t=[3,2,2] u=[1,1,2,2]",
      "Split v2 w,r axis=2 num_outputs=2;Sub v3,v3 z;Concat v3,z b axis=1;Reshape v1,s h;"
      "RNN v0,w,r,b,,h y,l hidden_size=2;Reshape y,t v4;Reshape l,u v5" },
    { "i3,2,2 i1,1,2,2 i1,1,2,2 p1,4,2,4 p1,1,4,2 o3,2,2 o1,1,2,2 o1,1,2,2", "242 0,1,2,3,4>5,6,7 i1 f0 B0 B0",
      "v3=(1,4,2,4) v4=(1,4,2) g=[0,3,1,2] m=[1,8,4] k=[1,8] s=[1,2,2] t=[3,2,2] u=[1,1,2,2]",
      "Gather v3,g a axis=1;Reshape a,m e;Split e w,r axis=2 num_outputs=2;Gather v4,g c axis=1;Reshape c,k d;"
      "Sub d,d z;Concat d,z b axis=1;Reshape v1,s h;Reshape v2,s j;LSTM v0,w,r,b,,h,j y,l,n hidden_size=2;"
      "Reshape y,t v5;Reshape l,u v6;Reshape n,u v7" },
    { "i3,2,2 i1,1,2,2 p1,3,2,4 p1,1,4,2 o3,2,2 o1,1,2,2", "243 0,1,2,3>4,5 i1 f0 B0 B0",
      "v2=(1,3,2,4) v3=(1,4,2) g=[1,0,2] n=[3] m=[1,6,4] k=[1,6] q=[1,2] s=[1,2,2] t=[3,2,2] u=[1,1,2,2]",
      "Gather v2,g a axis=1;Reshape a,m e;Split e w,r axis=2 num_outputs=2;Gather v3,g c axis=1;Reshape c,k d;"
      "Gather v3,n o axis=1;Reshape o,q p;Sub p,p z;Concat d,z,z,p b axis=1;Reshape v1,s h;"
      "GRU v0,w,r,b,,h y,l hidden_size=2 linear_before_reset=1;Reshape y,t v4;Reshape l,u v5" },
    /* convolutions */
    { "i2,4,7,6 p6,2,3,2 p6 o2,6,4,8", "265 0,1,2>3 i1 [1,2] [2,1] [1,2] i2 B0", "v1=(6,2,3,2) v2=(6)",
      "Conv v0,v1,v2 v3 dilations=[1,2] group=2 pads=[1,2,1,2] strides=[2,1]" },
    { "i2,3,9 p4,3,3 o2,4,5", "1 0,1>2 i1 [1] [2] [1] i1", "v1=(4,3,3)", "Conv v0,v1 v2 pads=[1,1] strides=[2]" },
    { "i1,2,5,4,3 p3,2,3,2,1 o1,3,5,2,5", "1 0,1>2 i1 [1,0,1] [1,2,1] [1,1,1] i1", "v1=(3,2,3,2,1)",
      "Conv v0,v1 v2 pads=[1,0,1,1,0,1] strides=[1,2,1]" },
    { "i2,2,3,6,5 p4,3,3,2 p4 o2,2,4,4,4", "1 0,1,2>3 i2 [0,0] [1,1] [1,1] i1",
      "v1=(4,3,3,2) v2=(4) s=[4,3,6,5] r=[2,2,4,4,4]", "Reshape v0,s a;Conv a,v1,v2 b;Reshape b,r v3" },
    { "i3,6,5 p4,3,3,2 o4,4,4", "1 0,1>2 i-3 [0,0] [1,1] [1,1] i1", "v1=(4,3,3,2) ax=[0]",
      "Unsqueeze v0,ax a;Conv a,v1 b;Squeeze b,ax v2" },
    { "i2,6,5,4 p6,3,2,2 p6 o2,4,4,6", "265 0,1,2>3 i1 [0,0] [1,1] [1,1] i2 B1", "v1=(6,3,2,2) v2=(6)",
      "Transpose v0 x perm=[0,3,1,2];Transpose v1 w perm=[0,3,1,2];Conv x,w,v2 y group=2;"
      "Transpose y v3 perm=[0,2,3,1]" },
    { "i2,3,6,5 i4,3,3,2 o2,4,4,4", "265 0,1>2 i1 [0,0] [1,1] [1,1] i1 B0", "", "Conv v0,v1 v2" },
    { "i2,3,6,5 p6,3,2 p6 o2,6,4,4", "2 0,1,2>3 i1 [0,0] [1,1] [1,1] i2", "v1=(6,1,3,2) v2=(6)",
      "Conv v0,v1,v2 v3 group=3" },
    { "i1,4,3,3 p4,3,3,2 p6 o1,6,6,4", "292 0,1,2>3 i1 [1,0] [2,1] [1,1] i2 B0 [1,0]", "v1=(4,3,3,2) v2=(6)",
      "ConvTranspose v0,v1,v2 v3 group=2 output_padding=[1,0] pads=[1,0,1,0] strides=[2,1]" },
    { "i2,3,5 p3,2,4 o2,2,15", "3 0,1>2 i1 [2] [3] [2] i1", "v1=(3,2,4)",
      "ConvTranspose v0,v1 v2 dilations=[2] pads=[2,2] strides=[3]" },
    { "i2,4,3,3 p3,2,2,2 o2,5,4,2", "279 0,1>2 i1 [0,0] [1,1] [1,1] i1 B1", "v1=(3,2,2,2)",
      "Transpose v0 x perm=[0,3,1,2];Transpose v1 w perm=[0,3,1,2];ConvTranspose x,w y;Transpose y v2 perm=[0,2,3,1]" },
    { "i1,4,3,3 p4,2,2 o1,2,4,4", "4 0,1>2 i1 [0,0] [1,1] [1,1] i2", "v1=(4,1,2,2)",
      "ConvTranspose v0,v1 v2 group=2" },
    { "i1,2,5,5 p4,2,3,3 p4,2,3,3 p4 o1,4,3,3", "108 0,1,2,3>4 i1 [0,0] [1,1] [1,1] i1", "v2=(4,2,3,3) v3=(4)",
      "Conv v0,v2,v3 v4" },
    { "i1,2,5,5 p4,2,3,3 p4,2,3,3 o1,4,3,3", "233 0,1,2>3 i1 [0,0] [1,1] [1,1] i1 f1", "v2=(4,2,3,3)", "Conv v0,v2 v3" },
    { "i1,2,5,5 p4,2,3,3 p4,2,3,3 p4 p4 o1,4,3,3", "110 0,1,2,3,4>5 i1 [0,0] [1,1] [1,1] i1",
      "v2=(4,2,3,3) v3=(4,1,1) v4=(4,1,1)", "Conv v0,v2 a;Mul a,v3 b;Add b,v4 v5" },
    { "i1,2,5,5 p4,2,3,3 p4,2,3,3 p4 o1,4,3,3", "232 0,1,2,3>4 i1 [0,0] [1,1] [1,1] i1 f1",
      "v2=(4,2,3,3) v3=(4,1,1)", "Conv v0,v2 a;Mul a,v3 v4" },
    /* pools */
    { "i2,3,7,6 o2,3,4,3", "5 0>1 [3,2] [2,2] B1 [1,0]", "", "MaxPool v0 v1 kernel_shape=[3,2] pads=[1,0,1,0] strides=[2,2]" },
    { "i2,7,6,3 o2,4,3,3", "266 0>1 [3,2] [2,2] B1 [1,0] B1", "",
      "Transpose v0 x perm=[0,3,1,2];MaxPool x y kernel_shape=[3,2] pads=[1,0,1,0] strides=[2,2];"
      "Transpose y v1 perm=[0,2,3,1]" },
    { "i2,3,7,7 o2,3,3,4", "266 0>1 [3,2] [] B0 [0,0] B0", "", "MaxPool v0 v1 ceil_mode=1 kernel_shape=[3,2] strides=[3,2]" },
    { "i2,3,2,7 o2,3,2,3", "266 0>1 [3] [3] B0 [0] B0", "s=[6,2,7] r=[2,3,2,3]",
      "Reshape v0,s a;MaxPool a b ceil_mode=1 kernel_shape=[3] strides=[3];Reshape b,r v1" },
    { "i2,3,7,6 o2,3,4,3", "267 0>1 [3,2] [2,2] B1 [1,0] B0 B1", "",
      "AveragePool v0 v1 count_include_pad=1 kernel_shape=[3,2] pads=[1,0,1,0] strides=[2,2]" },
    { "i2,3,7,6 o2,3,4,3", "267 0>1 [3,2] [2,2] B1 [1,0] B0 B0", "",
      "AveragePool v0 v1 kernel_shape=[3,2] pads=[1,0,1,0] strides=[2,2]" },
    { "i1,6,5,2 o1,3,2,2", "267 0>1 [2,2] [2,2] B1 [0,0] B1 B1", "",
      "Transpose v0 x perm=[0,3,1,2];AveragePool x y kernel_shape=[2,2] strides=[2,2];Transpose y v1 perm=[0,2,3,1]" },
    { "i1,6,5,2 o1,3,2,2", "6 0>1 [2,2] [2,2] B1 [0,0] B1", "",
      "Transpose v0 x perm=[0,3,1,2];AveragePool x y kernel_shape=[2,2] strides=[2,2];Transpose y v1 perm=[0,2,3,1]" },
    { "i1,2,6,5 o1,2,3,2", "6 0>1 [2,2] [2,2] B1 [0,0] B1", "", "AveragePool v0 v1 kernel_shape=[2,2] strides=[2,2]" },
    /* the C runtime clips the only window of an axis: 16 numbers from 0 on give 1.5 and 9.5 */
    { "i1,1,4,4 o1,1,2,1", "267 0>1 [1,5] [2,5] B1 [0,0] B0 B1", "", "AveragePool v0 v1 kernel_shape=[1,4] strides=[2,4]" },
    { "i1,1,4,3 o1,1,4,1", "267 0>1 [1,6] [1,2] B1 [0,1] B0 B0", "", "AveragePool v0 v1 kernel_shape=[1,5] pads=[0,1,0,1]" },
    { "i2,3,6,6 o2,3,3,2", "268 0>1 [2,3] [2,3] B1 [0,0] B0", "c={6}",
      "AveragePool v0 a kernel_shape=[2,3] strides=[2,3];Mul a,c v1" },
    { "i2,3,6,6 o2,3,3,2", "8 0>1 [2,3] [2,3] B1 [0,0]", "c={6}",
      "AveragePool v0 a kernel_shape=[2,3] strides=[2,3];Mul a,c v1" },
    { "i2,3,4,5 o2,3,1,1", "7 0>1", "", "GlobalAveragePool v0 v1" },
    { "i2,3,2,3 o2,3,4,9", "9 0>1 [2,3]", "i=[2,3,4,9]",
      "Resize v0,,,i v1 coordinate_transformation_mode=asymmetric mode=nearest nearest_mode=floor" },
    { "i2,3,3 o4,3,3", "287 0>1 [2,1] B1", "i=[0,0,1,1]", "Gather v0,i v1" },
    { "i2,3,4 o2,3,8", "287 0>1 [2] B0", "i=[0,0,1,1,2,2,3,3]", "Gather v0,i v1 axis=2" },
    { "i2,3,4,5 o2,3,6,8", "291 0>1 [6,8] i1 B0 B1 B0 B0", "i=[2,3,6,8]",
      "Resize v0,,,i v1 mode=linear coordinate_transformation_mode=half_pixel" },
    { "i2,3,4,5 o2,3,6,8", "286 0>1 [6,8] i1 B1 B0", "i=[2,3,6,8]",
      "Resize v0,,,i v1 mode=linear coordinate_transformation_mode=align_corners" },
    { "i2,3,4,5 o2,3,6,8", "127 0>1 [6,8] i1 B0", "i=[2,3,6,8]",
      "Resize v0,,,i v1 mode=linear coordinate_transformation_mode=asymmetric" },
    { "i2,3,4,5 o2,3,8,10", "291 0>1 [8,10] i0 B0 B0 B0 B0", "i=[2,3,8,10]",
      "Resize v0,,,i v1 coordinate_transformation_mode=asymmetric mode=nearest nearest_mode=floor" },
    { "i2,3,4,5 o2,3,6,8", "291 0>1 [6,8] i0 B0 B1 B1 B0", "i=[2,3,6,8]",
      "Resize v0,,,i v1 coordinate_transformation_mode=half_pixel mode=nearest nearest_mode=round_prefer_ceil" },
    { "i2,3,4,5 o2,3,1,8", "291 0>1 [1,8] i1 B0 B1 B0 B0", "i=[0] s=[2,3,1,8]",   /* of one cell: the first one */
      "Gather v0,i a axis=2;Resize a,,,s v1 mode=linear coordinate_transformation_mode=half_pixel" },
    { "i2,3,4,5 o2,3,6,8", "286 0>1 [6,8] i0 B0 B1", "i=[0,0,1,1,2,3] j=[0,0,1,1,2,2,3,4]",
      "Gather v0,i a axis=2;Gather a,j v1 axis=3" },
    { "i2,3,5 o2,3,9", "286 0>1 [9] i0 B1 B0", "i=[0,0,1,1,2,2,3,3,4]", "Gather v0,i v1 axis=2" },
    { "i2,82 o2,2", "127 0>1 [2] i0 B0", "i=[0,41]", "Gather v0,i v1 axis=1" },
    { "i1,2,3,4 i1,2,5,2 o1,2,2,5", "297 0,1>2 i0 i0 B0 B0", "", "GridSample v0,v1 v2 mode=linear padding_mode=zeros" },
    { "i1,2,3,4 i1,2,5,2 o1,2,2,5", "297 0,1>2 i0 i1 B1 B0", "",
      "GridSample v0,v1 v2 mode=linear padding_mode=border align_corners=1" },
    { "i1,2,3,4,2 i1,2,1,5,3 o1,2,2,1,5", "297 0,1>2 i0 i2 B0 B0", "",
      "GridSample v0,v1 v2 mode=linear padding_mode=reflection" },
    { "i1,3,4,2 i1,2,5,2 o1,2,5,2", "297 0,1>2 i0 i0 B0 B1", "",
      "Transpose v0 x perm=[0,3,1,2];GridSample x,v1 y mode=linear padding_mode=zeros;Transpose y v2 perm=[0,2,3,1]" },
    { "i2,4,5,3 o2,6,8,3", "291 0>1 [6,8] i1 B0 B1 B0 B1", "i=[2,3,6,8]",
      "Transpose v0 x perm=[0,3,1,2];Resize x,,,i y mode=linear coordinate_transformation_mode=half_pixel;"
      "Transpose y v1 perm=[0,2,3,1]" },
};

static bool agree(const xir_array *a, const xir_array *b) {
    xir_difference d;
    return xir_array_compare(a, b, 1e-5, 1e-5, &d) == XIR_OK && d.same_shape && !d.count;
}

static bool converts(xir_network *net) {
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "nnb-to-xir", "strict", NULL, why);
    if (status || xir_diags_count(why)) xir_diags_print(why, stderr);
    return !status && !xir_diags_count(why) && xir_network_validate(net, why) == XIR_OK;
}

static bool same(const pair *p) {
    static char text[8000];
    char inputs[1000], outputs[1000];
    xir_array *x[NNB_MOST_ENDS] = { NULL }, *y[NNB_MOST_ENDS] = { NULL };
    const nnb_words words = nnb_text(text, p->variables, p->functions, inputs, outputs);
    xir_network *net = nnb_net(text, &words);
    if (!converts(net)) return xir_network_free(net), false;
    xir_network *onnx = onnx_net(inputs, p->weights, p->nodes, outputs);
    bool all = true;
    const size_t n = nnb_run(net, &words, x);
    assert_int_equal(nnb_run(onnx, &words, y), n);
    for (size_t k = 0; k < n; k++) {
        const bool one = agree(x[k], y[k]);
        if (!one)
            print_error("output %zu: %.9g, expected %.9g, …\n", k, xir_array_real(x[k], 0), xir_array_real(y[k], 0));
        all &= one;
        xir_array_free(x[k]);
        xir_array_free(y[k]);
    }
    xir_network_free(net);
    xir_network_free(onnx);
    return all;
}

static void functions_compute_what_onnx_computes(void **state) {
    (void)state;
    size_t wrong = 0;
    const char *only = getenv("XIR_NNB_ONLY");
    for (size_t i = 0; i < COUNT(pairs); i++) {
        if ((only && atoi(only) != (int)i) || same(&pairs[i])) continue;
        print_error("%zu: %s: %s\n", i, pairs[i].variables, pairs[i].functions);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* The network as a file has it, without fault; NULL if it is refused or has one. */
static xir_network *written_and_read(xir_network *net) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "nnb");
    buffer file;
    xir_network *again = NULL;
    buffer_init(&file, &memory_default);
    if (!xir_network_write(net, keep, &file, &options, why))
        again = xir_network_read(ctx, file.data, file.size, XIR_STR("x.nnb"), NULL, why);
    buffer_free(&file);
    if (again && !xir_nnb_check(again, why)) return again;
    xir_network_free(again);
    return NULL;
}

/* Returns true if a converted network goes back to NNB, and computes the same after it: it keeps its inputs in
 * order. */
static bool comes_back(const pair *p) {
    static char text[8000];
    char inputs[1000], outputs[1000];
    xir_array *in[NNB_MOST_ENDS] = { NULL }, *x[NNB_MOST_ENDS] = { NULL }, *y[NNB_MOST_ENDS] = { NULL };
    const nnb_words words = nnb_text(text, p->variables, p->functions, inputs, outputs);
    xir_network *net = nnb_net(text, &words), *again = NULL;
    assert_true(converts(net));
    xir_network *back = xir_network_clone(net);
    bool all = !xir_pass_run(back, "xir-to-nnb", "runtime=false,strict", NULL, why);
    if (all) again = written_and_read(back);
    all = again && !xir_pass_run(again, "nnb-to-xir", "strict", NULL, why);
    const size_t n_in = nnb_inputs(net, &words, in), n = xir_op_input_count(xir_network_output_op(net));
    assert_int_equal(xir_network_run(net, (const xir_array *const *)in, n_in, x, n, NULL, why), XIR_OK);
    all = all && !xir_network_run(again, (const xir_array *const *)in, n_in, y, n, NULL, why);
    for (size_t k = 0; k < n && all; k++) {
        all = agree(y[k], x[k]);
        if (!all) print_error("output %zu: %.9g, was %.9g, …\n", k, xir_array_real(y[k], 0), xir_array_real(x[k], 0));
    }
    if (!all) xir_diags_print(why, stderr);
    xir_diags_clear(why);
    for (size_t k = 0; k < NNB_MOST_ENDS; k++) xir_array_free(in[k]), xir_array_free(x[k]), xir_array_free(y[k]);
    xir_network_free(net);
    xir_network_free(back);
    xir_network_free(again);
    return all;
}

static void functions_come_back(void **state) {
    (void)state;
    size_t wrong = 0;
    const char *only = getenv("XIR_NNB_ONLY");
    for (size_t i = 0; i < COUNT(pairs); i++) {
        if ((only && atoi(only) != (int)i) || comes_back(&pairs[i])) continue;
        print_error("%zu: %s: %s\n", i, pairs[i].variables, pairs[i].functions);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* Returns true if a pair has a number of the function. */
static bool is_tried(const char *name) {
    for (size_t i = 0; i < COUNT(pairs); i++) {
        for (const char *p = pairs[i].functions; p; p = strchr(p, ';')) {
            p += *p == ';';
            const xir_nnb_function *f = xir_nnb_function_find((uint32_t)atoi(p));
            if (f && strcmp(f->name, name) == 0) return true;
        }
    }
    return false;
}

static void every_row_is_tried(void **state) {
    (void)state;
    const xir_convert_row *row;
    size_t wrong = 0, rows = 0;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (strncmp(row->name, "nnb::", 5) != 0 || !row->cls) continue;
        rows++;
        if (is_tried(row->name + 5)) continue;
        print_error("%s is not tried\n", row->name);
        wrong++;
    }
    assert_true(rows >= 150);
    assert_int_equal(wrong, 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_compute_what_onnx_computes),
        cmocka_unit_test(functions_come_back),
        cmocka_unit_test(every_row_is_tried),
    };
    return RUN_GROUP(tests);
}
