const express = require('express')
const app = express()
app.get('/', (req, res) => res.json({ hello: 'export-and-listen', connected: app.locals.connected === true }))

setTimeout(() => {
  app.locals.connected = true
  app.listen(4321)
}, 100)
module.exports = app
