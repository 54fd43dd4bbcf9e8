{ nodeProgram }: nodeProgram ./. { hash = "sha256-QNihQwvbkm7u14tg++gidVWs8V7rMOeUbdt5IeY5PoM="; }
