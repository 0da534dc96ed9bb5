# Sourced: a Go program of a pinned version in .cache/bin.
#
# tool NAME PACKAGE VERSION: installed once, and again when another version is wanted.
tool() {
  [ "$(cat ".cache/bin/$1.version" 2>/dev/null)" = "$3" ] && [ -x ".cache/bin/$1" ] && return
  mkdir -p .cache/bin
  GOBIN=$PWD/.cache/bin go install "$2@$3"
  echo "$3" >".cache/bin/$1.version"
}
