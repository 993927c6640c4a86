import { armProgram, type Arm, type Launch, type LaunchContext } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import { protoCall, type ProtoCall } from '../grpc/proto-call.ts'
import { grpcArms, itemsProto } from './grpc-arms.ts'
import { busbar, encrypted, exactly, goProgram, overHttp2, program } from './launch.ts'
import type { Parameters, Scenario } from './scenario.ts'

const preload = 10_000
const collection = '/rpz/items'
const body = itemOf(4711)
const path = `${collection}/4711`
const typed = { items: { path: armProgram('protocols/items'), env: { PRELOAD: String(preload) } } }

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
    ...[
      arm('http2', 'node:http2', overHttp2(inNode)),
      arm('http2-tls', 'node:http2 with TLS', overHttp2(encrypted(inNode))),
      {
        ...arm('go-http2-tls', 'Go, net/http with TLS, HTTP/2', overHttp2(encrypted(inGo))),
        requires: { kind: 'go', source: 'protocols/items.go' } as const,
      },
      arm('busbar-native', 'Busbar, a typed service at the native entrance', native()),
      arm('busbar-native-tls', 'Busbar, a typed service at the native entrance, over HTTPS', native(true)),
      arm('busbar-http2', 'Busbar, a typed service over HTTP/2', overHttp2(native())),
      arm('busbar-http2-tls', 'Busbar, a typed service over HTTP/2 with TLS', overHttp2(native(true))),
    ].map((each) => ({ ...each, single: true, onlyWhenAsked: true })),
    ...grpcArms({
      env: { PRELOAD: String(preload) },
      services: () => typed,
      route: 'items',
      translate: toCall,
    }),
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

/** Always one worker, since each would have its own items. */
function underBusbar(context: LaunchContext, tls?: LaunchContext['certificate'], entrance = 'portable'): Launch {
  const gateway = { routes: { '/': 'items' }, tls, entrance }
  const launch = busbar(context, path, { workers: 1, gateway, services: typed })
  return tls === undefined ? launch : { ...launch, target: { ...launch.target, tls: true } }
}

/** The portable gateway serves only gRPC over HTTP/2. */
function native(tls = false): (context: LaunchContext) => Launch {
  return (context) => underBusbar(context, tls ? context.certificate : undefined, 'native')
}

/** The methods of `rpz.ItemService`. */
function toCall(request: LoadRequest): LoadRequest {
  const url = new URL(request.path, 'http://items')
  const limit = url.searchParams.get('limit')
  const answer = JSON.parse(request.expect!.body!) as unknown
  if (request.method === 'POST') return called('CreateItem', JSON.parse(request.body!), answer)
  if (limit !== null) return called('ListItems', { limit: Number(limit) }, { items: answer })
  return called('GetItem', { id: url.pathname.slice(collection.length + 1) }, answer)
}

function called(name: string, input: unknown, answer: unknown): LoadRequest {
  const call: ProtoCall = protoCall(itemsProto, `rpz.ItemService/${name}`)
  return { ...call.request(input), expect: { message: call.output(answer) } }
}

function listed({ items = preload }: Parameters): ReturnType<Scenario['request']> {
  const all = Array.from({ length: items }, (_, at) => itemOf(at + 1))
  return { path: `${collection}?limit=${items}`, expect: exactly(`[${all.join(',')}]`) }
}

function itemOf(id: number): string {
  return JSON.stringify({ id: String(id), name: `Item ${id}` })
}
