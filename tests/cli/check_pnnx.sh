# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir check of a PNNX text: operators are checked by what they would become. All faults of a file are found in one run,
# each with its line, and nothing that only follows from another one.
. "$SRC/tests/cli/lib.sh"

w="bias=False groups=1 in_channels=3 out_channels=4 kernel_size=(3,3) padding=(1,1) padding_mode=zeros"
k="@weight=(4,3,3,3)f32"
cat >faults.pnnx.param <<END
7767517
29 30
pnnx.Input x_in 0 1 x #x=(1,3,8,8)f32
pnnx.Input i_in 0 1 i #i=(5)i64
nn.Conv2d fine 1 1 x y $w dilation=(1,1) stride=(1,1) $k #y=(1,4,8,8)f32
nn.Conv2d channels 1 1 x a1 $w dilation=(1,1) stride=(1,1) @weight=(4,5,3,3)f32
nn.Conv2d unknown 1 1 x a2 $w dilations=(1,1) stride=(1,1) $k
nn.Conv2d kind 1 1 x a3 $w dilation=(1,1) stride=wide $k
nn.Conv2d items 1 1 x a4 $w dilation=(1,1) stride=(1,1,1) $k
nn.Conv2d zero 1 1 x a5 $w dilation=(1,1) stride=(0,1) $k
nn.Conv2d rank 1 1 i a6 $w dilation=(1,1) stride=(1,1) $k
nn.Conv2d weight 1 1 x a7 $w dilation=(1,1) stride=(1,1)
nn.Conv2d declared 1 1 x a8 $w dilation=(1,1) stride=(1,1) $k #a8=(1,4,7,8)f32
nn.MaxPool2d large 1 1 x a9 ceil_mode=False dilation=(1,1) kernel_size=(9,2) padding=(0,0) stride=(1,1)
torch.bmm ghost 2 1 x nobody b1 \$input=x \$mat2=nobody
F.rellu type 1 1 x b2
torch.eq cycle 2 1 x b4 b3
F.relu back 1 1 b3 b4
F.tanh twice 1 1 x y
F.relu count 2 1 x x b5
torch.bmm slot 2 1 x x b6 \$input=x \$mat3=x
pnnx.Expression dims 2 1 x i b7 expr=add(@0,@1)
Tensor.reshape elements 1 1 x b8 shape=(1,190)
torch.cat axis 2 1 x x b9 dim=4
nn.Linear columns 1 1 x c1 bias=False in_features=4 out_features=3 @weight=(3,4)f32
torch.mm types 2 1 x i c2 \$input=x \$mat2=i
Tensor.permute once 1 1 x c3 dims=(0,1,1,2)
F.interpolate word 1 1 x c4 mode=lanczos size=(2,2)
nn.GLU half 1 1 x c5 dim=1
pnnx.Output y_out 1 0 y
pnnx.Output z_out 1 0 nowhere
END
f=faults.pnnx.param
run 1 check "$f"
for line in 6 7 8 9 10 11 12 13 14 15 16 17 19 20 21 22 23 24 25 26 27 28 29 31; do
    err "$f:$line:1: "
done
grep -v -e '^$' -e "^$f:[0-9]*:1: " err | grep -v 'no parameter file' >rest; [ -s rest ] && bad "other findings: $(cat rest)"
[ "$(grep -c "^$f:[0-9]*:1: " err)" = 24 ] || bad "expected 24 findings, found $(grep -c "^$f:[0-9]*:1: " err)"
err "$f:16:1: /ops/12: F.rellu 'type' (operator 12): the set of operators of PNNX has no F.rellu; did you mean 'F.relu'?"
err "$f:31:1: /outputs/1: output 'nowhere' is undefined"

# The same network in another format gives the same findings; mended, it has none.
run 0 convert "$f" faults.json --no-params; run 1 check faults.json --no-params
[ "$(grep -c '/ops/\|/outputs/' err)" = 24 ] || bad "the findings of faults.json: $(cat err)"
sed -n -e '1,3p' -e '5p' -e '30p' "$f" >fine.param; run 0 check fine.param; out "no fault found"
finish
