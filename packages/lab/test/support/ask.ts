import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { buffer } from 'node:stream/consumers'
import type { CertificateFiles } from '../../src/arm.ts'
import type { LoadRequest } from '../../src/engine/job.ts'
import type { Copy } from '../../src/protocol/copy.ts'

/** Sends one request as the engine does, and holds the answer against all that is expected of it. */
export async function askOnce(copy: Copy, request: LoadRequest, certificate: CertificateFiles): Promise<void> {
  const { address = '', tls } = copy.target
  const [host, port] = address.split(':')
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>()
  const sent = (tls ? https : http).request(
    {
      host,
      port,
      method: request.method ?? 'GET',
      path: request.path,
      headers: headersOf(request),
      agent: false,
      ...(tls && { ca: await readFile(certificate.cert), servername: 'localhost' }),
    },
    resolve,
  )
  sent.on('error', reject)
  sent.end(request.body)
  const response = await promise
  check(response, await buffer(response), request.expect)
}

/** As in `crates/load/src/job.rs`: `Content-Length` is added where it is missing. */
function headersOf({ headers = [], body = '' }: LoadRequest): Record<string, string> {
  return { ...(body !== '' && { 'content-length': String(Buffer.byteLength(body)) }), ...Object.fromEntries(headers) }
}

function check(response: http.IncomingMessage, body: Buffer, expect: LoadRequest['expect'] = {}): void {
  assert.equal(response.statusCode, expect.status ?? 200, body.toString())
  if (expect.body !== undefined) assert.equal(body.toString(), expect.body)
  for (const [name, value] of expect.headers ?? []) assert.equal(response.headers[name] ?? null, value, name)
}
