# Variables of every way in by Nix: shell, `nix run`, checks and virtual machine.
{
  dejavu_fonts,
  lmodern,
  makeFontsConf,
  manifest,
}:
let
  fonts = makeFontsConf {
    fontDirectories = [
      dejavu_fonts
      lmodern
    ];
  };
in
{
  HOWQUICK_MANIFEST = "${manifest}";
  FONTCONFIG_FILE = "${fonts}";
  LC_ALL = "C.UTF-8";
  TZ = "UTC";
}
