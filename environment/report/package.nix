{ nodeProgram }: nodeProgram ./. { hash = "sha256-+cCUaaU+Nl8GbiurfX3IYHKCsaY9D9g3ADYOw63iBz8="; }
