const http = require('http')
http.createServer((_, res) => res.end('{}')).listen(3000)
