const http = require('http')
const counter = require('./counter')
const shared = require('prom-client')

http
  .createServer(async (req, res) => {
    if (req.url === '/later') require('./later').count++
    if (req.url === '/later-module') (await import('./later-module.mjs')).state.count++
    counter.count++
    const required = require('./required.mjs')
    required.state.count++
    res.end(
      JSON.stringify({
        count: counter.count,
        later: require('./later').count,
        laterModule: (await import('./later-module.mjs')).state.count,
        inModule: (await import('./later-module.mjs')).state.counter.count,
        main: require.main === module && require('./later').main === module,
        cached: Object.keys(require.cache).some((file) => file.endsWith('counter.js')),
        file: __filename,
        required: required.state,
        name: process.env.NAME,
        shared: (shared.seen = (shared.seen ?? 0) + 1),
      }),
    )
  })
  .listen(3000)
