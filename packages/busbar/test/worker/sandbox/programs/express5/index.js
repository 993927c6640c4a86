const express = require('express')
const app = express()
app.get('/', (req, res) => res.json({ hello: 'express5' }))
app.listen(3000, () => console.log('ready'))
