const http = require('http')

exports.__esModule = true
exports.default = function main() {
  http.createServer((req, res) => res.end(JSON.stringify({ hello: 'export-main' }))).listen(3000)
}
