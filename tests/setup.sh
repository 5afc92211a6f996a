#!/bin/sh
# What scripts/setup.sh says on machines that lack something: another distribution, no rights, no optional libraries.
# usage: setup.sh SOURCE
setup=$1/scripts/setup.sh
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && mkdir "$work/bin" || exit 1
for tool in sh cat grep sed env; do ln -s "$(command -v $tool)" "$work/bin/"; done
for tool in gcc cc cmake ninja; do printf '#!/bin/sh\n' > "$work/bin/$tool"; done
printf '#!/bin/sh\necho 1000\n' > "$work/bin/id"
chmod +x "$work/bin/"*
failed=0

# expect STATUS TEXT WORD...: the exit status of setup.sh WORD..., and a text in what it prints; none if TEXT is empty
expect() {
  wanted=$1 text=$2
  shift 2
  PATH=$work/bin WICK_OS_RELEASE=$work/os FAKE_MISSING=$missing sh "$setup" "$@" > "$work/said" 2>&1
  status=$?
  if [ $status -ne "$wanted" ] || ! grep -qF -- "$text" "$work/said" && [ -n "$text$(cat "$work/said")" ]; then
    echo "setup.sh $* where '$missing' is missing: exit status $status, '$text' expected in:"; cat "$work/said"; failed=1
  fi
}

missing=
expect 0 ""
mv "$work/bin/ninja" "$work/"
printf 'ID=fedora\n' > "$work/os"
expect 1 "sudo dnf install gcc cmake ninja-build"
printf 'ID=manjaro\nID_LIKE=arch\n' > "$work/os"
expect 1 "sudo pacman -S gcc cmake ninja"
printf 'ID=alpine\n' > "$work/os"
expect 1 "apk add build-base cmake samurai zlib-dev"
printf 'ID=plan9\n' > "$work/os"
expect 1 "a C compiler, CMake and Ninja are needed"
mv "$work/ninja" "$work/bin/"

cat > "$work/bin/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
case " $FAKE_MISSING " in *" $package "*) exit 1 ;; esac
echo "install ok installed"
END
chmod +x "$work/bin/dpkg-query"
expect 0 ""
missing="libdnnl-dev libcmocka-dev"
expect 0 "to have them: sudo apt-get install libdnnl-dev"
expect 1 "sudo apt-get install libcmocka-dev libdnnl-dev" tests
missing=cmake
expect 1 "sudo apt-get install cmake"
exit $failed
