#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# sample-text.sh SEED [COMMENTS MESSAGES LINES]: prints a random sample of the project's sentences with their places:
# 100 comments, 50 messages and 200 lines of documentation, or the given numbers. A reviewer reads them aloud. One seed
# always gives the same sample of the same tree.
set -eu
seed=${1:?usage: sample-text.sh SEED [COMMENTS MESSAGES LINES]}
cd "$(dirname "$0")/.."
git ls-files | LC_ALL=C sort | perl -e '
    use strict;
    use warnings;
    my ($seed, @wanted) = @ARGV;
    srand $seed;
    my (@comments, @messages, @lines);
    while (my $path = <STDIN>) {
        chomp $path;
        next if $path !~ /\.(?:c|h|hpp|cpp|py|md|sh)\z/ || -l $path;
        open my $in, "<", $path or next;
        my $text = do { local $/; <$in> };
        close $in;
        my $at = sub { "$path:" . (1 + (substr($text, 0, $_[0]) =~ tr/\n//)) };
        if ($path =~ /\.md\z/) {
            my ($n, $is_code) = (0, 0);
            for my $line (split /\n/, $text) {
                $n++;
                $is_code = !$is_code if $line =~ /^```/;
                push @lines, "$path:$n: $line" if !$is_code && $line =~ /\w+ \w+ \w+/ && $line !~ /^(?:#|```)/;
            }
        } elsif ($path =~ /\.(?:c|h|hpp|cpp)\z/) {
            while ($text =~ m{/\*(.*?)\*/}gs) {
                my $from = $-[0];
                my $words = $1 =~ s/\n\s*\*?/ /gr =~ s/\s+/ /gr;
                push @comments, $at->($from) . ":$words" if $words =~ /\w+ \w+ \w+/ && $words !~ /SPDX|^ -{3,}/;
            }
            next if $path !~ /^(?:src|tools|plugins|python)\//;
            my $code = $text =~ s{(/\*.*?\*/)}{ $1 =~ s/[^\n]/ /gr }gesr;
            while ($code =~ /((?:"(?:[^"\\\n]|\\.)*"\s*(?:PRI\w+\s*)?)+)/g) {
                my $from = $-[0];
                my $words = $1 =~ s/"\s*"//gr =~ s/\s+\z//r;
                push @messages, $at->($from) . ": $words" if $words =~ /[a-z]+ [a-z]+ [a-z%]+/;
            }
        } else {
            while ($text =~ /((?:^[ \t]*# .*\n)+)/gm) {
                my $from = $-[0];
                my $words = $1 =~ s/^\s*#//gmr =~ s/\s+/ /gr;
                push @comments, $at->($from) . ":$words" if $words =~ /\w+ \w+ \w+/ && $words !~ /SPDX/;
            }
        }
    }
    for (["comments", $wanted[0] // 100, \@comments], ["messages", $wanted[1] // 50, \@messages],
         ["lines of documentation", $wanted[2] // 200, \@lines]) {
        my ($kind, $n, $all) = @$_;
        printf "--- %d of %d %s\n", $n < @$all ? $n : scalar @$all, scalar @$all, $kind;
        print splice(@$all, int rand @$all, 1), "\n" while $n-- > 0 && @$all;
    }' "$@"
