import { armProgram, type Arm, type Launch, type LaunchContext } from '../arm.ts'
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
    { ...arm('busbar', 'Busbar, a typed service', (context) => underBusbar(context)), single: true },
    {
      ...arm('busbar-tls', 'Busbar, a typed service over HTTPS', (context) =>
        underBusbar(context, context.certificate),
      ),
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

function arm(name: string, title: string, launch: (context: LaunchContext) => Launch): Arm {
  return { name, title, launch }
}

function inNode(context: LaunchContext): Launch {
  return program(context, path, { file: armProgram('protocols/items.ts'), env: { PRELOAD: String(preload) } })
}

function inGo(context: LaunchContext): Launch {
  return goProgram(context, path, { PRELOAD: String(preload) })
}

function encrypted(plain: (context: LaunchContext) => Launch): (context: LaunchContext) => Launch {
  return (context) => {
    const { env, target, ...rest } = plain(context)
    const { cert, key } = context.certificate
    return { ...rest, env: { ...env, TLS_CERT: cert, TLS_KEY: key }, target: { ...target, tls: true } }
  }
}

/** Always one worker, since each would have its own items. */
function underBusbar(context: LaunchContext, tls?: LaunchContext['certificate']): Launch {
  const services = { items: { path: armProgram('protocols/items'), env: { PRELOAD: String(preload) } } }
  const launch = busbar(context, path, { workers: 1, gateway: { routes: { '/': 'items' }, tls }, services })
  return tls === undefined ? launch : { ...launch, target: { ...launch.target, tls: true } }
}

function listed({ items = preload }: Parameters): ReturnType<Scenario['request']> {
  const all = Array.from({ length: items }, (_, at) => itemOf(at + 1))
  return { path: `${collection}?limit=${items}`, expect: exactly(`[${all.join(',')}]`) }
}

function itemOf(id: number): string {
  return JSON.stringify({ id: String(id), name: `Item ${id}` })
}
