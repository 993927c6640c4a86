const http = require('http')
const { Registry, collectDefaultMetrics, register } = require('prom-client')

const own = process.env.OWN === 'yes' ? new Registry() : register
collectDefaultMetrics({ register: own })
http.createServer(async (req, res) => res.end(JSON.stringify({ metrics: await own.metrics() }))).listen(3000)
