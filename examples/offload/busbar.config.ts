import { defineApp } from 'busbar'

export default defineApp({
  gateway: { port: 3047, entry: 'server' },
  services: { server: { path: '.', run: 'shared' } },
})
