#!/usr/bin/perl
# fakeids.pl PROGRAM [ARGUMENT…]
#
# Runs PROGRAM so that changing owners and switching users succeeds without doing anything: a user namespace with
# one mapped user has nobody else to give a file to, but dpkg and the packages' scripts insist on it. A seccomp
# filter (the idea is Charliecloud's) answers these system calls with success. Syncing is answered in the same
# way, as a root directory that is thrown away when interrupted need not be on disk file by file; whoever calls
# this syncs once at the end.
use strict;
use warnings;

# From the kernel's system call tables.
my %NUMBERS = (
    x86_64 => {
        audit => 0xC000003E,
        prctl => 157,
        fake  => {
            chown => 92, fchown => 93, lchown => 94, fchownat => 260,
            setuid => 105, setgid => 106, setreuid => 113, setregid => 114, setgroups => 116,
            setresuid => 117, setresgid => 119, setfsuid => 122, setfsgid => 123,
            fsync => 74, fdatasync => 75, sync => 162, sync_file_range => 277, syncfs => 306,
        },
    },
    aarch64 => {
        audit => 0xC00000B7,
        prctl => 167,
        fake  => {
            fchownat => 54, fchown => 55,
            setregid => 143, setgid => 144, setreuid => 145, setuid => 146, setresuid => 147,
            setresgid => 149, setfsuid => 151, setfsgid => 152, setgroups => 159,
            sync => 81, fsync => 82, fdatasync => 83, sync_file_range => 84, syncfs => 267,
        },
    },
);
use constant {
    # Berkeley packet filter: load a word, jump if equal, return.
    LOAD => 0x20, JUMP_IF_EQUAL => 0x15, RETURN => 0x06,
    # Offsets within struct seccomp_data.
    SYSCALL_NUMBER => 0, ARCHITECTURE => 4,
    ALLOW => 0x7FFF0000, ANSWER_0 => 0x00050000,
    PR_SET_NO_NEW_PRIVS => 38, PR_SET_SECCOMP => 22, SECCOMP_MODE_FILTER => 2,
};

sub instruction { my ($code, $if_true, $if_false, $value) = @_; return pack 'S C C L', $code, $if_true, $if_false, $value }

my $machine = do { open my $pipe, '-|', 'uname', '-m' or die "uname: $!"; my $line = <$pipe>; chomp $line; $line };
my $table   = $NUMBERS{$machine} or die "enter: unsupported architecture $machine\n";
my @faked   = sort { $a <=> $b } values %{ $table->{fake} };

my $filter = instruction(LOAD, 0, 0, ARCHITECTURE);
$filter .= instruction(JUMP_IF_EQUAL, 0, scalar(@faked) + 1, $table->{audit});
$filter .= instruction(LOAD, 0, 0, SYSCALL_NUMBER);
# Each test jumps over those after it and over "allow".
$filter .= instruction(JUMP_IF_EQUAL, @faked - $_, 0, $faked[$_]) for 0 .. $#faked;
$filter .= instruction(RETURN, 0, 0, ALLOW);
$filter .= instruction(RETURN, 0, 0, ANSWER_0);

my $program = pack 'S x![P] P', length($filter) / 8, $filter;
syscall($table->{prctl}, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 or die "enter: prctl(no_new_privs): $!\n";
syscall($table->{prctl}, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, $program, 0, 0) == 0
    or die "enter: this kernel has no seccomp filters ($!)\n";
exec {$ARGV[0]} @ARGV or die "enter: cannot run $ARGV[0]: $!\n";
