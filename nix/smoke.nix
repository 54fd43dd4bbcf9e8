# The strongest testbed: scale `smoke` on a kernel of its own, which has netem and SCTP, as an
# ordinary user.
{
  environment,
  source,
  testers,
  tools,
}:
testers.runNixOSTest {
  name = "howquick-smoke";
  nodes.machine =
    { pkgs, ... }:
    {
      boot.kernelPackages = pkgs.linuxPackages_6_18;
      # An ordinary user's namespaces cannot load modules.
      boot.kernelModules = [
        "sch_ingress"
        "sch_netem"
        "sch_tbf"
        "sctp"
        "veth"
      ];
      users.users.reader.isNormalUser = true;
      environment.systemPackages = tools ++ [ pkgs.lksctp-tools ];
      environment.variables = environment;
      virtualisation = {
        cores = 2;
        memorySize = 4096;
        diskSize = 8192;
      };
    };
  testScript = ''
    machine.wait_for_unit("multi-user.target")
    machine.succeed("checksctp")
    machine.succeed("tc qdisc add dev lo root netem delay 1ms && tc qdisc del dev lo root")

    def as_reader(command):
        return machine.succeed(f"su --login reader --command 'cd project && {command}'", timeout=3600)

    machine.succeed("cp -r ${source} ~reader/project")
    machine.succeed("chmod -R u+w ~reader/project && chown -R reader: ~reader/project")
    as_reader("snakemake --cores 2 --config scale=smoke clock=real")
    as_reader("test -s results/appendix.pdf && test -s results/report/index.html")
    emulators = as_reader(
        "find results/runs -name meta.json -print0 | xargs -0 jq -r .programs.emulator.name | sort -u"
    )
    assert emulators.split() == ["netem"], emulators
  '';
}
