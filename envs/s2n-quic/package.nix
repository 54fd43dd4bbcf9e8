{ rustProgram }:
rustProgram ./. {
  nativeLibraries = true;
  shared.".cargo" = ../quinn/.cargo;
  shared.contract = ../contract/rust;
}
