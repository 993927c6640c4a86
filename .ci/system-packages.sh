# What tests call besides Node: `script` gives them a terminal. Debian's names; elsewhere, or without the right to
# install, the tests concerned say that they are skipped.
missing=()
command -v git >/dev/null || missing+=(git)
command -v script >/dev/null || missing+=(bsdutils)

if [ ${#missing[@]} -gt 0 ]; then
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >&2
  else
    echo "not installed, and not installable here: ${missing[*]}" >&2
  fi
fi
