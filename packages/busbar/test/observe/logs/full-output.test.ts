/** Standard output as a file: a full disk loses lines, and the log says so. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SmallDisk } from '../../support/app/small-disk.ts'
import { pollUntil } from '../../support/app/test-app.ts'

/** Logs each line of its standard input. */
const program = `
import { createInterface } from 'node:readline'
const { createLog } = await import(${JSON.stringify(new URL('../../../src/observe/log.ts', import.meta.url).href)})
const log = createLog({ format: 'json', stream: process.stdout, fallback: process.stderr })
for await (const line of createInterface({ input: process.stdin })) log.event('info', line)
await log.flush(1000)`

describe('standard output on a full disk', { skip: SmallDisk.skip() }, () => {
  it('is said once, and gets lines again when there is room, with the number of those that are missing', async () => {
    using disk = new SmallDisk('200k')
    const output = openSync(disk.at('out'), 'a')
    const node = ['--conditions=busbar-source', '--input-type=module', '--eval', program]
    const child = spawn(process.execPath, node, { stdio: ['pipe', output, 'pipe'] })
    closeSync(output)
    let said = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => void (said += text))
    const ended = once(child, 'close')
    await using _ = { [Symbol.asyncDispose]: async () => void (child.kill(), await ended) }
    const written = (): string => readFileSync(disk.at('out'), 'utf8')
    child.stdin!.write('before\n')
    await pollUntil(() => written().includes('before'), written)
    disk.fill('other')
    // The rest of the last page that the file has may take one line.
    const filler = 'x'.repeat(5_000)
    for (const name of ['one', 'two', 'three']) {
      child.stdin!.write(`${name} ${filler}\n`)
      await sleep(1_100)
    }
    await pollUntil(
      () => said.includes('log lines are lost'),
      () => said,
    )
    rmSync(disk.at('other'))
    await sleep(1_100)
    child.stdin!.end('after\n')
    assert.deepEqual(await ended, [0, null])
    assert.equal(said.match(/log lines are lost until the output can be written again: ENOSPC/g)?.length, 1)
    const lines = written()
      .trimEnd()
      .split('\n')
      .slice(-2)
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
    assert.match(lines[0]!, /^[23] log lines are missing: the output could not be written$/)
    assert.equal(lines[1], 'after')
  })
})
