#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# licence.sh [--check] [FOLDER]: gives each source of the tree its two lines of licence and copyright, after a "#!" line
# if there is one. cmake/licence.txt has the identifier; --check names the sources that differ, and changes nothing.
set -eu

check=0
[ "${1:-}" != --check ] || { check=1; shift; }
cd "${1:-$(dirname "$0")/..}"
licence=$(cat cmake/licence.txt)
case $licence in
''|*[!A-Za-z0-9.+-]*) echo "cmake/licence.txt: '$licence' is not an identifier of SPDX" >&2; exit 1 ;;
esac

# With git its files; in an archive of the sources all but what was built.
{ git ls-files --cached --others --exclude-standard 2>/dev/null ||
    find . -name build -prune -o -type f -print | sed 's|^\./||'; } | LICENCE=$licence CHECK=$check perl -e '
use strict;
my ($lines, $differ) = (0, 0);
while (my $name = <STDIN>) {
    chomp $name;
    next if $name =~ m{^tests/(golden|fuzz/corpus)/|^python/xir/F\.pyi$} || !-f $name;      # the last is printed
    my ($begin, $between, $end) =
        $name =~ /\.(c|h|def|cpp|hpp|css)$/                                ? ("/* ", " * ", " */") :
        $name =~ /\.m?js$/                                                 ? ("// ", "// ", "")    :
        $name =~ /(\.(sh|py|pyi|cmake|awk|vim|pl)|(^|\/)CMakeLists\.txt)$/ ? ("# ", "# ", "")      : next;
    ($begin, $between) = ("\" ", "\" ") if $name =~ /\.vim$/;
    open my $in, "<:raw", $name or die "$name: $!\n";
    my $text = do { local $/; <$in> };
    close $in;
    my $old = $text;
    my $head = $text =~ s/^(#!.*\n)// ? $1 : "";
    $text =~ s/^\S+ SPDX-License-Identifier: .*\n.*SPDX-FileCopyrightText: .*\n\n?//;
    my $new = "${head}${begin}SPDX-License-Identifier: $ENV{LICENCE}\n"
            . "${between}SPDX-FileCopyrightText: XIR contributors$end\n\n$text";
    $lines++;
    next if $new eq $old;
    $differ++;
    if ($ENV{CHECK}) { print "$name: no licence, or another one; sh scripts/licence.sh adds it\n"; next }
    my $mode = (stat $name)[2];
    unlink $name;               # a shell may be reading it
    open my $out, ">:raw", $name or die "$name: $!\n";
    print $out $new or die "$name: $!\n";
    close $out or die "$name: $!\n";
    chmod $mode & 07777, $name;
}
die "no source\n" if !$lines;
print "$lines sources, $differ ", $ENV{CHECK} ? "differ" : "changed", "\n";
exit($ENV{CHECK} && $differ ? 1 : 0);'
