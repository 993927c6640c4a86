import { defineApp } from 'busbar'

export default defineApp(({ env }) => ({
  gateway: { port: 3043, routes: { '/tsfastify': 'tsfastify' }, tls: env['FANOUT_TLS'] ? certificate : undefined },
  defaults: { run: 'shared' },
  services: {
    tsfastify: { path: './tsfastify', needs: ['fastify2', 'node3', 'type1', 'type4'] },
    fastify2: { path: './fastify2', expose: [3101, 3201] },
    node3: { path: './node3', expose: [3102, 3202] },
    type1: { path: './type1', expose: [3103, 3203] },
    type4: { path: './type4', expose: [3104, 3204] },
  },
}))

const certificate = { cert: 'certs/cert.pem', key: 'certs/key.pem' }
