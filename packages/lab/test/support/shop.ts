import { freePorts } from '../../../busbar/test/support/http/free-ports.ts'
import { server } from './repository.ts'

/** Two programs of PM2. The first calls the second at a port of this machine. */
export async function shop(url: (port: number) => string): Promise<{ files: Record<string, string>; ports: number[] }> {
  const ports = await freePorts(2)
  const [web, catalog] = ports as [number, number]
  const apps = [
    { name: 'web', script: './web/server.js', env: { PORT: web } },
    { name: 'catalog', script: './catalog/server.js', env: { PORT: catalog } },
  ]
  return {
    ports,
    files: {
      'ecosystem.config.json': JSON.stringify({ apps }),
      'web/server.js': `const base = ${url(catalog)}\n${server('process.env.PORT', `{ items: await (await fetch(base + '/items')).json() }`)}`,
      'catalog/server.js': server('process.env.PORT', `['pen', 'ink']`),
    },
  }
}
