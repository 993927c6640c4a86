import type { CallTransport } from '../transport.ts'
import { deferredStream } from '../deferred-stream.ts'
import { BusbarError } from '../../errors.ts'
import type { GrpcAddress, GrpcClientOptions } from './grpc-options.ts'

/** A `grpc://` or `grpcs://` address. */
export function isGrpcAddress(target: string | URL): boolean {
  return /^grpcs?:/i.test(String(target))
}

/** Loads gRPC at the first call: other clients, above all in browsers, never need it. */
export function lazyGrpcTransport(target: string | URL, options: GrpcClientOptions): CallTransport {
  const address = parseAddress(target)
  let loading: Promise<CallTransport> | undefined
  const load = (): Promise<CallTransport> =>
    (loading ??= import('./grpc-transport.ts').then(({ grpcTransport }) => grpcTransport(address, options)))
  return {
    bind(contract, name, method) {
      if (method === undefined) throw openContract(contract.name)
      let bound: ReturnType<CallTransport['bind']> | undefined
      const ready = async (): Promise<NonNullable<typeof bound>> =>
        (bound ??= (await load()).bind(contract, name, method))
      if (method.kind === 'stream')
        return (input, options) =>
          deferredStream(async () =>
            ((await ready())(input, options) as AsyncIterable<unknown>)[Symbol.asyncIterator](),
          )
      return (input, options) =>
        bound === undefined ? ready().then((call) => call(input, options)) : bound(input, options)
    },
    async close() {
      await (await loading?.catch(() => undefined))?.close()
    },
  }
}

function parseAddress(target: string | URL): GrpcAddress {
  const [, scheme, host] = /^(grpcs?):\/\/([^/?#@]+)\/?$/i.exec(String(target)) ?? []
  const secure = scheme?.toLowerCase() === 'grpcs'
  const authority = `${secure ? 'https' : 'http'}://${withPort(host ?? '', secure)}`
  if (host !== undefined && URL.canParse(authority)) return { secure, authority }
  throw new BusbarError('CONTRACT_INVALID', {
    message: `${JSON.stringify(String(target))} is not the address of a gRPC service`,
    hint: 'Write grpc://host:port, or grpcs://host:port for TLS, without a path.',
  })
}

function withPort(host: string, secure: boolean): string {
  return /:\d+$/.test(host) ? host : `${host}:${secure ? 443 : 80}`
}

function openContract(service: string): BusbarError {
  return new BusbarError('CONTRACT_INVALID', {
    message: `${service} is a class without a contract, and gRPC needs schemas`,
    hint: 'Define its methods by service(), or call it over HTTP.',
    service,
  })
}
