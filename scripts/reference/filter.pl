#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# filter.pl HEADER: prints a header with its comments as Doxygen reads them. Code is printed as it is.
#
# The comment that opens a file becomes a group, which holds all of the file; a line of dashes with a title becomes a
# section of it. A comment describes the declarations that follow it without a blank line: each gets a copy, with the
# remark at its own end. A comment before a blank line describes the group. Comments of private names, which end with an
# underscore, are left out. Indented lines of a comment are kept as they are. If EXAMPLES names a folder, its file NAME
# has the example of the function NAME (examples.pl): a title, then lines of C.
#
# A header of C++ has its comments inside of a namespace and of classes: each describes what follows it, or what is
# before it in its line, and lines of dashes are left out.
use strict;
use warnings;

my $path = $ARGV[0] // die "usage: filter.pl HEADER\n";
open my $in, '<', $path or die "$path: $!\n";
my $text = do { local $/; <$in> };
(my $name = $path) =~ s{^(?:.*/)?include/}{};
(my $group = $name) =~ s/\W/_/g;
# A sentence without what Doxygen and Markdown would read as markup; what is in backquotes is code (a dot would end a brief).
sub sentence {
    my @parts = split /`/, $_[0], -1;
    s/([\\\@<>#%&\$*\[\]|]|(?<!\w)_|_(?!\w))/\\$1/g for @parts;
    return join '', map { $_ % 2 == 0 ? $parts[$_] : $parts[$_] =~ /\.\z/ ? "\"$parts[$_]\"" : "<tt>$parts[$_]</tt>" } 0 .. $#parts;
}

# The text of a comment. Blocks of lines that are indented by two blanks or more are code, or stay as they are.
sub words {
    my $t = ("$_[0]\n" =~ s/^ \* ?//gmr) =~ s/[ \t]+$//gmr;
    my $out = '';
    while ($t =~ /\G(?:((?:^  +\S.*\n(?:\n(?=  ))*)+)|((?:^(?!  +\S).*\n)+))/gm) {
        my ($block, $prose) = ($1, $2);
        my @mark = defined $block && $block =~ /[;({]/ ? ('@code{.c}', '@endcode') : ('@verbatim', '@endverbatim');
        $out .= defined $block ? "\n\n$mark[0]\n$block$mark[1]\n\n" : sentence($prose);
    }
    return $out =~ s/\A\s+|\s+\z//gr;
}

# Comments of members get the marks of Doxygen, which has no place for those of a union without a name.
sub member { return "/**$_[0] \@brief " . sentence($_[1] =~ s/\s+/ /gr) . '*/' }
sub members { return $_[0] =~ s{(^[ \t]*)?/\*\s*(.*?)\*/}{defined $1 ? $1 . member('', $2) : member('<', $2)}gemsr }

# The declaration at the beginning of `$_[0]`: to the end of the line at which its braces are closed and its code ends.
sub declaration {
    my ($end, $depth) = (0, 0);
    while ($_[0] =~ /\G.*\n/g) {
        my $code = substr($_[0], 0, $end = pos $_[0]);
        $code =~ s{/\*.*?(?:\*/|\z)}{}gs;
        next if $code =~ /\A#/ ? $code =~ /\\\s*\z/ : $code !~ /\A(?:XIR_BEGIN|XIR_END)\s*\z|[;}]\s*\z/;
        $depth = () = $code =~ /\{/g;
        $depth -= () = $code =~ /\}/g;
        last if $depth == 0 && substr($_[0], 0, $end) !~ m{/\*(?:(?!\*/).)*\z}s;
    }
    return substr($_[0], 0, $end);
}

sub name_of {
    my $code = $_[0] =~ s{/\*.*?\*/}{}gsr;
    return $1 if $code =~ /\A#\s*define\s+(\w+)/ || $code =~ /\A(?:XIR_API|static)[^(]*?(\w+)\s*\(/;
    return $code =~ /(\w+)(?:\[.*\])?\s*;\s*\z/ ? $1 : '';
}

sub example {
    open my $file, '<', ($ENV{EXAMPLES} // '/dev/null') . "/$_[0]" or return '';
    my ($title, @lines) = <$file>;
    return "\n\n\@par Example: " . sentence($title) . '@code{.c}' . "\n@{[join '', @lines]}\@endcode";
}

my ($doc, $remarks, $is_begun, $is_section) = ('', '', 0, 0);
$text =~ s{\A/\* SPDX.*?\*/\n}{}s;
if ($path =~ /\.hpp\z/) {
    $text =~ s{\A\s*/\* ?(.*?)\s*\*/\n}{}s;
    $doc = words($1);
    $text =~ s{^(?=namespace xir \{)}{/** $doc */\n}m;
    $text =~ s{^/\* -{3,}.*?-{3,} \*/\n}{}gm;
    $text =~ s{^([ \t]*)/\* ?(.*?)\s*\*/}{"$1/** " . words($2 =~ s/^[ \t]*(?= \*)//gmr) . ' */'}gemsx;
    $text =~ s{(\S[ \t]+)/\*(?!\*)\s*(.*?)\*/}{$1 . member('<', $2)}ges;
    print $text;
    exit;
}
while ($text ne '') {
    if ($text =~ s{\A[ \t]*\n}{}) {
        $doc = '';
        print "\n";
    } elsif ($text =~ s{\A/\* -{3,} (.*?) -{3,}(.*?)\*/\n}{}s) {
        my ($title, $more) = ($1, $2);
        print $is_section ? "/** \@} */\n" : '', "/** \@name \u$title\n", words($more =~ s/\A[\s*]+//r), " */\n/** \@{ */\n";
        ($is_section, $doc) = (1, '');
    } elsif ($text =~ s{\A/\*(?!\*) ?(.*?)\s*\*/[ \t]*\n}{}s) {
        $doc = words($1);
        next if $is_begun && $text !~ /\A[ \t]*\n/;
        if ($is_begun) { $remarks .= "/** \@addtogroup $group\n\n$doc */\n" }
        else { print "/** \@file\n$doc */\n/** \@defgroup $group $name\n$doc */\n/** \@addtogroup $group\n\@{ */\n" }
        ($is_begun, $doc) = (1, '');
    } else {
        my $code = declaration($text);
        substr($text, 0, length $code) = '';
        my $id = name_of($code);
        my $about = $doc;
        if ($code =~ /\A#\s*define/ || $code !~ /\{/) {
            $about .= " \u@{[words($1 =~ s/\s+/ /gr)]}" if $code =~ s{[ \t]*/\*\s*((?:(?!\*/).)*?)\s*\*/\s*\z}{\n}s;
        } else {
            $code = join '', map { /\A +union \{/ ? $_ : members($_) } split /(^ +union \{\n.*?^ +\})/ms, $code;
        }
        my $is_named = $id !~ /(?:_|\A|_H(PP)?)\z/ && $code !~ /\A#\s*(?!define)/;
        print "/** $about@{[example($id)]} */\n" if $is_named && $about ne '';
        print $code;
    }
}
print $is_section ? "/** \@} */\n" : '', $is_begun ? "/** \@} */\n$remarks" : '';
