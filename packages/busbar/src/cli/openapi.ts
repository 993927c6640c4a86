import type { App } from '../config/app.ts'
import { BusbarError } from '../contract/errors.ts'
import type { OpenApiDocument } from '../contract/openapi/types.ts'
import type { Context } from './context.ts'
import { resolveOperand } from './session.ts'
import { paint, print } from './terminal.ts'

/**
 * `busbar openapi`: prints the document that the app serves. Programs only tell theirs while they run, so the app is
 * started for it, out of the way of one that runs already.
 */
export async function openapi(context: Context): Promise<number> {
  const { terminal, parts } = context
  const app = outOfTheWay(await parts.loadApp(resolveOperand(context), { env: terminal.env }))
  const running = await parts.startApp(app, { mode: 'start', log: () => {} })
  try {
    const document = await documentAt(running.addresses[0]!.url)
    print(terminal.out, JSON.stringify(document, undefined, 2))
    for (const note of document['x-busbar-notes'] ?? [])
      print(terminal.err, `${paint(terminal.err, 'yellow', 'note:')} ${note}`)
    return 0
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

async function documentAt(url: string): Promise<OpenApiDocument> {
  const response = await fetch(new URL(path, url))
  if (!response.ok)
    throw new BusbarError('INTERNAL', { message: `the gateway answered ${response.status}: ${await response.text()}` })
  return (await response.json()) as OpenApiDocument
}
