setTimeout(function leave() {
  process.exit()
}, 5)
