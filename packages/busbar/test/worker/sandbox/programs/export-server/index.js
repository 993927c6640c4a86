const http = require('http')
module.exports = http.createServer((req, res) => res.end(JSON.stringify({ hello: 'export-server' })))
