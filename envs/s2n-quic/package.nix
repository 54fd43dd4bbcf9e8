{ rustProgram }:
rustProgram ./. {
  nativeLibraries = true;
  shared.contract = ../contract/rust;
}
