# What tests call besides Node: `script` gives them a terminal, Chromium runs pages. Debian's names; elsewhere, or without
# the right to install, the tests concerned say that they are skipped, but for those of pages: on CI they fail.
missing=()
command -v git >/dev/null || missing+=(git)
command -v script >/dev/null || missing+=(bsdutils)
command -v chromium chromium-browser google-chrome-stable google-chrome >/dev/null || missing+=(chromium)

if [ ${#missing[@]} -gt 0 ]; then
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
  else
    echo "not installed, and not installable here: ${missing[*]}" >&2
  fi
fi
