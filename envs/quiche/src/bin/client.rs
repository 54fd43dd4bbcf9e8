//! HTTP/3 page client; what it is told by its environment is in docs/formats.md, section 2.

fn main() -> std::process::ExitCode {
    howquick_quiche::run("client", howquick_quiche::client::main)
}
