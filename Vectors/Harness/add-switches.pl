#!/usr/bin/env perl
# Gives every refusing condition in a copy of the reader's sources a switch of its own, and lists them:
#   add-switches.pl SOURCES >LIST          number, file:line and text of each, with tabs between
# Switch N is on where the environment's REMOVED_CHECK is N: then the condition refuses nothing.
use strict;
use warnings;

my $sources = shift or die "usage: add-switches.pl SOURCES\n";
my $number = 0;

# The files that read, and for files that do more: where the reading part begins and ends.
my %files = (
  'VaultCore/Format/ByteReader.swift'    => [],
  'VaultCore/Format/Context.swift'       => [],
  'VaultCore/Format/Extension.swift'     => [],
  'VaultCore/Format/Manifest.swift'      => [],
  'VaultCore/Format/Name.swift'          => ['/// Whether `bytes` are a name.'],
  'VaultCore/Format/Slot.swift'          => [],
  'VaultCore/Format/Snapshot.swift'      => [],
  'VaultCore/Journal/JournalFrame.swift' => [],
  'VaultCore/Groups/Group.swift'         => [],
  'VaultCore/Groups/GroupContent.swift'  => [],
  'VaultCore/Groups/Record.swift'        => [],
  'VaultCore/Groups/ValueKind.swift'     => [],
  'VaultCore/Groups/ValueReader.swift'   => [],
  'VaultCore/Slots/Unlocked.swift'       => [],
  'VaultCore/VaultSummary.swift'         => [],
  'VaultCore/Container/VaultState.swift' => ['', '// MARK: Loading'],
  'VaultSealing/Padding.swift'           => [],
  'VaultSealing/PassphraseCost.swift'    => ['', '/// Measures this machine'],
  'VaultSealing/Sealer.swift'            => [],
);

