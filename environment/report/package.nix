{ nodeProgram }: nodeProgram ./. { hash = "sha256-ASMdimaTM9xQDmL/luzL96AojCbxe3Yu4R6HnB4ARPA="; }
