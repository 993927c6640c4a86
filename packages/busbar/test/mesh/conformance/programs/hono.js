import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'

export function honoListener() {
  const app = new Hono()
  app.get('/json', (context) => context.json({ url: new URL(context.req.url).pathname }))
  app.get('/text', (context) => context.text('text', 203, { 'X-A': '1' }))
  app.get('/stream', () => new Response(new Blob(['a', 'b']).stream()))
  app.get('/null', (context) => context.body(null, 204))
  app.get('/cookies', (context) => {
    context.header('Set-Cookie', 'a=1', { append: true })
    context.header('Set-Cookie', 'b=2', { append: true })
    return context.text('x')
  })
  app.post('/body', async (context) => context.json(await context.req.json()))
  app.post('/echo', (context) => new Response(context.req.raw.body))
  return getRequestListener(app.fetch)
}
