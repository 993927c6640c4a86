/** HTTP clients with a common interface, for the tests of the mesh. */
import { once } from 'node:events'
import http from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import axios from 'axios'
import { got } from 'got'
import * as undici6 from 'undici6'
import * as undici7 from 'undici7'
import * as undici8 from 'undici8'

export interface ClientRequest {
  readonly url: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Readable
  readonly signal?: AbortSignal
}

export interface ClientResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Readable
}

export interface Client extends AsyncDisposable {
  send(request: ClientRequest): Promise<ClientResponse>
}

/** Creates a client with its own connections, if the library supports that. */
export const clients: Readonly<Record<string, (origin: string) => Client>> = {
  'node:http': () => httpClient(undefined),
  'node:http, keep-alive agent of one socket': () => httpClient(new http.Agent({ keepAlive: true, maxSockets: 1 })),
  'node:http, agent: false': () => httpClient(false),
  axios: () => ({ send: sendByAxios, ...nothingToClose }),
  got: () => ({ send: sendByGot, ...nothingToClose }),
  fetch: () => fetchClient(fetch),
  ...undiciClients('undici 6', undici6 as unknown as Undici),
  ...undiciClients('undici 7', undici7 as unknown as Undici),
  ...undiciClients('undici 8', undici8 as unknown as Undici),
}

const nothingToClose = { [Symbol.asyncDispose]: async () => {} }

function httpClient(agent: http.Agent | false | undefined): Client {
  return {
    async send({ url, body, ...options }) {
      const request = http.request(url, { ...options, ...(agent !== undefined && { agent }) })
      const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
      if (body instanceof Readable) body.on('error', (error) => request.destroy(error)).pipe(request)
      else request.end(body)
      const [response] = await answered
      // An abort after the head is reported by the response, and again by the request.
      request.on('error', () => {})
      return { status: response.statusCode!, headers: response.headers, body: response }
    },
    async [Symbol.asyncDispose]() {
      if (agent !== undefined && agent !== false) agent.destroy()
    },
  }
}

async function sendByAxios({ url, body, ...options }: ClientRequest): Promise<ClientResponse> {
  const response = await axios.request<Readable>({
    url,
    data: body,
    responseType: 'stream',
    // Otherwise it keeps a copy of all sent data.
    maxRedirects: 0,
    maxBodyLength: Infinity,
    validateStatus: () => true,
    ...options,
  })
  return { status: response.status, headers: response.headers, body: response.data }
}

async function sendByGot({ url, body, method = 'GET', ...options }: ClientRequest): Promise<ClientResponse> {
  const stream = got.stream(url, {
    method: method as 'GET',
    retry: { limit: 0 },
    throwHttpErrors: false,
    ...(typeof body === 'string' && { body }),
    ...options,
  })
  const answered = once(stream, 'response') as Promise<[{ statusCode: number; headers: Record<string, unknown> }]>
  if (body instanceof Readable) body.on('error', (error) => stream.destroy(error)).pipe(stream)
  const [response] = await answered
  return { status: response.statusCode, headers: response.headers, body: stream }
}

interface FetchResponse {
  readonly status: number
  readonly headers: Iterable<[string, string]>
  readonly body: ReadableStream | null
}

type Fetch = (url: string, options: object) => Promise<FetchResponse>

function fetchClient(fetch: Fetch, dispatcher?: UndiciDispatcher): Client {
  return {
    async send({ url, ...options }) {
      const response = await fetch(url, {
        ...options,
        ...(options.body instanceof Readable && { duplex: 'half' }),
        ...(dispatcher && { dispatcher }),
      })
      const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body)
      return { status: response.status, headers: Object.fromEntries(response.headers), body }
    },
    async [Symbol.asyncDispose]() {
      await dispatcher?.destroy()
    },
  }
}

/** The part of all its versions that is used here. */
interface Undici {
  readonly Client: new (origin: string) => UndiciDispatcher
  readonly Pool: new (origin: string, options: { connections: number }) => UndiciDispatcher
  readonly Agent: new () => UndiciDispatcher
  readonly fetch: Fetch
  readonly request: (url: string, options: object) => Promise<UndiciResponse>
  readonly setGlobalDispatcher: (dispatcher: UndiciDispatcher) => void
  readonly getGlobalDispatcher: () => UndiciDispatcher
}

interface UndiciDispatcher {
  request(options: object): Promise<UndiciResponse>
  destroy(): Promise<void>
}

interface UndiciResponse {
  readonly statusCode: number
  readonly headers: Record<string, unknown>
  readonly body: Readable
}

function undiciClients(name: string, undici: Undici): Record<string, (origin: string) => Client> {
  return {
    [`${name} Client`]: (origin) => dispatcherClient(new undici.Client(origin)),
    [`${name} Pool`]: (origin) => dispatcherClient(new undici.Pool(origin, { connections: 1 })),
    [`${name} Agent`]: () => dispatcherClient(new undici.Agent()),
    [`${name} fetch`]: () => fetchClient(undici.fetch, new undici.Agent()),
    [`${name} own global dispatcher`]: () => globalDispatcherClient(undici),
  }
}

function dispatcherClient(dispatcher: UndiciDispatcher): Client {
  return {
    async send({ url, ...options }) {
      const { origin, pathname, search } = new URL(url)
      return fromUndici(await dispatcher.request({ method: 'GET', ...options, origin, path: pathname + search }))
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}

function globalDispatcherClient(undici: Undici): Client {
  const before = undici.getGlobalDispatcher()
  const own = new undici.Agent()
  undici.setGlobalDispatcher(own)
  return {
    send: async ({ url, ...options }) => fromUndici(await undici.request(url, options)),
    async [Symbol.asyncDispose]() {
      undici.setGlobalDispatcher(before)
      await own.destroy()
    },
  }
}

function fromUndici({ statusCode, headers, body }: UndiciResponse): ClientResponse {
  return { status: statusCode, headers, body }
}

export async function textOf(body: Readable): Promise<string> {
  return Buffer.concat(await body.toArray()).toString()
}
