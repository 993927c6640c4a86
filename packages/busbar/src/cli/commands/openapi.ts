import type { App } from '../../config/app.ts'
import { loadApp } from '../../config/load.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { OpenApiDocument } from '../../contract/openapi/types.ts'
import { startSupervisor } from '../../supervisor/supervisor.ts'
import type { CommandContext } from '../command.ts'
import { resolveOperand } from '../operand.ts'
import { onStopSignal, type StopSignal } from '../stop-signals.ts'
import { paint, print } from '../terminal/terminal.ts'

/**
 * `busbar openapi`: prints the OpenAPI document of the app. Programs publish theirs only while they
 * run, so this starts the app, isolated from a running one.
 */
export async function openapi(context: CommandContext): Promise<number> {
  const { flags, terminal } = context
  const app = isolated(await loadApp(resolveOperand(context), { env: terminal.env, overrides: flags }))
  const ended = new AbortController()
  const forget = onStopSignal((signal) => ended.abort(endedBy(signal)))
  try {
    const document = await documentOf(app, ended.signal)
    print(terminal.out, JSON.stringify(document, undefined, 2))
    for (const note of document['x-busbar-notes'] ?? [])
      print(terminal.err, `${paint(terminal.err, 'yellow', 'note:')} ${note}`)
    return 0
  } finally {
    forget()
  }
}

function endedBy(signal: StopSignal): BusbarError {
  return new BusbarError('CALL_ABORTED', { message: `${signal} was received before the document was complete` })
}

async function documentOf(app: App, signal: AbortSignal): Promise<OpenApiDocument> {
  const running = await startSupervisor(app, { mode: 'start', log: () => {}, signal })
  try {
    return await documentAt(running.addresses[0]!.url, signal)
  } finally {
    await running.stop()
  }
}

/** A path that no service uses. */
const path = '/.busbar/openapi.json'

/** One worker on a free loopback port; no exposed ports and no admin port. */
function isolated(app: App): App {
  const { openapi: described, ...gateway } = app.gateway
  if (described === undefined)
    throw new BusbarError('CONFIG_INVALID', {
      message: `no service of ${app.name} behind the gateway has an OpenAPI document, or gateway.openapi is false`,
      hint: 'Typed services have one by their contract; for a program, set services.<name>.openapi.',
    })
  return {
    ...app,
    workers: 1,
    admin: undefined,
    export: undefined,
    // There are no callers to finish for.
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
