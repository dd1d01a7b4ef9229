#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# pages.pl TOP OUT: writes the pages of the reference that no file of the tree has, in the folder OUT: index.dox, a page
# for each verb (verbs.txt) with its functions, and the list of the functions that come from rows.
use strict;
use warnings;
use File::Glob qw(bsd_glob);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use lib dirname(__FILE__);
use headers qw(read_headers first_sentence verbs);

my ($top, $out) = @ARGV;
defined $out or die "usage: pages.pl TOP OUT\n";
make_path $out;

my @verbs = (
    [build => 'types, parameters, operations, networks; classes and targets of your own'],
    [ask => 'what a network, an operation, a value or a type is; how much it costs; what differs'],
    [edit => 'attributes, inputs, names and parameters; remove and replace operations'],
    [rewrite => 'passes, patterns, conversions, regions'],
    [store => 'read and write files of all formats, texts and pictures'],
    [run => 'compute, prove, calibrate, compare, reduce; plan memory'],
);

sub page {
    my ($name, @text) = @_;
    open my $file, '>', "$out/$name.dox" or die "$out/$name.dox: $!\n";
    print $file "/**\n", @text, "*/\n";
    close $file or die "$out/$name.dox: $!\n";
}

my @headers = read_headers("$top/include");
my $verb_of = verbs(dirname(__FILE__) . '/verbs.txt');
my (%entries, @without);
for my $header (@headers) {
    my %has;
    for my $item (grep { $_->{kind} eq 'function' } @{$header->{items}}) {
        my $verb = $verb_of->($header, $item);
        if (!$verb) { push @without, "$header->{name}: $item->{name}"; next }
        $entries{$verb} .= "\n\@section verb_${verb}_$header->{group} $header->{name}\n\@ref $header->{group} \"\" " . first_sentence($header->{about}) . "\n" if !$has{$verb}++;
        $entries{$verb} .= "- \@ref $item->{name} -- " . first_sentence($item->{about}) . "\n";
    }
}
die "verbs.txt has no verb for\n", map { "$_\n" } @without if @without;

for (@verbs) {
    my ($verb, $about) = @$_;
    page("verb_$verb", "\@page verb_$verb \u$verb\n\u$about.\n", $entries{$verb});
}

# Functions from rows: the name of a class and those of its functions.
my @rows;
for my $list (bsd_glob("$top/include/xir/ops/*.def"), "$top/include/xir/types.def") {
    open my $in, '<', $list or die "$list: $!\n";
    while (<$in>) {
        next if !/^(OP|OBJ)\s*\((\w+),\s*(?:\d+,\s*)?([\w:]+)/;
        my ($kind, $id, $key) = ($1, $2, $3);
        my $class = $key =~ s/.*:://r;
        my @names = map { "xir_$_" } $kind eq 'OP'
            ? ("make_$id", "add_$id", "${id}_class", "${id}_init", "${id}_of", "${id}_set", "${id}_attrs", "${id}_in")
            : ("${id}_class", "${id}_init", "${id}_make", "${id}_of");
        my $shown = $kind eq 'OP' ? "[$class](\@ref page_docs_ops_s_" . lc($class) . ')' : $class;
        push @rows, "| $shown | " . join(' ', map { "<tt>$_</tt>" } @names) . " |\n";
    }
}
page('rows', "\@page rows Functions from rows\n",
    "A class of operations or objects is declared as rows of a list, and declare.h makes its functions of them. They\n",
    "are the same for each class: \@ref page_docs_reference_s_functions-from-rows describes them. The names of the\n",
    "operations lead to what they compute, to their attributes and their inputs.\n\n| class | functions |\n|---|---|\n",
    @rows);

my @pages = map { s/^\Q$top\E\///r } bsd_glob("$top/docs/*.md"), map { "$top/$_.md" } qw(CONTRIBUTING CHANGELOG SECURITY THIRD_PARTY);
sub title { open my $in, '<', "$top/$_[0]" or die "$_[0]: $!\n"; return <$in> =~ s/^# *//r =~ s/[`\n]//gr }
page('index', "\@mainpage XIR\n",
    "XIR represents neural networks for compilers. This is the reference of its headers, with the documentation.\n",
    "\n\@par What do you want to do?\n", (map { "- \@ref verb_$_->[0] -- $_->[1]\n" } @verbs),
    "\n\@par Functions that come from rows\n- \@ref rows -- constructors and attributes of the operations\n",
    "\n\@par Read\n- \@ref page_README -- what XIR is, and its first sixty seconds\n",
    (map { '- [' . title($_) . '](@ref page_' . (s/\.md$//r =~ s/\W/_/gr) . ")\n" } @pages),
    "\n\@par Headers\n", (map { "- \@ref $_->{group} -- " . first_sentence($_->{about}) . "\n" } @headers),
    "- \@ref xir \"xir/xir.hpp\" -- handles, ranges and operations for C++17\n");
