#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# page.pl TOP PAGE: prints a page of the documentation (README.md, docs/X.md and the like) as Doxygen reads it. Headings get the
# anchors by which other pages name them; a link to a page, a part of a page or a header leads to that in the reference;
# a link to another file of the tree becomes its text. Code is printed as it is.
use strict;
use warnings;
use File::Basename qw(dirname basename);

my ($top, $path) = @ARGV;
defined $path or die "usage: page.pl TOP PAGE\n";
(my $page = $path) =~ s{^\Q$top\E/}{};

# The name of a page, and of a part of it, in the reference.
sub label { return 'page_' . ($_[0] =~ s/\.md\z//r =~ s/\W/_/gr) . (($_[1] // '') ne '' ? '_s_' . ($_[1] =~ s/[^\w-]//gr) : '') }

# The path from the top of a link of this page.
sub from_top {
    my @parts;
    for (split /\//, dirname($page) . "/$_[0]") { $_ eq '..' ? pop @parts : $_ eq '.' ? () : push @parts, $_ }
    return join '/', @parts;
}

sub link_to {
    my ($words, $to) = @_;
    my ($file, $part) = split /#/, $to, 2;
    return "[$words]($to)" if $to =~ /^\w+:/;
    my $target = $file eq '' ? $page : from_top($file);
    return "[$words](\x01ref " . label($target, $part) . ')' if $target =~ /^(?:README|CHANGELOG|CONTRIBUTING|SECURITY|THIRD_PARTY|docs\/[\w-]+)\.md$/;
    return "[$words](\x01ref " . ($1 eq 'xir' ? 'index' : "xir_$1_h") . ')' if $target =~ /^include\/xir\/(\w+)\.h$/;
    return "[$words](" . basename($to) . ")" if $target =~ /^docs\/pictures\//;
    return $words;
}

open my $in, '<', $path or die "$path: $!\n";
my $all = do { local $/; <$in> };
my (%seen, $is_code, $prose);
my $n_headings = 0;

# Paragraphs. `@`, `#` and `<` are marks of Doxygen, but not in code spans; those that have a quote need two ticks.
sub flush_prose {
    return if !defined $prose;
    $prose =~ s/!\[([^\]]*)\]\(([^) ]+)\)/'![' . ($1 =~ tr|`"||dr) . '](' . basename($2) . ')'/ge;
    $prose =~ s/(?<!\!)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]*)\)/link_to($1, $2)/ge;
    my @parts = split /(`+)(.*?)(?<!`)\1(?!`)/s, $prose;
    $prose = '';
    while (@parts) {
        $prose .= shift(@parts) =~ s/([\@#<])/\\$1/gr;
        my $ticks = @parts && $parts[1] =~ /'/ && $parts[0] eq '`' ? '``' : $parts[0] // '';
        $prose .= $ticks . $parts[1] . $ticks if @parts;
        splice @parts, 0, 2;
    }
    print $prose =~ s/\x01/\@/gr;
    undef $prose;
}
for (split /^/, $all) {
    if (/^```/) { flush_prose(); $is_code = !$is_code; print; next }
    if ($is_code) { print; next }
    if (/^(#+) (.*?)\s*$/) {
        flush_prose();
        my ($level, $title) = ($1, $2);
        my $slug = lc($title =~ s/[^\w\- ]//gr) =~ s/ /-/gr;
        my $n = $seen{$slug}++;
        my $is_title = $n_headings++ == 0;
        print "$level $title {#", label($page, $is_title ? '' : $slug . ($n ? "-$n" : '')), "}\n";
        next;
    }
    $prose .= $_;
}
flush_prose();
