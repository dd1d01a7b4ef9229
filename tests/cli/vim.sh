# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The syntax file for Vim: what stands at some places of a text.
. "$SRC/tests/cli/lib.sh"
command -v vim >/dev/null 2>&1 || skip "vim is not installed"
cat >sample.xir <<'END'
// opt: fold
xir 1
.name "a" .tags {k=1}
%x#3 = Conv2d(%image, @w : fp32 HWIO [1,1,1,1] = [0.5]) {pad_top=1} "c" : fp32 NHWC [1,2] // why
%y = ReLU(%x) {alpha=0.5} ~ : fp32 NHWC [1,2]
END
at() { echo "call add(out, synIDattr(synID($1, $2, 1), 'name'))" >>look.vim; }
echo 'let out = []' >look.vim
at 1 4; at 2 1; at 3 2; at 3 8; at 4 1; at 4 4; at 4 8; at 4 15; at 4 23; at 4 28; at 4 33; at 4 51; at 4 58; at 4 94
at 5 27
echo 'call writefile(out, "groups")' >>look.vim
vim -N -u NONE -i NONE -es -c 'syntax on' -c "source $SRC/tools/editors/xir.vim" -S look.vim -c 'qa!' sample.xir \
    </dev/null >out 2>err
cat >expected <<'END'
xirCase
xirVersion
xirEntry
xirString
xirLabel
xirId
xirClass
xirLabel
xirParams
xirType
xirLayout
xirNumber
xirKey
xirComment
xirString
END
ran=vim; same groups expected; diff expected groups
finish
