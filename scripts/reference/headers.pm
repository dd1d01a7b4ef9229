# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Declarations of the public headers, as filter.pl prints it. `read_headers(FOLDER)` returns one record for each header of
# include/xir, in the order in which xir.h includes them: { name, group, includes, about, items }. An item is { kind, name, about, code,
# section }; the kind is function, macro or type. Headers that only expand lists (decl_*.h, gone*.h) declare nothing.
package headers;
use strict;
use warnings;
use Exporter 'import';
use File::Glob qw(bsd_glob);
use File::Basename qw(basename dirname);
our @EXPORT_OK = qw(read_headers header_files first_sentence verbs);

# Headers for users, by path.
sub header_files {
    my ($folder) = @_;
    open my $all, '<', "$folder/xir/xir.h" or die "$folder/xir/xir.h: $!\n";
    my @names = map { /^#include <xir\/(\w+\.h)>/ ? $1 : () } <$all>;
    my %listed = map { $_ => 1 } @names;
    my @others = grep { !$listed{$_} && !/^(?:decl_\w+|gone\w*|xir)\.h$/ } map { basename $_ } bsd_glob "$folder/xir/*.h";
    return map { "$folder/xir/$_" } @names, sort @others;
}

sub first_sentence { return ($_[0] =~ /\A(.*?)(?:(?<=[.])\s|\n\n|\z)/s)[0] =~ s/\s+/ /gr }

sub read_headers {
    my ($folder) = @_;
    my $filter = dirname(__FILE__) . '/filter.pl';
    my @headers;
    for my $path (header_files($folder)) {
        open my $in, '-|', $^X, $filter, $path or die "$filter: $!\n";
        my $text = do { local $/; <$in> };
        close $in or die "$filter $path failed\n";
        my %header = (name => 'xir/' . basename($path), about => '', items => []);
        $header{group} = $header{name} =~ s/\W/_/gr;
        $header{includes} = [$text =~ m{^#include <(xir/\w+\.h)>}gm];
        $header{about} = $1 if $text =~ m{\A\s*/\*\* \@file\n(.*?) \*/\n}s;
        my $section = '';
        while ($text =~ m{^/\*\* (.*?) \*/\n}gms) {
            my $about = $1;
            $section = $1 if $about =~ /\A\@name (.*)/;
            next if $about =~ /\A\@/ || $text !~ m{\G((?:(?!/\*\*|\n)[^\n]*\n)+)}gc;
            my $code = $1;
            my ($kind, $name) = $code =~ /\A(?:XIR_API|static)\b[^(]*?(\w+)\s*\(/ ? ('function', $1)
                : $code =~ /\A#\s*define (\w+)/ ? ('macro', $1)
                : $code =~ /(\w+)(?:\)?\(.*\))?;\s*\z/s ? ('type', $1) : ('type', '');
            push @{$header{items}}, { kind => $kind, name => $name, about => $about, code => $code, section => $section };
        }
        push @headers, \%header;
    }
    return @headers;
}

# Returns a function that gives the verb of an item of a header by the rules of a file (verbs.txt); undef if no rule
# matches.
sub verbs {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    my @rules;
    for (<$in>) {
        next if !/^(\w+): *(.*)/;
        my ($verb, @patterns) = ($1, split ' ', $2);
        for my $pattern (@patterns) {
            my $name = join '.*', map { quotemeta } split /\*/, $pattern, -1;
            push @rules, $pattern =~ /\A(\w+\.h)(?:\/(.*))?\z/ ? [$verb, $1, $2 // '', undef]
                : [$verb, undef, '', qr/\A$name\z/];
        }
    }
    return sub {
        my ($header, $item) = @_;
        for (@rules) {
            my ($verb, $file, $section, $name) = @$_;
            return $verb if defined $file ? $header->{name} eq "xir/$file" && index($item->{section}, $section) == 0
                : $item->{name} =~ $name;
        }
        return undef;
    };
}

1;
