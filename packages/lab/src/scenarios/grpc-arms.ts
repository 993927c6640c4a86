/** Arms that serve gRPC: the services of `arms/grpc`, or contracts under Busbar. */
import { fileURLToPath } from 'node:url'
import { armProgram, armSource, type Arm, type Launch, type LaunchContext } from '../arm.ts'
import type { LoadRequest } from '../engine/job.ts'
import { busbar, encrypted, goProgram, program } from './launch.ts'

const grpcJs = { kind: 'npm', packages: { '@grpc/grpc-js': '1.14.7', '@grpc/proto-loader': '0.8.1' } } as const
const connect = {
  kind: 'npm',
  packages: { '@connectrpc/connect': '2.2.0', '@connectrpc/connect-node': '2.2.0', '@bufbuild/protobuf': '2.17.0' },
} as const
const grpcGo = {
  kind: 'go-module',
  source: 'grpc/go/',
  packages: ['google.golang.org/grpc', 'google.golang.org/protobuf'],
} as const

export interface GrpcService {
  /** What the programs read: items, or products. */
  readonly env: Readonly<Record<string, string>>
  /** The same as a contract: the services of an app, of which one is called by `route`. */
  readonly services: (context: LaunchContext) => object
  readonly route: string
  /** Turns the scenario's request into a call. */
  translate(request: LoadRequest): LoadRequest
}

export const itemsProto: string = fileURLToPath(armSource('grpc/items.proto'))
export const catalogProto: string = fileURLToPath(armSource('grpc/catalog.proto'))

/** Each in clear and over TLS. They run only if named, since most readers ask about HTTP. */
export function grpcArms(service: GrpcService): Arm[] {
  const PROTO = `${itemsProto},${catalogProto}`
  const inNode = (file: string) => (context: LaunchContext) =>
    program(context, '/', {
      file: armProgram(`grpc/${file}`),
      env: { ...service.env, PROTO, PACKAGES: context.packages },
    })
  const inGo = (context: LaunchContext) => goProgram(context, '/', service.env)
  return [
    ...both('grpc-js', 'gRPC by @grpc/grpc-js', inNode('grpc-js.ts'), { requires: grpcJs }),
    ...both('grpc-connect', 'gRPC by Connect for Node', inNode('connect.ts'), { requires: connect }),
    ...both('grpc-go', 'gRPC by grpc-go', inGo, { requires: grpcGo }),
    ...underBusbar('busbar-grpc', 'gRPC by Busbar, the portable gateway', service, 'portable'),
    ...underBusbar('busbar-grpc-native', 'gRPC by Busbar, the native entrance', service, 'native'),
  ].map((arm) => ({ ...arm, translate: (request) => service.translate(request), onlyWhenAsked: true, single: true }))
}

function both(
  name: string,
  title: string,
  launch: (context: LaunchContext) => Launch,
  more: Pick<Arm, 'requires'>,
): Arm[] {
  return [
    { name, title, launch: overHttp2(launch), ...more },
    { name: `${name}-tls`, title: `${title}, over TLS`, launch: overHttp2(encrypted(launch)), ...more },
  ]
}

function underBusbar(name: string, title: string, service: GrpcService, entrance: 'portable' | 'native'): Arm[] {
  const launch = (tls: boolean) => (context: LaunchContext) => {
    const gateway = {
      grpc: true,
      entrance,
      routes: { '/': service.route },
      ...(tls && { tls: context.certificate }),
    }
    const launched = busbar(context, '/', { workers: 1, gateway, services: service.services(context) })
    return tls ? { ...launched, target: { ...launched.target, tls } } : launched
  }
  return [
    { name, title, launch: overHttp2(launch(false)) },
    { name: `${name}-tls`, title: `${title}, over TLS`, launch: overHttp2(launch(true)) },
  ]
}

/** They answer a GET with an error, but they answer. */
function overHttp2(launch: (context: LaunchContext) => Launch): (context: LaunchContext) => Launch {
  return (context) => {
    const launched = launch(context)
    return {
      ...launched,
      target: { ...launched.target, protocol: 'http2' },
      ready: { status: 'any', ports: [] },
    }
  }
}
