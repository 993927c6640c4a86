import type { App } from '../config/app.ts'
import { BusbarError } from '../contract/errors.ts'
import type { OpenApiDocument } from '../contract/openapi/types.ts'
import type { Context, Parts } from './context.ts'
import { resolveOperand } from './session.ts'
import { onStopSignal, type StopSignal } from './stop-signals.ts'
import { paint, print } from './terminal.ts'

/**
 * `busbar openapi`: prints the document that the app serves. Programs only tell theirs while they run, so the app is
 * started for it, out of the way of one that runs already.
 */
export async function openapi(context: Context): Promise<number> {
  const { terminal, parts } = context
  const app = outOfTheWay(await parts.loadApp(resolveOperand(context), { env: terminal.env }))
  const ended = new AbortController()
  const forget = onStopSignal((signal) => ended.abort(endedBy(signal)))
  try {
    const document = await documentOf(app, parts, ended.signal)
    print(terminal.out, JSON.stringify(document, undefined, 2))
    for (const note of document['x-busbar-notes'] ?? [])
      print(terminal.err, `${paint(terminal.err, 'yellow', 'note:')} ${note}`)
    return 0
  } finally {
    forget()
  }
}

function endedBy(signal: StopSignal): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: `${signal} came before the document was there` })
}

async function documentOf(app: App, { startApp }: Parts, signal: AbortSignal): Promise<OpenApiDocument> {
  const running = await startApp(app, { mode: 'start', log: () => {}, signal })
  try {
    return await documentAt(running.addresses[0]!.url, signal)
  } finally {
    await running.stop()
  }
}

/** No service has anything there, and who wrote it would know what for. */
const path = '/.busbar/openapi.json'

/** One worker, on a free port of this machine, and no port of its own for anybody. */
function outOfTheWay(app: App): App {
  const { openapi: described, ...gateway } = app.gateway
  if (described === undefined)
    throw new BusbarError('CONFIG_INVALID', {
      message: `no service of ${app.name} that the gateway leads to has an OpenAPI document, or gateway.openapi is false`,
      hint: "Typed services have one by their contract; a program's is named by its `openapi`: services.web.openapi.",
    })
  return {
    ...app,
    workers: 1,
    admin: undefined,
    // Nobody is served, so there is nothing to finish.
    stopTimeout: Math.min(app.stopTimeout, 2000),
    gateway: {
      ...gateway,
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
      openapi: { ...described, path, page: undefined, beforeEntry: true },
    },
    services: app.services.map((service) => ({ ...service, expose: [] })),
  }
}

async function documentAt(url: string, signal: AbortSignal): Promise<OpenApiDocument> {
  const response = await fetch(new URL(path, url), { signal })
  if (!response.ok)
    throw new BusbarError('INTERNAL', { message: `the gateway answered ${response.status}: ${await response.text()}` })
  return (await response.json()) as OpenApiDocument
}
