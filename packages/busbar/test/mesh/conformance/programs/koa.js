import { createReadStream } from 'node:fs'
import Koa from 'koa'
import { failingSource } from './sources.js'

const bodies = {
  '/stream': () => createReadStream(new URL(import.meta.url)),
  '/failing-stream': failingSource,
  '/bytes': () => Buffer.from('bytes'),
  '/throws': (context) => context.throw(418, 'why'),
  '/null': () => null,
  '/cookie': (context) => {
    context.cookies.set('a', '1')
    return 'x'
  },
  '/text': () => 'text',
  '/json': ({ ip, fresh, secure, host }) => ({ ip, fresh, secure, host }),
}

export function koaListener() {
  const app = new Koa()
  app.silent = true
  app.use((context) => {
    const body = bodies[context.path]
    if (body) context.body = body(context)
  })
  return app.callback()
}
