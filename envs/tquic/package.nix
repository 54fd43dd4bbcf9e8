{ rustProgram }: rustProgram ./. { nativeLibraries = true; }
