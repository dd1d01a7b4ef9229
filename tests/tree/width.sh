#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# width.sh TOP [PATH…]: no line of C, C++, shell, awk, CMake, Python or Markdown below TOP (or below the paths) is wider
# than 120 columns. Exempt are
#
#   - in C and C++, rows of typeset tables: a line from { to } or }, or a macro call that is a whole line, WORD(…);
#   - in C, C++, shell and Python, quoted text: a line of which more than half is in quotes;
#   - in Markdown, rows of tables and fenced blocks;
#   - docs/ops.md and docs/onnx.md, which the program prints.
set -u
cd "$1" || exit 2
shift

files() {
    find "${@:-.}" -type d \( -name .git -o -name build -o -path '*/fuzz/corpus' -o -path '*/json-schema' \) -prune -o \
        -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.sh' -o -name '*.awk' \
        -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.py' -o -name '*.md' \) -print | sed 's,^\./,,' |
        grep -v -e '^docs/ops\.md$' -e '^docs/onnx\.md$' | LC_ALL=C sort
}

files "$@" | perl -e '
    my ($files, $found) = (0, 0);
    while (my $file = <STDIN>) {
        chomp $file;
        open my $text, "<:encoding(UTF-8)", $file or die "$file: $!\n";
        $files++;
        my $c = $file =~ /\.(c|h|def|cpp|hpp)$/;
        my $markdown = $file =~ /\.md$/;
        my $fenced = 0;
        while (my $line = <$text>) {
            $line =~ s/\r?\n$//;
            $fenced = !$fenced if $markdown && $line =~ /^\s*```/;
            next if length $line <= 120;
            next if $markdown && ($fenced || $line =~ /^\s*\|/);
            next if $c && $line =~ m{^\s*\{.*\},?\s*(\\|/\*.*|//.*)?$};
            next if $c && $line =~ m{^\s*[A-Z_][A-Z_0-9]* *\(.*[)\}][,;]?(\s*/\*.*\*/)?\s*\\?$};
            if ($c || $file =~ /\.(sh|py)$/) {
                my $quoted = 0;
                $quoted += length $1 while $line =~ /("(?:[^"\\]|\\.)*"|\x27(?:[^\x27\\]|\\.)*\x27)/g;
                next if 2 * $quoted > length $line || $line =~ /^\s*R"/;
            }
            print "$file:$.: ", length $line, " columns\n";
            $found++;
        }
    }
    die "no files\n" unless $files;
    print "$found lines are wider than 120 columns, of $files files\n";
    exit($found ? 1 : 0);
'
