const express = require('express')
const app = express()
app.get('/', (req, res) => res.json({ hello: 'export-express' }))
module.exports = app
