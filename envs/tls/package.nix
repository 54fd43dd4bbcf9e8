{ cProgram, openssl }: cProgram ./. [ openssl ]
