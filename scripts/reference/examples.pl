#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# examples.pl TOP OUT: fills the folder OUT with an example for each public function that a test or an example of TOP
# calls: the file OUT/NAME has a title, which names the place, and lines of C as they are there. Short functions of
# examples/ and plugins/ are preferred, then whole tests that are short and show success, then a statement with its
# neighbours. What is shown compiles, because the tests do.
use strict;
use warnings;
use File::Find qw(find);
use File::Path qw(make_path);

my ($top, $out) = @ARGV;
defined $out or die "usage: examples.pl TOP OUT\n";
make_path $out;

my @files;
find({ no_chdir => 1, wanted => sub { push @files, $_ if /\.c\z/ && !/\/(?:fuzz|linear|timing|plugin)\// } },
    "$top/tests", "$top/examples", "$top/plugins");

my %best;
sub offer {
    my ($name, $score, $title, $lines) = @_;
    return if $best{$name} && $best{$name}[0] <= $score;
    $best{$name} = [$score, $title, $lines];
}

# The lines of a function's body around a call: its statement, and up to three lines before and after it in the block.
sub around {
    my ($lines, $at) = @_;
    my ($from, $to) = ($at, $at);
    $from-- while $from > 0 && $lines->[$from - 1] !~ /[;{}:]\s*(?:\/[\/*].*)?$/ && $lines->[$from - 1] =~ /\S/;
    $to++ while $to < $#$lines && $lines->[$to] !~ /[;{}]\s*(?:\/[\/*].*)?$/;
    my ($indent) = $lines->[$from] =~ /^(\s*)/;
    for (1 .. 3) { $from-- if $from > 0 && $lines->[$from - 1] =~ /^$indent\S.*;$/ }
    for (1 .. 3) { $to++ if $to < $#$lines && $lines->[$to + 1] =~ /^$indent\S.*;$/ }
    return map { s/^$indent//r } @$lines[$from .. $to];
}

for my $file (sort @files) {
    open my $in, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    (my $shown = $file) =~ s{^\Q$top\E/}{};
    while ($text =~ /^((?:static )?\w[^\n;{}]*?\b(\w+)\([^;{}]*?\)\s*\{\n)(.*?\n)\}\n/gms) {
        my ($head, $name, $body) = ($1, $2, $3);
        next if $name eq 'main' && $shown =~ /^tests/;
        my @lines = split /\n/, $body;
        my %others = map { $_ => 1 } grep { !/^(?:xir_|XIR_|assert_|if$|for$|while$|switch$|sizeof$|return$)/ } $body =~ /\b(\w+)\(/g;
        my %seen;
        for my $at (0 .. $#lines) {
            for my $call ($lines[$at] =~ /\b(xir_\w+)\(/g) {
                next if $seen{$call}++ || $call =~ /_\z/;
                my $score = 3 * keys(%others) + ($shown !~ /^tests/ ? -10 : $head =~ /void \*\*state/ ? 0 : 12);
                $score += 15 if $lines[$at] =~ /\b$call\(NULL\b|XIR_E_|assert_null|IS_NULL/;
                $score += 15 if "$shown $name" =~ /null|hostile|scarce|oom|bad|misuse|abi|careless|fail|refus|threads/;
                if (@lines <= 14) {
                    offer($call, $score + abs(@lines - 6), "$name in $shown", [$head, map { "$_\n" } @lines, '}']);
                } else {
                    offer($call, $score + 30, "in $name of $shown", [map { "$_\n" } around(\@lines, $at)]);
                }
            }
        }
    }
}
for my $name (keys %best) {
    my (undef, $title, $lines) = @{$best{$name}};
    open my $file, '>', "$out/$name" or die "$out/$name: $!\n";
    print $file "$title\n", @$lines, "\n";
    close $file or die "$out/$name: $!\n";
}
