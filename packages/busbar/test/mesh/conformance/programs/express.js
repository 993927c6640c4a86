import { fileURLToPath } from 'node:url'

const file = fileURLToPath(import.meta.url)

export function expressApp(express) {
  const app = express()
  // Errors are answered, not printed.
  app.set('env', 'test')
  app.get('/send', (_, response) => response.send('hi'))
  app.get('/json', ({ ip, protocol, hostname, fresh, secure, query }, response) =>
    response.json({ ip, protocol, hostname, fresh, secure, query }),
  )
  app.get('/file', (_, response) => response.sendFile(file))
  app.get('/download', (_, response) => response.download(file, 'ä.js'))
  app.get('/redirect', (_, response) => response.redirect('/x'))
  app.get('/cookie', (_, response) => response.cookie('a', '1').cookie('b', '2').send('x'))
  app.get('/throws', () => {
    throw new Error('why')
  })
  app.get('/next', (_, __, next) => next(Object.assign(new Error('no'), { status: 403 })))
  app.get('/late-error', (_, response, next) => {
    response.write('part')
    setTimeout(() => next(new Error('late')), 2)
  })
  app.get('/format', (_, response) =>
    response.format({ text: () => response.send('text'), json: () => response.json({ as: 'json' }) }),
  )
  app.get('/item/:id', ({ params }, response) => response.json(params))
  app.get('/empty', (_, response) => response.status(204).end())
  app.post('/body', express.json(), ({ body }, response) => response.json(body))
  app.post('/form', express.urlencoded({ extended: false }), ({ body }, response) => response.json(body))
  app.post('/raw', express.raw({ type: '*/*' }), ({ body }, response) => response.send(body))
  app.post('/echo', (request, response) => request.pipe(response))
  return app
}
