//! Page client; what it is told by its environment is in docs/formats.md, section 2.

fn main() -> std::process::ExitCode {
    howquick_s2n_quic::program("client", howquick_s2n_quic::client::main).run()
}
