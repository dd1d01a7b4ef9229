#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# man.pl INCLUDE OUT VERSION DATE: writes a manual page of section 3 for each public header of the folder INCLUDE into
# the folder OUT: xir_network.h.3. The NAME of a page lists the functions, so that `man xir_network_new` finds it.
use strict;
use warnings;
use Encode qw(decode);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use lib dirname(__FILE__);
use headers qw(read_headers first_sentence);

my ($include, $out, $version, $date) = @ARGV;
defined $date or die "usage: man.pl INCLUDE OUT VERSION DATE\n";
make_path $out;

# A text whose lines cannot be macros, in which dashes can be copied; characters that are not ASCII have their names.
sub roff {
    my $text = $_[0] =~ s/\\/\\e/gr =~ s/-/\\-/gr =~ s/^(?=[.'])/\\&/gmr;
    return $text =~ s/([\xC0-\xFF][\x80-\xBF]+)/sprintf '\\[u%04X]', ord decode('UTF-8', $1)/ger;
}

# Undoes the escapes of filter.pl.
sub plain { return $_[0] =~ s/<\/?tt>//gr =~ s/\\([\\\@<>#%&\$*\[\]|_])/$1/gr }

sub code { return ".PP\n.EX\n" . roff($_[0] =~ s/\A\n+|\s+\z//gr =~ s/\n{2,}/\n/gr =~ s/\t/    /gr) . "\n.EE\n" }

# Paragraphs and blocks of a comment.
sub about {
    my $text = '';
    for my $part (split /^(\@code\{\.c\}\n.*?^\@endcode\n|\@verbatim\n.*?^\@endverbatim\n)/ms, "$_[0]\n") {
        if ($part =~ /\A\@(?:code\{\.c\}|verbatim)\n(.*)^\@end/ms) { $text .= code($1); next }
        for my $paragraph (split /\n\s*\n/, $part) {
            my $words = plain($paragraph) =~ s/\A\s+|\s+\z//gr;
            $text .= ".PP\n" . roff($words) . "\n" if $words ne '';
        }
    }
    return $text;
}

# A declaration as in the header.
sub shown {
    my ($code) = @_;
    $code =~ s{/\*\*<?\s*(?:\@brief )?(.*?)\s*\*/}{'/* ' . plain($1) . ' */'}ges;
    $code =~ s/^ {8}(?= )//gm if $code =~ s/\AXIR_API\s+//;
    $code =~ s/ XIR_PRINTF\(\d+, \d+\)//g;
    $code =~ s/\)\s*\{\n.*\z/);\n/s if $code =~ /\Astatic inline/;
    $code =~ s/\)\s*\{[^\n]*\n?\z/);\n/s if $code =~ /\Astatic inline/;
    return $code;
}

sub page_of { return $_[0]->{name} =~ s/\//_/r }

my @headers = read_headers($include);
for my $header (@headers) {
    my $page = page_of($header);
    my @names = map { $_->{name} } grep { $_->{kind} eq 'function' } @{$header->{items}};
    my $text = ".TH $page 3 \"$date\" \"xir $version\" \"Library of XIR\"\n.SH NAME\n"
        . roff(join ",\n", $page, @names) . " \\- " . roff(plain(first_sentence($header->{about})) =~ s/[.:]\z//r) . "\n"
        . ".SH SYNOPSIS\n.B #include <$header->{name}>\n.PP\n.B cc main.c \$(pkg\\-config \\-\\-cflags \\-\\-libs xir)\n"
        . ".SH DESCRIPTION\n" . about($header->{about}) =~ s/\A\.PP\n//r;
    my ($section, @groups) = ('');
    for my $item (@{$header->{items}}) {    # neighbours with one comment: their declarations, then the comment
        my $last = $groups[-1];
        my $is_same = $last && $last->{about} eq $item->{about} && $last->{section} eq $item->{section};
        if ($is_same) { $last->{code} .= shown($item->{code}) }
        else { push @groups, { about => $item->{about}, section => $item->{section}, code => shown($item->{code}) } }
    }
    for (@groups) {
        $text .= '.SS ' . roff(plain($section = $_->{section})) . "\n" if $_->{section} ne $section;
        $text .= code($_->{code}) . ".RS 4\n" . about($_->{about}) =~ s/\A\.PP\n//r . ".RE\n";
    }
    $text =~ s/^(\.S[SH] .*\n)\.PP\n/$1/gm;
    my @others = grep { $_ ne $page } map { s/\//_/r } @{$header->{includes}};
    $text .= ".SH SEE ALSO\n" . join('', map { ".BR $_ (3),\n" } sort @others) . ".BR xir (1)\n";
    open my $file, '>', "$out/$page.3" or die "$out/$page.3: $!\n";
    print $file $text;
    close $file or die "$out/$page.3: $!\n";
}
