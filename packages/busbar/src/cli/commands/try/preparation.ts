import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Imported } from '../../../adopt/imported.ts'
import { prepareTrial, type PreparedTrial } from '../../../adopt/trying/prepare-trial.ts'
import { withoutSilent } from '../../../adopt/trying/silent-services.ts'
import type { CommandContext } from '../../command.ts'
import type { LearnedByLab, TriedApp, TryLab } from './lab.ts'
import { requestsOf } from './requests.ts'

/** Milliseconds that the measurements take if nothing else is said. */
const usualBudget = 180_000
const connections = 50

/** The app that the lab tries, prepared anew when a run has shown more. */
export class Preparation {
  readonly #context: CommandContext
  readonly #all: Imported
  readonly #lab: TryLab
  #last: { readonly trial: PreparedTrial; readonly app: TriedApp } | undefined
  /** Without services that opened no port. */
  found: Imported
  /** Services that did not start under Busbar while those that they call were starting too. */
  startCallers: ReadonlySet<string> = new Set()

  constructor(context: CommandContext, found: Imported, lab: TryLab) {
    this.#context = context
    this.#all = found
    this.found = found
    this.#lab = lab
  }

  get trial(): PreparedTrial | undefined {
    return this.#last?.trial
  }

  /** The same object as before if nothing that was learned changes it. */
  async prepare(folder: string, { ports, silent, problems }: LearnedByLab): Promise<TriedApp> {
    const startCallers = new Set(problems.flatMap((problem) => serviceIn(problem) ?? []))
    this.startCallers = startCallers
    this.found = withoutSilent(this.#all, silent)
    const { flags, terminal } = this.#context
    const trial = await prepareTrial({
      found: this.found,
      folder,
      rewriteLocalhost: flags['rewrite-localhost'] === true,
      env: terminal.env,
      learned: { ports, startCallers },
    })
    if (this.#last !== undefined && isEqual(this.#last.trial, trial)) return this.#last.app
    const read = (file: string) => this.#lab.readRequests(resolve(terminal.cwd, file))
    const { requests } = await requestsOf(trial, flags, read)
    const { services, notToday } = trial.today
    const needsOf = (service: string) => trial.app.services.find(({ name }) => name === service)?.needs ?? []
    const app = {
      name: trial.app.name,
      today: services.map((service) => ({ ...service, needs: needsOf(service.name) })),
      ...(notToday !== undefined && { notToday }),
      folder,
      entry: trial.entry,
      exposed: trial.exposed,
      beside: trial.beside,
      requests,
      budgetMs: flags.budget === undefined ? usualBudget : flags.budget * 1000,
      connections,
    }
    this.#last = { trial, app }
    return app
  }
}

/** It would run in the same way. */
function isEqual(one: PreparedTrial, other: PreparedTrial): boolean {
  return isDeepStrictEqual([one.config, one.today], [other.config, other.today])
}

/** The service that an error of Busbar's start is about. */
function serviceIn(problem: string): string | undefined {
  return /\bservice '([a-z][a-z0-9-]*)'/.exec(problem)?.[1]
}
