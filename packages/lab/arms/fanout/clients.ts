/**
 * The clients with which the entry service calls the four others. Each call resolves to true for a
 * good answer.
 */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import type { Dispatcher } from 'undici'

export type Call = () => Promise<boolean>

/** Node's `fetch`. */
export async function byFetch(origins: readonly string[]): Promise<Call[]> {
  return origins.map((origin) => async () => {
    const response = await fetch(`${origin}/live`)
    const text = await response.text()
    return response.ok && text.length > 0
  })
}

/** `undici.request` with the global dispatcher, as most programs use it. */
export async function byRequest(origins: readonly string[]): Promise<Call[]> {
  const { request } = await import('undici')
  return origins.map((origin) => async () => {
    const { statusCode, body } = await request(`${origin}/live`)
    const text = await body.text()
    return statusCode === 200 && text.length > 0
  })
}

/** `http.get` with a keep-alive agent. */
export async function byHttp(origins: readonly string[]): Promise<Call[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
  return origins.map((origin) => () => {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const request = http.get(`${origin}/live`, { agent }, (response) => {
      let length = 0
      response.on('data', (chunk: Buffer) => (length += chunk.length)).on('error', reject)
      response.on('end', () => resolve(response.statusCode === 200 && length > 0))
    })
    request.on('error', reject)
    return promise
  })
}

/** `undici.request` with a `Pool` per service, as a tuned program uses it. */
export async function byPool(origins: readonly string[], connections: number): Promise<Call[]> {
  const { Pool } = await import('undici')
  const ca = process.env['TLS_CERT']
  const connect = ca === undefined ? {} : { ca: readFileSync(ca) }
  return origins.map((origin) => {
    const unix = origin.startsWith('unix:')
    const pool = new Pool(unix ? 'http://localhost' : origin, {
      ...(connections > 0 && { connections }),
      connect: unix ? { socketPath: origin.slice('unix:'.length) } : connect,
    })
    return () => callPool(pool)
  })
}

async function callPool(pool: Dispatcher): Promise<boolean> {
  const { statusCode, body } = await pool.request({ path: '/live', method: 'GET' })
  const text = await body.text()
  return statusCode === 200 && text.length > 0
}
