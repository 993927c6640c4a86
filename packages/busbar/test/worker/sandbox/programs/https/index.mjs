import { createServer } from 'node:https'
import { generate } from 'selfsigned'

const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }])
createServer({ cert, key }, (req, res) => {
  res.end(JSON.stringify({ hello: 'https', encrypted: req.socket.encrypted === true }))
}).listen(3000)
