import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const tour = fileURLToPath(new URL('../tour/tour.ts', import.meta.url))

test('the tour moves, kills and reloads a service under load, and no request fails', async () => {
  const { code, output } = await run('--seconds', '0.5', '--rate', '50')
  assert.equal(code, 0, output)
  const rows = output.split('\n').map((line) => line.trim().split(/ {2,}/))
  const [heads, ...steps] = rows.filter((cells) => cells.length === 8)
  assert.deepEqual(heads?.slice(0, 2), ['step', 'stock runs in'])
  assert.deepEqual(
    steps.map(([, placement, , , , failures]) => [placement, failures]),
    ['shared worker', 'own thread', '2 processes', '2 processes', '2 processes', 'own thread', 'shared worker'].map(
      (placement) => [placement, '0'],
    ),
  )
})

function run(...args: string[]): Promise<{ code: number | string | null | undefined; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [tour, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    )
  })
}
