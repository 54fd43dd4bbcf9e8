//! Page client; what it is told by its environment is in docs/formats.md, section 2.

fn main() -> std::process::ExitCode {
    howquick_quiche::program("client", howquick_quiche::client::main).run()
}
