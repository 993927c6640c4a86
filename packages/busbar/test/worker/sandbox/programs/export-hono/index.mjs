import { Hono } from 'hono'

const app = new Hono()
app.get('/', (c) => c.json({ hello: 'export-hono' }))
export default app
