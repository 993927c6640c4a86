import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../config/app.ts'
import type { Readiness } from '../shared/control-messages.ts'
import { answerProbe, isProbe } from '../shared/health/probes.ts'

/** `/healthz` and `/readyz` of the app and of each service. They come before any route. */
export class Probes {
  readonly #services: readonly string[]
  readonly #readiness: () => Readiness

  constructor({ services }: Pick<App, 'services'>, readiness: () => Readiness) {
    this.#services = services.map(({ name }) => name)
    this.#readiness = readiness
  }

  matches({ method, url }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
    return (method === 'GET' || method === 'HEAD') && isProbe(pathOf(url!))
  }

  answer(req: IncomingMessage, res: ServerResponse): void {
    const { status, text } = answerProbe(pathOf(req.url!), this.#readiness(), this.#services)
    const body = `${text}\n`
    const headers = { 'content-type': 'text/plain', 'content-length': body.length, 'cache-control': 'no-store' }
    res.writeHead(status, headers).end(body)
  }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}
