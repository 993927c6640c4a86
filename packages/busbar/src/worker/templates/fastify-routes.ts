import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { currentScope } from '../../mesh/scope.ts'
import type { TemplateReports } from './template-reports.ts'

/** What is used of an instance of Fastify. */
interface Fastify {
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): void
}

interface FastifyRoute {
  readonly method: string | readonly string[]
  /** With the prefixes of its plugins. */
  readonly url: string
}

/** Fastify publishes each instance before the program gets it, so that others can add hooks. */
const created = 'fastify.initialization'

/** Reports the routes that programs of this thread add to their Fastify instances. */
export function reportFastifyRoutes(reports: TemplateReports, only: string | undefined): Disposable {
  const onCreated = (message: unknown): void => {
    const service = currentScope()?.service ?? only
    if (service === undefined) return
    const { fastify } = message as { readonly fastify: Fastify }
    fastify.addHook('onRoute', (route) => reports.add(service, templatesOf(route)))
  }
  subscribe(created, onCreated)
  return { [Symbol.dispose]: () => void unsubscribe(created, onCreated) }
}

/**
 * One for a route of all methods, which would use up a dozen, and none for HEAD, which Fastify adds
 * to each GET.
 */
function templatesOf({ method, url }: FastifyRoute): readonly string[] {
  const methods = [method].flat()
  if (usualMethods.every((one) => methods.includes(one))) return [url]
  return methods.filter((one) => one !== 'HEAD').map((one) => `${one} ${url}`)
}

const usualMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
