#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# words.sh TOP [PATH…]: no text below TOP (or below the paths) contains a phrase that scripts/words.txt lists. The list
# itself, the changelog's table of old names, sample files and generated goldens are not read.
#
# grep reads each file once, for all patterns; Perl reads the files that have one, and says which it is.
set -u
cd "$1" || exit 2
shift

files() {
    find "${@:-.}" -type d \( -name .git -o -name build -o -path './tests/golden' -o -path './tests/data' \
        -o -path '*/cli/data' -o -path '*/fuzz/corpus' -o -path './tests/json-schema' \) -prune -o \
        -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.md' -o -name '*.sh' \
        -o -name '*.awk' -o -name '*.py' -o -name '*.txt' -o -name '*.cmake' -o -name '*.json' -o -name '*.svg' \) \
        -print | sed 's,^\./,,' | grep -v -e '^scripts/words\.txt$' -e '^CHANGELOG\.md$' | LC_ALL=C sort
}

files "$@" | perl -e '
    open my $list, "<", "scripts/words.txt" or die "scripts/words.txt: $!\n";
    my @rules;
    while (<$list>) {
        chomp;
        next if /^#/ || !length;
        my ($pattern, $say) = split /\t/;
        die "scripts/words.txt:$.: a pattern, a tab, what to say\n" unless defined $say;
        push @rules, [ qr/$pattern/i, $say, $pattern ];
    }
    die "scripts/words.txt: no patterns\n" unless @rules;
    my @files = map { chomp; $_ } <STDIN>;
    die "no files\n" unless @files;
    my $any = join "|", map { "(?:$_->[2])" } @rules;
    my $found = 0;
    $ENV{LC_ALL} = "C";
    for (my $at = 0; $at < @files; $at += 1000) {
        my $last = $at + 999 < $#files ? $at + 999 : $#files;
        open my $hits, "-|", "grep", "-alPi", "-e", $any, "--", @files[$at .. $last] or die "grep: $!\n";
        while (my $file = <$hits>) {
            chomp $file;
            open my $text, "<", $file or die "$file: $!\n";
            while (my $line = <$text>) {
                for my $rule (@rules) {
                    next unless $line =~ $rule->[0];
                    print "$file:$.: \"$&\": $rule->[1]\n";
                    $found++;
                }
            }
        }
        close $hits;
        die "grep: exit code ", $? >> 8, "\n" if $? >> 8 > 1 || $? & 127;
    }
    print "$found phrases in ", scalar @files, " files\n";
    exit($found ? 1 : 0);
'
