import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { Arm, CertificateFiles } from '../../src/arm.ts'
import type { LoadRequest } from '../../src/engine/job.ts'
import { canReadProcesses, pidsOf } from '../../src/machine/processes.ts'
import { Keeper } from '../../src/machine/keeper.ts'
import { makeCertificate } from '../../src/machine/certificate.ts'
import { provide } from '../../src/packages.ts'
import { Copy } from '../../src/protocol/copy.ts'
import { cellsOf } from '../../src/scenarios/cells.ts'
import { scenarios } from '../../src/scenarios/index.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'
import { assertHolds } from '../support/holds.ts'

let folder: string
let certificate: CertificateFiles
let keeper: Keeper

describe('every arm that needs no registry', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
    certificate = await makeCertificate(folder)
    keeper = new Keeper(folder)
  })
  after(async () => {
    await keeper.close()
    await rm(folder, { recursive: true, force: true })
  })
  for (const scenario of scenarios.values())
    for (const arm of scenario.arms.filter(({ requires }) => requires?.kind !== 'npm'))
      test(`${scenario.name}, ${arm.name}: answers what is expected, byte for byte, and leaves nothing running`, (t) =>
        tryOnce(scenario, arm, t))
})

async function tryOnce(scenario: Scenario, arm: Arm, t: TestContext): Promise<void> {
  const missing = (await provide([arm])).missing.get(arm.name)
  if (missing !== undefined) return t.skip(missing)
  const { PATH = '', HOME = '' } = process.env
  const environment = { PATH, HOME, NODE_ENV: 'production' }
  const copy = await Copy.start(arm, { workers: 2, folder, certificate, keeper, environment, launcher: [] })
  try {
    for (const request of questionsTo(scenario, arm)) assertHolds(request, await copy.ask(request))
  } finally {
    await copy.end()
  }
  if (canReadProcesses) assert.deepEqual(await pidsOf(copy.session), [])
}

/**
 * What the arm is asked in the scenario's own work and in each of its variants, and what it is asked beside that; where
 * they have parameters, also with others than usual.
 */
function questionsTo(scenario: Scenario, arm: Arm): LoadRequest[] {
  const variants = [{}, ...Object.keys(scenario.variants ?? {}).map((variant) => ({ variant }))]
  const others = Object.fromEntries(Object.keys(scenario.parameters ?? {}).map((name) => [name, 7]))
  const choices = variants.flatMap((each) => [each, { ...each, parameters: others }])
  const cells = choices.flatMap((choice) => cellsOf(scenario, { arms: [arm.name], quick: true, ...choice }))
  const works = cells.filter((cell) => cell.arm === arm).map((cell) => cell.work)
  assert.ok(works.length >= choices.length)
  return works.flatMap(({ requests, probe }) => (probe === undefined ? requests : [...requests, probe.request]))
}
