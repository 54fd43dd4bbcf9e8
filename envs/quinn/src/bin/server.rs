//! Page server; what it is told by its environment is in docs/formats.md, section 2.

fn main() -> std::process::ExitCode {
    howquick_quinn::program("server", howquick_quinn::server::main).run()
}
