import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { Guard } from '../../src/supervisor/vessels/guard.ts'
import { runs } from '../support/process-table.ts'

const skip = existsSync('/proc/self/stat') ? false : 'there is no /proc'

/** Its child, which leads a group, ends, and it never looks. */
const careless = 'setsid true & echo $!; exec sleep 1000'

/** Longer than any test may take. */
const grace = 10_000

for (const what of ['process', 'group'] as const)
  test(`a ${what} that has ended is not waited for, though nobody has taken notice`, { skip }, async () => {
    const parent = spawn('/bin/sh', ['-c', careless], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [text] = await new Promise<Buffer[]>((resolve) => parent.stdout.once('data', (...data) => resolve(data)))
    const ended = Number(String(text))
    while (runs(ended)) await sleep(10)
    const guard = new Guard(undefined, grace)
    guard.watch(what === 'process' ? ended : -ended)
    await guard.close()
    parent.kill('SIGKILL')
    assert.equal(runs(ended), false)
  })
