import { Hono } from 'hono'

export const { fetch } = new Hono().get('/', (c) => c.json({ hello: 'hono-fetch' }))
