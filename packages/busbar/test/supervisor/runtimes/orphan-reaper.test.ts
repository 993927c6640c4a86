import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { OrphanReaper } from '../../../src/supervisor/runtimes/orphan-reaper.ts'
import { runs } from '../../support/app/process-table.ts'

const skip = existsSync('/proc/self/stat') ? false : 'there is no /proc'

/** Its child, which leads a process group, ends; this parent never waits for it. */
const careless = 'setsid true & echo $!; exec sleep 1000'

/** Seconds; longer than any test takes. */
const grace = 10_000

for (const what of ['process', 'group'] as const)
  test(`a ${what} that is only a zombie is not waited for`, { skip }, async () => {
    const parent = spawn('/bin/sh', ['-c', careless], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [text] = await new Promise<Buffer[]>((resolve) => parent.stdout.once('data', (...data) => resolve(data)))
    const ended = Number(String(text))
    while (runs(ended)) await sleep(10)
    const reaper = new OrphanReaper(undefined, grace)
    reaper.watch(what === 'process' ? ended : -ended)
    await reaper.close()
    parent.kill('SIGKILL')
    assert.equal(runs(ended), false)
  })
