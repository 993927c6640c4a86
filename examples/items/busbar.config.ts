import { defineApp } from 'busbar'

export default defineApp(({ env }) => ({
  workers: 1,
  gateway: {
    port: 3045,
    routes: { '/': 'items' },
    tls: certificate(env['ITEMS_CERTIFICATE']),
    grpc: env['ITEMS_GRPC'] === 'true',
  },
  services: {
    items: { path: './items', run: 'shared', env: { PRELOAD: env['ITEMS_PRELOAD'] ?? '0' } },
  },
}))

function certificate(folder: string | undefined) {
  return folder === undefined ? undefined : { cert: `${folder}/cert.pem`, key: `${folder}/key.pem` }
}
