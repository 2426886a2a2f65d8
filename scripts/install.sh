#!/usr/bin/env bash
# Installs what the other scripts need on Debian, if it is missing. Rust must be there already.
# Usage: scripts/install.sh [build] [run] [test] [page] [lint] [book] [package]
set -euo pipefail

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# need COMMAND PACKAGE…: installs the packages if the command is missing.
need() {
    local command=$1
    shift
    command -v "$command" >/dev/null && return
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"
}

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust 1.95 or later first, see https://rustup.rs" >&2
    exit 1
fi

for purpose in "$@"; do
    case $purpose in
        build) need cc build-essential ;;
        # The sandbox of tasks.
        run)
            need bwrap bubblewrap
            # A network of a task's own, for agents of root's.
            need slirp4netns slirp4netns
            need nft nftables
            ;;
        test)
            need bwrap bubblewrap
            need bindfs bindfs
            need faketime faketime
            need ip iproute2
            need nft nftables
            need ps procps
            need python3 python3 python3-venv
            need slirp4netns slirp4netns
            need strace strace
            need systemd-analyze systemd
            ;;
        # The page's build and its tests; node 20.19 or later.
        page)
            need chromium chromium
            need node nodejs
            need npm npm
            ;;
        lint) cargo deny --version >/dev/null 2>&1 || cargo install --debug --locked cargo-deny ;;
        # The docs as one book.
        book)
            mdbook --version 2>/dev/null | grep -q "v0\.5\." ||
                cargo install --debug --locked mdbook --version 0.5.4 --no-default-features --features search
            ;;
        package) need dpkg-shlibdeps dpkg-dev ;;
        *) echo "unknown purpose: $purpose" >&2; exit 2 ;;
    esac
done
