import { BusbarError } from '../../contract/errors.ts'
import type { Service } from '../app.ts'
import type { CronTime, HealthCheck, Supervision } from '../../shared/app/supervision.ts'
import { healthObject } from '../schema/supervision-schema.ts'
import type { ParsedService } from '../schema/service-schema.ts'

export interface SupervisionContext {
  readonly name: string
  readonly kind: Service['kind']
  readonly config: Pick<ParsedService, 'ready' | 'health' | 'maxUptime' | 'cronRestart'>
}

/** Only what the config sets. Throws CONFIG_INVALID for a signal that cannot be sent. */
export function resolveSupervision({ name, kind, config }: SupervisionContext): Supervision {
  const { ready, health, maxUptime, cronRestart } = config
  if (ready === 'signal' && kind !== 'program')
    throw new BusbarError('CONFIG_INVALID', {
      service: name,
      message: `services.${name}.ready is 'signal', but ${kind === 'typed' ? 'a typed service is ready when its implementation is created' : 'a command cannot signal'}`,
      hint:
        kind === 'typed'
          ? 'Leave ready out.'
          : 'Leave ready out, and set health to a path that answers when it is ready.',
    })
  return {
    ...(ready !== undefined && { ready }),
    ...(health !== undefined && { health: healthCheckOf(health) }),
    ...(maxUptime !== undefined && { maxUptime }),
    ...(cronRestart !== undefined && { cronRestart: cronTimeOf(cronRestart) }),
  }
}

/** The defaults of the object hold for its short form, too. */
function healthCheckOf(health: NonNullable<ParsedService['health']>): HealthCheck {
  return typeof health === 'string' ? healthObject.parse({ path: health }) : health
}

function cronTimeOf(cronRestart: NonNullable<ParsedService['cronRestart']>): CronTime {
  if (typeof cronRestart === 'string') return { cron: cronRestart, timeZone: undefined }
  return { cron: cronRestart.cron, timeZone: cronRestart.timeZone }
}
