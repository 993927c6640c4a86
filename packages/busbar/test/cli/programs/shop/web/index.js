process.on('SIGHUP', () => console.log('reloads its settings'))
require('node:http')
  .createServer((request, response) => {
    if (request.url === '/missing') return response.writeHead(404).end('nothing here')
    if (request.url === '/binary') return response.end(Buffer.from([0xff, 0x00, 0xfe]))
    if (request.url === '/busy') for (const end = Date.now() + 20; Date.now() < end;);
    response.setHeader('x-name', process.env.NAME ?? '')
    request.pipe(response)
  })
  .listen(process.env.PORT ?? 3000)
