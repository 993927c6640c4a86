import { armProgram, type Arm, type Launch, type Place } from '../arm.ts'
import { busbar, exactly, goProgram, program } from './launch.ts'
import type { Parameters, Scenario } from './scenario.ts'

const preload = 10_000
const collection = '/rpz/items'
const body = itemOf(4711)
const path = `${collection}/4711`

export const protocols: Scenario = {
  name: 'protocols',
  question: 'A service of items: what does the protocol cost, and what the runtime below it?',
  baseline: 'http',
  arms: [
    { ...arm('http', 'node:http', inNode), single: true },
    { ...arm('https', 'node:https', encrypted(inNode)), single: true },
    { ...arm('go', 'Go, net/http', inGo), requires: { kind: 'go', source: 'protocols/items.go' } },
    {
      ...arm('go-tls', 'Go, net/http with TLS', encrypted(inGo)),
      requires: { kind: 'go', source: 'protocols/items.go' },
    },
    { ...arm('busbar', 'Busbar, a typed service', (place) => underBusbar(place)), single: true },
    {
      ...arm('busbar-tls', 'Busbar, a typed service over HTTPS', (place) => underBusbar(place, place.certificate)),
      single: true,
    },
  ],
  quick: { arms: ['https', 'go', 'busbar'] },
  connections: [100],
  workers: [1],
  parameters: { items: preload },
  request: () => ({ path, expect: exactly(body) }),
  variants: {
    post: {
      title: 'items are added',
      request: () => ({
        method: 'POST',
        path: collection,
        headers: [['content-type', 'application/json']],
        body,
        expect: { ...exactly(body), status: 201 },
      }),
    },
    list: { title: 'many items are listed', request: listed },
  },
}

function arm(name: string, title: string, launch: (place: Place) => Launch): Arm {
  return { name, title, launch }
}

function inNode(place: Place): Launch {
  return program(place, path, { file: armProgram('protocols/items.ts'), env: { PRELOAD: String(preload) } })
}

function inGo(place: Place): Launch {
  return goProgram(place, path, { PRELOAD: String(preload) })
}

function encrypted(plain: (place: Place) => Launch): (place: Place) => Launch {
  return (place) => {
    const { env, target, ...rest } = plain(place)
    const { cert, key } = place.certificate
    return { ...rest, env: { ...env, TLS_CERT: cert, TLS_KEY: key }, target: { ...target, tls: true } }
  }
}

/** One worker: each would have items of its own. */
function underBusbar(place: Place, tls?: Place['certificate']): Launch {
  const services = { items: { path: armProgram('protocols/items'), env: { PRELOAD: String(preload) } } }
  const launch = busbar(place, path, { workers: 1, gateway: { routes: { '/': 'items' }, tls }, services })
  return tls === undefined ? launch : { ...launch, target: { ...launch.target, tls: true } }
}

function listed({ items = preload }: Parameters): ReturnType<Scenario['request']> {
  const all = Array.from({ length: items }, (_, at) => itemOf(at + 1))
  return { path: `${collection}?limit=${items}`, expect: exactly(`[${all.join(',')}]`) }
}

function itemOf(id: number): string {
  return JSON.stringify({ id: String(id), name: `Item ${id}` })
}
