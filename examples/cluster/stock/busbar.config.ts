import { defineApp } from 'busbar'

/** Runs on any number of hosts. */
export default defineApp({
  gateway: { port: 0 },
  services: { stock: './stock' },
  cluster: { nats: process.env['NATS'] ?? 'nats://127.0.0.1:4222', name: 'shop' },
})
