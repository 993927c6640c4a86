import { createServer } from 'node:http'

const { NAME } = process.env
const server = createServer((request, response) => response.end(NAME)).listen(3000, () => console.log(`${NAME} starts`))

process.on('SIGTERM', () => {
  console.log(`${NAME} stops`)
  server.close()
})
process.on('exit', () => console.log(`${NAME} exits`))
