import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { findEntrance } from '../../../busbar/src/entrance/load.ts'
import type { Arm, CertificateFiles } from '../../src/arm.ts'
import type { LoadRequest } from '../../src/engine/job.ts'
import type { Answer } from '../../src/protocol/parity.ts'
import { canReadProcesses, pidsOf } from '../../src/machine/processes.ts'
import { Reaper } from '../../src/machine/reaper.ts'
import { createCertificate } from '../../src/protocol/workspace.ts'
import { installRequirements } from '../../src/requirements.ts'
import { RunningArm } from '../../src/protocol/running-arm.ts'
import { cellsOf } from '../../src/scenarios/cells.ts'
import { scenarios } from '../../src/scenarios/index.ts'
import type { Scenario } from '../../src/scenarios/scenario.ts'
import { cacheFor, hasPackagesOf } from '../support/repository-packages.ts'

let folder: string
let certificate: CertificateFiles
let reaper: Reaper

/** Other packages would have to be installed from the registry. */
describe('every arm without npm requirements, or with packages of this repository', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
    certificate = await createCertificate(folder)
    reaper = new Reaper(folder)
  })
  after(async () => {
    await reaper.close()
    await rm(folder, { recursive: true, force: true })
  })
  for (const scenario of scenarios.values())
    for (const arm of scenario.arms.filter((each) => each.requires?.kind !== 'npm' || hasPackagesOf(each)))
      test(`${scenario.name}, ${arm.name}: answers exactly as expected, and leaves no process`, (t) =>
        tryOnce(scenario, arm, t))
})

async function tryOnce(scenario: Scenario, arm: Arm, t: TestContext): Promise<void> {
  using _ = hasPackagesOf(arm) ? cacheFor(arm) : undefined
  const missing = (await installRequirements([arm])).missing.get(arm.name)
  if (missing !== undefined) return t.skip(missing)
  if (/-native\b/.test(arm.name) && findEntrance() === undefined) return t.skip('the native entrance is not built')
  const { PATH = '', HOME = '' } = process.env
  const environment = { PATH, HOME, NODE_ENV: 'production', TMPDIR: folder }
  const copy = await RunningArm.start(arm, { workers: 2, folder, certificate, reaper, environment, launcher: [] })
  const timing = { timeoutMs: scenario.work?.timeoutMs }
  try {
    for (const request of requestsFor(scenario, arm)) assertExpected(request, await copy.ask(request, timing))
  } finally {
    await copy.end()
  }
  if (canReadProcesses) assert.deepEqual(pidsOf(copy.session), [])
}

/**
 * The requests of the scenario's work and of its variants, also with other parameters, and the
 * probe.
 */
function requestsFor(scenario: Scenario, arm: Arm): LoadRequest[] {
  const names = Object.keys(scenario.variants ?? {}).filter((name) => !arm.lacks?.includes(name))
  const variants = [{}, ...names.map((variant) => ({ variant }))]
  const others = Object.fromEntries(Object.keys(scenario.parameters ?? {}).map((name) => [name, 7]))
  const choices = variants.flatMap((each) => [each, { ...each, parameters: others }])
  const cells = choices.flatMap((choice) => cellsOf(scenario, { arms: [arm.name], quick: true, ...choice }))
  const works = cells.filter((cell) => cell.arm === arm).map((cell) => cell.work)
  assert.ok(works.length >= choices.length)
  return works.flatMap(({ requests, probe }) => (probe === undefined ? requests : [...requests, probe.request]))
}

/** Checks an answer like the engine: `crates/load/src/check.rs`. */
function assertExpected({ message, expect = {} }: LoadRequest, { status, body, headers }: Answer): void {
  assert.equal(status, expect.status ?? (message === undefined ? 200 : 0), body.toString())
  if (expect.message !== undefined) assert.equal(body.toString('base64'), expect.message)
  if (expect.body !== undefined) assert.equal(body.toString(), expect.body)
  for (const [name, value] of expect.headers ?? []) assert.equal(headers[name] ?? null, value, name)
}
