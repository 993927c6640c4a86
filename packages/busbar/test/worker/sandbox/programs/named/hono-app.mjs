import { Hono } from 'hono'

export const app = new Hono().get('/', (c) => c.json({ hello: 'hono-app' }))
