// Calls another service over keep-alive connections, and reports failures.
import http from 'node:http'

const agent = new http.Agent({ keepAlive: true })

http
  .createServer((_, response) => {
    http
      .get({ host: 'closes.internal', agent }, (answer) => answer.pipe(response))
      .on('error', (error) => response.writeHead(502).end(error.code))
  })
  .listen(3000)
