{ rustProgram }:
rustProgram ./. {
  nativeLibraries = true;
  shared.contract = ../quinn/contract;
}
