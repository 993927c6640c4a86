import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { BusbarError } from '../../../contract/errors.ts'
import { injectRequest } from '../../../supervisor/admin/operations/calls.ts'
import { findRun } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { paint, print } from '../../terminal/terminal.ts'

/** `busbar inject`: sends one request to a service and prints the response. */
export async function inject(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const [service, method, path] = operands as [string, string, string]
  if (!path.startsWith('/')) throw new BusbarError('USAGE', { message: `the path ${path} does not begin with /` })
  const { admin } = await findRun(flags.app, context)
  const body = flags.data === undefined ? undefined : await readData(flags.data)
  const response = await admin.json(injectRequest, {
    service,
    method: method.toUpperCase(),
    path,
    headers: Object.fromEntries((flags.header ?? []).map(parseHeader)),
    ...(body !== undefined && { body: body.toString('base64'), encoding: 'base64' }),
    ...(flags.timeout !== undefined && { timeout: flags.timeout }),
  })
  if (flags.json) print(terminal.out, JSON.stringify(response, undefined, 2))
  else {
    const fields = Object.entries(response.headers).map(([name, value]) => `${name}: ${[value].flat().join(', ')}`)
    print(terminal.err, paint(terminal.err, 'dim', [`${response.status} ${response.statusText}`, ...fields].join('\n')))
    terminal.out.stream.write(Buffer.from(response.body, response.encoding))
    if (terminal.out.isTerminal && !response.body.endsWith('\n')) print(terminal.out, '')
  }
  return response.status < 400 ? 0 : 1
}

async function readData(data: string): Promise<Buffer> {
  if (!data.startsWith('@')) return Buffer.from(data)
  if (data === '@-') return await buffer(process.stdin)
  try {
    return await readFile(data.slice(1))
  } catch (cause) {
    throw new BusbarError('USAGE', { message: `--data: ${(cause as Error).message}`, cause })
  }
}

function parseHeader(text: string): [string, string] {
  const colon = text.indexOf(':')
  if (colon > 0) return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]
  throw new BusbarError('USAGE', { message: `--header "${text}" has no colon`, hint: "Write --header 'name: value'." })
}
