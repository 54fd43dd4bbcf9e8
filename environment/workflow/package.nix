{ pythonProgram }: pythonProgram ./.
