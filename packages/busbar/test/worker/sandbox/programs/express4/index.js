const express = require('express4')
const app = express()
app.get('/', (req, res) => res.json({ hello: 'express4' }))
app.listen(3000, () => console.log('ready'))
