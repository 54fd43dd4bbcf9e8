//! HTTP/3 page server; what it is told by its environment is in docs/formats.md, section 2.

fn main() -> std::process::ExitCode {
    howquick_quiche::run("server", howquick_quiche::server::main)
}
