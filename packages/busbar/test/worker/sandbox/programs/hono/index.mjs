import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.get('/', (c) => c.json({ hello: 'hono' }))
serve({ fetch: app.fetch, port: 3000 }, (info) => console.log('on', info.port))
