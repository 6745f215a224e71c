# mix.pl - hashes, sorts, regular expressions, closures, threads of strings in one perl.
use strict;
use warnings;
my (%count, @list);
for my $i (0 .. 60000) {
    my $key = ($i * 7919) % 10007;
    $count{"key$key"} += $i;
    push @list, { id => $i, text => "x" x ($i % 200), next => [1 .. $i % 10] };
}
my $sum = 0;
$sum += $count{$_} for sort { $count{$a} <=> $count{$b} || $a cmp $b } keys %count;
my @sorted = sort { $a->{text} cmp $b->{text} || $a->{id} <=> $b->{id} } @list;
my $joined = join ",", map { length $_->{text} } @sorted;
(my $changed = $joined) =~ s/(\d+),(\d+)/$2;$1/g;
my @matches = $changed =~ /(\d+;1\d\d)/g;
@list = grep { $_->{id} % 3 } @list;
my @closures = map { my $n = $_; sub { $n * shift } } 1 .. 2000;
my $product = 0;
$product += $_->(3) for @closures;
my $text = "";
$text .= sprintf("%05d%s", $_, "y" x ($_ % 50)) for 1 .. 30000;
print join(" ", $sum, length $joined, length $changed, scalar @matches, scalar @list, $product,
    unpack("%32C*", $text)), "\n";
