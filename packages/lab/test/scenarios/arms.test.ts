import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { CertificateFiles } from '../../src/arm.ts'
import { canReadProcesses, pidsOf } from '../../src/machine/processes.ts'
import { makeCertificate } from '../../src/machine/certificate.ts'
import { provide } from '../../src/packages.ts'
import { Copy } from '../../src/protocol/copy.ts'
import { cellsOf } from '../../src/scenarios/cells.ts'
import { scenarios } from '../../src/scenarios/index.ts'
import { askOnce } from '../support/ask.ts'

let folder: string
let certificate: CertificateFiles

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
  certificate = await makeCertificate(folder)
})
after(() => rm(folder, { recursive: true, force: true }))

for (const scenario of scenarios.values())
  describe(scenario.name, () => {
    // What comes from a registry is only ever installed when somebody asks for it, hence never by a test.
    const arms = scenario.arms.filter((arm) => arm.requires?.kind !== 'npm')
    for (const arm of arms)
      test(`${arm.name} gives the answers that are expected, byte for byte, and leaves nothing running`, async (t) => {
        const missing = (await provide([arm])).missing.get(arm.name)
        if (missing !== undefined) return t.skip(missing)
        const { PATH = '', HOME = '' } = process.env
        const copy = await Copy.start(arm, { workers: 2, certificate, environment: { PATH, HOME } })
        try {
          for (const variant of [undefined, ...Object.keys(scenario.variants ?? {})])
            for (const { request, probe } of worksOf(scenario.name, arm.name, variant)) {
              await askOnce(copy, request, certificate)
              if (probe) await askOnce(copy, probe, certificate)
            }
        } finally {
          await copy.end()
        }
        if (canReadProcesses) assert.deepEqual(await pidsOf(copy.session), [])
      })
  })

function worksOf(scenario: string, arm: string, variant: string | undefined) {
  const choice = { arms: [arm], quick: true, ...(variant !== undefined && { variant }) }
  const cells = cellsOf(scenarios.get(scenario)!, choice).filter((cell) => cell.arm.name === arm)
  assert.ok(cells.length > 0)
  return cells.flatMap(({ work }) => work.requests.map((request) => ({ request, probe: work.probe?.request })))
}
