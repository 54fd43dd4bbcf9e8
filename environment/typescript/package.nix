{ nodeProgram }: nodeProgram ./. { hash = "sha256-draCSD7k42F8gaDe8HDyiwtav4GbN0Th4blS70OXMHo="; }
