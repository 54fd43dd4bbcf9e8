"""Run an end point written for the QUIC Interop Runner under the contract of docs/formats.md, section 2."""

from howquick.interop.bridge import main

if __name__ == "__main__":
    main()
