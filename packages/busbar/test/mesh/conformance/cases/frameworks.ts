import type { Server } from 'node:http'
import type { CallOptions, Case } from '../case.ts'

type Program = () => Server | Promise<Server>

// Programs are plain JavaScript without types.
const source = '../programs/index.js'
const { programs } = (await import(source)) as { programs: Record<string, Program> }

/** Unmodified programs, as people write them. */
export const frameworkCases: readonly Case[] = [
  ...over('Express 5', expressCalls()),
  ...over('Express 4', expressCalls()),
  ...over('Fastify 5', fastifyCalls()),
  ...over('Fastify 4', fastifyCalls()),
  ...over('Koa', koaCalls()),
  ...over('Hono', honoCalls()),
  ...over('Nest', nestCalls()),
]

type Calls = Readonly<Record<string, CallOptions>>

function over(framework: string, calls: Calls): Case[] {
  return Object.entries(calls).map(([name, options]) => ({
    name: `${framework}: ${name}`,
    program: programs[framework]!,
    async call(caller) {
      await caller.send(options)
    },
  }))
}

function json(path: string, value: unknown): CallOptions {
  return { method: 'POST', path, body: JSON.stringify(value), headers: ['Content-Type', 'application/json'] }
}

function expressCalls(): Calls {
  return {
    send: { path: '/send' },
    'json, and what a request says of itself': { path: '/json?a=1&b[]=2' },
    'a file': { path: '/file' },
    'a part of a file': { path: '/file', headers: ['Range', 'bytes=5-20'] },
    'a part that the file does not have': { path: '/file', headers: ['Range', 'bytes=999999-'] },
    'HEAD of a file': { method: 'HEAD', path: '/file' },
    'HEAD of send': { method: 'HEAD', path: '/send' },
    'a download': { path: '/download' },
    'a fresh etag': { path: '/send', headers: ['If-None-Match', 'W/"2-wiJflHcYhhXJQHo1YaKzYAezVEY"'] },
    'a redirect': { path: '/redirect' },
    cookies: { path: '/cookie' },
    'an unknown path': { path: '/none' },
    'an unknown method': { method: 'DELETE', path: '/send' },
    OPTIONS: { method: 'OPTIONS', path: '/send' },
    'an error thrown': { path: '/throws' },
    'an error with a status': { path: '/next' },
    'an error behind the head': { path: '/late-error' },
    'negotiated format': { path: '/format', headers: ['Accept', 'application/json'] },
    'a parameter': { path: '/item/a%20b' },
    'no content': { path: '/empty' },
    'a JSON body': json('/body', { a: 'ü' }),
    'a broken JSON body': { ...json('/body', 0), body: '{' },
    'a JSON body beyond the limit': json('/body', 'x'.repeat(200_000)),
    'a form': {
      method: 'POST',
      path: '/form',
      body: 'a=1&b=%C3%BC',
      headers: ['Content-Type', 'application/x-www-form-urlencoded'],
    },
    'a raw body': { method: 'POST', path: '/raw', body: new Uint8Array([0, 1, 255]) },
    'a body piped back': { method: 'POST', path: '/echo', body: 'x'.repeat(100_000) },
  }
}

function fastifyCalls(): Calls {
  return {
    'a serialized answer': { path: '/live' },
    HEAD: { method: 'HEAD', path: '/live' },
    'the properties of a request': { path: '/who' },
    'a stream': { path: '/stream' },
    'a stream that fails': { path: '/failing-stream' },
    bytes: { path: '/buffer' },
    'a hijacked reply': { path: '/hijack' },
    trailers: { path: '/trailer' },
    'a Response': { path: '/web' },
    'a Response that streams': { path: '/web-stream' },
    'an error thrown': { path: '/throws' },
    'a redirect': { path: '/redirect' },
    cookies: { path: '/cookies' },
    'no content': { path: '/empty' },
    'an unknown path': { path: '/none' },
    'a JSON body': json('/body', { a: 'ü' }),
    'a broken JSON body': { ...json('/body', 0), body: '{' },
    'an empty JSON body': { method: 'POST', path: '/body', body: '', headers: ['Content-Type', 'application/json'] },
    'a body that does not match the schema': json('/checked', { a: 'x' }),
    'an unknown kind of body': { method: 'POST', path: '/body', body: 'x', headers: ['Content-Type', 'text/x-none'] },
    'a body beyond the limit': json('/body', 'x'.repeat(1_100_000)),
  }
}

function koaCalls(): Calls {
  return {
    json: { path: '/json' },
    text: { path: '/text' },
    HEAD: { method: 'HEAD', path: '/text' },
    bytes: { path: '/bytes' },
    'a stream': { path: '/stream' },
    'a stream that fails': { path: '/failing-stream' },
    'an error thrown': { path: '/throws' },
    'no body': { path: '/null' },
    cookies: { path: '/cookie' },
    'an unknown path': { path: '/none' },
  }
}

function honoCalls(): Calls {
  return {
    json: { path: '/json' },
    text: { path: '/text' },
    HEAD: { method: 'HEAD', path: '/text' },
    'a stream': { path: '/stream' },
    'no content': { path: '/null' },
    cookies: { path: '/cookies' },
    'an unknown path': { path: '/none' },
    'a JSON body': json('/body', { a: 'ü' }),
    'a body streamed back': { method: 'POST', path: '/echo', body: 'x'.repeat(100_000) },
  }
}

function nestCalls(): Calls {
  return {
    'an object': { path: '/items' },
    'an exception': { path: '/items/fails' },
    'a JSON body': json('/items', { a: 'ü' }),
    'an unknown path': { path: '/none' },
  }
}
