//! Page server; what it is told by its environment is in docs/formats.md, section 2.

fn main() -> std::process::ExitCode {
    howquick_s2n_quic::program("server", howquick_s2n_quic::server::main).run()
}
