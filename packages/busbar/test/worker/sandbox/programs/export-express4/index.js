const express = require('express4')
const app = express()
app.get('/', (req, res) => res.json({ hello: 'export-express4' }))
module.exports = app
