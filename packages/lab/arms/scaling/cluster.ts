/** `node:cluster` with `WORKERS` processes of the plain service. */
import cluster from 'node:cluster'

if (cluster.isPrimary) {
  for (let worker = 0; worker < Number(process.env['WORKERS'] ?? 1); worker++) cluster.fork()
  process.on('SIGTERM', () => process.exit(0))
} else await import('./hello.ts')
