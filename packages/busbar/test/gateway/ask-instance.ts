import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestApp } from '../support/app/test-app.ts'

export interface InstanceAnswer {
  readonly status: number
  readonly body: string
  readonly cookies: readonly string[]
}

/** One request to `programs/chat.mjs`, whose body names the instance. */
export async function ask(app: TestApp, path: string, options: object = {}): Promise<InstanceAnswer> {
  const sent = request({ port: app.port, host: '127.0.0.1', path, agent: false, ...options }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers } = response
  return {
    status,
    cookies: headers['set-cookie'] ?? [],
    body: status === 200 ? await text(response) : (response.resume(), ''),
  }
}
