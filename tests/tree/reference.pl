#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# reference.pl TOP WORK: checks the reference that is in WORK/html: see reference.sh.
use strict;
use warnings;
use File::Glob qw(bsd_glob);
use File::Basename qw(basename);
use headers qw(read_headers header_files);

my ($top, $work) = @ARGV;
my $failed = 0;
sub wrong { print "$_[0]\n"; $failed = 1 }

# --- links ---------------------------------------------------------------------------------------

my (%page, %anchor);
for my $path (bsd_glob "$work/html/*.html") {
    open my $in, '<', $path or die "$path: $!\n";
    my $name = basename $path;
    $page{$name} = do { local $/; <$in> };
    $anchor{"$name#$_"} = 1 for $page{$name} =~ /\b(?:id|name)="([^"]+)"/g;
}
my $links = 0;
for my $name (sort keys %page) {
    for my $link ($page{$name} =~ /\b(?:href|src)="([^"]*)"/g) {
        next if $link =~ /^(?:\w+:|$)/;
        $links++;
        my ($file, $part) = split /#/, $link, 2;
        $file = $name if $file eq '';
        if (!-e "$work/html/$file") { wrong("$name: no file $file") }
        elsif (defined $part && $part ne '' && !$anchor{"$file#$part"}) { wrong("$name: $file has no part $part") }
    }
}
wrong("only $links links") if $links < 5000;

# --- functions -----------------------------------------------------------------------------------

my (%about, %declared, $examples);
for my $header (read_headers("$top/include")) {
    $about{$_->{name}} = $_->{about} for grep { $_->{kind} eq 'function' } @{$header->{items}};
}
for my $path (header_files("$top/include")) {
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> } =~ s{/\*.*?\*/}{}gsr;
    $declared{$_} = basename $path for grep { !/_\z/ } $text =~ /^(?:XIR_API|static inline)\b[^(;{]*?\b(xir_\w+)\s*\(/gm;
}
for my $name (sort keys %declared) {
    wrong("$declared{$name}: $name has no comment") if ($about{$name} // '') eq '';
    $examples++ if -s "$work/examples/$name";
}
wrong('only ' . keys(%declared) . ' functions') if keys %declared < 800;
my $shown = () = join('', map { $page{$_} } grep { /^group__/ } keys %page) =~ /<dt>Example:/g;
wrong("$examples functions have an example, of which $shown are in the pages") if $examples < 200 || $shown < 200;

# --- questions -----------------------------------------------------------------------------------

# The words of a sentence that say what it is about, without their endings.
my %common = map { $_ => 1 } qw(how which what does have from with that they there make own find know are the and for one);
sub stems { return map { substr $_, 0, 5 } grep { length > 2 && !$common{$_} } map { lc } $_[0] =~ /([A-Za-z0-9]+)/g }
sub text { return $_[0] =~ s/<[^>]*>//gr =~ s/&lt;/</gr =~ s/&amp;/&/gr }

my $questions = 0;
open my $in, '<', "$top/tests/tree/questions.txt" or die "questions.txt: $!\n";
while (<$in>) {
    next if /^#|^\s*$/;
    my ($question, $first, $second) = /^(.*?\S)\s+\| (.*?)\s*\| (.*?)\s*$/ or die "questions.txt:$.: not three columns\n";
    $questions++;
    my ($file) = grep { defined } map { $_->[1] eq $first ? $_->[0] : undef }
        map { [m/href="([^"#]+)[^"]*"/, text($_)] } $page{'index.html'} =~ /(<a [^>]*>.*?<\/a>)/gs;
    if (!$file) { wrong("$question: the first page has no link '$first'"); next }
    # The text that the reader sees there: an item of a list, a cell of a table, or a heading.
    my ($seen) = grep { /(?<![\w.])\Q$second\E(?!\w)/ } map { text($_) } ($page{$file} // '') =~ /<(?:li|td[^>]*|h\d[^>]*)>(.*?)<\/(?:li|td|h\d)>/gs;
    if (!defined $seen) { wrong("$question: $file does not have '$second'"); next }
    my %asked = map { $_ => 1 } stems($question);
    wrong("$question: '$seen' has none of its words") if !grep { $asked{$_} } stems($seen =~ s/_/ /gr);
}
wrong("only $questions questions") if $questions < 40;
printf "%d links, %d functions, %d examples, %d questions\n", $links, scalar keys %declared, $examples, $questions;
exit $failed;
