import { armProgram, type Arm, type LaunchContext, type Requirement } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import { protoCall } from '../grpc/proto-call.ts'
import { catalogProto, grpcArms } from './grpc-arms.ts'
import { busbar, program } from './launch.ts'
import type { Scenario } from './scenario.ts'

const categories = ['kitchen', 'garden', 'office', 'garage', 'travel']

/** 1.1 kB of JSON. No value is the default of its type, since Protocol Buffers omit those. */
const products = Array.from({ length: 10 }, (_, at) => ({
  id: 4001 + at,
  name: `Folding shelf bracket, size ${at + 1} of 10, steel`,
  category: categories[at % categories.length]!,
  cents: 1295 + 350 * at,
  stock: 17 + 9 * at,
}))
const answer = JSON.stringify({ products })
// A peer dependency. Without a version npm would choose one.
const trpc = { kind: 'npm', packages: { '@trpc/server': '11.25.2', typescript: '5.9.3' } } as const
const connect = {
  kind: 'npm',
  packages: { '@connectrpc/connect': '2.2.0', '@connectrpc/connect-node': '2.2.0', '@bufbuild/protobuf': '2.17.0' },
} as const

export const rpc: Scenario = {
  name: 'rpc',
  question: 'A call that returns ten products: what does the layer above HTTP cost?',
  baseline: 'fastify',
  arms: [
    arm('fastify', 'a plain Fastify route', 'fastify.ts'),
    typed('busbar', 'Busbar, a contract at its gateway'),
    { ...arm('busbar-plugin', 'the same contract as a plug-in of Fastify', 'busbar-plugin.ts'), translate: toBusbar },
    { ...typed('busbar-native', 'the same at the native entrance', 'native'), onlyWhenAsked: true },
    {
      name: 'fastify-native',
      title: 'the plain Fastify route behind the native entrance',
      onlyWhenAsked: true,
      launch: (context) =>
        busbar(context, '/ready', {
          gateway: { entry: 'fastify', entrance: 'native' },
          services: { fastify: { path: armProgram('rpc/fastify.ts'), env: dataOf(context) } },
        }),
    },
    peer('trpc', 'tRPC, its own server', 'trpc.ts', trpc, toTrpc),
    peer('trpc-fastify', 'tRPC on Fastify', 'trpc.ts', trpc, toTrpc, { ON: 'fastify' }),
    peer('connect', 'Connect, JSON over HTTP/1.1', 'connect.ts', connect, toConnect),
    ...grpcArms({
      env: { PRODUCTS: JSON.stringify(products) },
      services: catalog,
      route: 'catalog',
      translate: toCall,
    }).map((each) => ({ ...each, lacks: ['sqlite'] })),
  ],
  quick: { arms: ['busbar', 'trpc', 'connect'], connections: [100] },
  connections: [10, 100, 1000],
  workers: [1],
  request: () => call('/constant'),
  variants: { sqlite: { title: 'read from SQLite', request: () => call('/stored') } },
}

/** Without a content-length, since arms that serialise into a stream do not send one. */
function call(path: string): LoadRequest {
  return {
    method: 'POST',
    path,
    headers: [['content-type', 'application/json']],
    body: JSON.stringify({ limit: products.length }),
    expect: { body: answer, headers: [['content-encoding', null]] },
  }
}

function toBusbar(request: LoadRequest): LoadRequest {
  return { ...request, path: `/catalog${request.path}` }
}

function toTrpc(request: LoadRequest): LoadRequest {
  const body = `{"result":{"data":${request.expect?.body}}}`
  return { ...request, path: `/trpc${request.path}`, expect: { ...request.expect, body } }
}

function toCall(request: LoadRequest): LoadRequest {
  const call = protoCall(catalogProto, 'lab.v1.Catalog/Constant')
  const message = call.output(JSON.parse(request.expect!.body!))
  return { ...call.request(JSON.parse(request.body!)), expect: { message } }
}

function toConnect(request: LoadRequest): LoadRequest {
  const method = request.path === '/stored' ? 'Stored' : 'Constant'
  return { ...request, path: `/lab.v1.Catalog/${method}` }
}

function typed(name: string, title: string, entrance: 'portable' | 'native' = 'portable'): Arm {
  return {
    name,
    title,
    translate: toBusbar,
    launch: (context) =>
      busbar(context, '/ready', { gateway: { entrance, routes: { '/': 'catalog' } }, services: catalog(context) }),
  }
}

function arm(name: string, title: string, file: string, env: Record<string, string> = {}): Arm {
  return {
    name,
    title,
    launch: (context) =>
      program(context, '/ready', {
        file: armProgram(`rpc/${file}`),
        env: { ...dataOf(context), PACKAGES: context.packages, ...env },
      }),
  }
}

function catalog(context: LaunchContext): object {
  return { catalog: { path: armProgram('rpc/busbar'), env: dataOf(context) } }
}

function dataOf({ folder }: LaunchContext): Record<string, string> {
  return { PRODUCTS: JSON.stringify(products), FOLDER: folder }
}

function peer(
  name: string,
  title: string,
  file: string,
  requires: Requirement,
  translate: (request: LoadRequest) => LoadRequest,
  env: Record<string, string> = {},
): Arm {
  return { ...arm(name, title, file, env), requires, translate }
}
