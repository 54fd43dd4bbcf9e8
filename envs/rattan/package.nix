{ rustProgram }: rustProgram ./. { }
