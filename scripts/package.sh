#!/usr/bin/env bash
# Builds the program and a Debian package of it: target/debian/gleaner_VERSION_ARCHITECTURE.deb. Safe to repeat; the same
# commit is packed to the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh build package
cargo build --release --locked --bin gleaner --bin gleaner-launch
built=${CARGO_TARGET_DIR:-target}/release/gleaner

id=$(cargo pkgid -p gleaner)
version=${id##*[@#]}
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH

out=target/debian
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root
umask 022

put() { install -D -m "$1" "$2" "$root$3"; }

put 755 "$built" /usr/bin/gleaner
# Agents look for it beside the program.
put 755 "$built-launch" /usr/bin/gleaner-launch
strip "$root/usr/bin/gleaner" "$root/usr/bin/gleaner-launch"
for unit in gleaner-agent.service gleaner-coordinator.service gleaner.slice; do
    put 644 "packaging/systemd/$unit" "/usr/lib/systemd/system/$unit"
done
put 644 packaging/systemd/user/gleaner-agent.service /usr/lib/systemd/user/gleaner-agent.service
# The agent's may hold a join token.
put 644 packaging/etc/coordinator.env /etc/gleaner/coordinator.env
put 600 packaging/etc/agent.env /etc/gleaner/agent.env
put 644 packaging/README.md /usr/share/doc/gleaner/README.md
put 644 SECURITY.md /usr/share/doc/gleaner/SECURITY.md
mkdir -p "$scratch/words"
gzip -9n <CHANGELOG.md >"$scratch/words/changelog.gz"
put 644 "$scratch/words/changelog.gz" /usr/share/doc/gleaner/changelog.gz
"$built" completions bash >"$scratch/words/bash"
"$built" completions zsh >"$scratch/words/zsh"
"$built" completions fish >"$scratch/words/fish"
"$built" man --out "$scratch/man"
for page in "$scratch"/man/*.1; do
    gzip -9n "$page"
    put 644 "$page.gz" "/usr/share/man/man1/$(basename "$page").gz"
done
put 644 "$scratch/words/bash" /usr/share/bash-completion/completions/gleaner
put 644 "$scratch/words/zsh" /usr/share/zsh/vendor-completions/_gleaner
put 644 "$scratch/words/fish" /usr/share/fish/vendor_completions.d/gleaner.fish
{
    echo "Gleaner may be used under either of these licences: the MIT licence, or the Apache License 2.0, which is in"
    printf '/usr/share/common-licenses/Apache-2.0.\n\n'
    cat LICENSE-MIT
} >"$scratch/words/copyright"
put 644 "$scratch/words/copyright" /usr/share/doc/gleaner/copyright

# dpkg-shlibdeps wants to see a source package.
mkdir -p "$scratch/debian"
printf 'Source: gleaner\n\nPackage: gleaner\nArchitecture: any\n' >"$scratch/debian/control"
libraries=$(cd "$scratch" && dpkg-shlibdeps -O "$root/usr/bin/gleaner" "$root/usr/bin/gleaner-launch" 2>/dev/null)
libraries=${libraries#shlibs:Depends=}

mkdir "$root/DEBIAN"
for script in postinst postrm prerm; do
    install -m 755 "packaging/debian/$script" "$root/DEBIAN/$script"
done
install -m 644 packaging/debian/conffiles "$root/DEBIAN/conffiles"
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@LIBRARIES@/$libraries/" \
    -e "s/@KIBIBYTES@/$(du -sk --exclude=DEBIAN "$root" | cut -f1)/" packaging/debian/control >"$root/DEBIAN/control"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$scratch/md5sums"
install -m 644 "$scratch/md5sums" "$root/DEBIAN/md5sums"

mkdir -p "$out"
package=$out/gleaner_${version}_${architecture}.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null

# What was packed has to run as it comes out again.
dpkg-deb --extract "$package" "$scratch/unpacked"
"$scratch/unpacked/usr/bin/gleaner" --version
echo "$package"
