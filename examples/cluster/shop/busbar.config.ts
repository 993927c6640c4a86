import { defineApp } from 'busbar'

export default defineApp({
  gateway: { port: Number(process.env['PORT'] ?? 3045), entry: 'web' },
  services: { web: './web', stock: { remote: 'cluster' } },
  cluster: { nats: process.env['NATS'] ?? 'nats://127.0.0.1:4222', name: 'shop' },
})
