const http = require('http')

function start() {
  http
    .createServer((req, res) => res.end(JSON.stringify({ hello: 'commonjs', main: require.main.filename })))
    .listen(3000)
}

if (require.main === module && !module.parent) start()