# Conditions that stand in no guard, if or return: the clauses of each are switched one by one.
my %conditions = (
  'VaultSealing/PassphraseCost.swift' =>
    ['passes > 0 && Self.acceptedKibibytes.contains(kibibytes) && work <= Self.acceptedWork'],
  'VaultCore/Groups/ValueKind.swift' =>
    [qr/(?<=\.json: )isUTF8\(body\)/, 'body.count == 1 && body[0] <= 1', 'body.count == 8'],
  'VaultCore/Journal/JournalFrame.swift' => [qr/(?<=where )plausibleCount.*?(?=\n\s*\{ return true)/s],
);

# The ranges of UTF-8, and the test of eight bytes at a time.
my @name = (
  [qr/(?<=second = )0xA0\.\.\.0xBF/, '(removed(%d) ? 0x80...0xBF : %s)'],
  [qr/(?<=case 0xE0: \(length, second\) = \(3, )0xA0\.\.\.0xBF/, '(removed(%d) ? 0x80...0xBF : %s)'],
  [qr/(?<=case 0xED: \(length, second\) = \(3, )0x80\.\.\.0x9F/, '(removed(%d) ? 0x80...0xBF : %s)'],
  [qr/(?<=case 0xF0: \(length, second\) = \(4, )0x90\.\.\.0xBF/, '(removed(%d) ? 0x80...0xBF : %s)'],
  [qr/(?<=case 0xF4: \(length, second\) = \(4, )0x80\.\.\.0x8F/, '(removed(%d) ? 0x80...0xBF : %s)'],
  [qr/(?<=where )!\(0x80\.\.\.0xBF\)\.contains\(bytes\[index \+ trail\]\)/, '(%2$s && !removed(%1$d))'],
  [qr/(?<=return \()word(?= \|)/, '(removed(%d) ? 0 : %s)'],
  [qr/(?<=word \| )below/, '(removed(%d) ? 0 : %s)'],
  [qr/(?<=below \| )equal/, '(removed(%d) ? 0 : %s)'],
);

my (@edits, $before, $text, $file);

sub line { my ($at) = @_; 1 + (($before . substr($text, 0, $at)) =~ tr/\n//) }

# Where a marker stands in a file.
sub found {
  my ($whole, $marker, $otherwise) = @_;
  return $otherwise if !$marker;
  my $at = index($whole, $marker);
  die "add-switches: $file no longer says $marker\n" if $at < 0;
  return $at;
}

# A switch for the condition at an offset; its number.
sub switch_at {
  my ($at, $what) = @_;
  $what =~ s/\s+/ /g;
  $number++;
  print join("\t", $number, "$file:" . line($at), $what), "\n";
  return $number;
}

# Where the character, or the word, next stands outside of brackets and strings.
sub find_outside {
  my ($from, $what) = @_;
  my ($depth, $at) = (0, $from);
  while ($at < length $text) {
    my $rest = substr($text, $at);
    return $at if $depth == 0 && $rest =~ /^$what/;
    if ($rest =~ /^("(?:[^"\\]|\\.)*")/) { $at += length $1; next }
    if ($rest =~ /^(\/\/[^\n]*)/) { $at += length $1; next }
    $depth++ if $rest =~ /^[(\[{]/;
    $depth-- if $rest =~ /^[)\]}]/;
    return -1 if $depth < 0;
    $at++;
  }
  return -1;
}

# Ranges between separators that stand outside of brackets.
sub split_outside {
  my ($from, $to, $separator, $width) = @_;
  my @parts;
  while (1) {
    my $at = find_outside($from, $separator);
    last if $at < 0 || $at >= $to;
    push @parts, [$from, $at];
    $from = $at + $width;
  }
  push @parts, [$from, $to];
  return @parts;
}

sub trimmed {
  my ($from, $to) = @_;
  $from++ while $from < $to && substr($text, $from, 1) =~ /\s/;
  $to-- while $to > $from && substr($text, $to - 1, 1) =~ /\s/;
  return ($from, $to, substr($text, $from, $to - $from));
}

# A condition that must hold: each part of a conjunction gets its switch.
sub switch_holding {
  my ($from, $to) = @_;
  my @parts = split_outside($from, $to, '&&', 2);
  for my $operator ('\|\|', '\? ') {
    my $at = find_outside($from, $operator);
    @parts = ([$from, $to]) if $at >= 0 && $at < $to;
  }
  for (@parts) {
    my ($start, $end, $clause) = trimmed(@$_);
    push @edits, [$start, $end, sprintf('((%s) || removed(%d))', $clause, switch_at($start, $clause))];
  }
}

sub guards {
  while ($text =~ /(?:^|:)\s*guard\b()/mg) {
    my $from = $-[1];
    my $else = find_outside($from, '\belse\b');
    my $open = index($text, '{', $else);
    my $body = substr($text, $open, find_outside($open + 1, '\}') - $open);
    next unless $body =~ /\bthrow\b|return (?:nil|false)\b/;
    for (split_outside($from, $else, ',', 1)) {
      my (undef, undef, $clause) = trimmed(@$_);
      switch_holding(@$_) unless $clause =~ /^(?:let|var|case)\b/;
    }
  }
}

sub ifs {
  while ($text =~ /\bif\b()/g) {
    my $from = $-[1];
    my $open = find_outside($from, '\{');
    next if $open < 0 || substr($text, $open) !~ /^\{\s*(?:throw|return false)\b/;
    my @clauses = split_outside($from, $open, ',', 1);
    my @parts = split_outside(@{$clauses[-1]}, '\|\|', 2);
    for (@parts) {
      my ($start, $end, $clause) = trimmed(@$_);
      push @edits, [$start, $end, sprintf('(%s && !removed(%d))', $clause, switch_at($start, $clause))];
    }
  }
}

# Answers that are conditions, or nil where one does not hold.
sub returns {
  return if $file =~ /Name\.swift/;
  while ($text =~ /\breturn ()/g) {
    my $from = $-[1];
    my $to = find_outside($from, '(?:\n(?!\s*(?:&&|\|\|))| \}| : nil\n)');
    next if $to < 0;
    my $ternary = find_outside($from, ' \? ');
    my $gives_nil = substr($text, $to) =~ /^ : nil\n/;
    next if $ternary >= 0 && $ternary < $to && !$gives_nil;
    $to = $ternary if $gives_nil;
    my $compares = find_outside($from, '(?:==|!=|<=|>=|&&|\|\|| < | > )');
    switch_holding($from, $to) if $compares >= 0 && $compares < $to;
  }
}

# Statements that do nothing but check, and switches' last resorts.
sub statements {
  while ($text =~ /^ *(try (?:\w+\.)*(?:check|finish)\([^\n]*\))$/mg) {
    push @edits, [$-[1], $+[1], sprintf('if !removed(%d) { %s }', switch_at($-[1], $1), $1)];
  }
  while ($text =~ /default: ((?:throw|return false)[^\n]*)/g) {
    my ($start, $end, $refusal) = ($-[1], $+[1], $1);
    my $rest = $file =~ /Name\.swift/ ? '; length = 1' : '';
    my $check = switch_at($start, "default: $refusal");
    push @edits, [$start, $end, "if !removed($check) { $refusal }$rest"];
  }
}

sub others {
  for my $wanted (@{ $conditions{$file} || [] }) {
    my $pattern = ref $wanted ? $wanted : quotemeta $wanted;
    die "add-switches: $file no longer says $wanted\n" unless $text =~ /($pattern)/;
    switch_holding($-[1], $+[1]);
  }
  return unless $file =~ /Name\.swift/;
  for (@name) {
    my ($pattern, $format) = @$_;
    die "add-switches: $file no longer says $pattern\n" unless $text =~ /($pattern)/;
    my ($start, $end, $found) = ($-[1], $+[1], $1);
    push @edits, [$start, $end, sprintf($format, switch_at($start, $found), $found)];
  }
}

for (sort keys %files) {
  $file = $_;
  local $/;
  open my $in, '<', "$sources/$file" or die "add-switches: $sources/$file: $!\n";
  my $whole = <$in>;
  my $begin = found($whole, $files{$file}[0], 0);
  my $end = found($whole, $files{$file}[1], length $whole);
  ($before, $text, @edits) = (substr($whole, 0, $begin), substr($whole, $begin, $end - $begin));
  guards();
  ifs();
  returns();
  statements();
  others();
  my $kept = length $text;
  for my $edit (sort { $b->[0] <=> $a->[0] } @edits) {
    my ($from, $to, $with) = @$edit;
    die "add-switches: $file: two switches overlap\n" if $to > $kept;
    substr($text, $from, $to - $from) = $with;
    $kept = $from;
  }
  open my $out, '>', "$sources/$file" or die "add-switches: $sources/$file: $!\n";
  print $out $before . $text . substr($whole, $end);
}

for my $module ('VaultCore', 'VaultSealing') {
  open my $out, '>', "$sources/$module/Removed.swift" or die "add-switches: $!\n";
  print $out <<'SWIFT';
internal import Glibc

private let removedCheck = getenv("REMOVED_CHECK").map { atoi($0) } ?? 0

/// Whether the check of this number refuses nothing in this run.
func removed(_ number: Int32) -> Bool { number == removedCheck }
SWIFT
}
