#!/usr/bin/perl
# namespace.pl [--user] [--with-parent] -- PROGRAM [ARGUMENT…]
#
# Runs PROGRAM in private mount and PID namespaces; with --user also in a user namespace in which the caller is
# root. Signals reach PROGRAM, its exit status comes back, and nothing outlives this process, not even SIGKILL:
# the first process of the PID namespace dies with this one, and the kernel ends the rest.
# With --with-parent this process in turn dies with the one that started it.
#
# Perl, because it is on every Debian (perl-base) and, unlike util-linux' unshare, can pass signals on.
# Exit status: PROGRAM's, 128+N if signal N ended it, 97 if the namespaces could not be made.
use strict;
use warnings;
use POSIX qw(:signal_h :sys_wait_h :errno_h);

my %NUMBERS = (
    x86_64  => { unshare => 272, prctl => 157, mount => 165 },
    aarch64 => { unshare => 97,  prctl => 167, mount => 40 },
);
use constant {
    CLONE_NEWNS => 0x00020000, CLONE_NEWUSER => 0x10000000, CLONE_NEWPID => 0x20000000,
    PR_SET_PDEATHSIG => 1,     MS_REC => 0x4000,            MS_PRIVATE => 0x40000,
    NO_NAMESPACE => 97,
};
my @FORWARDED = qw(INT TERM HUP QUIT USR1 USR2 ALRM CONT);

my ($with_user, $with_parent) = (0, 0);
while (@ARGV) {
    my $option = shift @ARGV;
    if    ($option eq '--user')        { $with_user   = 1 }
    elsif ($option eq '--with-parent') { $with_parent = 1 }
    elsif ($option eq '--')            { last }
    else  { give_up("unknown option $option") }
}
give_up('no program given') if !@ARGV;

my $machine = (POSIX::uname())[4];
my $number  = $NUMBERS{$machine} // give_up("unsupported architecture $machine");

if ($with_parent) {
    my $parent = getppid;
    call('prctl', PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 or give_up("prctl: $!");
    exit 1 if getppid != $parent;
}
my ($uid, $gid) = ($>, $) + 0);
my $flags = CLONE_NEWNS | CLONE_NEWPID | ($with_user ? CLONE_NEWUSER : 0);
call('unshare', $flags) == 0 or give_up("unshare: $!");
map_to_root($uid, $gid) if $with_user;
# What is mounted from here on is nobody else's.
call('mount', my $none = 'none', my $root = '/', my $type = 'none', MS_REC | MS_PRIVATE, 0) == 0
    or give_up("making mounts private: $!");

my $terminal = -t STDIN ? POSIX::tcgetpgrp(0) : -1;
my $signals  = POSIX::SigSet->new(map { POSIX->can("SIG$_")->() } @FORWARDED);
# Blocked until there is somebody to pass them on to.
sigprocmask(SIG_BLOCK, $signals, my $mask = POSIX::SigSet->new);
pipe my $alive, my $held_by_outer or give_up("pipe: $!");
my $status = supervise(\&become_init);
# An interactive shell inside may have taken the terminal; whoever called gets it back.
if ($terminal > 0) {
    local $SIG{TTOU} = 'IGNORE';
    POSIX::tcsetpgrp(0, $terminal);
}
exit $status;

# The first process of the new PID namespace: starts PROGRAM, collects orphans.
sub become_init {
    call('prctl', PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 or give_up("prctl: $!");
    # The parent may have ended before that: then nobody holds the pipe's other end.
    close $held_by_outer;
    vec(my $readable = '', fileno $alive, 1) = 1;
    exit 1 if select $readable, undef, undef, 0;
    exit supervise(\&run_program);
}

sub run_program {
    sigprocmask(SIG_SETMASK, $mask);
    exec { $ARGV[0] } @ARGV or do {
        my $why = $!;
        print STDERR "enter: cannot run $ARGV[0]: $why\n";
        POSIX::_exit($why == ENOENT ? 127 : 126);
    };
}

# Forks, runs $work in the child, passes signals on to it and returns its exit status.
sub supervise {
    my ($work) = @_;
    my $child = fork // give_up("fork: $!");
    $work->() if $child == 0;
    my $forward = sub {
        my ($name, $info) = @_;
        # What the terminal sends (Ctrl-C) goes to the whole process group: the child has it already.
        kill $name, $child if $info->{code} <= 0;
    };
    for my $name (@FORWARDED) {
        sigaction(POSIX->can("SIG$name")->(), POSIX::SigAction->new($forward, POSIX::SigSet->new, SA_SIGINFO));
    }
    sigprocmask(SIG_SETMASK, $mask);
    while (1) {
        my $ended = waitpid -1, 0;
        next if $ended == -1 && $! == EINTR;
        return 1 if $ended == -1;
        next if $ended != $child;
        return WIFSIGNALED($?) ? 128 + WTERMSIG($?) : WEXITSTATUS($?);
    }
}

sub call {
    my ($name, @arguments) = @_;
    return syscall($number->{$name}, @arguments);
}

sub map_to_root {
    my ($user, $group) = @_;
    write_file('/proc/self/setgroups', 'deny');
    write_file('/proc/self/uid_map',   "0 $user 1");
    write_file('/proc/self/gid_map',   "0 $group 1");
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or give_up("$path: $!");
    (syswrite($file, $text) // -1) == length $text or give_up("$path: $!");
    close $file;
}

sub give_up {
    print STDERR "enter: $_[0]\n";
    POSIX::_exit(NO_NAMESPACE);
}
