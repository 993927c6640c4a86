import type { Readiness } from '../control-messages.ts'

export interface ProbeAnswer {
  readonly status: 200 | 404 | 503
  /** Names no service: anybody may ask. */
  readonly text: string
}

const pattern = /^\/(healthz|readyz)(?:\/([^/]+))?$/

/** Whether a path is one of `/healthz`, `/readyz`, `/healthz/<service>` and `/readyz/<service>`. */
export function isProbe(path: string): boolean {
  return pattern.test(path)
}

/**
 * The answer to a probe, as Kubernetes expects: `/healthz` fails only if a restart of everything
 * would help, `/readyz` while the app should get no new connections. `services`: of the app.
 */
export function answerProbe(path: string, readiness: Readiness, services: readonly string[]): ProbeAnswer {
  const [, kind, service] = pattern.exec(path) ?? []
  if (service !== undefined && !services.includes(service)) return { status: 404, text: 'no such service' }
  return kind === 'healthz' ? answerHealth(readiness, service) : answerReadiness(readiness, service)
}

/** The supervisor replaces what has failed, so the app as a whole is healthy while it answers. */
function answerHealth({ unhealthy }: Readiness, service: string | undefined): ProbeAnswer {
  return service !== undefined && unhealthy.includes(service) ? { status: 503, text: 'unhealthy' } : ok
}

function answerReadiness({ phase, unready }: Readiness, service: string | undefined): ProbeAnswer {
  if (phase !== 'running') return { status: 503, text: phase }
  const missing = service === undefined ? unready.length > 0 : unready.includes(service)
  return missing ? { status: 503, text: 'not ready' } : ok
}

const ok: ProbeAnswer = { status: 200, text: 'ok' }
